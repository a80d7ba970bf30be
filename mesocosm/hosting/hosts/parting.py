"""Requests about many episodes, which are on several hosts: parted, and the answers put together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import orjson

from mesocosm.hosting.hosts.relay import HostReply
from mesocosm.hosting.views import FIRST, MAX_BATCH

Ask = Callable[[int, str, str, Mapping[str, str], bytes], Awaitable[HostReply]]
"""Host, method, path, headers, body: what the host answers."""

_DELETED_AT_ONCE = 8


def orders_in(body: bytes) -> list[dict[str, Any]] | None:
    """Split a batch into orders of episodes; ``None`` if it is invalid and a host has to say why."""
    try:
        asked = orjson.loads(body)
        if list(asked) != ["episodes"]:
            return None
        flat: list[dict[str, Any]] = []
        for order in asked["episodes"]:
            count = order.get("count", 1)
            if type(count) is not int or not 1 <= count <= MAX_BATCH:
                return None
            flat += [{name: value for name, value in order.items() if name != "count"}] * count
            if len(flat) > MAX_BATCH:
                return None
    except (orjson.JSONDecodeError, TypeError, AttributeError):
        return None
    return flat


async def create(
    ask: Ask, hosts: Sequence[int], orders: list[dict[str, Any]], headers: Mapping[str, str]
) -> HostReply:
    """Make a batch, a stretch of it on each host; where one cannot be made, those that were are removed."""
    size = -(-len(orders) // len(hosts))
    stretches = [(host, n * size, orders[n * size : (n + 1) * size]) for n, host in enumerate(hosts)]
    stretches = [stretch for stretch in stretches if stretch[2]]

    async def make(host: int, first: int, part: list[dict[str, Any]]) -> HostReply:
        asked = {**headers, FIRST.lower(): str(first)}
        return await ask(host, "POST", "/episodes/batch", asked, orjson.dumps({"episodes": part}))

    replies = await asyncio.gather(*(make(*stretch) for stretch in stretches))
    views = [orjson.loads(reply.body)["episodes"] if reply.status == 201 else [] for reply in replies]
    if failed := [reply for reply in replies if reply.status != 201]:
        made = [
            (host, view["id"]) for (host, *_), part in zip(stretches, views, strict=True) for view in part
        ]
        await _delete(ask, made, headers)
        return failed[0]
    return HostReply(
        201,
        orjson.dumps({"episodes": list(chain.from_iterable(views))}),
        {"content-type": "application/json"},
    )


def wanted_in(body: bytes) -> dict[str, Any] | None:
    """Parse a request to grade many; ``None`` if it is invalid and a host has to explain."""
    try:
        asked = orjson.loads(body)
        ids = asked["ids"]
        fine = (
            isinstance(ids, list) and 0 < len(ids) <= MAX_BATCH and all(isinstance(id_, str) for id_ in ids)
        )
    except (orjson.JSONDecodeError, TypeError, KeyError):
        return None
    return asked if fine else None


async def grade(
    ask: Ask, host_of: Callable[[str], int], asked: dict[str, Any], headers: Mapping[str, str]
) -> HostReply:
    """Judge many, each on its host; they are removed, if that is asked for, when all are judged."""
    parts: dict[int, list[str]] = {}
    for id_ in asked["ids"]:
        parts.setdefault(host_of(id_), []).append(id_)

    async def judge(host: int, ids: list[str]) -> HostReply:
        part = {**asked, "ids": ids}
        if len(parts) > 1:
            part["delete"] = False
        return await ask(host, "POST", "/grade", headers, orjson.dumps(part))

    replies = await asyncio.gather(*(judge(host, ids) for host, ids in parts.items()))
    if failed := [reply for reply in replies if reply.status != 200]:
        return failed[0]
    if len(parts) == 1:
        return replies[0]
    left = {
        host: iter(orjson.loads(reply.body)["grades"]) for host, reply in zip(parts, replies, strict=True)
    }
    grades = [next(left[host_of(id_)]) for id_ in asked["ids"]]
    if asked.get("delete") is True:
        await _delete(
            ask, [(host, id_) for host, ids in parts.items() for id_ in dict.fromkeys(ids)], headers
        )
    return HostReply(200, orjson.dumps({"grades": grades}), {"content-type": "application/json"})


async def _delete(ask: Ask, episodes: list[tuple[int, str]], headers: Mapping[str, str]) -> None:
    """Remove episodes, as whoever asked may do it; one that is gone is gone."""
    left = iter(episodes)
    known = {name: headers[name] for name in ("authorization", "host") if name in headers}

    async def work() -> None:
        for host, id_ in left:
            await ask(host, "DELETE", f"/episodes/{id_}", known, b"")

    await asyncio.gather(*(work() for _ in range(min(_DELETED_AT_ONCE, len(episodes)))))
