"""Mails about the submissions that do not count, each for a reason that the task states."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from mesocosm.generators.set_conf_cr_ddl.conferences import (
    Contact,
    Deadline,
    Mail,
    Plan,
    Submission,
    daytime,
)
from mesocosm.generators.set_conf_cr_ddl.letters import shifted
from mesocosm.generators.set_conf_cr_ddl.names import TRACKS
from mesocosm.generators.set_conf_cr_ddl.wording import Voice, aside, finish
from mesocosm.kits.apportioning import share_of
from mesocosm.kits.prose import Prose

_OTHER_THINGS = (
    "Author registration", "The copyright form", "The presentation video", "Visa letters",
    "Posters for print", "Travel grant applications", "The slides", "Award nominations",
    "The supplementary archive", "Hotel bookings at the group rate",
)  # fmt: skip


def decoys(plan: Plan, rate: float, prose: Prose, rng: random.Random) -> list[Mail]:
    """Mails that a careless reader would go by."""
    writer = _Decoy(plan, prose, rng)
    chosen = rng.sample(plan.submissions, share_of(rate, len(plan.submissions)))
    kinds: list[Callable[[Submission, _Decoy], Mail]] = []
    mails = []
    for submission in chosen:
        if not kinds:
            kinds = rng.sample(_KINDS, len(_KINDS))
        kind = kinds.pop()
        if kind is _forwarded and not submission.changes:
            kind = _hearsay
        if kind is _doubts and not submission.due:
            kind = _look_alike
        mails.append(kind(submission, writer))
    return mails


class _Decoy:
    """What the kinds of decoys share."""

    def __init__(self, plan: Plan, prose: Prose, rng: random.Random) -> None:
        self.plan = plan
        self.prose = prose
        self.rng = rng
        self.numbers = {submission.number for submission in plan.submissions}
        self._tracks: dict[str, set[str]] = {}
        for submission in plan.submissions:
            self._tracks.setdefault(submission.edition.label, set()).add(submission.track)

    def wrong(self, one: Submission) -> Deadline:
        """A date that is not the right one, as the conference might have stated it."""
        base = one.deadline or one.first
        assert base
        return shifted(base, self.rng.choice((-6, -3, 4, 7, 12)), self.rng)

    def colleague(self) -> Contact:
        return self.rng.choice(self.plan.office.colleagues)

    def other_track(self, one: Submission) -> str:
        """A track of the same conference in which nothing of the file is."""
        taken = self._tracks[one.edition.label]
        return self.rng.choice([track for track in TRACKS if track not in taken])

    def other_number(self) -> int:
        while (number := self.rng.randint(101, 9_899)) in self.numbers:
            pass
        return number

    def mail(
        self,
        one: Submission,
        author: Contact,
        subject: str,
        blocks: Sequence[str],
        states: Deadline | None = None,
        days_ago: float | None = None,
    ) -> Mail:
        """A mail between the announcement and now, unless it is older."""
        now, first = self.plan.office.now, one.moments[0]
        if days_ago is None:
            moment = first + (now - first) * self.rng.uniform(0.3, 0.98)
        else:
            moment = now - dt.timedelta(days=days_ago)
        return Mail(
            daytime(moment.replace(microsecond=0), author, self.plan.office),
            author,
            subject,
            finish("\n\n".join(block for block in blocks if block)),
            states=states.instant if states else None,
            about=one.number,
        )

    def sign(self, author: Contact) -> str:
        return author.person.first if author.person else author.name

    def aside(self) -> str:
        return aside(self.prose) if self.rng.random() < 0.75 else ""


def _other_track(one: Submission, at: _Decoy) -> Mail:
    """Wrong because it is about another track."""
    voice, label, track = Voice(at.rng), one.edition.label, at.other_track(one)
    states = at.wrong(one)
    when = voice.deadline(states)
    said = voice.pick(
        f"The camera-ready version for the {track} is due {when}.",
        f"{track}: camera-ready deadline moved to {when}.",
        f"In the {track} we extend the camera-ready deadline to {when}.",
    )
    opening = voice.pick(f"To the authors of the {track} at {label}:", f"{label}, {track}.")
    author = at.rng.choice(one.edition.chairs)
    subject = voice.pick(f"{label}, {track}: camera-ready", f"{label}: news from the {track}")
    return at.mail(one, author, subject, [opening, said, at.aside(), at.sign(author)], states)


def _earlier_edition(one: Submission, at: _Decoy) -> Mail:
    """Wrong because it is about last year's conference."""
    voice = Voice(at.rng)
    edition = replace(one.edition, year=one.edition.year - 1)
    base = one.deadline
    assert base
    past = at.plan.office.now.date() - dt.timedelta(days=at.rng.randint(300, 350))
    # Stated as this year's is, of the same month or nearly so.
    states = replace(base, date=past, zone="aoe", place="", offset=-12.0)
    when = voice.deadline(states)
    said = voice.pick(
        f"The camera-ready version for the {one.track} is due {when}.",
        f"For the {one.track}, please upload the camera-ready version no later than {when}.",
    )
    author = Contact(f"{edition.label} {voice.pick('Chairs', 'Proceedings')}", one.edition.chairs[0].email)
    subject = voice.pick(f"{edition.label}: camera-ready instructions", f"{edition.label}: final papers")
    return at.mail(
        one,
        author,
        subject,
        [f"Dear {edition.label} authors,", said, at.aside(), author.name],
        days_ago=at.rng.uniform(352, 385),
    )


