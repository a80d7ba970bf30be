"""Judging a final state by goals: missing, extra and wrong things, and other changes."""

from __future__ import annotations

import datetime as dt
import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from mesocosm.errors import UsageError
from mesocosm.families.verdict import Check, finding, named_values, told
from mesocosm.kits.html_text import visible_text
from mesocosm.kits.yaml_tasks.definition import Definition, Goal, Rows
from mesocosm.kits.yaml_tasks.entities import Entity, Wrong, evaluated
from mesocosm.kits.yaml_tasks.filters import show
from mesocosm.kits.yaml_tasks.language import ExpressionError
from mesocosm.kits.yaml_tasks.mailboxes import entries
from mesocosm.kits.yaml_tasks.rendering import prepared, rendered_rows, selects_at
from mesocosm.kits.yaml_tasks.truth import Truth
from mesocosm.services.contents import Grid, Objects, UnreadableContent
from mesocosm.services.numbers import BINARY, number_of
from mesocosm.services.patterns import BadPattern, Pattern
from mesocosm.services.words import Cells, Fields, Found, InForms, Thing, find_thing, load_words

if TYPE_CHECKING:
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes

WAYS = {
    "contains": "This text stands in it, or each of these.",
    "without": "This text does not, or none of these.",
    "lines": "One of its lines is this text, or for each of these one is; a full stop may follow.",
    "only": "Of the lines that this pattern fits there are exactly those under `lines`, and no others.",
    "all_lines": "Its lines, apart from empty ones, are these and no others, in this order.",
    "one_of": "It is one of these values.",
    "number": "It is this number, as near as `within` says.",
    "matches": "This pattern (a regular expression) fits all of it.",
}
"""Ways to judge a field other than by value."""
_ADDRESS = re.compile(r"[^\s<>,]+@[^\s<>,]+")
_LINE_ENDS = re.compile(
    r"</?(?:br|p|div|li|ul|ol|dl|dt|dd|tr|table|h[1-6]|hr|section|article|center|header|footer|main|nav|aside"
    r"|address|blockquote|pre|form|fieldset|figure)\b(?![^<>]*display)[^<>]*>",
    re.IGNORECASE,
)
"""Elements before and after which a line ends, but those of which a style says how they are shown."""
_BREAK = re.compile(r"\r\n|\r|\n")
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0]")
"""Characters that are letters or marks to Unicode, and nothing to a reader."""
_DEEPEST = 50
"""Levels within each other that are compared and shown."""
_LONGEST, _LONGEST_ROW, _BEFORE = 80, 240, 20
"""Characters of a value and of a row that a finding shows, and of what is right before what is not."""
_FEW = 3
"""Number of oddities of a table a finding names."""


@dataclass(frozen=True)
class Wanted:
    """One row of a goal."""

    goal: Goal
    fields: Fields
    entity: Entity | None
    key: tuple[str, ...]

    @property
    def shown(self) -> str:
        """As findings name it."""
        return ", ".join(_shown(self.fields[name]) for name in self.key)


def wanted_of(definition: Definition, truth: Truth) -> list[Wanted]:
    """All rows of all goals."""
    found = []
    for index, goal in enumerate(definition.goal):
        found += wanted_of_goal(truth, index, goal)
    return found


def right_of(definition: Definition, truth: Truth) -> list[Wanted]:
    """The same where nothing was misread yet: worked out once for all truths of an instance."""
    of, found = truth.settled.get("wanted", (None, []))
    if of is not definition:
        found = wanted_of(definition, truth)
        truth.settled["wanted"] = definition, found
    return list(found)


def wanted_of_goal(truth: Truth, index: int, goal: Goal) -> list[Wanted]:
    return truth.once(("goal", index), lambda: _wanted_of_goal(truth, index, goal))


def _wanted_of_goal(truth: Truth, index: int, goal: Goal) -> list[Wanted]:
    thing = find_thing(goal.what)
    assert thing is not None
    keys = ("goal", index, goal.what)
    entities: list[Entity | None] = [None]
    if goal.for_ is not None:
        entities = [
            # Asked once for each world: a selection may go through all entities, and goals are read again for
            # each near miss.
            one
            for one in truth.sets[goal.for_]
            if truth.once(("chosen", index, one), partial(selects_at, goal, one, ("goal", index)))
        ]
    rows = [
        (one, truth.once(("fields", index, one), partial(_row, truth, thing, goal, one, keys)))
        for one in entities
    ]
    key = tuple(goal.key or _telling_apart(thing, [fields for _, fields in rows], goal))
    for name in key:
        if name not in goal.fields:
            raise Wrong((*keys[:2], "key"), f"{name!r} is not judged; judged are {', '.join(goal.fields)}")
    return [Wanted(goal, fields, one, key) for one, fields in rows]


