"""Episodes that are kept elsewhere, too: they come back on a machine that has nothing of them."""

from __future__ import annotations

import base64
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from confinement import needs_sandbox
from mcp import MCPError
from patience import PATIENCE

import mesocosm
from mesocosm.errors import UsageError
from mesocosm.families.family import load_family
from mesocosm.families.store import EpisodeStore, NotPacked, StoreFailed
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.background import OVERDUE, Background
from mesocosm.hosting.client import (
    BlockingEpisode,
    BlockingServer,
    Busy,
    CallFailed,
    ServerError,
    UnknownEpisode,
)
from mesocosm.hosting.health import LEAST_FREE
from mesocosm.hosting.metrics import RequestLog
from mesocosm.hosting.server import serving
from mesocosm.worlds.archives import unpack

TOKEN = "token-of-the-test"
ORDER: Any = {"task": "refund_list", "length": "8k", "seed": 1, "tools": "needed"}
MOTO = os.environ.get("MESOCOSM_TEST_MOTO") or shutil.which("moto_server", path=Path(sys.executable).parent)

pytest.importorskip("fsspec")


@pytest.fixture(scope="module")
def moto() -> Iterator[subprocess.Popen[str]]:
    """A server of S3's API, which has a bucket."""
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
        yield process
    process.terminate()
    process.communicate()


@pytest.fixture(scope="module")
def bucket(moto: subprocess.Popen[str]) -> str:
    return "s3://worlds/here"


