"""Form of letters: greetings, signatures, subjects, senders."""

from __future__ import annotations

import datetime as dt
import random
import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mesocosm.kits.moments import is_holiday
from mesocosm.kits.prose import CourseSubject, Prose, RecentRuns
from mesocosm.kits.prose.topics import OF_COURSES
from mesocosm.kits.prose.words import cost
from mesocosm.kits.yaml_tasks.braces import chosen
from mesocosm.kits.yaml_tasks.filters import FILTERS
from mesocosm.kits.yaml_tasks.mailboxes import mailbox, unquoted
from mesocosm.services.later import later

if TYPE_CHECKING:
    from mesocosm.kits import attachments
    from mesocosm.kits.yaml_tasks.definition import Everyday
else:
    (attachments,) = later("mesocosm.kits.attachments")


# Replies: the owner's earlier mail, quoted below the answer.

_SATURDAY = 5
_ASKED = (
    "Have you {had|found} {the time|a moment} to {look at|think about} {what I sent|my last mail|my "
    "question}?",
    "{Is there|Do you have} {any news|anything new} {on your side|from your end|for me}?",
    "{I have not heard from you|Nothing has come from you|It has been quiet} {for a while|since last "
    "week|lately}, {so I ask again|hence this mail|which is why I write}.",
    "{There is|I am in} no {great hurry|rush}, {but I would like to know|yet it would help to know} "
    "{how things stand|where we are|what you think}.",
    "{A short answer|A line or two|A few words} {will do|would be enough|is all I need}.",
    "{Please let me know|Tell me|Write to me} {if anything is unclear|if something is missing|what you "
    "need from me}.",
    "{I am going through|I have been sorting|I am tidying up} {my papers|my mails|the last few weeks} "
    "and {came across|found} {your name|an open point}.",
    "{Could you|Would you|Can you} {bring me up to date|tell me where things stand|fill me in}{ when "
    "you find the time| this week|}?",
    "{Thank you for|Thanks for|I am grateful for} {your patience|your last mail|the call the other day}.",
    "{I was out|I have been travelling|I had a full week} and {have only now got round to this|am "
    "catching up now}.",
    "{Somebody|Somebody else|One of us} {said|thought|told me} that you {had tried to call|wanted to "
    "talk|might have a question}.",
    "{Ring me|Call me} {any morning|after lunch|on the usual number}, or {just write|answer here|drop "
    "me a line}.",
    "{Did everything|Did it all|Did all of it} reach you {in good order|as it should|safely}?",
    "{I am keeping|I have kept} {this|the matter} open until {I hear from you|you write|we have spoken}.",
)
"""Everyday texts that the owner wrote before, without any relevant content."""


def asked(answer: Mapping[str, Any], name: str, hello: str, bye: str, rng: random.Random) -> dict[str, Any]:
    """``date``, ``subject`` and ``body`` of what the owner, called ``name``, wrote a day or two before."""
    text = " ".join(chosen(line, rng) for line in rng.sample(_ASKED, rng.randint(2, 4)))
    ago = dt.timedelta(days=rng.randint(1, 2), minutes=rng.randint(-40, 40), seconds=rng.randint(0, 59))
    moment = answer["date"] - ago
    if answer["date"].weekday() < _SATURDAY:  # who works on weekdays wrote on one
        while not _is_worked_on(moment):
            moment -= dt.timedelta(days=1)
    return {
        "date": moment,
        "subject": str(answer["subject"]).removeprefix("Re: "),
        "body": f"{hello}\n\n{text}\n\n{bye}\n{name.split()[0]}",
    }


def _is_worked_on(moment: dt.datetime) -> bool:
    return moment.weekday() < _SATURDAY and not is_holiday(moment.date())


def quoted(mail: Mapping[str, Any], author: str) -> str:
    """Quote a mail below an answer to it."""
    lines = [part for line in str(mail["body"]).split("\n") for part in textwrap.wrap(line, 70) or [""]]
    marked = "\n".join(f"> {line}".rstrip() for line in lines)
    moment = mail["date"]
    return f"On {moment:%a}, {moment.day} {moment:%b %Y} at {moment:%H:%M}, {author} wrote:\n{marked}"


_HELLO = ("Hello {},", "Hi {},", "Dear {},", "Good morning {},", "{},", "Hello {}!")
_FORMAL = ("Hello {},", "Dear {},", "{},")
"""Greetings that may take the whole name."""
_BYE = (
    "Best regards",
    "Kind regards",
    "Best",
    "Thank you",
    "Regards",
    "With best wishes",
    "Thanks",
    "Best wishes",
)
_SENDER = re.compile(r'\s*"?(.*?)"?\s*<([^<>\s]+@[^<>\s]+)>\s*')


