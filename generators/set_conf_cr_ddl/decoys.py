"""Mails about the submissions that do not count, each for a reason that the task states."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from mesocosm.generators.set_conf_cr_ddl import statements
from mesocosm.generators.set_conf_cr_ddl.composing import Composer
from mesocosm.generators.set_conf_cr_ddl.conferences import (
    Contact,
    Deadline,
    Mail,
    Plan,
    Submission,
    waking,
)
from mesocosm.generators.set_conf_cr_ddl.letters import Letters, shifted
from mesocosm.generators.set_conf_cr_ddl.names import TRACKS
from mesocosm.generators.set_conf_cr_ddl.wording import Voice
from mesocosm.kits.apportionment import share_of

_OTHER_THINGS = (
    "Author registration", "The copyright form", "The presentation video", "Visa letters",
    "Posters for print", "Travel grant applications", "The slides", "Award nominations",
    "The supplementary archive", "Hotel bookings at the group rate",
)  # fmt: skip
_AHEAD = dt.timedelta(days=2)
"""So long before a day somebody still names it."""


def decoys(plan: Plan, rate: float, composer: Composer, letters: Letters, rng: random.Random) -> list[Mail]:
    """Mails that a careless reader would go by."""
    writer = _Decoy(plan, composer, letters, rng)
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
    """Base of all kinds of decoys."""

    def __init__(self, plan: Plan, composer: Composer, letters: Letters, rng: random.Random) -> None:
        self.plan = plan
        self.composer = composer
        self.letters = letters
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

    def moment(self, one: Submission, states: Deadline | None = None) -> dt.datetime:
        """Some time between the announcement and now, while what is stated still lies ahead."""
        last, first = self.plan.office.now, one.moments[0]
        if states:
            last = max(min(last, states.instant - _AHEAD), first + _AHEAD / 2)
        return waking((first + (last - first) * self.rng.uniform(0.1, 0.98)), self.plan.office)

    def official(
        self, one: Submission, fact: str, states: Deadline | None, *, moment: dt.datetime | None = None
    ) -> Mail:
        """A mail of the conference, as its others are."""
        author = self.composer.author_of(one.edition)
        return Mail(
            moment or self.moment(one, states),
            author,
            self.letters.subject(one, of_paper=False),
            self.composer.official(one.edition, author, [fact]),
            states=states.instant if states else None,
            about=one.number,
        )

    def personal(
        self, one: Submission, author: Contact, subject: str, facts: Sequence[str], states: Deadline | None
    ) -> Mail:
        """A mail of a colleague."""
        return Mail(
            self.moment(one, states),
            author,
            subject,
            self.composer.personal(author, facts),
            states=states.instant if states else None,
            about=one.number,
        )


def _other_track(one: Submission, at: _Decoy) -> Mail:
    """Wrong because it is about another track."""
    elsewhere = replace(one, track=at.other_track(one))
    states = at.wrong(one)
    when = Voice(at.rng).deadline(states)
    if at.rng.random() < 0.5:
        fact = at.letters.say(statements.TO_ALL, elsewhere, when=when)
    else:
        ways = [way for way in statements.EXTENDED if "{old}" not in way]
        fact = at.letters.say(ways, elsewhere, scope=f"the {elsewhere.track}", new=when)
    return at.official(elsewhere, fact, states)


def _earlier_edition(one: Submission, at: _Decoy) -> Mail:
    """Wrong because it is about last year's conference."""
    year = one.edition.year - 1
    label = f"{one.edition.conference.acronym} {year}"
    office = one.edition.chairs[0]
    chairs = (Contact(office.name.replace(one.edition.label, label), office.email), one.edition.chairs[1])
    earlier = replace(one, edition=replace(one.edition, year=year, chairs=chairs))
    assert one.deadline
    past = at.plan.office.now.date() - dt.timedelta(days=at.rng.randint(300, 350))
    # Stated as this year's is, of the same month or nearly so.
    states = replace(one.deadline, date=past, zone="aoe", place="", offset=-12.0)
    fact = at.letters.say(statements.TO_ALL, earlier, when=Voice(at.rng).deadline(states))
    ago = dt.timedelta(days=at.rng.uniform(352, 385))
    return at.official(earlier, fact, states, moment=waking(at.plan.office.now - ago, at.plan.office))


def _other_thing(one: Submission, at: _Decoy) -> Mail:
    """Wrong because it is not the camera-ready version that is due."""
    voice, label = Voice(at.rng), one.edition.label
    states = at.wrong(one)
    thing, second = at.rng.sample(_OTHER_THINGS, 2)
    when, then = voice.deadline(states), voice.deadline(shifted(states, 3, at.rng))
    fact = at.rng.choice(
        (
            f"Two dates for your diary at {label} ({one.track}):\n{thing}: {when}\n{second}: {then}",
            f"{thing} for {label} ({one.track}): by {when}.",
            f"At {label} ({one.track}) there are two more dates: {when} ({thing.lower()}) and {then}"
            f" ({second.lower()}).",
            f"{label} ({one.track}) takes this until {when}: {thing.lower()}.",
            f"{when} is the last moment for this: {thing.lower()}, {label} ({one.track}).",
            f"Please mind what is next for the {one.track} of {label}, {thing.lower()}, until {when}.",
        )
    )
    return at.official(one, fact, states)


