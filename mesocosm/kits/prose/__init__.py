"""Deterministic, varied English prose for generated worlds.

>>> import random
>>> prose = Prose(random.Random(7))
>>> message = prose.message("supplier", tokens=120)
"""

from mesocosm.kits.prose.courses import CourseSubject
from mesocosm.kits.prose.names import Person
from mesocosm.kits.prose.products import CATEGORIES, Product
from mesocosm.kits.prose.said import RecentRuns
from mesocosm.kits.prose.topics import TOPICS, Topic
from mesocosm.kits.prose.writer import Prose, ProseMessage, greeting, signature

__all__ = [
    "CATEGORIES",
    "TOPICS",
    "CourseSubject",
    "Person",
    "Product",
    "Prose",
    "ProseMessage",
    "RecentRuns",
    "Topic",
    "greeting",
    "signature",
]
