"""What each course publishes about a final, and where: by the same hands for all sections."""

from __future__ import annotations

import random

from mesocosm.generators.canvas_arrange_exam import statements
from mesocosm.generators.canvas_arrange_exam.composing import COURSE_TOPICS, OFFICE_TOPICS, Composer
from mesocosm.generators.canvas_arrange_exam.courses import (
    CHANNELS,
    Campus,
    Channel,
    Course,
    Details,
    Exemption,
)
from mesocosm.generators.canvas_arrange_exam.posts import Post
from mesocosm.generators.canvas_arrange_exam.wording import (
    Facts,
    Voice,
    facts_block,
    facts_sentences,
    named,
    sitting,
    whom,
)
from mesocosm.kits.wording import Block, Draft

_FIRST_DAYS, _LAST_DAYS = 38, 13
"""Days ago at which finals are first spoken of."""
_CHANGE_DAYS = (9, 4)
_FORWARD_DAYS = (11.5, 9.1)
"""Notices that bring a final forward come before it took place."""
WELCOME_DAYS = (104, 95)
COURSEWORK = "coursework average"


def notices(course: Course, campus: Campus, composer: Composer, rng: random.Random) -> list[Post]:
    """Everything that is published for one course, in no particular order.

    Where the student is not meant, nothing is said to the student personally.
    """
    author = _Author(course, campus, composer, rng)
    posts = [] if course.in_syllabus or course.sitting != "final exam" else [author.welcome()]
    if not (course.fate == "no_exam" and course.variant == "never"):
        posts.append(author.exam())
    if course.change:
        posts.append(author.change())
    if course.proctor_apart:
        posts.append(author.proctor())
    if course.fate == "no_exam":
        posts.append(author.no_exam())
    if course.fate == "optional" and course.variant == "optional":
        posts.append(author.optional())
    if course.personal:
        if course.exemption:
            posts.append(author.average(COURSEWORK, course.exemption.average))
        if course.fate == "exemption" and course.variant == "direct":
            posts.append(author.exempt())
        if course.fate == "optional" and course.variant == "auditor":
            posts.append(author.auditor())
    return posts


def marked(course: Course, campus: Campus, composer: Composer, mark: str, rng: random.Random) -> Post:
    """The student is told an average."""
    average = course.coursework if mark == COURSEWORK else round(rng.uniform(62, 99), 1)
    return _Author(course, campus, composer, rng).average(mark, average)


def excused(course: Course, campus: Campus, composer: Composer, rng: random.Random) -> Post:
    """The student is told to be exempt from whatever the course's sitting is."""
    return _Author(course, campus, composer, rng).exempt()


def _there(voice: Voice) -> str:
    """The final of the sections that were spoken of."""
    return voice.pick(
        "the final there",
        "their final",
        "that final",
        "this final",
        "the final in question",
        "the final of this group",
        "the final that they sit",
    )