FILE_STEMS = ("notes", "document", "draft", "scan", "overview", "file", "print", "summary", "table", "letter")
"""Names of attached files, which reveal nothing of their content."""
_ON_PAPER = ("scan", "print")
"""Kinds of files that are neither text nor presentation."""
_ENCLOSING = (
    "P.S. I attach {}.",
    "P.S. {} is attached.",
    "P.S. See {} as well.",
    "P.S. With this comes {}.",
    "P.S. I have added {}.",
    "Attached: {}",
    "Enclosed: {}",
)
"""Sentences below the name that mention an attached file."""
LEAST = 12
"""Tokens of the shortest everyday text."""
_KNOWN = 2000
"""So many letters say who writes and from where."""
_AROUND, _TRIES = 9, 30
"""Minutes by which a note is earlier or later than another one, and how often a free minute is looked for."""
_HERE = "\0"


class Crowd:
    """Some letters, and who wrote them."""

    def __init__(self, letters: Sequence[Mapping[str, Any]]) -> None:
        self.letters = letters
        senders = [sender_of(fields) for fields in letters[:_KNOWN]]
        self.names = {name for name, _ in senders}
        self.whose = {address: name for name, address in senders}
        """Owner of each address, so that nobody else gets it."""
        addresses = set(self.whose)
        homes = {address.partition("@")[2] for address in addresses}
        self.apart = len(homes) / len(addresses) if len(homes) > 3 else 0
        """Probability that a sender has a domain of their own."""
        self._written = {(fields.get("author"), _minute(fields.get("date"))) for fields in letters}

    def free_minute(self, moment: dt.datetime, author: str, rng: random.Random) -> dt.datetime:
        """The moment, or one some minutes before or after it in which its author has written nothing yet."""
        day, tries = moment.date(), 0
        while (author, _minute(moment)) in self._written and tries < _TRIES:
            other = moment + dt.timedelta(minutes=rng.randint(-_AROUND, _AROUND))
            moment, tries = other if other.date() == day else moment, tries + 1
        self._written.add((author, _minute(moment)))
        return moment


def _minute(moment: Any) -> Any:
    return moment.replace(second=0, microsecond=0) if isinstance(moment, dt.datetime) else moment


class Strangers:
    """People who only write everyday letters, each as many as a sender of evidence."""

    def __init__(self, crowd: Crowd) -> None:
        self._crowd = crowd
        self._numbers = list(Counter(sender_of(fields)[1] for fields in crowd.letters[:_KNOWN]).values())
        self._now: dict[str, str] = {}
        self._left = 0

    def sender(self, letters: Letters, pattern: Mapping[str, Any], rng: random.Random) -> dict[str, str]:
        """Draw the sender of the next letter, similar to the pattern."""
        if not self._left:
            self._now = letters.other_sender(pattern, self._crowd)
            self._left = rng.choice(self._numbers) if self._now else 1
        self._left -= 1
        return self._now


