"""Derivations: how each fact follows from what an agent is given, step by step; checked without the truth.

A derivation says which delivered text tells a fact, who and what is meant there and by which words, and
which words
state the value. The check reads the words again: it finds the text in the survey's results, looks for
everything that
could be meant, works the value out, and makes the event anew. The question of the task, asked of the events
so made,
must have the same answer as before.
"""

from __future__ import annotations

import datetime as dt
import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import orjson
from pydantic import BaseModel, ConfigDict

from mesocosm.kits.organisations import moments
from mesocosm.kits.organisations.delivery import delivered_text
from mesocosm.kits.organisations.events import Event
from mesocosm.kits.organisations.letters import Letter, Telling, ToldValue
from mesocosm.kits.organisations.people import Person
from mesocosm.kits.organisations.referring_expressions import Reference


class DerivationStep(BaseModel):
    """One expression of a text, and what it comes to."""

    model_config = ConfigDict(frozen=True)

    text: str
    """Key of the message in which it stands."""
    expression: str
    """The words; ``from`` or ``to`` where the header says it."""
    kind: str
    """person, thing, or the form of a value: moment, day, time, shift, span, length, words."""
    by: tuple[str, ...] = ()
    """Attributes by which a person or a thing is meant."""
    field: str = ""
    """The field of the event that a value is for."""
    sender: str = ""
    to: str = ""
    """Between whom it was said: what they share is what it can mean."""
    written: dt.datetime = dt.datetime.min
    """When: what "tomorrow" is depends on it."""


class Derivation(BaseModel):
    """Derivation of one event from delivered texts."""

    model_config = ConfigDict(frozen=True)

    kind: str
    """The kind of the event, as readers of the beat agree (see the readings of its scene)."""
    event: str
    """The id of the event."""
    scene: str
    level: str
    text: str
    """Key of the message."""
    channel: str
    written: dt.datetime
    says: str
    """The span that tells it, as it stands in the message."""
    about: DerivationStep | None
    """Step that says which thing is meant, in this message or one that it answers; ``None`` on its own
    page."""
    page: str = ""
    """The code of the thing on whose page it stands."""
    people: tuple[DerivationStep, ...] = ()
    values: tuple[DerivationStep, ...] = ()
    given: dict[str, Any] = {}
    """Parameters from the kind of beat: allowed or not, applies or not."""

    @property
    def shown(self) -> str:
        """The derivation in a few lines, as people read it."""
        lines = [f"{self.written:%Y-%m-%d %H:%M} {self.channel}, scene {self.scene}: {self.kind}"]
        lines.append(f"  says: {self.says}")
        if self.about is not None:
            by = ", ".join(self.about.by)
            lines.append(f"  about: {self.about.expression!r} in message {self.about.text}, by its {by}")
        elif self.page:
            lines.append(f"  about: {self.page}, on whose page it stands")
        for step in self.people:
            how = f", by {', '.join(step.by)}" if step.by else ""
            lines.append(f"  who: {step.expression!r} in message {step.text}{how}")
        for step in self.values:
            day = f"{step.written:%a %Y-%m-%d}"
            lines.append(f"  {step.field}: {step.expression!r} ({step.kind}), written {day}")
        return "\n".join(lines)


GIVEN = ("allowed", "applies", "open", "adopts", "later")
"""Fields of events that no words of a slot state: the beat does as a whole."""


def derivation(letter: Letter, telling: Telling) -> Derivation:
    """Write down how a telling is to be understood."""
    event = telling.event
    page = letter.about.code if letter.channel != "mail" and letter.about is not None else ""
    people = tuple(_person(letter, telling, who) for who in event.people)
    values = []
    for value in telling.values:
        if value.field.startswith("old_"):
            continue
        values.append(_value(letter, value, telling.references))
    known = {step.field for step in values}
    known |= {"start", "due"} if known & {"shift", "span"} else set()
    # What was said of it before, in the message or in the scene, need not be said again.
    for one in (letter, *letter.earlier):
        for of, value in one.stated:
            if (
                of is event
                and value.field not in known
                and value.form not in ("shift", "span")
                and not value.field.startswith("old_")
            ):
                known.add(value.field)
                values.append(_value(one, value, one.references))
    return Derivation(
        kind=event.kind,
        event=event.id,
        scene=letter.cast.scene.name,
        level=telling.level,
        text=letter.key,
        channel=letter.channel,
        written=letter.at,
        says=telling.span,
        about=_about(letter, event.about),
        page=page,
        people=people,
        values=tuple(values),
        given={name: event.values[name] for name in GIVEN if name in event.values},
    )


