"""Tools for sharing calendars."""

# ruff: noqa: N803 - the names of parameters are Google's
from __future__ import annotations

from typing import Literal

from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.calendar.tools.service import CalendarId, PageToken, server
from mesocosm.servers.calendar.tools.views import rule_view
from mesocosm.services.schema import Json


@server.reads
def list_calendar_acl(
    store: CalendarStore,
    calendarId: CalendarId = "primary",
    maxResults: int | None = None,
    pageToken: PageToken | None = None,
) -> Json:
    """List who may do what with a calendar that you own.

    Args:
        maxResults: Most rules on a page; 250 is the default and the most a page holds.
    """
    rules, next_token = store.access_rules(calendarId, maxResults, pageToken)
    view: Json = {"items": [rule_view(rule["scope"], rule["role"]) for rule in rules]}
    return view | ({"nextPageToken": next_token} if next_token else {})


@server.writes(idempotent=True)
def share_calendar(
    store: CalendarStore,
    calendarId: CalendarId,
    role: Literal["freeBusyReader", "reader", "writer", "owner"],
    email: str | None = None,
    domain: str | None = None,
    everybody: bool = False,
) -> Json:
    """Give a person, a domain or everybody a role on a calendar that you own; it replaces an earlier role.

    Args:
        role: freeBusyReader sees when you are busy, reader the events, writer changes them, owner shares.
        email: The person's address. Give this, domain or everybody.
        domain: A domain, for all who have an address in it.
        everybody: true makes the calendar public.
    """
    scope = store.scope_of(email, domain, everybody=everybody)
    store.share(calendarId, scope, role)
    return rule_view(scope, role)


@server.writes(destructive=True)
def unshare_calendar(store: CalendarStore, calendarId: CalendarId, ruleId: str) -> str:
    """Take back what a person, a domain or everybody may do with a calendar that you own.

    Args:
        ruleId: The id of the rule, from list_calendar_acl, such as user:ada@example.org.
    """
    store.unshare(calendarId, ruleId)
    return f"Access rule {ruleId} deleted successfully"
