"""Operators: what each promises, and how one is added."""

from __future__ import annotations

import ast
import random
import re
import sys
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesocosm.errors import UsageError
from mesocosm.kits.weaving import (
    BottomUp,
    Numbers,
    Shape,
    TreeValue,
    Values,
    evaluate,
    load_operators,
    operator_names,
)
from mesocosm.kits.weaving.operators.asynchronous import SharedScore

GUIDE = Path(__file__).parents[2] / "docs/guides/weave-operators.md"
LETTERS = st.text("abcXYZ", min_size=1, max_size=4)
INTEGERS = st.integers(-999, 999).filter(bool)


TELLING = [name for name in operator_names() if not load_operators([name])[0].spare]


@pytest.mark.parametrize("name", TELLING)
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_an_operator_names_every_variable_and_tells_values_apart(name: str, data: st.DataObject) -> None:
    (operator,) = load_operators([name])
    kind = INTEGERS if operator.takes == "integer" else LETTERS
    count = data.draw(st.integers(*operator.children))
    variables = [f"v{number}" for number in range(1, count + 1)]
    expression = operator.write(variables, random.Random(data.draw(st.integers(0, 9))))
    assert set(re.findall(r"v\d+", expression)) == set(variables)
    values: dict[str, TreeValue] = {variable: data.draw(kind) for variable in variables}
    changed = data.draw(st.sampled_from(variables))
    other = values | {changed: data.draw(kind.filter(lambda value: value != values[changed]))}
    result = operator.execute(expression, values)
    assert isinstance(result, int if operator.gives == "integer" else str)
    assert operator.execute(expression, other) != result


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.dictionaries(st.sampled_from(["v1", "v2", "v3"]), INTEGERS, min_size=3), st.integers(0, 99))
def test_integers_are_computed_as_python_does(values: dict[str, TreeValue], seed: int) -> None:
    for operator in load_operators(["addition", "subtraction", "multiplication", "weighting"]):
        expression = operator.write(sorted(values), random.Random(seed))
        written = re.sub(r"v\d", lambda found: f"({values[found[0]]})", expression)
        assert operator.execute(expression, values) == eval(written)  # noqa: S307 - an independent calculator
        assert ast.parse(expression, mode="eval")


# -- operators of programs ---------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.lists(st.integers(-9, 9), min_size=4, max_size=4), st.integers(0, 99))
def test_a_conditional_never_chooses_its_spare_branch(numbers: list[int], seed: int) -> None:
    (conditional,) = load_operators(["conditional"])
    variables = ["v1", "v2", "v3", "v4"]
    values: dict[str, TreeValue] = dict(zip(variables, numbers, strict=True))
    written = conditional.write(variables, random.Random(seed))
    settled = conditional.settle(written, variables, values)
    assert set(re.findall(r"v\d", settled)) == set(variables)
    chosen = eval(settled, {}, {**values, "v3": "this", "v4": "that"})  # noqa: S307 - it is Python
    assert chosen == "this"
    assert conditional.execute(settled, values) == values["v3"]


def test_concurrent_tasks_interleave_by_their_waits() -> None:
    (asynchronous,) = load_operators(["asynchronous"])
    values: dict[str, TreeValue] = {"v1": 10, "v2": 3}
    lost = "v1 | read, wait 5, write + v2 | wait 2, update * 4"
    kept = "v1 | read, wait 1, write + v2 | wait 2, update * 4"
    at_once = "v1 | update + v2 | update * 4, wait 1, update - 1"
    assert [asynchronous.execute(score, values) for score in (lost, kept, at_once)] == [13, 52, 51]
    assert asynchronous.execute(asynchronous.limit(kept, 1, 7), values) == 53 % 7


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.integers(2, 4), st.integers(0, 10**6))
def test_waits_of_concurrent_tasks_end_at_different_moments_and_matter(count: int, seed: int) -> None:
    variables = [f"v{number}" for number in range(count)]
    (asynchronous,) = load_operators(["asynchronous"])
    score = SharedScore.parse(asynchronous.write(variables, random.Random(seed)))
    assert SharedScore.parse(str(score)) == score
    ends: list[int] = []
    for task in score.tasks:
        waits = [int(step.operand) for step in task if step.action == "wait"]
        assert min(waits) > 0
        ends += accumulate(waits)
    assert len(set(ends)) == len(ends)
    values: dict[str, TreeValue] = {name: 1000**power for power, name in enumerate(variables, start=1)}
    assert score.perform(values) != score.perform(values, in_turn=True)


@pytest.mark.parametrize(
    "expression", ["v1 % v2", "v1 % 0", "v1 if v2 else v1", "v1 if v1 < v2 < v1 else v2"]
)
def test_what_programs_do_not_have_is_refused(expression: str) -> None:
    with pytest.raises(UsageError):
        evaluate(expression, {"v1": 1, "v2": 2})


def test_documents_do_without_the_operators_of_programs() -> None:
    weaver = BottomUp(
        random.Random(0), iter(f"v{at}" for at in range(1, 99)).__next__, Values(random.Random(0))
    )
    with pytest.raises(UsageError, match="for code only"):
        weaver.weave(Shape(operations=1), load_operators(["conditional", "asynchronous"]))


# -- strings, and what is none ------------------------------------------------------------------------------


def test_strings_are_joined_in_the_order_written() -> None:
    values: dict[str, TreeValue] = {"v7": "kLV", "v5": "vGz", "v8": "gVb", "v6": "D"}
    assert evaluate("v7 + v5 + v8 + v6", values) == "kLVvGzgVbD"
    assert evaluate("v6 + reverse(v7 + v5)", values) == "DzGvVLk"
    assert evaluate("swapcase(v8)", values) == "GvB"


@pytest.mark.parametrize(
    "expression", ["v1 +", "v9", "v1 / v2", "v1 + v3", "v3 - v1", "open(v1)", "-v3", "v1.x"]
)
def test_what_is_no_expression_is_refused(expression: str) -> None:
    with pytest.raises(UsageError):
        evaluate(expression, {"v1": 1, "v2": 2, "v3": "a"})


@pytest.mark.parametrize(
    "name", ["squaring", "no_such_package.square", "mesocosm.kits.weaving.tree", "random"]
)
def test_an_unknown_operator_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="operator"):
        load_operators([name])


def test_the_guide_adds_an_operator_in_ten_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    definition, weaving = blocks
    assert len([line for line in definition.splitlines() if line.strip()]) <= 10
    (tmp_path / "my_operators").mkdir()
    (tmp_path / "my_operators/__init__.py").touch()
    (tmp_path / "my_operators/square.py").write_text(definition)
    monkeypatch.syspath_prepend(str(tmp_path))
    found: dict[str, object] = {}
    exec(weaving, found)  # noqa: S102 - the guide's own example
    assert found["tree"].operations == 100  # type: ignore[attr-defined]
    rng = random.Random(1)
    numbers = Numbers(rng)
    weaver = BottomUp(rng, lambda: f"v{numbers.draw()}", Values(rng))
    tree = weaver.weave(Shape(operations=5), load_operators(["my_operators.square"]))
    for node in tree.nodes():
        if node.rule:
            values = {child.variable: child.value for child in node.children if child.value is not None}
            first, *others = node.rule.variables
            total = values[first] ** 2 + sum(values[name] for name in others)  # type: ignore[operator, misc]
            assert node.id == f"{node.rule.target}%{total}"
    for module in [name for name in sys.modules if name.startswith("my_operators")]:
        del sys.modules[module]
