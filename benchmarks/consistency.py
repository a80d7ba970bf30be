"""Contradictions in the mailboxes of campus worlds, whoever they concern: what their receiver would notice.

    python benchmarks/consistency.py [TASK ...] [--length 64k] [--seeds 6] [--difficulty hard]

Derivations prove that the question has one answer. This asks whether the rest holds together, too: every
event of every course, whoever's it is, as its messages are read in order of time. Prints each contradiction,
and their numbers by kind.
"""

from __future__ import annotations

import argparse
import datetime as dt
import itertools
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.quantities import parse_length
from mesocosm.kits.organisations.campus.setting import Course
from mesocosm.kits.organisations.events import Event
from mesocosm.kits.organisations.letters import Letter
from mesocosm.kits.organisations.people import Person
from mesocosm.kits.organisations.questions import QuestionTask
from mesocosm.worlds.manifest import Manifest
from mesocosm.worlds.randomness import Dice

_DAY, _HOUR, _MINUTE = dt.timedelta(days=1), dt.timedelta(hours=1), dt.timedelta(minutes=1)
_APART = 10 * _DAY
"""Sections of one course have their finals, and its students their orals, within so many days."""
_RUMORS, _RETOLD = 4, 2
_WITHDRAWN = 4
_CHANGES = {
    "exam_moved": "start",
    "swapped": "start",
    "room_changed": "room",
    "length_changed": "length",
    "books_set": "allowed",
    "examiner_set": "who",
}
"""The value that each change changes."""
_TALK = ("everyday_staff", "everyday_student", "hearsay", "other_exam", "claimed", "other_work")
_TESTS = ("quiz", "midterm", "practice", "make-up")


@dataclass(frozen=True)
class Contradiction:
    """Something in a mailbox that cannot be, or that nobody would believe."""

    kind: str
    key: str
    """Of the message."""
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.key}: {self.what}"


@dataclass
class _Known:
    """The knowledge that a receiver has of the exam of a course."""

    values: dict[str, Any] = field(default_factory=dict)
    changed: bool = False
    cancelled: bool = False
    exempt: bool = False
    beside: dict[Any, tuple[Any, Any]] = field(default_factory=dict)
    """Review session, other sections, fellow students, tests: when and where."""
    review: dt.datetime | None = None


def contradictions(letters: Sequence[Letter]) -> Iterator[Contradiction]:
    """Yield what contradicts something in the messages before it, or itself."""
    ordered = sorted(letters, key=lambda one: (one.at, one.key))
    exams: dict[Course, _Known] = {}
    for letter in ordered:
        found: list[tuple[str, str]] = []
        for told in letter.tellings:
            if isinstance(told.event.about, Course) and letter.cast.story.kind != "dropped":
                known = exams.setdefault(told.event.about, _Known())
                found += _event(told.event, known, letter, [value.field for value in told.values])
        found += list(_beside(letter, exams))
        yield from (Contradiction(kind, letter.key, what) for kind, what in dict.fromkeys(found))
    yield from _overlaps(exams, ordered)
    yield from _repeated(ordered)
    yield from _coursework(ordered)
    yield from _relative(ordered)


