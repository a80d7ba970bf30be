"""Quotas: how many episodes the holders of a token have, how fast they make them, what these take on disk.

Requests that make or remove episodes pass through here on their way, in the one process or at the door. What
was made is written down in the state directory, so that it is known after a restart.
"""

from __future__ import annotations

import math
import os
import sqlite3
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread
import orjson
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mesocosm.hosting.hosts import parting
from mesocosm.hosting.hosts.relay import MAX_BODY, HostReply
from mesocosm.hosting.metrics import Metrics
from mesocosm.hosting.pool import folder_of
from mesocosm.hosting.tokens import Keys, Quota

_MEASURED_EVERY = 10.0
"""Seconds for which it is believed what episodes take on disk."""
_WAIT = 10
"""Seconds after which it is worth asking whether others were deleted."""
_KEYS = 10_000


@dataclass(frozen=True)
class QuotaRequest:
    """A request of the control plane."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in small letters."""
    body: bytes


Act = Callable[[], Awaitable[HostReply]]
"""Answers a request."""


class _Exceeded(Exception):
    """A quota does not allow it now, or ever (``seconds`` is ``None`` then)."""

    def __init__(self, limit: str, text: str, seconds: float | None) -> None:
        super().__init__(text)
        self.limit, self.seconds = limit, seconds


