"""Do clients lose requests on connections that rested? ``python benchmarks/resting_connections.py``

Many clients of httpx, which keeps a connection that rests for 5 seconds, ask again after about as long, while
others keep the server busy. Prints how many requests broke where the server closes connections after as many
seconds, and where it keeps them as it does.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import httpx2

from mesocosm.doors.connections import IDLE
from mesocosm.hosting import server
from mesocosm.hosting.application import Hosting

CLIENTS, ROUNDS = 200, 6


async def _client(base: str, seed: int) -> int:
    rng, broken = random.Random(seed), 0
    async with httpx2.AsyncClient(base_url=base, timeout=60) as client:
        for _ in range(ROUNDS):
            try:
                (await client.get("/health")).raise_for_status()
            except httpx2.TransportError:
                broken += 1
            await asyncio.sleep(4.9 + 0.2 * rng.random())
    return broken


async def _busy(base: str) -> None:
    async with httpx2.AsyncClient(base_url=base, timeout=60) as client:
        while True:
            await asyncio.gather(*(client.get("/openapi.json") for _ in range(8)))


async def _all(base: str) -> int:
    busy = asyncio.create_task(_busy(base))
    broken = await asyncio.gather(*(_client(base, seed) for seed in range(CLIENTS)))
    busy.cancel()
    with suppress(asyncio.CancelledError):
        await busy
    return sum(broken)


def _broken(keep: int) -> int:
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(server, "IDLE", keep),
        server.serving(Hosting(Path(folder), admin_token="token")) as base,
    ):
        return asyncio.run(_all(base))


if __name__ == "__main__":
    for seconds in (5, int(IDLE)):
        print(f"kept for {seconds} s: {_broken(seconds)} of {CLIENTS * ROUNDS} requests broke", flush=True)
