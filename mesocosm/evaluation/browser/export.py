"""The pages of a subject in one file that needs nothing else: no server, no network."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
import secrets
from collections.abc import Callable, Sequence
from html import unescape
from importlib import resources
from pathlib import Path
from urllib.parse import urldefrag

import httpx2
import orjson

from mesocosm.errors import UsageError
from mesocosm.evaluation.browser.application import Browser, ListedEntry, application
from mesocosm.evaluation.report.rows import Sample
from mesocosm.evaluation.report.tables import place
from mesocosm.families.workers.workers import Workers
from mesocosm.worlds.workspace import replace_file

PAGES = 5_000
"""Pages of a file, unless told otherwise: those come first that fewer links lead to from the first page."""
_LINK = re.compile(r'<a [^>]*?href="(/[^"]*)"')
_BODY = re.compile(r"<body>(.*)</body>", re.DOTALL)
_LEFT_OUT = re.compile(r"^/(?!0/)|/(?:search|ask|tools)(?:\?|$)|[?&]on=|/world/built/")
"""Pages that need a server, calendars without end, and the world as it was built."""


def export(
    path: Path, *, answers: bool = True, most: int = PAGES, report: Callable[[str], None] = lambda _: None
) -> bytes:
    """One HTML file with the pages of what lies at a path."""
    browser = Browser([ListedEntry(path)], answers=answers, frozen=True)
    try:
        browser.pages(0)  # where it cannot be opened, that is said
        return _file(asyncio.run(_pages(browser, most, report)))
    finally:
        browser.close()


async def _pages(browser: Browser, most: int, report: Callable[[str], None]) -> dict[str, str]:
    """The pages by their paths, found by following the links as a reader would."""
    key = secrets.token_urlsafe(16)
    transport = httpx2.ASGITransport(app=application(browser, key))
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://localhost", cookies={"mesocosm_key": key}
    ) as client:
        waiting, seen = ["/0/"], {"/0/"}
        pages: dict[str, str] = {}
        for path in waiting:
            if len(pages) >= most:
                break
            if len(pages) % 100 == 99:
                report(f"page {len(pages) + 1}")
            answer = await client.get(path)
            if answer.status_code != 200:
                continue
            pages[path] = _body(answer.text)
            for link in _LINK.findall(answer.text):
                target = urldefrag(unescape(link)).url
                if target not in seen and not _LEFT_OUT.search(target):
                    seen.add(target)
                    waiting.append(target)
        return pages


def _body(html: str) -> str:
    found = _BODY.search(html)
    assert found, "every page has a body"
    return found[1]


def _file(pages: dict[str, str]) -> bytes:
    """The file. The pages are data there, of which no character can end the element that holds them."""
    data = orjson.dumps(pages).decode().replace("<", "\\u003c")
    style = _static("browser.css")
    scripts = [_static("browser.js"), _static("offline.js")]
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; "
        f"script-src {' '.join(map(_hash, scripts))}; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><title>Mesocosm</title>'
        f'<link rel="icon" href="data:,"><style>{style}</style></head><body><div id="shell"></div>'
        f'<script type="application/json" id="pages">{data}</script>'
        f"{''.join(f'<script>{script}</script>' for script in scripts)}</body></html>\n"
    ).encode("utf-8", "replace")


def _static(name: str) -> str:
    return resources.files("mesocosm.evaluation.browser").joinpath("static", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


# -- beside a report ------------------------------------------------------------------------------------

_BESIDE = 300
"""Pages of each file beside a report: the run, and what its overview leads to."""


def write_files(
    samples: Sequence[Sample], folder: Path, most: int, workers: Workers, report: Callable[[str], None]
) -> dict[str, str]:
    """Files of the first failed samples whose episodes are kept, in ``episodes`` of a report's folder.

    Returns each file's path in the report's folder, by the folder of its episode.
    """
    failed = [sample for sample in samples if sample.verdict == "failed"]
    kept = [run for run in map(place, failed) if run and (Path(run) / "episode").is_dir()][:most]
    found: dict[str, str] = {}
    for number, (run, html) in enumerate(zip(kept, workers.reading(_exported, map(Path, kept)), strict=True)):
        report(f"looking into failed episodes: {number + 1} of {len(kept)}")
        if html is None:
            continue
        (folder / "episodes").mkdir(parents=True, exist_ok=True)
        found[run] = f"episodes/{number + 1}.html"
        replace_file(folder / found[run], html)
    return found


def _exported(run: Path) -> bytes | None:
    try:
        return export(run, most=_BESIDE)
    except UsageError:  # its task is gone, or another version's
        return None
