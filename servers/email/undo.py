"""Undoing changes to a mailbox. Sending is final."""

from __future__ import annotations

from mesocosm.services.undo import Done, ToolCall


def _move(done: Done) -> list[ToolCall]:
    ids = done.arguments.get("email_ids") or [done.arguments.get("email_id")]
    calls: list[ToolCall] = []
    for email_id in ids:
        mail = done.earlier("read_email", email_id=email_id)
        if isinstance(mail, dict) and "folder" in mail:
            calls.append(("move_email", {"email_id": email_id, "target_folder": mail["folder"]}))
    return calls


UNDO = {
    "save_draft": lambda done: [("delete_draft", {"draft_id": str(done.value["id"])})],
    "create_folder": lambda done: [("delete_folder", {"folder_name": done.arguments["folder_name"]})],
    "move_email": _move,
    "move_emails": _move,
}
