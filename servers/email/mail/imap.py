"""IMAP operations. Messages are named by their ids, which are also their UIDs, as in ``1:3,7``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from mesocosm.doors.mail.operations import MailAnswer, read_ids, write_ids
from mesocosm.errors import Invalid
from mesocosm.servers.email.mail.parsing import parse_message
from mesocosm.servers.email.mail.registry import (
    open_mailbox,
    operations,
    read,
    source_of,
    written,
)
from mesocosm.servers.email.mail.rendering import render_header, render_message
from mesocosm.servers.email.store import FLAGS, EmailStore, FolderState, NewEmail, moment, timestamp
from mesocosm.services.service import Row

# IMAP's SEARCH: a tree of criteria, as data, against the messages of a folder.
#
# Each criterion is a list that begins with its name: ``["and", ...]``, ``["or", a, b]``, ``["not", a]``,
# ``["flag", "Seen"]``, ``["ids", "1:3,7"]``, ``["text", "subject", "report"]``, ``["header", "X-Tag", ""]``,
# ``["before" | "on" | "since", "2025-01-15"]``, ``["larger" | "smaller", 1000]``.

Criterion = Sequence[Any]
Test = Callable[["Candidate"], bool]

_MAX_DEPTH = 50
_COLUMNS = {
    "from": ("sender",),
    "to": ("to",),
    "cc": ("cc",),
    "bcc": ("bcc",),
    "subject": ("subject",),
    "body": ("body", "html_body"),
    "text": ("subject", "sender", "to", "cc", "bcc", "body", "html_body", "message_id"),
}


class Candidate:
    """A message that may be what is searched for."""

    def __init__(self, email: Row, files: Sequence[Row]) -> None:
        self.email = email
        self._files = files

    @cached_property
    def size(self) -> int:
        """Its size in bytes, as it is transmitted."""
        return len(render_message(self.email, self._files))

    @cached_property
    def header(self) -> Mapping[str, str]:
        """The fields of its header, in lower case."""
        lines = render_header(self.email, self._files).replace("\r\n ", " ").lower().split("\r\n")
        return dict(line.split(": ", 1) for line in lines if line)


def compile_criterion(criterion: Criterion, depth: int = 0) -> Test:
    """Compile a criterion into a test on messages."""
    if depth > _MAX_DEPTH:
        raise Invalid("The search criteria are nested too deep.")
    name, *operands = criterion
    match name:
        case "and":
            tests = [compile_criterion(inner, depth + 1) for inner in operands]
            return lambda message: all(test(message) for test in tests)
        case "or":
            tests = [compile_criterion(inner, depth + 1) for inner in operands]
            return lambda message: any(test(message) for test in tests)
        case "not":
            test = compile_criterion(operands[0], depth + 1)
            return lambda message: not test(message)
        case "flag":
            column = FLAGS.get(operands[0])
            return lambda message: column is not None and bool(message.email[column])
        case "ids":
            ids = frozenset(read_ids(operands[0]))
            return lambda message: message.email["id"] in ids
        case "text":
            return _contains(_COLUMNS[operands[0]], operands[1])
        case "header":
            return _in_header(*operands)
        case "before":
            return lambda message: message.email["date"][:10] < operands[0]
        case "on":
            return lambda message: message.email["date"][:10] == operands[0]
        case "since":
            return lambda message: message.email["date"][:10] >= operands[0]
        case "larger":
            return lambda message: message.size > operands[0]
        case "smaller":
            return lambda message: message.size < operands[0]
    raise Invalid(f"Unknown search criterion: {name}")


def _contains(columns: Sequence[str], value: str) -> Test:
    sought = value.casefold()
    return lambda message: any(sought in (message.email[column] or "").casefold() for column in columns)


_FIELDS = {
    "from": "sender",
    "to": "to",
    "cc": "cc",
    "bcc": "bcc",
    "subject": "subject",
    "message-id": "message_id",
    "in-reply-to": "in_reply_to",
    "references": "references",
}


def _in_header(field: str, value: str) -> Test:
    name, sought = field.lower(), value.casefold()
    if column := _FIELDS.get(name):
        return lambda message: bool(message.email[column]) and sought in message.email[column].casefold()
    return lambda message: name in message.header and sought in message.header[name]


MAX_FETCHED = 2_000_000
"""Characters after which an answer to FETCH is complete; the client's server asks for the rest."""


def _state(state: FolderState) -> dict[str, Any]:
    return {"id": state.id, "next": state.next_id, "messages": [_message(row) for row in state.messages]}


def _message(row: Row) -> tuple[int, Any, tuple[str, ...]]:
    return row["id"], moment(row["date"]), tuple(flag for flag, column in FLAGS.items() if row[column])


def _look(store: EmailStore, account: str, folder: str) -> MailAnswer:
    open_mailbox(store, account)
    state = store.mirroring.folder_state(folder)
    return read(store, f"{len(state.messages)} messages, {len(state.unseen)} unseen", _state(state))


# -- folders --------------------------------------------------------------------------------------------


@operations.reads("IMAP LIST")
def list_folders(store: EmailStore, account: str) -> MailAnswer:
    """The folders, in the order in which they were made."""
    open_mailbox(store, account)
    names = list(store.folder_names().values())
    return read(store, "\n".join(names), names)


@operations.reads("IMAP SELECT")
def select_folder(store: EmailStore, account: str, folder: str) -> MailAnswer:
    """Select a folder and return its state."""
    return _look(store, account, folder)


@operations.reads("IMAP NOOP")
def check_folder(store: EmailStore, account: str, folder: str) -> MailAnswer:
    """Return the state of the selected folder, asked when somebody changed the mailbox."""
    return _look(store, account, folder)


