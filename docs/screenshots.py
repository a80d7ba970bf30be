"""Makes the pictures of docs/guides/look-at-worlds.md and docs/gallery.md; needs Playwright and Chromium."""

from __future__ import annotations

import io
import secrets
import shutil
import tempfile
import threading
from pathlib import Path
from typing import Any

import uvicorn
from PIL import Image
from playwright.sync_api import sync_playwright

from mesocosm.evaluation.browser.application import Browser, ListedEntry, application
from mesocosm.evaluation.browser.subject import Direct
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.verdict import Misreading

FIGURES = Path(__file__).parent / "figures"
TASK, MISREAD = "course_assistant", "submitted overlooked"
OTHERS = {
    "recall_campaign": 8_000,
    "canvas_arrange_exam": 8_000,
    "bug_triage": 8_000,
    "woocommerce_stock_alert": 8_000,
    "ab_testing": 8_000,
    "gridworld": 8_000,
}
"""Worlds of the gallery before anybody acts, with their lengths; the first is entry 1."""
SHOTS: dict[str, tuple[str, Any]] = {
    "overview": ("0/", "light"),
    "mail": ("0/derivations#d1", "light"),
    "calls": ("0/calls", "dark"),
    "calendar": ("1/world/now/calendar/", "dark"),
    "shop": ("1/world/now/woocommerce/", "light"),
    "documents": ("1/world/now/documents/", "light"),
    "canvas": ("2/world/now/canvas/", "light"),
    "code": ("3/world/now/codehost/", "dark"),
    "sheet": ("4/world/now/google_sheet/", "light"),
    "warehouse": ("5/world/now/google_cloud/", "dark"),
    "grid": ("6/world/now/gridworld/", "light"),
}
"""Pages, and in which colours; of ``mail``, the message in which the first fact stands."""
FOLLOWED = {
    "canvas": ["td a >> nth=0"],
    "code": ["td a >> nth=0", "text=/^Issues/ >> nth=0"],
    "sheet": ["details a >> nth=1"],
    "documents": ["td a >> nth=1", "td a >> nth=0"],
    "warehouse": ["td a >> nth=0"],
    "shop": ["td a >> nth=0"],
}
"""Links that are followed from there, one after the other."""


def main() -> None:
    """Make an episode that misreads one message, and a world with a calendar; take the pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        family = load_family(TASK)
        built = build_instance(family, 2, folder / "instance", target=16_000)
        episode = Episode.create(folder / "run" / "episode", folder / "instance", family)
        direct = Direct(episode.world)
        for page in (1, 2, 3):
            direct.call("email", "get_emails", page=page)
        for mail in direct.call("email", "search_emails", query="presentation")["emails"]:
            direct.call("email", "read_email", email_id=mail["id"])
        [misreading] = [one for one in family.mutants if one.name == MISREAD]
        assert isinstance(misreading, Misreading)
        misreading.act(direct, built.expected)
        episode.close()
        for other, length in OTHERS.items():
            build_instance(load_family(other), 0, folder / other, target=length)
        shoot(Browser([ListedEntry(folder / "run"), *(ListedEntry(folder / other) for other in OTHERS)]))


def shoot(browser: Browser) -> None:
    """Serve the pages and take the pictures."""
    key = secrets.token_urlsafe(16)
    config = uvicorn.Config(application(browser, key), port=0, log_level="error", lifespan="off")
    server, listener = uvicorn.Server(config), config.bind_socket()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (path, scheme) in SHOTS.items():
            size: Any = {"width": 1000, "height": 620}
            view = chromium.new_page(viewport=size, color_scheme=scheme)
            view.goto(f"{base}/?key={key}")
            view.goto(f"{base}/{path}")
            if name == "mail":
                view.locator("#d1 a", has_text="").nth(1).click()
            for link in FOLLOWED.get(name, ()):
                view.locator(link).click()
            picture = Image.open(io.BytesIO(view.screenshot()))
            picture.convert("RGB").quantize(48).save(FIGURES / f"view-{name}.png", optimize=True)
        chromium.close()
    server.should_exit = True
    thread.join()
    browser.close()


if __name__ == "__main__":
    main()
