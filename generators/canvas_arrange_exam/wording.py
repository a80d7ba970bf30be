"""Ways to say dates, times, durations and the other facts of a sitting, in blocks and in sentences."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from mesocosm.generators.canvas_arrange_exam.courses import Course, Zone
from mesocosm.kits import wording
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Said
from mesocosm.kits.wording import Line

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_ORDINALS = ("zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


class Voice(wording.Voice):
    """One author's way to write down the facts of a sitting, in words that were not said before if it can."""

    def __init__(self, rng: random.Random, said: Said) -> None:
        super().__init__(rng)
        self._said = said

    def say(self, templates: Sequence[str], **values: object) -> str:
        """One of some templates, with one of the alternatives in each ``[one|other]``."""
        return self._said.draw(lambda: self._one(templates, values))

    def _one(self, templates: Sequence[str], values: dict[str, object]) -> str:
        text = _CHOICE.sub(lambda found: self.pick(*found[1].split("|")), self.pick(*templates))
        said = text.format(**values)
        return said[0].upper() + said[1:]

    def duration(self, minutes: int) -> str:
        """A length of time, in minutes or in hours."""
        hours, rest = divmod(minutes, 60)
        ways = [f"{minutes} minutes"] * 2
        if rest == 0:
            ways += [
                f"{hours} hours" if hours > 1 else "1 hour",
                {1: "one hour", 2: "two hours", 3: "three hours"}[hours],
            ]
        elif rest == 30:
            ways += [f"{hours}.5 hours", {1: "an hour and a half", 2: "two and a half hours"}[hours]]
            ways += [f"{hours} h 30 min"]
        else:
            ways += [f"{hours} h {rest} min"]
        return self.pick(*ways)

    def start(self, start: dt.datetime, zone: Zone | None, duration: int | None = None) -> tuple[str, str]:
        """Date and time of a start, with the zone if it is not that of the campus.

        With a duration the time is a span, from which the duration follows.
        """
        if duration is None:
            clock = self.time(start.time())
        else:
            end = start + dt.timedelta(minutes=duration)
            dash = self.pick("–", " - ", " to ")
            clock = f"{self.time(start.time())}{dash}{self.time(end.time())}"
        return self.date(start.date()), f"{clock} {zone.label}" if zone else clock


def whom(voice: Voice, course: Course) -> str:
    """The sections that something is about: "Section 3", "the third section", "Sections 2 and 5"."""
    if not course.groups:
        return voice.pick("all sections", "all the sections")
    if len(course.groups) == 1:
        [number] = course.groups
        return voice.pick(
            f"Section {number}",
            f"section {number}",
            f"section {_NUMBERS[number]}",
            f"the {_ORDINALS[number]} section",
        )
    names = [f"{number}" for number in course.groups]
    if voice.chance(0.3):
        names = [_NUMBERS[number] for number in course.groups]
    return f"{voice.pick('Sections', 'sections')} {', '.join(names[:-1])} and {names[-1]}"


def sitting(voice: Voice, course: Course, *, at_home: bool) -> str:
    """The final exam, or what else it is about: of which course (unless on its page) and which sections."""
    noun = f"{course.term} {course.sitting}" if course.term else course.sitting
    group = whom(voice, course)
    if at_home and voice.chance(0.3):
        return voice.pick(f"the {noun} of {group}", f"our {noun} ({group})", f"the {noun} for {group}")
    return voice.pick(
        f"the {noun} in {course.title} ({group})",
        f"the {course.title} {noun} ({group})",
        f"the {noun} of {group} in {course.title}",
        f"the {noun} for {group} of {course.title}",
    )


@dataclass(frozen=True)
class Facts:
    """What one notice says about a sitting; whatever is ``None`` it does not mention."""

    start: dt.datetime | None = None
    """Date and time together, by the clock of ``zone``."""
    zone: Zone | None = None
    """``None``: the clock of the campus."""
    day: dt.date | None = None
    """A date without a time."""
    time: dt.time | None = None
    """A time without a date."""
    duration: int | None = None
    room: str | None = None
    pending: tuple[str, ...] = ()
    """Which of date, time, duration and room it says are not settled."""


