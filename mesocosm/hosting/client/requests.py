"""Requests of the client, as steps that the asynchronous and the blocking client share."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mesocosm.hosting.client.exchange import (
    CallFailed,
    ClientRequest,
    Exchange,
    HttpAnswer,
    ServerAddress,
    ServerFault,
    Steps,
    UnknownEpisode,
)
from mesocosm.hosting.client.shapes import Grade, Options, Order, Result, Reward, ToolInfo, View

_REVISION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _REVISION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_SERVICE = "io.mesocosm/service"
_TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_INTERNAL_ERROR = -32603


class Plane:
    """A server: its control plane, and the endpoints of its episodes."""

    def __init__(self, address: ServerAddress) -> None:
        self.address = address
        self._exchange = Exchange(address)
        self._name = secrets.token_hex(8)
        self._numbers = count()

    def key(self) -> dict[str, str]:
        """A header under which something is done once, however often it is sent."""
        return {"Idempotency-Key": f"{self._name}-{next(self._numbers)}"}

    def ask(self, method: str, path: str, body: Any = None, *, once: bool = False) -> Steps[Any]:
        """Ask the control plane and decode the answer."""
        answer = yield from self._exchange.success(self._request(method, path, body, once=once))
        return json.loads(answer.body)

    def _request(
        self, method: str, path: str, body: Any = None, *, once: bool = False, into: Path | None = None
    ) -> ClientRequest:
        headers = {"Authorization": f"Bearer {self.address.token}", **(self.key() if once else {})}
        if body is not None:
            headers["Content-Type"] = "application/json"
        return ClientRequest(method, path, None if body is None else json.dumps(body).encode(), headers, into)

    def tasks(self) -> Steps[list[str]]:
        """Names of the tasks that there are."""
        found: list[str] = yield from self.ask("GET", "/tasks")
        return found

    def drain(self, on: bool | None = True, within: float = 600) -> Steps[dict[str, Any]]:
        """Start draining (``False``: stop; ``None``: only look), and report what still runs: ``requests`` in
        progress, and ``active`` episodes, used within ``within`` seconds.
        """
        method = {True: "POST", False: "DELETE", None: "GET"}[on]
        found: dict[str, Any] = yield from self.ask(method, f"/drain?within={within:g}")
        return found

    def create(self, task: str, options: Options) -> Steps[EpisodeSteps]:
        """A new episode."""
        made = yield from self.ask("POST", "/episodes", {"task": task, **options}, once=True)
        return EpisodeSteps(self, View(made))

    def find(self, id_: str) -> Steps[EpisodeSteps]:
        """An episode that is there already."""
        return EpisodeSteps(self, View((yield from self.ask("GET", f"/episodes/{quote(id_, safe='')}"))))

    def create_batch(self, orders: Iterable[Order]) -> Steps[list[EpisodeSteps]]:
        """New episodes, in the order of the orders."""
        body = {"episodes": [dict(order) for order in orders]}
        made = yield from self.ask("POST", "/episodes/batch", body, once=True)
        return [EpisodeSteps(self, View(one)) for one in made["episodes"]]

    def grade_batch(
        self, ids: Iterable[str], reward: Reward, *, strict: bool, delete: bool
    ) -> Steps[list[Grade]]:
        """The judgements of several episodes, in the order of the ids."""
        body = {"ids": list(ids), "reward": reward, "strict": strict, "delete": delete}
        # Deleted with the first try, they cannot be judged again.
        graded = yield from self.ask("POST", "/grade", body, once=True)
        return [Grade(one) for one in graded["grades"]]


class EpisodeSteps:
    """Requests about one episode."""

    def __init__(self, plane: Plane, view: View) -> None:
        self.plane = plane
        self.view = view

    @property
    def id(self) -> str:
        """The episode's id, which gives access to it."""
        return self.view.id

    def _ask(self, method: str, path: str, body: Any = None, *, once: bool = False) -> Steps[Any]:
        return (yield from self.plane.ask(method, f"/episodes/{self.id}{path}", body, once=once))

    def look(self) -> Steps[View]:
        """The episode as it is now, which ``view`` shows from then on."""
        self.view = View((yield from self._ask("GET", "")))
        return self.view

    def reset(self) -> Steps[View]:
        """Bring the world back to how it was built."""
        self.view = View((yield from self._ask("POST", "/reset")))
        return self.view

    def snapshot(self, name: str) -> Steps[View]:
        """Keep the present state under a name that is free."""
        self.view = View((yield from self._ask("POST", "/snapshots", {"name": name}, once=True)))
        return self.view

    def restore(self, name: str) -> Steps[View]:
        """Bring the world back to a snapshot."""
        self.view = View((yield from self._ask("POST", "/restore", {"name": name})))
        return self.view

    def rollback(self, step: int) -> Steps[View]:
        """Bring the world back to how it was when the call of that number in the journal had been answered
        (0: to how it was built); later calls are forgotten."""
        self.view = View((yield from self._ask("POST", "/rollback", {"step": step})))
        return self.view

    def fork(self) -> Steps[EpisodeSteps]:
        """A new episode that goes on from this one's present state."""
        return EpisodeSteps(self.plane, View((yield from self._ask("POST", "/fork", once=True))))

    def grade(self, reward: Reward = "verdict", *, strict: bool = False) -> Steps[Grade]:
        """Judge the present state. ``strict``: reward 0 instead of ``None`` where it is errored."""
        path = f"/grade?reward={reward}&strict={str(strict).lower()}"
        return Grade((yield from self._ask("POST", path)))

    def delete(self) -> Steps[None]:
        """Remove it with all that belongs to it."""
        request = self.plane._request("DELETE", f"/episodes/{self.id}")
        answer, tries = yield from self.plane._exchange.answer(request)
        # Gone with a try whose answer was lost.
        if not (answer.is_success or (tries and answer.status == 404)):
            raise self.plane._exchange.failure(request, answer)

    def journal(self) -> Steps[list[dict[str, Any]]]:
        """All calls that were made, in order."""
        calls: list[dict[str, Any]] = []
        while page := (yield from self._ask("GET", f"/journal?after={calls[-1]['seq'] if calls else 0}"))[
            "calls"
        ]:
            calls += page
        return calls

    def truth(self) -> Steps[dict[str, Any]]:
        """Return what the checker knows. For reference agents; never show it to one that learns."""
        known: dict[str, Any] = yield from self._ask("GET", "/truth")
        return known

    def archive(self, path: Path) -> Steps[None]:
        """Write the whole episode to a file, a tar with gzip."""
        request = self.plane._request("GET", f"/episodes/{self.id}/archive", into=path)
        yield from self.plane._exchange.success(request)

    # -- what the agent does --------------------------------------------------------------------------------

    def tools(self) -> Steps[list[ToolInfo]]:
        """The tools of all its services."""
        listed = yield from self._rpc(None, "tools/list", {}, {})
        return [
            ToolInfo(
                one["name"],
                one.get("description") or "",
                one["inputSchema"],
                (one.get("_meta") or {}).get(_SERVICE),
            )
            for one in listed["tools"]
        ]

    def act(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, service: str | None = None
    ) -> Steps[Result]:
        """Call a tool by its name in the endpoint of all services, or in that of one. What is refused is a
        result, too, as an agent reads it."""
        if not _TOOL_NAME.fullmatch(tool):
            return _error(f"Unknown tool: {tool}")
        headers = {"Mcp-Name": tool, **self.plane.key()}
        params = {"name": tool, "arguments": dict(arguments or {})}
        answer = yield from self._rpc(service, "tools/call", params, headers)
        if isinstance(answer, str):
            return _error(answer)
        return Result(tuple(answer["content"]), bool(answer.get("isError")))

    def call(self, service: str, tool: str, /, **arguments: Any) -> Steps[Any]:
        """Call a tool of a service. Returns the result's first text: decoded where it is JSON, else the text.

        Raises ``CallFailed`` where it is refused.
        """
        result = yield from self.act(tool, arguments, service=service)
        if result.is_error:
            raise CallFailed(result.text)
        return result.value

    def _rpc(
        self, service: str | None, method: str, params: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Steps[Any]:
        """The result of a request of MCP; the message where the request is declined as such."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": _META}}
        path = f"/e/{self.id}/{service}/mcp" if service else f"/e/{self.id}/mcp"
        request = ClientRequest(
            "POST",
            path,
            json.dumps(body).encode(),
            {
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": _REVISION,
                "Mcp-Method": method,
                **headers,
            },
        )
        answer, _ = yield from self.plane._exchange.answer(request)
        message = _message(answer)
        if "result" in message:
            return message["result"]
        error = message.get("error") or {}
        text = str(error.get("message") or answer.detail)
        if answer.status == 404 and text == "unknown episode":
            raise UnknownEpisode(f"{self.plane.address.base} has no episode {self.id}", 404)
        if error.get("code") == _INTERNAL_ERROR:
            raise ServerFault(text, answer.status)
        if not error or answer.status in (409, 503):  # of another version, or not now: no answer of a tool
            raise self.plane._exchange.failure(request, answer)
        return text


class Handle:
    """An episode as a program holds it."""

    def __init__(self, steps: EpisodeSteps) -> None:
        self._steps = steps

    @property
    def view(self) -> View:
        """The episode as the control plane showed it last."""
        return self._steps.view

    @property
    def id(self) -> str:
        """Id of the episode. It gives access to its tools, and nothing else."""
        return self._steps.id

    @property
    def prompt(self) -> str:
        """The task's prompt."""
        return self.view.prompt

    @property
    def url(self) -> str:
        """The MCP endpoint with the tools of all its services, for any MCP client."""
        return self._steps.plane.address.base + str(self.view.data["mcp"])


def _message(answer: HttpAnswer) -> dict[str, Any]:
    """The JSON-RPC message of an answer, which may be the last event of a stream; nothing if it has none."""
    body = answer.body
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        body = [line[5:] for line in body.splitlines() if line.startswith(b"data:") and line[5:].strip()][-1]
    try:
        message = json.loads(body)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _error(text: str) -> Result:
    return Result(({"type": "text", "text": text},), True)
