"""The process that computes formulas: it holds workbooks, takes edits, and returns changed cells.

Requests and answers are JSON.
A workbook is known by the state of its content (a digest that the store keeps); after the edits of a request
it is known by the state that the request names. The process belongs to one server and ends with it. It has a
bounded memory of its own: what a formula cannot have there ends this process and not the server.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from socket import socket
from typing import Any

import formualizer
import orjson

from mesocosm.servers.google_sheet.store.cell_input import moment_of, serial_of
from mesocosm.servers.google_sheet.store.engine.broadcasting import each
from mesocosm.servers.google_sheet.store.engine.google_functions import FUNCTIONS, Failure, error, randoms
from mesocosm.servers.google_sheet.store.engine.translation import (
    NOTED,
    PREFIX,
    FormulaBook,
    Translated,
    Unreadable,
    translate,
)
from mesocosm.servers.google_sheet.store.ranges import cell_name, quoted
from mesocosm.worlds.process_worker import Kind, bound_memory, fork_on_request, serve

MEMORY = 2**30
"""Bytes of address space that the process may have."""
MAX_WORK = 20_000_000
"""Units of the library's work for one evaluation."""
MAX_HELD = 2_000_000
"""Cells of the workbooks that are kept."""
MAX_TEXT = 50_000

_KINDS = {
    "Div": ("#DIV/0!", "DIVIDE_BY_ZERO", "Function DIVIDE parameter 2 cannot be zero."),
    "Value": ("#VALUE!", "VALUE", "A value of the formula has the wrong type."),
    "Ref": ("#REF!", "REF", "Reference does not exist."),
    "Name": ("#NAME?", "NAME", "Unknown function or range name."),
    "Num": ("#NUM!", "NUM", "A number of the formula is out of range."),
    "Na": ("#N/A", "N_A", "Value not available."),
    "Null": ("#NULL!", "NULL_VALUE", "The ranges share no cell."),
    "Circ": (
        "#REF!",
        "REF",
        "Circular dependency detected. To resolve with iterative calculation, see File > Settings.",
    ),
    "Spill": ("#REF!", "REF", "Array result was not expanded because it would overwrite data."),
    "Calc": ("#N/A", "N_A", "No matches are found in FILTER evaluation."),
}
_ERROR = ("#ERROR!", "ERROR", "Formula parse error.")
_SHOWN = {shown: kind for kind, (shown, _, _) in reversed(_KINDS.items())}

_UNREADABLE = (Unreadable, RuntimeError, ValueError, formualizer.TokenizerError, formualizer.ParserError)

Place = tuple[str, int, int]
"""Sheet, row and column, from 0."""
Answer = list[Any]
"""[sheet, row, column, kind, value, message, hint]: kind is n, s, b, e or empty."""


class Hindered(Exception):
    """An edit that is to be met by a new workbook."""


