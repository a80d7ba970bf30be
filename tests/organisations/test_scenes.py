"""The scenes that ship, and what is said of those that are wrong."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from commands import mesocosm
from samples import sampled

from mesocosm.kits.organisations import readings
from mesocosm.kits.organisations.conditions import ConditionError, condition
from mesocosm.kits.organisations.domains import load_domain
from mesocosm.kits.organisations.rehearsal import rehearse
from mesocosm.kits.organisations.scenes import SPLITS, Scene, SceneProblem, complaints, read_scenes

CAMPUS = load_domain("campus")
VOCABULARY = CAMPUS.vocabulary
ALL = read_scenes(CAMPUS.scenes)

GOOD = """
lost_key:
  story: handed_in
  purpose: A student hands in and mentions a key.
  messages:
    - id: a
      from: s
      to: me
      at: e.at
      file: slides
      subject: |
        a key

        found something

        keys
      beats:
        - tell: e
          any: |
            That is all of <c>, finished.

            You have my finished talk for <c>.

            Everything for <c> is done and here.
        - aside: |
            I still have <other> to finish.

            <other> kept me busy until yesterday.

            I was up late with <other>.
"""


def test_there_is_nothing_to_complain_of() -> None:
    assert [str(one) for one in complaints(ALL, VOCABULARY)] == []


def test_each_split_tells_every_story_in_three_ways_or_more() -> None:
    counts = Counter((scene.split, scene.story) for scene in ALL)
    short = [(split, story) for split in SPLITS for story in VOCABULARY.stories if counts[split, story] < 3]
    assert short == []
    assert len(ALL) >= 120


def test_no_sentence_stands_in_both_splits() -> None:
    said: dict[str, set[str]] = {split: set() for split in SPLITS}
    for scene in ALL:
        for message in scene.messages:
            for beat in message.beats:
                for _, texts in beat.all_texts:
                    said[scene.split].update(text for text in texts if len(text.split()) > 4)
    assert said["train"] & said["test"] == set()


@pytest.mark.parametrize("split", SPLITS)
def test_every_scene_is_cast_and_can_be_followed_by_a_reader(split: str) -> None:
    """Over a few campuses: somebody is named, nothing could be another thing, every value reads as it is."""
    never, faults = [], []
    for scene in ALL:
        if scene.split != split:
            continue
        castings = list(rehearse(CAMPUS, scene, seeds=4)) or list(rehearse(CAMPUS, scene, seeds=24))
        if not castings:
            never.append(scene.name)
        faults += [fault for casting in castings for fault in casting.faults()]
    assert never == []
    assert faults == []


def read(tmp_path: Path, text: str) -> list[Scene]:
    (tmp_path / "own.yaml").write_text(text, encoding="utf-8")
    return read_scenes(tmp_path, "own")


@pytest.mark.parametrize(
    ("wrong", "instead", "said"),
    [
        ("finished talk for <c>", "finished talk for <d.nose>", "unknown slot <d.nose>"),
        ("finished talk for <c>", "finished talk for <e.nose>", "is nothing that an event has"),
        ("      from: s\n", "      from: z\n", "no role 'z' here"),
        ("      at: e.at\n", "", "one of `at`, `after` or `before` is needed"),
        ("        - tell: e\n", "        - tell: q\n", "tells 'q', which is no role here"),
        ("\n\n            Everything for <c> is done and here.", "", "three to six are needed"),
        ("Everything for <c> is", "Everything is", "has <c> in each alternate"),
        ("  story: handed_in", "  story: handed_out", "no story 'handed_out'"),
        ("Everything for <c> is", "Everything for <c is", "a slot is not closed"),
        ("up late with <other>", "up late", "an aside has the slot <other>, once"),
        ("<other> kept me", "<other> and <other> kept me", "an aside has the slot <other>, once"),
        ("Everything for <c> is", "Everything for <c> and <other> is", "unknown slot <other>"),
    ],
)
def test_what_is_wrong_with_a_scene_is_said_with_file_and_line(
    wrong: str, instead: str, said: str, tmp_path: Path
) -> None:
    assert list(complaints(read(tmp_path, GOOD), VOCABULARY)) == []
    assert wrong in GOOD
    found = list(complaints(read(tmp_path, GOOD.replace(wrong, instead)), VOCABULARY))
    assert any(said in one.what and one.line == 2 and one.path == "own.yaml" for one in found), found


@pytest.mark.parametrize(
    ("wrong", "instead", "said"),
    [
        ("      to: me\n", "      whom: me\n", "line 2: lost_key: messages.0.to: Field required"),
        ("lost_key:\n", "lost_key: [\n", "not YAML"),
        ("      at: e.at\n", "      at: e.at\n      if: e.late +\n", "is no condition"),
        ("      at: e.at\n", "      at: e.at\n      if: __import__('os')\n", "is not allowed in a condition"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(wrong: str, instead: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SceneProblem) as refused:
        read(tmp_path, GOOD.replace(wrong, instead))
    assert said in str(refused.value)


@pytest.mark.parametrize("slot", sampled(["<c.nose>", "<exam.nose>", "<nobody>"], ["<exam.nose>"]))
def test_a_scene_that_cannot_be_cast_is_named_by_every_command(slot: str, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(GOOD.replace("for <c>", f"for <c> {slot}"), encoding="utf-8")
    for words, code in (
        (["check", tmp_path], 1),
        (["show", "lost_key", "--folder", tmp_path], 2),
        (["sheet", tmp_path], 2),
    ):
        said = mesocosm("scenes", *words, COLUMNS="400")
        assert said.returncode == code
        assert f"line 2: lost_key: message a, beat 1: any: unknown slot {slot}" in said.stdout + said.stderr


@pytest.mark.parametrize("text", ["().__class__", "f.__class__", "f()", "[f]", "f.x.__y__", "lambda: f"])
def test_conditions_reach_nothing_but_what_a_story_has(text: str) -> None:
    with pytest.raises(ConditionError):
        condition(text).value({"f": None})


def test_blind_readers_make_out_what_was_meant() -> None:
    """Two readings of every thread that tells something, as it is now: 99 of 100 say what was meant."""
    agreed = readings.agreement(
        readings.items(CAMPUS, ALL), readings.read_kept(CAMPUS.scenes / "readings.txt")
    )
    assert agreed.unread == []
    assert agreed.share >= 0.99, agreed.misread


def test_a_reading_of_words_that_have_changed_is_none(tmp_path: Path) -> None:
    item, *_ = readings.items(CAMPUS, read(tmp_path, GOOD))
    assert item.scene.name not in item.code
    answers = {"ann": {item.code: item.meant}, "ben": {item.code: "back Somebody"}}
    readings.keep(tmp_path / "readings.txt", [item], answers)
    kept = readings.read_kept(tmp_path / "readings.txt")
    agreed = readings.agreement([item], kept)
    assert (agreed.read, agreed.agreed) == (2, 1)
    [other, *_] = readings.items(
        CAMPUS, read(tmp_path, GOOD.replace("my finished talk", "my finished slides"))
    )
    assert list(readings.agreement([other], kept).unread) == [other.id]
    readings.keep(tmp_path / "readings.txt", [other], answers)
    assert readings.read_kept(tmp_path / "readings.txt") == {}, "what was read was another text"
