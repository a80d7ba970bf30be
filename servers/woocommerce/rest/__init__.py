"""WooCommerce's REST API, version 3, over the shop that the tools use."""

from mesocosm.servers.woocommerce.rest import catalogue, data, resources, sales, settings
from mesocosm.servers.woocommerce.rest.service import api

__all__ = ["api", "catalogue", "data", "operations", "resources", "sales", "settings"]

operations = api.operations