class Quotas:
    """Quotas of tokens: use so far, and what is left.

    Args:
        state: The state directory.
        keys: Which token a request bears.
        quotas: Those of the tokens that have one.
        metrics: Where it is counted.
        prune: Whether an episode without a folder there is gone, so that it counts no more.
    """

    def __init__(
        self, state: Path, keys: Keys, quotas: Iterable[Quota], metrics: Metrics, *, prune: bool
    ) -> None:
        self._keys = keys
        self._quotas = {quota.name: quota for quota in quotas}
        self._prune = prune
        self._episodes = state / "episodes"
        state.mkdir(parents=True, exist_ok=True)
        self._ledger = sqlite3.connect(state / "quotas.db", isolation_level=None, check_same_thread=False)
        self._ledger.executescript(_TABLES)
        self._underway: Counter[str] = Counter()
        """Episodes that are being made."""
        self._answered: OrderedDict[tuple[str, str], None] = OrderedDict()
        """Tokens' names and keys under which episodes were made: the same request is no further one."""
        self._measured: dict[str, float] = {}
        self._created = metrics.counter_of("mesocosm_token_created", "Episodes made", ["token"])
        self._refused = metrics.counter_of(
            "mesocosm_token_refused", "Requests above a quota", ["token", "limit"]
        )
        metrics.gauge_of("mesocosm_token_episodes", "Episodes there are", "token", self._counts)

    def take(self, quotas: Iterable[Quota]) -> None:
        """From now on these hold."""
        self._quotas = {quota.name: quota for quota in quotas}

    def _counts(self) -> dict[str, int]:
        found = self._ledger.execute("SELECT token, count(*) FROM episodes GROUP BY token")
        return {**dict.fromkeys(self._quotas, 0), **dict(found)}

    @staticmethod
    def concern(method: str, path: str) -> bool:
        """True if a request makes or removes episodes."""
        if method == "DELETE":
            return path.startswith("/episodes/")
        made = path in ("/episodes", "/episodes/batch", "/grade") or path.endswith("/fork")
        return method == "POST" and made and not path.startswith("/e/")

    async def answer(self, asked: QuotaRequest, act: Act) -> HostReply:
        """Return the reply of ``act`` if the quota allows it, else the refusal."""
        holder = self._keys.holder(asked.headers.get("authorization"))
        if holder is None:
            return await act()
        if asked.method == "DELETE":
            reply = await act()
            if reply.status in (204, 404):
                self._gone([asked.path.removeprefix("/episodes/")])
            return reply
        if asked.path == "/grade":
            reply = await act()
            order = parting.wanted_in(asked.body)
            if reply.status == 200 and order and order.get("delete") is True:
                self._gone(order["ids"])
            return reply
        return await self._make(holder, asked, act)

    async def _make(self, holder: str, asked: QuotaRequest, act: Act) -> HostReply:
        count = 1
        if asked.path == "/episodes/batch":
            count = len(parting.orders_in(asked.body) or [])
        key = asked.headers.get("idempotency-key")
        repeated = key is not None and (holder, key) in self._answered
        quota = None if repeated or not count else self._quotas.get(holder)
        try:
            if quota is not None:
                await self._measure(quota)
                self._take(quota, count)
        except _Exceeded as refused:
            self._refused(holder, refused.limit)
            return _refusal(refused)
        self._underway[holder] += count
        made: list[str] = []
        try:
            reply = await act()
            if reply.status == 201:
                said = orjson.loads(reply.body)
                made = [view["id"] for view in said.get("episodes", [said])]
        finally:
            self._underway[holder] -= count
            if quota is not None and not made:
                self._give_back(quota, count)
        if made and not repeated:
            self._made(holder, made)
            self._remember(holder, key)
        return reply

    def _remember(self, holder: str, key: str | None) -> None:
        if key is not None:
            self._answered[holder, key] = None
        while len(self._answered) > _KEYS:
            self._answered.popitem(last=False)

    # -- what is allowed --------------------------------------------------------------------------------

    def _take(self, quota: Quota, count: int) -> None:
        """Reserve ``count`` creations, or raise ``_Exceeded``."""
        if quota.episodes is not None:
            there = self._number(quota.name) + self._underway[quota.name]
            if there + count > quota.episodes and self._prune:
                there = self._forget_missing(quota.name) + self._underway[quota.name]
            if there + count > quota.episodes:
                text = f"{quota.episodes:,} episodes at a time; there are {there:,}"
                raise _Exceeded("episodes", text, _WAIT if count <= quota.episodes else None)
        if quota.bytes is not None and (taken := self._bytes(quota.name)) >= quota.bytes:
            text = f"{quota.bytes.human_readable()} on disk; they take {taken:,} bytes"
            raise _Exceeded("bytes", text, _WAIT)
        if (rate := quota.creations) is not None:
            level = self._level(quota)
            if count > level:
                wait = (count - level) * rate.seconds / rate.count if count <= rate.count else None
                raise _Exceeded("creations", f"{rate} new episodes", wait)
            self._set_level(quota, level - count)

    def _give_back(self, quota: Quota, count: int) -> None:
        if quota.creations is not None:
            self._set_level(quota, min(self._level(quota) + count, quota.creations.count))

    def _level(self, quota: Quota) -> float:
        """Return how many episodes may be made now: the rate's maximum, minus recent ones, which are restored
        evenly.
        """
        assert quota.creations
        most, now = quota.creations.count, time.time()  # noqa: TID251 - of the server, in no world
        row = self._ledger.execute("SELECT level, at FROM rates WHERE token = ?", (quota.name,)).fetchone()
        if row is None:
            return most
        return float(min(most, row[0] + max(now - row[1], 0) * most / quota.creations.seconds))

    def _set_level(self, quota: Quota, level: float) -> None:
        now = time.time()  # noqa: TID251 - of the server, in no world
        self._ledger.execute("INSERT OR REPLACE INTO rates VALUES (?, ?, ?)", (quota.name, level, now))

    # -- what there is ----------------------------------------------------------------------------------

    def _number(self, token: str) -> int:
        found = self._ledger.execute("SELECT count(*) FROM episodes WHERE token = ?", (token,))
        return int(found.fetchone()[0])

    def _bytes(self, token: str) -> int:
        found = self._ledger.execute("SELECT total(bytes) FROM episodes WHERE token = ?", (token,))
        return int(found.fetchone()[0])

    def _made(self, token: str, ids: list[str]) -> None:
        rows = [(folder_of(id_), token) for id_ in ids]
        self._ledger.executemany("INSERT OR IGNORE INTO episodes VALUES (?, ?, 0)", rows)
        self._measured.pop(token, None)
        self._created(token, number=len(ids))

    def _gone(self, ids: list[str]) -> None:
        rows = [(folder_of(id_),) for id_ in ids]
        self._ledger.executemany("DELETE FROM episodes WHERE name = ?", rows)

    def _names(self, token: str) -> list[str]:
        return [
            name for (name,) in self._ledger.execute("SELECT name FROM episodes WHERE token = ?", (token,))
        ]

    def _forget_missing(self, token: str) -> int:
        """Forget episodes that were removed by others; return how many are left."""
        missing = [(name,) for name in self._names(token) if not (self._episodes / name).is_dir()]
        self._ledger.executemany("DELETE FROM episodes WHERE name = ?", missing)
        return self._number(token)

    async def _measure(self, quota: Quota) -> None:
        """Look what the episodes of a token take on disk, unless that was done just now."""
        now = time.monotonic()
        if quota.bytes is None or now - self._measured.get(quota.name, -math.inf) < _MEASURED_EVERY:
            return
        names = self._names(quota.name)
        sizes = await anyio.to_thread.run_sync(
            lambda: [(_size(self._episodes / name), name) for name in names]
        )
        self._ledger.executemany("UPDATE episodes SET bytes = ? WHERE name = ?", sizes)
        self._measured[quota.name] = now