class Letters:
    """Writes the common parts of a letter; all its text on a topic is about one matter."""

    def __init__(
        self,
        rng: random.Random,
        course: CourseSubject | None = None,
        said: RecentRuns | None = None,
        matters: Mapping[str, str] | None = None,
        currency: str = "$",
        apart: Collection[str] = (),
    ) -> None:
        """``matters``: by topic, what others have said of it is about; ``apart``: first names that nothing is
        said of, since they are those of who reads it."""
        self._rng = rng
        self._course = course
        self._said = said
        self.matters = dict(matters or {})
        self._currency = currency
        self._apart = apart

    def courtesies(self, fields: Mapping[str, Any], owner: Mapping[str, Any]) -> tuple[str, str]:
        """Return the greeting and closing of a letter, to the owner or its recipient."""
        rng, name = self._rng, sender_of(fields)[0]
        to = str(owner["name"])
        if fields.get("to") and str(owner["email"]) not in str(fields["to"]):
            to = sender_of({"from": fields["to"]})[0]
        first = _called(to) if rng.random() < 0.8 else to
        hello = rng.choice(_HELLO)
        hello = hello.format(first if hello in _FORMAL else _called(to)) if "@" not in to else "Hello,"
        below = name if rng.random() < 0.7 else _called(name)
        return hello, f"{rng.choice(_BYE)}\n{below}"

    def like(self, content: str, length: int, topic: str, size: int, share: float = 0) -> str:
        """Everyday text as long as a statement (of ``length`` tokens), with as much around it."""
        before, after = self.around(topic, size, apart="\n" in content, share=share)
        text = self.text(topic, length, opening=not (before or after))
        return f"{before}{' '.join(text.split())}{after}"

    def around(self, topic: str, size: int, *, apart: bool, share: float = 0) -> tuple[str, str]:
        """Write everyday text of about ``size`` tokens before and after a statement: around it in its
        paragraph, or as paragraphs of their own (``apart``, or else with this ``share``).
        """
        if size < LEAST:
            return "", ""
        everyday = self._lines(topic, size)
        if apart or self._happens(share):
            everyday = [[" ".join(lines)] for lines in everyday]
            everyday.insert(self._rng.randint(0, len(everyday)), [_HERE])
        else:
            lines = self._rng.choice(everyday)
            lines.insert(self._rng.randint(0, len(lines)), _HERE)
        before, _, after = "\n\n".join(" ".join(lines) for lines in everyday).partition(_HERE)
        return before, after

    def _lines(self, topic: str, size: int) -> list[list[str]]:
        """Sentences, by paragraphs."""
        found, left = list[list[str]](), size
        while left >= LEAST or not found:
            lines: list[str] = []
            for sentence in self._sentences(topic, self._rng.randint(2, 5), first=not found):
                lines.append(sentence)
                left -= self._cost(sentence)
                if left < LEAST:
                    break
            found.append(lines)
        return found

    def _sentences(self, topic: str, count: int, *, first: bool) -> Iterable[str]:
        """Yield ``count`` sentences on the letter's matter; ``first``: the first one introduces it."""
        return self._prose.each_sentence(
            topic, count, matter=self._matter(topic), opening=first, subject=self._subject(topic)
        )

    def _matter(self, topic: str) -> str:
        if topic not in self.matters:
            self.matters[topic] = self._prose.matter(topic, subject=self._subject(topic))
        return self.matters[topic]

    def _subject(self, topic: str) -> CourseSubject | None:
        """The course that a letter is about from its first to its last line, if the topic is courses."""
        if self._course is None and topic in OF_COURSES:
            self._course = self._prose.course_subject()
        return self._course

    def _cost(self, sentence: str) -> int:
        return cost(sentence)

    @cached_property
    def _prose(self) -> Prose:
        return Prose(self._rng, self._said, self._currency, self._apart)

    def subject(self, topic: str) -> str:
        """Draw the subject of an everyday letter."""
        return self._prose.title(topic, matter=self._matter(topic), subject=self._subject(topic))

    def text(self, topic: str, size: int, *, opening: bool = True) -> str:
        """Write everyday text of ``size`` tokens, within a short sentence; ``opening``: the first sentence
        introduces the matter.
        """
        return self._prose.text(
            topic, size, subject=self._subject(topic), matter=self._matter(topic), opening=opening
        )

    def remark(self, topic: str, size: int) -> str:
        """A sentence about the matter, of about so many tokens."""
        return min(self._sentences(topic, 6, first=False), key=lambda one: abs(self._cost(one) - size))

    def company(self) -> str:
        """A company that somebody may write from."""
        return self._prose.company()

    def other_sender(self, pattern: Mapping[str, Any], crowd: Crowd) -> dict[str, str]:
        """Draw another sender, with a name and address of the same form."""
        rng = self._rng
        name, (old, address) = self.other_name(crowd), sender_of(pattern)
        if not name:
            return {}
        local, _, home = address.partition("@")
        handle = FILTERS["handle"](old)
        rest = self.other_number(local.removeprefix(handle)) if local.startswith(handle) else ""
        if rng.random() < crowd.apart:
            home = FILTERS["domain"](self.company())
        address = f"{FILTERS['handle'](name)}{rest}@{home}"
        if crowd.whose.setdefault(address, name) != name:
            return {}
        return {"from": mailbox(name, address)}

    def other_name(self, crowd: Crowd) -> str:
        """The name of somebody else, made of theirs; empty where that is one of theirs."""
        one, other = (sender_of(self._rng.choice(crowd.letters))[0] for _ in range(2))
        name = self.company() if _is_company(one) else f"{one.split()[0]} {_last_word(other)}"
        return "" if name in crowd.names else name

    def dressed(
        self, fields: Mapping[str, Any], everyday: Everyday, owner: Mapping[str, Any], topic: str
    ) -> dict[str, Any]:
        """Add to a mail what the noise settings ask for: a copy to a colleague, the owner's mail that it
        answers, a file, HTML; each with its share.
        """
        found: dict[str, Any] = {}
        address = sender_of(fields)[1]
        if self._happens(everyday.copies) and not fields.get("cc") and "@" in address:
            name = self.person()
            local, _, home = address.partition("@")
            rest = self.other_number("".join(filter(str.isdigit, local)))
            found["cc"] = f"{name} <{FILTERS['handle'](name)}{rest}@{home}>"
        text = str(fields["body"])
        earlier = None
        if self._happens(everyday.answers) and _is_to(owner, fields) and not fields.get("thread"):
            hello = self._rng.choice(_HELLO).format(_called(sender_of(fields)[0]))
            earlier = asked(fields, str(owner["name"]), hello, self._rng.choice(_BYE), self._rng)
        if self._happens(everyday.attached):
            file = self._file(topic, fields["date"])
            text = f"{text}\n\n{self._rng.choice(_ENCLOSING).format(file['filename'])}"
            found |= {"body": text, "files": [file]}
        if earlier:
            text = f"{text}\n\n{quoted(earlier, str(owner['name']))}"
            found |= {"body": text, "answers": earlier}
        if self._happens(everyday.html):
            found["html_body"] = FILTERS["html"](text)
        return found

    def _happens(self, share: float) -> bool:
        return share > 0 and self._rng.random() < share

    def _file(self, topic: str, moment: dt.datetime) -> dict[str, Any]:
        stem, suffix = self._rng.choice(FILE_STEMS), self._rng.choice(attachments.SUFFIXES)
        name = f"{stem}{'.pdf' if stem in _ON_PAPER else suffix}"
        pages = ["\n".join(self._sentences(topic, 4, first=False)) for _ in range(self._rng.randint(1, 3))]
        return {"filename": name, "data": attachments.attachment(name, pages, moment)}

    def person(self) -> str:
        """Draw a name that nobody else has."""
        return self._prose.person().name

    def other_number(self, text: str) -> str:
        """The text with other numbers in it, as long as they were."""
        return re.sub("[0-9]+", lambda found: str(self._rng.randrange(*_range(found[0]))), text)


