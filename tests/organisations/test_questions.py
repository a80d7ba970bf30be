"""Families that ask a question of the campus: told, followed, and misread."""

from __future__ import annotations

import datetime as dt
import shutil
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from samples import sampled
from sources import benchmark

from mesocosm.errors import UsageError
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.length import Survey
from mesocosm.families.verdict import Inapplicable, Misreading
from mesocosm.kits.organisations.campus.speaker import COURSE_ATTRIBUTES
from mesocosm.kits.organisations.delivery import cost_of
from mesocosm.kits.organisations.domains import load_domain
from mesocosm.kits.organisations.questions import AskedExpected, QuestionTask
from mesocosm.kits.organisations.sentences import messages_of
from mesocosm.services.calling import Direct
from mesocosm.services.world import World
from mesocosm.worlds import tokens
from mesocosm.worlds.randomness import Dice

contradictions = benchmark("consistency").contradictions
attacks = benchmark("attacks")

FAMILIES = ("course_assistant", "oral_exams", "canvas_arrange_exam")


def built(name: str, tmp_path: Path, **parameters: Any) -> Any:
    return build_instance(load_family(name), 3, tmp_path / "instance", target=16_000, parameters=parameters)


def asked(name: str) -> QuestionTask:
    written = load_family(name)._written
    assert isinstance(written, QuestionTask)
    return written


@pytest.mark.parametrize(
    ("name", "difficulty"),
    sampled(
        product(FAMILIES, ("easy", "medium", "hard", "expert")),
        {
            ("course_assistant", "easy"),
            ("course_assistant", "medium"),
            ("oral_exams", "hard"),
            ("canvas_arrange_exam", "expert"),
        }.__contains__,
    ),
)
def test_every_step_of_every_derivation_can_be_followed(name: str, difficulty: str, tmp_path: Path) -> None:
    instance = built(name, tmp_path, difficulty=difficulty)
    with World(instance.path / "world", read_only=True) as world:
        assert load_family(name).unstated(Survey(world), instance.expected) == []
    levels = {one.level for one in instance.expected.derivations}
    assert levels == {"explicit"} if difficulty == "easy" else "referring" in levels or difficulty == "medium"


@pytest.mark.parametrize("name", ["oral_exams", "canvas_arrange_exam"])
def test_courses_that_are_not_ones_own_write_too_and_decide_nothing(name: str) -> None:
    family = load_family(name)
    params = family.params(filler_tokens=20_000)
    made, letters, matter = asked(name).told(Dice(name, 1).stream, params)
    lists: Any = made.lists()
    listed = {course.code for course in lists.courses if course.listed}
    others = [one for one in letters if one.about is not None and one.about.code not in listed]
    assert len(others) > 3
    assert not matter & {one.key for one in others}
    assert {one.channel for one in others} == {"mail"}, "they have no page"


def test_several_changes_stand_in_one_message_and_those_of_ones_own_count(tmp_path: Path) -> None:
    name = "canvas_arrange_exam"
    made, letters, matter = asked(name).told(Dice(name, 0).stream, load_family(name).params(num_courses=30))
    lists: Any = made.lists()
    listed = {course.code for course in lists.courses if course.listed}
    bulletins = [one for one in letters if len(one.tellings) > 3 and one.about is None]
    counting = [told for one in bulletins for told in one.tellings if told.matters]
    assert counting
    assert {told.event.about.code for told in counting} <= listed
    assert {one.key for one in bulletins if any(told.matters for told in one.tellings)} <= matter
    assert any(not told.matters for one in bulletins for told in one.tellings)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_proof_finds_what_is_wrong_in_a_derivation(name: str, tmp_path: Path) -> None:
    """A text that is not delivered, words that do not stand in it, and a value that comes out otherwise."""
    instance = built(name, tmp_path)
    expected = instance.expected
    assert isinstance(expected, AskedExpected)
    family = load_family(name)

    def problems(other: AskedExpected) -> str:
        with World(instance.path / "world", read_only=True) as world:
            return "\n".join(family.unstated(Survey(world), other))

    key = next(iter(expected.texts))
    gone = expected.model_copy(update={"texts": {**expected.texts, key: "Subject\nNobody ever wrote this."}})
    assert f"message {key} is not delivered" in problems(gone)
    first = expected.derivations[0]
    other = first.model_copy(update={"says": "Nobody ever said this."})
    assert "is not what the message says" in problems(
        expected.model_copy(update={"derivations": [other, *expected.derivations[1:]]})
    )
    changed = [
        one.kind
        for one in expected.derivations
        if "otherwise"
        in problems(
            expected.model_copy(update={"derivations": [it for it in expected.derivations if it is not one]})
        )
    ]
    assert len(set(changed)) > 1


