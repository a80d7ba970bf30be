"""Ways to say dates, times, durations and the other facts of a final, in blocks and in sentences."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from mesocosm.generators.canvas_arrange_exam.courses import Zone
from mesocosm.kits import wording
from mesocosm.kits.people import Contact
from mesocosm.kits.wording import Line


class Voice(wording.Voice):
    """One author's way to write down the facts of a final."""

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


def facts_block(voice: Voice, facts: Facts) -> list[Line]:
    """The facts as a list of labelled lines."""
    lines: list[Line] = []
    span = facts.start is not None and facts.duration is not None and voice.chance(0.3)
    if facts.start is not None:
        on, at = voice.start(facts.start, facts.zone, facts.duration if span else None)
        lines += [f"{voice.pick('Date', 'Day')}: {on}", f"{voice.pick('Time', 'Start', 'Start time')}: {at}"]
    if facts.day is not None:
        lines.append(f"{voice.pick('Date', 'Day')}: {voice.date(facts.day)}")
    if facts.time is not None:
        lines.append(f"{voice.pick('Time', 'Start', 'Start time')}: {voice.time(facts.time)}")
    if facts.duration is not None and not span:
        lines.append(f"{voice.pick('Duration', 'Length', 'Working time')}: {voice.duration(facts.duration)}")
    if facts.room is not None:
        lines.append(f"{voice.pick('Room', 'Location', 'Place')}: {facts.room}")
    pending = voice.pick("to be announced", "TBA", "not fixed yet", "will be published later")
    labels = {"date": "Date", "time": "Start", "duration": "Duration", "room": "Room"}
    return lines + [f"{labels[fact]}: {pending}" for fact in facts.pending]


def facts_sentences(voice: Voice, facts: Facts) -> str:
    """The facts in running text."""
    said: list[str] = []
    span = facts.start is not None and facts.duration is not None and voice.chance(0.3)
    if facts.start is not None:
        on, at = voice.start(facts.start, facts.zone, facts.duration if span else None)
        if span:
            said.append(voice.pick(f"It runs {at} on {on}.", f"Please keep {on}, {at}, free."))
        else:
            said.append(
                voice.pick(
                    f"It takes place on {on} at {at}.",
                    f"It begins at {at} on {on}.",
                    f"We meet for it on {on}; the start is at {at}.",
                    f"It is set for {on}, {at}.",
                )
            )
    if facts.day is not None:
        said.append(
            voice.pick(f"The day is {voice.date(facts.day)}.", f"It falls on {voice.date(facts.day)}.")
        )
    if facts.time is not None:
        said.append(
            voice.pick(
                f"It starts at {voice.time(facts.time)}.", f"The start is at {voice.time(facts.time)}."
            )
        )
    if facts.duration is not None and not span:
        length = voice.duration(facts.duration)
        said.append(
            voice.pick(f"It lasts {length}.", f"You have {length} for it.", f"The working time is {length}.")
        )
    if facts.room is not None:
        said.append(
            voice.pick(
                f"The room is {facts.room}.", f"It is held in {facts.room}.", f"Please come to {facts.room}."
            )
        )
    names = {"date": "date", "time": "starting time", "duration": "duration", "room": "room"}
    if facts.pending:
        what = " and the ".join(names[fact] for fact in facts.pending)
        have = "have" if len(facts.pending) > 1 else "has"
        are = "are" if len(facts.pending) > 1 else "is"
        said.append(
            voice.pick(
                f"The {what} {have} not been fixed yet.",
                f"The {what} will be announced later.",
                f"The {what} {are} still open.",
            )
        )
    return " ".join(said).replace("m..", "m.")  # "at 3 p.m." has its full stop already


def named(voice: Voice, who: Contact) -> str:
    """Somebody with the address, as a notice introduces a person."""
    return voice.pick(f"{who.name} ({who.email})", f"{who.name}, {who.email},", f"{who.name} <{who.email}>")
