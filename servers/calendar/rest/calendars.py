"""Calendars, the list of calendars, access rules, free/busy, colours and settings."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal

from mesocosm.doors.request import Request
from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.calendar.rest.service import api, body_of, etag_of, listing, read
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.calendar.store.calendars import Access, page_bounds
from mesocosm.servers.calendar.store.event_types import MEET
from mesocosm.servers.calendar.store.events import Gone
from mesocosm.servers.calendar.store.windows import Window
from mesocosm.servers.calendar.tools.scheduling import get_freebusy, list_colors
from mesocosm.servers.calendar.tools.views import calendar_view, rule_view
from mesocosm.services.fields import Fields
from mesocosm.services.schema import Json

_TEXTS = ("summary", "description", "location")
_CONFERENCES = {"conferenceProperties": {"allowedConferenceSolutionTypes": [MEET]}}
_CALENDAR = ("id", "summary", "description", "location", "timeZone", "dataOwner")


# -- the list of calendars ----------------------------------------------------------------------------------


def _entry(access: Access) -> Json:
    view = calendar_view(access)
    return {
        "kind": "calendar#calendarListEntry",
        "etag": etag_of(view),
        **view,
        **_CONFERENCES,
        "selected": True,
    }


def _listed(store: CalendarStore, calendar_id: str) -> Access:
    number = store.calendar(calendar_id).number
    for access in store.listed_calendars():
        if access.number == number:
            return access
    raise NotFound(f"Not Found: {calendar_id[:100]!r} is not on the list of calendars.", code="notFound")


@api.get("/users/me/calendarList")
def list_entries(
    store: CalendarStore,
    maxResults: int | None = None,
    pageToken: str | None = None,
    minAccessRole: Literal["freeBusyReader", "reader", "writer", "owner"] | None = None,
    showDeleted: bool = False,
    showHidden: bool = False,
) -> Json:
    """The calendars on the account's list; none is hidden, and one that was taken off is not kept."""
    calendars, next_token = store.list_calendars(maxResults, pageToken)
    kept = [access for access in calendars if minAccessRole is None or access.may(minAccessRole)]
    return listing("calendarList", [_entry(access) for access in kept], next_token)


@api.get("/users/me/calendarList/{calendarId}")
def get_entry(store: CalendarStore, calendarId: str) -> Json:
    return _entry(_listed(store, calendarId))


@api.post("/users/me/calendarList")
def insert_entry(store: CalendarStore, request: Request) -> Json:
    """Put a calendar that others share on the list."""
    body = body_of(request)
    calendar_id = read.text(body, "id")
    if not calendar_id:
        raise Invalid("Missing calendar id.", code="required")
    return _entry(
        store.subscribe(calendar_id, read.text(body, "summaryOverride"), read.text(body, "colorId"))
    )


def _change_entry(store: CalendarStore, request: Request, calendarId: str) -> Json:
    _listed(store, calendarId)
    body = body_of(request)
    if dict.get(body, "hidden") is False:
        body.get("hidden")  # no calendar of the list is hidden
    return _entry(store.subscribe(calendarId, read.text(body, "summaryOverride"), read.text(body, "colorId")))


api.patch("/users/me/calendarList/{calendarId}")(_change_entry)
api.put("/users/me/calendarList/{calendarId}")(_change_entry)


@api.delete("/users/me/calendarList/{calendarId}")
def delete_entry(store: CalendarStore, calendarId: str) -> None:
    """Take a calendar off the list."""
    store.unsubscribe(calendarId)


# -- calendars ----------------------------------------------------------------------------------------------


def _calendar(access: Access) -> Json:
    view = calendar_view(access)
    shown = {name: view[name] for name in _CALENDAR if name in view}
    return {"kind": "calendar#calendar", "etag": etag_of(shown), **shown, **_CONFERENCES}


@api.get("/calendars/{calendarId}")
def get_calendar(store: CalendarStore, calendarId: str) -> Json:
    return _calendar(store.calendar(calendarId))


@api.post("/calendars")
def insert_calendar(store: CalendarStore, request: Request) -> Json:
    """A new secondary calendar."""
    body = body_of(request)
    made = store.create_calendar(
        read.text(body, "summary") or "",
        read.text(body, "timeZone"),
        description=read.text(body, "description"),
        location=read.text(body, "location"),
    )
    return _calendar(store.calendar(made))


@api.patch("/calendars/{calendarId}")
def patch_calendar(store: CalendarStore, request: Request, calendarId: str) -> Json:
    """A calendar with some fields changed; ``null`` empties one."""
    body = body_of(request)
    return _changed(store, calendarId, body, [name for name in _TEXTS if name in body])


@api.put("/calendars/{calendarId}")
def update_calendar(store: CalendarStore, request: Request, calendarId: str) -> Json:
    """A calendar with all its fields replaced."""
    return _changed(store, calendarId, body_of(request), _TEXTS)


def _changed(store: CalendarStore, calendar_id: str, body: Fields, names: Sequence[str]) -> Json:
    changes = {name: read.text(body, name) for name in names}
    if body.get("timeZone") is not None:
        changes["time_zone"] = read.text(body, "timeZone")
    return _calendar(store.update_calendar(calendar_id, changes))


@api.delete("/calendars/{calendarId}")
def delete_calendar(store: CalendarStore, calendarId: str) -> None:
    """Delete a secondary calendar."""
    store.delete_calendar(calendarId)