@pytest.mark.parametrize("name", FAMILIES)
def test_scenes_of_ones_own_tell_the_same_questions(name: str, tmp_path: Path) -> None:
    """A folder of scenes is a split that nobody else has."""
    shutil.copytree(load_domain("campus").scenes / "train", tmp_path / "mine")
    instance = built(name, tmp_path, split=str(tmp_path / "mine"))
    shipped = {scene.name for scene in asked(name).scenes(load_family(name).params(split="test"))}
    told = {one.scene for one in instance.expected.derivations}
    assert told
    assert not told & shipped


@pytest.mark.parametrize("name", FAMILIES)
def test_who_drops_what_names_other_courses_loses_what_decides(name: str) -> None:
    """Courses have more than names, and a mail that is about one names another."""
    worlds = [attacks.world(name, "32k", seed, "hard", "test") for seed in range(4)]
    by_mail, _, by_thread, _, knowing = (
        [attacks.without_others(name, world, rule) for world in worlds] for rule in attacks.RULES
    )
    assert not all(passed for _, _, passed in by_mail)
    assert not all(passed for _, _, passed in by_thread)
    assert sum(dropped for dropped, _, _ in by_thread) / 4 < 0.4
    assert [(lost, passed) for _, lost, passed in knowing] == [(0, True)] * 4, (
        "a careful reader loses nothing"
    )


@pytest.mark.parametrize("name", ["oral_exams", "canvas_arrange_exam"])
def test_a_course_is_meant_by_what_no_other_course_has(name: str) -> None:
    """A student has lists of nobody else's courses: they cannot tell who takes what."""
    made, letters, _ = asked(name).told(Dice(name, 5).stream, load_family(name).params(filler_tokens=20_000))
    courses = {one.code: one for one in made.speaker.courses}
    ways = set()
    for letter in letters:
        for reference in letter.references:
            if reference.kind != "thing":
                continue
            ways.add(reference.by)
            meant = courses[reference.key]
            teaches = meant.instructor in (letter.sender, letter.to)
            others = [
                one
                for one in courses.values()
                if (one.instructor is meant.instructor or not teaches)
                and all(
                    COURSE_ATTRIBUTES[name](one) == COURSE_ATTRIBUTES[name](meant) for name in reference.by
                )
            ]
            assert others == [meant], reference
    assert {("short",), ("day",), ("clock",), ("teacher", "day")} <= ways


def test_an_aside_in_a_bulletin_is_left_out(tmp_path: Path) -> None:
    """It names enough courses, whatever scenes of one's own have: its own scene or that of a notice."""
    shutil.copytree(load_domain("campus").scenes / "train", tmp_path / "mine")
    file = tmp_path / "mine" / "bulletins.yaml"
    says = "\n\n".join(f"            {word} an aside on <other>." for word in ("First", "Next", "Last"))
    beat = f"        - aside: |\n{says}\n"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("      beats:\n", f"      beats:\n{beat}"), encoding="utf-8")
    params = load_family("oral_exams").params(filler_tokens=20_000, split=str(tmp_path / "mine"))
    _, letters, _ = asked("oral_exams").told(Dice("oral_exams", 5).stream, params)
    bulletins = [one for one in letters if one.cast.story.kind == "everyday_bulletin"]
    assert any(
        beat.aside for one in bulletins for message in one.cast.scene.messages for beat in message.beats
    )
    assert not any("an aside on" in one.body for one in bulletins)


def test_a_split_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"split: 'mine' is none of train, test, and no folder"):
        built("oral_exams", tmp_path, split="mine")


