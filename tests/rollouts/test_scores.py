"""Scoring: what an answer says and what it is worth; where upstream's rules agree and where they do not."""

from __future__ import annotations

import re
from itertools import chain, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesocosm.kits.rollouts.scores import AnswerKind, answer_in, boolean_in, names_in, number_in, score

WORDS = ("Kelox", "Brumon", "Tarith", "Clioth", "Shaineume", "Baefin", "Thorn", "Andor", "Slashen", "Nono")
NAMES = st.lists(st.sampled_from(WORDS), min_size=3, max_size=8, unique=True)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("<answer>5</answer>", "5"),
        ("<answer>5</answer> no, <ANSWER> 6 </ANSWER>", "6"),
        ("<answer>5</answer> and <answer>6", "5"),
        ("<answer>forgot to close <answer>7</answer>", "7"),
        ("<answer>\nA,\nB\n</answer>", "A,\nB"),
        ("5", None),
        ("", None),
    ],
)
def test_the_last_complete_answer_counts(reply: str, answer: str | None) -> None:
    assert answer_in(reply) == answer


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("12", 12),
        ("Round 12.", 12),
        ("1,234", 1234),
        ("12 (yes, 12)", 12),
        ("12.0", 12),
        ("-3", -3),
        ("12 or 13", None),
        ("not 12", None),
        ("It isn't 12", None),
        ("It does not occur: 0", 0),
        ("Round 12, value 640", None),
        ("twelve", None),
        ("Item_K29", None),
        ("12.5", None),
        ("", None),
    ],
)
def test_a_number_is_the_only_one_in_its_answer(answer: str, number: int | None) -> None:
    assert number_in(answer) == number


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("yes", True),
        ("Yes, it is not missing", True),
        ("False", False),
        ("Round 1: no", False),
        ("unknown", None),
        ("yes and no", None),
        ("not true", None),
        ("That is not quite true.", None),
        ("It isn't false", None),
        ("1", None),
    ],
)
def test_yes_and_no_are_words(answer: str, said: bool | None) -> None:
    assert boolean_in(answer) is said


@pytest.mark.parametrize(
    "answer",
    [
        "Kelox, Item_K29A",
        '["Kelox", "Item_K29A"]',
        "kelox and item k29a",
        "1. Kelox\n2. Item-K29A",
        "Kelox; 'Item_K29A'",
        "**Kelox**, `Item_K29A`",
        "1) Kelox 2) Item_K29A",
        "Kelox (No. 0012), then Item_K29A",
        "First: Kelox / second: Item_K29A",
        "Kelox -> Item\\_K29A!",
        '{"names": ["Kelox", "Item_K29A"]}',
        "- Kelox\n- Item_K29A\n",
    ],
)
def test_names_are_found_however_they_are_listed(answer: str) -> None:
    assert names_in(answer) == ["kelox", "itemk29a"]


@pytest.mark.parametrize("kind", ["number", "boolean", "name", "pair", "set"])
@pytest.mark.parametrize("answer", [None, "", "  ", "I do not know", "[", "[[[", "()", "yes no", "1 2"])
def test_what_answers_nothing_is_worth_nothing(kind: AnswerKind, answer: str | None) -> None:
    gold = {"number": ["5"], "boolean": ["yes"]}.get(kind, ["Kelox", "Brumon"])
    assert score(answer, gold, kind) == 0


