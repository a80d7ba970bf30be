"""A product recall: whose item is still to be picked up, and when.

Notices lie among the documents, orders in the shop, the customers' answers in the mailbox, and the slots in a
calendar: no service alone says what is to be done.
"""

from mesocosm.generators.recall_campaign.expected import Expected
from mesocosm.generators.recall_campaign.filling import generate, survey
from mesocosm.generators.recall_campaign.params import Params

__all__ = ["Expected", "Params", "generate", "survey"]
