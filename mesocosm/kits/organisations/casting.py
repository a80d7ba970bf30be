"""Casting: choice of scene, level, times and wordings for a story.

All moments are laid out here, before a word is written: texts are then written in order of time.
"""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mesocosm.kits.organisations.events import Event, Story
from mesocosm.kits.organisations.moments import can_be_said
from mesocosm.kits.organisations.people import BY_NAME, COURSE_HABITS, OFFICES, Person
from mesocosm.kits.organisations.scenes import OTHER, Beat, Message, Scene

Stream = Callable[[str], random.Random]

MIXES: Mapping[str, Mapping[str, float]] = {
    "easy": {"explicit": 1},
    "medium": {"explicit": 0.3, "described": 0.6, "referring": 0.1},
    "hard": {"explicit": 0.05, "described": 0.45, "referring": 0.5},
    "expert": {"described": 0.2, "referring": 0.5, "spread": 0.3},
}
"""Share of stories told at each level, by difficulty."""
_MAYBE = 0.75
"""Probability that an optional beat is left out."""
_UNANSWERED = 0.9
"""The share of closing replies that only acknowledge, and that nobody bothers to write."""
_QUIET = 0.95
"""How often scenes come first in which the owner of the mailbox writes only what tells something.

Other mail of theirs never decides anything: in numbers it would tell by its folder what need not be read.
"""
_TALKED = 2
"""Small talk, rumors and the like of one kind are told so often."""
_BY_HABIT = 0.7
"""The share of threads in which people call things as they mostly do."""
_REMARKED = {True: 0.7, False: 0.95}
"""The share of scenes with an aside in which it is said: where the thing is named, and where it is described.

An aside names another thing. Without them whoever drops all mails that name what is not in question would
lose nothing.
"""
_NOTICES = 3
"""A message of several notices has so many at least."""
_HOUR, _MINUTE = dt.timedelta(hours=1), dt.timedelta(minutes=1)


@dataclass(slots=True)
class Said:
    """Text of a beat: the chosen alternate, and the story that fills its slots."""

    beat: Beat
    text: str
    story: Story
    notice: bool = False
    """True of the first beat of a notice among others: it begins a paragraph."""
    level: str = ""
    """Level of telling: how openly it is said."""


@dataclass(slots=True)
class Line:
    """A message of a scene that is cast: all about it but the text."""

    message: Message
    at: dt.datetime
    channel: str
    beats: list[Said]
    subject: str


@dataclass(slots=True)
class Cast:
    """A scene that tells a story."""

    story: Story
    scene: Scene
    level: str
    number: int
    lines: list[Line] = field(default_factory=list)
    relative: bool = False
    """True once a time was told as so much later or earlier."""
    remarked: bool = False
    """True once something else was named in an aside."""
    habit: str = BY_NAME
    """The way in which its mails call the thing."""


