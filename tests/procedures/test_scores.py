"""Scores: of the right answer, of near misses, and of answers that mean harm."""

from __future__ import annotations

import shutil
import time
from functools import cache

import pytest
from confinement import needs_sandbox
from hypothesis import given, settings
from hypothesis import strategies as st

from mesocosm.kits.procedures import ProcedureInstance, make_instance

TRACES = ("routes", "beliefs", "countdown", "travel")
TEXTS = (*TRACES, "tables")


@cache
def instance(name: str, level: int = 500, seed: int = 0) -> ProcedureInstance:
    return make_instance(name, level, seed)


@pytest.mark.parametrize("name", TEXTS)
def test_the_gold_is_right_whatever_is_around_it(name: str) -> None:
    made = instance(name)
    opening = made.gold.split("\n")[0]
    for answer in (
        made.gold,
        f"I think of {opening} first.\n{opening}\nno\n{made.gold}\nDone.",
        "\n\n".join(line + "  \t" for line in made.gold.split("\n"))
        if name != "tables"
        else made.gold + "  ",
        made.gold.replace("\n", "\r\n"),
    ):
        score = made.score(answer)
        assert (score.value, score.exact, score.partial, score.line) == (1, True, 1, None)


@pytest.mark.parametrize("name", TEXTS)
def test_the_last_complete_answer_counts(name: str) -> None:
    made, other = instance(name), instance(name, 500, 1)
    assert made.score(f"{other.gold}\n{made.gold}").exact
    assert not made.score(f"{made.gold}\n{other.gold}").exact


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_wrong_is_found_where_it_is(name: str) -> None:
    made = instance(name)
    lines = made.gold.split("\n")
    near = {
        "missing": lines[:3] + lines[4:],
        "swapped": [*lines[:3], lines[4], lines[3], *lines[5:]],
        "repeated": [*lines[:4], lines[3], *lines[4:]],
        "changed": [*lines[:3], lines[3] + "x", *lines[4:]],
    }
    for kind, changed in near.items():
        score = made.score("\n".join(changed))
        assert not score.exact, kind
        assert score.line == (4 if kind == "repeated" else 3), kind
        assert score.token is not None
        assert 0 < score.partial < 1


