"""What expressions of a task file can do, and what a stranger's cannot."""

from __future__ import annotations

import datetime as dt
import random
from time import process_time
from typing import Any

import pytest

from mesocosm.kits.yaml_tasks.expressions import Expression
from mesocosm.kits.yaml_tasks.language import ExpressionError, missing
from mesocosm.kits.yaml_tasks.scopes import VARIED, varied

NAMES: dict[str, Any] = {
    "start": dt.datetime(2025, 3, 3, 9, 30, tzinfo=dt.UTC),
    "me": {"name": "Ann Lee"},
    "numbers": [1, 2, 3],
    "nothing": None,
}


def value(source: str) -> Any:
    return Expression(source).value(lambda name: NAMES.get(name, missing))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{start - 12d}", dt.datetime(2025, 2, 19, 9, 30, tzinfo=dt.UTC)),
        ("{nothing or start + 1.5h}", dt.datetime(2025, 3, 3, 11, 0, tzinfo=dt.UTC)),
        ("Dear {me.name.first_name()}: {start.long()}", "Dear Ann: Monday, March 3, 2025, 09:30"),
        ("{for n in numbers if n > 1}- {n}\n{endfor}", "- 2\n- 3\n"),
        ("{numbers.sum() * 2}", 12),
        ("{2.675.round(2)}", 2.68),
        ("{'keller' if me.name == 'Ann Lee' else 'x'}", "keller"),
        ("a lone {'{'} brace", "a lone { brace"),
        ('[a-z]{3}, {"a": {me.name}} of {First Name}', '[a-z]{3}, {"a": Ann Lee} of {First Name}'),
    ],
)
def test_values_are_worked_out(source: str, expected: Any) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "{me.__class__}",
        "{''.__class__.__mro__}",
        "{me['__init__']}",
        "{numbers.append(4)}",
        "{start.today()}",
        "{me.attr('__class__')}",
        "{lipsum.__globals__}",
        "{cycler.__init__}",
        "{range(10)}",
        "{me.items()}",
        "{set x = 1}",
        "{macro x()}{endmacro}",
        "{include 'x'}",
        "{import 'os' as os}",
        "{extends 'x'}",
        "{self}",
        "{'%1000000d' % 1}",
        "{'{0.__class__}'.format(1)}",
        "{unknown}",
        "{nothing} and",
        "{1 +",
        "{{ 1 }}",
        "{% if nothing %}",
        "{start | long}",
        "{(start | long)}",
        "{if}",
        "{numbers.tojson()}",
        "{start.format('%c' * 3)}",
        "{1 / 0}",
        "{start + start}",
        "{numbers[99]}",
    ],
)
def test_what_is_not_allowed_is_refused(source: str) -> None:
    with pytest.raises(ExpressionError):
        value(source)


@pytest.mark.parametrize(
    "source",
    [
        "{'a' * 10**9}",
        "{'a' * 10000 * 10000}",
        "{9**9**9**9}",
        "{[0] * 100000000}",
        "{for a in numbers * 5000}{for b in numbers * 5000}{b}{endfor}{endfor}",
        "{('a' * 10000).replace('a', 'a' * 10000)}",
        "{" + "(" * 9000 + "1" + ")" * 9000 + "}",
        "{" + "-" * 9000 + "1}",
        "{1" + " + 1" * 9000 + "}",
        "{'a'.pad(1000000000)}",
        "{1.5.round(100000)}",
        "x" * 1_000_000 + "{1 + 1}",
        "{1000000000000d}",
        "all of {[[[1] * 10000] * 10000] * 10000}",
        "{['a' * 20000] * 20000}",
        "{(numbers * 5000).join('a' * 20000)}",
        "{('a' * 20000) ~ ('a' * 20000)" + " ~ ('a' * 20000)" * 100 + "}",
        "{" + "9" * 5000 + " + 1}",
        "{1e400}",
        "{1e308 * 10}",
        "{(-8) ** 0.5}",
    ],
)
def test_a_bomb_is_refused_at_once(source: str) -> None:
    started = process_time()
    with pytest.raises(ExpressionError):
        value(source)
    assert process_time() - started < 5


def test_functions_of_statements_are_told() -> None:
    assert [*VARIED] == [*varied(random.Random(0))]
