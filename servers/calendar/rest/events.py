"""Events."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal, Required, TypedDict, Unpack, cast

import orjson

from mesocosm.doors.request import Request
from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.calendar.rest.quick_add import event_of
from mesocosm.servers.calendar.rest.service import api, body_of, check_etag, listing, read
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.calendar.store.calendars import Access
from mesocosm.servers.calendar.store.event_input import EventFields
from mesocosm.servers.calendar.store.event_lists import OWN_UID
from mesocosm.servers.calendar.store.event_types import EVENT_TYPES, PROPERTIES_OF_TYPES
from mesocosm.servers.calendar.store.times import FIRST, LAST, in_zone, known_zone, point, show, window_bound
from mesocosm.servers.calendar.store.windows import EventPage, Occurrence, Window
from mesocosm.servers.calendar.tools.events import Attendee, Reminders
from mesocosm.servers.calendar.tools.views import event_view
from mesocosm.services.fields import Fields
from mesocosm.services.schema import Json, signature_of

_DEFAULTS: Mapping[str, Any] = {
    "summary": "",
    "description": "",
    "location": "",
    "status": "confirmed",
    "visibility": "default",
    "transparency": "opaque",
    "recurrence": [],
    "attendees": [],
    "reminders": None,
    "colorId": "",
    "guestsCanModify": False,
    "guestsCanInviteOthers": True,
    "guestsCanSeeOtherGuests": True,
    "extendedProperties": {"private": {}, "shared": {}},
    "conferenceData": None,
}
"""Values of fields that are not given, or ``null``."""
_KINDS = ("private", "shared")
"""Of extended properties."""


class ExtendedProperties(TypedDict, total=False):
    """Properties that a client stores with an event, private and shared."""

    private: dict[str, str]
    shared: dict[str, str]


class Point(TypedDict, total=False):
    """One end of an event: a date, or a date-time."""

    date: str
    dateTime: str
    timeZone: str


class ConferenceKey(TypedDict):
    """Kind of a conference."""

    type: str


class ConferenceRequest(TypedDict, total=False):
    """A conference that is to be made."""

    requestId: Required[str]
    conferenceSolutionKey: ConferenceKey
    status: dict[str, str]
    """Status of the request; ignored in a request."""


class ConferenceSolution(TypedDict, total=False):
    """Product that hosts a conference."""

    key: Required[ConferenceKey]
    name: str
    iconUri: str


class EntryPoint(TypedDict, total=False):
    """A way into a conference."""

    entryPointType: Required[Literal["video", "phone", "sip", "more"]]
    uri: Required[str]
    label: str
    pin: str
    accessCode: str
    meetingCode: str
    passcode: str
    password: str
    regionCode: str
    entryPointFeatures: list[str]


class ConferenceData(TypedDict, total=False):
    createRequest: ConferenceRequest
    conferenceSolution: ConferenceSolution
    entryPoints: list[EntryPoint]
    conferenceId: str
    notes: str
    signature: str


class BirthdayProperties(TypedDict, total=False):
    type: str


class AwayProperties(TypedDict, total=False):
    """Of time out of office."""

    autoDeclineMode: str
    declineMessage: str


class FocusProperties(AwayProperties, total=False):
    """Of focus time."""

    chatStatus: str


class CustomLocation(TypedDict, total=False):
    """A place that is neither home nor office."""

    label: str


class OfficeLocation(CustomLocation, total=False):
    """A place in the office."""

    buildingId: str
    floorId: str
    floorSectionId: str
    deskId: str


class WorkingLocationProperties(TypedDict, total=False):
    type: Required[str]
    homeOffice: dict[str, str]
    officeLocation: OfficeLocation
    customLocation: CustomLocation


class _Resource(TypedDict, total=False):
    """The writable fields of the resource."""

    start: Point
    end: Point
    summary: str
    description: str
    location: str
    status: str
    visibility: str
    transparency: str
    recurrence: list[str]
    attendees: list[Attendee]
    reminders: Reminders
    colorId: str
    guestsCanModify: bool
    guestsCanInviteOthers: bool
    guestsCanSeeOtherGuests: bool
    extendedProperties: ExtendedProperties
    conferenceData: ConferenceData
    eventType: str
    birthdayProperties: BirthdayProperties
    focusTimeProperties: FocusProperties
    outOfOfficeProperties: AwayProperties
    workingLocationProperties: WorkingLocationProperties


def _typed(**fields: Unpack[_Resource]) -> None:
    """Fields that a body may have."""


_RESOURCE = signature_of(_typed, skip=0)
_STAYS = ("eventType", *PROPERTIES_OF_TYPES.values())
"""Fields that keep their value if not given."""


def _resource(access: Access, event: Occurrence, zone: str | None = None) -> Json:
    view = event_view(access, event, zone)
    if "created" in view and (properties := _properties(event)):  # else only when it is may be seen
        view["extendedProperties"] = properties
    return {"kind": "calendar#event", **view}


def _properties(event: Occurrence) -> dict[str, dict[str, str]]:
    kept = {kind: event.row[f"{kind}_properties"] for kind in _KINDS}
    return {kind: orjson.loads(text) for kind, text in kept.items() if text is not None}


def _said(body: Mapping[str, Any]) -> Json:
    """The fields of the resource that a body says; of the others no notice is taken."""
    return {name: body[name] for name in _RESOURCE.schema["properties"] if name in body}


def _merged(event: Occurrence, body: Mapping[str, Any]) -> Json:
    """Merge a patch into an event, keeping extended properties that it does not name."""
    said = _said(body)
    given = said.get("extendedProperties")
    if not isinstance(given, dict):
        return said
    kept = _properties(event)
    merged = {
        kind: kept.get(kind, {}) | part if isinstance(part, dict) else {} if part is None else part
        for kind, part in ((kind, given[kind]) for kind in _KINDS if kind in given)
    }
    return said | {"extendedProperties": merged}


def _fields(body: Mapping[str, Any]) -> EventFields:
    """Parse the fields of an event resource."""
    known = _RESOURCE.schema["properties"]
    given = {name: _without_nulls(body[name], known[name]) for name in known if name in body}
    _RESOURCE.bind({name: value for name, value in given.items() if value is not None})
    found: Json = {}
    for name, value in given.items():
        if value is None and name in ("start", "end", *_STAYS):
            continue
        found[name] = _DEFAULTS[name] if value is None else value
    if (properties := found.pop("extendedProperties", None)) is not None:
        found |= {f"{kind}_properties": properties[kind] for kind in _KINDS if kind in properties}
    return cast(EventFields, found)


def _without_nulls(value: Any, schema: Mapping[str, Any]) -> Any:
    """A value of a resource; no notice is taken of names in it that its schema does not have."""
    if isinstance(value, dict):
        known = schema.get("properties")
        names = list(value) if known is None else [name for name in known if name in value]
        parts = {name: _without_nulls(value[name], (known or {}).get(name, {})) for name in names}
        return {name: part for name, part in parts.items() if part is not None}
    if isinstance(value, list):
        return [_without_nulls(part, schema.get("items", {})) for part in value]
    return value


def _page(page: EventPage, zone: str | None) -> Json:
    calendar = page.calendar
    about = {
        "summary": calendar.summary,
        "description": calendar.description or "",
        "updated": max((event.row["updated"] for event in page.items), default="1970-01-01T00:00:00Z"),
        "timeZone": zone or calendar.time_zone,
        "accessRole": calendar.role,
        "defaultReminders": calendar.default_reminders,
    }
    items = [_resource(calendar, event, zone) for event in page.items]
    view = listing("events", items, page.next_token, **about)
    return view | ({"nextSyncToken": page.sync_token} if page.sync_token and not page.next_token else {})


def _zone(name: str | None) -> str | None:
    return None if name is None else known_zone(name)


@api.get("/calendars/{calendarId}/events")
def list_events(
    store: CalendarStore,
    request: Request,
    calendarId: str,
    timeMin: str | None = None,
    timeMax: str | None = None,
    updatedMin: str | None = None,
    maxResults: int | None = None,
    orderBy: Literal["startTime", "updated"] | None = None,
    q: str | None = None,
    singleEvents: bool = False,
    showDeleted: bool = False,
    timeZone: str | None = None,
    pageToken: str | None = None,
    syncToken: str | None = None,
    iCalUID: str | None = None,
) -> Json:
    """The events of a calendar, or with ``syncToken`` those that changed since an earlier list.

    An answer to a sync token has recurring events as such, whatever ``singleEvents`` says.
    """
    zone = _zone(timeZone)
    kinds = _kinds(request)
    private, shared = _wanted(request, "privateExtendedProperty"), _wanted(request, "sharedExtendedProperty")
    if syncToken is not None:
        if timeMin or timeMax or updatedMin or q or orderBy or iCalUID or private or shared:
            raise Invalid("Sync token cannot be used with other filters.", code="badRequest")
        return _page(store.lists.changed_events(calendarId, pageToken or syncToken, maxResults), zone)
    if iCalUID is not None:
        page = _of_uid(store, calendarId, iCalUID, showDeleted)
        kept = [event for event in page.items if _has(event, private, shared)]
        return _page(replace(page, items=kept), zone)
    order: Any = orderBy or ("startTime" if singleEvents else "none")
    window = Window(
        since=FIRST if timeMin is None else window_bound(timeMin, "timeMin"),
        until=LAST if timeMax is None else window_bound(timeMax, "timeMax"),
        updated_min="" if updatedMin is None else show(window_bound(updatedMin, "updatedMin")),
        text=q or None,
        order=order,
        single=singleEvents,
        deleted=showDeleted,
        limit=maxResults,
        token=pageToken,
        private=private,
        shared=shared,
        types=kinds,
    )
    return _page(store.lists.list_events(calendarId, window), zone)


def _kinds(request: Request) -> list[str]:
    """The types of events that a list is narrowed to."""
    request.asked.get("eventTypes")
    kinds = [value for key, value in request.pairs if key == "eventTypes"]
    for kind in kinds:
        if kind not in EVENT_TYPES:
            raise Invalid(f"Invalid value for eventTypes: {kind[:40]!r}.", code="invalid")
    return kinds


def _wanted(request: Request, name: str) -> list[tuple[str, str]]:
    """The extended properties that a list is narrowed to: ``name=value``, as often as wanted."""
    wanted = []
    request.asked.get(name)
    for key, value in request.pairs:
        if key == name:
            known, equals, text = value.partition("=")
            if not equals:
                raise Invalid(f"Invalid value for {name}: name=value is expected.", code="invalid")
            wanted.append((known, text))
    return wanted


def _has(event: Occurrence, private: Sequence[tuple[str, str]], shared: Sequence[tuple[str, str]]) -> bool:
    own = _properties(event)
    return set(private) <= own.get("private", {}).items() and set(shared) <= own.get("shared", {}).items()


def _of_uid(store: CalendarStore, calendar_id: str, uid: str, deleted: bool) -> EventPage:
    access = store.calendar(calendar_id)
    if (event_id := store.lists.event_of_uid(access, uid)) is None:
        return EventPage(access, [], None)
    access, event = store.lists.event(calendar_id, event_id)
    return EventPage(access, [event] if deleted or not event.row["cancelled"] else [], None)


@api.get("/calendars/{calendarId}/events/{eventId}")
def get_event(store: CalendarStore, calendarId: str, eventId: str, timeZone: str | None = None) -> Json:
    return _resource(*store.lists.event(calendarId, eventId), _zone(timeZone))


@api.post("/calendars/{calendarId}/events")
def insert_event(store: CalendarStore, request: Request, calendarId: str) -> Json:
    """A new event."""
    body = body_of(request)
    event_id, uid = read.text(body, "id"), read.text(body, "iCalUID")
    fields: Json = {**_fields(_of_version(request, body))}
    if uid and uid != f"{event_id}{OWN_UID}":
        if store.lists.event_of_uid(store.calendar(calendarId), uid) is not None:
            raise Conflict("The requested identifier already exists.", code="duplicate")
        fields["ical_uid"] = uid
    return _resource(*store.create_event(calendarId, cast(EventFields, fields), event_id))


@api.post("/calendars/{calendarId}/events/quickAdd")
def quick_add(store: CalendarStore, calendarId: str, text: str) -> Json:
    """A new event out of a sentence."""
    zone = store.calendar(calendarId).time_zone
    here = datetime.fromisoformat(in_zone(show(store.now), zone)).replace(tzinfo=None)
    found = event_of(text, here)
    for end in (found["start"], found["end"]):
        if "dateTime" in end:
            end["timeZone"] = zone
    return _resource(*store.create_event(calendarId, cast(EventFields, found)))


@api.post("/calendars/{calendarId}/events/import")
def import_event(store: CalendarStore, request: Request, calendarId: str) -> Json:
    """A private copy of an event from elsewhere; one of the same ``iCalUID`` is replaced."""
    body = body_of(request)
    uid = read.text(body, "iCalUID")
    if not uid:
        raise Invalid("Missing iCalUID.", code="required")
    if read.text(body, "eventType") not in (None, "default"):
        raise Invalid("Only events of the type default can be imported.", code="eventTypeRestriction")
    whole = _whole(_of_version(request, body), set())
    organizer = body.get("organizer") or {}
    if not isinstance(organizer, Mapping):
        raise Invalid("Invalid value for organizer: an object is expected.", code="invalid")
    _without_nulls(organizer, {})  # what else is in it, only the product writes
    whose = {name: read.text(organizer, name) or "" for name in ("email", "displayName")}
    return _resource(*store.import_event(calendarId, uid, _fields(whole), whose))


@api.patch("/calendars/{calendarId}/events/{eventId}")
def patch_event(store: CalendarStore, request: Request, calendarId: str, eventId: str) -> Json:
    """An event with some fields changed; ``null`` empties one."""
    body = body_of(request)
    access, event = store.lists.event(calendarId, eventId)
    check_etag(request, event_view(access, event)["etag"])
    if answer := _own_answer(access, event, body):
        return _resource(*store.respond(calendarId, eventId, *answer))
    return _resource(
        *store.update_event(calendarId, eventId, _fields(_merged(event, _of_version(request, body))))
    )


@api.put("/calendars/{calendarId}/events/{eventId}")
def update_event(store: CalendarStore, request: Request, calendarId: str, eventId: str) -> Json:
    """An event with all its fields replaced: what is not given is as if it had never been said."""
    body = body_of(request)
    access, event = store.lists.event(calendarId, eventId)
    check_etag(request, event_view(access, event)["etag"])
    kept = {"recurrence"} if event.is_instance or event.row["series_id"] else set()
    if not _conferences(request):
        kept.add("conferenceData")
    whole = _whole(_of_version(request, body), kept)
    return _resource(*store.update_event(calendarId, eventId, _fields(whole)))


def _whole(body: Mapping[str, Any], kept: Collection[str]) -> Json:
    """Return all fields of an event: those neither in the body nor ``kept`` are reset."""
    said = _said(body)
    whole = {name: None for name in _DEFAULTS if name not in said and name not in kept} | said
    if isinstance(properties := whole["extendedProperties"], dict):
        parts = {kind: properties[kind] for kind in _KINDS if kind in properties}
        whole["extendedProperties"] = {**_DEFAULTS["extendedProperties"], **parts}
    return whole


def _conferences(request: Request) -> bool:
    """True if the client supports conferences. With version 0 the body's conference is ignored."""
    version = request.asked.get("conferenceDataVersion", "0")
    if version not in ("0", "1"):
        raise Invalid("Invalid value for conferenceDataVersion: 0 or 1 is expected.", code="invalid")
    return bool(version == "1")


