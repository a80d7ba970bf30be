"""Undoing changes to text files: the previous content is written again."""

from __future__ import annotations

from mesocosm.services.undo import Done, ToolCall


def _restore(done: Done) -> list[ToolCall]:
    path = done.arguments["path"]
    text = done.before("read_text_file", {"path": path})
    return [] if text is None else [("write_file", {"path": path, "content": text})]


UNDO = {"write_file": _restore, "edit_file": _restore}
