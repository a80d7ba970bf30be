"""What all vendors' APIs do alike: forms, overridden methods, nothing that is dropped with a success."""

from __future__ import annotations

import base64
import http.client
import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
import shop
from campus import PEOPLE, fill_campus
from githost import fill as fill_githost
from patience import PATIENCE
from rest.conftest import EpisodeOf
from rest.hosted import HostedWorld
from rest.test_calendar import fill as fill_calendar

from mesocosm.servers.canvas.store import CanvasStore

Ask = Callable[..., requests.Response]


@pytest.fixture(scope="module")
def hosted(episode_of: EpisodeOf) -> HostedWorld:
    def fill(world: Any) -> None:
        fill_campus(world)
        world.store(CanvasStore).sign_in(PEOPLE["teacher"])
        shop.fill_shop(world)
        fill_githost(world)
        fill_calendar(world)

    return episode_of(["canvas", "woocommerce", "codehost", "documents", "calendar"], fill)


@pytest.fixture
def ask(hosted: HostedWorld) -> Ask:
    def send(method: str, service: str, path: str, **options: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {hosted.id}"} | options.pop("headers", {})
        if service == "woocommerce":
            options["auth"] = (hosted.id, hosted.id)
            del headers["Authorization"]
            path = f"/wp-json/wc/v3{path}"
        return requests.request(
            method,
            hosted.api(service) + path,
            headers=headers,
            timeout=PATIENCE,
            allow_redirects=False,
            **options,
        )

    return send


def parts(**fields: str) -> dict[str, Any]:
    return {name: (None, value) for name, value in fields.items()}


def test_a_form_in_parts_is_read_as_any_other_body(ask: Ask) -> None:
    made = ask("POST", "woocommerce", "/products", files=parts(name="Bench", regular_price="12.50"))
    assert (made.status_code, made.json()["name"], made.json()["regular_price"]) == (201, "Bench", "12.50")
    fields = {"assignment[name]": "Report", "assignment[submission_types][]": "online_text_entry"}
    made = ask("POST", "canvas", "/api/v1/courses/1/assignments", files=parts(**fields))
    assert (made.json()["name"], made.json()["submission_types"]) == ("Report", ["online_text_entry"])


def test_a_form_in_parts_that_is_none_is_refused(ask: Ask) -> None:
    broken = {"Content-Type": "multipart/form-data"}
    assert ask("POST", "woocommerce", "/products", data=b"--x", headers=broken).status_code == 400
    a_file = {"name": ("n.bin", b"\0\1"), "regular_price": (None, "1")}
    assert ask("POST", "woocommerce", "/products", files=a_file).status_code == 400


def test_a_body_of_an_unknown_type_is_not_dropped(ask: Ask) -> None:
    sent = {"Content-Type": "text/plain"}
    refused = ask("POST", "canvas", "/api/v1/courses/1/assignments", data=b"{}", headers=sent)
    assert refused.status_code == 400
    assert "application/json" in refused.text


def test_half_a_request_is_none(hosted: HostedWorld, ask: Ask) -> None:
    where = urlsplit(hosted.api("woocommerce"))
    basic = base64.b64encode(f"{hosted.id}:{hosted.id}".encode()).decode()
    head = f"POST {where.path}/wp-json/wc/v3/products HTTP/1.1\r\nHost: localhost\r\nContent-Length: 32\r\n"
    head += f"Authorization: Basic {basic}\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n"
    before = len(hosted.journal())
    with socket.create_connection((where.hostname or "", where.port or 0), 30) as client:
        client.sendall(f"{head}name=Half&regular_price=1".encode())  # of 12.50
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1000) == b""
    assert ask("GET", "woocommerce", "/products", params={"search": "Half"}).json() == []
    assert len(hosted.journal()) == before + 1


@pytest.mark.parametrize("how", ["header", "query", "form", "parts"])
def test_a_post_may_stand_for_another_method(ask: Ask, how: str) -> None:
    made = ask(
        "POST", "canvas", "/api/v1/courses/1/assignments", json={"assignment": {"name": "Draft"}}
    ).json()
    path, new = f"/api/v1/courses/1/assignments/{made['id']}", {"assignment[name]": "Final"}
    options: dict[str, Any] = {
        "header": {"headers": {"X-HTTP-Method-Override": "PUT"}, "data": new},
        "query": {"params": {"_method": "put"}, "data": new},
        "form": {"data": new | {"_method": "put"}},
        "parts": {"files": parts(**new, _method="PUT")},
    }[how]
    assert ask("POST", "canvas", path, **options).json()["name"] == "Final"
    removed = ask("POST", "canvas", path, headers={"X-HTTP-Method-Override": "DELETE"})
    assert removed.status_code == 200
    assert ask("GET", "canvas", path).status_code == 404


