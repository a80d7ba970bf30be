"""What the paper's setting needs: its counts, its contrast, conversations, creatures of one's own, chance."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from statistics import fmean

import pytest
from later import Later

from mesocosm.agents.scripted.ability import check_can_answer
from mesocosm.errors import UsageError
from mesocosm.evaluation.questions import question_sets
from mesocosm.evaluation.rollouts import tabulate
from mesocosm.kits.rollouts.answers import answer_in_conversation
from mesocosm.kits.rollouts.dataset import DatasetPlan, make
from mesocosm.kits.rollouts.predictions import ScoredQuestion
from mesocosm.kits.rollouts.questions import TYPES
from mesocosm.kits.rollouts.transcript import message_tokens

asking = Later("mesocosm.evaluation.question_tasks")


def test_the_papers_counts_are_two_hundred_questions_a_bucket() -> None:
    plan = DatasetPlan(lengths=(32_000, 4_000_000), counts="paper")
    for format in plan.formats:
        for length in plan.lengths:
            asked = Counter(
                kind for job in plan.jobs if job[:2] == (format, length) for kind in plan.asked(job)
            )
            assert sum(asked.values()) == 200
            assert asked["intersection"] == 50
    assert Counter(plan.asked(("v", 32_000, 25)))["find_target_offsets_tool"] == 1, "26 of them"
    with pytest.raises(UsageError, match="the paper counts no questions at 40k"):
        _ = DatasetPlan(lengths=(40_000,), counts="paper").jobs


def test_formats_contrast_as_in_table_2() -> None:
    """Verbose: few rounds and long results; concise: several times as many rounds, each result short."""
    reach: dict[tuple[str, str], list[int]] = {}
    rounds: dict[str, list[int]] = {}
    for format in ("c", "v"):
        plan = DatasetPlan(settings=("ki",), formats=(format,), lengths=(64_000,))  # type: ignore[arg-type]
        for number in range(4):
            [(trajectory, rows)] = make(plan, (format, 64_000, number))  # type: ignore[arg-type]
            rounds.setdefault(format, []).append(trajectory.rounds)
            for row in rows:
                reach.setdefault((format, row.type.rpartition("_")[2]), []).append(row.evidence.tokens)
    assert fmean(rounds["c"]) > 2.5 * fmean(rounds["v"])
    assert fmean(reach["c", "env"]) > 2 * fmean(reach["v", "env"])
    assert fmean(reach["v", "tool"]) > 3 * fmean(reach["c", "tool"])


def test_no_number_of_a_verbose_result_is_the_usual_answer() -> None:
    plan = DatasetPlan(settings=("ki",), formats=("v",), lengths=(32_000,))
    golds: dict[str, Counter[str]] = {}
    for number in range(24):
        [(_, rows)] = make(plan, ("v", 32_000, number))
        for row in rows:
            golds.setdefault(row.type, Counter())[row.answer[0]] += 1
    for kind in ("count_frequency_tool", "count_frequency_env"):
        assert golds[kind].most_common(1)[0][1] <= 10, golds[kind]


def test_reports_stand_against_chance() -> None:
    def one(number: int, gold: str, score: float) -> ScoredQuestion:
        return ScoredQuestion(
            id=f"q{number}", model="m", setting="ki", format="c", length=32_000, type="find_duplicates_tool",
            evidence_tokens=9, score=score, missing=False, answer="yes", gold=[gold],
        )  # fmt: skip

    [cell] = tabulate([one(at, "yes" if at % 2 else "no", float(at % 2)) for at in range(8)])
    assert (cell.accuracy, cell.chance) == (0.5, 0.75), "reading one of the two results gives three quarters"
    assert cell.above_chance == -1
    [cell] = tabulate([one(at, "no", 1.0) for at in range(3)])
    assert (cell.chance, cell.above_chance) == (1.0, None)


def test_a_conversation_has_roles_and_calls_and_the_same_golds() -> None:
    asked = question_sets()["agentlongbench"]
    task = asking.question_task(asked, {"settings": "ki", "formats": "c", "seeds": "0", "messages": True})
    for sample in task.dataset:
        roles = Counter(message.role for message in sample.input)  # type: ignore[union-attr]
        assert roles["system"] == 1
        assert roles["tool"] * 2 == roles["assistant"] == 2 * (roles["user"] - 1)
        told = [(message.role, message.text) for message in sample.input]  # type: ignore[union-attr]
        gold = sample.metadata["question"]["expected"]["answer"]  # type: ignore[index]
        assert answer_in_conversation(told) == ", ".join(gold)
    check_can_answer("scripted/solver", asked.name, asked.solved)


@pytest.fixture
def creatures(tmp_path: Path) -> Path:
    """Names with blanks, dots and accents, as real ones have."""
    lines = []
    for at in range(400):
        name = f"{('Mr. ', 'Flabé ', 'Ho-', 'Nido♀')[at % 4]}{chr(65 + at % 26)}{'aeiou'[at % 5]}x {at}"
        lines.append(
            {
                "name": name,
                "Type": [f"Sea-born {at % 7}", f"Type {at % 5}"][: 1 + at % 2],
                "Base Stats": 200 + at,
                "Generation": 1 + at % 8,
                "Abilities": [f"Ability of {at % 60}"],
                "Evolution": f"line {at // 3}",
                "Habitat": ("cave", "sea", "town")[at % 3],
            }
        )
    path = tmp_path / "creatures.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_creatures_of_ones_own(creatures: Path, tmp_path: Path) -> None:
    plan = DatasetPlan(settings=("ki",), formats=("c",), lengths=(16_000,), entities=str(creatures))
    [(trajectory, rows)] = make(plan, ("c", 16_000, 0))
    assert trajectory.tokens == sum(map(message_tokens, trajectory.messages)), "tokenised, not guessed"
    assert abs(trajectory.tokens / 16_000 - 1) < 0.02
    assert {row.type for row in rows} == set(TYPES)
    assert any("Flabé" in message["content"] for message in trajectory.messages)
    with pytest.raises(ValueError, match="for the setting ki alone"):
        DatasetPlan(lengths=(16_000,), entities=str(creatures))
    (tmp_path / "bad.jsonl").write_text(creatures.read_text().replace('"Generation": 1', '"Generation": "x"'))
    with pytest.raises(UsageError, match=r"bad\.jsonl, line 1: Generation: 'x' is no whole number"):
        make(plan.model_copy(update={"entities": str(tmp_path / "bad.jsonl")}), ("c", 16_000, 0))