@pytest.mark.parametrize("name", TEXTS)
def test_partial_credit_grows_with_what_is_there(name: str) -> None:
    made = instance(name)
    length = len(made.gold)
    scores = [made.score(made.gold[: length * part // 40]) for part in range(41)]
    partial = [score.partial for score in scores]
    assert partial == sorted(partial)
    assert partial[0] == 0
    assert scores[-1].exact
    assert not any(score.exact for score in scores[:-1])


def test_a_right_result_by_a_wrong_search_is_right_but_not_exact() -> None:
    for name in ("countdown", "travel"):
        made = instance(name)
        head, tag, tail = made.gold.partition("</Search>")
        score = made.score(head.rpartition("\n>")[0] + "\n" + tag + tail)
        assert score.value == 1
        assert not score.exact


@pytest.mark.parametrize(
    "equations",
    [
        "",
        "1+1=2",
        "40 + 19 = 59\n" * 3,
        "__import__('os') = 1\n" * 3,
        "9" * 10**6 + " * 9 = 1\n" * 3,
        "2**99 = 1",
    ],
)
def test_wrong_equations_are_worth_nothing(equations: str) -> None:
    score = instance("countdown").score(f"<Search>\n</Search>\n<Solution>\n{equations}\n</Solution>")
    assert score.value == 0


def test_another_valid_solution_is_right() -> None:
    made = instance("countdown")
    equations = made.gold.split("<Solution>\n")[1].split("\n</Solution>")[0].split("\n")
    turned = []
    for line in equations:
        a, sign, b, _, c = line.split()
        turned.append(f"{b} {sign} {a} = {c}" if sign in "+*" else line)
    assert made.score("<Search></Search><Solution>" + "\n".join(turned) + "</Solution>").value == 1


def test_rows_are_counted_as_often_as_they_are_there() -> None:
    made = instance("tables")
    lines = made.gold.split("\n")
    rows = len(lines) - 3
    twice = [*lines[:-1], *lines[2:-1], lines[-1]]
    assert made.score("\n".join(twice)).value == pytest.approx(2 / 3)
    assert made.score("\n".join([*lines[:2], lines[-1]])).value == 0
    assert made.score("\n".join([*lines[:-2], lines[-1]])).value == pytest.approx(
        2 * (rows - 1) / (2 * rows - 1)
    )
    assert made.score("\n".join([lines[0], *lines[2:]])).value == 0, "a header gone"


PIECES = (
    *(
        f"<{slash}{tag}>"
        for tag in ("Search", "Solution", "Plan", "Route", "Tracking")
        for slash in ("", "/")
    ),
    *("```tsv", "```", "\n", "1 + 1 = 2", "GOLD", "HALF", "\0"),
)


@settings(max_examples=30, deadline=None)
@given(
    name=st.sampled_from(TEXTS),
    answer=st.lists(st.sampled_from(PIECES) | st.text(max_size=30)).map("".join),
)
def test_no_answer_is_worth_less_than_nothing_or_more_than_all(name: str, answer: str) -> None:
    made = instance(name)
    text = answer.replace("GOLD", made.gold).replace("HALF", made.gold[: len(made.gold) // 2])
    score = made.score(text)
    assert 0 <= score.value <= 1
    assert 0 <= score.partial <= 1
    assert score.exact <= (score.value == 1 and score.partial == 1)


@pytest.mark.parametrize("name", ["countdown", "tables"])
@pytest.mark.parametrize(
    "bomb",
    ["<" * 10**7, "<Search>" * 10**6, "```tsv\n" * 10**6, "</Plan><Plan>" * 10**6, "\n" * 10**7, "(" * 10**7],
    ids=["angles", "openers", "fences", "turned", "lines", "brackets"],
)
def test_ten_megabytes_are_worth_nothing_in_bounded_time(name: str, bomb: str) -> None:
    made = instance(name)
    started = time.process_time()
    score = made.score(bomb + "\n" + made.gold.replace("</", "<!") + "\n" + bomb)
    assert score.value == 0 or name == "tables"
    assert time.process_time() - started < 20


# -- programs ----------------------------------------------------------------------------------------------

HOSTILE = {
    "forks": "import os\nwhile True:\n    os.fork()",
    "endless": "while True: pass",
    "floods": "while True: print('x' * 100000)",
    "swallows": "x = []\nwhile True: x.append(' ' * 10**7)",
    "syntax": "def",
    "silent": "",
    "tampers": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)",
}


@needs_sandbox
def test_the_program_itself_is_right_and_one_line_less_is_not() -> None:
    made = instance("programs", 300)
    assert made.score(f"```python\nprint(1)\n```\n{made.gold}").exact
    lines = made.gold.split("\n")
    at = next(number for number, line in enumerate(lines) if line.startswith("        "))
    assert made.score("\n".join(lines[:at] + lines[at + 1 :])).value == 0
    assert made.score(made.gold.replace("print(", "print(' ', ")).value == 0
    assert made.score("\n".join(lines[:-1])).value == 0


@needs_sandbox
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++ on this machine")
def test_cpp_is_compiled_and_run_in_the_sandbox() -> None:
    made = instance("programs_cpp", 300)
    right = made.score(
        made.gold.replace("```cpp\n", "```cpp\n#include <bits/stdc++.h>\n#define ONE INT_MAX\n")
    )
    if right.unjudged:
        pytest.skip(right.why)
    assert (right.exact, right.why) == (True, "")
    for excuse in ("cannot execute", "stdc-predef.h"):
        claimed = made.score(f"```cpp\n#error {excuse}\nint main() {{}}\n```")
        assert claimed.value == 0, "an answer cannot say that there is no compiler"
    wrong = made.score('```cpp\n#include "/run/code/plan.json"\nint main() {}\n```')
    assert wrong.value == 0
    assert "does not compile" in wrong.why


@needs_sandbox
@pytest.mark.parametrize("kind", ["forks", "tampers"])
def test_a_hostile_program_is_worth_nothing(kind: str) -> None:
    score = instance("programs", 300).score(f"```python\n{HOSTILE[kind]}\n```")
    assert (score.value, score.unjudged) == (0, False), score.why
