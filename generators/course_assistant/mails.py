"""The mails of a course: which of its students handed in what, and what its instructor decided."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence

from mesocosm.generators.course_assistant import wording
from mesocosm.generators.course_assistant.expected import Student
from mesocosm.generators.course_assistant.planning import Plan
from mesocosm.kits.mailbox import Mail, MailWriter, answer_to, awake, file_name, later, misfiled
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Topic
from mesocosm.kits.prose.inflect import fix_articles
from mesocosm.kits.prose.names import slug
from mesocosm.kits.wording import Phrases

_SMALL = 20
STUDENTS: tuple[Topic, ...] = ("student_letters",)
INSTRUCTORS: tuple[Topic, ...] = ("teaching",)
"""What they write about besides."""
_FORMS = (
    "{0:%A}, {0:%B} {0.day}, {0.year} at {0:%H:%M}",
    "{0:%A} {0.day} {0:%B} {0.year}, {0:%H:%M}",
    "{0.day} {0:%B} {0.year} at {0:%H:%M}",
    "{0:%H:%M} on {0:%B} {0.day}, {0.year}",
    "{0:%Y-%m-%d}, {0:%H:%M}",
)
_ENOUGH = dt.time(21, 20)
"""Who hands something in on the day of the deadline does it earlier, and has time for what follows on it."""
_MORNING = dt.time(11, 40)
"""Until then on the last day of an extension, and on those before it."""
_LAST_MINUTE = 0.2
"""Share of the students who hand in during the last hours."""
_MINUTE, _DAY = dt.timedelta(minutes=1), dt.timedelta(days=1)


class Writer:
    """Writes a course's mails."""

    def __init__(self, plan: Plan, writer: MailWriter, phrases: Phrases, rng: random.Random) -> None:
        self._plan = plan
        self._writer = writer
        self._phrases = phrases
        self._rng = rng
        self._met: set[str] = set()
        # In a small world another mail would take the place of something more instructive.
        self._room = len(plan.students) > _SMALL

    # -- from the instructor ----------------------------------------------------------------------------

    def deadlines(self) -> list[Mail]:
        """What the instructor announced to the assistant: a deadline, which was answered, and a later one."""
        plan = self._plan
        first = self._deadline(plan.first_deadline, 21, wording.WORK)
        return [
            first,
            answer_to(first, self._writer.owner, self._rng, plan.zone, plan.now),
            self._deadline(plan.deadline, 7, wording.WORK, moved=True),
        ]

    def _deadline(
        self, due: dt.datetime, before: int, works: tuple[str, str], *, moved: bool = False
    ) -> Mail:
        when = self._date(due)
        said = self._phrases.part(wording.DEADLINE, title=self._plan.subject.title, works=works[1], when=when)
        if moved:
            said = f"{self._phrases.part(wording.MOVED)} {said}"
        return self._notice(self._day(due, before), f"{said[0].upper()}{said[1:]}.")

    def _notice(self, moment: dt.datetime, fact: str) -> Mail:
        return self._write(self._plan.instructor, moment, INSTRUCTORS, fact)

    def _write(
        self, sender: Contact, moment: dt.datetime, topics: Sequence[Topic], fact: str, *, subject: str = "",
        file: str | None = None, answers: Mail | None = None,
    ) -> Mail:  # fmt: skip
        course = self._plan.subject
        pages = self._writer.pages("coursework", self._rng.randint(6, 14), course) if file else ()
        brief = self._phrases.part(wording.BRIEF, code=course.code, title=course.title)
        return self._writer.write(
            sender, moment, self._rng.choice(topics), fact=fact, subject=subject, course=course, file=file,
            pages=pages, thread=answers.thread if answers else None, brief=brief,
        )  # fmt: skip

    def _date(self, moment: dt.datetime) -> str:
        return self._rng.choice(_FORMS).format(self._plan.local(moment))

    def _day(self, moment: dt.datetime, before: int, until: dt.time = _ENOUGH) -> dt.datetime:
        """A moment so many days earlier, at which people write."""
        day = self._plan.local(moment).date() - dt.timedelta(days=before)
        return awake(day, self._rng, self._plan.zone, until=until)

    def _after(self, moment: dt.datetime, longest: dt.timedelta, **more: dt.timedelta) -> dt.datetime:
        """A moment of any distance, before now: what follows says nothing by when it follows."""
        plan = self._plan
        return later(moment, self._rng, longest, plan.zone, until=plan.now - _MINUTE, **more)

    def _in_time_after(self, moment: dt.datetime) -> dt.datetime:
        plan = self._plan
        return later(moment, self._rng, 3 * _DAY, plan.zone, until=plan.deadline)

    def _around(self, least: int = 2, most: int = 10) -> dt.datetime:
        return self._day(self._plan.deadline, self._rng.randint(least, most))

    def _about(self, student: Student, moment: dt.datetime, ways: Sequence[str], when: str = "") -> Mail:
        return self._notice(moment, self._said(student, ways, wording.WORK[0], when))

    def _said(self, student: Student, ways: Sequence[str], work: str, when: str = "") -> str:
        who = self._rng.choice((f"{student.name} ({student.number})", f"{student.number} ({student.name})"))
        said = self._phrases.say(ways, who=who, work=work, when=when, title=self._plan.subject.title)
        return fix_articles(said)  # "an essay", but "a presentation"

    # -- from and about the students --------------------------------------------------------------------

    def story(self, student: Student, index: int) -> list[Mail]:
        """Every mail that has to do with the presentation of a student, the ``index``-th."""
        mails = list(self._cases(student))
        return [mail.filed(misfiled(index, spam=mail.file is not None)) for mail in mails]

    def _cases(self, student: Student) -> Iterator[Mail]:
        plan, rng = self._plan, self._rng
        in_time = self._day(plan.deadline, rng.randint(0, 11))
        if student.fate == "submitted" and rng.random() < _LAST_MINUTE:
            in_time = plan.deadline - _MINUTE * rng.uniform(0.1, 170)
            in_time = in_time.replace(microsecond=0)
        match student.fate:
            case "submitted":
                yield self._submission(student, in_time)
                if rng.random() < 0.15 and self._room:
                    yield self._submission(student, self._in_time_after(in_time), wording.ONCE_MORE)
            case "boundary":
                # The last minute counts as a whole; in UTC it is often the next day already.
                yield self._submission(student, plan.deadline + dt.timedelta(seconds=rng.randint(0, 59)))
            case "attached_later":
                yield self._without_file(student, in_time)
                yield self._submission(student, self._in_time_after(in_time), wording.ATTACHED_NOW)
            case "extended":
                yield self._extension(student)
                yield self._submission(student, self._day(plan.extended, rng.randint(0, 2), _MORNING))
            case "other_address":
                yield self._submission(student, in_time, private=True)
            case "excused":
                yield self._about(student, self._around(), wording.EXCUSE)
            case "dropped":
                if self._sometimes("handed in and dropped", 0.3):
                    yield self._submission(student, in_time)
            case "dropped_later":
                yield self._about(student, self._around(), wording.DROPPED)
            case "late":
                # After the deadline, but some before midnight UTC of a later day, or before the extension.
                yield self._submission(student, self._after(plan.deadline, 4 * _DAY, least=_MINUTE))
            case "no_file":
                yield self._without_file(student, in_time)
            case "withdrawn":
                handed_in = self._submission(student, in_time)
                yield handed_in
                yield self._withdrawal(student, self._after(in_time, 5 * _DAY), handed_in)
            case "extension_missed":
                yield self._extension(student)
                yield self._submission(student, self._after(plan.extended, 2 * _DAY, least=_MINUTE))
            case "excuse_revoked":
                yield self._about(student, self._around(3), wording.EXCUSE)
                yield self._about(student, self._day(plan.deadline, 1), wording.NOT_EXCUSED)
            case "reinstated":
                yield self._about(student, self._around(), wording.BACK)
            case "self_excused":
                yield self._own_excuse(student)

    def _sometimes(self, what: str, share: float) -> bool:
        """True for the first student who may do it, and for a share of the others."""
        chosen = self._rng.random() < share or what not in self._met
        self._met.add(what)
        return chosen

    def _subject(self, student: Student, ways: Sequence[str] = wording.SUBJECTS, work: str = "") -> str:
        values = {"work": work, "Work": work.capitalize()}
        return self._phrases.part(ways, number=student.number, name=student.name, **values)

    def _submission(
        self, student: Student, moment: dt.datetime, ways: Sequence[str] = wording.HANDED_IN, *,
        private: bool = False,
    ) -> Mail:  # fmt: skip
        sender = self._plan.people[student.number]
        if private:
            # Not the address on the roster: the student ID in the subject says whose it is.
            handle = sender.person.handle.replace(".", "")
            sender = Contact(sender.person, f"{handle}{self._rng.randint(70, 99)}@postbox.example")
        fact = self._phrases.say(ways, topic=self._topic(student))
        file = file_name(sender, self._rng, student.number, "slides", "talk")
        return self._write(sender, moment, STUDENTS, fact, subject=self._subject(student), file=file)

    def _from(
        self, student: Student, moment: dt.datetime, fact: str, subject: str = "", *,
        answers: Mail | None = None,
    ) -> Mail:  # fmt: skip
        sender = self._plan.people[student.number]
        return self._write(sender, moment, STUDENTS, fact, subject=subject, answers=answers)

    def _without_file(self, student: Student, moment: dt.datetime) -> Mail:
        fact = self._phrases.say(wording.HANDED_IN, topic=self._topic(student))
        return self._from(student, moment, fact, self._subject(student))

    def _topic(self, student: Student) -> str:
        """What a student's presentation is about, whenever it is named."""
        topics = self._plan.subject.topics
        return topics[int(student.number) % len(topics)]

    def _withdrawal(self, student: Student, moment: dt.datetime, handed_in: Mail) -> Mail:
        fact = self._phrases.say(wording.TAKEN_BACK)
        if self._rng.random() < 0.5:
            return self._from(student, moment, fact, answers=handed_in)
        return self._from(student, moment, f"{fact} My student ID is {student.number}.")

    def _own_excuse(self, student: Student) -> Mail:
        fact = self._phrases.say(wording.NOT_TO_PRESENT)
        subject = self._subject(student) if self._rng.random() < 0.5 else ""
        return self._from(student, self._around(0), fact, subject)

    def _extension(self, student: Student) -> Mail:
        return self._about(student, self._around(), wording.EXTENSION, when=self._date(self._plan.extended))

    # -- about anything else ----------------------------------------------------------------------------

    def aside(self, student: Student) -> list[Mail]:
        """Mails from or about a student that say nothing about whether a presentation counts."""
        number = self._rng.randrange(77)
        mails = list(self._asides(student))
        spam = any(mail.file is not None for mail in mails)
        return [mail.filed(misfiled(number, spam=spam)) for mail in mails]

    def _asides(self, student: Student) -> Iterator[Mail]:
        rng, plan = self._rng, self._plan
        work, works = rng.choice(wording.OTHER_WORK)
        sender, moment = plan.people[student.number], self._around(0)
        match rng.choice(("work", "work", "work", "question", "notice", "notice", "deadline", "hearsay")):
            case "work":
                fact = self._phrases.say(wording.OTHER_HANDED_IN, work=work)
                subject = self._subject(student, wording.OTHER_SUBJECTS, work)
                file = file_name(sender, rng, student.number, slug(work))
                yield self._write(sender, moment, STUDENTS, fact, subject=subject, file=file)
            case "question":
                fact = f"{self._phrases.say(wording.QUESTION)[:-1]}?"
                subject = self._subject(student) if rng.random() < 0.5 else ""
                yield self._from(student, moment, fact, subject)
            case "notice":
                ways = rng.choice((wording.EXTENSION, wording.EXCUSE, wording.NOT_EXCUSED))
                if ways is wording.NOT_EXCUSED:
                    # What is taken back has been said.
                    first, moment = self._around(6, 11), self._around(1, 5)
                    yield self._notice(first, self._said(student, wording.EXCUSE, work))
                # Nobody gives time that is over.
                day = plan.local(moment).date() + dt.timedelta(days=rng.randint(1, 12))
                when = self._date(dt.datetime.combine(day, dt.time(12), plan.zone))
                yield self._notice(moment, self._said(student, ways, work, when))
            case "deadline":
                due = plan.deadline + dt.timedelta(days=rng.randint(-3, 12))
                yield self._deadline(due, rng.randint(13, 20), (work, works), moved=rng.random() < 0.5)
            case _:
                ways = rng.choice((wording.EXCUSE, wording.NOT_EXCUSED, wording.DROPPED, wording.BACK))
                theirs = [way for way in ways if " I " not in f" {way}" and " my " not in way]
                # Nobody knows the student IDs of others.
                said = self._said(student, theirs, wording.WORK[0])[:-1]
                said = said.replace(f" ({student.number})", "")
                said = said.replace(f"{student.number} ({student.name})", student.name)
                if not said.startswith(student.name):
                    said = f"{said[0].lower()}{said[1:]}"
                others = [one for one in plan.students if one is not student] or [student]
                fact = self._phrases.say(wording.HEARSAY, said=said)
                yield self._from(rng.choice(others), moment, fact)