_TABLES = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS episodes (name TEXT PRIMARY KEY, token TEXT NOT NULL, bytes INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS episodes_of ON episodes (token);
CREATE TABLE IF NOT EXISTS rates (token TEXT PRIMARY KEY, level REAL NOT NULL, at REAL NOT NULL);
"""


async def answer_within(quotas: Quotas, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request of an application's if a quota allows it."""
    asked = Request(scope, receive)
    body, size = [], 0
    async for piece in asked.stream():
        body.append(piece)
        if (size := size + len(piece)) > MAX_BODY:
            await _send(HostReply.refusal(413, f"a request like this has at most {MAX_BODY:,} bytes"), send)
            return
    whole = b"".join(body)

    async def again() -> Message:
        return {"type": "http.request", "body": whole, "more_body": False}

    async def act() -> HostReply:
        status, headers, said = 500, {}, []

        async def keep(message: Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = {
                    name.decode("latin-1"): text.decode("latin-1") for name, text in message["headers"]
                }
            else:
                said.append(message.get("body", b""))

        await app(scope, again, keep)
        headers.pop("content-length", None)
        return HostReply(status, b"".join(said), headers)

    reply = await quotas.answer(QuotaRequest(scope["method"], scope["path"], asked.headers, whole), act)
    await _send(reply, send)


async def _send(reply: HostReply, send: Send) -> None:
    headers = {**reply.headers, "content-length": str(len(reply.body))}
    raw = [(name.encode("latin-1"), text.encode("latin-1")) for name, text in headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": raw})
    await send({"type": "http.response.body", "body": reply.body})


def _size(folder: Path) -> int:
    """Add up the sizes of files below a folder, skipping those that vanish."""
    total = 0
    # By descriptors: paths of agents may be longer than any path may be.
    for _, _, files, opened in os.fwalk(folder):
        for name in files:
            try:
                total += os.stat(name, dir_fd=opened, follow_symlinks=False).st_size
            except FileNotFoundError:
                continue
    return total


def _refusal(refused: _Exceeded) -> HostReply:
    text = f"the quota of this token is {refused}"
    if refused.seconds is None:
        return HostReply.refusal(400, f"{text}, so these are too many for one request")
    headers = {"retry-after": str(max(1, math.ceil(refused.seconds)))}
    return HostReply.refusal(429, text, **headers)