def _other_thing(one: Submission, at: _Decoy) -> Mail:
    """Wrong because it is not the camera-ready version that is due."""
    voice, label = Voice(at.rng), one.edition.label
    states = at.wrong(one)
    thing, second = at.rng.sample(_OTHER_THINGS, 2)
    whens = voice.deadline(states), voice.deadline(shifted(states, 3, at.rng))
    lines = "\n".join(f"{what}: {when}" for what, when in zip((thing, second), whens, strict=True))
    opening = voice.pick(f"Two dates for your diary at {label}, {one.track}:", f"Next steps for {label}:")
    author = at.rng.choice(one.edition.chairs)
    subject = voice.pick(
        f"{label}: {thing.lower()}", f"Further dates of {label}", f"{label}: before you travel"
    )
    return at.mail(one, author, subject, [opening, lines, at.aside(), at.sign(author)], states)


def _other_paper(one: Submission, at: _Decoy) -> Mail:
    """Wrong because it is granted to another paper alone."""
    voice, label, number = Voice(at.rng), one.edition.label, at.other_number()
    states = at.wrong(one)
    when = voice.deadline(states)
    said = voice.pick(
        f"Paper {number} alone may hand in its camera-ready version until {when}.",
        f"On request, the camera-ready deadline of paper {number} is {when}; nobody else's changes.",
        f"Only for paper {number}, the camera-ready version is due {when}.",
    )
    opening = voice.pick(f"A note on the {one.track} of {label}.", f"{label}, {one.track}:")
    author = at.rng.choice(one.edition.chairs)
    subject = voice.pick(f"{label}: more time for paper {number}", f"{label}: paper {number}")
    return at.mail(one, author, subject, [opening, said, at.aside(), at.sign(author)], states)


def _hearsay(one: Submission, at: _Decoy) -> Mail:
    """Wrong because a colleague says so, not the conference."""
    voice, label, author = Voice(at.rng), one.edition.label, at.colleague()
    states = at.wrong(one)
    when = voice.deadline(states)
    said = voice.pick(
        f"I heard that {label} ({one.track}) has extended its camera-ready deadline to {when}.",
        f"Over coffee someone said the camera-ready version for {label} ({one.track}) is due {when}.",
        f"If I remember correctly, {label} wants camera-ready versions of the {one.track} by {when}.",
    )
    user = at.plan.office.user
    hello = f"Hi {user.person.first if user.person else user.name},"
    subject = voice.pick(f"{label} deadline?", f"About {label}", f"{label}: heard anything?")
    return at.mail(one, author, subject, [hello, said, at.aside(), at.sign(author)], states)


def _forwarded(one: Submission, at: _Decoy) -> Mail:
    """Wrong because a colleague forwards what the conference has changed since."""
    voice, label, author = Voice(at.rng), one.edition.label, at.colleague()
    states = at.rng.choice(one.changes).before
    when = voice.deadline(states)
    original = one.edition.chairs[0]
    quoted = "\n".join(
        (
            "---------- Forwarded message ----------",
            f"From: {original.name} <{original.email}>",
            f"Subject: {label}: camera-ready deadline",
            "",
            f"The camera-ready version for the {one.track} is due {when}.",
        )
    )
    mail = at.mail(
        one,
        author,
        f"Fwd: {label}: camera-ready deadline",
        [voice.pick("In case you missed this.", "FYI", "For your list:"), at.aside(), quoted],
        states,
    )
    # Later than the change, so that the order of the mails misleads.
    last = one.valid_from(len(one.changes))
    moment = max(mail.moment, (last + (at.plan.office.now - last) * 0.6).replace(microsecond=0))
    return replace(mail, moment=daytime(moment, author, at.plan.office))


def _look_alike(one: Submission, at: _Decoy) -> Mail:
    """Wrong because it comes from an address that only looks like the conference's."""
    voice, label = Voice(at.rng), one.edition.label
    acronym = one.edition.conference.acronym.lower()
    domain = voice.pick(f"{acronym}-proceedings.com", f"{acronym}-conference.com", f"my-{acronym}.com")
    states = at.wrong(one)
    when = voice.deadline(states)
    author = Contact(
        f"{label} {voice.pick('Publishing', 'Proceedings Desk', 'Services')}", f"papers@{domain}"
    )
    said = voice.pick(
        f"The camera-ready version for the {one.track} of {label} is now due {when}.",
        f"{label} ({one.track}) has moved its camera-ready deadline to {when}.",
    )
    more = voice.pick("Printed volumes cost extra.", "Our layout service is at your disposal.", "")
    subject = voice.pick(f"{label} camera-ready", f"{label}: updated deadline", f"{label} proceedings")
    return at.mail(one, author, subject, ["Dear author,", said, at.aside(), more, author.name], states)


def _doubts(one: Submission, at: _Decoy) -> Mail:
    """Wrong because colleagues only think about withdrawing the paper, or believe that it is done."""
    voice, label, author = Voice(at.rng), one.edition.label, at.colleague()
    said = voice.pick(
        f"Should we withdraw paper {one.number} from {label} ({one.track})? The numbers in it bother me.",
        f"I thought paper {one.number} at {label} ({one.track}) had been withdrawn long ago.",
        f"Has the camera-ready version of paper {one.number} ({label}, {one.track}) not been received yet?",
    )
    user = at.plan.office.user
    hello = f"Hi {user.person.first if user.person else user.name},"
    subject = voice.pick(f"Our paper at {label}", f"{label}: second thoughts", f"Paper {one.number}")
    return at.mail(one, author, subject, [hello, said, at.aside(), at.sign(author)])


_KINDS: tuple[Callable[[Submission, _Decoy], Mail], ...] = (
    _other_track, _earlier_edition, _other_thing, _other_paper, _hearsay, _forwarded, _look_alike, _doubts,
)  # fmt: skip