@api.post("/calendars/{calendarId}/clear")
def clear_calendar(store: CalendarStore, calendarId: str) -> None:
    """Delete all events of the account's primary calendar."""
    access = store.calendar(calendarId, "owner")
    if not access.primary:
        raise Invalid("Cannot clear a secondary calendar.", code="invalid")
    while page := store.lists.list_events(access.id, Window(order="none", single=False)).items:
        for event in page:
            with suppress(Gone):  # an instance that went with its series
                store.delete_event(access.id, event.id)


# -- access rules -------------------------------------------------------------------------------------------


def _rule(scope: str, role: str) -> Json:
    view = rule_view(scope, role)
    return {"kind": "calendar#aclRule", "etag": etag_of(view), **view}


@api.get("/calendars/{calendarId}/acl")
def list_rules(
    store: CalendarStore,
    calendarId: str,
    maxResults: int | None = None,
    pageToken: str | None = None,
    showDeleted: bool = False,
) -> Json:
    """List the access rules of a calendar. Deleted rules are not kept."""
    rules, next_token = store.access_rules(calendarId, maxResults, pageToken)
    return listing("acl", [_rule(rule["scope"], rule["role"]) for rule in rules], next_token)


@api.get("/calendars/{calendarId}/acl/{ruleId}")
def get_rule(store: CalendarStore, calendarId: str, ruleId: str) -> Json:
    """One access rule."""
    token: str | None = None
    while True:
        rules, token = store.access_rules(calendarId, None, token)
        for rule in rules:
            if rule["scope"] == ruleId:
                return _rule(rule["scope"], rule["role"])
        if token is None:
            raise NotFound(f"Not Found: no access rule {ruleId[:100]!r}.", code="notFound")


@api.post("/calendars/{calendarId}/acl")
def insert_rule(store: CalendarStore, request: Request, calendarId: str) -> Json:
    """A new access rule; it replaces one of the same scope."""
    body = body_of(request)
    scope = body.get("scope")
    if not isinstance(scope, dict):
        raise Invalid("Missing scope.", code="required")
    kind, value = read.text(scope, "type"), read.text(scope, "value")
    role = read.text(body, "role")
    if not role:
        raise Invalid("Missing role.", code="required")
    known = kind if kind == "default" else f"{kind}:{value}"
    store.share(calendarId, known, role)
    return get_rule(store, calendarId, known)


def _change_rule(store: CalendarStore, request: Request, calendarId: str, ruleId: str) -> Json:
    get_rule(store, calendarId, ruleId)
    role = read.text(body_of(request), "role")
    if role is not None:
        store.share(calendarId, ruleId, role)
    return get_rule(store, calendarId, ruleId)


api.patch("/calendars/{calendarId}/acl/{ruleId}")(_change_rule)
api.put("/calendars/{calendarId}/acl/{ruleId}")(_change_rule)


@api.delete("/calendars/{calendarId}/acl/{ruleId}")
def delete_rule(store: CalendarStore, calendarId: str, ruleId: str) -> None:
    """Take an access rule back."""
    store.unshare(calendarId, ruleId)


# -- free/busy, colours, settings ---------------------------------------------------------------------------


@api.route("POST", "/freeBusy", writes=False)
def query_free_busy(
    store: CalendarStore,
    timeMin: str,
    timeMax: str,
    items: list[dict[str, Any]] | None = None,
    timeZone: str | None = None,
    groupExpansionMax: int | None = None,
    calendarExpansionMax: int | None = None,
) -> Json:
    """Return the busy times of calendars. There are no groups to expand."""
    if calendarExpansionMax is not None and len(items or ()) > calendarExpansionMax:
        raise Invalid("Too many calendars requested.", code="tooManyCalendarsRequested")
    calendars = [read.text(item, "id") for item in items or ()]
    if None in calendars:
        raise Invalid("Each item needs the id of a calendar.", code="required")
    found = get_freebusy(store, timeMin, timeMax, [one for one in calendars if one is not None], timeZone)
    return {"kind": "calendar#freeBusy", **found}


@api.get("/colors")
def get_colors(store: CalendarStore) -> Json:
    """The colours that calendars and events can have."""
    return {"kind": "calendar#colors", "updated": "2012-02-14T00:00:00.000Z", **list_colors(store)}


_SETTINGS = {
    "autoAddHangouts": "false",
    "dateFieldOrder": "MDY",
    "defaultEventLength": "60",
    "format24HourTime": "false",
    "hideInvitations": "false",
    "hideWeekends": "false",
    "locale": "en",
    "remindOnRespondedEventsOnly": "false",
    "showDeclinedEvents": "true",
    "useKeyboardShortcuts": "true",
    "weekStart": "0",
}
"""Settings of an account that changed none."""


def _settings(store: CalendarStore) -> dict[str, str]:
    return _SETTINGS | {"timezone": store.calendar("primary").time_zone}


def _setting(name: str, value: str) -> Json:
    return {"kind": "calendar#setting", "etag": etag_of([name, value]), "id": name, "value": value}


@api.get("/users/me/settings")
def list_settings(store: CalendarStore, maxResults: int | None = None, pageToken: str | None = None) -> Json:
    """The settings of the account."""
    found = [_setting(name, value) for name, value in sorted(_settings(store).items())]
    after, limit = page_bounds(maxResults, pageToken)
    end = after + limit
    return listing("settings", found[after:end], str(end) if end < len(found) else None)


@api.get("/users/me/settings/{setting}")
def get_setting(store: CalendarStore, setting: str) -> Json:
    """A setting of the account."""
    known = _settings(store)
    if setting not in known:
        raise NotFound("Not Found", code="notFound")
    return _setting(setting, known[setting])
