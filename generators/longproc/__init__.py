"""Long procedures (LongProc): a case whose input is spread over sheets, among sheets of other cases.

The case of a seed is the same as in ``mesocosm dataset longproc``, whatever surrounds it and however its
output is handed in.
"""

from mesocosm.generators.longproc.expected import Expected
from mesocosm.generators.longproc.filling import generate, survey
from mesocosm.generators.longproc.params import Params

__all__ = ["Expected", "Params", "generate", "survey"]
