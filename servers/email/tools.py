"""Tools of the email service, as an agent sees them."""

from __future__ import annotations

from collections.abc import Sequence
from email.utils import format_datetime
from typing import Annotated, Any

from mesocosm.servers.email.store import EmailStore, moment
from mesocosm.services.schema import About, Words
from mesocosm.services.service import Row, Service, same

server = Service(
    "email",
    EmailStore,
    instructions=(
        "The mailbox of the signed-in account: folders, messages, drafts and sending. Lists and searches"
        " return headers in pages; read_email returns a message in full. Times are UTC."
    ),
)

# Parameters that several tools share, with what agents are told of them.

PageNumber = Annotated[int, About("Page number, from 1.")]
MessagesPerPage = Annotated[int, About("Messages per page, 1 to 100.")]
Recipients = Annotated[str, About("Recipients, separated by commas.")]
Copies = Annotated[str, About("Recipients of a copy.")]
BlindCopies = Annotated[str, About("Recipients of a copy that the other recipients do not see.")]
Subject = Annotated[str, About("Subject line.")]
Body = Annotated[str, About("Plain text of the message.")]
EmailId = Annotated[str, About("The id that the listing and searching tools return.")]


def summary(email: Row) -> dict[str, Any]:
    """A message in a list: everything but bodies."""
    return {
        "id": str(email["id"]),
        "subject": email["subject"],
        "from": email["sender"],
        **same(email, "to", "cc", "date", "is_read", "is_important", "folder"),
        "has_attachments": bool(email["has_attachments"]),
    }


def whole(store: EmailStore, email_id: str) -> dict[str, Any]:
    """A message with its bodies, its place in the conversation and what is attached."""
    email = store.email(email_id)
    return {
        "id": str(email["id"]),
        "subject": email["subject"],
        "from": email["sender"],
        **same(email, "to", "cc", "bcc", "date", "message_id", "in_reply_to", "references", "body"),
        **same(email, "html_body", "is_read", "is_important", "folder"),
        "attachments": [
            {"filename": file["filename"], "size": file["size"], "content_type": file["content_type"]}
            for file in store.attachments(email["id"])
        ],
    }


def draft(row: Row) -> dict[str, Any]:
    """A draft."""
    return {
        "id": str(row["id"]),
        **same(row, "to", "cc", "bcc", "subject", "body", "html_body"),
        "created_at": row["drafted_at"] or row["date"],
        "updated_at": row["date"],
    }


