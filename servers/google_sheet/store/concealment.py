"""Content of sheets that their readers do not plainly see, for checkers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import orjson

from mesocosm.servers.google_sheet.store.ranges import letters
from mesocosm.servers.google_sheet.store.rendering import DATES
from mesocosm.services.contents import BLANK, COLOURLESS, HIDDEN, MERGED, STRUCK, Concealed, shows_nothing
from mesocosm.services.schema import Json

NARROWEST = 2
"""Pixels of a row or column below which nobody sees anything of it."""

Ask = Callable[[str, Sequence[Any]], Iterable[Sequence[Any]]]
"""Runs a query on the database of a world or of its base."""

_VALUES = "SELECT row, col, kind, number, text FROM cells WHERE sheet = ? AND kind != ''"


def concealed(ask: Ask, sheet: int) -> Iterator[Concealed]:
    """Yield the content of a sheet that its reader does not plainly see."""
    for (properties,) in ask("SELECT properties FROM sheets WHERE number = ?", (sheet,)):
        if is_hidden(properties):
            yield Concealed(f"the sheet {HIDDEN}", "")
    yield from _hidden_lines(ask, sheet)
    covered: dict[tuple[int, int], tuple[str, list[Any]]] = {}
    for top, left, bottom, right in ask(
        'SELECT top, "left", bottom, "right" FROM merges WHERE sheet = ? ORDER BY id', (sheet,)
    ):
        within = f"{_VALUES} AND row >= ? AND row < ? AND col >= ? AND col < ?"
        for row, column, *content in ask(within, (sheet, top, bottom, left, right)):
            if (row, column) != (top, left):
                covered[row, column] = MERGED, content
    for row, column, *content, look, pattern in ask(
        "SELECT row, col, kind, cells.number, text, content, pattern FROM cells"
        " JOIN formats ON format = formats.number WHERE sheet = ? AND kind != ''",
        (sheet,),
    ):
        if why := _concealing(look, pattern, content[0] == "s"):
            covered[row, column] = why, content
    for (row, column), (why, content) in sorted(covered.items()):
        yield Concealed(f"{letters(column)}{row + 1} {why}", repr(content))


def _hidden_lines(ask: Ask, sheet: int) -> Iterator[Concealed]:
    narrow = [
        (axis, position)
        for axis, position, pixels, hidden in ask(
            "SELECT axis, position, pixels, hidden FROM lines WHERE sheet = ? ORDER BY 1, 2", (sheet,)
        )
        if is_narrow(pixels, hidden)
    ]
    if not narrow:
        return
    held: dict[tuple[str, int], list[Any]] = {}
    for row, column, *content in ask(f"{_VALUES} ORDER BY row, col", (sheet,)):
        held.setdefault(("ROWS", row), []).append([column, *content])
        held.setdefault(("COLUMNS", column), content)
    for axis, position in narrow:
        name = f"row {position + 1}" if axis == "ROWS" else f"column {letters(position)}"
        if (axis, position) in held:
            yield Concealed(f"{name} {HIDDEN}", repr(held[axis, position]))


@lru_cache(maxsize=1024)
def _concealing(look: str, pattern: str, is_text: bool) -> str | None:
    """Say why a format does not plainly show a value, if so."""
    content = orjson.loads(look)
    text = content.get("textFormat", {})
    if text.get("strikethrough"):
        return STRUCK
    if shows_nothing(pattern, is_text=is_text):
        return BLANK
    ground = _colour(content, "backgroundColor", "BACKGROUND")
    return COLOURLESS if _colour(text, "foregroundColor", "TEXT") == ground else None


_OF_THEMES = {"TEXT": (0, 0, 0), "BACKGROUND": (1, 1, 1)}
"""Red, green and blue of what is not told otherwise: black on white."""


def _colour(content: Json, name: str, usual: str) -> Any:
    style = content.get(f"{name}Style", {})
    rgb = style.get("rgbColor", content.get(name))
    if rgb is not None:
        return tuple(rgb.get(part, 0) for part in ("red", "green", "blue"))
    theme = style.get("themeColor", usual)
    return _OF_THEMES.get(theme, theme)


def is_hidden(properties: str) -> bool:
    """True for the properties of a hidden sheet."""
    return bool(orjson.loads(properties).get("hidden"))


def is_narrow(pixels: int, hidden: int) -> bool:
    """True for a row or column of which nothing is seen."""
    return bool(hidden) or pixels < NARROWEST


def effect(look: str | None) -> tuple[Any, ...]:
    """Return the effects of a format on the value that a reader sees."""
    content = orjson.loads(look or "{}")
    number = content.get("numberFormat", {})
    type_, pattern = number.get("type", ""), number.get("pattern", "")
    moment = (type_, pattern) if type_ in DATES else type_ == "PERCENT"
    return moment, *(_concealing(look or "{}", pattern, is_text) for is_text in (False, True))
