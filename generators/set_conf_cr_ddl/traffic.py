"""Everything else that arrives: mails about other papers, of other conferences, everyday mails, and
appointments."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import orjson

from mesocosm.generators.set_conf_cr_ddl import statements
from mesocosm.generators.set_conf_cr_ddl.composing import Composer
from mesocosm.generators.set_conf_cr_ddl.conferences import (
    Contact,
    Deadline,
    Edition,
    Mail,
    Office,
    Plan,
    Submission,
    waking,
)
from mesocosm.generators.set_conf_cr_ddl.expected import LEAD, title_of
from mesocosm.generators.set_conf_cr_ddl.letters import Letters, shifted
from mesocosm.generators.set_conf_cr_ddl.names import TRACKS
from mesocosm.generators.set_conf_cr_ddl.wording import Voice
from mesocosm.kits.apportionment import spend
from mesocosm.kits.moments import is_holiday
from mesocosm.kits.prose import Prose, Topic
from mesocosm.kits.wording import Phrases
from mesocosm.worlds import tokens

_WITHIN: tuple[Topic, ...] = ("research", "research", "personal", "travel", "campus_life", "events")
_DESKS: dict[tuple[str, str], tuple[Topic, ...]] = {
    ("IT Helpdesk", "helpdesk"): ("it_support",), ("Human Resources", "hr"): ("hr",),
    ("Finance Office", "finance"): ("finance",), ("Newsletter", "news"): ("newsletter", "events"),
    ("Staff Association", "staff"): ("campus_life", "hr"),
}  # fmt: skip
"""Names and mailboxes of offices, and what they write about."""
_WEIGHTS = {"noise": 0.7, "mail": 0.2, "event": 0.1}
"""Weights of noise that is about no paper, by tokens."""
_PIECE = 320
_SMALLEST = 40
MAIL_OVERHEAD = 205
"""Tokens of the JSON around a mail, where it is listed and where it is read; measured on whole worlds."""
ANSWER_OVERHEAD = 60
"""And of the headers that tie an answer to its conversation."""
EVENT_OVERHEAD = 395
"""Tokens of the JSON around an event."""


@dataclass(frozen=True)
class Appointment:
    """An event before it is stored."""

    start: dt.datetime
    end: dt.datetime
    title: str
    description: str | None = None
    location: str | None = None
    made: dt.datetime | None = None
    """Shortly before it was put into the calendar; ``None``: some time before it starts, and before now."""
    key: tuple[str, int] | None = None
    """Which submission or unlisted conference it is about."""


Item = Mail | Appointment


def reminders_held(submissions: Iterable[Submission], kind: str) -> Iterator[Appointment]:
    """Reminders that the calendar holds already: right ones, outdated ones and needless ones."""
    for one in submissions:
        if not one.event:
            continue
        deadline, known = one.deadline, one.valid_from(0)
        if one.event == "outdated":
            deadline, known = one.changes[-1].before, one.valid_from(len(one.changes) - 1)
        assert deadline
        end = deadline.instant
        title = title_of(one.edition.label, one.track)
        key = (kind, one.number if kind == "held" else 0)
        yield Appointment(end - LEAD, end, title, made=known, key=key)


class Traffic:
    """Writes what has nothing to do with the submissions, to be told from evidence only by being read."""

    def __init__(
        self, plan: Plan, composer: Composer, letters: Letters, prose: Prose, rng: random.Random
    ) -> None:
        self._plan = plan
        self._office: Office = plan.office
        self._composer = composer
        self._letters = letters
        self._phrases = Phrases(rng)
        self._prose = prose
        self._rng = rng
        domain = plan.office.domain
        self._desks = [
            (Contact(name, f"{handle}@{domain}"), topics) for (name, handle), topics in _DESKS.items()
        ]
        self._writers = {desk.email: [prose.person(), prose.person()] for desk, _ in self._desks}
        self._people = [*plan.office.colleagues, *(self._person() for _ in range(12))]
        self._editions = list({one.edition.label: one.edition for one in plan.submissions}.values())
        self._moments = [moment for one in plan.submissions for moment in one.moments]

    def _person(self) -> Contact:
        person = self._prose.person()
        domain = self._plan.names.university(self._prose.place())
        return Contact(person.name, f"{person.handle}@{domain}", person)

    @property
    def domains(self) -> set[str]:
        """From where conferences write."""
        return {edition.conference.domain for edition in (*self._editions, *self._plan.noise)}

    # -- other papers --------------------------------------------------------------------------------------

    def papers(self, submissions: Iterator[Submission], budget: int) -> list[Item]:
        """All mails and reminders about the first of these submissions that ``budget`` is enough for."""
        found: list[Item] = []
        left = budget
        for one in submissions:
            items: list[Item] = [*self._letters.about(one), *reminders_held([one], "other")]
            price = sum(map(cost, items))
            if price > left:
                break
            found += items
            left -= price
            if one.edition not in self._editions:
                self._editions.append(one.edition)
        return found

    # -- conferences ---------------------------------------------------------------------------------------

    def noise(self, most: int) -> list[Mail]:
        """Between one and ``most`` mails of every conference outside the file."""
        mails = []
        for edition in self._plan.noise:
            mails += [self._about(edition) for _ in range(self._rng.randint(1, most))]
        return mails

    def _about(self, edition: Edition) -> Mail:
        """A general mail, or one about registration, proposals, or camera-ready versions of others."""
        voice, label = Voice(self._rng), edition.label
        track = voice.pick(*TRACKS)
        day = self._office.now.date() + dt.timedelta(days=self._rng.randint(-20, 120))
        deadline = Deadline(day, None if voice.chance(0.3) else dt.time(23, 59), "aoe")
        ways = voice.pick("", "to all", "elsewhere", "elsewhere")
        facts: list[str] = []
        if ways:
            said = statements.TO_ALL if ways == "to all" else statements.ELSEWHERE
            facts = [self._phrases.say(said, label=label, track=track, when=voice.deadline(deadline))]
        return self._official(edition, facts, track)

    def _official(self, edition: Edition, facts: Sequence[str], track: str) -> Mail:
        author = self._composer.author_of(edition)
        subject = self._phrases.part(statements.SUBJECTS, label=edition.label, track=track)
        return Mail(self._moment(), author, subject, self._composer.official(edition, author, facts))

    def _small_talk(self) -> Mail:
        """A conference of the file, or of another paper, about anything but papers' fates and deadlines."""
        return self._official(self._rng.choice(self._editions), [], self._rng.choice(TRACKS))

    # -- the rest ------------------------------------------------------------------------------------------

    def worth(self, budget: int) -> list[Item]:
        """Items that cost ``budget`` tokens together where the survey meets them."""
        return spend(
            budget,
            _WEIGHTS,
            self._some,
            cost,
            lambda size: self._everyday(size - MAIL_OVERHEAD - 30),
            piece=MAIL_OVERHEAD + _PIECE,
            least=MAIL_OVERHEAD + _SMALLEST,
        )

    def _some(self, place: str) -> list[Item]:
        rng = self._rng
        if place == "event":
            return [self.appointment()]
        if place == "noise":
            if rng.random() < 0.6 or not self._plan.noise:
                return [self._small_talk()]
            return [self._about(rng.choice(self._plan.noise))]
        if rng.random() < 0.25:
            return list(self._thread(rng.randint(150, 420)))
        return [self._everyday(rng.randint(80, 250))]

    def _everyday(self, size: int) -> Mail:
        rng = self._rng
        if rng.random() < 0.4:
            author, topics = rng.choice(self._desks)
            # Somebody writes for the office.
            topic, writer = rng.choice(topics), rng.choice(self._writers[author.email])
        else:
            author, topic = rng.choice(self._people), rng.choice(_WITHIN)
            assert author.person
            writer = author.person
        message = self._prose.message(topic, max(20, size), writer, self._office.user.person)
        return Mail(self._moment(), author, message.subject, message.body)

    def _thread(self, size: int) -> list[Mail]:
        rng = self._rng
        people = rng.sample(self._people, 3)
        by_person = {one.person: one for one in people}
        length = rng.randint(2, 4)
        messages = self._prose.thread(
            rng.choice(_WITHIN), length, [one.person for one in people if one.person], tokens=size // length
        )
        moment = self._moment() - dt.timedelta(days=3)
        mark = f"{moment:%Y%m%d%H%M%S}-{people[0].email}"
        mails = []
        for message in messages:
            shown = waking(moment, self._office)
            mails.append(Mail(shown, by_person[message.sender], message.subject, message.body, mark))
            moment += dt.timedelta(minutes=rng.randint(15, 700))
        return mails

    def _moment(self) -> dt.datetime:
        """Some time, as likely as one at which a mail about a submission was sent."""
        near = self._rng.choice(self._moments) + dt.timedelta(days=self._rng.uniform(-2, 2))
        latest = self._office.now - dt.timedelta(minutes=self._rng.randint(20, 900))
        return waking(min(near, latest).replace(microsecond=0), self._office)

    # -- appointments --------------------------------------------------------------------------------------

    def appointment(self) -> Appointment:
        """Something else in the calendar, before or after now."""
        rng, prose = self._rng, self._prose
        topic = rng.choice(_WITHIN)
        message = prose.message(topic, 20)
        day = self._office.now.date() + dt.timedelta(days=rng.randint(-30, 120))
        if topic == "research":
            day = _working_day(day)
        start = dt.datetime.combine(day, dt.time(rng.randint(8, 18), rng.choice((0, 15, 30, 45))))
        start = start.replace(tzinfo=self._office.zone)
        return Appointment(
            start,
            start + dt.timedelta(minutes=rng.choice((30, 45, 60, 60, 90, 120))),
            message.subject,
            prose.paragraph(topic, rng.randint(1, 3)) if rng.random() < 0.6 else None,
            prose.place() if rng.random() < 0.3 else None,
        )

    def about_camera_ready(self, number: int) -> list[Appointment]:
        """Appointments that look like reminders: of conferences outside the file, or with another title."""
        rng, found = self._rng, []
        editions = rng.sample(self._plan.noise, min(len(self._plan.noise), number - number // 2))
        for edition in editions:
            day = self._office.now.date() + dt.timedelta(days=rng.randint(5, 60))
            deadline = Deadline(day, dt.time(23, 59), "aoe")
            end = deadline.instant
            title = title_of(edition.label, rng.choice(TRACKS))
            found.append(Appointment(end - LEAD, end, title, key=("unlisted", 0)))
        due = [one for one in self._plan.submissions if one.due]
        for one in rng.sample(due, min(len(due), number // 2)):
            assert one.deadline
            # Colleagues meet by their own clocks, whatever that of the deadline.
            day = _working_day(shifted(one.deadline, -4, rng).date)
            start = dt.datetime.combine(day, dt.time(rng.randint(9, 16)), self._office.zone)
            who = rng.choice(self._office.colleagues)
            what = rng.choice(("figures", "proofs", "fonts", "appendix"))
            title = f"{one.edition.label} camera-ready: {what} with {who.name}"
            end = start + dt.timedelta(hours=1)
            found.append(Appointment(start, end, title, key=("similar", one.number)))
        return found


def _working_day(day: dt.date) -> dt.date:
    """The day, or the last one before it on which people work."""
    while day.weekday() > 4 or is_holiday(day):
        day -= dt.timedelta(days=1)
    return day


def cost(item: Item) -> int:
    """Tokens of an item where the survey meets it: its text once, sender and subject wherever listed."""
    if isinstance(item, Appointment):
        texts = [item.title, item.description or "", item.location or ""]
        return EVENT_OVERHEAD + sum(tokens.count(text) for text in texts)
    said = tokens.count(orjson.dumps(item.body).decode())
    head = tokens.count(item.subject) + tokens.count(f"{item.author.name} <{item.author.email}>")
    answer = ANSWER_OVERHEAD if item.thread and item.subject.startswith("Re: ") else 0
    return MAIL_OVERHEAD + answer + said + 2 * head
