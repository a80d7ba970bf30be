"""Tables: the items of a web page as tab-separated values, all of them or those that a filter keeps."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from mesocosm.kits.procedures.answers import last_fence
from mesocosm.kits.procedures.protocol import ProcedureCase, Score
from mesocosm.kits.procedures.rules import text_of
from mesocosm.kits.procedures.tables.pages import Item, Listing, page
from mesocosm.kits.procedures.tables.subjects import SUBJECTS, PageSubject, Pool, Property
from mesocosm.worlds import tokens

# Filters: which items of a page are wanted, in a sentence and as a rule.

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Filter(BaseModel):
    """A condition on one property."""

    model_config = ConfigDict(frozen=True)

    property: str
    test: str
    """``is``, ``is not``, ``contains``, ``at most`` or ``from`` (of text that sorts as it counts)."""
    value: str

    def keeps(self, cell: str) -> bool:
        """True if an item with this value is wanted. One without a value is not."""
        if not cell:
            return False
        match self.test:
            case "is":
                return cell == self.value
            case "is not":
                return cell != self.value
            case "contains":
                return self.value in cell.split(", ")
            case "at most":
                return _amount(cell) <= _amount(self.value)
            case _:
                return cell >= self.value

    def sentence(self, items: str) -> str:
        """The condition in words."""
        name = f"{self.property!r}".replace("'", '"')
        said = {
            "is": f"{name} is exactly {self.value}",
            "is not": f"{name} is given and is not {self.value}",
            "contains": f"{name} names {self.value} (alone or among others)",
            "at most": f"{name} is at most {self.value}",
            "from": f"{name} is {self.value} or later",
        }
        return f"Only {items} of which {said[self.test]}; those without this property do not count."


def _amount(cell: str) -> float:
    found = _NUMBER.search(cell)
    assert found
    return float(found[0])


def draw_filter(rng: random.Random, kinds: dict[str, str], samples: dict[str, Sequence[str]]) -> Filter:
    """A filter that keeps a good part of items; ``samples`` are values as they occur, by property."""
    usable = [name for name, kind in kinds.items() if kind in ("word", "list", "number", "date", "year")]
    name = rng.choice(usable)
    values = sorted(samples[name])
    match kinds[name]:
        case "word":
            return Filter(
                property=name, test=rng.choice(("is", "is not", "is not")), value=rng.choice(values)
            )
        case "list":
            return Filter(property=name, test="contains", value=rng.choice(rng.choice(values).split(", ")))
        case "number":
            ordered = sorted(values, key=_amount)
            return Filter(
                property=name, test="at most", value=ordered[round(len(ordered) * rng.uniform(0.4, 0.7))]
            )
        case _:
            return Filter(
                property=name, test="from", value=values[round(len(values) * rng.uniform(0.3, 0.6))]
            )


NAME = "tables"
UPSTREAM = "html_to_tsv"
TITLE = "Turn the items of a web page into tab-separated values"
BLOCKS = ("tsv",)
SHEET = 12_000
SMALLEST = 100
EXAMPLE = 150
EXAMPLES = 1

_MISSING = 0.04
_FILTERED = 0.6
_SAMPLES = 24
_LEAST_KEPT = 0.4
_LONG, _LEAST_KEPT_OF_MANY = 4_000, 0.6
"""From so many tokens of output on a filter keeps more."""
_ASIDES = ("Recently viewed", "Sponsored", "You may also like", "Editor's choice", "Last month")
_HEADINGS = ("Results", "All {}", "Matching {}", "{} A to Z", "Our {}")


class TableCase(ProcedureCase):
    """A page, and what is wanted of it."""

    subject: str
    items: str
    heading: str
    """Under which the items are listed."""
    columns: list[str]
    filter: Filter | None
    rows: list[list[str]]
    """The wanted rows in the order of the page; a missing value is empty."""
    page: str


CaseType = TableCase


def draw(rng: random.Random, level: int) -> TableCase:
    """Draw a page whose table of wanted items has ``level`` tokens."""
    subject = rng.choice(SUBJECTS)
    pool = Pool(rng)
    names = [one.name for one in subject.properties]
    # Of a long table most properties are wanted: the page would be many times as long as the table.
    count = rng.randint(3 if level < _LONG else len(names) - 1, len(names))
    columns = [names[0], *sorted(rng.sample(names[1:], count - 1), key=names.index)]
    rule = None
    if rng.random() < _FILTERED:
        rule = draw_filter(
            rng,
            {one.name: one.kind for one in subject.properties[1:]},
            {one.name: [one.draw(pool) for _ in range(_SAMPLES)] for one in subject.properties},
        )
        if sum(rule.keeps(_property(subject, rule).draw(pool)) for _ in range(_SAMPLES)) < _SAMPLES * (
            _LEAST_KEPT if level < _LONG else _LEAST_KEPT_OF_MANY
        ):
            rule = None
    items: list[Item] = []
    rows: list[list[str]] = []
    left = level - tokens.count(_table(columns, []))
    while left > 0:
        item = {one.name: _drawn(rng, pool, one) for one in subject.properties}
        if rule is None or rule.keeps(item[rule.property]):
            row = [item[name] for name in columns]
            cost = tokens.count(_line(row) + "\n")
            if left < cost / 2:
                break
            left -= cost
            rows.append(row)
        items.append(item)
    heading = rng.choice(_HEADINGS).format(subject.items)
    heading = heading[0].upper() + heading[1:]
    main = Listing(heading, items)
    listings = [main]
    for title in rng.sample(_ASIDES, rng.randint(1, 2)):
        others = [
            {one.name: one.draw(pool) for one in subject.properties} for _ in range(max(2, len(items) // 10))
        ]
        listings.insert(rng.randint(0, len(listings)), Listing(title, others))
    return TableCase(
        subject=subject.name,
        items=subject.items,
        heading=heading,
        columns=columns,
        filter=rule,
        rows=rows,
        page=page(rng, subject, listings, main),
    )


def distract(rng: random.Random, level: int) -> TableCase:
    """Another page."""
    return draw(rng, level)


def _property(subject: PageSubject, rule: Filter) -> Property:
    return next(one for one in subject.properties if one.name == rule.property)


def _drawn(rng: random.Random, pool: Pool, one: Property) -> str:
    return "" if one.kind != "title" and rng.random() < _MISSING else one.draw(pool)


def _line(row: Sequence[str]) -> str:
    return "\t".join(cell or "N/A" for cell in row)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(["```tsv", "\t".join(columns), *map(_line, rows), "```"])


def rules() -> str:
    return text_of(NAME)


def question(case: TableCase) -> str:
    """Return the question: wanted items and properties."""
    parts = [
        f'Write a table of the {case.items} under the heading "{case.heading}".',
        f"Properties: {'; '.join(case.columns)}.",
    ]
    if case.filter:
        parts.append(case.filter.sentence(case.items))
    return " ".join(parts)


def given(case: TableCase) -> list[str]:
    """The page, line by line."""
    return case.page.split("\n")


def gold(case: TableCase) -> str:
    return _table(case.columns, case.rows)


def score(case: TableCase, gold: str, answer: str) -> Score:
    """The F1 of rows as a multiset, and the first row that deviates in the order of the page."""
    found = last_fence(answer, "tsv")
    if found is None:
        return Score(value=0, exact=False, partial=0, line=1, token=0, why="there is no ```tsv table")
    table, complete = found
    lines = [_cells(line) for line in table.split("\n") if line.strip()]
    if not lines or lines[0] != tuple(case.columns):
        return Score(value=0, exact=False, partial=0, line=1, token=0, why="the first line is not the header")
    right = [_cells(_line(row)) for row in case.rows]
    rows = lines[1:]
    common = (Counter(rows) & Counter(right)).total()
    value = 2 * common / (len(rows) + len(right)) if common else 0.0
    same = next(
        (at for at, (a, b) in enumerate(zip(rows, right, strict=False)) if a != b), min(len(rows), len(right))
    )
    if same == len(rows) == len(right) and complete:
        return Score(value=1, exact=True, partial=1)
    before = "\n".join(_table(case.columns, case.rows[:same]).split("\n")[:-1])
    why = "the table is not closed" if not complete and same == len(right) else f"row {same + 1}"
    if same < len(rows):
        why = f"row {same + 1} is {' | '.join(rows[same])[:160]!r}"
    elif same < len(right):
        why = f"ends before row {same + 1}"
    # Rows that follow after all the right ones are wrong too: not everything is right.
    partial = min(same, len(right) - 1) / len(right)
    return Score(
        value=value, exact=False, partial=partial, line=same + 2, token=tokens.count(before + "\n"), why=why
    )


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.split("\t"))