def fields_of(truth: Truth, index: int, goal: Goal, entity: Entity | None) -> Fields:
    """Return the fields that a goal wants of an entity, even one that it does not apply to."""
    thing = find_thing(goal.what)
    assert thing is not None
    return _row(truth, thing, goal, entity, ("goal", index, goal.what))


def _row(truth: Truth, thing: Thing, goal: Goal, entity: Entity | None, keys: tuple[Any, ...]) -> Fields:
    lookup = entity.lookup if entity else truth.lookup
    fields: Fields = {}
    for name, value in goal.fields.items():
        try:
            if thing.judges[name].shape == "list" and isinstance(value, dict) and "columns" in value:
                rows = Rows.model_validate(value)
                cells = list(rendered_rows(truth, rows, (*keys, name), entity, background=False))
                ordered = bool(rows.sort) and thing.ordered
                fields[name] = GoalTable(list(rows.columns), cells, ordered=ordered, within=rows.within)
            else:
                found = evaluated(prepared(value), lookup)
                fields[name] = _addresses(found) if thing.judges[name].shape == "addresses" else found
        except ExpressionError as error:
            label = f"{entity.label}: " if entity else ""
            raise Wrong((*keys, name), f"{label}{error}") from None
    return fields


def _addresses(given: Any) -> Any:
    """Return the bare addresses in a field."""
    texts = [str(text) for text in (given if isinstance(given, list) else [given]) if text]
    return [
        address.lower()
        for text in texts
        for address in ([one for _, one in entries(text) or ()] or _ADDRESS.findall(text))
    ]


def _telling_apart(thing: Thing, rows: Sequence[Fields], goal: Goal) -> list[str]:
    """The first field that differs for each, else all of them."""
    # What is changed or removed was there before: the row is the one of that name, however wrong the rest of
    # it is.
    if goal.how != "add" and thing.identified_by in goal.fields:
        return [str(thing.identified_by)]
    names = list(goal.fields)
    for name in names if rows else ():
        values = [_hashable(row[name]) for row in rows]
        # The first field by which all wanted rows differ, so that a wrong row is held against the right
        # wanted one and its finding names what is wrong; a table alone tells nothing apart.
        if (
            rows
            and len(set(values)) == len(values)
            and (len(values) > 1 or not isinstance(rows[0][name], (dict, GoalTable)))
        ):
            return [name]
    return names


# -- one field ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GoalTable:
    """Rows that a file is to have."""

    columns: list[str]
    rows: list[dict[str, Any]]
    ordered: bool
    within: Mapping[str, float]

    def __str__(self) -> str:
        return f"{len(self.rows)} rows"

    def same(self, column: str, cell: Any, other: Any) -> bool:
        return same(cell, other, self.within.get(column))


def same(wanted: Any, found: Any, within: float | None = None) -> bool:
    """True if a value equals the wanted one: numbers by value, moments by instant, texts exactly."""
    if isinstance(found, UnreadableContent):
        return False
    if isinstance(wanted, dt.datetime):
        found = _moment(found)
        if not isinstance(found, dt.datetime):
            return False
        # A cell of a workbook has no zone: it is taken as the wanted zone's wall clock, as a reader would.
        if found.tzinfo is None:  # what a clock shows, where nothing says whose
            return found == wanted.replace(tzinfo=None)
        return found.astimezone(dt.UTC) == wanted.astimezone(dt.UTC)
    if isinstance(wanted, dt.date):
        return show(wanted) == (show(found.date()) if isinstance(found, dt.datetime) else _text(found))
    if isinstance(wanted, bool) or isinstance(found, bool):
        return wanted == found or (isinstance(found, str) and show(wanted) == found.lower())
    if isinstance(wanted, (int, float)):
        number = number_of(found)
        return number is not None and math.isclose(number, wanted, rel_tol=0, abs_tol=(within or 0) + BINARY)
    if isinstance(wanted, (list, tuple)):
        if not isinstance(found, (list, tuple)) or len(found) != len(wanted):
            return False
        # Lists of a product (labels, guests) have no order that an agent could get wrong.
        return sorted(map(_hashable, wanted)) == sorted(map(_hashable, found))
    if wanted is None:
        return found in (None, "", [], {})
    if isinstance(wanted, str) and isinstance(found, (dt.date, dt.time, dt.timedelta)):
        return wanted in _writings(found)
    return bool(wanted == found)


