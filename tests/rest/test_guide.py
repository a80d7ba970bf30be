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

from mesocosm.hosting.application import Hosting
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


def test_a_shipped_task_has_a_code_host_to_try_clients_on(
    server: tuple[Hosting, str], tmp_path: Path
) -> None:
    app, base = server
    episode = app.pool.create("bug_triage", 0, 8_000, {})
    code = """
from github import Auth, Github

hub = Github(base_url=f"{url}/e/{episode}/codehost/api/v3", auth=Auth.Token(episode))
(repo,) = hub.get_user().get_repos()
assert repo.get_issues(state="all").totalCount > 5
print(repo.full_name)
"""
    script = f"url = {base!r}\nepisode = {episode!r}\n{code}"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    url = f"{base}/e/{episode}/codehost/{ran.stdout.strip()}.git".replace("://", f"://x:{episode}@")
    subprocess.run(["git", "clone", "-q", url, "app"], cwd=tmp_path, check=True, timeout=60)
    assert list((tmp_path / "app").iterdir())
