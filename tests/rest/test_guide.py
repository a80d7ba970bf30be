"""The examples of the guide "use your own client", run as they stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import githost
import pytest
import shop
from campus import fill_campus
from rest.hosted import HostedWorld

from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.worlds.world import World

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "use-your-own-client.md"
EXAMPLES = re.findall(r"^## (.+?)(?: \(.*)?\n(?:.*?)^```python\n(.*?)^```", GUIDE.read_text(), re.S | re.M)
ME = "ada@example.org"


def fill(world: World) -> None:
    githost.fill(world)
    shop.fill_shop(world)
    fill_campus(world)
    calendar = world.store(CalendarStore)
    calendar.create_account(ME, "Ada")
    calendar.sign_in(ME)
    documents = world.store(DocumentsStore)
    documents.create_user(ME, "Ada")
    documents.sign_in(ME)


@pytest.mark.parametrize(("client", "code"), EXAMPLES, ids=[title for title, _ in EXAMPLES])
def test_the_example_works(client: str, code: str, episode_of: Callable[..., HostedWorld]) -> None:
    hosted = episode_of(["codehost", "canvas", "woocommerce", "calendar", "documents"], fill)
    script = f"url = {hosted.base!r}\nepisode = {hosted.id!r}\n{code}"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert hosted.journal()