def _writings(found: dt.date | dt.time | dt.timedelta) -> set[str]:
    """Return the possible texts of a cell with a date or time, where a text is wanted."""
    if isinstance(found, dt.timedelta):
        minutes, seconds = divmod(int(found.total_seconds()), 60)
        return set() if seconds else {f"{minutes // 60:02}:{minutes % 60:02}"}
    if isinstance(found, dt.time):
        return {f"{found:%H:%M:%S}"} | ({f"{found:%H:%M}"} if not found.second else set())
    if isinstance(found, dt.datetime) and (found.hour, found.minute, found.second) != (0, 0, 0):
        return {f"{found:%Y-%m-%d %H:%M:%S}"} | ({f"{found:%Y-%m-%d %H:%M}"} if not found.second else set())
    return {f"{found:%Y-%m-%d}", f"{found:%m/%d/%Y}"}


def _moment(value: Any) -> Any:
    if isinstance(value, str):
        try:
            moment = dt.datetime.fromisoformat(value.replace("Z", "+00:00"))
        except ValueError:
            return value
        return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    return value


def matches(wanted: Any, found: Any) -> bool:
    """True if a field matches its goal."""
    if isinstance(found, UnreadableContent):
        return False
    # A mail has the text twice, as plain text and as HTML; readers see the one or the other, so both have to
    # be right.
    if isinstance(found, InForms):
        return all(matches(wanted, form) for form in (*found.texts, *map(_lines_of, found.htmls)))
    if isinstance(found, Cells):
        if not isinstance(wanted, Mapping) or (found.whole and wanted.keys() != found.keys()):
            return False
        return all(name in found and matches(value, found[name]) for name, value in wanted.items())
    if not isinstance(wanted, Mapping) or not wanted.keys() & set(WAYS):
        return same(wanted, found)
    text = found if isinstance(found, (list, tuple)) else " ".join(_text(found).split())
    for way, value in wanted.items():
        match way:
            case "contains":
                right = all(_flat(part) in text for part in _several(value))
            case "without":
                # As written and as it looks: an invisible character within a word must not hide that it is
                # there.
                shown = text if isinstance(text, (list, tuple)) else _plain(text)
                right = not any(_flat(part) in one for part in _several(value) for one in (text, shown))
            case "lines":
                lines = set(_written_lines(found))
                right = all(_ended(_flat(part)) & lines for part in _several(value))
            case "only":
                such = [line for line in _written_lines(found) if _fits_any(str(value), line)]
                right = _same_lines(such, [_flat(part) for part in _several(wanted.get("lines", []))])
            case "all_lines":
                such = [line for line in _written_lines(found) if line]
                right = such == [_flat(part) for part in _several(value)]
            case "one_of":
                right = any(same(part, found) for part in _several(value))
            case "number":
                right = same(value, found, wanted.get("within"))
            case "matches":
                right = _fits(str(value), _text(found))
            case _:
                right = True
        if not right:
            return False
    return True


def _written_lines(found: Any) -> list[str]:
    """The lines of a text, with single blanks between their words."""
    return [" ".join(line.split()) for line in _BREAK.split(_text(found))]


def _text(found: Any) -> str:
    """Return the found value as text; a missing one gets a text that nobody wants."""
    return _hashable(found) if isinstance(found, (Mapping, list, tuple)) else show(found)


def _ended(line: str) -> set[str]:
    """A line, and the same with the full stop that ends a sentence."""
    return {line, f"{line}."}


def _same_lines(lines: Sequence[str], wanted: Sequence[str]) -> bool:
    """True if the lines are the wanted ones in any order, ignoring full stops."""
    left = list(lines)
    for one in wanted:
        match = next((line for line in left if line in _ended(one)), None)
        if match is None:
            return False
        # Each line counts once: the same line twice does not stand for two wanted ones.
        left.remove(match)
    return not left


def _plain(text: str) -> str:
    """A text as it looks to a reader: without what is not seen, and with ordinary letters and digits."""
    seen = _UNSEEN.sub("", unicodedata.normalize("NFKC", _UNSEEN.sub("", text)))
    digits = (str(unicodedata.decimal(one, "")) or one for one in seen)
    return "".join(one for one in digits if unicodedata.category(one) != "Cf")


