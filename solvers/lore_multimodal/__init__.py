"""Follows a chain of documents and pictures: puts in words what a picture shows, and reads on.

Everything is read from the pixels: objects are counted as areas of one colour, formulas are read glyph by
glyph once the image tools have straightened them.
"""

from __future__ import annotations

import re

from mesocosm.kits.paging import read_pictured
from mesocosm.services.calling import Tools
from mesocosm.services.service import Image
from mesocosm.solvers.lore_documents import follow
from mesocosm.solvers.lore_multimodal.counting import count
from mesocosm.solvers.lore_multimodal.straightening import Straightener

_COUNTS = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(?P<name>v\d+): the number of (?P<what>[a-z ]+) in the image\.",
        r"^Value of (?P<name>v\d+): how many (?P<what>[a-z ]+) are shown\.",
        r"^Variable (?P<name>v\d+) is the number of (?P<what>[a-z ]+) shown\.",
        r"^How many (?P<what>[a-z ]+) the image shows is (?P<name>v\d+)\.",
        r"^Count the (?P<what>[a-z ]+) in the image for (?P<name>v\d+)\.",
    )
]
_TARGET = re.compile(r"'(v\d+)%X'")


def solve(tools: Tools, prompt: str) -> None:
    """Read until the variable that the prompt asks for has a value, and submit it."""
    height = re.search(r"is (\d+) pixels high", " ".join(prompt.split()))
    straightener = Straightener(tools, int(height[1]) if height else 0)

    def read(file_id: str) -> str:
        text, image = read_pictured(tools, file_id)
        return f"{text}\n{_in_words(file_id, text, image, straightener)}" if image else text

    follow(tools, prompt, read)


def _in_words(file_id: str, text: str, image: Image, straightener: Straightener) -> str:
    """Write a picture's statement as a text document would."""
    for pattern in _COUNTS:
        if found := pattern.search(text):
            return f"{found['name']} = {count(image.data, found['what'])}."
    target = _TARGET.search(text)
    assert target, f"{file_id} does not say what its picture is for"
    return f"Compute X = {straightener.read(file_id, image)}, then read '{target[1]}%X'."
