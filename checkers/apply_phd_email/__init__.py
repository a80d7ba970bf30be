"""Judges the material that was sent, and that nothing else was touched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from mesocosm.changes import Changes, Row
from mesocosm.checkers.apply_phd_email.mutants import MUTANTS
from mesocosm.checking import Check, finding
from mesocosm.errors import Refusal
from mesocosm.generators.apply_phd_email.expected import OUTBOX, Expected, File
from mesocosm.servers.email.models import Folder, addresses
from mesocosm.servers.email.store import EmailStore
from mesocosm.servers.pdf_tools.store.documents import Document
from mesocosm.world import World

__all__ = ["MUTANTS", "check"]

_MOST_PAGES = 200
"""A file with more pages is not read: no file that is asked for comes near it."""


@dataclass(frozen=True)
class Submission:
    """A mail that the applicant sent."""

    recipients: tuple[str, ...]
    subject: str
    message_id: str
    row_id: int
    files: dict[str, bytes]


def check(world: World, expected: Expected) -> list[Check]:
    """One finding per rule of the prompt."""
    changes = world.changes()
    folders = _folders(world)
    attached: dict[int, dict[str, bytes]] = {}
    for row in changes.table("email", "attachments").added:
        attached.setdefault(row["email_id"], {})[row["filename"]] = bytes(row["data"])
    sent = [
        _submission(row, attached)
        for row in changes.table("email", "emails").added
        if folders[row["folder_id"]] == (expected.applicant, "Sent")
    ]
    wanted = {request.address.lower(): request for request in expected.requests}
    reached = Counter(address for mail in sent for address in mail.recipients)
    matched = [(mail, wanted[mail.recipients[0]].files) for mail in sent if mail.recipients[0] in wanted]
    return [
        finding("recipients_missing", [r.professor for a, r in wanted.items() if a not in reached]),
        finding("recipients_extra", [address for address in reached if address not in wanted]),
        finding("one_mail_each", [f"{a}: {n} mails" for a, n in reached.items() if a in wanted and n > 1]),
        finding("single_recipient", [", ".join(m.recipients) for m in sent if len(m.recipients) != 1]),
        finding("subject", [repr(m.subject) for m in sent if m.subject != expected.subject] or _none(sent)),
        finding("attachment_names", list(_names(matched)) or _none(matched)),
        finding("attachment_pages", list(_pages(matched, expected)) or _none(matched)),
        finding("mailbox", list(_other_mail(changes, folders, sent, expected))),
        finding("memory", [f"{t} was changed" for s, t in changes.tables if s == "memory"]),
        finding("files", list(_files(changes))),
    ]


def _folders(world: World) -> dict[int, tuple[str, str]]:
    """(account, name) of every folder."""
    rows = world.store(EmailStore).session.execute(select(Folder.id, Folder.account, Folder.name))
    return {row.id: (row.account, row.name) for row in rows}


def _submission(row: Row, attached: dict[int, dict[str, bytes]]) -> Submission:
    recipients = [address for field in ("to", "cc", "bcc") for address in addresses(row[field])]
    files = attached.get(row["id"], {})
    return Submission(tuple(recipients) or ("",), row["subject"], row["message_id"], row["id"], files)


def _none(sent: Sequence[object]) -> list[str]:
    return [] if sent else ["nothing was sent"]


def _names(matched: Iterable[tuple[Submission, tuple[File, ...]]]) -> Iterable[str]:
    for mail, files in matched:
        names = {file.name for file in files}
        if missing := sorted(names - set(mail.files)):
            yield f"{', '.join(missing)} missing in the mail to {mail.recipients[0]}"
        if extra := sorted(set(mail.files) - names):
            yield f"{', '.join(extra)} not asked for by {mail.recipients[0]}"


def _pages(matched: Sequence[tuple[Submission, tuple[File, ...]]], expected: Expected) -> Iterable[str]:
    for mail, files in matched:
        for file in files:
            if file.name not in mail.files:
                # Nothing that could be right: the finding must not pass for want of the file.
                yield f"{file.name} is not in the mail to {mail.recipients[0]}"
                continue
            texts = [_letters(expected.documents[ref.path][ref.index]) for ref in file.pages]
            found = _texts(mail.files[file.name])
            if found is None:
                yield f"{file.name} to {mail.recipients[0]} is no readable PDF file"
            elif found != texts:
                yield f"{file.name} to {mail.recipients[0]}: {_difference(found, texts)}"


def _texts(data: bytes) -> list[str] | None:
    """The texts of a file's pages; ``None`` for what is no PDF file or cannot be read."""
    try:
        document = Document(data, "attachment")
        if document.pages > _MOST_PAGES:
            return []
        return [_letters(document.text(page)) for page in range(1, document.pages + 1)]
    except Refusal:
        return None


def _letters(text: str) -> str:
    """A text without its blanks and line breaks, which extraction may set differently."""
    return "".join(text.split())


def _difference(found: Sequence[str], texts: Sequence[str]) -> str:
    if len(found) != len(texts):
        return f"{len(found)} pages instead of {len(texts)}"
    return f"page {next(i for i, pair in enumerate(zip(found, texts, strict=True), 1) if pair[0] != pair[1])}"


def _other_mail(
    changes: Changes, folders: dict[int, tuple[str, str]], sent: Sequence[Submission], expected: Expected
) -> Iterable[str]:
    """Changes to mailboxes that do not follow from the mails that were sent."""
    mails = changes.table("email", "emails")
    for row in mails.removed:
        yield f"mail {row['id']} was removed"
    for before, after in mails.changed:
        columns = [name for name in before if before[name] != after[name]]
        yield f"mail {before['id']} was changed ({', '.join(columns)})"
    for row in mails.added:
        if folders[row["folder_id"]] != (expected.applicant, "Sent"):
            yield f"mail {row['id']} was added to {folders[row['folder_id']][1]}"
    ours = {mail.row_id for mail in sent}
    for (service, table), difference in changes.tables.items():
        if service != "email" or table in ("emails", "sign_in"):
            continue
        added = [r for r in difference.added if table != "attachments" or r["email_id"] not in ours]
        if added or difference.removed or difference.changed:
            yield f"{table}: {len(added)} added, {len(difference.removed)} removed"


def _files(changes: Changes) -> Iterable[str]:
    yield from (f"{name} was changed" for name in changes.files_changed)
    yield from (f"{name} was removed" for name in changes.files_removed)
    yield from (f"{name} was added" for name in changes.files_added if not name.startswith(f"{OUTBOX}/"))