class Workbook:
    """One spreadsheet in the formula library."""

    def __init__(self, request: dict[str, Any]) -> None:
        options = formualizer.EvaluationConfig()
        options.enable_parallel = False  # so that sums come out the same on every machine
        options.max_work_units = MAX_WORK
        self.book = formualizer.Workbook(config=formualizer.WorkbookConfig(eval_config=options))
        self.formulas: dict[Place, Translated] = {}
        self.computed: dict[Place, Answer] = {}
        self.spilled: dict[Place, Place] = {}
        self.entered: set[Place] = set()
        self.unreadable: set[Place] = set()
        self.blocked: set[Place] = set()
        """Formulas whose arrays found no room."""
        self.empty: dict[str, frozenset[tuple[int, int]]] = {}
        """By the cell of a formula that chooses of cells, where its result is empty, counted from there."""
        self.seed = ""
        self._register(NOTED, self._noted)
        for name, function in FUNCTIONS.items():
            self._register(name, function)
        self._register("EACH", each)
        for name in ("RAND", "RANDBETWEEN", "RANDARRAY"):
            self._register(name, self._chance(name), volatile=True)
        sheets: list[dict[str, Any]] = request["sheets"]
        self.frame = FormulaBook(
            titles={sheet["title"].casefold(): sheet["title"] for sheet in sheets},
            grids={sheet["title"]: (sheet["rows"], sheet["columns"]) for sheet in sheets},
            names={name.casefold(): stands for name, stands in request["names"].items()},
        )
        for sheet in sheets:
            self.book.add_sheet(sheet["title"])
        for sheet in sheets:
            self._load(sheet["title"], sheet["cells"])

    @property
    def size(self) -> int:
        """Cells that it holds."""
        return len(self.entered) + 1000

    def _register(self, name: str, function: Any, volatile: bool = False) -> None:
        def guarded(*values: Any) -> Any:
            try:
                return _cut(function(*values))
            except Failure as failure:
                return error(failure.kind, str(failure))

        # Without a least number of arguments, a call with too few reaches the function, which Python refuses.
        def called(*values: Any) -> Any:
            try:
                return guarded(*values)
            except (TypeError, ValueError, OverflowError, ZeroDivisionError, IndexError, RecursionError):
                return error("Na" if not values else "Value", f"Wrong arguments to {name}.")

        self.book.register_function(PREFIX + name, called, volatile=volatile)

    def _chance(self, name: str) -> Any:
        return lambda *values: randoms(self.seed)[name](*values)

    def _noted(self, cell: str, value: Any) -> int:
        rows = value if isinstance(value, list) else [[value]]
        self.empty[cell] = frozenset(
            (down, right) for down, row in enumerate(rows) for right, one in enumerate(row) if one is None
        )
        return 1

    def _load(self, title: str, cells: list[list[Any]]) -> None:
        """Cells as [row, column, value or formula, is formula, is date]."""
        formulas = [((title, cell[0], cell[1]), cell[2]) for cell in cells if cell[3]]
        taken: dict[int, list[int]] = {}
        for (_, row, column), _ in formulas:
            taken.setdefault(row, []).append(column)
        rows: dict[int, list[list[Any]]] = {}
        for cell in cells:
            if not cell[3]:
                rows.setdefault(cell[0], []).append(cell)
            self.entered.add((title, cell[0], cell[1]))
        blocks: dict[tuple[int, int], tuple[int, list[list[Any]]]] = {}
        for number in sorted(rows):
            for left, values in _stretches(rows[number], taken.get(number, [])):
                key = (left, len(values))
                start, block = blocks.get(key, (number, []))
                if number != start + len(block):
                    self.book.set_values_batch(title, start + 1, left + 1, block)
                    start, block = number, []
                block.append(values)
                blocks[key] = (start, block)
        for (left, _), (start, block) in blocks.items():
            self.book.set_values_batch(title, start + 1, left + 1, block)
        self._formulas(formulas)

    def _formulas(self, formulas: list[tuple[Place, str]]) -> None:
        """Put many formulas: those below one another at once, which takes a fiftieth of the time."""
        formulas.sort(key=lambda one: (one[0][2], one[0][1]))
        run: list[tuple[Place, Translated]] = []
        for place, formula in formulas:
            translated = self._translated(place, formula)
            if translated is None:
                continue
            if run and (run[-1][0][1] + 1, run[-1][0][2]) != place[1:]:
                self._put_run(run)
                run = []
            run.append((place, translated))
        if run:
            self._put_run(run)

    def _put_run(self, run: list[tuple[Place, Translated]]) -> None:
        title, row, column = run[0][0]
        self.book.set_formulas_batch(title, row + 1, column + 1, [[one.text] for _, one in run])
        self.formulas.update(run)

    def _formula(self, place: Place, formula: str) -> None:
        """Put one formula. Raises ``Hindered`` where the library takes it in a new workbook only."""
        title, row, column = place
        translated = self._translated(place, formula)
        if translated is None:
            return
        try:
            self.book.set_formula(title, row + 1, column + 1, translated.text)
        except RuntimeError:  # it would close a circle
            raise Hindered from None
        self.formulas[place] = translated

    def _translated(self, place: Place, formula: str) -> Translated | None:
        """A formula for the library; ``None``, and an error in its place, where it is none."""
        title, row, column = place
        self.unreadable.discard(place)
        try:
            translated = translate(formula, f"{title}!{cell_name(row, column)}", self.frame)
            formualizer.parse(translated.text)
        except _UNREADABLE:
            self.unreadable.add(place)
            self.formulas[place] = Translated("")
            self.book.set_value(title, row + 1, column + 1, formualizer.LiteralValue.error("Value", None))
            return None
        return translated

    @property
    def has_arrays(self) -> bool:
        """True if results spill into several cells, failed to, or may do so. The library then misses some
        effects of an edit, so a fresh workbook is needed.
        """
        return bool(self.spilled or self.blocked) or any(one.fills for one in self.formulas.values())

    def edit(self, edits: list[list[Any]]) -> None:
        """Put cells: [title, row, column, value or formula, is formula, is date]."""
        for place, translated in self.formulas.items():
            # The library leaves volatile formulas alone where nothing else is to be computed.
            if translated.volatile and place not in self.unreadable:
                try:
                    self.book.set_formula(place[0], place[1] + 1, place[2] + 1, translated.text)
                except RuntimeError:
                    raise Hindered from None
        for title, row, column, value, is_formula, is_date in edits:
            place = (title, row, column)
            self.formulas.pop(place, None)
            self.unreadable.discard(place)
            self.entered.discard(place)
            self.empty.pop(f"{title}!{cell_name(row, column)}", None)
            if is_formula:
                self._formula(place, value)
                self.entered.add(place)
                continue
            if value is not None:
                self.entered.add(place)
            self.book.set_value(title, row + 1, column + 1, _given([row, column, value, False, is_date]))

    def evaluate(self, now: str, seed: str, touched: set[Place]) -> tuple[list[Answer], list[list[Any]]]:
        """Compute, and return the changes: cells with values, and cleared cells.

        What was ``touched`` is always told: its value was taken away when it was written.
        """
        self.seed = seed
        self.blocked = set()
        self.book.set_deterministic_clock(datetime.fromisoformat(now).replace(tzinfo=UTC))
        self.book.evaluate_all()
        found: dict[Place, Answer] = {}
        spilled: dict[Place, Place] = {}
        for place, translated in self.formulas.items():
            title, row, column = place
            if place in self.unreadable:
                found[place] = [title, row, column, "e", _ERROR[0], _ERROR[2], _ERROR[1]]
                continue
            value = self.book.get_value(title, row + 1, column + 1)
            found[place] = self._answer(place, value, translated)
            if translated.spills and found[place][3] != "e":
                self._spill(place, found, spilled)
        self._leave_empty(found, spilled)
        changed = [
            [*answer]
            for place, answer in found.items()
            if place in touched or self.computed.get(place) != answer
        ]
        gone = [list(place) for place in self.computed if place not in found and place not in self.entered]
        self.computed, self.spilled = found, spilled
        for answer in changed:
            anchor = spilled.get((answer[0], answer[1], answer[2]))
            answer += [list(anchor[1:])] if anchor and len(answer) == 7 else []
        changed.sort(key=lambda answer: (answer[0], answer[1], answer[2]))
        return changed, sorted(gone)

    def _leave_empty(self, found: dict[Place, Answer], spilled: dict[Place, Place]) -> None:
        """Take away the noughts that the library gives for what is empty, as the vendor does."""
        noughts = {place for place, answer in found.items() if answer[3:5] == ["n", 0.0]}
        for place in sorted(noughts):
            title, row, column = anchor = spilled.get(place, place)
            empty = self.empty.get(f"{title}!{cell_name(row, column)}", ())
            if anchor in self.formulas and (place[1] - row, place[2] - column) in empty:
                found[place] = [*place, "", None, "", ""]
        for place in sorted(noughts):
            if self._repeats_nothing(place, found):
                found[place] = [*place, "", None, "", ""]

    def _repeats_nothing(self, place: Place, found: dict[Place, Answer]) -> bool:
        """True if a formula only repeats an empty cell, directly or through other such formulas."""
        seen: set[Place] = set()
        while (formula := self.formulas.get(place)) and formula.same and place not in seen:
            seen.add(place)
            place = formula.same
        if not seen or place in seen:
            return False
        return found[place][3] == "" if place in found else place not in self.entered

    def _spill(self, place: Place, found: dict[Place, Answer], spilled: dict[Place, Place]) -> None:
        title, row, column = place
        name = f"{quoted(title)}!{cell_name(row, column)}"
        spill = self.book.inspect_cell(name, include_values=False).cell.spill
        extent = spill.extent if spill else None
        if not extent:
            return
        last = extent.rpartition(":")[2]
        _, _, last = last.rpartition("!")
        corner = formualizer.CellRef.from_string(last.replace("$", ""), default_sheet=title)
        for r in range(row, corner.row):
            for c in range(column, corner.col):
                if (r, c) != (row, column):
                    value = self.book.get_value(title, r + 1, c + 1)
                    found[title, r, c] = self._answer((title, r, c), value, None)
                    spilled[title, r, c] = place

    def _answer(self, place: Place, value: Any, translated: Translated | None) -> Answer:
        title, row, column = place
        if isinstance(value, list):
            value = value[0][0] if value and value[0] else None
        if isinstance(value, dict):
            if value.get("kind") == "Spill":
                self.blocked.add(place)
            shown, kind, message = _KINDS.get(str(value.get("kind")), _ERROR)
            message = str(value.get("message") or message)
            if translated is not None:
                message = self._explained(kind, message, translated)
            return [title, row, column, "e", shown, message, kind]
        if isinstance(value, bool):
            return [title, row, column, "b", value, "", ""]
        if isinstance(value, (int, float)):
            if value != value or value in (float("inf"), float("-inf")):
                return [title, row, column, "e", "#NUM!", _KINDS["Num"][2], "NUM"]
            return [title, row, column, "n", float(value), "", ""]
        if isinstance(value, datetime):
            return [title, row, column, "n", serial_of(value), "", "DATE_TIME"]
        if isinstance(value, date):
            return [title, row, column, "n", serial_of(value), "", "DATE"]
        if isinstance(value, time):
            return [title, row, column, "n", serial_of(value), "", "TIME"]
        if isinstance(value, timedelta):
            return [title, row, column, "n", value / timedelta(days=1), "", ""]
        if value is None:
            return [title, row, column, "", None, "", ""]
        text = str(value)
        if len(text) > MAX_TEXT:
            message = f"Text result is longer than the limit of {MAX_TEXT} characters."
            return [title, row, column, "e", "#VALUE!", message, "VALUE"]
        return [title, row, column, "s", text, "", ""]

    def _explained(self, kind: str, message: str, translated: Translated) -> str:
        if kind == "REF" and translated.missing:
            return f"Unresolved sheet name '{translated.missing}'."
        if kind == "NAME":
            for name in translated.functions:
                if not _is_known(name):
                    return f"Unknown function: '{name}'."
            if translated.names:
                return f"Unknown range name: '{translated.names[0].upper()}'."
        return message


