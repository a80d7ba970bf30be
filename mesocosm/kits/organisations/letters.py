"""Telling: messages are written from what was cast, in order of time, and each fact keeps how it was said."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from mesocosm.kits.organisations import moments
from mesocosm.kits.organisations.casting import Cast, Line, Said
from mesocosm.kits.organisations.events import Event
from mesocosm.kits.organisations.moments import Level
from mesocosm.kits.organisations.people import BY_DAY, BY_NAME, Person
from mesocosm.kits.organisations.referring_expressions import Reference
from mesocosm.kits.organisations.scenes import SLOT

_APART = 0.35
_SIGNED = 0.55
_SENTENCE = re.compile(r"(?<=[.?!] )[a-z]")
_MOMENTS = ("due", "start", "old_start")
_STOPS = re.compile(r"\b([ap]\.m)\.\.")


@dataclass(frozen=True)
class ToldValue:
    """A value as a text states it."""

    field: str
    """Of the event: ``due``, ``start``, ``room`` ..."""
    form: Literal["moment", "day", "time", "shift", "span", "length", "words"]
    expression: str


@dataclass(frozen=True)
class Telling:
    """A beat that tells an event, with the positions that identify the thing and the value."""

    event: Event
    level: str
    span: str
    """The text, as it stands in the message."""
    references: tuple[Reference, ...]
    values: tuple[ToldValue, ...]
    matters: bool = True
    """True if the question of the task is about it."""


@dataclass
class Letter:
    """A message as it is delivered."""

    key: str
    channel: str
    sender: Person
    to: Person
    cc: Person | None
    at: dt.datetime
    """Local, without a zone."""
    subject: str
    body: str
    file: str | None
    answers: Letter | None
    cast: Cast
    about: Any = None
    """Subject of the story: its role ``c``."""
    tellings: list[Telling] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    """All that the message refers to, facts or not."""
    earlier: tuple[Letter, ...] = ()
    """Earlier letters of the scene, latest first."""
    stated: list[tuple[Event, ToldValue]] = field(default_factory=list)
    """All values of events that it states, told there or not."""
    called: dict[tuple[Any, str], tuple[str, Reference]] = field(default_factory=dict)
    """References used for things at a level, so that a message uses the same one throughout."""
    named: frozenset[Person] = frozenset()
    """The people that it names."""
    moments: tuple[dt.datetime, ...] = ()
    """The day on which it is sent, and what it may name."""

    @property
    def thread(self) -> list[Letter]:
        """The messages that it answers, the nearest first."""
        found, letter = [], self.answers
        while letter is not None:
            found.append(letter)
            letter = letter.answers
        return found

    @property
    def opening(self) -> Letter:
        """The first message of its thread."""
        return self.thread[-1] if self.answers else self


class Speaker(Protocol):
    """Names for the things of a domain."""

    def person(
        self, who: Person, writer: Person, reader: Person, about: Any, level: Level
    ) -> tuple[str, Reference]:
        """Return a writer's way to refer to somebody."""

    def named(self, who: Person, form: str, about: Any) -> tuple[str, Reference | None]:
        """A form that a scene asks for: full, first, id, topic ..."""

    def thing(
        self,
        what: Any,
        writer: Person,
        reader: Person,
        level: Level,
        rng: random.Random,
        named: frozenset[Person],
        habit: str,
        moments: Collection[dt.datetime],
    ) -> tuple[str, Reference]:
        """Return a writer's way to refer to a thing by habit, in a message that also names these people and
        moments.
        """

    def other(self, writer: Person, reader: Person, about: Any, rng: random.Random) -> Any:
        """Draw a thing that a writer may mention beside what a message is about; None if there is none."""

    def smoothed(self, text: str) -> str:
        """Return a text with the prepositions that go with the names in it."""

    def around(self, about: Any) -> list[Person]:
        """Return those who have to do with a thing."""


