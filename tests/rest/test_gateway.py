"""Bodies of requests as they arrive, before any vendor's API sees them."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable

import httpx
import pytest
from patience import PATIENCE
from rest.hosted import HostedWorld
from rest.test_calendar import MEETING, fill

from mesocosm.doors.admission import MAX_CONTAINERS, MAX_FIELDS, MAX_TEXT
from mesocosm.doors.request import Request, Upload

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
        timeout=PATIENCE,
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
    "said", ["maxAttendees=\N{SUPERSCRIPT TWO}", "maxAttendees[]=1", "a[\N{SUPERSCRIPT TWO}]=1"]
)
def test_what_looks_like_a_number_and_is_none_is_no_fault(hosted: HostedWorld, said: str) -> None:
    answer = httpx.get(
        f"{hosted.api('calendar')}/calendar/v3/users/me/calendarList?{said}",
        headers={"Authorization": f"Bearer {hosted.id}"},
        timeout=PATIENCE,
    )
    assert answer.status_code == 400


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
        "fields": httpx.post(
            events, content=b"_method=PUT" + b"&a=b" * (MAX_FIELDS + 1), headers=form, timeout=PATIENCE
        ),
        "parts": httpx.post(events, content=part * (MAX_FIELDS + 1), headers=parts, timeout=PATIENCE),
        "objects": httpx.post(events, content=b"[" * (MAX_CONTAINERS + 1), headers=signed, timeout=PATIENCE),
        "query": httpx.get(f"{events}?{'a=b&' * MAX_FIELDS}", headers=signed, timeout=PATIENCE),
    }
    assert {what: answer.status_code for what, answer in many.items()} == dict.fromkeys(many, 413) | {
        "query": 414
    }
    assert hosted.journal() == []


def test_what_takes_too_long_to_be_looked_at_is_refused_by_name(hosted: HostedWorld) -> None:
    """Each took seconds to minutes: numbers by their number, the rest by the square of its length."""
    events = f"{hosted.api('calendar')}/calendar/v3/calendars/primary/events"
    began = time.process_time()

    def said(body: bytes, kind: str) -> str:
        headers = {"Authorization": f"Bearer {hosted.id}", "Content-Type": kind}
        answer = httpx.post(events, content=body, headers=headers, timeout=PATIENCE)
        assert answer.status_code == 400
        return str(answer.json()["error"]["message"])

    part = b'--x\r\nContent-Disposition: form-data; name="'
    refused = [
        said(b'{"attendees": [' + b"1," * 3_000_000 + b"1]}", "application/json"),
        said(b"a" + b"[b]" * 1_000_000 + b"=1", "application/x-www-form-urlencoded"),
        said(part + b"a;" * 1_000_000 + b'"\r\n\r\nb\r\n--x--', "multipart/form-data; boundary=x"),
    ]
    assert refused == [
        "A body may have 200,000 values; this one has more.",
        f"The parameter {'a' + '[b]' * 13!r} is nested too deep (max 32).",
        "The fields of a part are too long (max 4,096 bytes).",
    ]
    assert time.process_time() - began < 8


def test_a_form_in_parts_is_read_as_it_was_sent() -> None:
    """The boundary may occur in a content, where it does not stand alone on its line."""
    body = (
        b'preamble\r\n--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n --x\r\n--xy\r\n\n\r\n--x \t\r\n'
        b'Content-Disposition: form-data; name="\xc3\xa9"\nContent-Transfer-Encoding: base64\n\nYg==\n--x\r\n'
        b'content-disposition: form-data; filename="c.txt"; name=c\r\nContent-Type: text/csv\r\n\r\n\r\n\r\n'
        b"--x--\r\n--x\r\nnever read"
    )
    request = Request(
        "POST", "/", "", {"content-type": 'multipart/form-data; boundary="x"'}, body, "http://x"
    )
    assert dict(request.data) == {
        "a": " --x\r\n--xy\r\n\n",
        "é": "b",
        "c": Upload("c.txt", "text/csv", 2),
    }
