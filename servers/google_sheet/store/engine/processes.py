"""Processes that compute formulas, started on demand."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from mesocosm.errors import Invalid, MissingExtra
from mesocosm.worlds.process_worker import Kind
from mesocosm.worlds.processes import Gone, Processes, Question

_PACKAGE = "mesocosm.servers.google_sheet.store"
# The package of the store is put in place without its content: of the tables the process needs nothing, and
# what they import takes longer than all the rest.
_START = f"""
import sys, types
package = types.ModuleType({_PACKAGE!r})
package.__path__ = [sys.argv[1]]
sys.modules[{_PACKAGE!r}] = package
from {_PACKAGE}.engine.worker import main
main()
"""

processes = Processes([_START, str(Path(__file__).parents[1])])


def compute(whom: str, request: dict[str, Any], whole: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Compute a spreadsheet's formulas after edits.

    ``changed`` are cells with values, ``gone`` those that hold none any more; ``whole`` says whether the
    former are all that there are.

    Args:
        whom: The episode.
        request: ``before`` and ``after`` (states), ``edits``, ``now``, ``seed``.
        whole: Called for the spreadsheet's content (after the edits), where no process has it.
    """
    if importlib.util.find_spec("formualizer") is None:
        raise MissingExtra("Formulas in spreadsheets", "sheets")
    question = Question(
        request["before"],
        request["after"],
        orjson.dumps(request),
        lambda: orjson.dumps({**request, **whole(), "edits": []}),
    )
    try:
        answer = processes.ask(whom, question)
    except Gone:
        raise _invalid("need more memory than they may have") from None
    if answer.kind is Kind.REFUSED:
        raise _invalid("take more computing than they may")
    return {**orjson.loads(answer.data), "whole": answer.is_whole}


def _invalid(what: str) -> Invalid:
    return Invalid(f"The formulas of the spreadsheet {what}; nothing was changed.", code="INVALID_ARGUMENT")
