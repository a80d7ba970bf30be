"""Bodies of requests that are looked at before they are read: what is written in few bytes may cost seconds.

Reading JSON holds up everybody, in proportion to the values that it makes rather than to its bytes: a
megabyte of brackets takes twenty times as long as a megabyte of text.
"""

from __future__ import annotations

from starlette.types import Message, Receive, Scope

MAX_CONTAINERS = 50_000
"""Lists and objects in one call; what a product's own client sends has some hundred."""
MAX_BODY = 4 * 2**20
"""Bytes of one call, which the SDK sets."""


async def looked_at(scope: Scope, receive: Receive) -> tuple[Receive, str]:
    """The body to be read again by whoever answers, and what is wrong with it, if anything is."""
    declared = dict(scope["headers"]).get(b"content-length", b"")
    if declared.isdigit() and int(declared) < MAX_CONTAINERS:
        return receive, ""
    waiting: list[Message] = []
    size = containers = 0
    more = scope["method"] == "POST"
    while more and size <= MAX_BODY:
        message = await receive()
        waiting.append(message)
        part = message.get("body", b"")
        size += len(part)
        containers += part.count(b"[") + part.count(b"{")
        more = message.get("more_body", False)
        if containers > MAX_CONTAINERS:
            return receive, f"A call may have {MAX_CONTAINERS:,} lists and objects; this one has more."
    coming = iter(waiting)

    async def again() -> Message:
        for message in coming:
            return message
        return await receive()

    return again, ""
