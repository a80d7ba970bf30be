"""Made-up requests to Canvas's API: whatever is asked, the answer is not an internal error."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import requests
from campus import PEOPLE, fill_campus
from patience import PATIENCE
from rest.hosted import HostedWorld

from mesocosm.doors.gateway import load_api
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.services.world import World

REQUESTS = 700
WORDS = [
    "",
    "1",
    "2",
    "-1",
    "9" * 25,
    "true",
    "soon",
    "2025-01-20",
    "ä%",
    "name",
    "desc",
    "course_1",
    "user_4",
]
WORDS += [
    "active",
    "conclude",
    "delete",
    "unread",
    "student",
    "StudentEnrollment",
    "online_text_entry",
    "a" * 300,
]


def made_up(dice: random.Random, schema: dict[str, Any]) -> Any:
    """A value for a parameter, of its type in most cases."""
    if dice.random() < 0.2:
        return dice.choice([None, [], {}, "x", 5, 1.5, True, [None], [[1]], {"a": 1}])
    match schema.get("type"):
        case "object":
            known = schema.get("properties", {})
            return {name: made_up(dice, known[name]) for name in known if dice.random() < 0.6}
        case "array":
            return [made_up(dice, schema.get("items", {})) for _ in range(dice.randrange(3))]
        case "integer" | "number":
            return dice.choice([0, 1, 2, 4, -1, 10**18, 1.5])
        case "boolean":
            return dice.random() < 0.5
    return dice.choice(WORDS)


def test_made_up_requests_never_break_it(episode_of: Callable[..., HostedWorld]) -> None:
    def fill(world: World) -> None:
        fill_campus(world)
        world.store(CanvasStore).sign_in(PEOPLE["admin"])

    dice, hosted, api = random.Random(7), episode_of(["canvas"], fill), load_api("canvas")
    assert api is not None
    statuses: dict[int, int] = {}
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {hosted.id}"
        for _ in range(REQUESTS):
            route = dice.choice(api.routes)
            path = re.sub(
                r"\{[^}]*\}", lambda _: dice.choice(["1", "1", "2", "self", "4", "9" * 25]), route.template
            )
            known = route.signature.schema["properties"]
            given = {name: made_up(dice, known[name]) for name in known if dice.random() < 0.8}
            sent: dict[str, Any] = {"json": given}
            if route.method == "GET":
                sent = {"params": {name: dice.choice(WORDS) for name in given}}
            response = session.request(route.method, hosted.api("canvas") + path, timeout=PATIENCE, **sent)
            assert response.status_code < 500, (route.method, response.url, sent, response.text)
            statuses[response.status_code] = statuses.get(response.status_code, 0) + 1
    assert statuses[200] > REQUESTS / 10, statuses
    assert "fault" not in {entry.status for entry in hosted.journal()}
