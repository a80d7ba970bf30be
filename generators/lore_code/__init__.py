"""A program spread over many modules (LORE): what does ``main()`` of ``main.py`` return?

The tree is woven top-down by ``mesocosm.kits.weaving``; each node is a module. Distractor modules are woven
by the same engine; functions that nobody calls lead to them, and branches that are not taken.
"""

from mesocosm.generators.lore_code.composing import compose
from mesocosm.generators.lore_code.expected import Expected
from mesocosm.generators.lore_code.filling import generate, survey
from mesocosm.generators.lore_code.params import Params

__all__ = ["Expected", "Params", "compose", "generate", "survey"]