def _fits_any(pattern: str, line: str) -> bool:
    """True if a pattern matches a line as written or as displayed."""
    return _fits(pattern, line) or ((plain := _plain(line)) != line and _fits(pattern, plain))


def _lines_of(html: str) -> str:
    """The lines that a reader sees of HTML."""
    text = html if re.search(r"<pre\b", html, re.IGNORECASE) else " ".join(html.split())
    shown = visible_text(_LINE_ENDS.sub(r"\n\g<0>\n", text))
    return "\n".join(" ".join(line.split()) for line in shown.splitlines())


def _fits(pattern: str, text: str) -> bool:
    try:
        return Pattern(pattern, bounded=False).fullmatch(text) is not None
    except BadPattern as error:
        raise UsageError(f"not a pattern: {pattern!r}: {error}") from None


def _flat(part: Any) -> Any:
    return part if not isinstance(part, (str, int, float, dt.date)) else " ".join(show(part).split())


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _hashable(value: Any, depth: int = 0) -> str:
    """Return a canonical text of a value; deeply nested ones are truncated."""
    if depth > _DEEPEST:
        return "..."
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).isoformat()
    if isinstance(value, Mapping):
        return str({key: _hashable(inner, depth + 1) for key, inner in value.items()})
    if isinstance(value, (list, tuple)):
        return str([_hashable(one, depth + 1) for one in value])
    return show(value)


def _shown(value: Any) -> str:
    if isinstance(value, InForms) and not value.strip() and value.htmls:
        value = _lines_of(value.htmls[0])  # a mail of nothing but HTML
    if isinstance(value, Mapping):
        return _cut(named_values(value, _hashable), _LONGEST_ROW)
    return _cut(named_values(value, _hashable), _LONGEST)


def _cut(text: str, longest: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def _told(found: Any, wanted: Any) -> str:
    """Word the difference of a field from what is wanted: of a row the cells that differ; where both look the
    same, the place where they part, with blanks and signs by their codes."""
    if isinstance(wanted, Mapping) and not wanted.keys() & set(WAYS) and isinstance(found, Mapping):
        other = [name for name in wanted if name not in found or not matches(wanted[name], found[name])]
        found = {name: found[name] for name in other if name in found}
        wanted = {name: wanted[name] for name in other}
    got, expected = _shown(found), _shown_wanted(wanted)
    texts = _hashable(found), _hashable(wanted)
    if _plain(got) == _plain(expected):
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False))
        start = max(0, sum(1 for _ in alike) - _BEFORE)
        got, expected = (ascii(text[start : start + _LONGEST]) for text in texts)
    return told(got, expected)


def _shown_wanted(value: Any) -> str:
    """Describe the wanted value of a field: itself, or how it is judged, ``lines: See you at 9``."""
    if isinstance(value, Mapping) and value.keys() & set(WAYS):
        return " and ".join(f"{way}: {_shown(part)}" for way, part in value.items())
    return _shown(value)


# -- all goals ------------------------------------------------------------------------------------------


def base_of(goal: Goal) -> str:
    """Return the name of a goal's findings."""
    return goal.name or goal.what.replace(".", "_")


def judge(definition: Definition, services: Iterable[str], truth: Truth, world: World) -> Iterator[Check]:
    changes, services = world.changes(), list(services)
    wanted = right_of(definition, truth)
    explained: list[Found] = []
    pools: dict[tuple[str, str], list[Found]] = {}
    same = _unchanged(services, world, changes)
    for goal in definition.goal:
        if (goal.what, goal.how) not in pools:
            present = _present(goal, world, changes)
            of = same[goal.what.partition(".")[0]]
            pools[goal.what, goal.how] = [one for one in present if not _saved(one, of)]
    pairs = _pair(wanted, pools)
    for goal in definition.goal:
        of_goal = [(one, found) for one, found in pairs if one.goal is goal]
        yield from _judge_goal(goal, of_goal)
        explained += [found for _, found in of_goal if found]
    for (what, how), pool in pools.items():
        name = what.replace(".", "_") if how == "add" else f"{what.replace('.', '_')}_{how}"
        left = [one for one in pool if not _met_otherwise(one, what, how, pairs)]
        yield finding(f"{name}_extra", [_shown_found(one) for one in left])
        explained += left
    for service in services:
        if words := load_words(service):
            yield finding(f"{service}_unchanged", words.others(world, changes, explained))
    yield finding("files_unchanged", _other_files(changes, explained))


