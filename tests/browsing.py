"""Pages of the world browser, got over HTTP through the real application."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import httpx2

from mesocosm.evaluation.browser.application import Browser, ListedEntry, application

Get = Callable[..., str]
_LINK = re.compile(r'<a [^>]*?href="(/\d+/[^"#]*)')


@contextmanager
def asking(*paths: Path, **options: Any) -> Iterator[Get]:
    """Get pages through the application."""
    browser = Browser([ListedEntry(path) for path in paths], **options)
    app = application(browser, "key")

    def get(
        path: str, status: int = 200, *, data: Any = None, cookie: str = "key", host: str = "localhost"
    ) -> str:
        async def ask() -> str:
            async with httpx2.AsyncClient(
                transport=httpx2.ASGITransport(app=app),
                base_url=f"http://{host}",
                cookies={"mesocosm_key": cookie},
            ) as client:
                answer = await (client.get(path) if data is None else client.post(path, data=data))
            assert answer.status_code == status, answer.text[-500:]
            assert "script-src 'self'" in answer.headers["content-security-policy"]
            return answer.headers["location"] if status == 303 else answer.text

        return asyncio.run(ask())

    try:
        yield get
    finally:
        browser.close()


def links_of(get: Get, first: str = "/0/", most: int = 40) -> dict[str, str]:
    """Pages by following links."""
    waiting, pages = [first], {}
    for path in waiting:
        if len(pages) == most:
            break
        pages[path] = get(path)
        waiting += [link for link in map(unescape, _LINK.findall(pages[path])) if link not in waiting]
    return pages


def text_of(html: str) -> str:
    """The text of a page."""
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html)))
