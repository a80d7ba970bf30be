"""Bodies of requests as they arrive, before any vendor's API sees them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable

import httpx
import pytest
from rest.hosted import HostedWorld
from rest.test_calendar import MEETING, fill

from mesocosm.doors.bodies import MAX_CONTAINERS, MAX_FIELDS, MAX_TEXT

PLAIN = json.dumps(MEETING).encode()
PACKED = gzip.compress(PLAIN)


def post(hosted: HostedWorld, body: bytes) -> httpx.Response:
    """Hand in an event in a compressed body."""
    return httpx.post(
        f"{hosted.api('calendar')}/calendar/v3/calendars/primary/events",
        content=body,
        headers={
            "Authorization": f"Bearer {hosted.id}",
            "Content-Type": "application/json",
            "Content-Encoding": "gzip",
        },
    )


@pytest.fixture
def hosted(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    return episode_of(["calendar"], fill)


def test_a_compressed_body_is_read(hosted: HostedWorld) -> None:
    answer = post(hosted, PACKED)
    assert answer.status_code == 200
    assert answer.json()["summary"] == MEETING["summary"]
    assert hosted.replay().identical


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(PACKED[:-8], id="without the checksum"),
        pytest.param(PACKED[:-1], id="without the last byte"),
        pytest.param(PACKED[:5], id="in the header"),
        pytest.param(PACKED + b"\0", id="a byte more"),
        pytest.param(PACKED + PACKED, id="twice"),
        pytest.param(PACKED[:-8] + bytes(8), id="wrong checksum"),
        pytest.param(PLAIN, id="not compressed"),
    ],
)
def test_a_body_that_is_not_one_whole_stream_is_refused(hosted: HostedWorld, body: bytes) -> None:
    before = hosted.tables("calendar")
    answer = post(hosted, body)
    assert (answer.status_code, answer.json()["error"]["message"]) == (
        400,
        "The body cannot be decompressed.",
    )
    assert hosted.tables("calendar") == before
    assert hosted.journal() == []


def test_what_takes_too_long_to_read_is_refused_before_it_is_read(hosted: HostedWorld) -> None:
    events = f"{hosted.api('calendar')}/calendar/v3/calendars/primary/events"
    signed = {"Authorization": f"Bearer {hosted.id}"}
    form = signed | {"Content-Type": "application/x-www-form-urlencoded"}
    parts = signed | {"Content-Type": "multipart/form-data; boundary=x"}
    part = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n'
    many = {
        "bytes": post(hosted, gzip.compress(bytes(MAX_TEXT + 1))),
        "fields": httpx.post(events, content=b"_method=PUT" + b"&a=b" * (MAX_FIELDS + 1), headers=form),
        "parts": httpx.post(events, content=part * (MAX_FIELDS + 1), headers=parts),
        "objects": httpx.post(events, content=b"[" * (MAX_CONTAINERS + 1), headers=signed),
        "query": httpx.get(f"{events}?{'a=b&' * MAX_FIELDS}", headers=signed),
    }
    assert {what: answer.status_code for what, answer in many.items()} == dict.fromkeys(many, 413) | {
        "query": 414
    }
    assert hosted.journal() == []