def _unchanged(
    services: Iterable[str], world: World, changes: Changes
) -> dict[str, Collection[tuple[str, Any]]]:
    """By service, the rows that are what they were: (table, primary key)."""
    known = ((service, words) for service in services if (words := load_words(service)))
    return {service: words.excuses(world, changes) for service, words in known}


def _saved(one: Found, same: Collection[tuple[str, Any]]) -> bool:
    """True if an existing thing was only saved, or changed and set back."""
    return one.before is not None and one.before == one.fields and one.rows <= set(same)


def _met_otherwise(one: Found, what: str, how: str, pairs: Sequence[tuple[Wanted, Found | None]]) -> bool:
    """True if goals of other kinds explain all of it: a whole table and each of its rows."""
    rows = {
        row
        for wanted, found in pairs
        if found is not None and (wanted.goal.what, wanted.goal.how) != (what, how)
        for row in found.rows
    }
    return bool(one.rows) and one.rows <= rows


def _present(goal: Goal, world: World, changes: Changes) -> Iterable[Found]:
    thing = find_thing(goal.what)
    assert thing is not None
    return {"add": thing.made, "change": thing.altered, "remove": thing.gone}[goal.how](world, changes)


def _pair(
    wanted: Sequence[Wanted], pools: Mapping[tuple[str, str], list[Found]]
) -> list[tuple[Wanted, Found | None]]:
    """Each wanted row with the found one that is it: the one that is right, else one with the same key."""
    matched: dict[int, Found] = {}
    for fits in (_right, _same_key):
        for index, one in enumerate(wanted):
            pool = pools[one.goal.what, one.goal.how]
            if index not in matched and (found := _take(pool, one, fits)):
                matched[index] = found
    return [(one, matched.get(index)) for index, one in enumerate(wanted)]


def _take(pool: list[Found], one: Wanted, fits: Callable[[Wanted, Found], bool]) -> Found | None:
    for place, found in enumerate(pool):
        if fits(one, found):
            return pool.pop(place)
    return None


def _usual(goal: Goal) -> Mapping[str, Any]:
    thing = find_thing(goal.what)
    assert thing is not None
    if goal.how != "add":
        return {}
    return {name: value for name, value in thing.usual.items() if name not in goal.fields}


def _right(one: Wanted, found: Found) -> bool:
    return _same_key(one, found) and all(
        _field_right(value, found.fields.get(name))
        for name, value in {**one.fields, **_usual(one.goal)}.items()
    )


def _same_key(one: Wanted, found: Found) -> bool:
    return all(_field_right(one.fields[name], found.fields.get(name)) for name in one.key)


def _field_right(wanted: Any, found: Any) -> bool:
    return not list(_table_faults(wanted, found)) if isinstance(wanted, GoalTable) else matches(wanted, found)


def _judge_goal(goal: Goal, pairs: Sequence[tuple[Wanted, Found | None]]) -> Iterator[Check]:
    base = base_of(goal)
    yield finding(f"{base}_missing", [one.shown for one, found in pairs if found is None])
    both = [(one, found) for one, found in pairs if found is not None]
    key = pairs[0][0].key if pairs else ()
    for name in goal.fields:
        if name in key:
            continue
        if any(isinstance(one.fields[name], GoalTable) for one, _ in pairs):
            yield from _judge_tables(f"{base}_{name}", name, both)
            continue
        wrong = [
            f"{one.shown}: {_told(found.fields.get(name), one.fields[name])}"
            for one, found in both
            if not matches(one.fields[name], found.fields.get(name))
        ]
        yield finding(f"{base}_{name}", wrong)
    if goal.how == "change":
        yield finding(f"{base}_otherwise", [text for pair in both for text in _also_changed(goal, *pair)])
    elif usual := _usual(goal):
        wrong = [
            f"{one.shown}: {name}: {_told(found.fields.get(name), value)}"
            for one, found in both
            for name, value in usual.items()
            if not matches(value, found.fields.get(name))
        ]
        yield finding(f"{base}_otherwise", wrong)


