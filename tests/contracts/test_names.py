"""One word, one thing: what a public class is called, no other class is."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import mesocosm

ROOT = Path(mesocosm.__file__).parent
CONTENT = {"servers", "tasks", "generators", "checkers", "solvers"}
ONCE = {
    "Drawing",
    "Json",
    "Object",
    "Part",
    "Plan",
    "Record",
    "Row",
    "Shape",
    "Statement",
    "Step",
    "Value",
    "Words",
}
"""Words that meant many things, and mean one now, services included."""
SAME = {
    # The client has a view of its own of what the server has.
    "Episode", "Grade", "ToolInfo", "UnknownEpisode", "View",
    # The world browser's blocks are called after what they show.
    "Asked", "Fields", "Message", "Page", "Tree",
    # What packages of one's own import, and a block of the world browser.
    "Prose",
    # A protocol and the class that fulfils it; people of organisations and people whose names are drawn.
    "Directory", "Person",
}  # fmt: skip
"""Names that stay double: packages of others use them, or both mean the same."""
STORED = {"Attendee", "NewPull", "Point", "UserFields"}
"""Names that a service has for a thing in its store and for the same thing in its tools or routes."""


@cache
def classes() -> list[tuple[Path, str]]:
    """Public classes at the top of modules, each with its module."""
    found = []
    for path in sorted(ROOT.rglob("*.py")) + [
        one for room in CONTENT for one in sorted((ROOT / room).rglob("*.py"))
    ]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found += [
            (path.relative_to(ROOT), node.name)
            for node in tree.body
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        ]
    return sorted(set(found))


def twice(names: list[str]) -> set[str]:
    return {name for name, times in Counter(names).items() if times > 1}


def test_a_name_of_the_machinery_is_one_class() -> None:
    names = [name for path, name in classes() if path.parts[0] not in CONTENT]
    assert len(names) > 500
    assert twice(names) == SAME


def test_a_name_of_a_service_is_one_class() -> None:
    services = {path.parts[1] for path, _ in classes() if path.parts[0] == "servers"}
    assert len(services) > 15
    of = {
        service: twice([name for path, name in classes() if path.parts[:2] == ("servers", service)])
        for service in services
    }
    assert set().union(*of.values()) == STORED


def test_words_that_meant_many_things_mean_one() -> None:
    names = [name for path, name in classes() if path.parts[0] in {"servers"} or path.parts[0] not in CONTENT]
    assert twice([name for name in names if name in ONCE]) == set()