class _Author:
    """Writes for one course."""

    def __init__(self, course: Course, campus: Campus, composer: Composer, rng: random.Random) -> None:
        self._course = course
        self._campus = campus
        self._composer = composer
        self._rng = rng

    def _post(
        self,
        channel: Channel,
        days: tuple[float, float],
        statement: list[Block],
        office: bool = False,
        *,
        titled: bool = True,
        personal: bool = False,
    ) -> Post:
        """``titled``: the subject may say what the statement is about; ``personal``: to the student alone."""
        course = self._course
        return self._composer.post(
            self._reachable(channel),
            days,
            self._campus.office if office else course.instructor,
            course.subject,
            course=course if course.known else None,
            statement=statement,
            sitting=course.sitting if titled else "",
            topics=OFFICE_TOPICS if office else COURSE_TOPICS,
            personal=personal,
        )

    def _reachable(self, channel: Channel) -> Channel:
        """Who is not in a course does not see its page."""
        return "email" if channel == "announcement" and not self._course.known else channel

    def _sitting(self, voice: Voice, channel: Channel) -> str:
        return sitting(voice, self._course, at_home=self._reachable(channel) == "announcement")

    # -- what courses say at the beginning -------------------------------------------------------------------

    def welcome(self) -> Post:
        """Credits, whether books are allowed, and who need not sit the final."""
        channel: Channel = "announcement"
        statement = " ".join(self.terms(self._composer.voice(), named=not self._course.known))
        return self._post(channel, WELCOME_DAYS, [statement], titled=False)

    def terms(self, voice: Voice, *, named: bool = False) -> list[str]:
        """What holds for the sections from the beginning; ``named``: with the title of the course."""
        course, credits = self._course, f"{self._course.credits:g}"
        group = whom(voice, course)
        if named:
            group = f"{group} of {course.title}"
        said = [voice.say(statements.CREDITS, group=group, credits=credits)]
        if not (course.fate == "no_exam" and course.variant == "never"):
            said.append(self._book(voice, course.earlier or course.details, _there(voice)))
        if course.exemption:
            said.append(self._rule(voice, course.exemption))
        return said

    @staticmethod
    def _book(voice: Voice, details: Details, final: str) -> str:
        if details.book is None:
            return voice.say(statements.BOOK_PENDING, final=final)
        ways = statements.OPEN_BOOK if details.book == "Open-book" else statements.CLOSED_BOOK
        return voice.say(ways, final=final)

    @staticmethod
    def _rule(voice: Voice, exemption: Exemption) -> str:
        ways = statements.RULE_INCLUSIVE if exemption.inclusive else statements.RULE_EXCLUSIVE
        return voice.say(ways, limit=f"{exemption.threshold:.1f}", final=_there(voice))

    # -- the final -------------------------------------------------------------------------------------------

    def exam(self) -> Post:
        """The first notice of the final."""
        course, voice = self._course, self._composer.voice()
        details = course.earlier or course.details
        in_zone = course.zone and course.change != "when"
        opening = self._opening(voice, statements.OPENINGS, course.channel)
        statement: list[Block]
        if course.open == "all":
            statement = [" ".join([opening, voice.say(statements.NOTHING_YET), *self._aside(voice)])]
        else:
            facts = self._facts(details, in_zone=bool(in_zone))
            if voice.chance(0.4):
                statement = [opening, [*facts_block(voice, facts), *self._proctor_line(voice)]]
            else:
                statement = [" ".join([opening, facts_sentences(voice, facts), *self._aside(voice)])]
        return self._post(course.channel, (_FIRST_DAYS, _LAST_DAYS), statement)

    def _opening(self, voice: Voice, ways: tuple[str, ...], channel: Channel) -> str:
        opening = voice.say(ways, exam=self._sitting(voice, channel))
        if self._course.term == self._campus.earlier_term:
            return f"{voice.say(statements.COMPARISONS)} {opening}"
        return opening

    def _facts(self, details: Details, *, in_zone: bool) -> Facts:
        pending = [name for name in ("date", "time", "duration", "room") if getattr(details, name) is None]
        zone = self._course.zone if in_zone else None
        start = details.start
        if start and zone:
            start += zone.offset - self._campus.offset
        day = None if start else details.date
        return Facts(start, zone, day, None, details.duration, details.room, tuple(pending))

    def _proctor_line(self, voice: Voice) -> list[str]:
        if not self._course.named_at_once:
            return []
        who = self._course.proctor
        return [f"Proctor: {named(voice, who).rstrip(',')}" if who else "Proctor: to be announced"]

    def _aside(self, voice: Voice) -> list[str]:
        return [self._proctor_sentence(voice, "it")] if self._course.named_at_once else []

    def change(self) -> Post:
        """The notice that changes the first one."""
        course, voice = self._course, self._composer.voice()
        details = course.details
        channel = course.change_channel
        statement: list[Block] = [self._opening(voice, statements.CHANGES, channel)]
        if course.change == "book":
            news: Block = self._book(voice, details, "it")
        else:
            facts = self._changed(details)
            news = facts_block(voice, facts) if voice.chance(0.4) else facts_sentences(voice, facts)
        statement.append(news)
        if isinstance(news, str) and voice.chance(0.6):
            statement.append(voice.say(statements.REST))
        # Only mails may come from the office: it does not teach, so it cannot post in the course.
        office = self._reachable(channel) == "email" and voice.chance(0.4)
        return self._post(
            channel, _FORWARD_DAYS if course.fate == "past" else _CHANGE_DAYS, statement, office
        )

    def _changed(self, details: Details) -> Facts:
        """Only what the change is about."""
        match self._course.change:
            case "when":
                whole = self._facts(details, in_zone=True)
                return Facts(whole.start, whole.zone)
            case "date":
                return Facts(day=details.date)
            case "time":
                return Facts(time=details.time)
            case "duration":
                return Facts(duration=details.duration)
            case _:
                return Facts(room=details.room)

    def proctor(self) -> Post:
        """A notice of its own that somebody else proctors."""
        voice, channel = self._composer.voice(), self._any_channel()
        return self._post(channel, (12, 2), [self._proctor_sentence(voice, self._sitting(voice, channel))])

    def _proctor_sentence(self, voice: Voice, exam: str) -> str:
        who = self._course.proctor
        if who is None:
            return voice.say(statements.PROCTOR_PENDING, exam=exam)
        plain = f"{who.name} ({who.email})"
        return voice.say(statements.PROCTORS, exam=exam, who=named(voice, who), who_plain=plain)

    # -- why there is none for the student -------------------------------------------------------------------

    def average(self, mark: str, average: float) -> Post:
        """One of the student's averages; on that of coursework a rule may depend."""
        voice = self._composer.voice()
        shown = f"{average:.1f}"
        text = voice.say(statements.AVERAGES, mark=mark, title=self._course.title, average=shown)
        channel: Channel = "email" if voice.chance(0.5) else "message"
        return self._post(channel, (12, 2), [text], titled=False, personal=True)

    def no_exam(self) -> Post:
        """There is no final, or no longer."""
        cancelled = self._course.variant == "cancelled"
        ways = statements.CANCELLED if cancelled else statements.NEVER
        return self._state(ways, self._any_channel(), _CHANGE_DAYS if cancelled else (40, 5))

    def exempt(self) -> Post:
        """The student is told to be exempt."""
        channel: Channel = "email" if self._rng.random() < 0.5 else "message"
        return self._state(statements.EXEMPT, channel, (11, 2), personal=True)

    def optional(self) -> Post:
        """The final is not compulsory for anybody."""
        return self._state(statements.OPTIONAL, self._any_channel(), (11, 2))

    def auditor(self) -> Post:
        """The final is not compulsory for the student."""
        return self._state(statements.AUDITOR, "email", (60, 5), office=True, personal=True)

    def _state(
        self, ways: tuple[str, ...], channel: Channel, days: tuple[float, float], *, office: bool = False,
        personal: bool = False,
    ) -> Post:  # fmt: skip
        voice = self._composer.voice()
        exam = self._sitting(voice, channel)
        text = voice.say(ways, exam=exam, title=self._course.title)
        return self._post(channel, days, [text], office, personal=personal)

    def _any_channel(self) -> Channel:
        return self._rng.choice(CHANNELS)


def syllabus(
    course: Course, others: list[Course], campus: Campus, composer: Composer, rng: random.Random
) -> str:
    """The syllabus of a course: whose it is, and what holds for some of its sections, in any order."""
    voice = composer.voice()
    teacher, assistant = (f"{who.name} ({who.email})" for who in (course.instructor, course.assistant))
    labels = rng.choice(
        (
            ("Instructor", "Teaching assistant"),
            ("Taught by", "Assistant"),
            ("Lecturer", "TA"),
            ("Held by", "Assisted by"),
            ("Course leader", "Course assistant"),
            ("Teacher", "Tutor"),
        )
    )
    people = [f"{labels[0]}: {teacher}", f"{labels[1]}: {assistant}"]
    said: list[Block] = [
        " ".join(_Author(one, campus, composer, rng).terms(voice))
        for one in ([course, *others] if course.in_syllabus else others)
    ]
    rng.shuffle(said)
    blocks: list[Block] = [course.subject.description, people]
    if voice.chance(0.5):
        blocks.reverse()
    # Of sections that are not spoken of here, all of that stands in an announcement.
    all_told = course.in_syllabus and not course.groups
    return Draft([*blocks, *said, *([] if all_told else [voice.say(statements.ELSEWHERE)])]).html()
