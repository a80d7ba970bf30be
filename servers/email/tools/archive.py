"""Tools that exchange mail and attachments with the workspace."""

from __future__ import annotations

from typing import Any

from mesocosm.servers.email.store import EmailStore
from mesocosm.servers.email.tools.service import server
from mesocosm.services.shapes import same


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