def _event(event: Event, known: _Known, letter: Letter, stated: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Read an event of an exam; a change changes, and nothing follows what is off."""
    kind, code = event.kind, event.about.code
    if kind not in (*_CHANGES, "exam_set", "cancelled", "reinstated", "exempted", "exemption_withdrawn"):
        return
    if kind == "exam_set":
        if known.changed:
            yield "first word after a change", f"{code} is set, but it was changed before"
        if "start" in known.values:
            yield "set twice", code
        known.values |= {name: event.values.get(name) for name in ("start", "room", "length")}
        if known.review and event.start.date() <= known.review.date():
            yield "review after the exam", f"{code}: exam {event.start}, review {known.review}"
        for key, (start, _) in known.beside.items():
            if isinstance(key, Person) or key == "section":
                yield from _near(event.about, start, known)
        return
    known.changed = True
    if known.cancelled and kind not in ("reinstated", "cancelled"):
        yield "after it was canceled", f"{kind} of {code}"
    if name := _CHANGES.get(kind):
        new, old = event.values.get(name), known.values.get(name)
        if kind != "books_set" and new is not None and new == old:
            yield "no change", f"{kind} of {code}: it was {new} before"
        before = event.values.get(f"old_{name}")
        if f"old_{name}" in stated and old is not None and before != old:
            yield "another value before", f"{kind} of {code}: from {before}, but it was {old}"
        known.values[name] = new
        if name == "start" and known.review and new and new.date() <= known.review.date():
            yield "review after the exam", f"{code}: exam {new}, review {known.review}"
    if kind in ("cancelled", "reinstated"):
        if known.cancelled == (kind == "cancelled"):
            yield "no change", f"{kind} of {code}"
        known.cancelled = kind == "cancelled"
        known.values["start"] = event.start or known.values.get("start")
    if kind in ("exempted", "exemption_withdrawn"):
        known.exempt = kind == "exempted"


def _near(course: Course, start: dt.datetime, known: _Known) -> Iterator[tuple[str, str]]:
    own = known.values.get("start")
    if own and abs(own - start) > _APART:
        yield "far from its own", f"{course.code}: {own}, others {start}"


def _beside(letter: Letter, exams: dict[Course, _Known]) -> Iterator[tuple[str, str]]:
    """Read what is said beside exams: each session has one time and place, before what it prepares."""
    mentioned = {id(event): event for event, _ in letter.stated if event.kind == "other_exam"}
    for event in mentioned.values():
        course, what = event.about, event.what
        known = exams.setdefault(course, _Known())
        key: Any = "section" if what == "other section" else what
        if key == "section" and event.people:
            key = event.people[0]
        place = (event.start, event.room)
        if known.beside.setdefault(key, place) != place:
            yield "told otherwise before", f"{course.code} {what}: {place}, before {known.beside[key]}"
        if event.start < letter.at:
            yield "over already", f"{course.code} {what} {event.start}"
        if what == "review":
            known.review = event.start
            own = known.values.get("start")
            if own and event.start.date() >= own.date():
                yield "review after the exam", f"{course.code}: exam {own}, review {event.start}"
            for test in mentioned.values():
                if test.what in _TESTS and test.start <= event.start:
                    yield "review after the test", f"{course.code}: {test.what} {test.start}"
        elif what == "make-up":
            for other, (start, _) in known.beside.items():
                if other in ("quiz", "midterm") and letter.at < start:
                    yield "made up before it was", f"{course.code}: {other} {start}"
        elif what == "other section":
            yield from _near(course, event.start, known)
        for other, (start, _room) in known.beside.items():
            if other in _TESTS and key in _TESTS and other != key and start.date() == event.start.date():
                yield "two tests in a day", f"{course.code}: {other} and {key} {start}"


def _overlaps(exams: dict[Course, _Known], letters: Sequence[Letter]) -> Iterator[Contradiction]:
    """Exams of one's own that are at the same time."""
    held = [
        (known.values["start"], known.values.get("length") or 60, course.code)
        for course, known in exams.items()
        if course.listed and known.values.get("start") and not (known.cancelled or known.exempt)
    ]
    held += [
        (start, 60, f"{what} of {course.code}")
        for course, known in exams.items()
        for what, (start, _) in known.beside.items()
        if what in _TESTS and course.listed
    ]
    held.sort()
    for (start, length, code), (following, _, other) in itertools.pairwise(held):
        if following < start + length * _MINUTE:
            yield Contradiction(
                "two exams at once", letters[-1].key, f"{code} {start} and {other} {following}"
            )


def _repeated(letters: Sequence[Letter]) -> Iterator[Contradiction]:
    """The same small talk from the same person, and rumors without end."""
    seen: set[tuple[Any, ...]] = set()
    rumors: Counter[str] = Counter()
    for letter in letters:
        cast = letter.cast
        if letter.answers is None and not letter.earlier and cast.scene.story in _TALK:
            key = (cast.scene.name, letter.sender, letter.to)
            if key in seen:
                yield Contradiction(
                    "the same story again", letter.key, f"{cast.scene.name} {letter.sender.full}"
                )
            seen.add(key)
            if cast.scene.story == "hearsay":
                rumors[cast.scene.name] += 1
                if rumors[cast.scene.name] > _RETOLD:
                    yield Contradiction("a rumor of one kind too often", letter.key, cast.scene.name)
    if rumors.total() > len(letters) / 25 + _RUMORS:
        yield Contradiction("rumors", letters[-1].key, f"{rumors.total()} in {len(letters)} messages")


def _coursework(letters: Sequence[Letter]) -> Iterator[Contradiction]:
    """Students hand in nothing to a course that they left, and few leave one."""
    gone: set[tuple[Course, Person]] = set()
    left: Counter[Course] = Counter()
    due: dict[Course, dt.datetime] = {}
    for letter in letters:
        for told in letter.tellings:
            event = told.event
            if event.kind in ("dropped", "reinstated") and letter.cast.story.kind == "dropped":
                before = len(gone)
                for who in event.people:
                    (gone.add if event.kind == "dropped" else gone.discard)((event.about, who))
                if len(gone) == before:
                    yield Contradiction("no change", letter.key, f"{event.kind} {event.about.code}")
                if event.kind == "dropped":
                    left[event.about] += 1
                    if left[event.about] > max(_WITHDRAWN, len(event.about.students) // 8):
                        yield Contradiction(
                            "so many withdrawals", letter.key, f"{event.about.code}: {left[event.about]}"
                        )
            elif event.kind in (
                "submitted",
                "draft",
                "asked",
                "excused",
                "extended",
                "wrong_file",
                "no_file",
            ):
                if any((event.about, who) in gone for who in event.people):
                    yield Contradiction("after leaving", letter.key, f"{event.kind} {event.about.code}")
            elif event.kind in ("deadline", "deadline_moved"):
                if due.get(event.about) == event.due:
                    yield Contradiction("no change", letter.key, f"deadline of {event.about.code}")
                due[event.about] = event.due


def _relative(letters: Sequence[Letter]) -> Iterator[Contradiction]:
    """Check that what is so much later or earlier is so of a time that its reader has from the same side."""
    relative: set[int] = set()
    for letter in letters:
        for told in letter.tellings:
            forms = {value.form for value in told.values}
            if not forms & {"shift", "span"} or forms & {"moment", "day"}:
                continue
            if told.event.kind not in ("exam_moved", "deadline_moved"):
                continue
            follows = told.event.follows
            if follows is not None and id(follows) in relative:
                yield Contradiction("relative to what was relative", letter.key, told.span)
            if letter.sender.role in ("office", "secretary"):
                yield Contradiction("an office without a date", letter.key, told.span)
            relative.add(id(told.event))


TASKS = ("course_assistant", "oral_exams", "canvas_arrange_exam")


def letters_of(name: str, length: str, seed: int, difficulty: str) -> list[Letter]:
    """The messages of an instance."""
    family = load_family(name)
    with tempfile.TemporaryDirectory() as folder:
        target, given = parse_length(length), {"difficulty": difficulty}
        built = build_instance(family, seed, Path(folder) / "x", target=target, parameters=given)
        filled = Manifest.read(built.path / "world").parameters
    written = family._written
    assert isinstance(written, QuestionTask)
    return written.told(Dice(name, seed).stream, family.params_type(**filled))[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", default=list(TASKS))
    parser.add_argument("--length", default="64k")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--difficulty", default="hard")
    options = parser.parse_args()
    for task in options.tasks:
        kinds: Counter[str] = Counter()
        messages = 0
        for seed in range(options.seeds):
            letters = letters_of(task, options.length, seed, options.difficulty)
            messages += len(letters)
            for one in contradictions(letters):
                kinds[one.kind] += 1
                print(f"  seed {seed}, {one}")
        print(f"{task}: {kinds.total()} in {messages} messages of {options.seeds} worlds {dict(kinds)}")


if __name__ == "__main__":
    main()
