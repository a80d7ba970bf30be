"""Growth of a market in a company's own categories, from a workbook, its methodology and a heap of memos.

The memos hold corrections of figures and weights among much that is only said about the market.
"""

from mesocosm.generators.excel_market_research.expected import Expected
from mesocosm.generators.excel_market_research.filling import generate, survey
from mesocosm.generators.excel_market_research.params import Params

__all__ = ["Expected", "Params", "generate", "survey"]
