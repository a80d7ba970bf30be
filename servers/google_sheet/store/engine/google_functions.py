"""The functions that Google Sheets has and the formula library has not, or has otherwise.

They get what the library hands out: numbers, texts, booleans, ``None``, lists of rows, and errors as
dictionaries; and they return the same. They run in the process of the formulas (``worker.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import quote

import formualizer

from mesocosm.servers.google_sheet.store.cell_input import number_in
from mesocosm.servers.google_sheet.store.engine.query_function import QueryError, query
from mesocosm.services.patterns import BadPattern, Pattern

MAX_TEXT = 50_000
"""Characters of a cell, as the vendor documents."""
MAX_ITEMS = 1_000_000

Value = Any


class Failure(Exception):
    """An error value: its kind as the library names it, and the vendor's words."""

    def __init__(self, kind: str, message: str = "") -> None:
        super().__init__(message)
        self.kind = kind


def error(kind: str, message: str = "") -> Any:
    """An error as the library takes it."""
    return formualizer.LiteralValue.error(kind, message or None)


def _items(value: Value) -> Iterator[Value]:
    if isinstance(value, list):
        for row in value:
            yield from _items(row)
    else:
        yield value


def _rows(value: Value) -> list[list[Value]]:
    if not isinstance(value, list):
        return [[value]]
    return [row if isinstance(row, list) else [row] for row in value]


def _checked(value: Value) -> Value:
    if isinstance(value, dict) and value.get("type") == "Error":
        raise Failure(str(value.get("kind", "Value")), str(value.get("message") or ""))
    return value


