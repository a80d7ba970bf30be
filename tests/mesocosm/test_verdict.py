"""A verdict is always made: whatever happened on the way, and whatever the agent left."""

from __future__ import annotations

import json
import os
import shutil
import sys
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from patience import PATIENCE
from trials import solve

from mesocosm.doors.mcp import McpTools, ToolError
from mesocosm.families import grading
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.faults import faults_of
from mesocosm.families.instances import EXPECTED, Instance, build_instance
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.server import serving
from mesocosm.servers.pdf_tools.store import write_pdf
from mesocosm.worlds import deadlines
from mesocosm.worlds.manifest import Manifest

FAMILY = load_family("excel_market_research")


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    return build_instance(FAMILY, 0, tmp_path_factory.mktemp("built") / "instance", target=8000)


@pytest.fixture
def episode(instance: Instance, tmp_path: Path) -> Iterator[Episode]:
    episode = Episode.create(tmp_path / "episode", instance.path, FAMILY)
    yield episode
    episode.close()


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> Callable[[Episode], None]:
    """Makes a call in which a bug of ours shows."""

    def bug(*_: Any, **__: Any) -> str:
        raise RuntimeError("a bug of ours")

    def make(episode: Episode) -> None:
        tools = episode.world.services["filesystem"].tools
        with monkeypatch.context() as patch:
            patch.setitem(tools, "list_directory", replace(tools["list_directory"], function=bug))
            assert episode.world.call("filesystem", "list_directory", {"path": "."}).status == "fault"

    return make


def test_a_state_that_passes_is_passed_whatever_happened_on_the_way(
    episode: Episode, fault: Callable[[Episode], None]
) -> None:
    fault(episode)
    solve(FAMILY, episode)
    verdict = grading.grade(episode)
    assert (verdict.verdict, verdict.reward) == ("passed", 1.0)
    [seen] = verdict.faults
    assert (seen.exception, seen.count, seen.first) == (
        "RuntimeError",
        1,
        "call 1, filesystem.list_directory",
    )


def test_a_state_that_fails_after_a_fault_is_errored_and_strictly_worth_nothing(
    episode: Episode, fault: Callable[[Episode], None]
) -> None:
    fault(episode)
    fault(episode)
    verdict = grading.grade(episode)
    assert (verdict.verdict, verdict.reward) == ("errored", None)
    assert [seen.count for seen in verdict.faults] == [2]
    assert "a bug of ours" in (verdict.error or "")
    assert {check.name for check in verdict.findings if not check.passed} >= {"workbook", "years"}
    assert (verdict.strictly().verdict, verdict.strictly().reward) == ("errored", 0.0)


def test_what_an_earlier_version_of_the_task_expected_is_said_to_be_that(
    episode: Episode, instance: Instance
) -> None:
    for folder in (episode.path / "base", episode.path / "world"):
        manifest = Manifest.read(folder)
        manifest.model_copy(update={"version": manifest.version - 1}).write(folder)
    (episode.path / EXPECTED).unlink()  # it is a link to the instance's
    (episode.path / EXPECTED).write_text("{}")
    verdict = grading.grade(episode)
    assert verdict.verdict == "errored"
    built = FAMILY.task.version - 1
    assert f"it was built by version {built} of excel_market_research" in (verdict.error or "")
    assert "Traceback" not in (verdict.error or "")


def test_a_fingerprint_names_exception_and_place_and_survives_moved_lines() -> None:
    text = 'Traceback (most recent call last):\n  File "{}", line {}, in send\n    x\n{}: {}\n'
    ours = "/srv/venv/lib/python3.11/site-packages/mesocosm/servers/email/store/sending.py"
    here = "/home/me/mesocosm/mesocosm/servers/email/store/sending.py"
    library = "/home/me/mesocosm/.venv/lib/python3.11/site-packages/sqlalchemy/engine.py"
    same = faults_of(
        [
            ("call 1", text.format(ours, 7, "KeyError", "'a'")),
            ("call 2", text.format(here, 9, "KeyError", "'b'")),
        ]
    )
    assert [(fault.place, fault.count) for fault in same] == [("servers/email/store/sending.py:send", 2)]
    inner = (
        f'{text.format(here, 9, "", "").partition(": ")[0]}  File "{library}", line 3, in execute\nx.Error: y'
    )
    assert [(f.exception, f.place) for f in faults_of([("call 1", inner)])] == [("x.Error", same[0].place)]