class LetterTeller:
    """Writes the messages of casts.

    Args:
        speaker: Calls things by their names.
        stream: Draws; a cast's letters have a stream of their own.
    """

    def __init__(self, speaker: Speaker, stream: Any) -> None:
        self._speaker, self._stream = speaker, stream

    def write(self, casts: Iterable[Cast], until: dt.datetime) -> list[Letter]:
        """Write all messages that were sent before a moment, in order of time."""
        queue = sorted(
            ((line.at, cast.number, number) for cast in casts for number, line in enumerate(cast.lines)),
        )
        by_number = {cast.number: cast for cast in casts}
        written: dict[tuple[int, str], Letter] = {}
        letters: list[Letter] = []
        for at, number, index in queue:
            cast = by_number[number]
            line = cast.lines[index]
            if at >= until or (line.message.re and (number, line.message.re) not in written):
                continue
            letter = self._letter(cast, line, index, written)
            written[number, line.message.id] = letter
            letters.append(letter)
        return letters

    def _letter(self, cast: Cast, line: Line, index: int, written: dict[tuple[int, str], Letter]) -> Letter:
        roles, message = cast.story.roles, line.message
        rng = self._stream(f"letter:{cast.number}:{index}")
        sender, to = roles[message.from_], roles[message.to]
        answers = written.get((cast.number, message.re)) if message.re else None
        letter = Letter(
            key=f"{cast.number}.{index}",
            channel=line.channel,
            sender=sender,
            to=to,
            cc=self._copied(roles, message.cc, sender, to),
            at=line.at,
            subject="",
            body="",
            file=file_name(message.file, sender, rng) if message.file else None,
            answers=answers,
            cast=cast,
            earlier=tuple(one for (of, _), one in reversed(written.items()) if of == cast.number),
            about=roles.get("c"),
        )
        texts = [(line.subject, roles), *((said.text, said.story.roles) for said in line.beats)]
        letter.named = frozenset(
            who
            for text, of in texts
            for name, who in of.items()
            if isinstance(who, Person) and re.search(rf"<{name}\b|\b{who.role}\b", text)
        )
        letter.moments = (
            letter.at.replace(hour=0),
            *(
                moment
                for text, of in texts
                for name, event in of.items()
                if isinstance(event, Event)
                for field in _MOMENTS
                if re.search(rf"<{name}\.{field}\b", text) and (moment := getattr(event, field))
            ),
        )
        parts = [(self._beat(letter, said, rng), said.notice) for said in line.beats]
        if answers is None:
            level: Level = "explicit" if cast.level == "explicit" else "described"
            letter.called.clear()
            letter.subject, references, _ = self._filled(line.subject, letter, roles, level, rng, typed=True)
            letter.references += references
        else:
            letter.subject = (
                answers.subject if answers.subject.startswith("Re: ") else f"Re: {answers.subject}"
            )
        letter.body = _assembled(letter, parts, rng)
        return letter

    def _copied(self, roles: Any, named: str | None, sender: Person, to: Person) -> Person | None:
        """Return the recipient of a copy: the mailbox's owner, who reads everything; else the scene's
        choice.
        """
        other: Person | None = roles[named] if named else None
        if roles["me"] not in (sender, to):
            other = roles["me"]
        return None if other in (sender, to) else other

    def _beat(self, letter: Letter, line: Said, rng: random.Random) -> str:
        roles, beat = line.story.roles, line.beat
        level: Level = line.level  # type: ignore[assignment]
        said, references, values = self._filled(line.text, letter, roles, level, rng)
        letter.references += references
        if beat.tell is not None:
            event, matters = roles[beat.tell], line.story.matters
            letter.tellings.append(Telling(event, level, said, tuple(references), tuple(values), matters))
        return said

    def _filled(
        self,
        text: str,
        letter: Letter,
        roles: Mapping[str, Any],
        level: Level,
        rng: random.Random,
        *,
        typed: bool = False,
    ) -> tuple[str, list[Reference], list[ToldValue]]:
        """Fill the slots; a subject stays as it was typed."""
        references: list[Reference] = []
        values: list[ToldValue] = []

        def fill(found: re.Match[str]) -> str:
            said = self._slot(found[1], letter, roles, level, rng, references, values, typed=typed)
            start = found.start()
            begins = start == 0 or text[:start].rstrip(" \"'(").endswith((".", "?", "!"))
            return said[:1].upper() + said[1:] if begins and not typed else said

        said = self._speaker.smoothed(_STOPS.sub(r"\1.", SLOT.sub(fill, text)))
        return said, references, values

    def _slot(
        self,
        slot: str,
        letter: Letter,
        roles: Mapping[str, Any],
        level: Level,
        rng: random.Random,
        references: list[Reference],
        values: list[ToldValue],
        *,
        typed: bool,
    ) -> str:
        if slot == "exam":
            return str(roles["exam"])
        name, _, form = slot.partition(".")
        thing = roles[name]
        if isinstance(thing, Event):
            return self._value(thing, form, letter, roles, level, references, values)
        reference: Reference | None
        if isinstance(thing, Person):
            if form in ("he", "him", "his", "himself"):
                return str(getattr(thing, form))
            if form:
                said, reference = self._speaker.named(thing, form, roles.get("c"))
            else:
                said, reference = self._speaker.person(thing, letter.sender, letter.to, roles.get("c"), level)
        elif form:
            return str(getattr(thing, form))
        else:
            known = (thing, "explicit" if level == "explicit" else "described")
            if known not in letter.called:
                letter.called[known] = self._speaker.thing(
                    thing,
                    letter.sender,
                    letter.to,
                    level,
                    rng,
                    letter.named,
                    self._habit(letter, thing, typed),
                    letter.moments,
                )
            said, reference = letter.called[known]
        if reference is not None:
            references.append(reference)
        return said

    @staticmethod
    def _habit(letter: Letter, thing: Any, typed: bool) -> str:
        """Return how a message calls a thing: by its name in a subject and on the page of a thing.

        Of two things in a mail one is described: neither form tells what the mail is about. A bulletin calls
        all things the same way.
        """
        habit = letter.cast.habit
        if typed or letter.channel != "mail":
            return BY_NAME
        if thing is letter.about:
            return habit
        return BY_DAY if habit == BY_NAME else BY_NAME

    def _value(
        self,
        event: Event,
        form: str,
        letter: Letter,
        roles: Mapping[str, Any],
        level: Level,
        references: list[Reference],
        values: list[ToldValue],
    ) -> str:
        name, _, part = form.partition(".")
        value = getattr(event, name)
        if isinstance(value, Person):
            if part in ("he", "him", "his"):
                return str(getattr(value, part))
            said, reference = (
                self._speaker.named(value, part, roles.get("c"))
                if part
                else self._speaker.person(value, letter.sender, letter.to, roles.get("c"), level)
            )
            if reference is not None:
                references.append(reference)
            values.append(ToldValue(name, "words", said))
            letter.stated.append((event, values[-1]))
            return said
        if value is None:
            raise ValueError(f"{letter.cast.scene.name}: <{form}>: the event {event.kind} has none")
        plain: Level = "explicit" if level == "explicit" else "described"
        match name, part:
            case (("due" | "start" | "old_start"), ""):
                said, kind = moments.moment_in_words(value, letter.at, plain), "moment"
            case _, "day":
                said, kind = moments.day_in_words(value.date(), letter.at, plain), "day"
            case _, "time":
                said, kind = moments.time_in_words(value.time(), plain), "time"
            case "shift", _:
                said, kind = moments.shift_in_words(value), "shift"
            case "span", _:
                said, kind = moments.span_in_words(value), "span"
            case (("length" | "old_length"), _):
                said, kind = moments.length_in_words(value), "length"
            case _:
                said, kind = str(value), "words"
        values.append(ToldValue(name, kind, said))  # type: ignore[arg-type]
        letter.stated.append((event, values[-1]))
        return said