def text_of(value: Value) -> str:
    _checked(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def number_of(value: Value) -> float:
    _checked(value)
    if value is None:
        return 0.0
    if isinstance(value, (bool, int, float)):
        return float(value)
    found = number_in(str(value))
    if found is None:
        raise Failure(
            "Value",
            f"Expects number values. But '{str(value)[:50]}' is a text and cannot be coerced to a number.",
        )
    return found.value


def _one(value: Value) -> Value:
    return _rows(value)[0][0] if isinstance(value, list) else value


def _each(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function of single values, also over arrays, as within ARRAYFORMULA."""

    def apply(*values: Value) -> Value:
        shapes = [(len(v), len(v[0])) for v in map(_rows_or_none, values) if v is not None and v]
        if not shapes or max(shapes) == (1, 1):
            return function(*map(_one, values))
        height, width = max(s[0] for s in shapes), max(s[1] for s in shapes)
        return [
            [_guarded(function, [_at(v, r, c) for v in values]) for c in range(width)] for r in range(height)
        ]

    return apply


def _rows_or_none(value: Value) -> list[list[Value]] | None:
    return _rows(value) if isinstance(value, list) else None


def _at(value: Value, row: int, column: int) -> Value:
    if not isinstance(value, list):
        return value
    rows = _rows(value)
    row, column = (0 if len(rows) == 1 else row), (0 if len(rows[0]) == 1 else column)
    if row >= len(rows) or column >= len(rows[row]):
        return {"type": "Error", "kind": "Na"}
    return rows[row][column]


def _guarded(function: Callable[..., Value], values: Sequence[Value]) -> Value:
    try:
        return function(*values)
    except Failure as failure:
        return error(failure.kind, str(failure))


# -- text ---------------------------------------------------------------------------------------------------


def _join(delimiter: Value, *values: Value) -> str:
    text = text_of(_one(delimiter)).join(text_of(item) for value in values for item in _items(value))
    if len(text) > MAX_TEXT:
        raise Failure("Value", "Text result of JOIN is longer than the limit of 50000 characters.")
    return text


def _split(text: Value, delimiter: Value, by_each: Value = True, remove_empty: Value = True) -> Value:
    whole, marks = text_of(_one(text)), text_of(_one(delimiter))
    if not marks:
        raise Failure("Value", "Function SPLIT parameter 2 value should be non-empty.")
    pattern = "[" + re.escape(marks) + "]" if by_each else re.escape(marks)
    parts = re.split(pattern, whole)
    if remove_empty is not False and remove_empty != 0:
        parts = [part for part in parts if part]
    if not parts:
        raise Failure("Value", "Function SPLIT parameter 1 value should be non-empty.")
    return [[_typed(part) for part in parts]]


def _typed(part: str) -> Value:
    found = number_in(part)
    return part if found is None else found.value


def _found(text: str, pattern: Value, function: str) -> list[Any]:
    """All matches of a pattern; of functions that need one, the first."""
    try:
        compiled = Pattern(text_of(pattern))
        if function == "REGEXREPLACE":
            return list(compiled.finditer(text))
        return [found] if (found := compiled.search(text)) else []
    except BadPattern:
        raise Failure(
            "Ref",
            f'Function {function} parameter 2 value "{text_of(pattern)[:50]}" is not a valid regular'
            " expression.",
        ) from None


def _regexmatch(text: Value, pattern: Value) -> bool:
    return bool(_found(_text_only(text, "REGEXMATCH"), pattern, "REGEXMATCH"))


def _text_only(value: Value, function: str) -> str:
    _checked(value)
    if isinstance(value, (int, float, bool)):
        raise Failure(
            "Value",
            f"Function {function} parameter 1 expects text values. But '{text_of(value)}' is a number"
            " and cannot be coerced to a text.",
        )
    return text_of(value)


def _regexextract(text: Value, pattern: Value) -> Value:
    matches = _found(_text_only(text, "REGEXEXTRACT"), pattern, "REGEXEXTRACT")
    if not matches:
        raise Failure(
            "Na",
            f'Function REGEXEXTRACT parameter 2 value "{text_of(pattern)[:50]}" does not match text'
            " of Function REGEXEXTRACT parameter 1 value.",
        )
    groups = matches[0].groups()
    if not groups:
        return matches[0][0]
    return groups[0] or "" if len(groups) == 1 else [[group or "" for group in groups]]


def _regexreplace(text: Value, pattern: Value, replacement: Value) -> str:
    # Every other part is the number of a group.
    whole, template = _text_only(text, "REGEXREPLACE"), re.split(r"\$(\d)", text_of(replacement))
    result, end = "", 0
    try:
        for match in _found(whole, pattern, "REGEXREPLACE"):
            result += whole[end : match.start()]
            for place, part in enumerate(template):
                result += match[int(part)] or "" if place % 2 else part
            end = match.end()
            if len(result) > MAX_TEXT:
                break
    except IndexError:
        raise Failure("Ref", "Function REGEXREPLACE parameter 3 is not a valid replacement.") from None
    return (result + whole[end:])[:MAX_TEXT]


def _char(number: Value) -> str:
    code = int(number_of(number))
    if not 0 < code < 0x110000 or 0xD800 <= code < 0xE000:
        raise Failure("Num", f"Function CHAR parameter 1 value is {code}, which is out of range.")
    return chr(code)


# -- arrays -------------------------------------------------------------------------------------------------


def _countunique(*values: Value) -> int:
    seen = {
        (type(i).__name__, i) for v in values for i in map(_checked, _items(v)) if i is not None and i != ""
    }
    return len(seen)


def _flatten(*values: Value) -> Value:
    return [[item] for value in values for item in _items(value)]


def order_of(value: Value) -> tuple[int, Any]:
    """Return the key for ascending order: numbers, texts, booleans, then blanks."""
    if isinstance(value, bool):
        return (2, value)
    if isinstance(value, (int, float)):
        return (0, value)
    if value is None or value == "":
        return (9, 0)
    if isinstance(value, dict):
        return (3, "")
    return (1, str(value).casefold())


def _sort(array: Value, *by: Value) -> Value:
    rows = list(_rows(array))
    given = list(by) or [1, True]
    if len(given) % 2:
        given.append(True)
    for column, ascending in reversed(list(zip(given[::2], given[1::2], strict=True))):
        down = not number_of(_one(ascending))
        if isinstance(column, list) and len(_rows(column)) == len(rows) and len(rows) > 1:
            keys = [row[0] for row in _rows(column)]
        else:
            index = int(number_of(_one(column))) - 1
            if not 0 <= index < len(rows[0]):
                raise Failure(
                    "Value",
                    f"Function SORT parameter 2 value is {index + 1}. Valid values are between 1 and"
                    f" {len(rows[0])} inclusive.",
                )
            keys = [row[index] for row in rows]
        filled = [n for n, key in enumerate(keys) if order_of(key)[0] != 9]
        blank = [n for n, key in enumerate(keys) if order_of(key)[0] == 9]
        filled.sort(key=lambda n: order_of(keys[n]), reverse=False)
        if down:
            filled = _reversed_stably(filled, keys)
        # The columns of the order that come as arrays are in the order of the rows as they were.
        place = [*filled, *blank]
        rows = [rows[n] for n in place]
        given = [
            [_rows(one)[n] for n in place] if isinstance(one, list) and len(_rows(one)) == len(place) else one
            for one in given
        ]
    return rows


def _reversed_stably(places: list[int], keys: Sequence[Value]) -> list[int]:
    return sorted(places, key=lambda n: _Down(order_of(keys[n])))


class _Down:
    """A key that comes the earlier, the greater it is."""

    def __init__(self, key: tuple[int, Any]) -> None:
        self.key = key

    def __lt__(self, other: _Down) -> bool:
        return other.key < self.key


def _sortn(array: Value, n: Value = 1, ties: Value = 0, *by: Value) -> Value:
    if number_of(_one(ties)) not in (0, 2):
        raise Failure("Value", "Of the ways to treat ties, SORTN knows 0 and 2 here.")
    rows = _sort(array, *by)
    if number_of(_one(ties)) == 2:
        seen: set[str] = set()
        rows = [row for row in rows if not (repr(row) in seen or seen.add(repr(row)))]  # type: ignore[func-returns-value]
    count = int(number_of(_one(n)))
    if count < 1:
        raise Failure("Value", "Function SORTN parameter 2 value should be at least 1.")
    return rows[:count]


def _constrain(array: Value, rows: Value, columns: Value) -> Value:
    height, width = int(number_of(_one(rows))), int(number_of(_one(columns)))
    if height < 1 or width < 1:
        raise Failure("Num", "ARRAY_CONSTRAIN needs at least one row and one column.")
    return [row[:width] for row in _rows(array)[:height]]


def _mmult(one: Value, other: Value) -> Value:
    left, right = _rows(one), _rows(other)
    if len(left[0]) != len(right):
        raise Failure("Value", "Function MMULT has incompatible matrix sizes.")
    if len(left) * len(right) * len(right[0]) > MAX_ITEMS:
        raise Failure("Num", "The matrices are too large.")
    columns = list(zip(*right, strict=True))
    return [
        [sum(number_of(a) * number_of(b) for a, b in zip(row, column, strict=True)) for column in columns]
        for row in left
    ]


def _weighted(*values: Value) -> float:
    total = weights = 0.0
    for one, weight in zip(values[::2], values[1::2], strict=True):
        for a, b in zip(_items(one), _items(weight), strict=True):
            total, weights = total + number_of(a) * number_of(b), weights + number_of(b)
    if not weights:
        raise Failure("Div", "Function AVERAGE.WEIGHTED caused a divide by zero error.")
    return total / weights


def _query(array: Value, words: Value = "select *", headers: Value = -1) -> Value:
    try:
        return query(_rows(array), text_of(_one(words)), int(number_of(_one(headers))))
    except QueryError as refused:
        raise Failure(
            "Value", f"Unable to parse query string for Function QUERY parameter 2: {refused}"
        ) from None


# -- single values ------------------------------------------------------------------------------------------


def _value(value: Value) -> float:
    return number_of(value)


def _divide(one: Value, other: Value) -> float:
    if number_of(other) == 0:
        raise Failure("Div", "Function DIVIDE parameter 2 cannot be zero.")
    return number_of(one) / number_of(other)


def _power(one: Value, other: Value) -> float:
    try:
        result = number_of(one) ** number_of(other)
    except (OverflowError, ZeroDivisionError):
        raise Failure("Num", "Function POW caused an overflow.") from None
    if isinstance(result, complex):
        raise Failure("Num", "Function POW would give a complex number.")
    return float(result)


def _compared(one: Value, other: Value) -> int:
    left, right = order_of(_checked(one)), order_of(_checked(other))
    return (left > right) - (left < right)


def _between(value: Value, low: Value, high: Value, with_low: Value = True, with_high: Value = True) -> bool:
    above, below = _compared(value, low), _compared(value, high)
    return (above > 0 or (above == 0 and with_low is not False)) and (
        below < 0 or (below == 0 and with_high is not False)
    )


def _isemail(value: Value) -> bool:
    return bool(re.fullmatch(r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.)+[A-Za-z]{2,63}", text_of(value)))


def _isurl(value: Value) -> bool:
    return bool(
        re.fullmatch(
            r"(?:https?://|ftp://|mailto:)?(?:[\w-]{1,63}\.)+[A-Za-z]{2,63}(?:[:/?#]\S*)?", text_of(value)
        )
    )


def _isdate(value: Value) -> bool:
    if not isinstance(value, str):
        return False
    found = number_in(value)
    return found is not None and found.kind in ("DATE", "DATE_TIME")


def _no_such(*_: Value) -> Value:
    raise Failure("Name", "Unknown function.")


def _outside(kind: str, message: str) -> Callable[..., Value]:
    def refuse(*_: Value) -> Value:
        raise Failure(kind, message)

    return refuse


_FETCH = "Could not fetch url: there is no network here."

FUNCTIONS: dict[str, Callable[..., Value]] = {
    "ADD": _each(lambda a, b: number_of(a) + number_of(b)),
    "ARRAY_CONSTRAIN": _constrain,
    "AVERAGE.WEIGHTED": _weighted,
    "CHAR": _each(_char),
    "COUNTUNIQUE": _countunique,
    "DETECTLANGUAGE": _outside("Na", "Languages are not detected here."),
    "DIVIDE": _each(_divide),
    "ENCODEURL": _each(lambda text: quote(text_of(text), safe="")),
    "EQ": _each(lambda a, b: _compared(a, b) == 0),
    "FLATTEN": _flatten,
    "GOOGLEFINANCE": _outside("Na", "When evaluating GOOGLEFINANCE, the query returned no data."),
    "GOOGLETRANSLATE": _outside("Na", "Texts are not translated here."),
    "GT": _each(lambda a, b: _compared(a, b) > 0),
    "GTE": _each(lambda a, b: _compared(a, b) >= 0),
    "HYPERLINK": _each(lambda url, label=None: text_of(url if label is None else label)),
    "IMAGE": lambda *_: None,
    "IMPORTDATA": _outside("Na", _FETCH),
    "IMPORTFEED": _outside("Na", _FETCH),
    "IMPORTHTML": _outside("Na", _FETCH),
    "IMPORTRANGE": _outside("Ref", "You don't have permissions to access that sheet."),
    "IMPORTXML": _outside("Na", _FETCH),
    "ISBETWEEN": _each(_between),
    "ISDATE": _each(_isdate),
    "ISEMAIL": _each(_isemail),
    "ISURL": _each(_isurl),
    "JOIN": _join,
    "LT": _each(lambda a, b: _compared(a, b) < 0),
    "LTE": _each(lambda a, b: _compared(a, b) <= 0),
    "MINUS": _each(lambda a, b: number_of(a) - number_of(b)),
    "MMULT": _mmult,
    "MULTIPLY": _each(lambda a, b: number_of(a) * number_of(b)),
    "NE": _each(lambda a, b: _compared(a, b) != 0),
    "POW": _each(_power),
    "QUERY": _query,
    "REGEXEXTRACT": _each(_regexextract),
    "REGEXMATCH": _each(_regexmatch),
    "REGEXREPLACE": _each(_regexreplace),
    "SORT": _sort,
    "SORTN": _sortn,
    "SPARKLINE": lambda *_: None,
    "SPLIT": _split,
    "TO_DATE": _each(number_of),
    "TO_DOLLARS": _each(number_of),
    "TO_PERCENT": _each(number_of),
    "TO_PURE_NUMBER": _each(number_of),
    "TO_TEXT": _each(text_of),
    "UMINUS": _each(lambda a: -number_of(a)),
    "UNARY_PERCENT": _each(lambda a: number_of(a) / 100),
    "UPLUS": _each(number_of),
    "VALUE": _each(_value),
    "NO_SUCH_FUNCTION": _no_such,
}


def randoms(seed: str) -> dict[str, Callable[..., Value]]:
    """Return the random functions: their values depend only on the seed and the formula's position."""

    def draw(key: Value, number: int = 0) -> float:
        digest = sha256(f"{seed} {key} {number}".encode()).digest()
        return int.from_bytes(digest[:7]) / 2**56

    def between(key: Value, low: Value, high: Value) -> float:
        least, most = number_of(_one(low)), number_of(_one(high))
        if least > most:
            raise Failure("Num", "Function RANDBETWEEN parameter 2 should be at least parameter 1.")
        return float(int(least) + int(draw(key) * (int(most) - int(least) + 1)))

    def array(key: Value, rows: Value = 1, columns: Value = 1) -> Value:
        height, width = int(number_of(_one(rows))), int(number_of(_one(columns)))
        if height < 1 or width < 1 or height * width > MAX_ITEMS // 10:
            raise Failure("Num", "The size of RANDARRAY is out of range.")
        return [[draw(key, r * width + c) for c in range(width)] for r in range(height)]

    return {"RAND": lambda key: draw(key), "RANDBETWEEN": between, "RANDARRAY": array}
