"""Programs that answer a campus task without reading: how many worlds do they pass?

    python benchmarks/attacks.py [TASK ...] [--lengths 64k] [--worlds 20] [--trained 20]
                                 [--difficulties hard]

Two programs know the rules, the lists and the grammar of moments, and find the course by every name that
it has. The one looks at structure alone (who wrote to whom, files, threads, whether a moment is named);
the other learned from so many labelled worlds of the split `train` what kind of message it sees, by words,
pairs of words and structure, and tries worlds of the split `test`, whose scenes it has never met. A world
is passed if the answer is right as a whole.

The others are what players did: list the courses that are not in question, drop each mail that has the
title, short name or code of one (or of one and of none in question; or each thread of that kind, with what
instructors write who teach nothing in question), and read the rest without a mistake. Of these is said which
share of the words they drop and of the deciding facts they lose, too. The last knows all that a name can be:
no program does without reading how people write.
"""

from __future__ import annotations

import argparse
import datetime as dt
import re
import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.quantities import parse_length
from mesocosm.kits.organisations import moments
from mesocosm.kits.organisations.campus.directory import Directory
from mesocosm.kits.organisations.derivations import Rereading
from mesocosm.kits.organisations.events import Event
from mesocosm.kits.organisations.letters import Letter
from mesocosm.kits.organisations.questions import AskedExpected, Organisation, QuestionTask
from mesocosm.worlds.manifest import Manifest
from mesocosm.worlds.randomness import Dice

TASKS = ("course_assistant", "oral_exams", "canvas_arrange_exam")
_MOMENT = re.compile(
    r"(?:today|tomorrow|[A-Z][a-z]+day(?:, [A-Z][a-z]+ \d+,)?) at (?:noon|\d{1,2}(?::\d\d)?(?: [ap]\.m\.)?)",
    re.IGNORECASE,
)
_SHIFT = re.compile(r"(?:an?|half an|[a-z]+) (?:hour|day|week)s?(?: and a half)? (?:later|earlier)")
_LENGTH = re.compile(r"\b(\d+ minutes|an hour|(?:two|three) hours)\b")
_ROOM = re.compile(r"\b((?:Kerr Hall|Dunmore|Aldous|Thayer Hall|Whitlock|Pell Hall|Sayre|Lowell) \d{3})\b")
World = tuple[Organisation, list[Letter], set[str], AskedExpected]


def world(task: str, length: str, seed: int, difficulty: str, split: str) -> World:
    """An instance: what was told, the keys of the messages that matter, and the truth."""
    family = load_family(task)
    parameters = {"difficulty": difficulty, "split": split}
    with tempfile.TemporaryDirectory() as folder:
        built = build_instance(
            family, seed, Path(folder) / "x", target=parse_length(length), parameters=parameters
        )
        manifest = Manifest.read(built.path / "world")
    asked = family._written
    assert isinstance(asked, QuestionTask)
    made, letters, matter = asked.told(Dice(task, seed).stream, family.params_type(**manifest.parameters))
    assert isinstance(built.expected, AskedExpected)
    return made, letters, matter, built.expected


def structure(letter: Letter) -> list[str]:
    """Return the tokens of a message that are not words."""
    text = letter.body
    found = [
        f"FROM={letter.sender.role}",
        f"TO={letter.to.role}",
        f"FILE={letter.file is not None}",
        f"PLACE={min(len(letter.thread), 3)}",
        f"VIA={letter.channel}",
        f"MOMENT={bool(_MOMENT.search(text))}",
        f"SHIFT={bool(_SHIFT.search(text))}",
        f"ROOM={bool(_ROOM.search(text))}",
        f"LENGTH={bool(_LENGTH.search(text))}",
    ]
    if letter.answers is not None:
        found.append(f"AFTER={letter.answers.sender.role}/{letter.answers.file is not None}")
    return found


def by_structure(letter: Letter) -> str:
    """The kind of event that a message tells, from structure alone."""
    role, named = letter.sender.role, bool(_MOMENT.search(letter.body))
    if role == "student" and letter.to.role == "assistant":
        earlier = any(one.file and one.sender is letter.sender for one in letter.thread)
        return "submitted" if letter.file else "retracted" if earlier else ""
    if role == "instructor" and letter.to.role == "assistant":
        return "deadline_moved" if named else "excused" if not letter.thread else ""
    if role in ("instructor", "office") and letter.to.role == "student":
        if letter.cc is not None and letter.cc.role == "assistant":
            return "extended" if named else "refused"
        if named and _LENGTH.search(letter.body):
            return "exam_set"
        if named or _SHIFT.search(letter.body):
            return "exam_moved"
        return (
            "room_changed"
            if _ROOM.search(letter.body)
            else "length_changed"
            if _LENGTH.search(letter.body)
            else ""
        )
    return "submitted" if role in ("assistant", "secretary") and letter.to.role == "assistant" else ""


