"""The same program in the same state: the same times and the same bytes, whenever it is run."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from confinement import needs_sandbox

from mesocosm.services.world import World

pytestmark = needs_sandbox
MakeWorld = Callable[..., World]


@pytest.fixture(autouse=True)
def real_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "bubblewrap")


def run(world: World, code: str) -> str:
    outcome = world.call("python_execute", "python_execute", {"code": code})
    assert outcome.status == "ok", world.journal.with_status("fault")
    return outcome.text


def facts(world: World, code: str) -> Any:
    text = run(world, "import json\n" + code)
    assert "=== STDERR ===" not in text, text
    return json.loads(text.split("\n")[1])


def test_a_workbook_that_code_saves_is_the_same_bytes_later(make_world: MakeWorld) -> None:
    code = """
import datetime, openpyxl, zipfile
book = openpyxl.Workbook(); book.active.append([1, "x", datetime.datetime.now()]); book.save("a.xlsx")
with zipfile.ZipFile("b.zip", "w") as archive:
    archive.write("a.xlsx"); archive.writestr("c", "c")
print(datetime.datetime.now())
"""
    worlds = [make_world(None, "python_execute") for _ in range(2)]
    told = [run(worlds[0], code)]
    time.sleep(2.1)  # beyond the two seconds that an archive can tell apart
    told.append(run(worlds[1], code))
    assert told[0] == told[1]
    for name in ("a.xlsx", "b.zip"):
        one, other = ((world.workspace.root / name).read_bytes() for world in worlds)
        assert one == other, name


def test_every_clock_of_python_is_the_worlds(make_world: MakeWorld) -> None:
    world = make_world(None, "python_execute")
    code = """
import time, datetime
print(json.dumps([
    int(time.time()), time.time_ns() // 10**9, time.strftime("%F %T"), time.ctime(), time.gmtime().tm_year,
    str(datetime.datetime.now())[:19], str(datetime.datetime.now(datetime.timezone.utc))[:19],
    str(datetime.datetime.today())[:10], str(datetime.date.today()),
    type(datetime.datetime.now()) is datetime.datetime,
]))
"""
    moment = 1736931601
    assert facts(world, code) == [
        moment, moment, "2025-01-15 09:00:01", "Wed Jan 15 09:00:01 2025", 2025, "2025-01-15 09:00:01",
        "2025-01-15 09:00:01", "2025-01-15", "2025-01-15", True,
    ]  # fmt: skip


def test_the_clock_goes_by_what_the_program_does(make_world: MakeWorld) -> None:
    world = make_world(None, "python_execute")
    code = """
import time
start = time.time(); time.sleep(0.2); slept = time.time() - start
end = time.time() + 0.05
while time.time() < end: pass
other = time.monotonic(); sum(range(10**6)); worked = time.monotonic() - other
print(json.dumps([round(slept, 3), worked > 0, time.time() > end]))
"""
    assert facts(world, code) == [0.2, True, True]


def test_times_of_long_ago_are_left_alone(make_world: MakeWorld) -> None:
    code = """
import time, datetime
print(json.dumps([time.gmtime(0).tm_year, str(datetime.datetime.fromtimestamp(86400))]))
"""
    assert facts(make_world(None, "python_execute"), code) == [1970, "1970-01-02 00:00:00"]


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("date '+%F %T'", "2025-01-15 09:00:01"),
        ("date -u -d yesterday +%F", "2025-01-14"),
        ("date --date='2 days' +%F", "2025-01-17"),
        ("date -d 2024-02-29 +%A", "Thursday"),
        ("date -d @0 +%Y", "1970"),
        ("python3 -c 'import datetime; print(datetime.date.today())'", "2025-01-15"),
        ("echo $SOURCE_DATE_EPOCH", "1736931601"),
    ],
)
def test_commands_know_the_worlds_date(make_world: MakeWorld, command: str, shown: str) -> None:
    world = make_world(None, "terminal")
    assert world.call("terminal", "run_command", {"command": command}).text.split("\n")[0] == shown
