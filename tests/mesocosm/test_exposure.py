"""Exposure: what a filter that was trained on other instances may skip."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import mesocosm

from mesocosm.families.exposure.items import DescriptionItem
from mesocosm.families.exposure.measurement import judge, judge_family
from mesocosm.families.exposure.sentences import MessageItems, Sentence, SentenceExposure, judge_sentences

WORDS = "the report of last week says numbers rose again nobody knows why".split()  # noqa: SIM905


def some(seed: int, *, told: str = "", flag: bool = False) -> list[DescriptionItem]:
    """A hundred items of which a fifth hold evidence; ``told`` is said, or a flag set, where they do."""
    rng = random.Random(seed)
    items = []
    for number in range(100):
        evidence = number % 5 == 0
        words = [*rng.choices(WORDS, k=30), told if evidence else ""]
        facts = {"place": rng.random(), "tokens": rng.randint(20, 40)}
        facts["has_attachments"] = float(flag and evidence)
        items.append(DescriptionItem("mail", 30, evidence, " ".join(words), facts))
    return items


def train(**knobs: object) -> list[DescriptionItem]:
    return [item for seed in range(6) for item in some(seed, **knobs)]  # type: ignore[arg-type]


def test_where_nothing_tells_evidence_from_the_rest_little_can_be_skipped() -> None:
    found = judge(train(), some(99))
    assert found.skippable < 0.4
    assert found.auc_text is not None
    assert 0.3 < found.auc_text < 0.7
    assert found.evidence_tokens == 600
    assert found.beyond == []


def test_a_word_that_tells_evidence_is_found() -> None:
    found = judge(train(told="deadline"), some(99, told="deadline"))
    assert found.skippable == pytest.approx(0.8)
    assert found.auc_text == 1


def test_a_flag_that_tells_evidence_is_named() -> None:
    found = judge(train(flag=True), some(99, flag=True))
    assert found.skippable == pytest.approx(0.8)
    assert found.worst is not None
    assert (found.worst.name, found.worst.auc) == ("has_attachments", 1)
    assert found.auc_without_text == 1
    assert found.beyond == [
        "skippable share 0.80, at most 0.40 is aimed at",
        "AUC of everything but the text 1.00, at most 0.60 is aimed at",
        "AUC of has_attachments alone 1.00, at most 0.60 is aimed at",
    ]


def test_what_no_evidence_is_of_the_kind_of_can_be_skipped_and_is_counted_apart() -> None:
    lists = [replace(item, kind="list", evidence=False) for item in some(7)]
    found = judge([*train(), *lists * 6], [*some(99), *lists])
    assert found.skippable > 0.5
    assert found.skippable_alike < 0.4


def test_a_family_is_measured_over_several_instances_each_by_what_others_taught() -> None:
    found = judge_family([some(seed, flag=True) for seed in range(4)])
    assert found.instances == 4
    assert found.worst is not None
    assert (found.worst.name, found.worst.auc, found.worst_error) == ("has_attachments", 1, 0)
    assert found.skippable.mean == pytest.approx(0.8)
    nothing = judge_family([some(seed) for seed in range(4)])
    assert nothing.auc_without_text is not None
    assert nothing.auc_without_text.error is not None
    assert abs(nothing.auc_without_text.mean - 0.5) < nothing.auc_without_text.error + 0.1


def sentences(seed: int, told: str, plain: int = 0) -> list[Sentence]:
    """Sixty messages of three sentences, of which one tells something: with a word, in some without."""
    rng = random.Random(seed)
    found = []
    for number in range(60):
        for place in range(3):
            tells = place == number % 3
            words = [*rng.choices(WORDS, k=9), told if tells and number >= plain else ""]
            telling = f"{number}:0" if tells else None
            dropped = {"headers": place == 2}
            found.append(Sentence(" ".join(words), 10, str(number), telling, tells, dropped))
    return found


def judged(told: str, plain: int = 0) -> SentenceExposure:
    """What filters drop that learned from other messages of the kind."""
    learned = [one for seed in range(4) for one in sentences(seed, told, plain)]
    return judge_sentences(learned, MessageItems(sentences(99, told, plain), 1, 0))


def test_a_word_that_tells_lets_all_other_sentences_be_skipped() -> None:
    found = judged("deadline")
    assert found.by_knowing == pytest.approx(2 / 3, abs=0.001)
    assert found.by_sentence == pytest.approx(2 / 3, abs=0.02)
    # In a run of three, one of the three always tells: runs cannot be dropped.
    assert found.by_run == 0
    assert found.rules == {"headers": (pytest.approx(1 / 3, abs=0.001), pytest.approx(1 / 3, abs=0.001))}


def test_few_plain_tellings_keep_most_sentences_from_being_skipped() -> None:
    """98 % of what is told must be kept: where a tenth is told in plain words, a filter can drop little."""
    assert judged("deadline", plain=6).by_sentence < 0.4


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    """Sentences on an instance, and its picture."""
    drawn = tmp_path_factory.mktemp("described") / "x.svg"
    words = ("lore_documents", "--length", "8k", "--exposure", "--plot", str(drawn), "--json")
    return json.loads(mesocosm("describe", *words).stdout)["exposure"], drawn.read_text()


def test_describe_says_it(described: tuple[dict[str, Any], str]) -> None:
    exposure, _ = described
    assert 0 <= exposure["skippable"] < 1
    assert exposure["sentences"] is None, "nobody says what a sentence of it tells"
    figures = {"skippable share": 0.4, "AUC of everything but the text": 0.6, "AUC of": 0.6}
    aims = zip(
        figures, (exposure["skippable"], exposure["auc_without_text"], exposure["worst"]["auc"]), strict=True
    )
    over = [name for name, figure in aims if round(figure, 2) > figures[name]]
    assert len(exposure["beyond"]) == len(over)
    assert all(line.startswith(name) for line, name in zip(exposure["beyond"], over, strict=True))
    assert 0 < exposure["evidence_tokens"] <= 8080


def test_describe_says_what_of_the_messages_can_be_skipped() -> None:
    shown = mesocosm("describe", "oral_exams", "--length", "8k", "--exposure", "--json")
    told = json.loads(shown.stdout)["exposure"]["sentences"]
    assert 0 <= told["by_sentence"] <= 1
    assert 0 < told["by_knowing"] < 1
    assert set(told["rules"]) == {"no unknown names", "names of the question", "numbers and days", "headers"}


def test_the_picture_of_an_instance_has_what_filters_lose(described: tuple[dict[str, Any], str]) -> None:
    exposure, drawn = described
    curves = exposure["curves"]
    assert set(curves) == {"text", "everything but the text", "both"}
    for points in curves.values():
        assert points[0] == [0, 1]
        assert points[-1] == [1, 0]
        assert points == sorted(points, key=lambda point: (point[0], -point[1]))
    assert "evidence kept" in drawn


def test_the_suite_is_measured_as_a_table(tmp_path: Path) -> None:
    drawn = tmp_path / "x.svg"
    tasks = ("--tasks", "lore_documents,lore_documents_hard", "--lengths", "8k")
    shown = mesocosm("suite", "exposure", *tasks, "--seeds", "0-1", "--plot", str(drawn))
    rows = [line for line in shown.stdout.splitlines() if line.startswith("| `")]
    assert [row.split("|")[1].strip() for row in rows] == ["`lore_documents`", "`lore_documents_hard`"]
    assert all(row.split("|")[3].strip() == "2" for row in rows)
    assert "lore_documents_hard 8k" in drawn.read_text()


def test_parameters_of_the_suite_reach_the_task() -> None:
    words = ("suite", "exposure", "--tasks", "course_assistant", "--lengths", "8k", "--seeds", "0-1")
    refused = mesocosm(*words, "--workers", "1", "--param", "difficulty=harsh")
    assert refused.returncode == 2
    assert "difficulty: Input should be 'easy', 'medium', 'hard' or 'expert'" in refused.stderr


def test_one_instance_teaches_no_filter() -> None:
    refused = mesocosm("suite", "exposure", "--tasks", "lore_documents", "--seeds", "0")
    assert refused.returncode == 2
    assert "at least two" in refused.stderr
