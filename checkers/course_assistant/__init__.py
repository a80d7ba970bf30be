"""Judges the reminders that were sent, and that nothing else was touched."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from mesocosm.changes import Changes, Row
from mesocosm.checkers.course_assistant.mutants import MUTANTS
from mesocosm.checking import Check, finding
from mesocosm.generators.course_assistant.expected import Expected, Student
from mesocosm.servers.email.models import Folder, addresses
from mesocosm.servers.email.store import EmailStore
from mesocosm.world import World

__all__ = ["MUTANTS", "check"]


@dataclass(frozen=True)
class Reminder:
    """A mail that the assistant sent."""

    recipients: tuple[str, ...]
    subject: str
    body: str
    message_id: str


def check(world: World, expected: Expected) -> list[Check]:
    """One finding per rule of the prompt."""
    changes = world.changes()
    folders = _folders(world)
    added = changes.table("email", "emails").added
    sent = [_reminder(row) for row in added if folders[row["folder_id"]] == (expected.assistant, "Sent")]
    to_one = {mail.recipients[0]: mail for mail in sent if len(mail.recipients) == 1}
    reached = Counter(address for mail in sent for address in mail.recipients)
    wanted = {student.email: student for student in expected.reminded}
    known = [*expected.reminded, *expected.others]
    return [
        finding("recipients_missing", [s.name for s in expected.reminded if s.email not in reached]),
        finding("recipients_extra", [address for address in reached if address not in wanted]),
        finding("one_mail_each", [f"{a}: {n} mails" for a, n in reached.items() if a in wanted and n > 1]),
        finding("single_recipient", [", ".join(m.recipients) for m in sent if len(m.recipients) != 1]),
        finding("subject", [repr(m.subject) for m in sent if m.subject != expected.subject] or _none(sent)),
        finding("body_name", _lacking(to_one, wanted, lambda s: s.name) or _none(sent)),
        finding("body_student_id", _lacking(to_one, wanted, lambda s: s.number) or _none(sent)),
        finding("body_other_ids", list(_foreign_ids(to_one, wanted, known))),
        finding("mailbox", list(_other_mail(changes, folders, sent, expected))),
        finding("files", [*changes.files_added, *changes.files_removed, *changes.files_changed]),
    ]


def _folders(world: World) -> dict[int, tuple[str, str]]:
    """(account, name) of every folder."""
    rows = world.store(EmailStore).session.execute(select(Folder.id, Folder.account, Folder.name))
    return {row.id: (row.account, row.name) for row in rows}


def _reminder(row: Row) -> Reminder:
    recipients = [address for field in ("to", "cc", "bcc") for address in addresses(row[field])]
    text = f"{row['body'] or ''}\n{row['html_body'] or ''}"
    return Reminder(tuple(recipients), row["subject"], text, row["message_id"])


def _none(sent: Sequence[Reminder]) -> list[str]:
    return [] if sent else ["no mail was sent"]


def _lacking(sent: dict[str, Reminder], wanted: dict[str, Student], fact: object) -> list[str]:
    assert callable(fact)
    return [
        f"{fact(wanted[address])!r} is not in the mail to {address}"
        for address, mail in sent.items()
        if address in wanted and not _says(mail.body, fact(wanted[address]))
    ]


def _says(body: str, fact: str) -> bool:
    """Whether a text has these words, whatever their case and the space between them."""
    pattern = r"\s+".join(re.escape(word) for word in fact.split())
    return re.search(rf"(?<!\w){pattern}(?!\w)", body, re.IGNORECASE) is not None


def _foreign_ids(
    sent: dict[str, Reminder], wanted: dict[str, Student], known: Sequence[Student]
) -> Iterable[str]:
    numbers = {student.number for student in known}
    for address, mail in sent.items():
        own = wanted[address].number if address in wanted else None
        foreign = sorted((set(re.findall(r"\d{7}", mail.body)) & numbers) - {own})
        if foreign:
            yield f"{', '.join(foreign)} in the mail to {address}"


def _other_mail(
    changes: Changes, folders: dict[int, tuple[str, str]], sent: Sequence[Reminder], expected: Expected
) -> Iterable[str]:
    """Changes to mailboxes that do not follow from the mails that were sent."""
    ours = {mail.message_id for mail in sent}
    mails = changes.table("email", "emails")
    for row in mails.removed:
        yield f"mail {row['id']} was removed"
    for before, after in mails.changed:
        columns = [name for name in before if before[name] != after[name]]
        yield f"mail {before['id']} was changed ({', '.join(columns)})"
    for row in mails.added:
        account, folder = folders[row["folder_id"]]
        delivered = row["message_id"] in ours and folder == "INBOX" and account != expected.assistant
        if not delivered and (account, folder) != (expected.assistant, "Sent"):
            yield f"mail {row['id']} was added to {folder}"
    for (service, table), difference in changes.tables.items():
        if service == "email" and table not in ("emails", "sign_in"):
            yield f"{table}: {len(difference.added)} added, {len(difference.removed)} removed"
