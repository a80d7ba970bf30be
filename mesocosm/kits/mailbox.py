"""A mailbox of several folders: mails of one form, everyday mail among them, and filling it."""

from __future__ import annotations

import datetime as dt
import hashlib
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import orjson

from mesocosm.kits.attachments import SUFFIXES, attachment
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import CourseSubject, Prose, ProseMessage, Topic, greeting
from mesocosm.kits.prose.names import slug
from mesocosm.kits.prose.topics import OF_COURSES
from mesocosm.servers.email.store import EmailStore, NewEmail
from mesocosm.services.world import World
from mesocosm.worlds import tokens

FOLDERS = ("INBOX", "Archive", "Spam", "Sent")
"""Folders that a survey reads; mail in any folder counts."""
_FOLDER_UNTIL = (("INBOX", 0.78), ("Archive", 0.91), ("Spam", 1.0))
"""As ``misfiled`` has them."""
_LEAST_SENTENCE = 10
_SENTENCE_END = re.compile(r"(?<=[.?!]) (?=[A-Z0-9\"(])")
_EARLIEST, _LATEST = dt.time(7, 10), dt.time(21, 50)
"""Between these people write their mails, by their own clocks."""
_BEDTIME = dt.time(0, 50)
"""Until then those write who are in a hurry."""
_LEAST_GAP = dt.timedelta(minutes=6)
"""Between two mails of one person."""


@dataclass(frozen=True)
class Mail:
    sender: str
    """As its From header shows it."""
    moment: dt.datetime
    subject: str
    body: str
    folder: str = "INBOX"
    file: str | None = None
    """Name of an attached file of a type that ``attachment`` can make; what is in it does not matter."""
    to: str = ""
    """As the To header shows it; empty: the owner."""
    bcc: str | None = None
    pages: tuple[str, ...] = ()
    """Pages of the file after its title page."""
    message_id: str | None = None
    """Of a mail that others answer, if it is settled before the mail is written."""
    answers: str | None = None
    """The message-id of the mail that it answers."""

    @property
    def gist(self) -> str:
        """The body without its greeting, which no listing shows."""
        return self.body.partition("\n\n")[2]

    @property
    def thread(self) -> Thread:
        """Headers that answers refer to. A message-id of its own has the service's form."""
        return Thread(self.subject, self.message_id or message_id(self.sender, self.moment, self.subject))

    def filed(self, folder: str) -> Mail:
        return replace(self, folder=folder)

    def with_paragraph(self, text: str, place: int) -> Mail:
        """The mail with a further paragraph, ``place`` as for ``list.insert``; without one if it is empty."""
        if not text:
            return self
        blocks = self.body.split("\n\n")
        blocks.insert(place, text)
        return replace(self, body="\n\n".join(blocks))


def message_id(sender: str, moment: dt.datetime, subject: str) -> str:
    """A message-id of the form that the service gives, settled before the mail is stored."""
    digest = hashlib.sha256(f"{sender}:{moment}:{subject}".encode()).hexdigest()[:24]
    return f"<{digest}@{sender.rpartition('@')[2].removesuffix('>')}>"


def misfiled(index: int) -> str:
    """The folder for the ``index``-th of mails that matter: filters have put a few into others."""
    return "Spam" if index % 11 == 5 else "Archive" if index % 7 == 3 else "INBOX"


def rest_text(prose: Prose, topic: Topic, size: int, *, subject: CourseSubject | None = None) -> str:
    """A text for the tokens that are too few for a mail of their own; empty for fewer than a sentence."""
    if size < _LEAST_SENTENCE:
        return ""
    return prose.text(topic, size, subject=subject, matter=prose.matter(topic, subject=subject))


def last_received(mails: Sequence[Mail]) -> int:
    """The place of the last mail that others wrote, which may be made longer; of the last one if none is."""
    return next((place for place in reversed(range(len(mails))) if mails[place].folder != "Sent"), -1)


@dataclass(frozen=True)
class Thread:
    """A mail that may be answered."""

    subject: str
    message_id: str