class Sketches(Letters):
    """Letters with placeholder text of the right lengths, for analysis without building."""

    def _sentences(self, topic: str, count: int, *, first: bool) -> Iterable[str]:
        return [self._words(self._rng.randint(6, 24)) for _ in range(count)]

    def _cost(self, sentence: str) -> int:
        return sentence.count(" ") + 1

    def subject(self, topic: str) -> str:
        return self._words(self._rng.randint(2, 8))

    def text(self, topic: str, size: int, *, opening: bool = True) -> str:
        return "\n\n".join(" ".join(lines) for lines in self._lines(topic, size))

    def company(self) -> str:
        return f"{self._words(1)} {self._rng.randint(100, 999)}"

    def person(self) -> str:
        return self._words(2)

    def _file(self, topic: str, moment: dt.datetime) -> dict[str, Any]:
        # What makes real files takes longer to load than the rest of a lint.
        return {"filename": f"{self._words(1)}.pdf", "data": b"%PDF-"}

    def _matter(self, topic: str) -> str:
        return ""

    def _words(self, tokens: int) -> str:
        return " ".join("x" * self._rng.choice((2, 3, 3, 4, 5, 7)) for _ in range(tokens))


def _range(digits: str) -> tuple[int, int]:
    """The numbers with as many digits."""
    return (10 ** (len(digits) - 1) if len(digits) > 1 else 0), 10 ** len(digits)


def _is_company(name: str) -> bool:
    return "," in name  # as in no person's name


def _called(name: str) -> str:
    """Return the form of address in a letter: a person's first name, a company's name."""
    return name if _is_company(name) else name.split()[0]


def _last_word(name: str) -> str:
    """The last name of somebody, or the name that a company begins with."""
    return re.split(r"[\s,]", name)[0] if _is_company(name) else name.split()[-1]


def _is_to(owner: Mapping[str, Any], fields: Mapping[str, Any]) -> bool:
    to = fields.get("to")
    return fields.get("folder") != "Sent" and (not to or str(owner["email"]) in str(to))


def sender_of(fields: Mapping[str, Any]) -> tuple[str, str]:
    """Name and address of who wrote a letter."""
    sender = str(fields.get("from") or "")
    if found := _SENDER.fullmatch(sender):
        return unquoted(found[1]) or found[2], found[2]
    return sender or "Somebody", sender
