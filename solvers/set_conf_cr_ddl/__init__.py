"""Reference solver: reads the mails of the listed conferences in their order, and sets the calendar right."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from typing import Any

from mesocosm.kits.paging import events, listed_mails
from mesocosm.services.calling import Tools
from mesocosm.solvers.set_conf_cr_ddl.mails import Submission

_LEAD = dt.timedelta(hours=3)


def solve(tools: Tools, prompt: str) -> None:
    """Set the reminders."""
    now = _now(prompt)
    submissions = _submissions(tools.call("filesystem", "read_text_file", path="conference_info.txt"))
    for domain, text in _mails(tools, {submission.domain for submission in submissions}):
        for submission in submissions:
            if submission.domain == domain:
                submission.learn(text)
    held = _events(tools, now)
    for submission in submissions:
        _set_right(tools, submission, held.get(submission.title, []), now)
    tools.call("claim_done", "claim_done")


def _now(prompt: str) -> dt.datetime:
    now = re.search(r"It is now \w+, (\w+ \d+, \d{4}, \d\d:\d\d)", prompt)
    offset = re.search(r"UTC([+-]\d\d:\d\d) today", prompt)
    assert now
    assert offset
    return dt.datetime.strptime(f"{now[1]} {offset[1]}", "%B %d, %Y, %H:%M %z")


def _submissions(info: str) -> list[Submission]:
    found = []
    for line in info.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 4 and cells[2].isdigit():
            found.append(Submission(cells[0], cells[1], int(cells[2]), cells[3]))
    return found


def _mails(tools: Tools, domains: set[str]) -> Iterator[tuple[str, str]]:
    """Domain of the sender, and text, of the mails from these domains, oldest first."""
    for entry in sorted(listed_mails(tools), key=lambda entry: str(entry["date"])):
        sender = re.search(r"@([^\s<>]+)>?$", entry["from"])
        if sender and sender[1].lower() in domains:
            mail = tools.call("email", "read_email", email_id=entry["id"])
            yield sender[1].lower(), f"{mail['subject']}\n{mail['body']}"


def _events(tools: Tools, now: dt.datetime) -> dict[str, list[dict[str, Any]]]:
    """The events around now by title."""
    since, until = now - dt.timedelta(days=120), now + dt.timedelta(days=500)
    found: dict[str, list[dict[str, Any]]] = {}
    for event in events(tools, timeMin=_stamp(since), timeMax=_stamp(until)):
        found.setdefault(event.get("summary", ""), []).append(event)
    return found


def _set_right(
    tools: Tools, submission: Submission, held: Sequence[dict[str, Any]], now: dt.datetime
) -> None:
    """Make it one event at the right time, or none."""
    deadline = submission.deadline
    left = list(held)
    if submission.accepted and not submission.settled and deadline and deadline - _LEAD > now:
        ends = {
            "start": {"dateTime": _stamp(deadline - _LEAD)},
            "end": {"dateTime": _stamp(deadline)},
        }
        if not left:
            tools.call("calendar", "create_event", summary=submission.title, **ends)
        else:
            event = left.pop(0)
            if any(_moment(event[end]) != _moment(ends[end]) for end in ends):
                tools.call("calendar", "update_event", eventId=event["id"], **ends)
    for event in left:
        tools.call("calendar", "delete_event", eventId=event["id"])


def _moment(end: dict[str, Any]) -> dt.datetime:
    return dt.datetime.fromisoformat(end["dateTime"])


def _stamp(moment: dt.datetime) -> str:
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
