"""Everything else that arrives: mails of conferences outside the file, everyday mails, and appointments."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass, replace

import orjson

from mesocosm.generators.set_conf_cr_ddl.conferences import (
    Contact,
    Deadline,
    Edition,
    Mail,
    Office,
    Plan,
    daytime,
)
from mesocosm.generators.set_conf_cr_ddl.letters import shifted
from mesocosm.generators.set_conf_cr_ddl.names import TRACKS
from mesocosm.generators.set_conf_cr_ddl.wording import Voice, aside, finish, is_loaded
from mesocosm.kits.prose import Message, Prose, Topic
from mesocosm.kits.spending import spend
from mesocosm.worlds import tokens

_TOPICS: tuple[Topic, ...] = (
    "research", "project_work", "hr", "it_support", "travel", "newsletter", "events", "finance", "admissions",
)  # fmt: skip
_WITHIN: tuple[Topic, ...] = ("research", "project_work", "personal", "travel", "campus_life", "events")
_DESKS = (
    ("IT Helpdesk", "helpdesk"), ("Human Resources", "hr"), ("Travel Office", "travel"),
    ("Finance Office", "finance"), ("Newsletter", "news"), ("Research Office", "research-office"),
)  # fmt: skip
_WEIGHTS = {"noise": 0.4, "mail": 0.4, "event": 0.2}
"""How what is added spreads over the places in which evidence lives, by tokens."""
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


class Traffic:
    """Writes what has nothing to do with the submissions, to be told from evidence only by being read."""

    def __init__(self, plan: Plan, prose: Prose, rng: random.Random) -> None:
        self._plan = plan
        self._office: Office = plan.office
        self._prose = prose
        self._rng = rng
        domain = plan.office.domain
        self._desks = [Contact(name, f"{handle}@{domain}") for name, handle in _DESKS]
        self._people = [*plan.office.colleagues, *(self._person() for _ in range(12))]
        self._editions = list({one.edition.label: one.edition for one in plan.submissions}.values())

    def _person(self) -> Contact:
        person = self._prose.person()
        word = self._prose.place().lower().replace(" ", "").replace("'", "")
        return Contact(person.name, f"{person.handle}@{word}.edu", person)

    # -- conferences outside the file ----------------------------------------------------------------------

    def noise(self, most: int) -> list[Mail]:
        """Between one and ``most`` mails of every conference outside the file."""
        mails = []
        for edition in self._plan.noise:
            mails += [self._about(edition) for _ in range(self._rng.randint(1, most))]
        return mails

    def _about(self, edition: Edition, size: int | None = None) -> Mail:
        """A general mail, or one about a workshop, registration or a camera-ready version."""
        voice, label = Voice(self._rng), edition.label
        size = size or self._rng.randint(45, 150)
        track = voice.pick(*TRACKS)
        author = self._rng.choice(edition.chairs)
        kind = self._rng.random()
        if kind < 0.35:
            message = self._message("conference", size, author, f"{label} ~ {track}")
            return self._mail(author, message.subject, message.body)
        day = self._office.now.date() + dt.timedelta(days=self._rng.randint(-20, 120))
        deadline = Deadline(day, None if voice.chance(0.3) else dt.time(23, 59), "aoe")
        when = voice.deadline(deadline)
        if kind < 0.55:
            subject = voice.pick(f"{label}: camera-ready", f"{label} {track}: final papers")
            said = voice.pick(
                f"{label}, {track}: camera-ready versions until {when}.",
                f"Camera-ready papers ({track}) go to {author.name} by {when}.",
                f"{label} ({track}) moves camera-ready papers to {when}.",
                f"Authors of the {track}, please note {when} as the {label} camera-ready deadline.",
            )
        elif kind < 0.75:
            subject = voice.pick(f"Workshops at {label}", f"{label}: call for the {track}")
            said = voice.pick(
                f"{label} invites papers for its {track} until {when}.",
                f"The {track} of {label} reads abstracts until {when}.",
                f"Proposals ({track}) reach {author.name} until {when}.",
            )
        else:
            subject = voice.pick(f"{label} registration", f"Come to {label}", f"{label}: early bird")
            said = voice.pick(
                f"{label} is cheaper if you register by {when}.",
                f"Registration ({track}, {label}) closes {when}.",
                f"Until {when}, {label} offers its early rate.",
            )
        left = max(20, size - tokens.count(said))
        rest = self._prose.paragraph("conference", max(1, left // 26))
        blocks = [said, rest, author.name] if voice.chance(0.5) else [rest, said, author.name]
        return self._mail(author, subject, finish("\n\n".join(blocks)))

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
            if rng.random() < 0.4 or not self._plan.noise:
                return [self._small_talk(rng.choice(self._editions), rng.randint(50, 200))]
            return [self._about(rng.choice(self._plan.noise), rng.randint(50, 220))]
        if rng.random() < 0.25:
            return list(self._thread(rng.randint(150, 420)))
        return [self._everyday(rng.randint(60, 330))]

    def _small_talk(self, edition: Edition, size: int) -> Mail:
        """A conference of the file about anything but papers' fates and deadlines."""
        author = self._rng.choice(edition.chairs)
        message = self._message("conference", size, author, f"{edition.label} ~ meeting")
        if not is_loaded((message.subject + message.body).replace(edition.label, "")):
            return self._mail(author, message.subject, message.body)
        # The longer a text, the surer that it touches on papers: sentences that do not are put together.
        blocks = [self._rng.choice((f"News from {edition.label}:", f"{edition.label} in brief."))]
        while sum(map(tokens.count, blocks)) < size:
            blocks.append(" ".join(aside(self._prose) for _ in range(2)))
        what = self._rng.choice(("programme", "venue", "news", "the week itself"))
        return self._mail(author, f"{edition.label}: {what}", "\n\n".join([*blocks, author.name]))

    def _everyday(self, size: int) -> Mail:
        rng = self._rng
        if rng.random() < 0.4:
            author, topic = rng.choice(self._desks), rng.choice(_TOPICS)
        else:
            author, topic = rng.choice(self._people), rng.choice(_WITHIN)
        message = self._prose.message(topic, max(20, size), author.person, self._office.user.person)
        return self._mail(author, message.subject, message.body)

    def _thread(self, size: int) -> list[Mail]:
        rng = self._rng
        people = rng.sample(self._people, 3)
        by_person = {one.person: one for one in people}
        length = rng.randint(2, 4)
        messages = self._prose.thread(
            rng.choice(_WITHIN), length, [one.person for one in people if one.person], tokens=size // length
        )
        moment = self._moment(people[0]) - dt.timedelta(days=1)
        mark = f"{moment:%Y%m%d%H%M%S}-{people[0].email}"
        mails = []
        for message in messages:
            mails.append(Mail(moment, by_person[message.sender], message.subject, message.body, mark))
            moment += dt.timedelta(minutes=rng.randint(15, 400))
        return mails

    def _message(self, topic: Topic, size: int, author: Contact, matter: str) -> Message:
        return self._prose.message(topic, size, author.person, matter=matter)

    def _mail(self, author: Contact, subject: str, body: str) -> Mail:
        return Mail(self._moment(author), author, subject, body)

    def _moment(self, author: Contact) -> dt.datetime:
        """Within the last two months; conferences write from all over the world."""
        back = dt.timedelta(days=self._rng.uniform(0.02, 62))
        return daytime((self._office.now - back).replace(microsecond=0), author, self._office)

    # -- appointments --------------------------------------------------------------------------------------

    def appointment(self) -> Appointment:
        """Something else in the calendar, before or after now."""
        rng, prose = self._rng, self._prose
        topic = rng.choice(_WITHIN)
        message = prose.message(topic, 20)
        day = self._office.now.date() + dt.timedelta(days=rng.randint(-30, 120))
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
            title = f"Camera-ready: {edition.label} ({rng.choice(TRACKS)})"
            found.append(Appointment(end - dt.timedelta(hours=3), end, title, key=("unlisted", 0)))
        due = [one for one in self._plan.submissions if one.due]
        for one in rng.sample(due, min(len(due), number // 2)):
            assert one.deadline
            start = shifted(replace(one.deadline, time=dt.time(9)), -4, rng).instant
            who = rng.choice(self._office.colleagues)
            what = rng.choice(("figures", "proofs", "fonts", "appendix"))
            title = f"{one.edition.label} camera-ready: {what} with {who.name}"
            end = start + dt.timedelta(hours=1)
            found.append(Appointment(start, end, title, key=("similar", one.number)))
        return found


def cost(item: Item) -> int:
    """Tokens of an item where the survey meets it: its text once, sender and subject wherever listed."""
    if isinstance(item, Appointment):
        texts = [item.title, item.description or "", item.location or ""]
        return EVENT_OVERHEAD + sum(tokens.count(text) for text in texts)
    said = tokens.count(orjson.dumps(item.body).decode())
    head = tokens.count(item.subject) + tokens.count(f"{item.author.name} <{item.author.email}>")
    answer = ANSWER_OVERHEAD if item.thread and item.subject.startswith("Re: ") else 0
    return MAIL_OVERHEAD + answer + said + 2 * head
