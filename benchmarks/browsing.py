"""How long pages of the world browser take: of an episode whose agent read everything and did nothing.

``python benchmarks/browsing.py course_assistant 4m`` prints, for the pages of a run that failed, the seconds
that each takes when it is opened first and again, and the size of the file that ``mesocosm look`` writes.
"""

from __future__ import annotations

import asyncio
import resource
import sys
import tempfile
from pathlib import Path
from time import process_time

import httpx2

from mesocosm.errors import Refusal
from mesocosm.evaluation.browser.application import Browser, Entry, application
from mesocosm.evaluation.browser.exporting import export
from mesocosm.evaluation.runs import grade_run
from mesocosm.families.building import build_instance
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.quantities import parse_length
from mesocosm.services.calling import Tools
from mesocosm.services.service import Image, UnknownTool
from mesocosm.services.world import World

PAGES = (
    "",
    "calls",
    "calls/1",
    "evidence",
    "derivations",
    "people",
    "events",
    "changes",
    "search?q=monday",
    "tools",
)
_EXPORTED = 300_000
"""Tokens of a world up to which the file is written, too."""


class Reading(Tools):
    """Makes the calls of the survey as an agent would, where they are offered."""

    def __init__(self, world: World) -> None:
        self._world = world

    def look(self, service: str, tool: str, arguments: dict[str, object]) -> list[str | Image]:
        """What it reads."""
        try:
            return list(self._world.call(service, tool, arguments).blocks)
        except (UnknownTool, Refusal):
            return list(self._world.calls.peek(service, tool, arguments).blocks)


def main(task: str, length: str) -> None:
    """Build, read, and open every page twice."""
    family = load_family(task)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        built = build_instance(family, 0, folder / "instance", target=parse_length(length))
        episode = Episode.create(folder / "run" / "episode", folder / "instance", family)
        family.survey(Reading(episode.world), built.expected)
        print(f"{task} at {length}: {episode.world.journal.last} calls")
        result = grade_run(episode, agent="reading")
        (folder / "run" / "run.json").write_text(result.model_dump_json())
        episode.close()
        started = process_time()
        browser = Browser([Entry(folder / "run")])
        browser.pages(0)
        print(f"{'copied':<40} {process_time() - started:6.2f} s")
        asyncio.run(timed(browser))
        browser.close()
        if built.survey.tokens < _EXPORTED:
            started = process_time()
            data = export(folder / "run")
            print(f"{'one file':<40} {process_time() - started:6.2f} s, {len(data) / 1e6:.1f} MB")
    print(f"largest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


async def timed(browser: Browser) -> None:
    """Open the pages."""
    transport = httpx2.ASGITransport(app=application(browser, "key"))
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://localhost", cookies={"mesocosm_key": "key"}
    ) as client:
        subject, _ = browser.pages(0)
        for path in (*PAGES, *(f"world/now/{name}/" for name in subject.content("now").services)):
            seconds = []
            for _ in range(2):
                started = process_time()
                answer = await client.get(f"/0/{path}")
                seconds.append(process_time() - started)
                assert answer.status_code == 200, answer.text
            first, again, size = *seconds, len(answer.content) / 1e3
            print(f"/{path:<39} {first:6.2f} s, again {again:6.2f} s, {size:6.0f} kB")


if __name__ == "__main__":
    main(*sys.argv[1:])
