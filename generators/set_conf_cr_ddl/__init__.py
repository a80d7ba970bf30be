"""Camera-ready deadlines: which papers of a research group still need a reminder in the calendar, and when.

The submissions are listed in a file; what became of them, and which deadline is valid, stands in the mailbox.
"""

from mesocosm.generators.set_conf_cr_ddl.expected import Expected
from mesocosm.generators.set_conf_cr_ddl.filling import generate
from mesocosm.generators.set_conf_cr_ddl.params import Params
from mesocosm.generators.set_conf_cr_ddl.surveying import survey

__all__ = ["Expected", "Params", "generate", "survey"]
