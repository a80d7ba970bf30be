"""The control plane of a running server, as a program calls it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mesocosm.errors import UsageError


class ControlPlane:
    """A server that hosts episodes, and the token that opens its control plane."""

    def __init__(self, base: str, token: str) -> None:
        self.base = base.rstrip("/")
        self._token = token

    def create(
        self,
        task: str,
        length: int | None,
        seed: int,
        parameters: Mapping[str, Any],
        tools: str = "all",
        services: Sequence[str] = (),
    ) -> dict[str, Any]:
        """A new episode, with further services if any are named, as the control plane shows it."""
        body: dict[str, Any] = {"task": task, "length": length, "seed": seed, "tools": tools}
        body |= {"parameters": dict(parameters), "services": list(services)}
        created: dict[str, Any] = self._ask("POST", "/episodes", body)
        return created

    def grade(self, episode: str) -> dict[str, Any]:
        """The verdict, with the number of calls and of tokens delivered."""
        graded: dict[str, Any] = self._ask("POST", f"/episodes/{episode}/grade")
        return graded

    def journal(self, episode: str) -> Iterator[dict[str, Any]]:
        """All calls of an episode, in order."""
        after = 0
        while page := self._ask("GET", f"/episodes/{episode}/journal?after={after}")["calls"]:
            yield from page
            after = page[-1]["seq"]

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                raise UsageError(
                    f"{self.base}{path} answered {error.code}: {_detail(error.read())}"
                ) from None
        except OSError as error:
            raise UsageError(f"cannot reach {self.base}: {error}") from None


def _detail(body: bytes) -> str:
    try:
        return str(json.loads(body)["detail"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")[:500]
