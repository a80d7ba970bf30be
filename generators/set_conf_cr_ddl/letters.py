"""What conferences write about the submissions: decisions, deadlines, changes, receipts and reminders."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from dataclasses import replace

from mesocosm.generators.set_conf_cr_ddl.conferences import Change, Contact, Deadline, Mail, Submission
from mesocosm.generators.set_conf_cr_ddl.names import TRACKS
from mesocosm.generators.set_conf_cr_ddl.wording import Voice, aside, finish
from mesocosm.kits.prose import Prose


class Letters:
    """Writes the mails that count."""

    def __init__(self, rng: random.Random, prose: Prose) -> None:
        self._rng = rng
        self._prose = prose

    def about(self, one: Submission) -> list[Mail]:
        """Every mail of the conference about a submission, oldest first."""
        moments = iter(one.moments)
        mails = []
        for subject, body, author in self._texts(one):
            mails.append(Mail(next(moments), author, subject, body))
        return mails

    def _texts(self, one: Submission) -> Iterator[tuple[str, str, Contact]]:
        if one.fate == "rejected":
            yield self._rejected(one)
            if one.variant == "bulk":
                yield self._general(one)
            return
        if one.fate == "open" and one.variant == "never":
            yield self._accepted(one, None)
            return
        if one.apart:
            yield self._accepted(one, None, told_later=True)
            yield self._general(one)
        else:
            yield self._accepted(one, one.first)
        for change in one.changes:
            yield self._changed(one, change)
        if one.fate == "open":
            yield self._suspended(one)
        elif one.fate == "withdrawn":
            yield self._withdrawn(one)
        elif one.fate == "submitted":
            yield self._received(one)
        if one.reminded and one.deadline:
            yield self._reminder(one, one.deadline)
        if one.stale:
            yield self._reminder(one, one.stale)

    # -- pieces --------------------------------------------------------------------------------------------

    def _mail(self, one: Submission, voice: Voice, subject: str, *blocks: str) -> tuple[str, str, Contact]:
        label, (office, chair) = one.edition.label, one.edition.chairs
        author = office if voice.chance(0.6) else chair
        hello = voice.pick("Dear authors,", "Dear author,", "Dear colleagues,", f"Dear {label} authors,")
        if author.person:
            goodbye = f"{voice.pick('Best regards', 'Kind regards', 'Best wishes')},\n{author.name}, {label}"
        else:
            goodbye = voice.pick(f"The {label} chairs", f"{author.name}", f"Your {label} team")
        text = "\n\n".join([hello, *(block for block in blocks if block), goodbye])
        return subject, finish(text), author

    def _aside(self, share: float = 1.0) -> str:
        return aside(self._prose) if self._rng.random() < share else ""

    def _paper(self, one: Submission, voice: Voice) -> str:
        return voice.pick(
            f"paper {one.number}, “{one.title}”,",
            f"paper {one.number} (“{one.title}”)",
            f"“{one.title}” (paper {one.number})",
        )

    # -- decisions and deadlines ---------------------------------------------------------------------------

    def _accepted(
        self, one: Submission, deadline: Deadline | None, *, told_later: bool = False
    ) -> tuple[str, str, Contact]:
        voice, label = Voice(self._rng), one.edition.label
        paper = self._paper(one, voice)
        opening = voice.pick(
            f"We are happy to tell you that {paper} has been accepted for the {one.track} of {label}.",
            f"Congratulations: {paper} has been accepted to the {one.track} of {label}.",
            f"The committee of the {one.track} of {label} has decided to accept {paper} for presentation.",
        )
        subject = voice.pick(
            f"{label}: decision on paper {one.number}",
            f"Your paper {one.number} at {label}",
            f"{label} ({one.track}): notification",
        )
        if deadline:
            said = self._deadline(one, voice, deadline)
        elif told_later:
            said = [
                voice.pick(
                    "You will hear about the camera-ready version in a mail of its own.",
                    "Instructions for the camera-ready version follow separately.",
                )
            ]
        else:
            said = [
                voice.pick(
                    "The deadline for the camera-ready version has not been fixed yet; we will announce it.",
                    "Camera-ready deadline: to be announced.",
                    "When the camera-ready version is due will be published as soon as the printer confirms.",
                )
            ]
        return self._mail(one, voice, subject, opening, *said, self._aside())

    def _deadline(self, one: Submission, voice: Voice, deadline: Deadline) -> list[str]:
        """The deadline in a line, in a table of several tracks, or in a sentence."""
        when = voice.deadline(deadline)
        way = self._rng.random()
        if way < 0.3:
            label = voice.pick("Camera-ready deadline", "Camera-ready version due", "Final version due")
            return [f"{voice.pick('Paper', 'Submission')}: {one.number}\n{label}: {when}"]
        if way < 0.5 and one.alone:
            return self._table(one, voice, deadline)
        return [
            voice.pick(
                f"Please upload the camera-ready version no later than {when}.",
                f"The camera-ready version is due {when}.",
                f"We need the final version of your paper by {when}.",
                f"The deadline for the camera-ready version is {when}.",
                f"Camera-ready files will be taken until {when}.",
            )
        ]

    def _table(self, one: Submission, voice: Voice, deadline: Deadline) -> list[str]:
        """Deadlines by track, of which only one concerns the paper."""
        others = self._rng.sample([track for track in TRACKS if track != one.track], 2)
        lines = [(one.track, voice.deadline(deadline))]
        for index, track in enumerate(others):
            lines.append((track, voice.deadline(shifted(deadline, (-4, 5)[index], self._rng))))
        self._rng.shuffle(lines)
        heading = voice.pick("Camera-ready deadlines by track:", "The camera-ready version is due, by track:")
        return ["\n".join([heading, *(f"- {track}: {when}" for track, when in lines)])]

    def _general(self, one: Submission) -> tuple[str, str, Contact]:
        """To all authors of accepted papers of a track."""
        voice, label = Voice(self._rng), one.edition.label
        deadline = one.first
        assert deadline
        opening = voice.pick(
            f"This goes to all authors of accepted papers in the {one.track} of {label}.",
            f"Instructions for accepted papers of {label}, {one.track}:",
        )
        subject = voice.pick(
            f"{label}: camera-ready instructions", f"Camera-ready versions for {label} ({one.track})"
        )
        when = voice.deadline(deadline)
        said = voice.pick(
            f"The camera-ready version is due {when}.",
            f"Camera-ready deadline: {when}",
            f"Please upload the camera-ready version no later than {when}.",
        )
        return self._mail(one, voice, subject, opening, said, self._aside())

    # -- what comes later ----------------------------------------------------------------------------------

    def _changed(self, one: Submission, change: Change) -> tuple[str, str, Contact]:
        voice, label = Voice(self._rng), one.edition.label
        scope = f"the {one.track}"
        if one.alone and change.kind in ("extended", "by_days") and voice.chance(0.25):
            scope = "all tracks"
        new, old = voice.deadline(change.after), voice.deadline(change.before)
        match change.kind:
            case "extended":
                said = voice.pick(
                    f"The camera-ready deadline of {scope} has been extended to {new}.",
                    f"For {scope}, camera-ready versions will be taken until {new}, instead of {old}.",
                    f"Good news for {scope}: more time for the camera-ready version.\n\n"
                    f"Old deadline: {old}\nNew deadline: {new}",
                )
                subject = voice.pick(f"{label}: extension", f"More time for {label}", f"{label} update")
            case "by_days":
                days = voice.days(change.days)
                said = voice.pick(
                    f"The camera-ready deadline of {scope} is extended by exactly {days}; the time of the day"
                    " stays the same.",
                    f"We give {scope} {days} more for the camera-ready version, at the same time of the day.",
                )
                subject = voice.pick(f"{label}: extension", f"{label}: some more days", f"{label} update")
            case "corrected":
                said = voice.pick(
                    f"Our earlier mail had the wrong date. The camera-ready deadline of {scope} is {new},"
                    f" not {old}.",
                    f"We are sorry for a mistake: the camera-ready version for {scope} is due {new}.",
                    f"Erratum for {scope}, camera-ready version.\n\nOld deadline: {old}\nNew deadline: {new}",
                )
                subject = voice.pick(f"{label}: correction", f"Erratum: {label}", f"{label} update")
            case "zone":
                said = voice.pick(
                    f"We gave the wrong time zone: the camera-ready deadline of {scope} is {new}.",
                    f"The camera-ready version for {scope} is due {new}; our earlier mail had a wrong zone.",
                )
                subject = voice.pick(f"{label}: correction", f"{label}: time zone", f"{label} update")
            case "forward":
                said = voice.pick(
                    f"For the printer's sake, the camera-ready deadline of {scope} moves up to {new}.",
                    f"Unfortunately, camera-ready versions for {scope} are now due {new}, instead of {old}.",
                )
                subject = voice.pick(f"{label}: earlier deadline", f"{label} update", f"Please note: {label}")
        opening = voice.pick(f"This is about the final papers of {label}.", f"A change at {label}:", "")
        return self._mail(one, voice, subject, opening, said, self._aside(0.8))

    def _suspended(self, one: Submission) -> tuple[str, str, Contact]:
        voice, label = Voice(self._rng), one.edition.label
        said = voice.pick(
            f"The camera-ready deadline of the {one.track} no longer holds; a new one will be announced.",
            f"We have suspended the camera-ready deadline of the {one.track} until further notice.",
        )
        opening = voice.pick(f"{label} is changing its publisher.", f"There is news about {label}.")
        return self._mail(one, voice, f"{label}: {voice.pick('publisher', 'proceedings')}", opening, said)

    def _rejected(self, one: Submission) -> tuple[str, str, Contact]:
        voice, label = Voice(self._rng), one.edition.label
        paper = self._paper(one, voice)
        said = voice.pick(
            f"We are sorry to tell you that {paper} has not been accepted for the {one.track} of {label}.",
            f"The {one.track} of {label} could not find room for {paper}; it has not been accepted.",
            f"After much discussion {paper} has been rejected by the {one.track} of {label}.",
        )
        subject = voice.pick(
            f"{label}: decision on paper {one.number}", f"Your paper {one.number} at {label}"
        )
        return self._mail(one, voice, subject, said, self._aside())

    def _withdrawn(self, one: Submission) -> tuple[str, str, Contact]:
        voice, label = Voice(self._rng), one.edition.label
        paper = self._paper(one, voice)
        said = voice.pick(
            f"As its authors asked, {paper} has been withdrawn from the {one.track} of {label}.",
            f"We confirm that {paper} has been withdrawn from {label} ({one.track}).",
        )
        subject = voice.pick(f"{label}: paper {one.number}", f"Your request to {label}")
        return self._mail(one, voice, subject, said, self._aside(0.7))

    def _received(self, one: Submission) -> tuple[str, str, Contact]:
        voice, label = Voice(self._rng), one.edition.label
        paper = self._paper(one, voice)
        said = voice.pick(
            f"We have received the camera-ready version of {paper} for the {one.track} of {label}.",
            f"The camera-ready version of {paper} has been received by {label} ({one.track}), complete.",
        )
        subject = voice.pick(f"{label}: paper {one.number}", f"{label}: your files")
        return self._mail(one, voice, subject, said, self._aside(0.7))

    def _reminder(self, one: Submission, deadline: Deadline) -> tuple[str, str, Contact]:
        voice, label = Voice(self._rng), one.edition.label
        when = voice.deadline(deadline)
        opening = voice.pick(
            f"This is an automatic reminder of the {label} submission system.",
            f"Automatic reminder for the {one.track} of {label}.",
        )
        said = voice.pick(
            f"The camera-ready version of paper {one.number} ({one.track}) is due {when}.",
            f"Paper {one.number} ({one.track})\nCamera-ready deadline: {when}",
        )
        subject = voice.pick(
            f"Automatic reminder: {label}, paper {one.number}", f"{label}: automatic reminder ({one.number})"
        )
        subject, body, _ = self._mail(one, voice, subject, opening, said)
        return subject, body, Contact(f"{label} Submissions", f"noreply@{one.edition.conference.domain}")


def shifted(deadline: Deadline, days: int, rng: random.Random) -> Deadline:
    """A deadline some days off, stated like the other one."""
    return replace(deadline, date=deadline.date + dt.timedelta(days=days + rng.choice((-1, 0, 1))))
