"""A chain of documents (LORE): each must be read to compute which ones to read next, up to the answer.

The tree is woven bottom-up by ``mesocosm.kits.weaving``. Distractor documents are woven by the same engine,
into trees of other variables, and listed among the evidence.
"""

from mesocosm.generators.lore_documents.filling import Expected, Params, compose, generate, survey

__all__ = ["Expected", "Params", "compose", "generate", "survey"]