_DAY_LABELS, _TIME_LABELS = ("Date", "Day", "On"), ("Time", "Start", "Start time", "From")
_LENGTH_LABELS, _ROOM_LABELS = ("Duration", "Length", "Working time"), ("Room", "Location", "Place", "Where")
_STARTS = (
    "it takes place on {on} at {at}.",
    "it begins at {at} on {on}.",
    "we meet for it on {on}[; the start is at|, starting at|. Work begins at] {at}.",
    "it is set for {on}, {at}.",
    "[please be|everybody should be] there on {on}, {at}.",
    "the papers are handed out on {on} at {at}.",
    "you are expected on {on} at {at}.",
    "keep {on} free; we start at {at}.",
    "we [have|got] the slot of {on}, {at}.",
    "[writing|work] starts at {at} on {on}.",
    "{on}, {at}, is [when you write it|the slot we were given].",
    "it has been given the slot on {on} that [starts|begins] at {at}.",
    "[come|be there] on {on}; [we start|it starts|we begin] at {at}.",
    "the timetable has it on {on}, [starting|beginning] at {at}.",
    "[note|mark] {on} in your calendars; [the start is|it begins] at {at}.",
)
_SPANS = (
    "it runs {at} on {on}.",
    "please keep {on}, {at}, free.",
    "the slot is {at} on {on}.",
    "you write on {on}, {at}.",
    "we have been given {on}, {at}.",
)
_DAYS = (
    "the day is {on}.",
    "it falls on {on}.",
    "it is on {on}.",
    "{on} is the day.",
    "we write on {on}.",
    "the day is to be {on}.",
)
_TIMES = (
    "it starts at {at}.",
    "the start is at {at}.",
    "we begin at {at}.",
    "work starts at {at}.",
    "{at} is when we begin.",
)
_LENGTHS = (
    "it lasts {length}.",
    "you have {length} for it.",
    "the working time is {length}.",
    "{length} is what you [get|are given|have].",
    "[reckon with|you need|allow] {length}.",
    "plan for {length}.",
    "papers are collected after {length}.",
    "you may work for {length}.",
    "it is [meant to take|made for] {length}.",
)
_ROOMS = (
    "the room is {room}.",
    "it is held in {room}.",
    "please come to {room}.",
    "we are in {room}.",
    "{room} has been booked for it.",
    "you will find us in {room}.",
    "[take a seat|find your seat] in {room}.",
    "[we write|it will be] in {room}.",
    "go to {room}.",
    "seats are set up in {room}.",
    "we were given {room}.",
)
_PENDING = (
    "the {what} {have} not been fixed yet.",
    "the {what} will be announced later.",
    "the {what} {are} still open.",
    "as for the {what}, nothing has been settled.",
    "nobody can tell you the {what} yet.",
    "we are still waiting for the {what}.",
)


def facts_block(voice: Voice, facts: Facts) -> list[Line]:
    """The facts as a list of labelled lines."""
    lines: list[Line] = []
    span = facts.start is not None and facts.duration is not None and voice.chance(0.3)
    if facts.start is not None:
        on, at = voice.start(facts.start, facts.zone, facts.duration if span else None)
        lines += [f"{voice.pick(*_DAY_LABELS)}: {on}", f"{voice.pick(*_TIME_LABELS)}: {at}"]
    if facts.day is not None:
        lines.append(f"{voice.pick(*_DAY_LABELS)}: {voice.date(facts.day)}")
    if facts.time is not None:
        lines.append(f"{voice.pick(*_TIME_LABELS)}: {voice.time(facts.time)}")
    if facts.duration is not None and not span:
        lines.append(f"{voice.pick(*_LENGTH_LABELS)}: {voice.duration(facts.duration)}")
    if facts.room is not None:
        lines.append(f"{voice.pick(*_ROOM_LABELS)}: {facts.room}")
    pending = voice.pick("to be announced", "TBA", "not fixed yet", "will be published later", "still open")
    labels = {"date": "Date", "time": "Start", "duration": "Duration", "room": "Room"}
    return lines + [f"{labels[fact]}: {pending}" for fact in facts.pending]


def facts_sentences(voice: Voice, facts: Facts) -> str:
    """The facts in running text."""
    said: list[str] = []
    span = facts.start is not None and facts.duration is not None and voice.chance(0.3)
    if facts.start is not None:
        on, at = voice.start(facts.start, facts.zone, facts.duration if span else None)
        said.append(voice.say(_SPANS if span else _STARTS, on=on, at=at))
    if facts.day is not None:
        said.append(voice.say(_DAYS, on=voice.date(facts.day)))
    if facts.time is not None:
        said.append(voice.say(_TIMES, at=voice.time(facts.time)))
    if facts.duration is not None and not span:
        said.append(voice.say(_LENGTHS, length=voice.duration(facts.duration)))
    if facts.room is not None:
        said.append(voice.say(_ROOMS, room=facts.room))
    if facts.pending:
        names = {"date": "date", "time": "starting time", "duration": "duration", "room": "room"}
        many = len(facts.pending) > 1
        said.append(
            voice.say(
                _PENDING,
                what=" and the ".join(names[fact] for fact in facts.pending),
                have="have" if many else "has",
                are="are" if many else "is",
            )
        )
    return " ".join(said).replace("m..", "m.")  # "at 3 p.m." has its full stop already


def named(voice: Voice, who: Contact) -> str:
    """Somebody with the address, as a notice introduces a person."""
    return voice.pick(f"{who.name} ({who.email})", f"{who.name}, {who.email},", f"{who.name} <{who.email}>")