@pytest.fixture(params=["folder", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "s3":
        return str(request.getfixturevalue("bucket"))
    return f"file://{tmp_path}/store"


def hosting(state: Path, url: str, every: float = 0) -> Hosting:
    return Hosting(state, admin_token=TOKEN, store=EpisodeStore(url), keep_every=every)


def connect(base: str) -> BlockingServer:
    return mesocosm.connect_sync(base, token=TOKEN, retries=0)


def test_what_was_acknowledged_comes_back_without_the_machine(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mesocosm.families.leases.LIFE", 4000.0)  # one sign of life is enough for the test
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
            store = EpisodeStore(url)
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


def test_what_a_store_takes_without_having_answered_replaces_nothing_newer(
    moto: subprocess.Popen[str], bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mesocosm.families.store._SILENCE", 0.0)
    folder = tmp_path / "late"
    folder.mkdir()
    (folder / "a.txt").write_text("first")
    store = EpisodeStore(bucket)
    store.keep(folder)
    (folder / "a.txt").write_text("second")
    with monkeypatch.context() as patch:
        patch.setattr("mesocosm.families.store.DEADLINE", 0.5)
        moto.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(StoreFailed, match="no answer"):
                store.keep(folder)
        finally:
            moto.send_signal(signal.SIGCONT)
    (folder / "a.txt").write_text("acknowledged since")
    wait_until(lambda: len(store.names("episodes/late")) == 2)  # it arrives all the same
    # Whoever serves this folder next, such as a host in place of one that died, goes on from what is there.
    assert EpisodeStore(bucket).bring(folder) is False
    assert (folder / "a.txt").read_text() == "acknowledged since"
    store.keep(folder)
    (tmp_path / "elsewhere").mkdir()
    assert EpisodeStore(bucket).bring(tmp_path / "elsewhere" / "late")
    assert (tmp_path / "elsewhere" / "late" / "a.txt").read_text() == "acknowledged since"


def test_an_instance_is_built_once_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"file://{tmp_path}/store"
    one = hosting(tmp_path / "one", url)
    first = one.pool.create(load_family("refund_list"), 1, 8000, {})

    def build(*_: object, **__: object) -> None:
        raise AssertionError("it was built before")

    monkeypatch.setattr("mesocosm.families.cache.build_instance", build)
    other = hosting(tmp_path / "other", url)
    second = other.pool.create(load_family("refund_list"), 1, 8000, {})
    texts = [pool.get(id_).episode.expected() for pool, id_ in ((one.pool, first), (other.pool, second))]
    assert texts[0] == texts[1]
    for app in (one, other):
        app.pool.close()


def nest(workspace: Path, count: int, name: str) -> None:
    """Folders in folders, whose path no system call takes."""
    opened = os.open(workspace, os.O_RDONLY)
    for _ in range(count):
        os.mkdir(name, dir_fd=opened)
        inner = os.open(name, os.O_RDONLY, dir_fd=opened)
        os.close(opened)
        opened = inner
    os.close(os.open("last.txt", os.O_CREAT | os.O_WRONLY, dir_fd=opened))
    os.close(opened)


def names_below(workspace: Path) -> list[str]:
    return [name for _, folders, files, _ in os.fwalk(workspace) for name in (*folders, *files)]


def test_what_no_path_leads_to_is_kept_archived_copied_and_removed(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/store"
    app = hosting(tmp_path / "one", url)
    with serving(app) as base, connect(base) as server:
        episode = server.create(**ORDER)
        nest(app.pool.path(episode.id) / "world" / "workspace", 25, "x" * 200)
        episode.call("filesystem", "write_file", path="a.txt", content="kept")
        episode.snapshot("deep")
        episode.rollback(0)
        episode.restore("deep")
        fork = episode.fork()
        for one in (episode, fork):
            there = names_below(app.pool.path(one.id) / "world" / "workspace")
            assert (there.count("x" * 200), there.count("last.txt"), there.count("a.txt")) == (25, 1, 1)
        episode.archive(tmp_path / "archive")
        unpack(tmp_path / "archive", tmp_path / "archived")
        assert episode.grade().verdict == "failed"
        fork.delete()
        episode.reset()
        assert "x" * 200 not in names_below(app.pool.path(episode.id) / "world")
        episode.restore("deep")
    with serving(hosting(tmp_path / "two", url)) as base, connect(base) as server:
        server.episode(episode.id).look()
    brought = next((tmp_path / "two" / "episodes").iterdir())
    for folder in (tmp_path / "archived", brought):
        there = names_below(folder / "world" / "workspace")
        assert (there.count("x" * 200), there.count("last.txt"), there.count("a.txt")) == (25, 1, 1)


@needs_sandbox
def test_code_leaves_no_path_that_is_too_long(tmp_path: Path) -> None:
    app = hosting(tmp_path / "one", f"file://{tmp_path}/store", every=0.05)
    code = "import os\nfor _ in range(25):\n    os.mkdir('x' * 200)\n    os.chdir('x' * 200)\n"
    with serving(app) as base, connect(base) as server:
        episode, other = server.create_batch(
            [{**ORDER, "tools": "all", "services": ["python_execute"], "count": 2}]
        )
        said = episode.call("python_execute", "python_execute", code=code)
        assert "the path has more than 2,000 bytes" in str(said)
        with pytest.raises(CallFailed, match="path is too long"):
            episode.call("filesystem", "create_directory", path="/".join(["y" * 200] * 10))
        long = "/".join(["y" * 200] * 5)
        for folder in (long, "z" * 200):
            episode.call("filesystem", "create_directory", path=folder)
        inside = "/".join(["x" * 200] * 9)
        with pytest.raises(CallFailed, match="path is too long"):
            episode.call("filesystem", "move_file", source="y" * 200, destination=f"{inside}/y")
        other.call("filesystem", "write_file", path="a.txt", content="kept")
        wait_until(lambda: len(list((tmp_path / "store" / "episodes").glob("*/*.tar.gz"))) >= 2)
        assert ready(base) == 200


def test_an_episode_that_cannot_be_kept_is_no_trouble_of_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = hosting(tmp_path / "one", f"file://{tmp_path}/store", every=0.05)
    with serving(app) as base, connect(base) as server:
        broken, other = server.create_batch([{**ORDER, "count": 2}])
        for episode in (broken, other):
            episode.call("filesystem", "write_file", path="a.txt", content="one")
        wait_until(lambda: len(list((tmp_path / "store" / "episodes").iterdir())) == 2)
        folder = app.pool.path(broken.id)
        (folder / "world").rename(folder / "elsewhere")
        broken.act("read_text_file", {"path": "a.txt"})
        wait_until(lambda: app.pool.keeping.not_kept == 1)
        kept = tmp_path / "store" / "episodes" / app.pool.path(other.id).name
        newest = sorted(kept.iterdir())[-1]
        other.call("filesystem", "write_file", path="a.txt", content="two")
        wait_until(lambda: sorted(kept.glob("*.tar.gz"))[-1] != newest)
        assert (ready(base), app.pool.keeping.not_kept) == (200, 1)
        (folder / "elsewhere").rename(folder / "world")
        wait_until(lambda: app.pool.keeping.not_kept == 0)
    assert len([record for record in caplog.records if "cannot be kept" in record.message]) == 1


def test_a_task_beside_that_fails_is_told_and_goes_on(tmp_path: Path) -> None:
    app = hosting(tmp_path / "one", f"file://{tmp_path}/store", every=0.05)
    with serving(app) as base:
        assert ready(base) == 200
        app.pool.keeping._waiting["nonsense"] = None  # type: ignore[assignment]
        wait_until(lambda: ready(base) == 503)
        del app.pool.keeping._waiting["nonsense"]
        wait_until(lambda: ready(base) == 200)


def test_a_long_call_holds_up_the_keeping_of_nobody_else(tmp_path: Path) -> None:
    app = hosting(tmp_path / "one", f"file://{tmp_path}/store", every=0.05)
    with serving(app) as base, connect(base) as server:
        busy, other = server.create_batch([{**ORDER, "count": 2}])
        for episode in (busy, other):
            episode.call("filesystem", "write_file", path="a.txt", content="one")
        kept = {one.id: tmp_path / "store" / "episodes" / app.pool.path(one.id).name for one in (busy, other)}

        def newest(id_: str) -> str:
            return max((path.name for path in kept[id_].glob("*.tar.gz")), default="")

        wait_until(lambda: not len(app.pool.keeping) and bool(newest(busy.id) and newest(other.id)))
        before = {id_: newest(id_) for id_ in kept}
        served = app.pool._open[busy.id]
        over = threading.Event()

        async def call() -> None:
            async with served.turn:
                await app.pool.keeping.touched(served)
                (app.pool.path(busy.id) / "world/workspace/b.txt").write_text("two")
                await anyio.to_thread.run_sync(over.wait)

        assert app.pool.portal
        called = app.pool.portal.start_task_soon(call)
        try:
            wait_until(lambda: busy.id in app.pool.keeping)
            other.call("filesystem", "write_file", path="a.txt", content="two")
            wait_until(lambda: newest(other.id) > before[other.id])
            assert (newest(busy.id), ready(base)) == (before[busy.id], 200)
        finally:
            over.set()
        called.result()
        wait_until(lambda: busy.id not in app.pool.keeping)


def test_who_asks_whether_all_is_well_waits_for_none_that_wait_for_the_store(tmp_path: Path) -> None:
    over = threading.Event()

    async def hang() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(100):
                group.start_soon(anyio.to_thread.run_sync, over.wait)

    async def waiting() -> int:
        return anyio.to_thread.current_default_thread_limiter().statistics().tasks_waiting

    app = hosting(tmp_path / "one", f"file://{tmp_path}/store", every=1000)
    with serving(app) as base:
        portal = app.pool.portal
        assert portal
        hanging = portal.start_task_soon(hang)
        try:
            wait_until(lambda: portal.call(waiting) > 0)
            assert ready(base) == 200
        finally:
            over.set()
        hanging.result()


def by_tool(episode: BlockingEpisode) -> str:
    return episode.act("woo_products_list", {}).text


def by_vendors_api(episode: BlockingEpisode) -> str:
    basic = base64.b64encode(f"{episode.id}:{episode.id}".encode()).decode()
    url = episode.url.replace("/mcp", "/woocommerce/wp-json/wc/v3/products")
    asked = urllib.request.Request(url, headers={"Authorization": f"Basic {basic}"})
    try:
        with urllib.request.urlopen(asked) as answer:
            return str(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            raise Busy(error.read().decode() + str(error.headers), error.code) from None


def test_what_waits_while_its_episode_goes_elsewhere_is_done_or_told_to_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = Hosting(tmp_path / "one", admin_token=TOKEN)
    with serving(app) as base, connect(base) as server, ThreadPoolExecutor() as threads:
        portal = app.pool.portal
        assert portal
        episodes = server.create_batch([{**ORDER, "tools": "all", "count": 4}])
        ways = [(ask, in_time) for ask in (by_tool, by_vendors_api) for in_time in (True, False)]
        for episode, (ask, in_time) in zip(episodes, ways, strict=True):
            monkeypatch.setattr("mesocosm.hosting.pool._ASKED", 60 if in_time else 0)
            served = app.pool.get(episode.id)
            portal.call(served.own)
            over = threading.Event()

            async def hold(turn: anyio.Lock, over: threading.Event) -> None:
                async with turn:
                    await anyio.to_thread.run_sync(over.wait)

            async def wait_for(turn: anyio.Lock, asked: int) -> None:
                while not turn.locked() or turn.statistics().tasks_waiting < asked:
                    await anyio.sleep(0.01)

            holding = portal.start_task_soon(hold, served.turn, over)
            portal.call(wait_for, served.turn, 0)
            answered = threads.submit(ask, episode)
            portal.call(wait_for, served.turn, 1)
            kept = {one.id for one in episodes if one is not episode}
            gone = portal.start_task_soon(app.pool.let_go, kept.__contains__)
            portal.call(wait_for, served.turn, 1 if in_time else 2)
            over.set()
            if in_time:
                assert "price" in answered.result()
            else:
                with pytest.raises(Busy, match="being moved") as told:
                    answered.result()
                assert told.value.status == 503
            holding.result()
            assert gone.result() == 1


def test_a_round_that_goes_on_is_no_trouble_and_one_that_hangs_is(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, seen, background = [0.0], [], Background()
    monkeypatch.setattr("mesocosm.hosting.background.monotonic", lambda: clock[0])

    async def work() -> None:
        for _ in range(3):
            clock[0] += OVERDUE - 1
            seen.append(background.trouble)
            background.goes_on("counting")
        clock[0] += OVERDUE + 1
        seen.append(background.trouble)

    async def rounds() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(background.every, 0, "counting", work)
            await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()

    anyio.run(rounds)
    assert seen[:4] == [None, None, None, "counting has not gone on for 61 seconds"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes small disks")
def test_an_episode_that_does_not_fit_on_the_disk_packed_is_not_packed(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", disk], check=False).returncode:
        pytest.skip("no disk can be made here")
    try:
        folder = disk / "episode"
        folder.mkdir()
        # Packed as large, for which there is no room; closing what was packed writes once more.
        (folder / "noise").write_bytes(random.Random(0).randbytes(150_000))
        with pytest.raises(NotPacked, match="No space left"):
            EpisodeStore(f"file://{tmp_path}/store").keep(folder)
        assert [path.name for path in disk.iterdir()] == ["episode"]
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def test_many_requests_at_once_are_no_silence_and_those_that_hang_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mesocosm.families.store._SILENCE", 0.0)
    store, over = EpisodeStore(f"file://{tmp_path}"), threading.Event()
    with ThreadPoolExecutor(40) as pool:
        asked = [pool.submit(store._timely, lambda: over.wait(PATIENCE), 60) for _ in range(40)]
        wait_until(lambda: store.waiting == 40)
        assert store._timely(lambda: "answered") == "answered"
        over.set()
        assert all(one.result() for one in asked)
    over.clear()
    for _ in range(16):
        with pytest.raises(TimeoutError, match="within"):
            store._timely(lambda: over.wait(PATIENCE), 0)
    with pytest.raises(TimeoutError, match="it does not answer"):
        store._timely(lambda: "answered")
    over.set()
    wait_until(lambda: store.waiting == 0)
    assert store._timely(lambda: "answered") == "answered"


def test_a_store_that_hangs_is_said_and_holds_up_nobody_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mesocosm.families.store.DEADLINE", 0.5)
    monkeypatch.setattr("mesocosm.families.store._SILENCE", 0.1)
    url = f"file://{tmp_path}/store"
    with serving(hosting(tmp_path / "one", url)) as base, connect(base) as server:
        first, second = server.create_batch([{**ORDER, "count": 2}])
        first.call("filesystem", "write_file", path="a.txt", content="kept")
    app = hosting(tmp_path / "one", url)
    with serving(app) as base, connect(base) as server:
        # Nobody answers who reads a pipe that nobody writes: as on a disk of a machine that has gone.
        claims = tmp_path / "store" / "episodes" / app.pool.path(second.id).name
        claims.mkdir(exist_ok=True)
        pipe = claims / "99999999.claim"
        os.mkfifo(pipe)
        with pytest.raises(Busy, match=r"cannot be read: .*answer") as caught:
            server.episode(second.id)
        assert caught.value.status == 503
        writer = os.open(pipe, os.O_RDWR)
        pipe.unlink()
        os.close(writer)

        def answers() -> bool:
            with suppress(Busy):
                return "kept" in server.episode(first.id).act("read_text_file", {"path": "a.txt"}).text
            return False

        wait_until(answers)
        wait_until(lambda: ready(base) == 200)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes small disks")
def test_a_full_disk_is_said_and_nothing_is_lost_when_it_is_freed(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    size = LEAST_FREE + 64 * 2**20
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk], check=False).returncode:
        pytest.skip("no disk can be made here")
    try:
        app = Hosting(disk / "state", admin_token=TOKEN, log=RequestLog(str(disk / "log")))
        with serving(app) as base, connect(base) as server:
            episode = server.create(**ORDER, services=["memory"])
            assert ready(base) == 200
            filler = disk / "filler"
            with filler.open("wb") as file, suppress(OSError):
                while True:
                    file.write(bytes(2**20))
                    file.flush()
            assert ready(base) == 503
            with pytest.raises(ServerError, match="no room on the disk") as caught:
                server.create(**{**ORDER, "seed": 2})
            assert caught.value.status == 507
            assert episode.look().data["id"] == episode.id
            with pytest.raises(ServerError, match="Not done: there is no room on the disk"):
                write_on(episode)
            for number in range(5):
                with suppress(MCPError, ServerError):
                    big = {"path": f"{number}.txt", "content": "x" * 200_000}
                    assert episode.act("write_file", big).is_error
                entity = {"name": f"{number}", "entityType": "x", "observations": ["y" * 90_000]}
                with suppress(MCPError, ServerError):
                    assert episode.act("create_entities", {"entities": [entity]}, service="memory").is_error
            assert app.log
            for _ in range(200):  # the last block of the file has room for some lines
                ready(base)
            assert app.log.lost
            filler.unlink()
            assert ready(base) == 200
            assert server.create(**ORDER).id != episode.id
            episode.call("filesystem", "write_file", path="a.txt", content="kept")
            assert episode.grade().verdict == "failed"
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def write_on(episode: BlockingEpisode) -> None:
    """Until there is no room: the last blocks of an episode's files have some."""
    for number in range(1000):
        episode.call("filesystem", "write_file", path=f"on-{number}.txt", content="x" * 4096)


def ready(base: str) -> int:
    try:
        return int(urllib.request.urlopen(f"{base}/ready").status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


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
            EpisodeStore(wrong).check()
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


def test_an_episode_of_other_tables_is_left_to_the_version_that_made_it(tmp_path: Path) -> None:
    with serving(Hosting(tmp_path / "one", admin_token=TOKEN)) as base, connect(base) as server:
        one, other = server.create_batch([{**ORDER, "count": 2}])
        one.call("filesystem", "write_file", path="a.txt", content="kept")
    app = Hosting(tmp_path / "one", admin_token=TOKEN)
    with closing(sqlite3.connect(app.pool.path(one.id) / "world" / "woocommerce.db")) as db:
        db.execute("ALTER TABLE orders RENAME COLUMN status TO was_called")
    with serving(app) as base, connect(base) as server:
        with pytest.raises(ServerError, match="made by another version") as caught:
            server.episode(one.id).act("read_text_file", {"path": "a.txt"})
        assert caught.value.status == 409
        assert [call["status"] for call in server.episode(one.id).journal()] == ["ok"]
        assert server.episode(other.id).act("list_directory", {"path": "."}).text
        graded = server.episode(one.id).grade()
        assert (graded.verdict, "another version" in str(graded.data)) == ("errored", True)
    with closing(sqlite3.connect(app.pool.path(one.id) / "world" / "woocommerce.db")) as db:
        db.execute("ALTER TABLE orders RENAME COLUMN was_called TO status")
    with serving(Hosting(tmp_path / "one", admin_token=TOKEN)) as base, connect(base) as server:
        assert "kept" in server.episode(one.id).act("read_text_file", {"path": "a.txt"}).text
        assert server.episode(one.id).grade().verdict == "failed"
        server.episode(one.id).delete()
