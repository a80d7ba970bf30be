"""The document store's own REST API, and what OpenAPI says of it and of the control plane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from later import Later
from patience import PATIENCE
from rest.hosted import TASK, HostedWorld

from mesocosm.hosting.application import Hosting
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.services.service import load_service
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

schemathesis = Later("schemathesis")
ADA, BOB = "ada@example.org", "bob@example.org"


def fill(world: World) -> None:
    store = world.store(DocumentsStore)
    store.items.create_user(ADA, "Ada")
    store.items.create_user(BOB, "Bob")
    store.sign_in(ADA)
    store.items.create_space("Library", owner=ADA, space_id="library")
    store.filling.add_documents(
        "library",
        [
            {"title": f"Paper {n}", "content": f"Text {n}, längst fertig.", "file_id": f"p%{n}"}
            for n in range(45)
        ],
    )


@pytest.fixture
def hosted(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    return episode_of(["documents"], fill)


def client(hosted: HostedWorld, token: str | None = None) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {token or hosted.id}"}
    return httpx2.Client(base_url=hosted.api("documents") + "/v1", headers=headers, timeout=PATIENCE)


def test_documents_are_walked_made_changed_and_deleted(hosted: HostedWorld) -> None:
    with client(hosted) as api:
        seen: list[str] = []
        page: int | None = 1
        while page:
            answer = api.get("/documents", params={"page": page, "per_page": 20}).json()
            seen += [document["id"] for document in answer["documents"]]
            page = answer["next_page"]
        assert len(set(seen)) == 45
        made = api.post("/documents", json={"title": "Plan", "content": "One\ntwo", "folder_id": "library"})
        assert made.status_code == 201
        path = f"/documents/{made.json()['id']}"
        assert api.get(f"{path}/content").text == "One\ntwo"
        assert api.put(f"{path}/content", json={"content": "Three"}).json()["version"] == 2
        assert api.post(f"{path}/appendix", json={"content": " four"}).status_code == 200
        part = api.get(f"{path}/content", params={"limit": 5})
        assert (part.text, part.headers["X-Next-Offset"]) == ("Three", "5")
        assert api.get(f"{path}/versions/1/content").text == "One\ntwo"
        comment = api.post(f"{path}/comments", json={"text": "Why?"}).json()
        assert api.patch(f"/comments/{comment['id']}", json={"resolved": True}).status_code == 200
        shared = api.put(f"/items/{made.json()['id']}/permissions/{BOB}", json={"role": "viewer"})
        assert shared.status_code == 200
        assert api.delete(f"/items/{made.json()['id']}").status_code == 204
        assert api.get(f"{path}/content").status_code == 404
        assert len(api.get("/trash").json()["items"]) == 1


def test_what_one_door_changes_the_other_sees(hosted: HostedWorld) -> None:
    with client(hosted) as api, hosted.tools() as tools:
        made = api.post("/documents", json={"title": "Plan", "content": "One"}).json()
        assert tools.call("documents", "read_document", file_id=made["id"]) == "One"
        tools.call("documents", "update_document", file_id=made["id"], content="Two")
        assert api.get(f"/documents/{made['id']}/content").text == "Two"
        # An identifier with a percent sign, as some tasks have them.
        assert api.get("/documents/p%253/content").text.startswith("Text 3")
    assert hosted.replay().identical


def test_refusals(hosted: HostedWorld) -> None:
    before = hosted.tables("documents")
    with client(hosted) as api:
        for answer, status in (
            (api.get("/documents/nothing"), 404),
            (api.get("/nothing"), 404),
            (api.delete("/documents"), 405),
            (api.post("/documents", json={"title": "X"}), 400),
            (api.post("/documents", content=b"{", headers={"Content-Type": "application/json"}), 400),
            (api.get("/documents", params={"per_page": "many"}), 400),
        ):
            assert (answer.status_code, answer.json()["error"]["status"]) == (status, status)
    with client(hosted, "0" * 32) as stranger:
        assert stranger.get("/me").status_code == 401
    assert hosted.tables("documents") == before


def test_an_api_is_closed_where_the_task_offers_only_some_tools(
    server: tuple[Hosting, str], tmp_path: Any
) -> None:
    with World.create(tmp_path / "world", Manifest(services={"documents": ["read_document"]})) as world:
        fill(world)
        world.finish_building()
    (tmp_path / "expected.json").write_text("{}")
    (tmp_path / "prompt.md").write_text("Read.\n")
    app, base = server
    hosted = HostedWorld(app, base, app.pool.adopt(tmp_path, TASK))
    with client(hosted) as api:
        assert api.get("/documents").status_code == 403
    assert hosted.journal() == []


def test_a_retried_write_counts_once(hosted: HostedWorld) -> None:
    with client(hosted) as api:
        answers = [
            api.post("/documents", json={"title": "Once", "content": ""}, headers={"Idempotency-Key": "k1"})
            for _ in range(2)
        ]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert len(hosted.journal()) == 1


# Of the tools, those for pictures and for files of the workspace have no place in an API over the network.
WITHOUT_A_ROUTE = {"rotate_image", "flip_image", "stretch_image", "upload_file", "download_file"}


def test_every_tool_has_a_route(hosted: HostedWorld) -> None:
    described = httpx2.get(hosted.api("documents") + "/openapi.json", timeout=PATIENCE).json()
    operations = {one["operationId"] for path in described["paths"].values() for one in path.values()}
    assert set(load_service("documents").tools) - operations == WITHOUT_A_ROUTE


# -- OpenAPI ------------------------------------------------------------------------------------------------


def never_an_internal_error(schema: Any, send: Callable[[Any], Any]) -> None:
    """Make up requests from a description, valid ones and others; none may be answered with a 5xx."""
    for found in schema.get_all_operations():
        operation = found.ok()

        @settings(max_examples=5, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
        @given(
            case=st.one_of(
                operation.as_strategy(), operation.as_strategy(schemathesis.GenerationMode.NEGATIVE)
            )
        )
        def attempt(case: Any) -> None:
            response = send(case)
            assert response.status_code < 500, (case.as_curl_command(), response.text)

        attempt()


def test_made_up_requests_to_the_documents_never_break_it(hosted: HostedWorld) -> None:
    schema = schemathesis.openapi.from_url(hosted.api("documents") + "/openapi.json")
    headers = {"Authorization": f"Bearer {hosted.id}"}
    never_an_internal_error(schema, lambda case: case.call(headers=headers))
    assert all(entry.status != "fault" for entry in hosted.journal())


def test_made_up_requests_to_the_control_plane_never_break_it(server: tuple[Hosting, str]) -> None:
    schema = schemathesis.openapi.from_url(server[1] + "/openapi.json")
    headers = {"Authorization": "Bearer admin-token-of-the-tests"}
    never_an_internal_error(schema, lambda case: case.call(headers=headers))
