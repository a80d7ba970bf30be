"""The professors' mails: requests for material, and those that only look like one."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from mesocosm.generators.apply_phd_email import wording
from mesocosm.generators.apply_phd_email.documents import day
from mesocosm.generators.apply_phd_email.papers import Field
from mesocosm.generators.apply_phd_email.params import Params
from mesocosm.generators.apply_phd_email.planning import Plan, Professor, Wanted
from mesocosm.kits.mailbox import Mail, MailWriter, Thread, awake, misfiled
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import CourseSubject, RecentRuns, Topic
from mesocosm.kits.wording import Phrases
from mesocosm.worlds import tokens

TOPICS: tuple[Topic, ...] = ("group_news",)
"""Other subjects of professors' mails."""
_BATCH = 60
"""Professors to whom the applicant wrote with one mail, about."""
LONGEST_FACT = 100
"""Tokens of the longest that a professor says about an application, about."""
_AS_ANSWERED = 0.3
"""The share of the mails anew that have the subject of an answer."""
_OF_ONESELF = re.compile("my own (?=thesis)|i have (?=taught|studied|thought about)")
"""Facts that somebody says of themselves once; again it would be another thesis, or other years."""
_TRIES = 12
_NAMED_FOR_LATER = 0.7
"""The share of refusals that say what would be asked for another time: a list of files tells nothing."""
_PER_PROFESSOR = 600
"""Tokens of what one more professor wrote, about."""

Part = Callable[[], str]
"""Draws a part of what somebody says."""