def learned(worlds: Sequence[World]) -> Callable[[Letter], str]:
    """The same from words and structure, learned from labelled worlds."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    def document(letter: Letter) -> str:
        return f"{letter.body} {letter.subject} {' '.join(structure(letter))}"

    texts, kinds = [], []
    for _, letters, _, _ in worlds:
        for letter in letters:
            texts.append(document(letter))
            kinds.append(letter.tellings[-1].event.kind if letter.tellings else "")
    vectorizer = CountVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)[\w=/]+|[?!]", min_df=2)
    model = LogisticRegression(max_iter=300, C=3)
    model.fit(vectorizer.fit_transform(texts), kinds)
    return lambda letter: str(model.predict(vectorizer.transform([document(letter)]))[0])


def events(letters: Sequence[Letter], kind_of: Callable[[Letter], str], directory: Directory) -> list[Event]:
    """The events that a program makes out, in order of time."""
    found: list[Event] = []
    for letter in letters:
        kind = kind_of(letter)
        if not kind:
            continue
        course = _course(letter, directory)
        if course is None:
            continue
        before = [event for event in found if event.about is course]
        found.append(
            Event(kind, letter.at, course, _people(letter, course, directory), _values(letter, kind, before))
        )
    return found


def _course(letter: Letter, directory: Directory) -> Any:
    if letter.channel != "mail" and letter.about is not None:
        return directory.courses[letter.about.code]
    for one in (letter, *letter.thread):
        text = f"{one.subject} {one.body}"
        scores: dict[str, float] = {}
        for course in directory.courses.values():
            names = (
                course.title,
                course.short,
                course.code,
                f"{course.instructor.last}'s",
                f"{course.day} ",
                course.building,
            )
            scores[course.code] = float(
                sum(3 if n < 3 else 1 for n, name in enumerate(names) if name in text)
            )
            around = {who.email for who in (*course.students, course.instructor)}
            scores[course.code] += 0.4 * len(around & {one.sender.email, one.to.email})
        best = max(scores, key=lambda code: scores[code])
        if scores[best] >= 1:
            return directory.courses[best]
    return None


def _people(letter: Letter, course: Any, directory: Directory) -> tuple[Any, ...]:
    text = f"{letter.subject} {letter.body}"
    named = [
        who
        for who in course.students
        if who.full in text or (who.number and who.number in text) or (course.topic.get(who) or "-") in text
    ]
    named = named or [
        who for who in course.students if re.search(rf"\b{who.first}\b", text) and who.role == "student"
    ]
    if letter.sender.role == "student":
        named = [directory.people[letter.sender.email], *named]
    elif letter.to.role == "student":
        named = [directory.people[letter.to.email]]
    return tuple(dict.fromkeys(named))


def _values(letter: Letter, kind: str, before: Sequence[Event]) -> dict[str, Any]:
    field = "due" if kind in ("deadline", "deadline_moved", "extended") else "start"
    values: dict[str, Any] = {"via": letter.channel, "allowed": " not " not in letter.body, "applies": True}
    last = next((event.values[field] for event in reversed(before) if event.values.get(field)), None)
    if moment := _MOMENT.search(letter.body):
        try:
            values[field] = moments.read_moment(moment[0], letter.at)
        except moments.UnreadableMoment:
            values[field] = last
    elif (shift := _SHIFT.search(letter.body)) and last:
        try:
            values[field] = last + moments.read_shift(shift[0])
        except (moments.UnreadableMoment, ValueError):
            values[field] = last
    elif kind in ("exam_moved", "swapped", "deadline_moved", "extended"):
        values[field] = last or dt.datetime(2026, 5, 1)  # noqa: DTZ001 - by the clock of the place
    if length := _LENGTH.search(letter.body):
        values["length"] = moments.read_length(length[0])
    if room := _ROOM.search(letter.body):
        values["room"] = room[0]
    return values


def passes(task: str, found: World, kind_of: Callable[[Letter], str]) -> bool:
    """True if the answer that follows from what a program makes out is right as a whole."""
    _, letters, _, expected = found
    directory = Directory(expected.lists)
    return _answers(task, expected, directory, lambda: events(letters, kind_of, directory))


RULES = NAMING_ANY, NAMING, THREADS, INSTRUCTORS, MEANING = (
    "mails that name another course",
    "mails that name another and none of one's own",
    "threads that name another and none of one's own",
    "such threads, and those that an instructor begins who teaches none of one's own",
    "threads that mean another in any words, and none of one's own",
)


def without_others(task: str, found: World, rule: str) -> tuple[float, float, bool]:
    """Drop what a rule says is about other courses: the share of the words, of the deciding facts, and
    whether a reader of the rest passes.
    """
    _, letters, _, expected = found
    directory = Directory(expected.lists)
    asked = expected.records.get("course")
    own = [one for one in directory.courses.values() if (one.code == asked if asked else one.listed)]
    others = [one for one in directory.courses.values() if one not in own]
    teachers = {one.instructor.email for one in own}
    parts: dict[str, list[Letter]] = {}
    for one in letters:
        if one.channel == "mail":
            parts.setdefault(one.key if rule in (NAMING_ANY, NAMING) else one.opening.key, []).append(one)
    dropped: set[str] = set()
    for part in parts.values():
        means = _means if rule == MEANING else _names
        named, named_own = (any(means(one, of) for one in part) for of in (others, own))
        sender = part[0].sender
        foreign = (
            rule == INSTRUCTORS
            and not named_own
            and sender.role == "instructor"
            and sender.email not in teachers
        )
        if foreign or (named and (rule == NAMING_ANY or not named_own)):
            dropped |= {one.key for one in part}
    words = {one.key: len(f"{one.subject} {one.body}".split()) for one in letters}
    kept = [one for one in expected.derivations if one.text not in dropped]
    return (
        sum(words[key] for key in dropped) / sum(words.values()),
        1 - len(kept) / len(expected.derivations),
        _answers(task, expected, directory, Rereading(kept, directory, expected.texts).events),
    )


def _names(letter: Letter, courses: Sequence[Any]) -> bool:
    """True if a message has the title, the short name or the code of one of some courses."""
    text = f"{letter.subject} {letter.body}"
    return any(
        re.search(rf"\b{re.escape(name)}\b", text)
        for one in courses
        for name in (one.title, one.short, one.code)
    )


def _means(letter: Letter, courses: Sequence[Any]) -> bool:
    """True if a message refers to one of some courses, by its name, its day, its hour or its instructor."""
    codes = {one.code for one in courses}
    return any(one.kind == "thing" and one.key in codes for one in letter.references)


def _answers(
    task: str, expected: AskedExpected, directory: Directory, read: Callable[[], Sequence[Event]]
) -> bool:
    asked = load_family(task)._written
    assert isinstance(asked, QuestionTask)
    try:
        made = asked._reread(expected, directory, read())
    except (TypeError, AttributeError, KeyError, ValueError):
        return False
    from mesocosm.kits.yaml_tasks.grading import wanted_of

    right, said = (wanted_of(asked.definition, truth) for truth in (asked.truth_of(expected), made))
    return _rows(right) == _rows(said)


def _rows(wanted: Sequence[Any]) -> list[str]:
    return sorted(
        str({name: getattr(value, "rows", value) for name, value in one.fields.items()}) for one in wanted
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", default=list(TASKS))
    parser.add_argument("--lengths", nargs="+", default=["64k"])
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--trained", type=int, help="labelled worlds (default: as many as --worlds)")
    parser.add_argument("--difficulties", nargs="+", default=["hard"])
    options = parser.parse_args()
    for task in options.tasks:
        for length in options.lengths:
            for difficulty in options.difficulties:
                labelled = range(100, 100 + (options.trained or options.worlds))
                train = [world(task, length, seed, difficulty, "train") for seed in labelled]
                kinds = learned(train)
                test = [world(task, length, seed, difficulty, "test") for seed in range(options.worlds)]
                alone = sum(passes(task, one, by_structure) for one in test)
                trained = sum(passes(task, one, kinds) for one in test)
                print(
                    f"{task} {length} {difficulty}: structure alone {alone} of {len(test)}, "
                    f"trained on {len(train)} worlds {trained} of {len(test)}",
                    flush=True,
                )
                for rule in RULES:
                    drops, loses, passed = zip(
                        *(without_others(task, one, rule) for one in test), strict=True
                    )
                    print(
                        f"  without {rule}: drops {statistics.fmean(drops):.2f} of the words, "
                        f"loses {statistics.fmean(loses):.2f} of the facts, {sum(passed)} of {len(test)}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
