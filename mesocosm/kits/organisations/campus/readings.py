"""Blind readings: what people made out who saw only the thread and the lists, beside what it was meant to
say.

A *sheet* has castings of scenes with the lists and what held before, and asks what happened; readers
answer in a few words (``CODES``). Their answers are kept as they were given, not the truth:
``readings.txt`` beside the scenes, by scene and casting, with a digest of what was read, so that a
reading of a text that has changed since is no reading any more.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from mesocosm.kits.organisations.campus.rehearsal import Rehearsal, rehearse
from mesocosm.kits.organisations.events import Event
from mesocosm.kits.organisations.people import Person
from mesocosm.kits.organisations.scenes import Scene

CODES: Mapping[str, str] = {
    "deadline": "deadline MOMENT",
    "deadline_moved": "deadline MOMENT",
    "submitted": "in WHO",
    "draft": "draft WHO",
    "wrong_file": "wrong WHO",
    "no_file": "lacking WHO",
    "retracted": "back WHO",
    "extended": "until MOMENT WHO",
    "refused": "refused WHO",
    "excused": "excused WHO",
    "excuse_withdrawn": "unexcused WHO",
    "dropped": "left WHO",
    "reinstated": "again WHO",
    "claimed": "claim",
    "other_work": "other",
    "nothing": "",
    "exam_set": "exam MOMENT",
    "exam_moved": "exam MOMENT",
    "room_changed": "room PLACE",
    "length_changed": "length MINUTES",
    "books_set": "books YES",
    "examiner_set": "examiner NAME",
    "exempted": "exempt",
    "exemption_withdrawn": "unexempt",
    "cancelled": "off",
    "swapped": "exam MOMENT",
    "swap_refused": "refused",
    "optional": "optional YES",
    "hearsay": "claim",
    "other_exam": "nothing",
}
"""How readers write down an event of each kind; capital words stand for what they make out."""
_CASTINGS = 3
_UNREAD = {"when", "notice", "spread", "split", "path", "line"}
"""Fields of a scene that change nothing of what readers see."""
EXPLAINED = """\
You see threads of mails, as somebody reads them who has the lists beside them. Write down for each thread
what each message that settles something says in the end: a short code each, in order, parted by "; ".
Write nothing for what is only asked, wished, joked or small talk, nor for what held before and is only
repeated. MOMENT is YYYY-MM-DD HH:MM, WHO a first name (two: "Ann+Bob").

Handing in (slides of a presentation, to the assistant)
  in WHO         the finished slides are handed in with this message (or a colleague says that they have them)
  draft WHO      a file for advice that is not to be counted
  wrong WHO      a file that is not the slides
  lacking WHO    a mail as if handing in, and nothing is attached
  back WHO       what was handed in is taken back
  other WHO      other coursework is handed in
  claim          a student says that somebody need not hand in, has left or has more time, and nobody with
  authority
                 (professor, secretary) says so
Decisions
  deadline MOMENT       for the whole class
  until MOMENT WHO      more time for one
  refused WHO           no more time
  excused WHO           need not present;  unexcused WHO  that is taken back
  left WHO              has left the course;  again WHO  is in it again
Exams (of me)
  exam MOMENT    when it is, as set, moved or swapped (exam open: the time is still open)
  room PLACE;  length MINUTES;  books yes;  books no
  examiner NAME  somebody else gives or takes it (full name)
  exempt;  unexempt
  off            it is cancelled;  on  it takes place after all, as before (on MOMENT: at a new time)
  optional yes   I may stay away;  optional no  it does not apply to me
  refused        a swap that is not allowed
  claim          hearsay of a fellow student
  nothing        it is about another exam or section
