"""Measuring a description length, and hitting a target."""

from __future__ import annotations

import random
from collections.abc import Callable
from mailbox import fill_mailbox
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesocosm.errors import UsageError
from mesocosm.families.family import Evidence
from mesocosm.families.length import TOLERANCE, EvidenceFinder, Survey, TooShort, calibrate, find_density
from mesocosm.families.task import Growth
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World
from mesocosm.worlds import tokens

WORDS = st.lists(
    st.sampled_from(["room", "exam", "12", "exams", "a", "b.c", "\\n", "(1)"]), min_size=1, max_size=5
)


@given(st.lists(WORDS, max_size=6), st.lists(WORDS, max_size=8))
def test_finding_many_needles_is_finding_each(needles: list[list[str]], text: list[list[str]]) -> None:
    wanted = [" ".join(words) for words in needles]
    haystack = "; ".join(" ".join(words) for words in text)
    found = EvidenceFinder(list(enumerate(wanted))).held_by(haystack)
    assert found == tuple(number for number, needle in enumerate(wanted) if needle in haystack)


def test_the_length_is_the_count_of_all_results_together(make_world: Callable[..., World]) -> None:
    world = make_world(fill_mailbox, "email")
    survey = Survey(world, [Evidence(service="email", contains="number 7 is")])
    texts = []
    for email in survey.call("email", "get_emails", page_size=100)["emails"]:
        texts.append(survey.read("email", "read_email", {"email_id": email["id"]})[0])
    listing = world.calls.peek("email", "get_emails", {"page_size": 100}).text
    assert survey.tokens == tokens.count("".join(text + "\n" for text in [listing, *texts]))
    length = survey.length(None)
    assert length.calls == 31
    assert length.by_service == {"email": length.measured}
    assert length.adequate == next(result.tokens for result in survey.results if result.evidence)
    assert length.evidence == length.adequate, "a result of one item"
    assert world.journal.last == 0


def test_evidence_is_counted_by_items_where_a_result_has_several(make_world: Callable[..., World]) -> None:
    world = make_world(fill_mailbox, "email")
    survey = Survey(world, [Evidence(service="email", contains='"Card 7"')])
    listed = survey.call("email", "get_emails", page_size=100)["emails"]
    [mail] = [mail for mail in listed if b'"Card 7"' in orjson.dumps(mail)]
    assert survey.evidence_tokens == tokens.count(orjson.dumps(mail).decode())
    assert survey.evidence_tokens < survey.tokens / 10


def test_a_survey_makes_no_call_that_is_refused(make_world: Callable[..., World]) -> None:
    survey = Survey(make_world(fill_mailbox, "email"))
    with pytest.raises((RuntimeError, ToolError), match="999"):
        survey.call("email", "read_email", email_id="999")


def family(**points: int) -> Any:
    growth = Growth(parameter="size", points=points)  # type: ignore[arg-type]
    return SimpleNamespace(name="toy", task=SimpleNamespace(growth=growth))


@pytest.mark.parametrize("target", [8_000, 20_000, 100_000, 1_000_000, 4_000_000])
@pytest.mark.parametrize("spent", [1.0, 0.9, 1.2])
def test_a_target_is_hit_however_well_the_filler_is_spent(target: int, spent: float) -> None:
    def build(size: int, filler: int) -> int:
        return size * 400 + round(filler * spent) // 50 * 50

    attempt = calibrate(family(**{"8k": 10, "100k": 90, "4m": 2000}), target, build)
    assert abs(attempt.tokens / target - 1) <= TOLERANCE


@pytest.mark.parametrize("target", [8_000, 20_000, 57_300, 100_000, 400_000])
def test_a_beginning_that_is_given_by_length_is_met_at_once(target: int) -> None:
    toy = family(**{"8k": 100, "100k": 900})
    toy.task.growth = toy.task.growth.model_copy(update={"filler": {8_000: 0.5556, 100_000: 0.7111}})
    built: list[int] = []

    def build(size: int, filler: int) -> int:
        built.append(size * 40 + round(filler * 0.9))
        return built[-1]

    calibrate(toy, target, build)
    assert len(built) == 1


def test_the_size_shrinks_when_the_table_asks_for_too_much() -> None:
    attempt = calibrate(family(**{"8k": 5, "16k": 500}), 16_000, lambda size, filler: size * 100 + filler)
    assert attempt.size < 200
    assert abs(attempt.tokens / 16_000 - 1) <= TOLERANCE


def test_what_is_below_the_minimum_is_refused_with_the_minimum() -> None:
    with pytest.raises(
        UsageError, match=r"below the minimum .* 7\.1k; .* lower the first point of `growth` \(8k: 7\)"
    ):
        calibrate(family(**{"8k": 7}), 5_000, lambda size, filler: size * 1000 + 30 + filler)


def test_a_length_that_the_filler_does_not_meet_names_the_point_of_growth_to_change() -> None:
    toy = family(**{"8k": 7, "64k": 50})
    with pytest.raises(UsageError, match=r"no world of 50000 tokens .* `growth` \(64k: 50\)$"):
        calibrate(toy, 50_000, lambda size, _: 7_000)
    with pytest.raises(UsageError, match=r"the first point of `growth` \(8k: 7\)$"):
        calibrate(toy, 8_000, lambda size, _: 7_000)
    with pytest.raises(UsageError, match=r"give a smaller size than 9$"):
        calibrate(toy, 8_000, lambda size, _: 7_000, 9)


@pytest.mark.parametrize("seed", range(20))
def test_a_length_is_found_where_it_changes_in_leaps(seed: int) -> None:
    def build(size: int, filler: int) -> int:
        return 6_800 + filler + random.Random(seed * 10_000 + filler).randrange(-400, 400)

    assert abs(calibrate(family(**{"8k": 10}), 8_000, build).tokens - 8_000) <= TOLERANCE * 8_000


@pytest.mark.parametrize("density", [0.1, 0.33, 0.6])
def test_a_density_is_found(density: float) -> None:
    toy = family(**{"8k": 10, "100k": 90, "4m": 2000})
    found = find_density(toy, 64_000, density, lambda size: size * 400 / 64_000)
    assert abs(found - density) <= 0.02


def test_a_density_that_cannot_be_had_names_the_nearest() -> None:
    def build(size: int) -> float:
        if size > 70:
            raise TooShort("below the minimum")
        return size * 400 / 64_000

    toy = family(**{"8k": 10, "100k": 90})
    with pytest.raises(UsageError, match=r"density of 0\.9 .* the greatest .* is 0\.4[0-4]"):
        find_density(toy, 64_000, 0.9, build)
    with pytest.raises(UsageError, match=r"density of 0\.01 .* the smallest .* is 0\.06"):
        find_density(toy, 64_000, 0.01, build)


def test_what_else_is_wrong_with_a_build_is_not_taken_for_its_length() -> None:
    def build(size: int) -> float:
        raise UsageError("correction_rate: less than or equal to 0.4")

    with pytest.raises(UsageError, match="correction_rate"):
        find_density(family(**{"8k": 10}), 64_000, 0.3, build)


def test_a_length_that_is_too_short_at_any_density_says_so() -> None:
    def build(size: int) -> float:
        raise TooShort(f"{size}: below the minimum")

    with pytest.raises(TooShort, match=r"^10: below the minimum"):
        find_density(family(**{"8k": 10, "100k": 90}), 64_000, 0.3, build)
