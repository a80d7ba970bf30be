"""Near misses of a mailbox from which all reminders were sent."""

from __future__ import annotations

from mesocosm.families.verdict import Mutant
from mesocosm.generators.course_assistant.expected import ROSTER, SHEET, Expected, Student
from mesocosm.kits.outbox import Mailing
from mesocosm.kits.workbooks import edited_sheet
from mesocosm.servers.email.models import Email
from mesocosm.servers.email.store import NewEmail
from mesocosm.services.world import World


def _reminder(world: World, expected: Expected, student: Student) -> NewEmail:
    return {
        "sender": expected.assistant,
        "to": student.email,
        "subject": expected.subject,
        "body": f"Dear {student.name}, ID {student.number}, your presentation is missing.",
        "date": world.now,
    }


_MAILS: Mailing[Expected] = Mailing(lambda e: e.reminded, lambda e: e.others, _reminder)


def _no_name(mail: Email, expected: Expected) -> str:
    name = expected.reminded[0].name
    return (mail.body or "").replace(name, name.split()[0])


def _no_number(mail: Email, expected: Expected) -> str:
    number = expected.reminded[0].number
    return (mail.body or "").replace(number, number[:-1])


def _hidden(mail: Email, expected: Expected) -> None:
    mail.html_body = f'<p>Dear student,</p><div style="display:none">{mail.body}</div>'
    mail.body = ""


def _list_all(mail: Email, expected: Expected) -> str:
    others = [*expected.reminded[1:], *expected.others]
    return f"{mail.body}\n" + ", ".join(student.number for student in others[:5])


def _roster(world: World, expected: Expected) -> None:
    with edited_sheet(world, ROSTER, SHEET) as sheet:
        sheet["E1"] = "Reminded"


MUTANTS = [
    *(
        Mutant(f"overlooked {fate}", "recipients_missing", _MAILS.overlooked(fate))
        for fate in (
            "silent", "late", "no_file", "withdrawn", "extension_missed", "excuse_revoked", "reinstated",
            "self_excused",
        )
    ),
    *(
        Mutant(f"reminded {fate}", "recipients_extra", _MAILS.needless(fate))
        for fate in (
            "submitted", "boundary", "attached_later", "extended", "other_address", "excused", "dropped",
            "dropped_later",
        )
    ),
    *_MAILS.everyday(),
    Mutant("first name only", "body_name", _MAILS.set("body", _no_name)),
    Mutant("name and ID where nobody sees them", "body_name", _MAILS.edited(_hidden)),
    Mutant("a digit short", "body_student_id", _MAILS.set("body", _no_number)),
    Mutant("everybody's numbers in one mail", "body_other_ids", _MAILS.set("body", _list_all)),
    Mutant("notes in the roster", "files", _roster),
]  # fmt: skip