def test_ends_of_programs_are_of_one_kind_whatever_they_wrote() -> None:
    ended = "the agent program ended with exit code 3; its last lines:\n"
    [fault] = faults_of([("a", f"{ended}starting\nKeyError: 1"), ("b", f"{ended}no brain")])
    assert (fault.exception, fault.count) == ("the agent program ended with exit code 3", 2)
    [fault] = faults_of([("a", "it was built by version 1 of refund_list: grade it with that")])
    assert fault.exception.startswith("it was built by version 1")


def test_nothing_counts_any_more_after_the_end(
    instance: Instance, tmp_path: Path, fault: Callable[[Episode], None]
) -> None:
    with_end = {**FAMILY.task.servers, "claim_done": None}
    family = replace(FAMILY, task=FAMILY.task.model_copy(update={"servers": with_end}))
    built = build_instance(family, 0, tmp_path / "instance", target=8000)
    episode = Episode.create(tmp_path / "episode", built.path, FAMILY)
    solve(FAMILY, episode)
    if not episode.world.calls.ended:
        episode.world.call("claim_done", "claim_done", {})
    before, verdict = episode.usage(), grading.grade(episode)
    assert episode.world.call("filesystem", "list_directory", {"path": "."}).status == "ok"
    fault(episode)
    assert episode.world.call("filesystem", "write_file", {"path": "a", "content": ""}).status == "refused"
    assert (episode.usage(), grading.grade(episode)) == (before, verdict)
    episode.close()


def test_the_control_plane_is_strict_where_it_is_asked_to_be(instance: Instance, tmp_path: Path) -> None:
    app = Hosting(tmp_path / "state", admin_token="token")
    with serving(app) as base:
        id_ = app.pool.adopt(instance.path, FAMILY)
        expected = app.pool.path(id_) / "expected.json"
        expected.unlink()  # the file has the name of the instance's, too
        expected.write_text("{}")
        for query, reward in (("", None), ("?strict=true", 0.0)):
            verdict = _grade(base, id_, query)
            assert (verdict["verdict"], verdict["reward"]) == ("errored", reward)
            assert [fault["first"] for fault in verdict["faults"]] == ["grading"]


def _grade(base: str, id_: str, query: str = "") -> dict[str, Any]:
    """The verdict that the control plane gives."""
    url = f"{base}/episodes/{id_}/grade{query}"
    request = urllib.request.Request(url, headers={"Authorization": "Bearer token"}, method="POST")
    with urllib.request.urlopen(request) as response:
        return dict(json.load(response)["verdict"])


