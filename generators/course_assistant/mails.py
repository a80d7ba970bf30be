"""The mails that bear on who is to be reminded, and those that only look as if they did."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from dataclasses import replace

from mesocosm.generators.course_assistant.expected import Student
from mesocosm.generators.course_assistant.planning import Plan
from mesocosm.kits.mailbox import Mail, misfiled
from mesocosm.kits.people import Contact
from mesocosm.kits.prose import Prose

_SMALL = 20
_SUFFIXES = (".pptx", ".pdf", ".key", ".odp")


class Writer:
    """Writes a course's mails."""

    def __init__(self, plan: Plan, prose: Prose, rng: random.Random) -> None:
        self._plan = plan
        self._prose = prose
        self._rng = rng
        self._met: set[str] = set()
        # In a small world another mail would take the place of something more instructive.
        self._room = len(plan.students) > _SMALL

    def mails(self) -> Iterator[Mail]:
        """Every mail that has to do with the presentations, in no order."""
        yield from self._deadlines()
        for index, student in enumerate(self._plan.students):
            for mail in self._cases(student):
                yield replace(mail, folder=misfiled(index, spam=mail.file is not None))

    # -- from the instructor ----------------------------------------------------------------------------

    def _deadlines(self) -> Iterator[Mail]:
        plan = self._plan
        first, moved = self._date(plan.first_deadline), self._date(plan.deadline)
        yield self._notice(
            plan.first_deadline - dt.timedelta(days=21),
            "Presentations: what we expect",
            f"The {plan.subject.title} presentations are due by {first}. Students mail their slides to you.",
        )
        yield self._notice(
            plan.first_deadline - dt.timedelta(days=5),
            "Presentations: more time for everybody",
            f"The lab was closed for two days, so the deadline moves: presentations are now due by {moved}.",
        )

    def _notice(self, moment: dt.datetime, subject: str, fact: str) -> Mail:
        about = self._prose.sentence("course_admin", subject=self._plan.subject)
        sender = self._plan.instructor
        body = f"Dear {self._plan.assistant.person.first},\n\n{fact} {about}\n\n{sender.person.name}"
        return Mail(sender.header, moment, subject, body)

    def _date(self, moment: dt.datetime) -> str:
        local = self._plan.local(moment)
        return f"{local:%A}, {local:%B} {local.day}, {local.year} at {local:%H:%M}"

    # -- from and about the students --------------------------------------------------------------------

    def _cases(self, student: Student) -> Iterator[Mail]:
        plan, rng = self._plan, self._rng
        in_time = self._before(plan.deadline)
        match student.fate:
            case "submitted":
                yield self._submission(student, in_time)
                if rng.random() < 0.15 and self._room:
                    yield self._submission(student, in_time + dt.timedelta(hours=2), again=True)
            case "boundary":
                # The last minute counts as a whole; in UTC it is often the next day already.
                yield self._submission(student, plan.deadline + dt.timedelta(seconds=rng.randint(0, 50)))
            case "attached_later":
                yield self._without_file(student, in_time)
                yield self._submission(student, in_time + dt.timedelta(hours=1))
            case "extended":
                yield self._extension(student)
                yield self._submission(student, plan.extended - dt.timedelta(hours=rng.randint(1, 40)))
            case "other_address":
                yield self._submission(student, in_time, private=True)
            case "excused":
                yield self._excuse(student)
            case "dropped":
                if self._sometimes("handed in and dropped", 0.3):
                    yield self._submission(student, in_time)
            case "dropped_later":
                yield self._change(student, "has dropped the course")
            case "silent":
                if self._sometimes("handed in something else", 0.2):
                    yield self._homework(student, in_time)
                elif rng.random() < 0.25 and self._room:
                    yield self._question(student)
            case "late":
                # After the deadline, but some before midnight UTC of a later day, or before the extension.
                yield self._submission(
                    student, plan.deadline + dt.timedelta(minutes=rng.choice((1, 3, 45, 600, 2000)))
                )
            case "no_file":
                yield self._without_file(student, in_time)
            case "withdrawn":
                yield self._submission(student, in_time)
                yield self._withdrawal(student, in_time + dt.timedelta(hours=3))
            case "extension_missed":
                yield self._extension(student)
                yield self._submission(
                    student, plan.extended + dt.timedelta(minutes=rng.choice((2, 30, 400)))
                )
            case "excuse_revoked":
                yield self._excuse(student)
                yield self._revocation(student)
            case "reinstated":
                yield self._change(student, "is back in the course; the roster still says dropped")
            case "self_excused":
                yield self._own_excuse(student)

    def _sometimes(self, what: str, share: float) -> bool:
        """True for the first student who may do it, and for a share of the others."""
        chosen = self._rng.random() < share or what not in self._met
        self._met.add(what)
        return chosen

    def _before(self, moment: dt.datetime) -> dt.datetime:
        # Six hours at least, for what follows on the same mail.
        return moment - dt.timedelta(minutes=self._rng.randint(6 * 60, 12 * 24 * 60))

    def _mail(
        self, student: Student, moment: dt.datetime, subject: str, text: str, *, file: str | None = None,
        private: bool = False,
    ) -> Mail:  # fmt: skip
        sender = self._plan.people[student.number]
        if private:
            # Not the address on the roster: the student ID in the subject says whose it is.
            handle = sender.person.handle.replace(".", "")
            sender = Contact(sender.person, f"{handle}{self._rng.randint(70, 99)}@postbox.net")
        if self._rng.random() < 0.25:
            text += " " + self._prose.sentence("coursework", subject=self._plan.subject)
        hello = self._rng.choice(("Hello", "Dear", "Hi"))
        body = f"{hello} {self._plan.assistant.person.first},\n\n{text}\n\n{sender.person.name}"
        return Mail(sender.header, moment, subject, body, file=file)

    def _subject(self, student: Student) -> str:
        pattern = self._rng.choice(
            (
                "presentation-{number}-{name}",
                "Presentation {number} {name}",
                "Slides: presentation of {name}, {number}",
                "My presentation ({number})",
                "{number} presentation",
            )
        )
        return pattern.format(number=student.number, name=student.name)

    def _file(self, student: Student) -> str:
        stem = self._rng.choice(
            ("slides", "presentation", student.name.split()[-1].lower(), student.number, "final")
        )
        return f"{stem}{self._rng.choice(_SUFFIXES)}"

    def _submission(
        self, student: Student, moment: dt.datetime, *, again: bool = False, private: bool = False
    ) -> Mail:
        text = self._rng.choice(
            (
                "here are my slides.",
                "you find my presentation attached.",
                "please find the slides for my talk with this mail.",
                "attached is what I am going to present.",
            )
        )
        if again:
            text = "I corrected two typing errors, so here are the slides once more."
        return self._mail(
            student, moment, self._subject(student), text, file=self._file(student), private=private
        )

    def _without_file(self, student: Student, moment: dt.datetime) -> Mail:
        text = self._rng.choice(
            ("my slides are attached.", "here is my presentation.", "please find my slides with this mail.")
        )
        return self._mail(student, moment, self._subject(student), text)

    def _withdrawal(self, student: Student, moment: dt.datetime) -> Mail:
        text = self._rng.choice(
            (
                "I take back the slides that I sent: the results in them are wrong.",
                "please delete the slides I sent you, I withdraw them.",
            )
        )
        return self._mail(student, moment, f"Withdrawing my presentation {student.number}", text)

    def _question(self, student: Student) -> Mail:
        moment = self._before(self._plan.deadline)
        text = "how long may the talk be, and is there a projector?"
        return self._mail(student, moment, f"Question about the presentation ({student.number})", text)

    def _homework(self, student: Student, moment: dt.datetime) -> Mail:
        # It has a file and the student ID, but it is no presentation.
        sheet = self._rng.randint(2, 9)
        text = f"my answers to exercise sheet {sheet} are attached."
        return self._mail(
            student, moment, f"Exercise sheet {sheet} - {student.number}", text, file=f"sheet{sheet}.pdf"
        )

    def _own_excuse(self, student: Student) -> Mail:
        moment = self._before(self._plan.deadline)
        text = self._rng.choice(
            (
                "I am excused from the presentation, as I am on the rowing team this term.",
                "I do not have to present this time; I told the secretary so.",
            )
        )
        return self._mail(student, moment, f"No presentation from {student.number}", text)

    def _extension(self, student: Student) -> Mail:
        until = self._date(self._plan.extended)
        text = f"{student.name} ({student.number}) was ill and may hand in the presentation until {until}."
        return self._notice(self._around(), "Extension", text)

    def _excuse(self, student: Student) -> Mail:
        who = f"{student.name} ({student.number})"
        text = f"{who} is excused from the presentation; there is nothing to hand in."
        return self._notice(self._around(), "Excused from the presentation", text)

    def _revocation(self, student: Student) -> Mail:
        text = (
            f"I have to correct myself: {student.name} ({student.number}) is not excused and has to present "
            "like everybody else, by the same deadline."
        )
        return self._notice(self._plan.deadline - dt.timedelta(hours=20), "Not excused after all", text)

    def _change(self, student: Student, what: str) -> Mail:
        text = f"{student.name} ({student.number}) {what}."
        return self._notice(self._around(), "A change to the roster", text)

    def _around(self) -> dt.datetime:
        return self._plan.deadline - dt.timedelta(minutes=self._rng.randint(30 * 60, 9 * 24 * 60))
