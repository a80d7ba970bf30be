"""Processes that compute formulas, started on demand."""

# The formula library holds the interpreter while it computes, so it needs processes (decision 071).

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import orjson
from pydantic import BaseModel, Field, ValidationError

from mesocosm.errors import Invalid, MissingExtra
from mesocosm.worlds.plain_values import Damaged
from mesocosm.worlds.process_worker import Kind
from mesocosm.worlds.processes import HelperProcesses, Owner, ProcessAnswer, ProcessGone, ProcessQuestion

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

_LARGEST = 256 * 2**20
"""Bytes of an answer: somewhat more than the cells of the largest spreadsheet."""

processes = HelperProcesses([_START, str(Path(__file__).parents[1])])

_Number = Annotated[float, Field(allow_inf_nan=False)]
_Index = Annotated[int, Field(ge=0)]

_VALUES = {"n": float, "s": str, "e": str, "b": bool, "": type(None)}


class Changed(NamedTuple):
    """A cell that has another value now."""

    title: str
    row: _Index
    column: _Index
    kind: Literal["n", "s", "b", "e", ""]
    value: str | bool | _Number | None
    message: str
    hint: str
    anchor: tuple[_Index, _Index] | None = None
    """The cell whose array it is of."""


class Computed(BaseModel):
    """Cells after edits."""

    changed: list[Changed] = []
    gone: list[tuple[str, _Index, _Index]] = []
    """Cells that hold no value any more."""
    is_whole: bool = False
    """True if ``changed`` are all cells that have a value."""


def compute(
    whom: Owner, request: dict[str, Any], whole: Callable[[], dict[str, Any]], titles: Collection[str]
) -> Computed:
    """Compute a spreadsheet's formulas after edits.

    Args:
        whom: The episode.
        request: ``before`` and ``after`` (states), ``edits``, ``now``, ``seed``.
        whole: Called for the spreadsheet's content (after the edits), where no process has it.
        titles: Of its sheets.
    """
    if importlib.util.find_spec("formualizer") is None:
        raise MissingExtra("Formulas in spreadsheets", "sheets")
    question = ProcessQuestion(
        request["before"],
        request["after"],
        orjson.dumps(request),
        lambda: orjson.dumps({**request, **whole(), "edits": []}),
        _LARGEST,
    )

    def read(answer: ProcessAnswer) -> Computed | None:
        if answer.kind is Kind.REFUSED:
            return None
        try:
            said = Computed.model_validate_json(answer.data, strict=True)
        except ValidationError as error:
            raise Damaged(str(error)[:300]) from None
        if not {one[0] for one in (*said.changed, *said.gone)} <= {*titles}:
            raise Damaged("cells of sheets that there are not")
        if any(type(one.value) is not _VALUES[one.kind] for one in said.changed):
            raise Damaged("a value of another kind than is said")
        return said.model_copy(update={"is_whole": answer.is_whole})

    try:
        computed = processes.ask(whom, question, read)
    except ProcessGone:
        raise _invalid("need more memory than they may have") from None
    if computed is None:
        raise _invalid("take more computing than they may")
    return computed


def _invalid(what: str) -> Invalid:
    return Invalid(f"The formulas of the spreadsheet {what}; nothing was changed.", code="INVALID_ARGUMENT")