"""


@dataclass(frozen=True)
class Item:
    """A thread to be read."""

    id: str
    digest: str
    text: str
    meant: str
    """What it was meant to say: not shown to readers."""
    scene: Scene


def items(scenes: Iterable[Scene], castings: int = _CASTINGS) -> Iterator[Item]:
    """Yield castings of all scenes that tell something, each with what held before."""
    for scene in scenes:
        if scene.story.startswith("everyday"):
            continue
        levels = ("referring", "described", "referring")
        wording = scene.model_dump_json(exclude=_UNREAD, fallback=_shown)
        found = list(rehearse(scene, levels, seeds=8))[:castings]
        for number, casting in enumerate(found):
            meant = _meant(casting)
            digest = hashlib.sha256(f"{wording}\n{meant}".encode()).hexdigest()[:10]
            yield Item(f"{scene.name}.{number}", digest, _thread(casting), meant, scene)


def _shown(value: object) -> str:
    """A condition as it is written."""
    return getattr(value, "text", "")


def _thread(casting: Rehearsal) -> str:
    """The thread with what a reader has beside it."""
    lines = []
    about = casting.letters[0].about
    held = _held(casting)
    if held:
        lines.append(f"(before: {held})")
    topics = [f"{who.first} {who.last}: {topic}" for who, topic in about.topic.items() if topic]
    named = [one for letter in casting.letters for one in letter.references if one.by == ("topic",)]
    if named:
        lines.append(f"(talks: {'; '.join(topics)})")
    if any(telling.event.kind == "examiner_set" for letter in casting.letters for telling in letter.tellings):
        lines.append(f"(teachers: {', '.join(who.full for who in casting.campus.instructors)})")
    for letter in casting.letters:
        copied = f", cc {letter.cc.full}" if letter.cc else ""
        file = f" [file: {letter.file}]" if letter.file else " [no file]" if letter.channel == "mail" else ""
        role = {"assistant": "assistant", "student": "student"}.get(letter.sender.role, letter.sender.role)
        me = " = me" if letter.sender is casting.me else ""
        lines.append(
            f"[{letter.at:%a %Y-%m-%d %H:%M}] {letter.channel}: {letter.sender.full} ({role}{me}) to "
            f"{letter.to.full}{copied} | {letter.subject}{file}"
        )
        lines.append("  " + letter.body.replace("\n\n", " / ").replace("\n", " / "))
    return "\n".join(lines)


def _held(casting: Rehearsal) -> str:
    """What was known before, where something is relative to it."""
    known: list[str] = []
    for letter in casting.letters:
        for telling in letter.tellings:
            event = telling.event
            first = event.follows if event.follows is not None and event.follows.kind == event.kind else event
            if event.kind in ("exam_moved", "swapped", "swap_refused") and first.old_start:
                known.append(f"exam {first.old_start:%Y-%m-%d %H:%M}")
            if event.kind in ("room_changed", "length_changed"):
                known.append(f"room {event.old_room}" if event.old_room else f"length {event.old_length}")
            if event.kind == "reinstated" and "start" in event.values and event.start is None:
                known.append("exam as set before")
            if event.kind == "extended" and event.due and event.span:
                known.append(f"deadline {event.due - event.span:%Y-%m-%d %H:%M}")
    return "; ".join(dict.fromkeys(known[:2]))


def _meant(casting: Rehearsal) -> str:
    found: list[str] = []
    seen: set[str] = set()
    for letter in casting.letters:
        for telling in letter.tellings:
            event = telling.event
            if event.id in seen:
                continue
            seen.add(event.id)
            said = _code(event)
            if said:
                found.append(said)
    return "; ".join(found)


def _code(event: Event) -> str:
    who = "+".join(sorted(one.first for one in event.people))
    match event.kind:
        case "asked" | "nothing":
            return ""
        case "deadline" | "deadline_moved":
            return f"deadline {event.due:%Y-%m-%d %H:%M}"
        case "extended":
            return f"until {event.due:%Y-%m-%d %H:%M} {who}"
        case "exam_set":
            start = "open" if event.open == "time" else f"{event.start:%Y-%m-%d %H:%M}"
            room = "" if event.open == "room" else f"; room {event.room}"
            return f"exam {start}{room}; length {event.length}"
        case "exam_moved" | "swapped":
            return f"exam {event.start:%Y-%m-%d %H:%M}"
        case "reinstated" if event.people and event.people[0].role == "student" and "start" in event.values:
            return f"on {event.start:%Y-%m-%d %H:%M}" if event.start else "on"
        case "room_changed":
            return f"room {event.room}"
        case "length_changed":
            return f"length {event.length}"
        case "books_set":
            return f"books {'yes' if event.allowed else 'no'}"
        case "examiner_set":
            assert isinstance(event.who, Person)
            return f"examiner {event.who.full}"
        case "optional":
            return f"optional {'yes' if event.applies else 'no'}"
    code = CODES[event.kind].split(" ")[0]
    return f"{code} {who}" if CODES[event.kind].endswith("WHO") else code


def agrees(meant: str, read: str) -> bool:
    """True if a reading says what was meant: the same codes in the same order, whatever the blanks."""
    return _normal(meant) == _normal(read)


def _normal(text: str) -> list[str]:
    """The codes, in small letters; of several people, and of what is set together, the order does not
    matter."""
    parts = [re.sub(r"\s+", " ", part.strip().lower()) for part in text.split(";")]
    found: list[str] = []
    for part in parts:
        # Whether somebody takes what decides nothing for a claim or for small talk makes no difference.
        if not part or part in ("nothing", "claim", "-"):
            continue
        if part.startswith("other "):
            part = "other"  # whose it is does not matter
        *words, last = part.split(" ")
        part = " ".join([*words, "+".join(sorted(last.split("+")))])
        # When, where and how long an exam is are told together.
        if part.startswith(("room", "length")) and found and found[-1].startswith("exam "):
            found[-1] = " & ".join(sorted([*found[-1].split(" & "), part]))
        else:
            found.append(part)
    return found


@dataclass(frozen=True)
class Kept:
    """The answers to one thread, by reader."""

    digest: str
    answers: Mapping[str, str]


def read_kept(path: Path) -> dict[str, Kept]:
    """Return the readings of a file, by the ids of their items; none where there is no file."""
    if not path.is_file():
        return {}
    data = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    return {
        key: Kept(str(one["text"]), {name: str(said or "") for name, said in one.items() if name != "text"})
        for key, one in data.items()
    }


def parse_answers(text: str) -> dict[str, str]:
    """Return answers by their items: lines such as ``laundry_room.0 | in Maya``."""
    found = {}
    for line in text.splitlines():
        key, parted, said = line.partition("|")
        if parted and re.fullmatch(r"[\w.]+", key.strip()):
            found[key.strip()] = said.strip()
    return found


@dataclass(frozen=True)
class Agreement:
    """How far readings say what was meant."""

    read: int
    agreed: int
    unread: Sequence[str]
    """Items that nobody has read, or not since their text changed."""
    misread: Sequence[tuple[str, str, str]]
    """Item, what was meant, what was read."""

    @property
    def share(self) -> float:
        """The share of the readings that agree."""
        return self.agreed / self.read if self.read else 0.0


def agreement(found: Iterable[Item], kept: Mapping[str, Kept], least: int = 2) -> Agreement:
    """Compare items with the readings that are kept of them."""
    read = agreed = 0
    unread, misread = [], []
    for item in found:
        one = kept.get(item.id)
        if one is None or one.digest != item.digest or len(one.answers) < least:
            unread.append(item.id)
            continue
        for said in one.answers.values():
            read += 1
            if agrees(item.meant, said):
                agreed += 1
            else:
                misread.append((item.id, item.meant, said))
    return Agreement(read, agreed, unread, misread)


def keep(path: Path, found: Iterable[Item], answers: Mapping[str, Mapping[str, str]]) -> None:
    """Write down the answers of readers (by name, then by item), beside those that still hold."""
    before = read_kept(path)
    data = {}
    for item in found:
        old = before.get(item.id)
        said = dict(old.answers) if old and old.digest == item.digest else {}
        said |= {name: given[item.id] for name, given in answers.items() if item.id in given}
        if said:
            data[item.id] = {"text": item.digest, **said}
    path.write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=110), encoding="utf-8")