@dataclass(frozen=True)
class MailWriter:
    """Writes mails to the owner of a mailbox: of one form, whether they say something that matters or not."""

    owner: Contact
    rng: random.Random
    prose: Prose
    sizes: tuple[int, int]
    """The least and the most tokens of what a mail says besides; none below ``_LEAST_AROUND``."""
    _lines: dict[tuple[Topic, CourseSubject | None], list[str]] = field(default_factory=dict, repr=False)

    def write(
        self, sender: Contact, moment: dt.datetime, topic: Topic, *, fact: str = "", subject: str = "",
        folder: str = "INBOX", course: CourseSubject | None = None, file: str | None = None,
        size: int | None = None, thread: Thread | None = None, pages: tuple[str, ...] = (), brief: str = "",
    ) -> Mail:  # fmt: skip
        """A mail that has ``fact`` somewhere in its paragraphs, and its own subject unless one is given.

        What answers the mail of a ``thread`` has that one's subject; ``brief`` is the subject of a mail that
        has nothing but its fact.
        """
        about = course if topic in OF_COURSES else None
        if size is None:
            size = self.rng.randint(*self.sizes)
        if size < _LEAST_AROUND:
            hello = greeting(self.rng, self.owner.person)
            message = ProseMessage(
                brief or self.prose.message(topic, 20, subject=about).subject, f"{hello}\n\n{sender.name}"
            )
        else:
            message = self.prose.message(topic, size, sender.person, self.owner.person, subject=about)
        body = _with_fact(message.body, fact, self.rng) if fact else message.body
        answered = f"Re: {thread.subject.removeprefix('Re: ')}" if thread else ""
        title = (subject or answered or message.subject).strip()
        answers = thread.message_id if thread else None
        return Mail(sender.header, moment, title, body, folder, file, pages=pages, answers=answers)

    def pages(self, topic: Topic, number: int, course: CourseSubject | None = None) -> tuple[str, ...]:
        """Pages of an attached file, a few lines each, from a store of sentences that grows with the first
        files; no file has a line twice."""
        lines = self._lines.setdefault((topic, course), [])
        for _ in range(_TRIES):
            if len(lines) >= _LINES:
                break
            said = self.prose.sentences(topic, 4 * number, subject=course)
            if course and topic in OF_COURSES:
                # Files for a course are about its subject, and speak to nobody.
                said = [line for line in said if _treats(line, course) and not _SPOKEN.search(line)]
            lines += said
        dealt = self.rng.sample(lines, len(lines))
        each = max(1, min(5, len(dealt) // number))
        return tuple("\n".join(dealt[each * at : each * (at + 1)]) for at in range(number))


def _treats(line: str, course: CourseSubject) -> bool:
    return any(topic.lower() in line.lower() for topic in course.topics)


_TRIES = 8
_SPOKEN = re.compile(
    r"\?|\b(I|my|me|you|your|we|us|please|rewrit\w+|shorten\w*|outlin\w+|rehears\w+|drop\w*|draft|said"
    r"|asked|been|offered|promised|agreed|volunteered|rang|wrote|spoke|talked|noted|quoted|charged|already"
    r"|simply|should|would|will|had|admitted|pointed|needs|To be fair|By the way|As it happens|With luck"
    r"|According|abstract|essay|exercise|poster|translation|portfolio|commentary|proposal|summary|review"
    r"|notebook)\b"
)
"""Phrases of letters and of talk about a paper, never of the paper."""
_LINES = 80
"""Sentences that files on one subject are made of."""
_LEAST_AROUND = 25
"""Tokens below which a mail has nothing but its fact, a greeting and a name."""


def _with_fact(body: str, fact: str, rng: random.Random) -> str:
    """A body with a sentence (or lines) between those of one of its paragraphs."""
    blocks = body.split("\n\n")
    # The greeting comes first, and the name last if it is a block of its own.
    inner = [index for index, block in enumerate(blocks) if index and block[-1] in ".?!"]
    if "\n" in fact or not inner:
        blocks.insert(rng.choice(inner) + 1 if inner else 1, fact)
    else:
        chosen = rng.choice(inner)
        sentences = _SENTENCE_END.split(blocks[chosen])
        sentences.insert(rng.randint(0, len(sentences)), fact)
        blocks[chosen] = " ".join(sentences)
    return "\n\n".join(blocks)


def awake(
    day: dt.date, rng: random.Random, zone: dt.tzinfo = dt.UTC, *, until: dt.time = _LATEST
) -> dt.datetime:
    """A moment of a day, in UTC, at which people in ``zone`` write mails."""
    first, last = (time.hour * 60 + time.minute for time in (_EARLIEST, until))
    minutes = rng.randint(first, last)
    local = dt.datetime.combine(day, dt.time(minutes // 60, minutes % 60, rng.randint(0, 59)), zone)
    return local.astimezone(dt.UTC)


def later(
    moment: dt.datetime, rng: random.Random, longest: dt.timedelta, zone: dt.tzinfo = dt.UTC,
    *, least: dt.timedelta = _LEAST_GAP, until: dt.datetime | None = None,
) -> dt.datetime:  # fmt: skip
    """A moment after another, in UTC and before ``until``, minutes to ``longest`` later, at which people in
    ``zone`` are awake: short gaps are as likely as long ones, and no gap is a round one.

    A gap is short wherever none of those drawn will do.
    """
    short, long = least.total_seconds(), longest.total_seconds()
    for _ in range(60):
        found = moment + dt.timedelta(seconds=int(short * (long / short) ** rng.random()))
        clock = found.astimezone(zone).time()
        if (clock >= _EARLIEST or clock < _BEDTIME) and (until is None or found < until):
            return found.astimezone(dt.UTC)
    room = long if until is None else (until - moment).total_seconds() - 1
    return moment + dt.timedelta(seconds=int(rng.uniform(short, max(short, min(room, 4 * short)))))


@dataclass(frozen=True)
class EverydayMail:
    """Writes mails about anything that does not matter, to be told from evidence only by being read."""

    writer: MailWriter
    now: dt.datetime
    topics: Sequence[Topic]
    domain: Callable[[random.Random], str]
    """Draws the domain of a sender."""
    people: Prose
    """Draws the senders, none of whom is anybody else: whatever they ask, it is nobody's wish."""
    fact: int = 25
    """Tokens that mails which say something have for that; these are longer by as much."""
    days: tuple[int, int] = (0, 40)
    """Number of days ago they were written, at least and at most."""
    zone: dt.tzinfo = dt.UTC
    course: CourseSubject | None = None
    """The course that mails of the topic ``coursework`` are about."""
    attached: float = 0
    """The share of them that has a file."""
    known: Sequence[Contact] = ()
    """People who write about what matters, too: if given, half of these mails come from them."""
    known_topics: Sequence[Topic] = ()
    """Topics of these, if they are not the same."""
    topics_of: Callable[[Contact], Sequence[Topic]] | None = None
    """Topics of each of them, if they differ."""
    topics_from: Callable[[str], Sequence[Topic]] | None = None
    """Topics of everybody else, by the domain, if they differ."""
    thread: Callable[[Contact], Thread | None] | None = None
    """Draws the mail that one of these answers, if any."""
    answered: float = 0.16
    """The share of them that the owner of the mailbox has answered, at least one: the answers lie in Sent."""
    answers: Sequence[str] | None = None
    """Answers of the owner, if not what anybody might say."""

    def worth(self, budget: int, number: int = 0) -> tuple[list[Mail], int]:
        """``number`` mails and further ones for ``budget`` tokens, and the tokens that are left of these."""
        mails = [self._mail(self._size()) for _ in range(number)]
        left, answered = budget, False
        while left >= _LEAST_LEFT:
            mail = self._mail(min(self._size(), left - _LEAST_LEFT + _LEAST_AROUND))
            cost = cost_of(mail, self.writer.owner)
            if cost > left:
                break
            mails.append(mail)
            left -= cost
            if self._may_be_answered(mail) and (self.writer.rng.random() < self.answered or not answered):
                answered = True
                writer = self.writer
                answer = answer_to(mail, writer.owner, writer.rng, self.zone, self.now, self.answers)
                if (cost := cost_of(answer, self.writer.owner)) <= left:
                    mails.append(answer)
                    left -= cost
        return mails, left

    def _may_be_answered(self, mail: Mail) -> bool:
        """True if the mail may be answered. An answer to the owner's own mail need not be."""
        return mail.folder == "INBOX" and not (
            self.thread and any(mail.sender == who.header for who in self.known)
        )

    def _size(self) -> int:
        return max(_LEAST_AROUND, self.writer.rng.randint(*self.writer.sizes)) + self.fact

    def _mail(self, size: int) -> Mail:
        rng = self.writer.rng
        topics, thread = self.topics, None
        if self.known and rng.random() < 0.5:
            sender = rng.choice(self.known)
            topics = self.topics_of(sender) if self.topics_of else self.known_topics or topics
            thread = self.thread(sender) if self.thread else None
        else:
            domain = self.domain(rng)
            sender = Contact.at(domain, self.people)
            topics = self.topics_from(domain) if self.topics_from else topics
        topic = rng.choice(topics)
        moment = self.now
        while moment >= self.now:
            moment = awake((self.now - dt.timedelta(days=rng.randint(*self.days))).date(), rng, self.zone)
        draw = rng.random()
        folder = next(name for name, until in _FOLDER_UNTIL if draw <= until)
        file: str | None = None
        pages: tuple[str, ...] = ()
        if rng.random() < self.attached:
            file, pages = file_name(sender, rng), self.writer.pages(topic, rng.randint(6, 14), self.course)
        return self.writer.write(
            sender,
            moment,
            topic,
            folder=folder,
            course=self.course,
            file=file,
            size=size,
            thread=thread,
            pages=pages,
        )


def answer_to(
    mail: Mail,
    owner: Contact,
    rng: random.Random,
    zone: dt.tzinfo,
    now: dt.datetime,
    ways: Sequence[str] | None = None,
) -> Mail:
    """Make the owner's answer within two days. It says only that the mail was read."""
    moment = later(mail.moment, rng, dt.timedelta(days=2), zone, until=now - dt.timedelta(minutes=1))
    text = one_of_answers(ways or _ANSWERS, mail.moment.astimezone(zone), moment.astimezone(zone), rng)
    body = f"Dear {mail.sender.partition(' ')[0]},\n\n{text}\n\n{owner.person.first}"
    subject = f"Re: {mail.subject.removeprefix('Re: ')}"
    return Mail(owner.header, moment, subject, body, "Sent", to=mail.sender, answers=mail.thread.message_id)


def one_of_answers(
    ways: Sequence[str], written: dt.datetime, answered: dt.datetime, rng: random.Random
) -> str:
    """One of some texts; nobody names the ``day`` of a mail of the same day."""
    if written.date() == answered.date():
        ways = [way for way in ways if "{day}" not in way]
    return rng.choice(ways).format(day=f"{written:%A}")


def file_name(sender: Contact, rng: random.Random, *others: str) -> str:
    """Draw a neutral name for an attached file, or one of ``others``."""
    stems = (*_STEMS, slug(sender.person.last), f"{slug(sender.person.first)}_{rng.randint(1, 9)}", *others)
    return f"{rng.choice(stems)}{rng.choice(SUFFIXES)}"


_STEMS = ("final", "notes", "document", "draft", "scan", "version2", "file", "print", "new", "corrected")
_ANSWERS = (
    "Thank you for your mail of {day}. I have read it and shall come back to it when I am at my desk again.",
    "Many thanks for this. If there is more to say, let us talk about it when we next meet.",
    "Thanks for letting me know on {day}. I have passed it on to those who should hear of it.",
    "I got your mail of {day}, thank you. Nothing to add from my side for the moment.",
    "Good to hear from you. I cannot say much about it at the moment, but I have made a note.",
    "Thank you, that was helpful. Please write again if anything changes.",
    "That is fine with me, thank you. I shall tell you if anything stands in the way.",
    "Thank you. I have no questions for now, and shall write again if there are any.",
    "Thanks! I saw your mail on {day} and did not get round to an answer until now.",
    "This was news to me, thank you. I shall have a look as soon as I find the time.",
    "Noted, thank you. If you need anything from me, please say so.",
    "Thank you for writing. All of it is clear, as far as I can see.",
    "Your mail of {day} has come through, and I have put a copy where I shall find it.",
    "Thanks for the details. I had only heard the half of it.",
    "It was kind of you to write. There is no hurry on my side.",
    "Got it, thanks. I shall read it with more care when it is quiet here.",
    "Thank you for thinking of me. More another time, as I am on my way out.",
    "Thanks, this is what I wanted to know. I hope all is well with you.",
    "Read it this morning, thank you. More when we see each other.",
    "Thank you, I had been wondering about that.",
    "All right. I keep your mail at hand in case somebody asks me.",
    "Thanks for the news of {day}, which I had half expected.",
    "Understood. I have nothing to add for now.",
    "That was quick, thank you! I shall look into it at the weekend.",
    "Good to know, and thanks for taking the time to write it all down.",
    "Many thanks. Let me sleep on it, and then we shall see.",
    "Received with thanks; your mail of {day} had slipped down my list.",
    "I see, thank you. Ring me if it becomes urgent.",
    "Thank you for the reminder. It is on my desk now.",
    "Fine by me. Say so if you would like a longer answer.",
    "Thank you. I have printed it out for the train.",
    "Your mail found me between two meetings, so only this: thank you.",
)
_LEAST_LEFT = 300
"""Tokens that are enough for a short mail with what is around it."""


def within(budget: int, groups: Iterator[list[Mail]], owner: Contact) -> tuple[list[Mail], int]:
    """Mails of the first groups that ``budget`` tokens are enough for, and the tokens that are left."""
    mails: list[Mail] = []
    left = budget
    for group in groups:
        cost = sum(cost_of(mail, owner) for mail in group)
        if cost > left:
            break
        mails += group
        left -= cost
    return mails, left


def cost_of(mail: Mail, owner: Contact) -> int:
    """Tokens of a mail as a listing shows it and as it is read."""
    shown = {
        "id": "1000", "subject": mail.subject, "from": mail.sender, "to": mail.to or owner.header, "cc": None,
        "date": f"{mail.moment:%Y-%m-%dT%H:%M:%SZ}", "is_read": False, "is_important": False,
        "folder": mail.folder,
    }  # fmt: skip
    files = [{"filename": mail.file, "size": 1000, "content_type": "application/pdf"}] if mail.file else []
    whole = {
        "bcc": mail.bcc, "message_id": f"<{_MESSAGE_ID}@{mail.sender.rpartition('@')[2]}",
        "in_reply_to": mail.answers, "references": mail.answers, "body": mail.body, "html_body": None,
        "attachments": files,
    }  # fmt: skip
    listed = {**shown, "has_attachments": bool(files)}
    return sum(tokens.count(orjson.dumps(form).decode()) + 1 for form in (listed, shown | whole))


_MESSAGE_ID = "0123456789abcdef01234567"


def fill_mailbox(world: World, owner: Contact, mails: Sequence[Mail], others: Iterable[Contact] = ()) -> None:
    """Open the mailbox of the owner, who is signed in, and empty ones of ``others``.

    Everybody who could be written to should have one: then whether one exists says nothing.
    """
    store = world.store(EmailStore)
    accounts = {contact.email: contact.person.name for contact in (owner, *others)}
    store.create_accounts(
        [{"email": email, "name": name, "password": f"{email}!"} for email, name in accounts.items()]
    )
    rng = world.stream("read")
    for folder in FOLDERS:
        ordered = sorted(
            (mail for mail in mails if mail.folder == folder), key=lambda mail: (mail.moment, mail.subject)
        )
        if ordered:
            new = [_new(mail, owner, is_read=rng.random() < 0.6) for mail in ordered]
            store.add_emails(owner.email, folder, new)
    store.sign_in(owner.email)


def _new(mail: Mail, owner: Contact, *, is_read: bool) -> NewEmail:
    new: NewEmail = {
        "sender": mail.sender,
        "to": mail.to or owner.header,
        "subject": mail.subject,
        "body": mail.body,
        "date": mail.moment,
        "is_read": is_read or mail.folder == "Sent",
        "message_id": mail.thread.message_id,
    }
    if mail.bcc:
        new["bcc"] = mail.bcc
    if mail.answers:
        new["in_reply_to"] = new["references"] = mail.answers
    if mail.file:
        pages = [f"{mail.subject}\n{mail.sender.partition(' <')[0]}\n{mail.moment:%B %Y}", *mail.pages]
        new["attachments"] = [{"filename": mail.file, "data": attachment(mail.file, pages, mail.moment)}]
    return new
