"""Google's own clients in JavaScript, a day's work of each; see ``javascript/google_cloud.js``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from rest.hosted import HostedWorld

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.services.world import World

HERE = Path(__file__).parent
MODULES = Path(
    os.environ.get("MESOCOSM_NODE_MODULES") or HERE.parent / "rest" / "javascript" / "node_modules"
)
pytestmark = pytest.mark.skipif(
    not (shutil.which("node") and (MODULES / "@google-cloud" / "storage").is_dir()),
    reason="needs Node and its packages: npm install --prefix tests/rest/javascript",
)
Told = dict[str, Any]

BIGQUERY = {
    "datasets": ["shop"],
    "create a table": "js",
    "insert": "bigquery#tableDataInsertAllResponse",
    "insert what does not fit": "PartialFailureError",
    "query": [
        {"id": 1, "name": "a", "at": {"value": "2025-01-01T00:00:00.000Z"}, "n": "1.5"},
        {"id": 2, "name": None, "at": None, "n": None},
    ],
    "named parameters": [{"a": 1, "b": "x", "c": [1, 2], "x": 1.5}],
    "parameters by place": [{"a": 1, "b": "x"}],
    "a parameter that is null": [{"a": True}],
    "a date as parameter": [{"d": {"value": "2025-01-02"}}],
    "types": [
        {
            "a": [1, 2],
            "s": {"x": 1, "y": [{"z": "q"}]},
            "d": {"value": "2025-01-01"},
            "t": {"value": "01:02:03"},
            "n": "1.5",
            "f": True,
            "z": None,
        }
    ],
    "whole numbers beyond 2**53": "9007199254740993",
    "a job": [[{"a": 1}], "DONE"],
    "a dry run": True,
    "a destination": [{"a": 1}],
    "a stream of rows": [{"id": 1}, {"id": 2}],
    "load CSV": "DONE",
    "load JSON": "DONE",
    "write to a stream": "DONE",
    "rows page by page": 1,
    "metadata": ["INTEGER", "STRING", "TIMESTAMP", "NUMERIC"],
    "change a description": "x",
    "exists": [True, False, False],
    "copy": "DONE",
    "create a view": "seen",
    "create and delete a dataset": "more",
    "jobs": 2,
    "what is wrong": [400, "Unrecognized name: nope at [1:8]"],
    "delete": False,
}
STORAGE = {
    "create a bucket": "js-bucket",
    "buckets": ["js-bucket"],
    "save": "hello",
    "save in one request": ["text/plain", {"k": "v"}, "5"],
    "save in pieces": True,
    "upload": "up/x.csv",
    "a write stream": "abc",
    "a read stream": "hello",
    "some of the bytes": "ell",
    "only if it is new": 412,
    "exists": [True, False, False],
    "files by prefix": ["up/x.csv"],
    "folders": ["dir/", "up/"],
    "change metadata": "no-cache",
    "copy": "copy.txt",
    "move": "moved.txt",
    "combine": "helloabc",
    "save for all to read": "saved",
    "labels": {"a": "b"},
    "cors": [{"maxAgeSeconds": 3600, "method": ["GET"], "origin": ["*"]}],
    "lifecycle": 1,
    "an IAM policy": {"role": "roles/storage.objectViewer", "members": ["allUsers"]},
    "permissions": {"storage.objects.get": True},
    "versioning": {"enabled": True},
    "what is not offered": [
        404,
        "POST /storage/v1/b/js-bucket/o/dir%2Fa.txt/acl is not offered here. Of Google's ",
    ],
    "delete a file": False,
    "delete what is not there": 404,
    "delete the bucket": False,
}


@pytest.fixture(scope="module")
def told(episode_of: Callable[..., HostedWorld], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    def fill(world: World) -> None:
        world.store(GoogleCloudStore).bigquery.datasets.create("shop")

    hosted = episode_of(["google_cloud"], fill)
    folder = tmp_path_factory.mktemp("javascript")
    shutil.copyfile(HERE / "javascript" / "google_cloud.js", folder / "google_cloud.js")
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "node_modules").symlink_to(MODULES)

    def run(client: str) -> Told:
        command = ["node", "google_cloud.js", client, hosted.api("google_cloud"), hosted.id, str(folder)]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    return {client: run(client) for client in ("bigquery", "storage")}


@pytest.mark.parametrize("case", BIGQUERY)
def test_the_client_of_bigquery(case: str, told: dict[str, Told]) -> None:
    assert told["bigquery"][case] == BIGQUERY[case]


@pytest.mark.parametrize("case", STORAGE)
def test_the_client_of_cloud_storage(case: str, told: dict[str, Told]) -> None:
    assert told["storage"][case] == STORAGE[case]


def test_no_case_is_without_an_expectation(told: dict[str, Told]) -> None:
    assert [list(told["bigquery"]), list(told["storage"])] == [list(BIGQUERY), list(STORAGE)]