def _assembled(letter: Letter, parts: Sequence[tuple[str, bool]], rng: random.Random) -> str:
    """The text with greeting and name, in paragraphs; each part with True if it must begin one."""
    sender, to = letter.sender, letter.to
    body = parts[0][0]
    for part, begins in parts[1:]:
        body += ("\n\n" if begins or rng.random() < _APART else " ") + part
    if letter.channel == "announcement":
        return body
    if letter.answers is None or rng.random() < sender.greets:
        called = to.called_by(sender)
        # Nobody says "Hey" to somebody with a title.
        greeting = sender.greeting if called == to.first else sender.greeting.replace("Hey", "Hi")
        body = f"{greeting.format(called)}\n\n{body}"
    if letter.answers is None or rng.random() < _SIGNED:
        name = sender.first
        if sender.staff and to.role == "student":
            name = sender.full if letter.answers is None else f"{sender.first[0]}. {sender.last}"
        # Who has just said thanks does not close with it.
        signature = "{0}" if "hank" in body[-60:] and "hank" in sender.signature else sender.signature
        body += f"\n\n{signature.format(name)}"
    return body


_STEMS = {
    "slides": (
        "slides",
        "talk",
        "presentation",
        "talk_final",
        "final2",
        "deck",
        "version3",
        "untitled",
        "export",
    ),
    "paper": (
        "essay",
        "paper",
        "notes",
        "reading_notes",
        "text",
        "draft_b",
        "page1-6",
        "untitled2",
        "final_text",
    ),
    "sheet": ("sheet", "numbers", "homework", "table", "lab", "results", "copy_of_sheet", "data_new"),
    "photo": ("scan_2041", "photo", "scan", "scan0193", "picture", "photo2"),
    "form": ("form", "form_2", "scan_form", "document", "letter"),
}
_ENDINGS = {
    "slides": (".pdf", ".odp"),
    "paper": (".pdf", ".odt"),
    "sheet": (".pdf",),
    "photo": (".pdf",),
    "form": (".pdf",),
}


def file_name(kind: str, sender: Person, rng: random.Random) -> str:
    """Draw a neutral name for an attached file, as people write them."""
    stem = rng.choice((*_STEMS[kind], sender.last.lower(), f"{sender.first.lower()}_{rng.randint(1, 9)}"))
    return f"{stem}{rng.choice(_ENDINGS[kind])}"
