"""The fields of Google's answers, by which ``fields=`` is checked, are those of its discovery documents."""

from __future__ import annotations

import orjson
import pytest
from sources import benchmark

from mesocosm.doors.partial_answers import unknown_field

PROGRAM = benchmark("answer_fields")


@pytest.mark.parametrize("service", PROGRAM.SERVICES)
def test_they_are_those_of_the_discovery_documents(service: str) -> None:
    kept = PROGRAM.path_of(service).read_text(encoding="utf-8")
    assert kept == PROGRAM.written(PROGRAM.answer_fields(service)), "run benchmarks/answer_fields.py"
    known = set(orjson.loads(kept)["methods"])
    routes = {PROGRAM.place_of(route.template): route for route in PROGRAM.api_of(service).routes}
    unknown = {path for path, route in routes.items() if route.method in ("POST", "PUT", "PATCH")} - {
        called.partition(" ")[2] for called in known
    }
    assert unknown <= {"/calendar/v3/calendars/{}/clear", "/{}/{}"}  # which answer nothing


@pytest.mark.parametrize(
    ("service", "called", "mask", "wrong"),
    [
        ("calendar", "GET /calendar/v3/calendars/{}/events", "items(id,start/timeZone),nextPageToken", None),
        ("calendar", "GET /calendar/v3/calendars/{}/events", "items(id,sumary)", "items/sumary"),
        ("calendar", "GET /calendar/v3/calendars/{}/events", "items/id/name", "items/id/name"),
        ("calendar", "GET /calendar/v3/calendars/{}/events", "items/extendedProperties/shared/team", None),
        ("calendar", "GET /calendar/v3/calendars/{}/events", "*", None),
        ("calendar", "GET /calendar/v3/calendars/{}/events", "items(*(email))", "items/*/email"),
        ("google_sheet", "GET /drive/v3/files", "files(id,name),nextPageToken", None),
        ("google_sheet", "GET /v4/spreadsheets/{}", "sheets.properties.titel", "sheets/properties/titel"),
        ("google_cloud", "GET /storage/v1/b/{}/o", "items(name,metadata/x),prefixes", None),
        ("google_cloud", "GET /bigquery/v2/projects/{}/queries/{}", "rows,pageTokn", "pageTokn"),
    ],
)
def test_a_name_that_answers_do_not_have_is_found(
    service: str, called: str, mask: str, wrong: str | None
) -> None:
    answers = orjson.loads(PROGRAM.path_of(service).read_bytes())
    assert unknown_field(mask, called, answers) == wrong
