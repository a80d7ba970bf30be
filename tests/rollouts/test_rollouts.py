"""Rollouts: golds that an independent reader of the text finds too, twins, specialisation, tokens."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_games import scribe, small_game

from mesocosm.errors import UsageError
from mesocosm.kits.rollouts import wording
from mesocosm.kits.rollouts.answers import History, answer_from
from mesocosm.kits.rollouts.dataset import DatasetPlan, lines, make, open_book, tokens_of
from mesocosm.kits.rollouts.encyclopaedia import EVOLUTION, SECTIONS, SETS, TYPE, invent
from mesocosm.kits.rollouts.engine import RolloutEngine
from mesocosm.kits.rollouts.invented_names import name_tokens, plain_tokens
from mesocosm.kits.rollouts.last_query import TOLERANCE
from mesocosm.kits.rollouts.options import Behaviour
from mesocosm.kits.rollouts.questions import TYPES
from mesocosm.kits.rollouts.simulated_player import SimulatedPlayer
from mesocosm.kits.rollouts.transcript import FORMATS, Format, message_tokens
from mesocosm.kits.rollouts.twins import SETTINGS

SAMPLE = settings(max_examples=10, deadline=None, derandomize=True, database=None)
FORMAT = st.sampled_from(FORMATS)


# -- the encyclopaedia and its twins -----------------------------------------------------------------------


def test_no_two_creatures_are_alike_and_all_have_a_name_of_their_own() -> None:
    book = invent(random.Random(1), 1_500)
    assert len({entry.traits for entry in book.entries}) == len(set(book.names)) == 1_500
    assert list(book.names) == sorted(book.names)
    assert sorted(entry.number for entry in book.entries) == list(range(1, 1_501))
    for entry in book.entries:
        assert len(entry.traits) == len(SECTIONS)
        assert len(set(entry.traits[TYPE])) == len(entry.traits[TYPE]) in (1, 2)
        assert len(entry.traits[EVOLUTION]) == 1


@pytest.mark.parametrize("size", [19, 100_001])
def test_an_encyclopaedia_of_an_impossible_size_is_refused(size: int) -> None:
    with pytest.raises(UsageError, match="20 to 100,000"):
        invent(random.Random(0), size)


@pytest.mark.parametrize("size", [60, 1_500])
def test_symbols_are_a_bijection_that_keeps_order_and_tokens(size: int) -> None:
    _, words = open_book(3, size)
    ki, kf = words["ki"], words["kf"]
    assert list(kf.names) == sorted(set(kf.names))
    assert [name_tokens(name) for name in kf.names] == [name_tokens(name) for name in ki.names]
    for ours, theirs in zip(ki.values, kf.values, strict=True):
        assert len(set(theirs)) == len(ours) == len(set(ours))
        assert [plain_tokens(value) for value in theirs] == [plain_tokens(value) for value in ours]
    assert not set(kf.names) & set(ki.names)


def translated(text: str, table: dict[str, str]) -> str:
    return re.sub(
        "|".join(sorted(map(re.escape, table), key=len, reverse=True)), lambda found: table[found[0]], text
    )


@pytest.mark.parametrize("format", FORMATS)
def test_a_twin_translated_back_is_the_original(format: Format) -> None:
    game, words = small_game(2, format)
    ki, kf = (list(scribe(game, words[setting]).messages(game.rollout))[1:] for setting in SETTINGS)
    back = dict(zip(words["kf"].names, words["ki"].names, strict=True))
    for theirs, ours in zip(words["kf"].values, words["ki"].values, strict=True):
        back |= dict(zip(theirs, ours, strict=True))
    back |= dict(zip(words["kf"].sections, words["ki"].sections, strict=True))
    back |= {words["kf"].tool: words["ki"].tool}
    assert json.loads(translated(json.dumps(kf), back)) == ki


def test_results_of_twins_have_the_same_tokens_name_by_name() -> None:
    game, words = small_game(2, "c")
    sizes = {setting: tokens_of(scribe(game, words[setting]), game.rollout) for setting in SETTINGS}
    assert sizes["ki"][3::4] == sizes["kf"][3::4]


# -- rounds ------------------------------------------------------------------------------------------------


@SAMPLE
@given(seed=st.integers(0, 10**6), format=FORMAT)
def test_the_gold_is_what_a_reader_of_the_text_finds(seed: int, format: Format) -> None:
    game, words = small_game(seed, format)
    for setting in SETTINGS:
        messages = list(scribe(game, words[setting]).messages(game.rollout))
        history = History.of(messages)
        for question in game.questions:
            text = wording.put(question, words[setting], format)
            assert answer_from(text, history) == ", ".join(wording.answer(question, words[setting]))


@SAMPLE
@given(seed=st.integers(0, 10**6), format=FORMAT)
def test_counted_tokens_are_those_of_the_tokenizer_and_within_one_per_cent(seed: int, format: Format) -> None:
    game, words = small_game(seed, format)
    for setting in SETTINGS:
        writer = scribe(game, words[setting])
        counted = tokens_of(writer, game.rollout)
        assert counted == [message_tokens(message) for message in writer.messages(game.rollout)]
    assert abs(sum(tokens_of(scribe(game, words["ki"]), game.rollout)) / 7_000 - 1) <= TOLERANCE


@SAMPLE
@given(seed=st.integers(0, 10**6))
def test_concise_lists_together_leave_the_hidden_creature_and_none_does_alone(seed: int) -> None:
    rollout = small_game(seed, "c", types=())[0].rollout
    left, least = rollout.book.everything, Behaviour().min_share * len(rollout.book)
    for round_ in rollout.rounds:
        assert round_.lists[0].bit_count() >= int(least)
        assert left != rollout.book.only(rollout.target), "settled before the last round"
        left &= round_.lists[0]
    assert left == rollout.book.only(rollout.target)


@SAMPLE
@given(seed=st.integers(0, 10**6), format=FORMAT)
def test_the_hidden_creature_is_never_guessed_and_always_listed(seed: int, format: Format) -> None:
    rollout = small_game(seed, format, types=())[0].rollout
    guesses = [round_.guess for round_ in rollout.rounds] + [rollout.rounds[-1].answer]
    assert rollout.target not in guesses
    assert len(set(guesses)) == len(guesses)
    assert [round_.answer for round_ in rollout.rounds] == guesses[1:]
    for round_ in rollout.rounds:
        assert all(creatures & rollout.book.only(rollout.target) for creatures in round_.lists)


@pytest.mark.parametrize("format", FORMATS)
def test_guesses_heed_the_latest_feedback(format: Format) -> None:
    """Guesses at random among what was returned contradict about an eighth of it."""
    book, words = open_book(3, 1_500)
    contradicted = said = 0
    for seed in range(3):
        rollout = RolloutEngine(book, [words["ki"]], format).play(random.Random(seed), 32_000)
        player = SimulatedPlayer(book, format, Behaviour(), random.Random(0), rollout.target)
        for round_ in rollout.rounds:
            facts = player.facts(round_.guess)
            said += len(facts)
            contradicted += sum(not book.meeting(fact) & book.only(round_.answer) for fact in facts)
    assert contradicted < said / 14


def test_a_query_asks_only_for_what_feedback_has_said() -> None:
    rollout = small_game(3, "v")[0].rollout
    seen: set[tuple[int, int]] = set()
    for round_ in rollout.rounds:
        traits = rollout.book.entries[round_.guess].traits
        seen |= {(section, value) for section, values in enumerate(traits) for value in values}
        for condition in round_.query:
            assert {(condition.section, operand) for operand in condition.operands} <= seen


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"epsilon": 1.5}, "epsilon"),
        ({"mask_prob": -0.1}, "mask_prob"),
        ({"history_window": 0}, "history_window"),
        ({"min_share": 0.5, "max_share": 0.2}, "min_share"),
        ({"patience": 1}, "patience"),
    ],
)
def test_behaviour_out_of_range_is_refused(wrong: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Behaviour(**wrong)


def test_too_few_creatures_for_a_length_are_refused() -> None:
    book, words = open_book(0, 60)
    engine = RolloutEngine(book, [words["ki"]], "c")
    with pytest.raises(UsageError, match=r"60 creatures is too small for 64k tokens: after \d+ rounds"):
        engine.play(random.Random(0), 64_000)


def test_creatures_too_few_for_twins_of_one_length_are_refused() -> None:
    book, words = open_book(0, 90)
    with pytest.raises(UsageError, match="differ by more than 2 %"):
        RolloutEngine(book, list(words.values()), "c").play(random.Random(0), 16_000)


def test_behaviour_changes_the_rollout() -> None:
    book, words = open_book(0, 90)
    kinds = [Behaviour(), Behaviour(mask_prob=0, epsilon=0, forget_history_prob=0)]
    games = [RolloutEngine(book, [words["ki"]], "c", kind).play(random.Random(1), 7_000) for kind in kinds]
    masked, unmasked = (sum(len(round_.query) for round_ in game.rounds) for game in games)
    assert masked < unmasked


# -- datasets ----------------------------------------------------------------------------------------------

SMALL = DatasetPlan(lengths=(16_000,), per_type=4, items=300)


def test_twins_pair_question_by_question_and_answers_are_balanced() -> None:
    golds: dict[str, list[str]] = {}
    for job in SMALL.jobs:
        (ki, ki_rows), (kf, kf_rows) = make(SMALL, job)
        assert ki.rounds == kf.rounds
        assert [row.type for row in ki_rows] == list(TYPES)
        for row, twin in zip(ki_rows, kf_rows, strict=True):
            assert (row.twin, row.rounds, row.evidence.messages) == (
                twin.twin,
                twin.rounds,
                twin.evidence.messages,
            )
            if row.answer_kind in ("number", "boolean"):
                assert row.answer == twin.answer
            golds.setdefault(f"{row.type} {row.format}", []).extend(row.answer)
    assert sorted(golds["count_frequency_tool c"]) == ["0", "0", "1", "1"]
    assert sorted(golds["find_duplicates_tool v"]) == ["no", "no", "yes", "yes"]
    assert "0" not in golds["weighted_summation_env c"]


def test_evidence_is_counted_over_the_messages_that_it_names() -> None:
    for trajectory, rows in make(SMALL, ("v", 16_000, 1)):
        sizes = [message_tokens(message) for message in trajectory.messages]
        assert trajectory.tokens == sum(sizes)
        for row in rows:
            held = row.evidence.messages
            assert row.evidence.tokens == sum(sizes[at] for at in held)
            assert row.evidence.span == sum(sizes[held[0] : held[-1] + 1])
            roles = {trajectory.messages[at]["role"] for at in held}
            assert roles == {"user" if row.type.endswith("_env") else "tool"}


def test_the_rounds_do_not_depend_on_the_settings_that_are_asked_for() -> None:
    both = lines(SMALL, ("c", 16_000, 0))
    (one,) = lines(SMALL.model_copy(update={"settings": ("kf",)}), ("c", 16_000, 0))
    assert one[0] == both[1][0]


def test_values_are_compared_where_a_section_holds_a_set() -> None:
    assert [SECTIONS[at].name for at in SETS] == ["Type", "Abilities", "Evolution", "Habitat"]
