"""Letters of conferences about submissions: decisions, deadlines, changes, receipts and reminders."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mesocosm.generators.set_conf_cr_ddl import statements
from mesocosm.generators.set_conf_cr_ddl.composing import Composer
from mesocosm.generators.set_conf_cr_ddl.conferences import (
    Change,
    ChangeKind,
    Contact,
    Deadline,
    Mail,
    Submission,
)
from mesocosm.generators.set_conf_cr_ddl.names import TRACKS
from mesocosm.generators.set_conf_cr_ddl.wording import Voice
from mesocosm.kits.wording import Phrases

_PAPERS = ("paper {number} (“{title}”)", "“{title}” (paper {number})", "your paper {number} (“{title}”)")
_HEADINGS = ("Camera-ready deadlines by track:", "The camera-ready version is due, by track:")
_LABELS = ("Camera-ready deadline", "Camera-ready version due", "Final version due")
_CHANGES: dict[ChangeKind, tuple[str, ...]] = {
    "extended": statements.EXTENDED,
    "by_days": statements.BY_DAYS,
    "corrected": statements.CORRECTED,
    "zone": statements.ZONE,
    "forward": statements.FORWARD,
}

Text = tuple[str, Sequence[str], bool]
"""Subject, facts, and whether a machine sends it."""


class Letters:
    """Writes the mails about submissions: those of the file and all others alike."""

    def __init__(self, rng: random.Random, composer: Composer) -> None:
        self._rng = rng
        self._composer = composer
        self._phrases = Phrases(rng)
        self.generous: set[str] = set()
        """Conferences of which a mail says something about several tracks."""

    def about(self, one: Submission) -> list[Mail]:
        """Every mail of the conference about a submission, oldest first."""
        moments = iter(one.moments)
        return [self._mail(one, next(moments), text) for text in self._texts(one)]

    def _mail(self, one: Submission, moment: dt.datetime, text: Text) -> Mail:
        subject, facts, automatic = text
        author = self._composer.author_of(one.edition)
        if automatic:
            label, domain = one.edition.label, one.edition.conference.domain
            author = Contact(f"{label} Submissions", f"noreply@{domain}")
        return Mail(moment, author, subject, self._composer.official(one.edition, author, facts))

    def _texts(self, one: Submission) -> Iterator[Text]:
        if one.fate == "rejected":
            yield self._said(one, statements.REJECTED)
            if one.variant == "bulk":
                yield self._general(one)
            return
        if one.fate == "open" and one.variant == "never":
            yield self._said(one, statements.ACCEPTED, self._phrases.say(statements.UNKNOWN_YET))
            return
        if one.apart:
            later = [self._phrases.say(statements.TOLD_LATER)] if self._rng.random() < 0.5 else []
            yield self._said(one, statements.ACCEPTED, *later)
            yield self._general(one)
        else:
            assert one.first
            yield self._said(one, statements.ACCEPTED, self._deadline(one, one.first))
        for change in one.changes:
            yield self._changed(one, change)
        if one.fate == "open":
            yield self._to_all(one, statements.SUSPENDED)
        elif one.fate == "withdrawn":
            yield self._said(one, statements.WITHDRAWN)
        elif one.fate == "submitted":
            yield self._said(one, statements.RECEIVED)
        if one.reminded and one.deadline:
            yield self._reminder(one, one.deadline)
        if one.stale:
            yield self._reminder(one, one.stale)

    # -- pieces --------------------------------------------------------------------------------------------

    def say(self, ways: Sequence[str], one: Submission, **values: str) -> str:
        """A sentence about a submission or its track."""
        paper = self._rng.choice(_PAPERS).format(number=one.number, title=one.title)
        return self._phrases.say(
            ways, paper=paper, number=str(one.number), track=one.track, label=one.edition.label, **values
        )

    def subject(self, one: Submission, *, of_paper: bool) -> str:
        """A subject line that tells nothing."""
        ways: tuple[str, ...] = statements.SUBJECTS
        if of_paper and self._rng.random() < 0.5:
            ways = statements.PAPER_SUBJECTS
        return self._phrases.part(ways, label=one.edition.label, track=one.track, number=str(one.number))

    def _said(self, one: Submission, ways: Sequence[str], *more: str) -> Text:
        return self.subject(one, of_paper=True), [self.say(ways, one), *more], False

    def _to_all(self, one: Submission, ways: Sequence[str], **values: str) -> Text:
        return self.subject(one, of_paper=False), [self.say(ways, one, **values)], False

    def _general(self, one: Submission) -> Text:
        """To all authors of accepted papers of a track."""
        assert one.first
        return self._to_all(one, statements.TO_ALL, when=Voice(self._rng).deadline(one.first))

    def _deadline(self, one: Submission, deadline: Deadline) -> str:
        """The deadline in a line, in a table of several tracks, or in a sentence."""
        voice = Voice(self._rng)
        when = voice.deadline(deadline)
        way = self._rng.random()
        if way < 0.12:
            return f"{voice.pick('Paper', 'Submission')}: {one.number}\n{voice.pick(*_LABELS)}: {when}"
        if way < 0.2 and one.alone:
            self.generous.add(one.edition.label)
            return self._table(one, voice, deadline)
        return self._phrases.say(statements.DEADLINE, when=when)

    def _table(self, one: Submission, voice: Voice, deadline: Deadline) -> str:
        """Deadlines by track, of which only one concerns the paper."""
        others = self._rng.sample([track for track in TRACKS if track != one.track], 2)
        lines = [(one.track, voice.deadline(deadline))]
        for index, track in enumerate(others):
            lines.append((track, voice.deadline(shifted(deadline, (-4, 5)[index], self._rng))))
        self._rng.shuffle(lines)
        return "\n".join([voice.pick(*_HEADINGS), *(f"- {track}: {when}" for track, when in lines)])

    # -- what comes later ----------------------------------------------------------------------------------

    def _changed(self, one: Submission, change: Change) -> Text:
        voice = Voice(self._rng)
        scope = f"the {one.track}"
        if one.alone and change.kind in ("extended", "by_days") and voice.chance(0.25):
            self.generous.add(one.edition.label)
            scope = "every track"
        new, old = voice.deadline(change.after), voice.deadline(change.before)
        days = voice.days(change.days) if change.kind == "by_days" else ""
        return self._to_all(one, _CHANGES[change.kind], scope=scope, new=new, old=old, days=days)

    def _reminder(self, one: Submission, deadline: Deadline) -> Text:
        subject = self.subject(one, of_paper=True)
        when = Voice(self._rng).deadline(deadline)
        return subject, [self.say(statements.REMINDER, one, when=when)], True


def shifted(deadline: Deadline, days: int, rng: random.Random) -> Deadline:
    """A deadline some days off, stated like the other one."""
    return replace(deadline, date=deadline.date + dt.timedelta(days=days + rng.choice((-1, 0, 1))))
