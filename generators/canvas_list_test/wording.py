"""Ways to say what an announcement says about a work, and announcements of one form."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from mesocosm.generators.canvas_list_test import statements
from mesocosm.generators.canvas_list_test.campus import Course, Notice, Post
from mesocosm.kits import wording
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Prose, Topic
from mesocosm.kits.wording import Block, Draft, Phrases
from mesocosm.worlds import tokens

_MISLEADING = wording.saying(
    r"exempt|excus|option|volunt|cancel|deadline|\bdue\b|compuls|waive|drop|midterm|last year|\d{4}|\d:\d\d"
    r"|canvas|\bskip|requir|strike|struck|cross out|spared|choice|\bon again\b|\bis off\b|take[sn]? place"
    r"|goes ahead|we keep|we do have|everybody|nobody|up to you|your lists|no longer|do without|given up"
    r"|falls away|after all|nothing changes|leave out|need not|is not for|may miss|let .* off|is void"
)
"""Words forbidden beside a title, because they could be taken for a statement about that work."""
_TOPICS: tuple[Topic, ...] = ("course_admin",)
_STATUS = {
    "withdrawn": statements.WITHDRAWN,
    "optional": statements.OPTIONAL,
    "cancelled": statements.CANCELLED,
    "compulsory": statements.COMPULSORY,
    "revived": statements.REVIVED,
}
_SMALL = 6


def post_size(courses: int) -> tuple[int, int]:
    """The least and the most tokens of what an announcement says, by how many courses there are."""
    return (15, 60) if courses <= _SMALL else (45, 170)


class Voice(wording.WordingVoice):
    """One announcement's way to say things: the same formats throughout, and the marks of its author."""

    MARKS: ClassVar[tuple[str, ...]] = ("“{}”", "“{}”", "«{}»", "‘{}’")

    def __init__(self, rng: random.Random, author: Contact) -> None:
        self._marks = self.MARKS[sum(author.email.encode()) % len(self.MARKS)]
        super().__init__(rng)

    def quoted(self, title: str) -> str:
        """A title as it stands in a sentence."""
        return self._marks.format(title)


class Announcer:
    """Writes announcements: statements among sentences about anything else, or these alone."""

    def __init__(self, rng: random.Random, prose: Prose, size: tuple[int, int]) -> None:
        self._rng = rng
        self._prose = prose
        self._size = size
        self._phrases = Phrases(rng)

    def notice(self, course: Course, title: str, notice: Notice, *, evidence: bool) -> Post:
        """The announcement of a notice about a work."""
        voice = Voice(self._rng, course.instructor)
        said = self._statement(voice, title, notice)
        return self.post(course, notice.moment, said, title, voice=voice, evidence=evidence)

    def about(
        self, course: Course, title: str, moment: dt.datetime, ways: Sequence[str], **values: str
    ) -> Post:
        """An announcement that says one thing about a title; of a final exam, without one."""
        voice = Voice(self._rng, course.instructor)
        said = self._phrases.say(ways, work=voice.quoted(title), **values)
        return self.post(course, moment, [said], title, voice=voice)

    def post(
        self, course: Course, moment: dt.datetime, said: Sequence[Block], title: str = "", *,
        voice: Voice | None = None, evidence: bool = False, size: int | None = None,
    ) -> Post:  # fmt: skip
        """An announcement of the usual size, with what is said somewhere in it."""
        rng = self._rng
        voice = voice or Voice(rng, course.instructor)
        left = (size or rng.randint(*self._size)) - sum(map(_tokens, said))
        around: list[str] = []
        while left > 12 or not (around or said):
            around.append(self._aside(course))
            left -= tokens.count(around[-1])
        what = voice.quoted(title) if title else rng.choice(course.subject.topics)
        subject = self._phrases.part(statements.SUBJECTS)
        if rng.random() < 0.25:
            subject = self._phrases.part(statements.ABOUT, what=f"{what[0].upper()}{what[1:]}")
        return Post(course, moment, subject, Draft(self._blocks(around, said)).html(), evidence)

    def longer(self, post: Post, more: int) -> Post:
        """The announcement with a further paragraph of about so many tokens, if enough for a sentence."""
        left, sentences = more, []
        while left > 12:
            sentences.append(self._aside(post.course))
            left -= tokens.count(sentences[-1])
        further = Draft([" ".join(sentences)]).html() if sentences else ""
        return replace(post, body=post.body + further)

    def _blocks(self, around: Sequence[str], said: Sequence[Block]) -> list[Block]:
        rng = self._rng
        before = rng.randint(0, len(around))
        sentences: list[Block] = [*around[:before], *said, *around[before:]]
        blocks: list[Block] = []
        held = 0
        for sentence in sentences:
            last = blocks[-1] if blocks else None
            if isinstance(sentence, str) and isinstance(last, str) and held < rng.randint(1, 4):
                blocks[-1] = f"{last} {sentence}"
                held += 1
            else:
                blocks.append(sentence)
                held = 1
        return blocks

    def _aside(self, course: Course) -> str:
        while True:
            sentence = self._prose.sentence(self._rng.choice(_TOPICS), subject=course.subject)
            if not (_MISLEADING(sentence) or course.subject.is_twice_in(sentence)):
                return sentence

    # -- what a notice says -----------------------------------------------------------------------------

    def _statement(self, voice: Voice, title: str, notice: Notice) -> list[Block]:
        work = voice.quoted(title)
        match notice.about:
            case "deadline":
                assert notice.deadline
                return self._deadline(voice, title, notice.deadline)
            case "excused":
                return self._excused(voice, work, notice.names)
            case "rule":
                return [self._rule(work, notice)]
            case about:
                return [self._phrases.say(_STATUS[about], work=work)]

    def _deadline(self, voice: Voice, title: str, deadline: dt.datetime) -> list[Block]:
        day, clock = voice.date(deadline.date()), voice.time(deadline.time())
        if voice.chance(0.2):
            lead = voice.pick(
                "There is a new deadline.", "Please note a change.", "New arrangements, see below."
            )
            label = voice.pick("New deadline", "Deadline now", "Due now")
            return [lead, [f"{voice.pick('Work', 'What', 'For')}: {title}", f"{label}: {day}, {clock}"]]
        when = voice.pick(f"{day}, {clock}", f"{day} at {clock}")
        text = self._phrases.say(statements.DEADLINE, work=voice.quoted(title), when=when)
        return [text.replace("m..", "m.")]  # "at 3 p.m." has its full stop already

    def _rule(self, work: str, notice: Notice) -> str:
        assert notice.rule
        ways = statements.REPEATERS
        if notice.rule.threshold is not None:
            ways = statements.AT_LEAST if notice.rule.inclusive else statements.MORE_THAN
        who = self._phrases.part(ways, points=str(notice.rule.threshold))
        return self._phrases.say(statements.EXEMPT, work=work, who=who)

    def _excused(self, voice: Voice, work: str, names: tuple[str, ...]) -> list[Block]:
        if voice.chance(0.2):
            return [f"The following students are excused from {work}:", list(names)]
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        are = "is" if len(names) == 1 else "are"
        return [self._phrases.say(statements.EXCUSED, names=listed, are=are, work=work)]


def _tokens(block: Block) -> int:
    return tokens.count(block if isinstance(block, str) else "\n".join(block))
