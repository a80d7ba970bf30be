"""The evidence: what each course publishes about its final, and where."""

from __future__ import annotations

import random

from mesocosm.generators.canvas_arrange_exam.courses import (
    CHANNELS,
    Campus,
    Channel,
    Course,
    Details,
    Exemption,
)
from mesocosm.generators.canvas_arrange_exam.posts import Post
from mesocosm.generators.canvas_arrange_exam.wording import Facts, Voice, facts_block, facts_sentences, named
from mesocosm.kits.wording import Block, Draft

_FIRST_DAYS, _LAST_DAYS = 38, 13
"""Days ago at which finals are first spoken of."""
_CHANGE_DAYS = (9, 4)
_FORWARD_DAYS = (11.5, 9.1)
"""Notices that bring a final forward come before it took place."""
_CLOSERS = (
    "Please bring your student card.",
    "Bags stay at the front.",
    "Be there ten minutes early.",
    "Phones must be switched off.",
    "Black or blue ink only, please.",
    "Good luck with your revision!",
    "Old papers are on the course page.",
    "Water is fine, food is not.",
    "Questions? Use the discussion board.",
    "The seating plan hangs at the door.",
    "Calculators without a network are fine.",
)


def notices(course: Course, campus: Campus, rng: random.Random) -> list[Post]:
    """Everything that is evidence for one course, in no particular order."""
    author = _Author(course, campus, rng)
    posts = [] if course.in_syllabus else [author.welcome()]
    if not (course.fate == "no_exam" and course.variant == "never"):
        posts.append(author.exam())
    if course.change:
        posts.append(author.change())
    if course.proctor_apart:
        posts.append(author.proctor())
    if course.exemption:
        posts.append(author.average(course.exemption))
    if course.fate == "no_exam":
        posts.append(author.no_exam())
    if course.fate == "exemption" and course.variant == "direct":
        posts.append(author.exempt())
    if course.fate == "optional":
        posts.append(author.optional())
    return posts


