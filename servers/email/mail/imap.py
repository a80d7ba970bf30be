"""IMAP operations. Messages are named by their ids, which are also their UIDs, as in ``1:3,7``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mesocosm.doors.mail.answer import MailAnswer
from mesocosm.doors.mail.ids import read_ids, write_ids
from mesocosm.servers.email.mail.imap_search import Candidate, Criterion, compile_criterion
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
