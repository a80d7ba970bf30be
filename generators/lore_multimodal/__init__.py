"""A chain of documents (LORE) some of which are pictures: objects to be counted, formulas to be read.

The tree and its distractors are those of ``lore_documents``. Pictures are drawn from dice of their own, when
somebody asks for them.
"""

from mesocosm.generators.lore_documents.filling import survey
from mesocosm.generators.lore_multimodal.filling import Expected, Params, compose, generate

__all__ = ["Expected", "Params", "compose", "generate", "survey"]
