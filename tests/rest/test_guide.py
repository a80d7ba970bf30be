"""The examples of the guide "use your own client", run as they stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import githost
import shop
from campus import fill_campus
from patience import PATIENCE
from rest.hosted import HostedWorld

from mesocosm.families.family import load_family
from mesocosm.hosting.application import Hosting
from mesocosm.servers.calendar.store import CalendarStore
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.services.world import World

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "use-your-own-client.md"
SECTIONS = re.findall(r"^## ([^\n(]+)(.*?)(?=^## |\Z)", GUIDE.read_text(), re.S | re.M)
EXAMPLES = {
    title.strip(): code[1]
    for title, text in SECTIONS
    if (code := re.search(r"^```python\n(.*?)^```", text, re.S | re.M))
}
ME = "ada@example.org"


def fill(world: World) -> None:
    githost.fill(world)
    shop.fill_shop(world)
    fill_campus(world)
    calendar = world.store(CalendarStore)
    calendar.create_account(ME, "Ada")
    calendar.sign_in(ME)
    drive = world.store(SheetStore).drive
    drive.create_account(ME, "Ada")
    drive.sign_in(ME)
    documents = world.store(DocumentsStore)
    documents.items.create_user(ME, "Ada")
    documents.sign_in(ME)
    cloud = world.store(GoogleCloudStore)
    cloud.bigquery.datasets.create("shop")
    cloud.bigquery.tables.create("shop", "items", [{"name": "name", "type": "STRING"}])


def test_the_examples_work(episode_of: Callable[..., HostedWorld]) -> None:
    services = ["codehost", "canvas", "woocommerce", "calendar", "documents", "google_cloud", "google_sheet"]
    hosted = episode_of(services, fill)
    # One process for all, each with names of its own.
    script = f"""
for title, code in {EXAMPLES!r}.items():
    print(title, flush=True)
    exec(compile(code, title, "exec"), {{"url": {hosted.base!r}, "episode": {hosted.id!r}}})
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    used = {entry.service for entry in hosted.journal()}
    assert (len(EXAMPLES), used) == (8, set(services))


@githost.needs_git
def test_a_shipped_task_has_a_code_host_to_try_clients_on(
    server: tuple[Hosting, str], tmp_path: Path
) -> None:
    app, base = server
    episode = app.pool.create(load_family("bug_triage"), 0, 8_000, {})
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
    subprocess.run(["git", "clone", "-q", url, "app"], cwd=tmp_path, check=True, timeout=PATIENCE)
    assert list((tmp_path / "app").iterdir())