def _value(letter: Letter, value: ToldValue, references: Iterable[Reference]) -> DerivationStep:
    """A value as a message states it; a person by what the words refer to."""
    meant = next(
        (one for one in references if one.kind == "person" and one.expression == value.expression), None
    )
    kind, by = ("person", meant.by) if meant and value.form == "words" else (value.form, ())
    return _step(letter, value.expression, kind, by, value.field)


def _about(letter: Letter, meant: Any) -> DerivationStep | None:
    """The nearest mention of the thing: in the message, in those it answers, in their subjects."""
    for one in (letter, *letter.thread):
        for reference in one.references:
            if reference.kind == "thing" and reference.key == getattr(meant, "code", None):
                return _step(one, reference.expression, "thing", reference.by)
    return None


def _person(letter: Letter, telling: Telling, who: Person) -> DerivationStep:
    """Return the step that identifies a person: the header, the telling, the message, or one it answers."""
    me = letter.cast.story.roles["me"]
    for reference in (*telling.references, *letter.references):
        if reference.kind == "person" and reference.key == who.email:
            return _step(letter, reference.expression, "person", reference.by)
    if letter.sender is who:
        return _step(letter, "from", "person")
    if letter.to is who:
        return _step(letter, "to", "person")
    for one in letter.thread:
        for reference in one.references:
            if reference.kind == "person" and reference.key == who.email:
                return _step(one, reference.expression, "person", reference.by)
        if who in (one.sender, one.to):
            return _step(one, "from" if one.sender is who else "to", "person")
    return _step(letter, "owner" if who is me else "", "person")


def _step(
    letter: Letter, expression: str, kind: str, by: tuple[str, ...] = (), field: str = ""
) -> DerivationStep:
    return DerivationStep(
        text=letter.key,
        expression=expression,
        kind=kind,
        by=by,
        field=field,
        sender=letter.sender.email,
        to=letter.to.email,
        written=letter.at,
    )


class Directory(Protocol):
    """Directory of people and things as the services show them, for evaluating expressions."""

    @property
    def people(self) -> Mapping[str, Person]:
        """Everybody, by address."""

    def person(self, step: DerivationStep, about: Any) -> list[Person]:
        """Everybody that an expression can mean."""

    def things(self, step: DerivationStep) -> list[Any]:
        """Every thing that an expression can mean."""

    def thing_of(self, code: str) -> Any:
        """The thing with a code."""