def _other_paper(one: Submission, at: _Decoy) -> Mail:
    """Wrong because it is granted to another paper alone."""
    number, states = at.other_number(), at.wrong(one)
    when, at_track = Voice(at.rng).deadline(states), f"{one.track} of {one.edition.label}"
    fact = at.rng.choice(
        (
            f"In the {at_track}, the camera-ready version of paper {number} alone may come as late as"
            f" {when}.",
            f"On request, the camera-ready deadline of paper {number} in the {at_track} is {when}; nobody"
            " else's changes.",
            f"Only for paper {number} of the {at_track}, the camera-ready version is due {when}.",
            f"We make an exception in the {at_track}: paper {number} sends its final version by {when}.",
            f"The authors of paper {number} asked us, and they alone in the {at_track} have until {when} for"
            " the final version.",
            f"In the {at_track}, {when} is the camera-ready deadline of paper {number}, and of no other.",
        )
    )
    return at.official(one, fact, states)


def _hearsay(one: Submission, at: _Decoy) -> Mail:
    """Wrong because a colleague says so, not the conference."""
    voice, label, author = Voice(at.rng), one.edition.label, at.colleague()
    states = at.wrong(one)
    when = voice.deadline(states)
    said = voice.pick(
        f"I heard that {label} ({one.track}) has extended its camera-ready deadline to {when}.",
        f"Over coffee someone said the camera-ready version for {label} ({one.track}) is due {when}.",
        f"If I remember correctly, {label} wants camera-ready versions of the {one.track} by {when}.",
        f"According to Jo next door, final versions for {label} ({one.track}) are due {when}.",
        f"Did they not write that the {one.track} of {label} takes final versions until {when}?",
        f"My note says {when} for the camera-ready version at {label} ({one.track}), whoever told me.",
    )
    subject = voice.pick(f"{label}?", f"About {label}", f"{label}: heard anything?", f"{label} again")
    return at.personal(one, author, subject, [said], states)


def _forwarded(one: Submission, at: _Decoy) -> Mail:
    """Wrong because a colleague forwards what the conference has changed since."""
    voice, label, author = Voice(at.rng), one.edition.label, at.colleague()
    states = at.rng.choice(one.changes).before
    when = voice.deadline(states)
    original = one.edition.chairs[0]
    said = at.letters.say(statements.TO_ALL, one, when=when)
    quoted = "\n".join(
        (
            "---------- Forwarded message ----------",
            f"From: {original.name} <{original.email}>",
            f"Subject: {label}",
            "",
            said,
        )
    )
    note = voice.pick("In case you missed this.", "This came to me.", "For your list.")
    mail = at.personal(one, author, f"Fwd: {label}", [note, quoted], states)
    # Later than the change, so that the order of the mails misleads.
    last, now = one.valid_from(len(one.changes)), at.plan.office.now
    later = last + (now - last) * at.rng.uniform(0.3, 0.9)
    return replace(mail, moment=max(mail.moment, later.replace(microsecond=0)))


def _look_alike(one: Submission, at: _Decoy) -> Mail:
    """Wrong because it comes from an address that only looks like the conference's."""
    voice, label = Voice(at.rng), one.edition.label
    domain = at.plan.names.look_alike(one.edition.conference)
    states = at.wrong(one)
    author = Contact(
        f"{label} {voice.pick('Publishing', 'Proceedings Desk', 'Services')}",
        f"{voice.pick('papers', 'authors', 'chairs')}@{domain}",
    )
    fact = at.letters.say(statements.TO_ALL, one, when=voice.deadline(states))
    mail = at.official(one, fact, states)
    return replace(mail, author=author, body=at.composer.official(one.edition, author, [fact]))


def _doubts(one: Submission, at: _Decoy) -> Mail:
    """Wrong because colleagues only think about withdrawing the paper, or believe that it is done."""
    voice, label, author = Voice(at.rng), one.edition.label, at.colleague()
    said = voice.pick(
        f"Should we withdraw paper {one.number} from {label} ({one.track})? The numbers in it bother me.",
        f"I thought paper {one.number} at {label} ({one.track}) had been withdrawn long ago.",
        f"Has the camera-ready version of paper {one.number} ({label}, {one.track}) not been received yet?",
        f"Somebody told me that paper {one.number} was turned down by the {one.track} of {label}.",
        f"Is paper {one.number} still in the {one.track} of {label}? I had it down as withdrawn.",
        f"I believe that the final version of paper {one.number} has gone to {label} ({one.track}) already.",
    )
    subject = voice.pick(f"Our paper at {label}", f"{label}: second thoughts", f"Paper {one.number}")
    return at.personal(one, author, subject, [said], None)


_KINDS: tuple[Callable[[Submission, _Decoy], Mail], ...] = (
    _other_track, _earlier_edition, _other_thing, _other_paper, _hearsay, _forwarded, _look_alike, _doubts,
)  # fmt: skip