def test_a_pair_is_worth_half_for_each_name_at_its_place() -> None:
    gold, other = ["Kelox", "Brumon"], "Tarith"
    worth = {
        ("Kelox", "Brumon"): 1,
        ("Kelox", other): 0.5,
        (other, "Brumon"): 0.5,
        ("Kelox",): 0.5,
        ("Kelox", "Kelox"): 0.5,
        ("Brumon", "Kelox"): 0,
        ("Brumon",): 0,
        (other, other): 0,
        ("Kelox", "Brumon", other): 0,
        (other, "Kelox", "Brumon"): 0,
    }
    assert {said: score(", ".join(said), gold, "pair") for said in worth} == worth
    for first in (*gold, other):
        alone = score(first, gold, "pair")
        assert all(score(f"{first}, {second}", gold, "pair") >= alone for second in (*gold, other))


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(names=NAMES, said=st.data())
def test_a_set_is_worth_its_f1(names: list[str], said: st.DataObject) -> None:
    gold = names[: len(names) // 2]
    chosen = said.draw(st.lists(st.sampled_from(names), max_size=10))
    right = len(set(chosen) & set(gold))
    precision, recall = right / max(1, len(set(chosen))), right / len(gold)
    expected = 2 * precision * recall / (precision + recall) if right else 0
    assert score(", ".join(chosen), gold, "set") == pytest.approx(expected)
    assert score(", ".join(gold * 2), gold, "set") == 1, "twice is once"


def upstream_pair(said: list[str], gold: list[str]) -> float:
    """Upstream's rule: both in order 1; exactly one name, the right first one, 0.5; else 0."""
    if said == gold:
        return 1
    return 0.5 if said == gold[:1] else 0


def upstream_number(said: str) -> int | None:
    """Upstream's rule: the last number, commas dropped, cut to a whole one."""
    found = re.findall(r"-?\d[\d,]*(?:\.\d+)?", said)
    return int(float(found[-1].replace(",", ""))) if found else None


def upstream_set(said: list[str], gold: list[str]) -> float:
    """Upstream's rule: F1 of the names as they are written."""
    right = len(set(said) & set(gold))
    return 2 * right / (len(set(said)) + len(gold)) if right else 0


def upstream_boolean(said: str) -> bool | None:
    """Upstream's rule: words of denial are looked for first, then words of assent."""
    lowered = said.casefold()
    if re.search(r"\b(?:no|not|false)\b", lowered):
        return False
    return True if re.search(r"\b(?:yes|true)\b", lowered) else None


def test_pairs_agree_with_upstream_but_for_one_right_name_of_two() -> None:
    gold = ["Kelox", "Brumon"]
    for said in chain.from_iterable(product([*gold, "Tarith"], repeat=number) for number in (1, 2, 3)):
        ours, theirs = score(", ".join(said), gold, "pair"), upstream_pair(list(said), gold)
        right = sum(one == other for one, other in zip(said, gold, strict=False))
        if len(said) == 2 and right == 1:
            assert (ours, theirs) == (0.5, 0)
        else:
            assert ours == theirs, said


@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(names=NAMES, number=st.integers(0, 5_000))
def test_it_agrees_with_upstream_on_golds_and_plain_mutations(names: list[str], number: int) -> None:
    for text in (str(number), f"{number + 1}", f"It is {number}.", f"{number:,}", "none", f"round {number}"):
        assert (upstream_number(text) == number) == (score(text, [str(number)], "number") == 1)
    for text in ("yes", "No", "true.", "FALSE", "It is there: yes", "unsure"):
        assert upstream_boolean(text) is boolean_in(text)
    gold, other = names[:2], names[2]
    for chosen in (gold, names, [other], gold[:1]):
        assert score(", ".join(chosen), gold, "set") == upstream_set(chosen, gold)
    for said in (gold[0], other, gold[0].upper(), f"{gold[0]}."):
        assert score(said, gold[:1], "name") == (said.casefold().strip(".") == gold[0].casefold())


def test_it_differs_from_upstream_where_upstream_is_unsound() -> None:
    gold = ["Kelox", "Brumon"]
    assert upstream_pair(["Kelox", "Other"], gold) == 0 < upstream_pair(["Kelox"], gold)
    assert score("Kelox, Other", gold, "pair") == score("Kelox", gold, "pair") == 0.5
    assert upstream_set(["kelox", "brumon"], gold) == 0
    assert score("kelox, brumon", gold, "set") == 1
    assert upstream_number("Round 12, value 640") == 640
    assert score("Round 12, value 640", ["640"], "number") == 0
    assert upstream_boolean("Yes, it is not missing") is False
    assert boolean_in("Yes, it is not missing") is True
