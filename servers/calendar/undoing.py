"""How changes to calendars are taken back."""

from __future__ import annotations

from mesocosm.services.undoing import Done, ToolCall

_FIELDS = ("summary", "description", "location", "start", "end")


def _delete(done: Done) -> list[ToolCall]:
    return [("delete_event", {"eventId": done.value["id"], **_calendar(done)})]


def _update(done: Done) -> list[ToolCall]:
    event = done.earlier("get_event", eventId=done.arguments["eventId"], **_calendar(done))
    if not isinstance(event, dict):
        return []
    fields = {name: event.get(name, "") for name in _FIELDS if name in done.arguments}
    return [("update_event", {"eventId": done.arguments["eventId"], **fields, **_calendar(done)})]


def _calendar(done: Done) -> dict[str, str]:
    return {"calendarId": done.arguments["calendarId"]} if "calendarId" in done.arguments else {}


UNDO = {"create_event": _delete, "create_all_day_event": _delete, "update_event": _update}
