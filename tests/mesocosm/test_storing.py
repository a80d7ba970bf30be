"""Episodes that are kept elsewhere, too: they come back on a machine that has nothing of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mesocosm
from mesocosm.errors import UsageError
from mesocosm.families.storing import Store
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.client import BlockingServer, ServerError, UnknownEpisode
from mesocosm.hosting.listening import serving

TOKEN = "token-of-the-test"
ORDER: Any = {"task": "refund_list", "length": "8k", "seed": 1, "tools": "needed"}
MOTO = os.environ.get("MESOCOSM_TEST_MOTO") or shutil.which("moto_server", path=Path(sys.executable).parent)

pytest.importorskip("fsspec")


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A bucket of a server of S3's API."""
    if not MOTO:
        pytest.skip(
            "needs moto[server]: pip install 'moto[server]', or name its moto_server in MESOCOSM_TEST_MOTO"
        )
    fs = pytest.importorskip("s3fs")
    process = subprocess.Popen([MOTO, "-H", "127.0.0.1", "-p", "0"], stderr=subprocess.PIPE, text=True)
    assert process.stderr
    url = next(line.split()[-1] for line in process.stderr if "Running on http" in line)
    environment = {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "one",
        "AWS_SECRET_ACCESS_KEY": "two",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        fs.S3FileSystem().mkdir("worlds")
        yield "s3://worlds/here"
    process.terminate()
    process.communicate()


@pytest.fixture(params=["folder", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "s3":
        return str(request.getfixturevalue("bucket"))
    return f"file://{tmp_path}/store"


def hosting(state: Path, url: str, every: float = 0) -> Hosting:
    return Hosting(state, admin_token=TOKEN, store=Store(url), keep_every=every)


def connect(base: str) -> BlockingServer:
    return mesocosm.connect_sync(base, token=TOKEN, retries=0)


def test_what_was_acknowledged_comes_back_without_the_machine(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mesocosm.families.leasing.LIFE", 4000.0)  # one sign of life is enough for the test
    with serving(hosting(tmp_path / "one", url)) as base, connect(base) as server:
        episode, doomed = server.create_batch([{**ORDER, "count": 2}])
        episode.call("filesystem", "write_file", path="a.txt", content="first")
        episode.snapshot("first")
        episode.call("filesystem", "write_file", path="a.txt", content="second")
        doomed.delete()
        path = episode.url.removeprefix(base)
        other = hosting(tmp_path / "other", url)
        with serving(other) as base2, connect(base2) as second:
            with pytest.raises(ServerError, match="served by another server of this store") as caught:
                second.episode(episode.id)
            assert caught.value.status == 503
            # From now on the first machine is not heard of, though it goes on.
            store = Store(url)
            name = (tmp_path / "one" / "server-name").read_text()
            for holder in store.names("holders"):
                if holder.startswith(name):
                    store.remove(f"holders/{holder}")
            with pytest.raises(UnknownEpisode):
                second.episode(doomed.id)
            back = second.episode(episode.id)
            assert back.url == base2 + path
            assert "second" in back.act("read_text_file", {"path": "a.txt"}).text
            back.restore("first")
            assert "first" in back.act("read_text_file", {"path": "a.txt"}).text
            with pytest.raises(ServerError, match="served by another server meanwhile"):
                episode.snapshot("unheard")
            with pytest.raises(ServerError, match="served by another server of this store"):
                episode.look()
            assert back.look().data["snapshots"] == ["first"]
            assert back.grade().verdict == "failed"
    # The first machine is there again: what it has is older than what was kept since.
    with serving(hosting(tmp_path / "one", url)) as base, mesocosm.connect_sync(base, token=TOKEN) as server:
        again = server.episode(episode.id)
        assert "first" in again.act("read_text_file", {"path": "a.txt"}).text
        again.delete()
    assert not list((tmp_path / "one" / "episodes").iterdir())


def test_an_instance_is_built_once_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"file://{tmp_path}/store"
    one = hosting(tmp_path / "one", url)
    first = one.pool.create("refund_list", 1, 8000, {})

    def build(*_: object, **__: object) -> None:
        raise AssertionError("it was built before")

    monkeypatch.setattr("mesocosm.families.cache.build_instance", build)
    other = hosting(tmp_path / "other", url)
    second = other.pool.create("refund_list", 1, 8000, {})
    texts = [pool.get(id_).episode.expected() for pool, id_ in ((one.pool, first), (other.pool, second))]
    assert texts[0] == texts[1]
    for app in (one, other):
        app.pool.close()


def test_a_change_is_kept_soon_and_at_the_end(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/store"
    app = hosting(tmp_path / "one", url, every=1000)
    with serving(app) as base, mesocosm.connect_sync(base, token=TOKEN) as server:
        episode = server.create(**ORDER)
        assert not (tmp_path / "store" / "episodes").exists()
    assert len(list((tmp_path / "store" / "episodes").glob("*/*.tar.gz"))) == 1
    assert hosting(tmp_path / "other", url).pool.has(episode.id) is False


def test_a_store_that_cannot_be_used_is_said_at_once_or_later(tmp_path: Path) -> None:
    for wrong in ("nonsense://x/y", f"file://{tmp_path}/file/below"):
        (tmp_path / "file").write_text("")
        with pytest.raises(UsageError, match=r"nonsense|cannot be written"):
            Store(wrong).check()
    app = hosting(tmp_path / "one", f"file://{tmp_path}/store")
    with serving(app) as base, mesocosm.connect_sync(base, token=TOKEN, retries=0) as server:
        episode = server.create(**ORDER)
        shutil.rmtree(tmp_path / "store")
        (tmp_path / "store").write_text("in the way")
        with pytest.raises(ServerError, match=r"cannot be (read|written)"):
            episode.snapshot("lost")
        (tmp_path / "store").unlink()
        assert episode.look().data["snapshots"] == ["lost"]
    assert list((tmp_path / "store" / "episodes").glob("*/*.tar.gz"))