def test_a_post_stands_for_no_method_that_there_is_not(ask: Ask) -> None:
    refused = ask("POST", "woocommerce", "/products", headers={"X-HTTP-Method-Override": "BREW"})
    assert refused.status_code == 400


@pytest.mark.parametrize(
    ("service", "request_line", "name", "value"),
    [
        ("woocommerce", "POST /taxes", "postcodes", ["90210"]),
        ("woocommerce", "PUT /products/1", "global_unique_id", "4006381333931"),
        ("woocommerce", "PUT /products/1", "date_created", "2020-01-01T00:00:00"),
        ("woocommerce", "GET /products", "brand", "red"),
        ("canvas", "GET /api/v1/courses", "as_user_id", "2"),
        ("canvas", "PUT /api/v1/courses/1", "course[grading_standard_id]", "3"),
        ("calendar", "GET /calendar/v3/calendars/primary/events", "colour", "red"),
        ("calendar", "PATCH /calendar/v3/users/me/calendarList/primary", "colourful", True),
        ("codehost", "PATCH /api/v3/repos/acme/app/issues/1", "issue_field_values", [1]),
        ("codehost", "GET /api/v3/repos/acme/app/issues", "colour", "red"),
    ],
)
def test_what_would_be_dropped_is_refused_by_its_name(
    hosted: HostedWorld, ask: Ask, service: str, request_line: str, name: str, value: Any
) -> None:
    method, path = request_line.split()
    before = hosted.tables(service)
    as_form = method == "GET" or "[" in name
    sent = {"country": "US", "rate": "5", name: value} if path == "/taxes" else {name: value}
    refused = ask(
        method, service, path, **{"params" if method == "GET" else "data" if as_form else "json": sent}
    )
    assert refused.status_code in (400, 422)
    assert name in refused.text
    assert hosted.tables(service) == before


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_field_of_an_event_that_nobody_knows_is_refused_by_its_name(ask: Ask, method: str) -> None:
    times = {"start": {"dateTime": "2025-03-03T09:00:00Z"}, "end": {"dateTime": "2025-03-03T10:00:00Z"}}
    events = "/calendar/v3/calendars/primary/events"
    event = f"{events}/{ask('POST', 'calendar', events, json=times).json()['id']}"
    refused = ask(method, "calendar", event, json=times | {"summary": "Lost", "colourful": True})
    assert refused.status_code == 400
    assert "colourful" in refused.text
    assert "summary" not in ask("GET", "calendar", event).json()


def test_what_can_be_made_in_the_shop_can_be_removed(ask: Ask) -> None:
    made = {
        "/taxes": {"country": "US", "rate": "5"},
        "/taxes/classes": {"name": "Half rate"},
        "/shipping/zones": {"name": "North"},
        "/webhooks": {"name": "W", "topic": "order.created", "delivery_url": "http://hooks.example/x"},
        "/products/3/variations": {"attributes": [{"name": "Colour", "option": "Red"}]},
    }
    for path, body in made.items():
        answer = ask("POST", "woocommerce", path, json=body)
        assert answer.status_code == 201, answer.text
        one = f"{path}/{answer.json().get('id') or answer.json()['slug']}"
        if path != "/taxes/classes":
            assert ask("GET", "woocommerce", one).json()["id"] == answer.json()["id"]
        if path != "/products/3/variations":
            assert ask("DELETE", "woocommerce", one).status_code == 501
        assert ask("DELETE", "woocommerce", one, params={"force": "true"}).status_code == 200
        assert ask("DELETE", "woocommerce", one, params={"force": "true"}).status_code in (400, 404)
    zone = ask("POST", "woocommerce", "/shipping/zones", json={"name": "South"}).json()["id"]
    way = ask(
        "POST", "woocommerce", f"/shipping/zones/{zone}/methods", json={"method_id": "flat_rate"}
    ).json()
    path = f"/shipping/zones/{zone}/methods/{way['id']}"
    changed = ask("PUT", "woocommerce", path, json={"enabled": False, "settings": {"cost": "3.00"}}).json()
    assert (changed["enabled"], changed["settings"]["cost"]["value"]) == (False, "3.00")
    assert ask("PUT", "woocommerce", path, json=changed).json() == changed
    assert ask("DELETE", "woocommerce", f"/shipping/zones/{zone}?force=true").status_code == 200
    assert ask("DELETE", "woocommerce", "/products/999999/variations/1").status_code == 404