def paged(name: str, items: Sequence[Any], total: int, page: int, page_size: int) -> dict[str, Any]:
    """One page of a list that carries its own totals."""
    return {
        name: items,
        "total": total,
        "page": page,
        "page_size": page_size,
        "total_pages": -(-total // page_size),
    }


@server.writes(idempotent=True)
def login(store: EmailStore, email: str, password: str) -> dict[str, Any]:
    """Sign in to an account; all mailbox tools then act on its mailbox.

    Args:
        email: Address of the account.
        password: Password of the account.
    """
    account = store.login(email, password)
    return {
        "email": account["email"],
        "name": account["name"],
        "logged_in": True,
        "message": f"Logged in as {account['email']}",
    }


@server.writes(idempotent=True)
def logout(store: EmailStore) -> dict[str, Any]:
    """Sign out of the current account; the mailbox tools refuse until the next login."""
    somebody = store.sign_out()
    return {"logged_in": False, "message": "Logged out" if somebody else "Nobody was logged in"}


@server.reads
def get_current_user(store: EmailStore) -> dict[str, Any]:
    """Tell which account is signed in, if any."""
    account = store.signed_in()
    return {
        "email": account["email"] if account else None,
        "name": account["name"] if account else None,
        "logged_in": account is not None,
    }


@server.reads
def list_users(store: EmailStore, page: PageNumber = 1, page_size: int = 100) -> dict[str, Any]:
    """List the accounts of this mail server, in the order of their addresses.

    Args:
        page_size: Accounts per page, 1 to 100.
    """
    accounts, total = store.accounts(page, page_size)
    users = [{"email": account["email"], "name": account["name"]} for account in accounts]
    return {**paged("users", users, total, page, page_size), "count": len(users)}


@server.writes
def create_user(store: EmailStore, email: str, name: str, password: str) -> dict[str, Any]:
    """Create an account with an empty mailbox on this mail server. It does not sign in to it.

    Args:
        email: Address of the new account, such as ann@example.com.
        name: Name that recipients of its mail will see.
        password: Password for signing in.
    """
    account = store.create_account(email, name, password)
    return {
        **same(account, "email", "name", "created_at"),
        "message": f"User {account['email']} created",
    }


@server.reads
def check_connection(store: EmailStore) -> str:
    """Check whether mail can be received (IMAP) and sent (SMTP) with the signed-in account."""
    if store.signed_in() is None:
        states = "IMAP: ✗ Not logged in\nSMTP: ✗ Not logged in\n\nError: call login first"
    else:
        states = "IMAP: ✓ Connected\nSMTP: ✓ Connected\n\nAll connections are working properly"
    return f"Connection Status:\n{states}"


@server.writes(destructive=True)
def export_emails(
    store: EmailStore,
    folder: str | None = None,
    export_path: str = "emails_export.json",
    max_emails: int | None = None,
    export_all_folders: bool = False,
) -> str:
    """Write messages with bodies and attachments to a JSON file in the workspace, replacing what was there.

    Args:
        folder: The folder to export; INBOX if not given.
        export_path: Path of the file in the workspace.
        max_emails: Export at most this many messages in all, of each folder the newest first.
        export_all_folders: Export all folders; cannot be combined with folder.
    """
    counts, path = store.archive.export(folder, export_path, max_emails, all_folders=export_all_folders)
    done = f"Successfully exported {sum(counts.values())} emails to {path}"
    return "\n".join([done, *_breakdown(counts)]) if export_all_folders else done


@server.writes
def import_emails(
    store: EmailStore, import_path: str, target_folder: str | None = None, preserve_folders: bool = True
) -> str:
    """Add the messages of a JSON file that export_emails wrote; an unusable file changes nothing.

    Args:
        import_path: Path of the file in the workspace.
        target_folder: Folder for messages whose own folder is not kept; INBOX if not given.
        preserve_folders: Put each message into the folder it was exported from, creating it where missing.
    """
    counts, path = store.archive.import_file(import_path, target_folder, keep_folders=preserve_folders)
    done = f"Successfully imported {sum(counts.values())} emails from {path}"
    return "\n".join([done, *_breakdown(counts)]) if len(counts) > 1 else done


@server.writes
def download_attachment(store: EmailStore, email_id: str, attachment_filename: str) -> dict[str, Any]:
    """Save an attachment of a message in the workspace; a file of the same name is not overwritten.

    Args:
        email_id: The message.
        attachment_filename: Name of the attachment, as read_email lists it.
    """
    attachment, path = store.archive.save_attachment(email_id, attachment_filename)
    return {
        **same(attachment, "filename", "size", "content_type"),
        "path": path,
        "message": f"Attachment saved to {path}",
    }


def _breakdown(counts: dict[str, int]) -> list[str]:
    return [f"  - {folder}: {count} emails" for folder, count in counts.items()]


@server.writes
def save_draft(
    store: EmailStore,
    subject: Subject,
    body: Body,
    html_body: str | None = None,
    to: Recipients | None = None,
    cc: Copies | None = None,
    bcc: BlindCopies | None = None,
) -> dict[str, Any]:
    """Keep an unsent message in the folder Drafts.

    Args:
        html_body: The message as HTML.
    """
    return draft(
        store.drafting.save_draft(subject=subject, body=body, html_body=html_body, to=to, cc=cc, bcc=bcc)
    )


@server.reads
def get_drafts(store: EmailStore, page: PageNumber = 1, page_size: int = 20) -> dict[str, Any]:
    """List one page of the drafts, last changed first.

    Args:
        page_size: Drafts per page, 1 to 100.
    """
    rows, total = store.drafting.drafts(page, page_size)
    return paged("drafts", [draft(row) for row in rows], total, page, page_size)


@server.writes(destructive=True, idempotent=True)
def update_draft(
    store: EmailStore,
    draft_id: str,
    subject: str | None = None,
    body: str | None = None,
    html_body: str | None = None,
    to: str | None = None,
    cc: str | None = None,
    bcc: str | None = None,
) -> dict[str, Any]:
    """Change a draft; what is not given stays as it is, and an empty text clears a field.

    Args:
        draft_id: The draft to change.
        subject: New subject line.
        body: New plain text.
        html_body: New HTML.
        to: New recipients, separated by commas.
        cc: New recipients of a copy.
        bcc: New recipients of a blind copy.
    """
    return draft(
        store.drafting.update_draft(
            draft_id, subject=subject, body=body, html_body=html_body, to=to, cc=cc, bcc=bcc
        )
    )


@server.writes(destructive=True)
def delete_draft(store: EmailStore, draft_id: str) -> str:
    """Throw a draft away for good.

    Args:
        draft_id: The draft to delete.
    """
    store.drafting.delete_draft(draft_id)
    return f"Draft {draft_id} deleted successfully"


@server.writes(destructive=True)
def delete_email(store: EmailStore, email_id: str) -> str:
    """Delete a message: it moves to Trash, and a message that already lies in Trash is removed for good.

    Args:
        email_id: The message to delete.
    """
    store.filing.delete([email_id])
    return f"Email {email_id} deleted successfully"


@server.writes(destructive=True)
def delete_emails(store: EmailStore, email_ids: list[str]) -> str:
    """Delete several messages as delete_email does; if one id is unknown, none is deleted.

    Args:
        email_ids: The messages to delete.
    """
    count = store.filing.delete(email_ids)
    return f"Successfully deleted {count} emails"


@server.writes(idempotent=True)
def move_email(store: EmailStore, email_id: str, target_folder: str) -> dict[str, Any]:
    """Move a message into another folder; it keeps its id.

    Args:
        email_id: The message to move.
        target_folder: The existing folder to move it to.
    """
    return summary(store.filing.move([email_id], target_folder)[0])


@server.writes(idempotent=True)
def move_emails(store: EmailStore, email_ids: list[str], target_folder: str) -> dict[str, Any]:
    """Move several messages into another folder; if one id is unknown, none is moved.

    Args:
        email_ids: The messages to move.
        target_folder: The existing folder to move them to.
    """
    moved = [summary(row) for row in store.filing.move(email_ids, target_folder)]
    return {"moved_emails": moved, "count": len(moved)}


@server.writes(idempotent=True)
def mark_emails(store: EmailStore, email_ids: list[str], status: str) -> dict[str, Any]:
    """Mark messages as read, unread, important or not important; if one id is unknown, none is marked.

    Args:
        email_ids: The messages to mark.
        status: One of read, unread, important, not_important.
    """
    updated = [summary(row) for row in store.filing.mark(email_ids, status)]
    return {"updated_emails": updated, "count": len(updated)}


@server.reads
def get_folders(store: EmailStore) -> str:
    """List the folders of the mailbox with their numbers of messages and unread messages."""
    lines = [
        f"{number}. {name} ({total} total, {unread} unread)"
        for number, (name, (total, unread)) in enumerate(store.folder_counts().items(), start=1)
    ]
    return "\n".join(["Available folders:", *lines])


@server.writes
def create_folder(store: EmailStore, folder_name: str) -> str:
    """Create an empty folder in the mailbox.

    Args:
        folder_name: Name of the new folder; no slashes, wildcards or other special characters.
    """
    store.create_folder(folder_name)
    return f"Folder '{folder_name}' created successfully"


@server.writes(destructive=True)
def delete_folder(store: EmailStore, folder_name: str) -> str:
    """Delete a folder together with all messages in it, for good. Move what is to be kept first.

    The folders that every mailbox has (INBOX, Sent, Drafts, Trash, Spam, Archive) cannot be deleted.

    Args:
        folder_name: The folder to delete.
    """
    store.delete_folder(folder_name)
    return f"Folder '{folder_name}' deleted successfully"


@server.reads
def get_mailbox_stats(store: EmailStore, folder_name: str | None = None) -> dict[str, Any]:
    """Count messages and unread messages, by folder and in total.

    Args:
        folder_name: Count this folder only; without it, all folders.
    """
    counts = store.folder_counts(folder_name)
    return {
        "total_emails": sum(total for total, _ in counts.values()),
        "total_unread": sum(unread for _, unread in counts.values()),
        "folders": {name: {"total": total, "unread": unread} for name, (total, unread) in counts.items()},
    }


@server.reads
def get_unread_count(store: EmailStore, folder_name: str | None = None) -> str:
    """Count the unread messages.

    Args:
        folder_name: Count in this folder only; without it, in all folders.
    """
    counts = store.folder_counts(folder_name)
    unread = sum(unread for _, unread in counts.values())
    if folder_name is None:
        return f"Total unread messages: {unread}"
    return f"Unread messages in {next(iter(counts))}: {unread}"


@server.reads
def get_emails(
    store: EmailStore, folder: str = "INBOX", page: PageNumber = 1, page_size: MessagesPerPage = 20
) -> dict[str, Any]:
    """List one page of a folder, newest message first, without the bodies (see read_email).

    Args:
        folder: The folder to list.
    """
    rows, total = store.page(folder, page, page_size)
    return paged("emails", [summary(row) for row in rows], total, page, page_size)


@server.reads(long=True)
def read_email(store: EmailStore, email_id: EmailId) -> dict[str, Any]:
    """Read one message in full, with the list of its attachments.

    The message stays unread until mark_emails says otherwise.
    """
    return whole(store, email_id)


@server.reads
def search_emails(
    store: EmailStore,
    query: Words,
    folder: str = "INBOX",
    page: PageNumber = 1,
    page_size: MessagesPerPage = 20,
) -> dict[str, Any]:
    """Find messages by their text, newest first, without the bodies (see read_email).

    Every term of the query must be found in the subject, the addresses or the body; upper and lower case are
    the same, and a term may be a part of a word. Put a phrase in double quotes. Terms may be narrowed down:
    from:ann, to:bob, cc:bob, subject:"budget review", body:invoice. Further conditions: is:unread, is:read,
    is:important, has:attachment, after:2025-01-31 (that day or later), before:2025-02-28 (UTC).

    Args:
        query: The terms to look for.
        folder: The folder to search; * searches all folders.
    """
    rows, total = store.searching.search(query, folder, page, page_size)
    return paged("emails", [summary(row) for row in rows], total, page, page_size)


@server.reads
def get_email_headers(store: EmailStore, email_id: EmailId) -> dict[str, Any]:
    """Get the headers of a message as transmitted, with those that tie a conversation together."""
    email = store.email(email_id)
    return {
        **same(email, "message_id", "in_reply_to", "references"),
        "from": email["sender"],
        **same(email, "to", "cc", "subject"),
        "date": format_datetime(moment(email["date"])),
        "content_type": store.media_type(email),
    }


@server.writes
def send_email(
    store: EmailStore,
    to: str,
    subject: Subject,
    body: Body,
    html_body: str | None = None,
    cc: Copies | None = None,
    bcc: BlindCopies | None = None,
    attachments: list[str] | None = None,
) -> dict[str, Any]:
    """Send a message from the signed-in account; a copy is kept in Sent and returned.

    Separate several addresses with commas; names are allowed (Ann Lee <ann@example.com>). An unknown address
    of this mail server's own domains is refused, and then nobody gets the message.

    Args:
        to: Recipients.
        html_body: The message as HTML, sent beside the plain text.
        attachments: Paths of files in the workspace to attach.
    """
    sent = store.sending.send(
        to, subject, body, html_body=html_body, cc=cc, bcc=bcc, attachments=attachments or ()
    )
    return whole(store, str(sent))


@server.writes
def reply_email(
    store: EmailStore,
    email_id: str,
    body: str,
    html_body: str | None = None,
    cc: str | None = None,
    bcc: BlindCopies | None = None,
    reply_all: bool = False,
) -> dict[str, Any]:
    """Answer a message, within its conversation; the original is quoted below the answer.

    Args:
        email_id: The message to answer.
        body: Plain text of the answer.
        html_body: The answer as HTML, sent beside the plain text.
        cc: Further recipients of a copy.
        reply_all: Also send a copy to all other recipients of the original.
    """
    sent = store.sending.reply(email_id, body, html_body=html_body, cc=cc, bcc=bcc, everybody=reply_all)
    return whole(store, str(sent))


@server.writes
def forward_email(
    store: EmailStore,
    email_id: str,
    to: Recipients,
    body: str | None = None,
    html_body: str | None = None,
    cc: Copies | None = None,
    bcc: BlindCopies | None = None,
) -> dict[str, Any]:
    """Pass a message on to others, with its text and its attachments.

    Args:
        email_id: The message to pass on.
        body: Plain text to put above the forwarded message.
        html_body: HTML to put above the forwarded message.
    """
    sent = store.sending.forward(email_id, to, body=body, html_body=html_body, cc=cc, bcc=bcc)
    return whole(store, str(sent))