class Letters:
    """First letters of the applicant, to many professors in blind copy."""

    def __init__(self, plan: Plan, params: Params, rng: random.Random, *, answered: float) -> None:
        self._plan = plan
        self._share = answered
        self._rng = rng
        number = 1 + int((params.num_professors + params.filler_tokens / _PER_PROFESSOR) // _BATCH)
        domain = plan.applicant.email.rpartition("@")[2]
        self._threads = [
            Thread(wording.LETTERS[index % len(wording.LETTERS)], f"<{rng.getrandbits(40):010x}@{domain}>")
            for index in range(number)
        ]
        self._moments = [
            awake(plan.now.date() - dt.timedelta(days=40 + index % 30), rng) for index in range(number)
        ]
        self._letter_of: dict[str, int] = {}

    def to(self, who: Contact) -> Thread:
        """The letter that a professor got, and may answer."""
        drawn = self._rng.randrange(len(self._threads))
        return self._threads[self._letter_of.setdefault(who.email, drawn)]

    def reached(self, who: Contact) -> dt.datetime:
        """Return when that letter arrived at the professor's mailbox."""
        sent = self._moments[self._threads.index(self.to(who))]
        return sent + dt.timedelta(seconds=self._rng.randint(2, 50))

    def answered(self, who: Contact) -> Thread | None:
        """The letter that a professor got, for some mails: the others begin anew."""
        thread = self.to(who)
        return thread if self._rng.random() < self._share else None

    def mails(self, written: Collection[str]) -> Iterator[Mail]:
        """The letters, to those of the professors (addresses) who replied."""
        applicant = self._plan.applicant
        for index, thread in enumerate(self._threads):
            to = [email for email, letter in self._letter_of.items() if letter == index and email in written]
            if not to:
                continue
            text = (
                f"Dear Professor,\n\nI am about to finish my degree in {self._plan.material.field.name} at "
                f"{self._plan.university} and look for a place for a PhD. May I ask whether one is open in "
                "your group? I should also like to hear what all of you are working on. I shall be glad to "
                "send whatever you need.\n\n"
                f"{applicant.name}"
            )
            hidden = ", ".join(self._rng.sample(to, len(to)))
            yield Mail(
                applicant.header, self._moments[index], thread.subject, text, "Sent",
                to=applicant.header, bcc=hidden, message_id=thread.message_id,
            )  # fmt: skip


class Interests:
    """Research interests of each professor, and facts of their life already told, consistent across mails."""

    def __init__(self, field: Field, rng: random.Random) -> None:
        self._field = field
        self._rng = rng
        self._subjects: dict[str, CourseSubject] = {}
        self._told: dict[str, set[str]] = {}

    def of(self, address: str) -> CourseSubject:
        """The subject of whoever writes from an address."""
        if address not in self._subjects:
            self._subjects[address] = self._field.subject(self._rng)
        return self._subjects[address]

    def tells_anew(self, address: str, text: str) -> bool:
        """True if a text repeats no fact of its writer's life in other words."""
        told, says = self._told.setdefault(address, set()), _OF_ONESELF.findall(text.lower())
        anew = told.isdisjoint(says) and len(says) == len(set(says))
        if anew:
            told.update(says)
        return anew


class Writer:
    """Writes the professors' mails."""

    def __init__(
        self,
        plan: Plan,
        writer: MailWriter,
        letters: Letters,
        interests: Interests,
        rng: random.Random,
        said: RecentRuns,
    ) -> None:
        self._plan = plan
        self._interests = interests
        self._said = said
        self._letters = letters
        self._writer = writer
        self._rng = rng
        self._phrases = Phrases(rng)
        self._two = 0.6 if writer.sizes[1] else 0.0
        """The share of those who say no in two mails."""

    def story(self, who: Professor, index: int) -> list[Mail]:
        """Write the professor's mails of story ``index``."""
        return [mail.filed(misfiled(index)) for mail in self._cases(who)]

    def _cases(self, who: Professor) -> Iterator[Mail]:
        rng = self._rng
        over = who.fate == "expired"
        # The second of two mails is days later than the first, and not later than a deadline that is over.
        first, second = self._ago(13, 35), self._ago(6, 11) if over else self._ago(1, 9)
        ahead = self._deadline(-rng.randint(1, 5) if over else rng.randint(2, 30))
        match who.story:
            case "asked" | "assistant":
                yield self._request(who, self._ago(6, 30), who.wanted, ahead)
            case "last_day":
                yield self._request(who, self._ago(6, 30), who.wanted, self._deadline(0))
            case "corrected":
                yield self._request(who, first, who.superseded, ahead, aide=False)
                files = self._wish(wording.REPLACED, who.wanted)
                yield self._mail(who, second, files, partial(self._to, who))
            case "two_mails":
                yield self._request(
                    who, first, who.wanted[:1], ahead, more=self._one_of(wording.MORE_TO_COME)
                )
                files = self._wish(wording.ADDED, who.wanted[1:])
                yield self._mail(who, second, files, self._one_of(wording.ALL_TOGETHER))
            case "extended":
                near = self._deadline(-rng.randint(6, 9) if over else -rng.randint(2, 6))
                yield self._request(who, first, who.wanted, near)
                later, same = self._one_of(wording.EXTENDED), self._one_of(wording.SAME_FILES)
                yield self._mail(who, second, later, ahead, same)
            case "reopened":
                yield self._refusal(who, first, wording.NO)
                yield self._request(who, second, who.wanted, ahead, before=self._one_of(wording.REOPENED))
            case "withdrawn":
                yield self._request(who, first, who.wanted, ahead)
                yield self._refusal(who, second, wording.NO)
            case "declined":
                if rng.random() < self._two:
                    yield self._mail(who, first, self._one_of(wording.UNDECIDED))
                    yield self._refusal(who, second, wording.NO)
                else:
                    yield self._refusal(who, self._ago(1, 30), wording.NO)
            case "namesake":
                if rng.random() < self._two:
                    yield self._mail(who, first, self._one_of(wording.UNDECIDED))
                # Later than the request of the other one: it must not be taken for its withdrawal.
                yield self._refusal(who, self._ago(1, 5), wording.NO)
            case "auto_reply":
                yield self._automatic(who)
            case "undecided":
                if rng.random() < self._two:
                    yield self._mail(who, self._ago(31, 38), self._one_of(wording.UNDECIDED))
                yield self._refusal(who, self._ago(1, 30), wording.UNDECIDED)

    def _ago(self, least: int, most: int) -> dt.datetime:
        return awake(self._plan.now.date() - dt.timedelta(days=self._rng.randint(least, most)), self._rng)

    def _one_of(self, ways: Sequence[str], **values: str) -> Part:
        return partial(self._phrases.say, ways, **values)

    def _deadline(self, days: int) -> Part:
        date = (self._plan.now + dt.timedelta(days=days)).date()
        forms = (day(date), f"{date.day} {date:%B %Y}", date.isoformat(), f"{date:%A}, {day(date)}")
        return lambda: self._phrases.say(wording.DEADLINE, day=self._rng.choice(forms))

    def _mail(self, who: Professor, moment: dt.datetime, *parts: Part) -> Mail:
        fact = ""
        for part in parts:
            # What follows a list begins on a line of its own.
            fact += ("" if fact[-1:] in ("", " ", "\n") else " ") + self._said.draw(part, fact)
        fact = fact.strip()
        thread = self._letters.answered(who.contact)
        # A mail that says nothing besides is about nothing else.
        bare = not self._writer.sizes[1] and not thread
        subject = self._anew(who) if bare else ""
        topic = self._rng.choice(TOPICS)
        size = None
        if self._writer.sizes[1]:
            # Who says little says more besides: how long a mail is must not tell what it says.
            size = self._rng.randint(*self._writer.sizes) + max(0, LONGEST_FACT - tokens.count(fact))
        address = who.contact.email
        for _ in range(_TRIES):
            mail = self._writer.write(
                who.contact,
                moment,
                topic,
                fact=fact,
                thread=thread,
                subject=subject,
                size=size,
                course=self._interests.of(address),
            )
            if self._interests.tells_anew(address, mail.body):
                break
        return mail

    def _anew(self, who: Professor) -> str:
        """The subject of a mail that answers none: some write the letter's above it all the same."""
        if self._rng.random() < _AS_ANSWERED:
            return f"Re: {self._letters.to(who.contact).subject}"
        return self._phrases.part(wording.ANEW)

    def _request(
        self, who: Professor, moment: dt.datetime, files: Sequence[Wanted], deadline: Part, *,
        before: Part | None = None, more: Part | None = None, aide: bool = True,
    ) -> Mail:  # fmt: skip
        if who.position:
            offer = self._one_of(wording.OTHER_OFFER, position=who.position)
        else:
            offer = self._one_of(wording.OFFER)
        to = partial(self._to, who) if aide else None
        parts = (before, offer, self._wish(wording.NEED, files), to, more, deadline)
        return self._mail(who, moment, *(part for part in parts if part))

    def _refusal(self, who: Professor, moment: dt.datetime, ways: Sequence[str]) -> Mail:
        """Write a refusal, with what would be asked for another time if there is room."""
        if not (who.wanted and self._writer.sizes[1] and self._rng.random() < _NAMED_FOR_LATER):
            return self._mail(who, moment, self._one_of(ways))
        ways = [way for way in ways if way not in wording.FOR_GOOD]
        return self._mail(who, moment, self._one_of(ways), self._wish(wording.FOR_LATER, who.wanted))

    def _wish(self, ways: Sequence[str], files: Sequence[Wanted]) -> Part:
        def wish() -> str:
            need = self._phrases.part(ways)
            return f"{need[0].upper()}{need[1:]} {self._files(files)}"

        return wish

    def _files(self, files: Sequence[Wanted]) -> str:
        """State which documents go in which file: in sentences or as a list."""
        style = self._rng.randrange(6)
        lines = []
        for name, kinds in files:
            items = [self._phrases.part(wording.DOCUMENTS[kind]) for kind in kinds]
            if len(items) == 1 and style not in (0, 1, 2):
                link = {3: ":", 4: " with"}.get(style)
                comma = "," * items[0].endswith("first")
                lines.append(
                    f"{name}{link} {items[0]}."
                    if link
                    else f"the file {name} with {items[0]}{comma} and nothing else."
                )
                continue
            match style:
                case 0:
                    ways = (", in this order: ", ", one after the other: ", ", in the order given: ")
                    order = self._rng.choice(ways) if len(items) > 1 else " "
                    lines.append(f"a PDF file {name} with{order}{'; '.join(items)}.")
                case 1:
                    lines.append(f"- {name}: {', then '.join(items)}.")
                case 2:
                    lines.append(
                        f"{name}, which {self._phrases.part(wording.HOLDS)} {' followed by '.join(items)}."
                    )
                case 3:
                    then = self._rng.choice(
                        (" and then ", " and after that ", ", followed by ", " and next ")
                    )
                    lines.append(f"{name}, made of {then.join(items)}.")
                case 4:
                    ways = (" (in this order)", " (as they stand here)", " (one after the other)")
                    order = self._rng.choice(ways) if len(items) > 1 else ""
                    lines.append(f"{name} put together from{order} {'; '.join(items)}.")
                case _:
                    begins, ends = map(self._phrases.part, (wording.BEGINS, wording.ENDS))
                    told = [f"{begins} {items[0]}"]
                    told += [f"{self._phrases.part(wording.GOES_ON)} {item}" for item in items[1:]]
                    lines.append(f"the file {name} that {', '.join(told)}, and {ends}.")
        if style == 1:
            return "\n".join(["the following.", *lines, ""])
        number = ("one PDF file: ", "two PDF files: ", "three PDF files: ")[len(files) - 1]
        return (number if style in (2, 4) else "") + " And ".join(lines)

    def _to(self, who: Professor) -> str:
        if who.assistant is None:
            return ""
        return self._phrases.say(wording.AIDE, name=who.assistant.name, email=who.assistant.email)

    def _automatic(self, who: Professor) -> Mail:
        """Write an automatic reply: without a greeting, and immediate."""
        thread, moment = self._letters.to(who.contact), self._letters.reached(who.contact)
        back = day((moment + dt.timedelta(days=self._rng.randint(3, 60))).date())
        text = f"{self._phrases.say(wording.AWAY, day=back)} {self._phrases.say(wording.AWAY_RULES)}"
        return Mail(
            who.contact.header, moment, f"Automatic reply: {thread.subject}", f"{text}\n\n{who.contact.name}",
            answers=thread.message_id,
        )  # fmt: skip