@operations.reads("IMAP STATUS")
def folder_status(store: EmailStore, account: str, folder: str) -> MailAnswer:
    """Return the state of a folder that is not selected."""
    return _look(store, account, folder)


@operations.writes("IMAP CREATE")
def create_folder(store: EmailStore, account: str, folder: str) -> MailAnswer:
    """A new folder."""
    open_mailbox(store, account)
    return written(store, f"created {folder}", store.create_folder(folder))


@operations.writes("IMAP DELETE")
def delete_folder(store: EmailStore, account: str, folder: str) -> MailAnswer:
    """Remove a folder with what lies in it."""
    open_mailbox(store, account)
    store.delete_folder(folder)
    return written(store, f"deleted {folder}")


@operations.writes("IMAP RENAME")
def rename_folder(store: EmailStore, account: str, folder: str, name: str) -> MailAnswer:
    """Give a folder another name."""
    open_mailbox(store, account)
    store.rename_folder(folder, name)
    return written(store, f"renamed {folder} to {name}")


# -- reading --------------------------------------------------------------------------------------------


@operations.reads("IMAP FETCH")
def fetch_messages(
    store: EmailStore, account: str, folder: str, ids: str, part: str, with_size: bool = False
) -> MailAnswer:
    """Messages (``part``: ``message``), their headers (``header``) or nothing of them (``size``)."""
    open_mailbox(store, account)
    found: dict[int, tuple[bytes, int]] = {}
    wanted = read_ids(ids)
    delivered, done = 0, 0
    for email, files in store.mirroring.contents(folder, wanted):
        whole = render_message(email, files) if part == "message" or with_size else ""
        text = {"message": whole, "header": "", "size": ""}[part]
        if part == "header":
            text = render_header(email, files)
        found[email["id"]] = (text.encode("ascii"), len(whole))
        done = wanted.index(email["id"], done) + 1
        delivered += len(text)
        if delivered > MAX_FETCHED:
            break
    else:
        done = len(wanted)
    said = "\n".join(text.decode("ascii") for text, _ in found.values())
    return read(store, said, {"found": found, "left": wanted[done:]})


@operations.reads("IMAP SEARCH")
def search_messages(store: EmailStore, account: str, folder: str, criterion: Criterion) -> MailAnswer:
    """The ids of the messages that meet a criterion."""
    open_mailbox(store, account)
    test = compile_criterion(criterion)
    ids = [row["id"] for row in store.mirroring.folder_state(folder).messages]
    found = [
        email["id"] for email, files in store.mirroring.contents(folder, ids) if test(Candidate(email, files))
    ]
    return read(store, write_ids(found), found)


# -- changing -------------------------------------------------------------------------------------------


@operations.writes("IMAP STORE")
def store_flags(
    store: EmailStore, account: str, folder: str, ids: str, mode: str, flags: Sequence[str]
) -> MailAnswer:
    """Change flags of messages; the answer is what then lies in the folder."""
    open_mailbox(store, account)
    store.mirroring.set_flags(folder, read_ids(ids), flags, mode)
    return written(store, "stored", _state(store.mirroring.folder_state(folder)))


@operations.writes("IMAP COPY")
def copy_messages(store: EmailStore, account: str, folder: str, ids: str, target: str) -> MailAnswer:
    """Put copies of messages into another folder."""
    open_mailbox(store, account)
    copies = store.mirroring.copy(folder, read_ids(ids), target)
    return written(store, f"copied {len(copies)}", {"to": store.folder_id(target), "ids": copies})


@operations.writes("IMAP MOVE")
def move_messages(store: EmailStore, account: str, folder: str, ids: str, target: str) -> MailAnswer:
    """Move messages to another folder."""
    open_mailbox(store, account)
    moved = store.mirroring.refile(folder, read_ids(ids), target)
    pairs = [(key, key) for key in moved]
    left = _state(store.mirroring.folder_state(folder))
    return written(store, f"moved {len(moved)}", {"to": store.folder_id(target), "ids": pairs, "left": left})


@operations.writes("IMAP EXPUNGE")
def expunge_messages(store: EmailStore, account: str, folder: str, ids: str | None = None) -> MailAnswer:
    """Remove for good what is marked as deleted; with ``ids``, only among these."""
    open_mailbox(store, account)
    count = store.mirroring.expunge(folder, None if ids is None else read_ids(ids))
    return written(store, f"expunged {count}", _state(store.mirroring.folder_state(folder)))


@operations.writes("IMAP APPEND")
def append_message(
    store: EmailStore,
    account: str,
    folder: str,
    flags: Sequence[str],
    date: str | None = None,
    message: str | None = None,
    message_base64: str | None = None,
) -> MailAnswer:
    """Put a message of the client's into a folder. Without ``date`` it is that of its header, or now."""
    open_mailbox(store, account)
    parsed = parse_message(source_of(message, message_base64), store.owner.domain)
    email = NewEmail(
        sender=parsed.sender or str(store.owner),
        to=parsed.to,
        cc=parsed.cc,
        bcc=parsed.bcc,
        subject=parsed.subject,
        date=date or parsed.date or timestamp(store.now),
        message_id=parsed.message_id,
        in_reply_to=parsed.in_reply_to,
        references=parsed.references,
        body=parsed.body,
        html_body=parsed.html_body,
        attachments=parsed.files,
    )
    email_id = store.mirroring.append(folder, email, flags)
    return written(store, f"appended {email_id}", {"to": store.folder_id(folder), "ids": [email_id]})
