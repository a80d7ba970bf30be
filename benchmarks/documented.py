"""Comparison of the warehouses with the facts in the products' references.

python benchmarks/documented.py [--show] [--only casts rounding]

``documented/*.txt`` has facts of Google's and Snowflake's published references: an expression, and what it
gives. Each is asked of a real world. The share that agrees is shown for each group; ``--show`` says what does
not. Casts, rounding, formats and decimals must agree, but for what ``DIFFERS`` names: else the program ends
with 1. ``tests/queries/test_documented.py`` asks these groups, too.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from mesocosm.errors import Refusal
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.snowflake.store import SnowflakeStore
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

FOLDER = Path(__file__).with_name("documented")
WHOLE = ("casts", "rounding", "formats", "decimals")
"""Groups of which everything must agree."""
DIFFERS = {
    "CAST('01:05:07.16' AS TIME FORMAT 'HH24:MI:SS.FF1')": "more digits than the format has are kept",
}
"""Facts of these groups that are known to differ, and how."""
REFUSED = "ERROR"
"""Stands for the result of an expression that the product refuses."""


@dataclass(frozen=True)
class Fact:
    """An expression, and what its product's reference says that it gives."""

    product: str
    group: str
    expression: str
    result: str


def facts() -> Iterator[Fact]:
    """All facts, in the order of their files."""
    for path in sorted(FOLDER.glob("*.txt")):
        group = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("## "):
                group = line.removeprefix("## ")
            elif line and not line.startswith("#"):
                expression, _, result = line.rpartition(" => ")
                yield Fact(path.stem, group, expression, result)


def shown(value: Any) -> str:
    """A value as the references write it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case float():
            return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(repr(value), repr(value))
        case list() | tuple():
            return "[" + ", ".join(_within(one) for one in value) + "]"
        case dict():
            return "{" + ", ".join(f"{json.dumps(name)}: {_within(one)}" for name, one in value.items()) + "}"
        case bytes():
            return value.hex().upper()
        case datetime():
            return value.isoformat(" ")
        case date() | time() | Decimal():
            return f"{value:f}" if isinstance(value, Decimal) else value.isoformat()
    return str(value)


def _within(value: Any) -> str:
    """A value inside of another, as JSON has it."""
    return "null" if value is None else json.dumps(value) if isinstance(value, str) else shown(value)


def same(ours: str, theirs: str) -> bool:
    """True if two texts are one value, ignoring formats of numbers and moments but not blanks."""
    if ours == theirs:
        return True
    with suppress(ValueError):
        return _close(float(ours), float(theirs), theirs)
    if ours[:1] in "[{" and theirs[:1] in "[{":
        return _as_json(ours, theirs) or _pieces(ours) == _pieces(theirs)
    with suppress(ValueError):
        return _moment(ours) == _moment(theirs)
    return ours.lower() == theirs.lower() in ("true", "false", "null")


def _close(ours: float, theirs: float, written: str) -> bool:
    """Equal in the digits that are written."""
    digits = len(re.sub(r"[eE].*|[^0-9]", "", written).lstrip("0"))
    return (
        ours == theirs
        or (math.isnan(ours) and math.isnan(theirs))
        or (digits > 4 and math.isclose(ours, theirs, rel_tol=10 ** (1 - digits)))
    )


def _as_json(ours: str, theirs: str) -> bool:
    try:
        return bool(json.loads(ours) == json.loads(theirs))
    except ValueError:
        return False


def _pieces(text: str) -> list[str]:
    """Split lists and structs into values, whatever their brackets and quotes."""
    plain = re.sub(r"[\"']", "", text).replace(" UTC", "+00")
    return [_number(one) for one in re.split(r"[\[\]{}(),\s]+", plain) if one]


def _number(text: str) -> str:
    with suppress(ValueError):
        return repr(float(text))
    return text.lower() if text.lower() in ("null", "true", "false") else text


def _moment(text: str) -> str:
    return datetime.fromisoformat(re.sub(r"( UTC|\+00(:00)?| Z)$", "", text)).isoformat()


def askers(folder: Path) -> dict[str, Callable[[str], str]]:
    """For each product: what an expression gives, as a text."""
    google = World.create(folder / "google", Manifest(services={"google_cloud": None}))
    snow = World.create(folder / "snow", Manifest(services={"snowflake": None}))
    queries = google.store(GoogleCloudStore).bigquery.queries
    store = snow.store(SnowflakeStore)
    store.add_table("DB.PUBLIC.T", {"ID": "INT"}, [])
    store.sessions.use("DB", "PUBLIC")

    def bigquery(expression: str) -> str:
        return shown(queries.run(f"SELECT {expression}").rows[0][0])

    def snowflake(expression: str) -> str:
        return shown(store.query(f"SELECT {expression}", limit=1).rows[0][0])

    return {"googlesql": bigquery, "snowflake": snowflake}


def agreement(fact: Fact, ask: Callable[[str], str]) -> str | None:
    """Return what is given instead of the fact; ``None`` if they agree."""
    try:
        ours = ask(fact.expression)
    except Refusal as refusal:
        return None if fact.result == REFUSED else f"{REFUSED}: {refusal}"
    if re.fullmatch(r'"[ -~]*"', fact.result):  # a text, to the letter
        return None if ours == json.loads(fact.result) else f'"{ours}"'
    return None if same(ours, fact.result) else ours


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--show", action="store_true", help="what does not agree")
    parser.add_argument("--only", nargs="*", default=[], help="groups")
    options = parser.parse_args()
    total: Counter[tuple[str, str]] = Counter()
    agreed: Counter[tuple[str, str]] = Counter()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        ask = askers(Path(folder))
        for fact in facts():
            if options.only and fact.group not in options.only:
                continue
            key = (fact.product, fact.group)
            other = agreement(fact, ask[fact.product])
            total[key] += 1
            agreed[key] += other is None
            wrong += other is not None and fact.group in WHOLE and fact.expression not in DIFFERS
            if other is not None and options.show:
                print(f"{fact.product} {fact.group}: {fact.expression} => {fact.result}; here {other[:150]}")
    for product, group in total:
        key = (product, group)
        print(f"{product:10} {group:14} {agreed[key]:4} of {total[key]:4}  {agreed[key] / total[key]:6.1%}")
    print(f"{'all':25} {agreed.total():4} of {total.total():4}  {agreed.total() / total.total():6.1%}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
