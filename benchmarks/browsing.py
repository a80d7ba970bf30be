"""Speed of the world browser's pages, for an episode whose agent read everything and did nothing.

``python benchmarks/browsing.py course_assistant 4m`` prints, for the pages of a run that failed, the seconds
that each takes when it is opened first and again, and the size of the file that ``mesocosm look`` writes.
With ``--chromium`` the pages are opened in the system's browser, from the click to the end of loading,
and what ``mesocosm view`` works out behind its address is done before.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import shutil
import tempfile
import threading
from pathlib import Path
from time import perf_counter, process_time

import httpx2
import uvicorn

from mesocosm.errors import Refusal
from mesocosm.evaluation.browser.application import Browser, ListedEntry, application
from mesocosm.evaluation.browser.export import export
from mesocosm.evaluation.runs import grade_run
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
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
        """Return what it reads."""
        try:
            return list(self._world.call(service, tool, arguments).blocks)
        except (UnknownTool, Refusal):
            return list(self._world.calls.peek(service, tool, arguments).blocks)


def main(task: str, length: str, in_browser: bool) -> None:
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
        browser = Browser([ListedEntry(folder / "run")])
        browser.pages(0)
        print(f"{'copied':<40} {process_time() - started:6.2f} s")
        if in_browser:
            in_chromium(browser)
            browser.close()
            return
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


def in_chromium(browser: Browser) -> None:
    """Open the pages in a real browser."""
    from playwright.sync_api import sync_playwright

    started = process_time()
    browser.work_out(0)
    browser.await_why(0)
    subject, _ = browser.pages(0)
    print(f"{'why it failed':<40} {process_time() - started:6.2f} s of a processor")
    config = uvicorn.Config(application(browser, "key"), port=0, log_level="error", lifespan="off")
    server, listener = uvicorn.Server(config), config.bind_socket()
    threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True).start()
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page()
        page.goto(f"{base}/?key=key")
        worlds = [f"world/now/{name}/" for name in subject.content("now").services]
        for path in (*PAGES, *worlds):
            seconds, used = [], process_time()
            for _ in range(2):
                started = perf_counter()
                page.goto(f"{base}/0/{path}", wait_until="load")
                seconds.append(perf_counter() - started)
            first, again, used = *seconds, process_time() - used
            print(
                f"/{path:<39} {first:6.2f} s, again {again:6.2f} s ({used:.2f} s of our processor); "
                f"load {os.getloadavg()[0]:.0f}",
                flush=True,
            )
    server.should_exit = True


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("task")
    parser.add_argument("length")
    parser.add_argument("--chromium", action="store_true")
    options = parser.parse_args()
    main(options.task, options.length, options.chromium)