class _Author:
    """Writes for one course."""

    def __init__(self, course: Course, campus: Campus, rng: random.Random) -> None:
        self._course = course
        self._campus = campus
        self._rng = rng
        self._title = course.title

    def _post(
        self,
        channel: Channel,
        days: tuple[float, float],
        subject: str,
        blocks: list[Block],
        office: bool = False,
    ) -> Post:
        moment = self._campus.waking_moment(self._rng, *days)
        author = self._campus.office if office else self._course.instructor
        student = self._campus.student.person.first
        if channel == "announcement":
            body = Draft(blocks).html()
        elif channel == "email":
            hello = self._rng.choice((f"Dear {student},", "Dear all,", f"Hello {student},", "Dear students,"))
            name = author.name if office or self._rng.random() < 0.7 else author.person.first
            body = Draft([hello, *blocks, name]).plain()
        else:
            body = Draft(blocks).plain()
        return Post(channel, moment, author, subject, body, self._course)

    # -- what courses say at the beginning -------------------------------------------------------------------

    def welcome(self) -> Post:
        """Credits, whether books are allowed, and who need not sit the final."""
        voice = Voice(self._rng)
        first = voice.pick(
            f"Welcome to {self._title}!",
            f"{self._title} starts this week, welcome.",
            f"Good to have you in {self._title}.",
            f"A warm welcome to {self._title}.",
        )
        said = self._terms(voice)
        blocks: list[Block] = [first, said]
        if voice.chance(0.6):
            blocks = [" ".join([first, *said])]
        subject = voice.pick(
            f"Welcome to {self._title}", "Welcome!", "How this course works", "First things first"
        )
        return self._post("announcement", (104, 95), subject, blocks)

    def syllabus(self) -> str:
        """The syllabus page, which says the same where there is no welcome post."""
        course, voice = self._course, Voice(self._rng)
        teacher, assistant = (f"{who.name} ({who.email})" for who in (course.instructor, course.assistant))
        labels = self._rng.choice(
            (("Instructor", "Teaching assistant"), ("Taught by", "Assistant"), ("Lecturer", "TA"))
        )
        people = [f"{labels[0]}: {teacher}", f"{labels[1]}: {assistant}"]
        blocks: list[Block] = [course.subject.description, [*people, *self._terms(voice)]]
        if voice.chance(0.5):
            blocks = [people, f"{course.subject.description} {' '.join(self._terms(voice))}"]
        return Draft(blocks).html()

    def _terms(self, voice: Voice) -> list[str]:
        course, credits = self._course, f"{self._course.credits:g}"
        said = [
            voice.pick(
                f"The course is worth {credits} credits.",
                f"It carries {credits} credits.",
                f"On passing you earn {credits} credits.",
                f"Course credit: {credits}.",
            )
        ]
        if not (course.fate == "no_exam" and course.variant == "never"):
            said.append(self._book(voice, course.earlier or course.details))
        if course.exemption:
            said.append(self._rule(voice, course.exemption))
        return said

    @staticmethod
    def _book(voice: Voice, details: Details) -> str:
        if details.book is None:
            return voice.pick(
                "Whether the final is open-book or closed-book will be decided later.",
                "It is not settled yet if the final will be open-book or closed-book.",
            )
        if details.book == "Open-book":
            return voice.pick(
                "The final is open-book.",
                "Your notes are welcome in the final, which is an open-book exam.",
                "Type of the final: open-book.",
                "We have an open-book final.",
            )
        return voice.pick(
            "The final is closed-book.",
            "No notes are allowed in the final, which is a closed-book exam.",
            "Type of the final: closed-book.",
            "We have a closed-book final.",
        )

    @staticmethod
    def _rule(voice: Voice, exemption: Exemption) -> str:
        limit = f"{exemption.threshold:.1f}"
        if exemption.inclusive:
            return voice.pick(
                f"With a coursework average of {limit} or higher you are exempt from the final.",
                f"Whoever has a coursework average of at least {limit} is exempt from the final.",
            )
        return voice.pick(
            f"With a coursework average above {limit} (not just {limit}) you are exempt from the final.",
            f"Whoever has a coursework average of more than {limit} is exempt from the final.",
        )

    # -- the final -------------------------------------------------------------------------------------------

    def exam(self) -> Post:
        """The first notice of the final."""
        course, voice = self._course, Voice(self._rng)
        details = course.earlier or course.details
        in_zone = course.zone and course.change != "when"
        blocks: list[Block]
        if course.open == "all":
            blocks = [self._opening(voice), self._nothing_yet(voice), *self._aside(voice)]
        else:
            facts = self._facts(details, in_zone=bool(in_zone))
            if voice.chance(0.5):
                blocks = [self._opening(voice), [*facts_block(voice, facts), *self._proctor_line(voice)]]
            else:
                blocks = [f"{self._opening(voice)} {facts_sentences(voice, facts)}", *self._aside(voice)]
        if voice.chance(0.6):
            blocks.append(self._rng.choice(_CLOSERS))
        days = (_FIRST_DAYS, _LAST_DAYS)
        return self._post(course.channel, days, self._subject(voice), blocks)

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
        return [f"Proctor: {named(voice, who)}" if who else "Proctor: to be announced"]

    def _aside(self, voice: Voice) -> list[str]:
        return [self._proctor_sentence(voice)] if self._course.named_at_once else []

    def _subject(self, voice: Voice) -> str:
        if self._course.channel == "announcement":
            return voice.pick(
                "Final exam",
                "Our final",
                f"{self._title}: final exam",
                "The final exam, in brief",
                "Exam arrangements",
            )
        return voice.pick(
            f"Final exam in {self._title}",
            f"{self._title}: final",
            f"Your final in {self._title}",
            f"{self._title}, exam arrangements",
        )

    def _opening(self, voice: Voice) -> str:
        mine = f" (Section {self._course.section})" if voice.chance(0.25) else ""
        return voice.pick(
            f"This is about the final exam in {self._title}{mine}.",
            f"The arrangements for the {self._title} final exam{mine}:",
            f"A note on the final exam of {self._title}{mine}.",
            f"Some of you asked about the {self._title} final exam{mine}.",
            f"The final exam for {self._title}{mine} is coming up.",
        )

    @staticmethod
    def _nothing_yet(voice: Voice) -> str:
        return voice.pick(
            "There will be one, but date, time, duration and room are not fixed yet.",
            "It is certain to happen; its date, time, duration and room will be announced later.",
            "Date, time, duration and room are still open.",
        )

    def change(self) -> Post:
        """The notice that changes the first one."""
        course, voice = self._course, Voice(self._rng)
        details, earlier = course.details, course.earlier
        assert earlier is not None
        opening = voice.pick(
            f"There is a change to the {self._title} final exam.",
            f"Correction for the final exam in {self._title}.",
            f"Please note new arrangements for the {self._title} final exam.",
            f"An update on the final exam in {self._title}.",
        )
        rest = voice.pick(
            "Everything else stays as announced.", "Nothing else changes.", "The rest is as before."
        )
        if course.change == "book":
            kind = str(details.book).lower()
            news: Block = voice.pick(f"The final is now {kind}.", f"The final will be {kind} after all.")
        else:
            facts = self._changed(details)
            block = voice.chance(0.5)
            news = facts_block(voice, facts) if block else facts_sentences(voice, facts)
        channel = course.change_channel
        # Only mails may come from the office: it does not teach, so it cannot post in the course.
        office = channel == "email" and voice.chance(0.4)
        subject = voice.pick(
            f"{self._title}: change to the final",
            f"Update: final exam in {self._title}",
            f"New arrangements for the {self._title} final",
        )
        blocks: list[Block] = [f"{opening} {news} {rest}"] if isinstance(news, str) else [opening, news, rest]
        days = _FORWARD_DAYS if course.fate == "past" else _CHANGE_DAYS
        return self._post(channel, days, subject, blocks, office)

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
        voice = Voice(self._rng)
        subject = voice.pick(f"{self._title}: who proctors", f"Proctor of the {self._title} final")
        return self._post(self._any_channel(), (12, 2), subject, [self._proctor_sentence(voice)])

    def _proctor_sentence(self, voice: Voice) -> str:
        who = self._course.proctor
        if who is None:
            return voice.pick(
                f"I cannot proctor the {self._title} final myself; who will is still to be announced.",
                f"Somebody else will proctor the {self._title} final; the name will be announced.",
            )
        return voice.pick(
            f"{named(voice, who)} will proctor the {self._title} final in my place.",
            f"I shall be travelling, so the proctor of the {self._title} final is {who.name} ({who.email}).",
            f"The {self._title} final will be proctored by {who.name} ({who.email}), not by me.",
        )

    # -- why there is none for the student -------------------------------------------------------------------

    def average(self, exemption: Exemption) -> Post:
        """The student's coursework average, on which a rule depends."""
        voice = Voice(self._rng)
        average = f"{exemption.average:.1f}"
        text = voice.pick(
            f"Your coursework average in {self._title} is {average}.",
            f"All marks are in: your coursework average in {self._title} comes to {average}.",
            f"For your records: coursework average in {self._title}, {average}.",
        )
        channel: Channel = "email" if voice.chance(0.5) else "message"
        subject = voice.pick(f"Your marks in {self._title}", f"{self._title}: coursework average")
        return self._post(channel, (12, 2), subject, [text])

    def no_exam(self) -> Post:
        """There is no final, or no longer."""
        voice = Voice(self._rng)
        if self._course.variant == "cancelled":
            text = voice.pick(
                f"The final exam in {self._title} is cancelled; the term paper takes its place.",
                f"There will be no final exam in {self._title} after all; the project counts instead.",
            )
            subject = voice.pick(f"{self._title}: final cancelled", "No final after all")
            return self._post(self._any_channel(), _CHANGE_DAYS, subject, [text])
        text = voice.pick(
            f"There is no final exam in {self._title}; your grade rests on the portfolio.",
            f"{self._title} has no final exam this term. The essays make up the whole grade.",
            f"Several of you asked: {self._title} has no final exam, only the project.",
        )
        subject = voice.pick(f"{self._title}: how you are graded", "About your grade", "No final")
        return self._post(self._any_channel(), (40, 5), subject, [text])

    def exempt(self) -> Post:
        """The student is told to be exempt."""
        voice = Voice(self._rng)
        text = voice.pick(
            f"Because of your prize-winning project you are exempt from the final exam in {self._title}.",
            f"You need not sit the final exam in {self._title}: your tutoring work exempts you from it.",
            f"Your request was granted: you are exempt from the final exam in {self._title}.",
        )
        channel: Channel = "email" if voice.chance(0.5) else "message"
        return self._post(channel, (11, 2), f"{self._title}: your final", [text])

    def optional(self) -> Post:
        """The final is not compulsory for the student."""
        voice = Voice(self._rng)
        if self._course.variant == "auditor":
            text = voice.pick(
                f"You are registered as an auditor of {self._title}. Auditors do not sit the final exam.",
                f"You are an auditor in {self._title}, and its final exam is not compulsory for auditors.",
            )
            return self._post("email", (60, 5), f"Your registration for {self._title}", [text], office=True)
        text = voice.pick(
            f"The final exam in {self._title} is optional: it can only improve your grade.",
            f"Nobody has to sit the final exam in {self._title}; it is optional and for extra credit.",
        )
        return self._post(self._any_channel(), (11, 2), f"{self._title}: the final is optional", [text])

    def _any_channel(self) -> Channel:
        return self._rng.choice(CHANNELS)


def syllabus(course: Course, campus: Campus, rng: random.Random) -> str | None:
    """The syllabus of a course that has one."""
    return _Author(course, campus, rng).syllabus() if course.in_syllabus else None
