"""Three people with calendars; Ada is signed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.services.world import World

ADA, BOB, CY = "ada@example.org", "bob@example.org", "cy@example.org"


class Calendar:
    """The tools of a calendar world, called by name."""

    def __init__(self, tools: Any) -> None:
        self.tools = tools

    def __call__(self, tool: str, /, **arguments: Any) -> Any:
        return self.tools.call("calendar", tool, **arguments)

    def events(self, since: str, until: str, **arguments: Any) -> list[dict[str, Any]]:
        """The events between two dates."""
        window = {"timeMin": f"{since}T00:00:00Z", "timeMax": f"{until}T00:00:00Z"}
        items: list[dict[str, Any]] = self("list_events", **window, **arguments)["items"]
        return items

    def sign_in(self, email: str) -> None:
        """Act for another account."""
        with self.tools.world.editing() as world:
            world.store(CalendarStore).sign_in(email)

    def state(self) -> bytes:
        """The bytes of the database."""
        return bytes((self.tools.world.path / "calendar.db").read_bytes())


def fill(world: World) -> None:
    """The accounts."""
    store = world.store(CalendarStore)
    store.create_account(ADA, "Ada Byron", "America/New_York")
    store.create_account(BOB, "Bob", "Europe/Zurich")
    store.create_account(CY, "Cy", "Asia/Kolkata")
    store.sign_in(ADA)


@pytest.fixture
def calendar(open_tools: Callable[..., Any]) -> Calendar:
    return Calendar(open_tools(fill, "calendar"))


@pytest.fixture
def event(calendar: Calendar) -> dict[str, Any]:
    """An hour of Ada's on 20 January 2025, with Bob invited."""
    made: dict[str, Any] = calendar(
        "create_event",
        summary="Design review",
        description="The loom",
        location="Room 1",
        start={"dateTime": "2025-01-20T10:00:00-05:00"},
        end={"dateTime": "2025-01-20T11:00:00-05:00"},
        attendees=[{"email": BOB, "displayName": "Bob"}],
    )
    return made


@pytest.fixture
def weekly(calendar: Calendar) -> str:
    """The id of a series of Ada's: Mondays at nine in New York from 3 March 2025, with Bob invited."""
    made = calendar(
        "create_event",
        summary="Standup",
        start={"dateTime": "2025-03-03T09:00:00", "timeZone": "America/New_York"},
        end={"dateTime": "2025-03-03T09:15:00", "timeZone": "America/New_York"},
        recurrence=["RRULE:FREQ=WEEKLY;BYDAY=MO"],
        attendees=[{"email": BOB}],
    )
    return str(made["id"])
