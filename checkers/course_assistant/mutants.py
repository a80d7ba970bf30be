"""Near misses of a mailbox from which all reminders were sent."""

from __future__ import annotations

from collections.abc import Callable

from mesocosm.families.verdict import Inapplicable, Mutant
from mesocosm.generators.course_assistant.expected import ROSTER, SHEET, Expected, Student
from mesocosm.kits.near_misses import of_fate
from mesocosm.kits.outbox import INBOX_MUTANTS, send, sent_to, unsend
from mesocosm.kits.workbooks import edited_sheet
from mesocosm.servers.email.models import Email
from mesocosm.servers.email.store import EmailStore, NewEmail
from mesocosm.services.world import World


def _reminder(world: World, expected: Expected, student: Student) -> NewEmail:
    return {
        "sender": expected.assistant,
        "to": student.email,
        "subject": expected.subject,
        "body": f"Dear {student.name}, ID {student.number}, your presentation is missing.",
        "date": world.now,
    }


def _edit(change: Callable[[Email, Expected], None], which: int = 0) -> Callable[[World, Expected], None]:
    """Change one of the reminders."""

    def apply(world: World, expected: Expected) -> None:
        if len(expected.reminded) <= which:
            raise Inapplicable
        change(sent_to(world.store(EmailStore), expected.reminded[which].email), expected)

    return apply


def _also_to(fate: str) -> Callable[[World, Expected], None]:
    """Remind somebody who should have been left alone."""

    def apply(world: World, expected: Expected) -> None:
        reminder = _reminder(world, expected, of_fate(expected.others, fate))
        send(world.store(EmailStore), expected.assistant, reminder)

    return apply


def _not_to(fate: str) -> Callable[[World, Expected], None]:
    """Overlook somebody."""

    def apply(world: World, expected: Expected) -> None:
        student = of_fate(expected.reminded, fate)
        if len(expected.reminded) == 1:
            raise Inapplicable
        store = world.store(EmailStore)
        unsend(store, sent_to(store, student.email))

    return apply


def _twice(world: World, expected: Expected) -> None:
    reminder = _reminder(world, expected, expected.reminded[0])
    send(world.store(EmailStore), expected.assistant, reminder)


def _together(world: World, expected: Expected) -> None:
    if len(expected.reminded) < 2:
        raise Inapplicable
    store = world.store(EmailStore)
    first, second = (sent_to(store, student.email) for student in expected.reminded[:2])
    first.to = f"{first.to}, {second.to}"
    first.body = f"{first.body}\n{second.body}"
    unsend(store, second)


def _subject(mail: Email, expected: Expected) -> None:
    mail.subject = f"{expected.subject}."


def _copy(mail: Email, expected: Expected) -> None:
    mail.cc = expected.assistant


def _no_name(mail: Email, expected: Expected) -> None:
    mail.body = mail.body.replace(expected.reminded[0].name, expected.reminded[0].name.split()[0])


def _no_number(mail: Email, expected: Expected) -> None:
    mail.body = mail.body.replace(expected.reminded[0].number, expected.reminded[0].number[:-1])


def _hidden(mail: Email, expected: Expected) -> None:
    mail.html_body = f'<p>Dear student,</p><div style="display:none">{mail.body}</div>'
    mail.body = ""


def _list_all(mail: Email, expected: Expected) -> None:
    others = [*expected.reminded[1:], *expected.others]
    mail.body += "\n" + ", ".join(student.number for student in others[:5])


def _draft(world: World, expected: Expected) -> None:
    reminder = _reminder(world, expected, expected.reminded[0])
    world.store(EmailStore).add_emails(expected.assistant, "Drafts", [reminder])


def _roster(world: World, expected: Expected) -> None:
    with edited_sheet(world, ROSTER, SHEET) as sheet:
        sheet["E1"] = "Reminded"


MUTANTS = [
    *(
        Mutant(f"overlooked {fate}", "recipients_missing", _not_to(fate))
        for fate in (
            "silent", "late", "no_file", "withdrawn", "extension_missed", "excuse_revoked", "reinstated",
        )
    ),
    Mutant("believed an own excuse", "recipients_missing", _not_to("self_excused")),
    *(
        Mutant(f"reminded {fate}", "recipients_extra", _also_to(fate))
        for fate in (
            "submitted", "boundary", "attached_later", "extended", "other_address", "excused", "dropped",
            "dropped_later",
        )
    ),
    Mutant("two mails to one student", "one_mail_each", _twice),
    Mutant("one mail to two students", "single_recipient", _together),
    Mutant("a copy to somebody else", "single_recipient", _edit(_copy)),
    Mutant("a full stop in the subject", "subject", _edit(_subject)),
    Mutant("first name only", "body_name", _edit(_no_name)),
    Mutant("name and ID where nobody sees them", "body_name", _edit(_hidden)),
    Mutant("a digit short", "body_student_id", _edit(_no_number)),
    Mutant("everybody's numbers in one mail", "body_other_ids", _edit(_list_all)),
    *INBOX_MUTANTS,
    Mutant("a draft left behind", "mailbox", _draft),
    Mutant("notes in the roster", "files", _roster),
]  # fmt: skip
