"""Finds what a program returns by reading it: only the modules that it would call, never running them."""

from __future__ import annotations

import re
from collections.abc import Callable

from mesocosm.kits.paging import read_whole
from mesocosm.services.calling import Tools
from mesocosm.solvers.lore_code.interpreting import Module, NotYetKnown, Place

__all__ = ["solve", "value_of"]


def solve(tools: Tools, prompt: str) -> None:
    """Compute what ``main()`` of the file in the prompt returns, and submit it."""
    asked = re.search(r"\b(\w+)\.py\b", prompt)
    assert asked, "the prompt names no file"
    answer = value_of(asked[1], lambda name: read_whole(tools, f"{name}.py"))
    tools.call("submit_answer", "submit_answer", answer=str(answer))


def value_of(name: str, read: Callable[[str], str]) -> int:
    """Compute ``main()`` of a module; ``read`` gives the text of a module.

    A module is read when one that is being computed calls it. What waits for it is kept on a stack of ours,
    since programs can be deeper than Python's. What a module returned is kept: all do that are asked twice.
    """
    values: dict[str, int] = {}
    numbers: dict[Place, int] = {}
    waiting = [(name, Module(read(name)))]
    while waiting:
        module_name, module = waiting[-1]
        try:
            values[module_name] = module.main(values, numbers)
        except NotYetKnown as missing:
            wanted = Module(read(missing.module))
            if missing.number:
                numbers[missing.module, missing.number] = wanted.constant(missing.number)
            else:
                waiting.append((missing.module, wanted))
        else:
            waiting.pop()
    return values[name]
