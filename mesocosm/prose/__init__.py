"""Deterministic, varied English prose for generated worlds.

>>> import random
>>> prose = Prose(random.Random(7))
>>> message = prose.message("supplier", tokens=120)
"""

from mesocosm.prose.courses import CourseSubject
from mesocosm.prose.names import Person
from mesocosm.prose.products import CATEGORIES, Product
from mesocosm.prose.topics import TOPICS, Topic
from mesocosm.prose.writer import Message, Prose, greeting, signature

__all__ = [
    "CATEGORIES",
    "TOPICS",
    "CourseSubject",
    "Message",
    "Person",
    "Product",
    "Prose",
    "Topic",
    "greeting",
    "signature",
]