def test_a_split_without_a_story_says_which(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(UsageError, match=r"has no scene of the story '\w+' with the events"):
        built("oral_exams", tmp_path, split=str(tmp_path / "mine"))


def test_a_split_with_a_scene_that_cannot_be_cast_says_where(tmp_path: Path) -> None:
    shutil.copytree(load_domain("campus").scenes / "train", tmp_path / "mine")
    file = tmp_path / "mine" / "exam_set.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("<c>", "<c.nose>", 1), encoding="utf-8")
    with pytest.raises(UsageError, match=r"exam_set.yaml, line \d+: \w+: message \w+.*unknown slot <c.nose>"):
        built("oral_exams", tmp_path, split=str(tmp_path / "mine"))


@pytest.mark.parametrize("name", FAMILIES)
def test_nothing_in_the_world_tells_which_messages_matter(name: str, tmp_path: Path) -> None:
    """Scenes, levels and stories are told to nobody: neither names nor keys of them are in any file."""
    instance = built(name, tmp_path)
    data = b"".join(
        path.read_bytes() for path in sorted((instance.path / "world").rglob("*")) if path.is_file()
    )
    names = {one.scene for one in instance.expected.derivations if one.scene.count("_") > 1}
    assert names
    assert [name for name in names if name.encode() in data] == []


def test_what_the_question_is_about_is_told_of_more_people_than_there_are_scenes() -> None:
    family = load_family("course_assistant")
    _, letters, _ = asked(family.name).told(
        Dice(family.name, 1).stream, family.params(filler_tokens=20_000, num_students=600)
    )
    assert sum(letter.cast.story.kind == "other_work" for letter in letters) > 5


@pytest.mark.parametrize(("name", "size"), [("oral_exams", "size"), ("canvas_arrange_exam", "num_courses")])
def test_large_worlds_are_mail_for_as_long_as_there_are_scenes(name: str, size: str) -> None:
    family = load_family(name)
    made, letters, _ = asked(name).told(
        Dice(name, 2).stream, family.params(filler_tokens=230_000, **{size: 28})
    )
    assert sum(cost_of(letter, made.me) for letter in letters) > 150_000
    assert messages_of(letters, made.me, made.speaker).repeated_runs <= 0.05
    assert [str(one) for one in contradictions(letters)] == []


def test_a_long_log_tells_nothing_by_days_and_lengths(tmp_path: Path) -> None:
    family = load_family("course_assistant")
    path = build_instance(family, 3, tmp_path / "instance", target=256_000).path
    logs = sorted(path.glob("world/workspace/uploads/*.csv"))
    lines = [line.split(",") for log in logs for line in log.read_text().splitlines()[1:]]
    own = [dt.datetime.fromisoformat(line[0]) for line in lines if line[3] == "presentation"]
    others = [line for line in lines if line[3] != "presentation"]
    assert len(others) > 10 * len(own) > 0
    assert {tokens.count(line[3]) for line in others} == {tokens.count("presentation")}
    for line in others:
        moment = dt.datetime.fromisoformat(line[0])
        assert min(abs(moment - one) for one in own) < dt.timedelta(days=5)


def test_the_mail_that_shows_a_file_to_be_the_wrong_one_is_evidence(tmp_path: Path) -> None:
    family = load_family("course_assistant")
    expected: Any = build_instance(family, 3, tmp_path / "instance", target=64_000).expected
    wrong = [one for one in expected.derivations if one.kind == "wrong_file"]
    assert {one.people[0].expression for one in wrong} >= {"to", "from"}, (
        "who got the file says so, or who sent it"
    )
    assert {expected.texts[one.text].partition("\n")[2] for one in wrong} <= {
        one.contains for one in expected.evidence
    }


@pytest.mark.parametrize(
    ("name", "mistaken"),
    [
        ("course_assistant", {"wrong_file", "no_file", "draft", "other_work", "claimed"}),
        ("oral_exams", {"other_exam"}),
        ("canvas_arrange_exam", {"other_exam"}),
    ],
)
def test_what_decides_nothing_taken_for_what_does_fails(
    name: str, mistaken: set[str], tmp_path: Path
) -> None:
    """A wrong file, a draft or an essay is no presentation, and another exam is not one's own."""
    family = load_family(name)
    instance = build_instance(family, 0, tmp_path / "instance", target=64_000)
    failed = set()
    for number, one in enumerate(family.mutants):
        kind, taken, _ = one.name.partition(" taken for ")
        if not taken or not isinstance(one, Misreading):
            continue
        with suppress(Inapplicable):
            episode = Episode.create(tmp_path / f"{number}", instance.path, family)
            one.act(Direct(episode.world), instance.expected)
            if episode.grade().verdict == "failed":
                failed.add(kind)
    assert failed == mistaken


def test_what_could_be_taken_for_what_decides_is_no_evidence(tmp_path: Path) -> None:
    expected: Any = built("course_assistant", tmp_path).expected
    assert expected.mistakable
    decides = {one.text for one in expected.derivations}
    evidence = {one.contains for one in expected.evidence}
    bodies = {key: text.partition("\n")[2] for key, text in expected.texts.items()}
    beside = {one.text for one in expected.mistakable} - decides
    assert beside
    assert not {bodies[key] for key in beside} & evidence


@pytest.mark.parametrize("name", FAMILIES)
def test_a_mailbox_does_not_contradict_itself(name: str) -> None:
    family = load_family(name)
    _, letters, _ = asked(name).told(Dice(name, 5).stream, family.params(filler_tokens=20_000))
    assert [str(one) for one in contradictions(letters)] == []


def test_what_contradicts_an_earlier_message_is_found() -> None:
    name = "oral_exams"
    _, letters, _ = asked(name).told(Dice(name, 5).stream, load_family(name).params(filler_tokens=20_000))
    set_at = {
        told.event.about: told.event
        for one in letters
        for told in one.tellings
        if told.event.kind == "exam_set"
    }
    moved = next(
        told.event
        for one in letters
        for told in one.tellings
        if told.event.kind == "exam_moved" and told.event.follows is None and told.event.about in set_at
    )
    first = set_at[moved.about]
    kept = moved.values
    moved.values = {**kept, "start": first.start}
    assert "no change" in {one.kind for one in contradictions(letters)}
    moved.values = kept
    review, exam = next(
        (event, set_at[event.about])
        for one in letters
        for event, _ in one.stated
        if event.what == "review" and event.about in set_at
    )
    review.values = {**review.values, "start": exam.start + dt.timedelta(days=1)}
    assert "review after the exam" in {one.kind for one in contradictions(letters)}
    assert any(one.kind == "set twice" for one in contradictions([*letters, *letters]))