class Rereading:
    """Recomputes events from derivations, and records what cannot be followed."""

    def __init__(
        self, derivations: Sequence[Derivation], directory: Directory, held: Mapping[str, str]
    ) -> None:
        self._derivations, self._directory, self._held = derivations, directory, held
        self.faults: list[str] = []

    def events(self) -> list[Event]:
        """Return the events as a reader makes them out, in order of time."""
        made: list[Event] = []
        seen: set[str] = set()
        for one in sorted(self._derivations, key=lambda one: (one.written, one.text)):
            if one.event in seen:
                continue  # told once more
            seen.add(one.event)
            about = self._about(one)
            if about is None:
                continue
            people = [who for step in one.people if (who := self._person(one, step, about)) is not None]
            before = [event for event in made if event.about is about]
            values = self._values(one, about, before)
            made.append(
                Event(
                    one.kind,
                    one.written,
                    about,
                    tuple(people),
                    {**one.given, "via": one.channel, **values},
                    id=one.event,
                )
            )
        return made

    def _fault(self, one: Derivation, what: str) -> None:
        self.faults.append(f"{one.scene}: message {one.text}: {one.kind}: {what}")

    def _about(self, one: Derivation) -> Any:
        if one.about is None:
            if not one.page:
                self._fault(one, "nothing in the thread says what it is about")
                return None
            return self._directory.thing_of(one.page)
        if not self._stands(one.about):
            self._fault(one, f"{one.about.expression!r} does not stand in message {one.about.text}")
        found = self._directory.things(one.about)
        if len(found) != 1:
            self._fault(one, f"{one.about.expression!r} can mean {', '.join(map(str, found)) or 'nothing'}")
            return None
        return found[0]

    def _person(self, one: Derivation, step: DerivationStep, about: Any) -> Person | None:
        if step.expression == "":
            self._fault(one, "nothing says who is meant")
            return None
        if step.by and not self._stands(step):
            self._fault(one, f"{step.expression!r} does not stand in message {step.text}")
        found = self._directory.person(step, about)
        if len(found) != 1:
            self._fault(
                one, f"{step.expression!r} can mean {', '.join(who.full for who in found) or 'nobody'}"
            )
            return None
        return found[0]

    def _stands(self, step: DerivationStep) -> bool:
        return step.expression.lower() in self._held.get(step.text, "").lower()

    def _values(self, one: Derivation, about: Any, before: Sequence[Event]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        if one.says.lower() not in self._held.get(one.text, "").lower():
            self._fault(one, f"{one.says[:60]!r} is not what the message says")
        try:
            for step in one.values:
                if not self._stands(step):
                    self._fault(one, f"{step.expression!r} does not stand in message {step.text}")
                if step.kind == "person":
                    values[step.field] = self._person(one, step, about)
                else:
                    values |= self._value(one, step, before, values)
        except moments.UnreadableMoment as error:
            self._fault(one, str(error))
        return values

    def _value(
        self, one: Derivation, step: DerivationStep, before: Sequence[Event], known: Mapping[str, Any]
    ) -> dict[str, Any]:
        base_field = "due" if one.kind.startswith(("deadline", "extended")) else "start"
        base = next(
            (event.values[base_field] for event in reversed(before) if event.values.get(base_field)), None
        )
        if one.kind == "extended":
            base = next((event.due for event in reversed(before) if event.kind.startswith("deadline")), None)
        match step.kind:
            case "moment":
                return {step.field: moments.read_moment(step.expression, step.written)}
            case "day":
                day = moments.read_day(step.expression, step.written)
                time = known[step.field].time() if step.field in known else base.time() if base else dt.time()
                return {step.field: dt.datetime.combine(day, time)}
            case "time":
                time = moments.read_time(step.expression)
                on = known.get(step.field) or base
                if on is None:
                    raise moments.UnreadableMoment(f"{step.expression!r}: on which day?")
                return {step.field: dt.datetime.combine(on.date(), time)}
            case "shift" | "span":
                if base is None:
                    raise moments.UnreadableMoment(f"{step.expression!r}: from when on?")
                if base_field in known:
                    return {}
                shift = (
                    moments.read_shift(step.expression)
                    if step.kind == "shift"
                    else moments.read_span(step.expression)
                )
                sign = -1 if step.kind == "span" and one.given.get("later") is False else 1
                return {base_field: base + sign * shift}
            case "length":
                return {step.field: moments.read_length(step.expression)}
        return {step.field: step.expression}


def texts_of(letters: Iterable[Letter]) -> dict[str, str]:
    """The texts of messages by their keys, as a survey delivers them."""
    return {letter.key: delivered_text(letter) for letter in letters}


def undelivered(texts: Mapping[str, str], results: str) -> Iterator[str]:
    """Yield the texts that are missing in the results of a survey."""
    for key, text in texts.items():
        if orjson.dumps(text).decode()[1:-1] not in results and html.escape(text) not in results:
            yield key