def _of_version(request: Request, body: Fields) -> Fields | Json:
    if _conferences(request):
        return body
    _without_nulls(body.get("conferenceData"), {})  # passed over, whatever is in it
    return {
        name: body[name]
        for name in _RESOURCE.schema["properties"]
        if name != "conferenceData" and name in body
    }


def _own_answer(access: Access, event: Occurrence, body: Fields) -> tuple[str, str | None] | None:
    """The answer to an invitation, which guests give by changing themselves among the attendees."""
    if body.names() - {"etag", "kind"} != {"attendees"} or event.row["organizer"] == access.id:
        return None
    mine = [one for one in _fields(body)["attendees"] if one["email"].lower() == access.id]
    if len(mine) != 1 or not mine[0].get("responseStatus"):
        return None
    return mine[0]["responseStatus"], mine[0].get("comment")


@api.delete("/calendars/{calendarId}/events/{eventId}")
def delete_event(store: CalendarStore, request: Request, calendarId: str, eventId: str) -> None:
    check_etag(request, event_view(*store.lists.event(calendarId, eventId))["etag"])
    store.delete_event(calendarId, eventId)


@api.get("/calendars/{calendarId}/events/{eventId}/instances")
def list_instances(
    store: CalendarStore,
    calendarId: str,
    eventId: str,
    timeMin: str | None = None,
    timeMax: str | None = None,
    originalStart: str | None = None,
    maxResults: int | None = None,
    showDeleted: bool = False,
    timeZone: str | None = None,
    pageToken: str | None = None,
) -> Json:
    """The instances of a recurring event, or the one that starts by the rule at ``originalStart``."""
    window = Window(
        since=FIRST if timeMin is None else window_bound(timeMin, "timeMin"),
        until=LAST if timeMax is None else window_bound(timeMax, "timeMax"),
        deleted=showDeleted,
        limit=maxResults,
        token=pageToken,
    )
    zone = _zone(timeZone)
    if originalStart is not None:
        form = "date" if len(originalStart) == len("2025-01-15") else "dateTime"
        original = point({form: originalStart}, "originalStart").at
        return _page(store.lists.instance(calendarId, eventId, original, window), zone)
    return _page(store.lists.instances(calendarId, eventId, window), zone)


@api.post("/calendars/{calendarId}/events/{eventId}/move")
def move_event(store: CalendarStore, calendarId: str, eventId: str, destination: str) -> Json:
    """Make another calendar the organizer of an event."""
    return _resource(*store.move_event(calendarId, eventId, destination))