def _stretches(cells: list[list[Any]], taken: list[int]) -> Iterator[tuple[int, list[Any]]]:
    """The values of a row as stretches (first column, values), none over a formula's place.

    Many formulas that are put at once do not replace what lies there, not even nothing.
    """
    bounds = sorted(taken)
    values: list[Any] = []
    left = passed = 0
    for cell in sorted(cells, key=lambda cell: int(cell[1])):
        column = cell[1]
        crossed = bisect_left(bounds, column)
        if values and (crossed != passed or column > left + len(values) + _GAP):
            yield left, values
            values = []
        if not values:
            left = column
        passed = crossed
        values += [None] * (column - left - len(values))
        values.append(_given(cell))
    if values:
        yield left, values


_GAP = 8
"""Empty cells in a row, beyond which what follows is put by itself."""


def _cut(value: Any) -> Any:
    return value[:MAX_TEXT] if isinstance(value, str) else value


def _given(cell: list[Any]) -> Any:
    """Convert a cell for the library; dates stay dates, so that results from them are shown as dates."""
    value, is_date = cell[2], cell[4]
    if isinstance(value, str):
        if value.startswith("#") and value in _SHOWN:
            return formualizer.LiteralValue.error(_SHOWN[value], None)
        return formualizer.LiteralValue.text(value)
    if (
        is_date
        and isinstance(value, (int, float))
        and not isinstance(value, bool)
        and 61 <= value < 2_900_000
    ):
        moment = moment_of(value)
        if moment is not None:
            if value == int(value):
                return formualizer.LiteralValue.date(moment.year, moment.month, moment.day)
            parts = (moment.hour, moment.minute, moment.second)
            return formualizer.LiteralValue.datetime(moment.year, moment.month, moment.day, *parts)
    return value


