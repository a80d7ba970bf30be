"""JavaScript clients of the real products, pointed at an episode as they are.

They need Node and the packages of ``tests/rest/javascript/package.json``, either installed there
(``npm install --prefix tests/rest/javascript``) or in the folder named by ``MESOCOSM_NODE_MODULES``. Without
them these tests are skipped; what they found is tested without them in the other modules.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from mailbox import ADDRESS
from pathlib import Path
from typing import Any

import pytest
from campus import PEOPLE, fill_campus
from githost import fill as fill_githost
from patience import PATIENCE
from rest.conftest import EpisodeOf
from rest.mailing import MailHost, mail_host
from rest.test_calendar import fill as fill_calendar
from shop import fill_shop

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.google_sheet.store import SheetStore

HERE = Path(__file__).with_name("javascript")
MODULES = Path(os.environ.get("MESOCOSM_NODE_MODULES") or HERE / "node_modules")
pytestmark = pytest.mark.skipif(
    not (shutil.which("node") and MODULES.is_dir()),
    reason="needs Node and its packages: npm install --prefix tests/rest/javascript",
)

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("javascript")
    for name in ("clients.js", "days.js", "package.json"):
        shutil.copyfile(HERE / name, folder / name)
    (folder / "node_modules").symlink_to(MODULES)

    def run(client: str, script: str = "clients.js", **options: Any) -> Any:
        command = ["node", script, client, json.dumps(options)]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def test_octokit(run: Run, episode_of: EpisodeOf) -> None:
    hosted = episode_of(["codehost"], fill_githost)
    assert run("octokit", url=hosted.api("codehost"), token=hosted.id) == {
        "graphql": 3,
        "issues": 8,
        "raw": "# App\n",
        "downloaded": "# App\n",
        "patch": "From ",
        "approvals": 1,
        "missing": 404,
        "waited": False,
    }


def test_the_woocommerce_client(run: Run, episode_of: EpisodeOf) -> None:
    hosted = episode_of(["woocommerce"], fill_shop)
    assert run("woocommerce", url=hosted.api("woocommerce"), token=hosted.id) == {
        "listed": 2,
        "total": True,
        "price": "14.00",
        "refused": ["rest_invalid_param", ["global_unique_id"]],
        "gone": "Bench",
    }


def test_googleapis(run: Run, episode_of: EpisodeOf) -> None:
    hosted = episode_of(["calendar"], fill_calendar)
    found = run("google", url=hosted.api("calendar"), token=hosted.id)
    assert found == {"listed": 3, "summary": "New", "quick": "Tea", "bare": "id", "known": True}


def test_google_spreadsheet(run: Run, episode_of: EpisodeOf) -> None:
    def fill(world: Any) -> None:
        store = world.store(SheetStore)
        store.drive.create_account(ADDRESS, "Ada")
        store.drive.sign_in(ADDRESS)

    hosted = episode_of(["google_sheet"], fill)
    found = run("googleSpreadsheet", url=hosted.api("google_sheet"), token=hosted.id)
    assert found == {"title": "New", "sheets": 2, "left": [["Bob", "9"]]}


def test_a_day_with_a_calendar(run: Run, episode_of: EpisodeOf) -> None:
    hosted = episode_of(["calendar"], fill_calendar)
    found = run("calendar", "days.js", url=hosted.api("calendar"), token=hosted.id)
    assert found == {"cases": 43, "failed": {}}


def test_a_day_with_spreadsheets(run: Run, episode_of: EpisodeOf) -> None:
    def fill(world: Any) -> None:
        store = world.store(SheetStore)
        store.drive.create_account(ADDRESS, "Ada")
        store.drive.sign_in(ADDRESS)

    hosted = episode_of(["google_sheet"], fill)
    found = run("googleSpreadsheet", "days.js", url=hosted.api("google_sheet"), token=hosted.id)
    assert found == {"cases": 43, "failed": {}}


def test_fetch_with_forms(run: Run, episode_of: EpisodeOf) -> None:
    def fill(world: Any) -> None:
        fill_campus(world)
        world.store(CanvasStore).sign_in(PEOPLE["teacher"])
        fill_shop(world)

    hosted = episode_of(["canvas", "woocommerce"], fill)
    found = run("fetch", url=hosted.api("canvas"), token=hosted.id, shop=hosted.api("woocommerce"))
    assert found == {"assignment": "By fetch", "product": "Stool"}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailHost]:
    with mail_host(tmp_path_factory.mktemp("mail")) as host:
        yield host


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ("imapflow", {"folders": True, "subjects": 3, "flagged": True}),
        ("imap", {"subjects": 3}),
        ("nodemailer", {"accepted": [ADDRESS]}),
    ],
)
def test_mail_clients(run: Run, host: MailHost, client: str, expected: dict[str, Any]) -> None:
    world = host.episode()
    ports = {"imap": host.port("imap"), "smtp": host.port("smtp")}
    assert run(client, token=world.id, address=ADDRESS, **ports) == expected