def test_files_that_take_too_much_to_judge_are_the_agents_failure_and_nobody_elses_business(
    instance: Instance, episode: Episode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_GRADING_TIMEOUT", "1")
    monkeypatch.setattr(grading, "_PATIENCE", PATIENCE)
    assert grading.grade(episode).verdict == "failed"  # the process is there, and has loaded what it needs
    solve(FAMILY, episode)
    monkeypatch.setattr(grading, "_PATIENCE", 0.0)
    verdict = grading.grade(episode)
    assert verdict.verdict == "errored"  # so much is too little for the world as it was built, too
    assert "as it was built" in (verdict.error or "")
    monkeypatch.setattr(grading, "_PATIENCE", PATIENCE)
    assert grading.grade(episode).verdict == "passed"
    _swell(episode.world.path / "workspace" / "growth_rate.xlsx")
    app = Hosting(tmp_path / "state", admin_token="token")
    with serving(app) as base, ThreadPoolExecutor() as pool:
        one, other = (app.pool.adopt(instance.path, FAMILY) for _ in range(2))
        shutil.copy(
            episode.world.path / "workspace" / "growth_rate.xlsx", app.pool.path(one) / "world" / "workspace"
        )
        graded = pool.submit(_grade, base, one)
        answers = 0
        with McpTools(f"{base}/e/{other}/mcp") as tools:
            while not graded.done():
                assert tools.call("filesystem", "list_directory", path=".")
                answers += 1
        assert answers > 1, "others were served meanwhile"
        verdict = graded.result()
        assert (verdict["verdict"], verdict["reward"], verdict["faults"]) == ("failed", 0.0, [])
        assert "it takes more than 1 seconds" in verdict["findings"][0]["detail"]
        assert "workbook" in [finding["name"] for finding in _grade(base, other)["findings"]]


PASSES = '{"findings": [{"name": "all", "passed": true}]}'


def test_a_process_that_judges_and_was_taken_over_is_the_fault_of_one_episode(
    instance: Instance, episode: Episode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Episode.create(tmp_path / "other", instance.path, FAMILY)
    monkeypatch.setattr(grading, "_graders", cache(lambda _: grading._Graders()))
    with monkeypatch.context() as patched:
        for said in (
            "{}[",
            f"{PASSES}\n{PASSES}",
            '{"findings": [{"name": "x", "passed": "perhaps"}]}',
            "cos",
        ):
            program = f"import sys; sys.stdin.readline(); print({said!r}, flush=True); sys.stdin.read()"
            patched.setattr(grading, "_COMMAND", (sys.executable, "-c", program))
            verdict = grading.grade(episode)
            assert (verdict.verdict, [fault.first for fault in verdict.faults]) == (
                "errored",
                [grading.GRADING],
            )
    assert grading.grade(other).verdict == "failed"
    solve(FAMILY, other)
    assert grading.grade(other).verdict == "passed"
    other.close()


LETTERS = load_family("apply_phd_email")


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    return build_instance(LETTERS, 0, tmp_path_factory.mktemp("letters") / "instance", target=16_000)


def _slow_pdf(pages: int, *, inflated: bool = False) -> bytes:
    """A valid file of some kilobytes: each page takes seconds to be read, or has 200 MB of blanks."""
    pdf = write_pdf(["MARK"] * pages, moment=datetime(2025, 1, 1, tzinfo=UTC))
    text = b"BT /F1 12 Tf " + b"(a) Tj " * 300_000 + b"ET"
    packed = zlib.compress(zlib.compress(b" " * 200_000_000) if inflated else text)
    filters = b"[/FlateDecode /FlateDecode]" if inflated else b"/FlateDecode"
    stream = b"<< /Length %d /Filter %s >>\nstream\n%s\nendstream\n" % (len(packed), filters, packed)
    first, *rest = pdf.split(b"<< /Length")
    pages_of = [stream + part[part.index(b"endobj") :] for part in rest]
    return first + b"".join(pages_of)


def test_a_pdf_that_takes_too_much_to_judge_is_the_agents_failure(
    letters: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading, "_PATIENCE", PATIENCE)
    request = letters.expected.requests[0]  # type: ignore[union-attr]
    for inflated in (False, True):
        episode = Episode.create(tmp_path / f"episode-{inflated}", letters.path, LETTERS)
        assert (
            grading.grade(episode).verdict == "failed"
        )  # the process is there, and has loaded what it needs
        for file in request.files:
            data = _slow_pdf(len(file.pages), inflated=inflated)
            assert len(data) < 35_000
            episode.world.workspace.write(file.name, data)
        names = [file.name for file in request.files]
        arguments = {"to": request.address, "subject": "x", "body": "x", "attachments": names}
        assert episode.world.call("email", "send_email", arguments).status == "ok"
        monkeypatch.setenv("MESOCOSM_GRADING_TIMEOUT", "1")
        monkeypatch.setenv("MESOCOSM_GRADING_MEMORY", "256MiB")
        verdict = grading.grade(episode)
        monkeypatch.delenv("MESOCOSM_GRADING_TIMEOUT")
        monkeypatch.delenv("MESOCOSM_GRADING_MEMORY")
        assert (verdict.verdict, verdict.reward, verdict.faults) == ("failed", 0.0, [])
        details = " ".join(finding.detail for finding in verdict.findings)
        reason = f"{names[0]} to {request.address} is no readable PDF" if inflated else "more than 1 seconds"
        assert reason in details
        episode.close()


def test_reading_a_pdf_ends_at_the_deadline_of_the_call_while_others_are_served(
    letters: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_CALL_TIMEOUT", str(PATIENCE))
    late = 0.0
    monkeypatch.setattr(deadlines, "perf_counter", lambda: perf_counter() + late)
    app = Hosting(tmp_path / "state", admin_token="token")
    with serving(app) as base, ThreadPoolExecutor() as pool:
        one, other = (app.pool.adopt(letters.path, LETTERS) for _ in range(2))
        (app.pool.path(one) / "world" / "workspace" / "slow.pdf").write_bytes(_slow_pdf(50))

        def read(tool: str, **arguments: Any) -> str:
            with McpTools(f"{base}/e/{one}/mcp") as tools, pytest.raises(ToolError) as refused:
                tools.call("pdf_tools", tool, **arguments)
            return str(refused.value)

        for tool, arguments in (
            ("read_pdf_pages", {"pdf_file_path": "slow.pdf", "end_page": 50}),
            ("search_pdf_content", {"pdf_file_path": "slow.pdf", "pattern": "b"}),
        ):
            with McpTools(f"{base}/e/{other}/mcp") as tools:
                reading = pool.submit(read, tool, **arguments)
                for _ in range(6):
                    assert tools.call("filesystem", "list_directory", path=".")
                assert not reading.done(), "others are served meanwhile"
                while not reading.done():  # however late it begins, its time is up
                    late += 2 * PATIENCE
                    assert tools.call("filesystem", "list_directory", path=".")
            assert f"took longer than {PATIENCE} second" in reading.result()


def _swell(path: Path) -> None:
    """A workbook with more rows than can be read in two seconds, which a limit of one leaves at most."""
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    cells = "".join(f'<c r="{chr(65 + column)}%d"><v>1</v></c>' for column in range(26))
    rows = "".join(f'<row r="{n}">{cells.replace("%d", str(n))}</row>' for n in range(1, 40_001))
    sheet = "xl/worksheets/sheet1.xml"
    before, _, _ = parts[sheet].partition(b"<sheetData")
    _, _, after = parts[sheet].partition(b"</sheetData>")
    parts[sheet] = before + f"<sheetData>{rows}</sheetData>".encode() + after
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, part in parts.items():
            book.writestr(name, part)


@cache
def _many_links() -> list[tuple[str, str]]:
    return [(f"link-{number + 1}", f"link-{number}") for number in range(1200)]


def _chain(workspace: Path) -> None:
    (workspace / "growth_rate.xlsx").symlink_to("link-1200")
    for name, target in _many_links():
        (workspace / name).symlink_to(target)


def _loop(workspace: Path) -> None:
    (workspace / "growth_rate.xlsx").symlink_to("growth_rate.xlsx")


def _unnamed(workspace: Path) -> None:
    (Path(os.fsdecode(os.fsencode(workspace) + b"/\xff\xfe.xlsx"))).touch()


def _pipe(workspace: Path) -> None:
    os.mkfifo(workspace / "growth_rate.xlsx")


def _folder(workspace: Path) -> None:
    (workspace / "growth_rate.xlsx").mkdir()


def _sparse(workspace: Path) -> None:
    with (workspace / "growth_rate.xlsx").open("wb") as file:
        file.truncate(2**40)


def _deep(workspace: Path) -> None:
    folder = os.open(workspace, os.O_RDONLY)
    for _ in range(60):
        os.mkdir("d" * 200, dir_fd=folder)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)


@pytest.mark.parametrize("leave", [_chain, _loop, _unnamed, _pipe, _folder, _sparse, _deep])
def test_whatever_an_agent_leaves_is_judged(
    episode: Episode, tmp_path: Path, leave: Callable[[Path], None]
) -> None:
    leave(episode.path / "world" / "workspace")
    verdict = grading.grade(episode)
    assert (verdict.verdict, verdict.faults) == ("failed", [])
    if leave not in (_sparse, _pipe):  # one is too large to copy here, the other is no file
        episode.snapshot("now")
        fork = episode.fork(tmp_path / "fork")
        assert grading.grade(fork) == verdict
        episode.restore("now")
        fork.close()
