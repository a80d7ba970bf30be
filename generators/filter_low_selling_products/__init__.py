"""A shop's slow sellers: which products go to clearance, at what price, and who is told about it.

Products, orders and categories are in the shop; subscribers are a list in the workspace, corrected by mail.
"""

from mesocosm.generators.filter_low_selling_products.expected import Expected
from mesocosm.generators.filter_low_selling_products.filling import generate, survey
from mesocosm.generators.filter_low_selling_products.params import Params

__all__ = ["Expected", "Params", "generate", "survey"]
