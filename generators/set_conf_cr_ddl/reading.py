"""The survey: everything that an agent would need to read."""

from __future__ import annotations

import datetime as dt
from typing import Any

from mesocosm.family import Expected
from mesocosm.generators.set_conf_cr_ddl.expected import INFO_FILE
from mesocosm.generators.set_conf_cr_ddl.expected import Expected as Truth
from mesocosm.tools import Tools

_PER_PAGE = 100


def survey(tools: Tools, expected: Expected) -> None:
    """Read the file, the mails, and the events from two months ago to a year ahead."""
    assert isinstance(expected, Truth)
    tools.call("filesystem", "list_directory", path=".")
    tools.call("filesystem", "read_text_file", path=INFO_FILE)
    _events(tools, expected.now)
    page, pages = 1, 1
    while page <= pages:
        listed = tools.call("email", "get_emails", page=page, page_size=_PER_PAGE)
        pages = listed["total_pages"]
        for mail in listed["emails"]:
            tools.call("email", "read_email", email_id=mail["id"])
        page += 1


def _events(tools: Tools, now: dt.datetime) -> None:
    window: dict[str, Any] = {
        "timeMin": _stamp(now - dt.timedelta(days=60)),
        "timeMax": _stamp(now + dt.timedelta(days=365)),
    }
    while True:
        page = tools.call("calendar", "list_events", **window)
        if "nextPageToken" not in page:
            return
        window["pageToken"] = page["nextPageToken"]


def _stamp(moment: dt.datetime) -> str:
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