_known: dict[str, bool] = {}


def _is_known(name: str) -> bool:
    """True if the library has a function of that name. Cached."""
    if name in FUNCTIONS or name in ("RAND", "RANDBETWEEN", "RANDARRAY", "ARRAYFORMULA", "FILTER"):
        return True
    if name not in _known:
        book = formualizer.Workbook()
        book.add_sheet("A")
        try:
            book.set_formula("A", 1, 1, f"={name}()")
            value = book.evaluate_cell("A", 1, 1)
            _known[name] = not (isinstance(value, dict) and value.get("kind") in ("Name", "NImpl"))
        except (RuntimeError, ValueError, formualizer.ExcelEvaluationError):
            _known[name] = True
    return _known[name]


class Worker:
    """The workbooks of the process, by the state of their content."""

    def __init__(self) -> None:
        self.books: OrderedDict[str, Workbook] = OrderedDict()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        before, after = request["before"], request["after"]
        if request.get("sheets") is not None:
            book = Workbook(request)
        elif before in self.books and not self.books[before].has_arrays:
            book = self.books.pop(before)
            try:
                book.edit(request["edits"])
            except Hindered:
                return {"missing": True}
        else:
            return {"missing": True}
        try:
            touched = {(edit[0], edit[1], edit[2]) for edit in request["edits"]}
            changed, gone = book.evaluate(request["now"], request["seed"], touched)
        except formualizer.ExcelEvaluationError as exhausted:
            if request.get("sheets") is None:  # what a new workbook says counts
                return {"missing": True}
            return {"refused": str(exhausted)[:300]}
        if book.has_arrays and request.get("sheets") is None:
            return {"missing": True}
        self.books[after] = book
        while len(self.books) > 1 and sum(one.size for one in self.books.values()) > MAX_HELD:
            self.books.popitem(last=False)
        return {"changed": changed, "gone": gone}


def _served(line: socket) -> None:
    bound_memory(MEMORY)
    worker = Worker()

    def answer(request: bytes) -> tuple[Kind, bytes]:
        said = worker.answer(orjson.loads(request))
        kind = Kind.MISSING if "missing" in said else Kind.REFUSED if "refused" in said else Kind.KEPT
        return kind, orjson.dumps(said)

    serve(line, answer)


def main() -> None:
    """Fork processes on request."""
    fork_on_request(lambda _: _served)
