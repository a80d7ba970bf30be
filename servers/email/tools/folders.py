"""Tools for folders and statistics."""

from __future__ import annotations

from typing import Any

from mesocosm.servers.email.store import EmailStore
from mesocosm.servers.email.tools.service import server


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