def _also_changed(goal: Goal, one: Wanted, found: Found) -> Iterator[str]:
    """Fields of something that was there before which the goal does not speak of, and which changed."""
    for name, value in (found.before or {}).items():
        now = found.fields.get(name)
        if isinstance(value, Cells) and isinstance(now, Cells):
            said = one.fields.get(name) or {}
            for column in dict.fromkeys([*value, *now]):
                old, new = value.get(column), now.get(column)
                if column not in said and old != new:
                    yield f"{one.shown}: {column} was {_shown(old)}, and is {_shown(new)}"
        elif name not in goal.fields and not same(value, now):
            yield f"{one.shown}: {name} was {_shown(value)}, and is {_shown(now)}"


def _judge_tables(base: str, name: str, pairs: Sequence[tuple[Wanted, Found]]) -> Iterator[Check]:
    faults: dict[str, list[str]] = {part: [] for part in ("columns", "missing", "extra", "cells", "order")}
    for one, found in pairs:
        for part, fault in _table_faults(one.fields[name], found.fields.get(name)):
            faults[part].append(fault)
    for part, wrong in faults.items():
        yield finding(f"{base}_{part}", wrong)


def _table_faults(table: GoalTable, found: Any) -> Iterator[tuple[str, str]]:
    """Yield the errors in rows as (part, error)."""
    rows, wrong = _rows_of(table, found)
    yield from (("columns", text) for text in wrong)
    if rows is None:
        return
    key = table.columns[0]
    left = dict(enumerate(rows))
    near: dict[str, dict[int, Mapping[str, Any]]] = {}
    for place, one in left.items():
        near.setdefault(_roughly(one[key]), {})[place] = one
    order: list[int] = []
    for row in table.rows:
        best = _best(table, row, near.get(_roughly(row[key]), {}), key)
        # Texts are right to the letter; what is right of other cells may look otherwise.
        if best is None and not isinstance(row[key], str):
            best = _best(table, row, left, key)
        if best is None:
            yield "missing", _shown(row[key])
            continue
        other = left.pop(best)
        del near[_roughly(other[key])][best]
        order.append(best)
        for column in table.columns:
            if not table.same(column, row[column], other[column]):
                yield (
                    "cells",
                    f"{_shown(row[key])}: {column}: {_told(other[column], row[column])}",
                )
    yield from (("extra", _shown(row[key])) for row in left.values())
    if table.ordered and order != sorted(order):
        yield "order", "the rows are in another order"


def _rows_of(table: GoalTable, found: Any) -> tuple[Sequence[Mapping[str, Any]] | None, list[str]]:
    """The rows that were found which have exactly the columns that are wanted, and what is wrong with it."""
    if isinstance(found, Grid):
        columns, width = [show(cell) for cell in found.head], len(found.head)
        rows = [dict(zip(columns, line, strict=True)) for line in found.lines if len(line) == width]
        wrong = found.uneven()[:_FEW]
    elif isinstance(found, list) and all(isinstance(row, Mapping) for row in found):
        named = sorted if isinstance(found, Objects) else list
        rows, wrong = found, []
        other = next((row for row in found if named(row) != named(table.columns)), None)
        columns = table.columns if other is None else list(other)
    else:
        return None, [str(found) if isinstance(found, UnreadableContent) else f"no rows: {_shown(found)}"]
    if columns != table.columns:
        return None, [told(", ".join(columns), ", ".join(table.columns)), *wrong]
    return rows, wrong


def _roughly(cell: Any) -> str:
    """A text that is the same for most cells that count as the same."""
    if isinstance(cell, dt.datetime):
        return cell.date().isoformat()
    number = number_of(cell)
    if number is not None:
        return f"{number:.6g}"
    return show(cell) if not isinstance(cell, (Mapping, list)) else ""


def _best(
    table: GoalTable, row: Mapping[str, Any], left: Mapping[int, Mapping[str, Any]], key: str
) -> int | None:
    """The row with the same first cell that has most cells right; the first of several."""
    best, most = None, -1
    for place, other in left.items():
        if table.same(key, row[key], other[key]):
            right = sum(table.same(column, row[column], other[column]) for column in table.columns)
            if right > most:
                best, most = place, right
            if right == len(table.columns):
                break
    return best


def _shown_found(found: Found) -> str:
    return ", ".join(f"{name} {_shown(value)}" for name, value in list(found.fields.items())[:4] if value)


def _other_files(changes: Changes, explained: Sequence[Found]) -> Iterator[str]:
    known = {key for found in explained for table, key in found.rows if table == "file"}
    for what, names in (
        ("added", changes.files_added), ("removed", changes.files_removed), ("changed", changes.files_changed)
    ):  # fmt: skip
        yield from (f"{name} was {what}" for name in names if name not in known)