def test_a_category_that_comes_to_another_of_its_name_keeps_its_slug(ask: Ask) -> None:
    categories = "/products/categories"
    above = ask("POST", "woocommerce", categories, json={"name": "Garden"}).json()["id"]
    for parent, slug in ((above, "pots-below"), (0, "pots")):
        body = {"name": "Pots", "parent": parent, "slug": slug}
        assert ask("POST", "woocommerce", categories, json=body).status_code == 201
    assert ask("DELETE", "woocommerce", f"{categories}/{above}?force=true").status_code == 200
    for slug in ("pots", "pots-below", "Pots below!"):
        again = ask("POST", "woocommerce", categories, json={"name": f"Other {slug}", "slug": slug})
        assert (again.status_code, again.json()["code"]) == (400, "term_exists")


def test_a_tax_rate_and_a_webhook_are_changed(ask: Ask) -> None:
    rate = ask("POST", "woocommerce", "/taxes", json={"country": "US", "rate": "5", "name": "VAT"}).json()
    changed = ask("PUT", "woocommerce", f"/taxes/{rate['id']}", json=rate | {"rate": "7.5", "name": "GST"})
    assert changed.json() == rate | {"rate": "7.5000", "name": "GST"}
    body = {"name": "W", "topic": "order.created", "delivery_url": "http://hooks.example/x"}
    hook = ask("POST", "woocommerce", "/webhooks", json=body).json()
    paused = ask("PUT", "woocommerce", f"/webhooks/{hook['id']}", json={"status": "paused"}).json()
    assert (paused["status"], paused["topic"]) == ("paused", "order.created")
    assert ask("PUT", "woocommerce", f"/webhooks/{hook['id']}", json={"topic": "x"}).status_code == 400


@pytest.mark.parametrize(
    ("service", "path", "status"),
    [
        ("codehost", "/api/v3/repos/acme/app/issues/1", 404),
        ("canvas", "/api/v1/courses/1", 404),
        ("woocommerce", "/wp-json/wc/v3/products/1", 404),
        ("documents", "/v1/spaces", 405),
    ],
)
def test_a_method_that_a_path_lacks_is_answered_as_by_the_vendor(
    ask: Ask, service: str, path: str, status: int
) -> None:
    path = path.removeprefix("/wp-json/wc/v3")
    assert ask("PROPFIND", service, path).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Host": "localhost:1"}, 200),
    ],
)
def test_a_foreign_name_or_page_is_refused_as_over_mcp(
    hosted: HostedWorld, headers: dict[str, str], status: int
) -> None:
    host = hosted.base.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=PATIENCE)
    connection.request(
        "GET",
        f"/e/{hosted.id}/documents/openapi.json",
        headers={"Authorization": f"Bearer {hosted.id}"} | headers,
    )
    assert connection.getresponse().status == status
    connection.close()


def test_the_planner_groups_and_permissions_of_canvas(ask: Ask) -> None:
    items = ask("GET", "canvas", "/api/v1/planner/items", params={"start_date": "2025-01-01"}).json()
    dates = [item["plannable_date"] for item in items]
    assert dates == sorted(dates)
    kinds = {item["plannable"]["title"]: item["plannable_type"] for item in items}
    some = {"Essay": "assignment", "Quiz": "quiz", "Final exam": "announcement", "Lab": "calendar_event"}
    assert kinds.items() >= some.items()
    one = {"context_codes[]": "course_3", "start_date": "2025-01-01"}
    assert {
        item["course_id"] for item in ask("GET", "canvas", "/api/v1/planner/items", params=one).json()
    } <= {3}
    for path in ("users/self/groups", "courses/1/groups", "courses/1/group_categories", "planner_notes"):
        assert ask("GET", "canvas", f"/api/v1/{path}").json() == []
    assert set(ask("GET", "canvas", "/api/v1/accounts/1/permissions").json().values()) == {False}
    asked = {"permissions[]": ["manage_grades", "participate_as_student", "unheard_of"]}
    found = ask("GET", "canvas", "/api/v1/courses/1/permissions", params=asked).json()
    assert found == {"manage_grades": True, "participate_as_student": False, "unheard_of": False}
    assert ask("GET", "canvas", "/api/v1/courses/999/permissions").status_code == 404
