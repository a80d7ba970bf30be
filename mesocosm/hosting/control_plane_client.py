"""The control plane of a running server, as a program calls it."""

from __future__ import annotations

import json
import logging
import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from mesocosm.errors import UsageError

WAIT = "MESOCOSM_SERVER_WAIT"
"""Seconds that a server may take to come up."""


class ControlPlane:
    """A server that hosts episodes, and the token that opens its control plane."""

    def __init__(self, base: str, token: str) -> None:
        self.base = base.rstrip("/")
        self._token = token
        self._patience = _patience()

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

    def truth(self, episode: str) -> bytes:
        """What the checker knows of an episode, as JSON."""
        return json.dumps(self._ask("GET", f"/episodes/{episode}/truth")).encode()

    def journal(self, episode: str) -> Iterator[dict[str, Any]]:
        """All calls of an episode, in order."""
        after = 0
        while page := self._ask("GET", f"/episodes/{episode}/journal?after={after}")["calls"]:
            yield from page
            after = page[-1]["seq"]

    def fetch(self, episode: str, path: Path) -> None:
        """Write the archive of an episode to a file."""
        with self._answer("GET", f"/episodes/{episode}/archive") as response, path.open("wb") as file:
            shutil.copyfileobj(response, file)

    def delete(self, episode: str) -> None:
        """Remove an episode."""
        self._answer("DELETE", f"/episodes/{episode}").close()

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        with self._answer(method, path, body) as response:
            return json.load(response)

    def _answer(self, method: str, path: str, body: Any = None) -> HTTPResponse:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        self._wait()
        try:
            answer: HTTPResponse = urllib.request.urlopen(request)
            return answer
        except urllib.error.HTTPError as error:
            with error:
                raise UsageError(
                    f"{self.base}{path} answered {error.code}: {_detail(error.read())}"
                ) from None
        except OSError as error:
            raise UsageError(f"cannot reach {self.base}: {error}") from None

    def _wait(self) -> None:
        """Before the first request: until the server is there, as it may be starting beside this program."""
        deadline = monotonic() + self._patience
        told = False
        while self._patience and not self._is_up() and monotonic() < deadline:
            if not told:
                logging.getLogger("mesocosm.hosting").warning(
                    "waiting for %s, at most %g seconds", self.base, self._patience
                )
            told = True
            sleep(0.5)
        self._patience = 0.0

    def _is_up(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.base}/ready", timeout=5).close()
        except urllib.error.HTTPError as error:
            with error:
                return (
                    error.code < 500
                )  # something else than a server of Mesocosm, which the request will tell
        except (OSError, HTTPException):
            return False
        return True


def _patience() -> float:
    value = os.environ.get(WAIT) or "60"
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 86_400:
        raise UsageError(f"{WAIT} must be a number of seconds, got {value!r}")
    return seconds


def _detail(body: bytes) -> str:
    try:
        return str(json.loads(body)["detail"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")[:500]