class Director:
    """Chooses scenes and alternates so that each is used as seldom as possible.

    Args:
        scenes: Those of a split.
        mix: Weights of the levels.
        stream: Draws; each story has a stream of its own, so that one more story changes no other.
        neutral: Kinds of events that decide nothing, and may go untold.
        channels: Those that the task has services for.
        whole: True if every message of a scene is written, also replies that only acknowledge.
        brief: True if scenes come first in which everybody, not the owner alone, writes only what tells or
            states something.
        shared: True if such scenes are not all taken by what matters, and if others follow when they are used
            up.
        besides: Draws what a writer may mention to a reader beside the subject of a message.
    """

    def __init__(
        self,
        scenes: Iterable[Scene],
        mix: Mapping[str, float],
        stream: Stream,
        neutral: frozenset[str] = frozenset(),
        channels: frozenset[str] = frozenset({"mail"}),
        whole: bool = False,
        brief: bool = False,
        shared: bool = False,
        besides: Callable[[Person, Person, Any, random.Random], Any] = lambda *between: None,
    ) -> None:
        self._by_story: dict[str, list[Scene]] = {}
        for scene in scenes:
            if any(channels.isdisjoint(message.via) for message in scene.messages if message.re is None):
                continue
            self._by_story.setdefault(scene.story, []).append(scene)
        self._mix, self._stream, self._neutral, self._channels = mix, stream, neutral, channels
        self._whole, self._brief, self._shared = whole, brief, shared
        self._mentioned = besides
        self.used: Counter[str] = Counter()
        """How often each scene was cast."""
        self._alternates: Counter[tuple[str, str, int, str, int]] = Counter()
        self._heard: set[tuple[str, Any, Any]] = set()
        """Scenes with who told them to whom."""
        self._teller: dict[Any, Person] = {}
        """Of each thing, the last writer of what holds."""
        self._number = 0

    def cast(self, story: Story, *, most: int = 0) -> Cast | None:
        """Cast a scene for a story.

        Returns None if no scene fits, or if all that fit were cast ``most`` times, or as often as they have
        alternates.
        """
        rng = self._stream(f"cast:{self._number}:{story.kind}")
        level = rng.choices(list(self._mix), list(self._mix.values()))[0]
        fitting = self._fitting(story, level)
        if not self._whole and all(event.kind in self._neutral for event in story.events) and not story.among:
            # Nobody tells the same person the same small talk twice. What counts may be told so again: it is
            # cast first, and what does not count would be left the scenes of others.
            fresh = [
                one
                for one in fitting
                if _told_by(one, story) not in self._heard and self.used[one.name] < _TALKED
            ]
            # What the question is about is told in any case: long worlds have more such students than scenes.
            fitting = fresh or (fitting if story.matters else [])
        if not self._whole and rng.random() < _QUIET:
            quiet = [one for one in fitting if not self._is_idle(one, story)]
            fitting = quiet or fitting
        if most:
            fitting = [one for one in fitting if self.used[one.name] < min(most, one.capacity)]
        if not fitting:
            return None
        self._number += 1
        scene = self._least_used(fitting, rng)
        self._heard.add(_told_by(scene, story))
        made = Cast(story, scene, level, self._number, habit=self._habit(story, scene))
        self._fill(made, rng)
        if story.among and not self._notices(made, most, rng):
            return None
        return made

    def _habit(self, story: Story, scene: Scene) -> str:
        """Draw how a thread calls its thing: by the habit of whoever begins it, which others take up."""
        rng = self._stream(f"habit:{self._number}")
        writer: Person = story.roles[scene.messages[0].from_]
        return writer.habit if rng.random() < _BY_HABIT else rng.choice(COURSE_HABITS)

    def _notices(self, made: Cast, most: int, rng: random.Random) -> bool:
        """Put the stories that are told together into the first message, after its first beat.

        Returns False if one that matters has no notice, or if there are too few.
        """
        beats: list[Said] = []
        found = 0
        for story in made.story.among:
            fitting = [one for one in self._fitting(story, made.level) if one.notice]
            if not story.matters:
                fitting = [one for one in fitting if self.used[one.name] < min((most or 1) + 1, one.capacity)]
            if not fitting:
                if story.matters:
                    return False
                continue
            scene = self._least_used(fitting, rng)
            # A bulletin names enough things: no asides there.
            notice = Cast(story, scene, made.level, made.number, remarked=True)
            [message] = scene.messages
            said = list(self._beats(notice, message, {}, set(), rng))
            said[0].notice = True
            beats += said
            found += 1
        if found < _NOTICES and not made.story.matters:
            return False
        first = made.lines[0].beats
        if rest := first[1:]:
            rest[0].notice = True
        made.lines[0].beats = [*first[:1], *beats, *rest]
        return True

    def _least_used(self, fitting: Sequence[Scene], rng: random.Random) -> Scene:
        """Choose one that was cast least, and count it."""
        # As shares of what each has: scenes with many alternates are cast more often.
        least = min(self.used[scene.name] / scene.capacity for scene in fitting)
        scene = rng.choice([one for one in fitting if self.used[one.name] / one.capacity <= least + 1e-9])
        self.used[scene.name] += 1
        return scene

    def _is_idle(self, scene: Scene, story: Story) -> bool:
        """Return True if the owner of the mailbox writes something in a scene that tells nothing.

        Where all are to be brief: if anybody answers, or the owner writes, what neither tells nor states
        anything. Where scenes are shared: if no alternate is left that was not yet said, too.
        """
        if self._shared:
            # What matters is cast first: it leaves such scenes to the rest, which is three times as much.
            most = max(1, scene.capacity // 3) if story.matters else scene.capacity
            if self.used[scene.name] >= most:
                return True
        if not self._brief:
            return scene.answered
        return any(
            (message.from_ == "me" or message.re is not None)
            and not (message.states or any(beat.tell for beat in message.beats))
            and (message.from_ == "me" or not _acknowledges(message, scene, story.roles))
            for message in scene.messages
            if message.if_ is None or message.if_.value(story.roles)
        )

    def _fitting(self, story: Story, level: str) -> list[Scene]:
        found = [scene for scene in self._by_story.get(story.kind, ()) if self._fits(scene, story, level)]
        if level == "spread":
            found = [scene for scene in found if scene.spread or scene.level == "spread"] or found
        via = story.roles.get("via")
        return [scene for scene in found if via in scene.channels] or found if via else found

    def _fits(self, scene: Scene, story: Story, level: str) -> bool:
        roles = story.roles
        if scene.level is not None and scene.level != level:
            return False
        if story.channels and any(story.channels.isdisjoint(one.via) for one in scene.messages if not one.re):
            return False
        if scene.exam != "any" and scene.exam != roles.get("exam"):
            return False
        if scene.when is not None and not scene.when.value(roles):
            return False
        told = {
            beat.tell
            for message, beat in scene.tells()
            if (message.if_ is None or message.if_.value(roles))
            and (beat.if_ is None or beat.if_.value(roles))
        }
        happened = {name: one for name, one in roles.items() if isinstance(one, Event)}
        if story.kind.startswith("everyday"):
            return not told
        # Every event that decides something is told, and none that did not happen.
        return told <= happened.keys() and all(
            name in told or event.kind in self._neutral for name, event in happened.items()
        )

    # -- lines ------------------------------------------------------------------------------------------

    def _fill(self, made: Cast, rng: random.Random) -> None:
        roles = made.story.roles
        messages = [one for one in made.scene.messages if one.if_ is None or one.if_.value(roles)]
        kept = {message.id for message in messages}
        messages = [one for one in messages if one.re is None or one.re in kept]
        if not self._whole:
            messages = [
                one
                for one in messages
                if not _acknowledges(one, made.scene, roles) or rng.random() > _UNANSWERED
            ]
        moments = _moments(messages, roles, rng)
        ties: dict[str, int] = {}
        said: set[str] = set()
        channel = ""
        for message, at in zip(messages, moments, strict=True):
            if message.re is None or not channel:
                channel = _channel(message, made.story, made.story.channels or self._channels, rng)
            beats = list(self._beats(made, message, ties, said, rng, channel))
            subject = (
                self._pick((made.scene.name, message.id, -1, "subject"), message.subject, rng)
                if message.subject
                else ""
            )
            made.lines.append(Line(message, at, channel, beats, subject))

    def _aside(
        self, made: Cast, message: Message, beat: Beat, key: tuple[str, str, int, str], channel: str
    ) -> Iterator[Said]:
        """Yield a remark that names another thing, at most one a scene and in mails alone; mostly nothing."""
        rng = self._stream(f"aside:{made.number}:{key}")
        often = self._whole or rng.random() < _REMARKED[made.habit == BY_NAME]
        if made.remarked or channel != "mail" or not often:
            return
        roles = made.story.roles
        about = roles.get("c")  # a bulletin is about no course
        other = about and self._mentioned(roles[message.from_], roles[message.to], about, rng)
        if other is not None:
            made.remarked = True
            text = self._pick(key, beat.texts(""), rng)
            yield Said(beat, text, replace(made.story, roles={**roles, OTHER: other}), level="described")

    def _beats(
        self,
        made: Cast,
        message: Message,
        ties: dict[str, int],
        said: set[str],
        rng: random.Random,
        channel: str = "mail",
    ) -> Iterable[Said]:
        roles = made.story.roles
        for number, beat in enumerate(message.beats):
            if beat.if_ is not None and not beat.if_.value(roles):
                continue
            if (beat.needs and beat.needs not in said) or (beat.unless and beat.unless in said):
                continue
            if beat.aside:
                key = (made.scene.name, message.id, number, "aside")
                yield from self._aside(made, message, beat, key, channel)
                continue
            # What answers an optional beat is said whenever that was.
            if beat.maybe and not beat.needs and rng.random() < _MAYBE:
                continue
            if beat.name:
                said.add(beat.name)
            writer = roles[message.from_]
            level = told_at(beat, made.level, roles, self._whole or self._counts_on(made, beat, writer))
            texts = beat.texts(level)
            if beat.tie and beat.tie in ties:
                text = texts[ties[beat.tie] % len(texts)]
            else:
                text = self._pick((made.scene.name, message.id, number, beat.block(level)), texts, rng)
                if beat.tie:
                    ties[beat.tie] = texts.index(text)
            event = roles.get(beat.tell) if beat.tell else None
            if event is not None and event.kind not in self._neutral:
                self._teller[event.about] = writer
                made.relative |= _is_relative(text)
            yield Said(beat, text, made.story, level=level)

    def _counts_on(self, made: Cast, beat: Beat, writer: Person) -> bool:
        """Return True if somebody can say of an event that it is so much later or earlier.

        They gave the time before, and gave it as such: nobody counts from what somebody else wrote, or from
        what was counted itself, and an office gives dates.
        """
        if beat.tell is None or made.relative or writer.role in OFFICES:
            return False
        return self._teller.get(made.story.roles[beat.tell].about, writer) is writer

    def _pick(self, key: tuple[str, str, int, str], texts: Sequence[str], rng: random.Random) -> str:
        uses = [self._alternates[(*key, number)] for number in range(len(texts))]
        number = rng.choice([number for number, count in enumerate(uses) if count == min(uses)])
        self._alternates[(*key, number)] += 1
        return texts[number]


def _acknowledges(message: Message, scene: Scene, roles: Mapping[str, Any]) -> bool:
    """Return True for a scene's last word, where it replies, tells nothing, and is of somebody who decides
    nothing.

    Such replies are short and never hold an answer: in numbers they would give away what need not be read.
    """
    return (
        message is scene.messages[-1]
        and message.re is not None
        and message.file is None
        and not any(beat.tell for beat in message.beats)
        and (message.from_ == "me" or not roles[message.from_].staff)
    )


def _told_by(scene: Scene, story: Story) -> tuple[str, Any, Any]:
    """The scene with who writes first and to whom."""
    first = scene.messages[0]
    return scene.name, story.roles[first.from_], story.roles[first.to]


def _is_relative(text: str) -> bool:
    return ".shift>" in text or ".span>" in text


def told_at(beat: Beat, level: str, roles: Mapping[str, Any], counts: bool = True) -> str:
    """Return the level at which a beat is told: a shift that nobody can say in words is described.

    Args:
        counts: True if the writer may say that something is so much later or earlier.
    """
    if beat.tell is None or level not in ("referring", "spread"):
        return level
    event = roles.get(beat.tell)
    if any(_is_relative(text) for text in beat.texts(level)):
        if not counts:
            return "described"
        span = getattr(event, "shift", None) or getattr(event, "span", None)
        if span is None or not can_be_said(span) or getattr(event, "moves_on", False):
            return "described"
    return level


def _channel(message: Message, story: Story, channels: frozenset[str], rng: random.Random) -> str:
    via = story.roles.get("via")
    return str(via) if via in message.via else rng.choice([one for one in message.via if one in channels])


def _moments(messages: Sequence[Message], roles: Mapping[str, Any], rng: random.Random) -> list[dt.datetime]:
    """Draw each message's moment: that of an event, or some hours before or after another message."""
    fixed = [roles[one.at.partition(".")[0]].at if one.at else None for one in messages]
    found: list[dt.datetime] = []
    for number, message in enumerate(messages):
        before = found[-1] if found else None
        following = next((moment for moment in fixed[number + 1 :] if moment), None)
        least, most = message.hours
        gap = least * _HOUR + (most - least) * rng.random() * _HOUR
        at = fixed[number]
        writer: Person = roles[message.from_]
        if at is None and message.before is not None and following is not None:
            at = _awake(following - gap, writer, -1)
            if before is not None and at <= before:
                at = _between(before, following, writer, rng)
        elif at is None:
            at = _awake((before or following or roles["e"].at) + gap, writer, 1)
            if following is not None and at >= following and before is not None:
                at = _between(before, following, writer, rng)
        if before is not None and at <= before:
            at = before + rng.randint(7, 50) * _MINUTE
        found.append(at.replace(second=rng.randrange(60), microsecond=0) if fixed[number] is None else at)
    return found


def _between(first: dt.datetime, last: dt.datetime, writer: Person, rng: random.Random) -> dt.datetime:
    """A moment between two, while the writer is awake if there is one."""
    for _ in range(30):
        moment = first + (last - first) * rng.uniform(0.05, 0.95)
        if writer.early <= moment.hour < writer.late:
            return moment
    return first + (last - first) / 2


def _awake(moment: dt.datetime, writer: Person, direction: int) -> dt.datetime:
    """The nearest moment, later or earlier, at which somebody writes."""
    for _ in range(96):
        if writer.early <= moment.hour < writer.late and not (writer.staff and moment.weekday() > 4):
            return moment
        moment += direction * 53 * _MINUTE
    return moment
