"""Tools for customers."""

from __future__ import annotations

from mesocosm.servers.woocommerce.models.customers import MetaChange
from mesocosm.servers.woocommerce.store.customers import CUSTOMERS
from mesocosm.servers.woocommerce.tools.resources import ResourceTools

_tools = ResourceTools(
    "woo_customers",
    "customer",
    CUSTOMERS,
    lambda store: store.customers,
    data=CUSTOMERS.data("CustomerData"),
    fields='["id", "email"]',
)
_tools.list("List customers by name, with the number of their orders and what they spent.", "Customers")
_tools.get("Get one customer with addresses, custom fields, number of orders and total spent.")
_tools.create(
    "Create a customer and return it.",
    "The email address, and if wanted names, username, password, addresses, meta_data.",
)
_tools.update(
    "Change a customer and return it.",
    " except the username; addresses are changed field by field, meta_data by key",
    CUSTOMERS.data("CustomerChanges", meta_data=list[MetaChange]),
)
