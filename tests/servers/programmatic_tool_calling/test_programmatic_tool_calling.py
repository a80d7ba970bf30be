"""programmatic_tool_calling: programs call the other tools, exactly as the agent could itself."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from mailbox import fill_mailbox
from pathlib import Path
from typing import Any

import pytest
from confinement import needs_sandbox, with_time_to_begin

from mesocosm.evaluation.replay import replay_episode
from mesocosm.services.calling import ToolError
from mesocosm.services.world import World
from mesocosm.worlds.copies import copy_world
from mesocosm.worlds.manifest import Manifest

OpenTools = Callable[..., Any]
pytestmark = needs_sandbox
SERVICES = ("email", "filesystem", "programmatic_tool_calling", "python_execute", "claim_done")


@pytest.fixture
def tools(open_tools: OpenTools) -> Any:
    return open_tools(fill_mailbox, *SERVICES)


@pytest.fixture
def run(tools: Any) -> Callable[..., dict[str, Any]]:
    def call(code: str, **arguments: Any) -> dict[str, Any]:
        result = tools.call("programmatic_tool_calling", "code_execution", code=code, **arguments)
        assert isinstance(result, dict)
        return result

    return call


Run = Callable[..., dict[str, Any]]


def test_only_what_is_printed_comes_back(run: Run, tools: Any) -> None:
    result = run("page = get_emails(page_size=2)\nprint(page['total'], len(page['emails']))")
    assert result == {
        "success": True, "stdout": f"{tools.call('email', 'get_emails')['total']} 2\n", "stderr": "",
        "return_value": None, "error": None, "tool_calls": 1,
    }  # fmt: skip


def test_calls_of_a_program_are_journalled_inside_its_own(run: Run, tools: Any) -> None:
    run("tools.get_emails()\ntools.send_email(to='a@b.org', subject='s', body='b')")
    calls = [(e.seq, e.parent, e.tool, e.status) for e in tools.world.journal.entries()]
    assert calls == [
        (1, None, "code_execution", "ok"),
        (2, 1, "get_emails", "ok"),
        (3, 1, "send_email", "ok"),
    ]


def test_a_program_is_not_told_what_else_the_server_has_open(run: Run) -> None:
    code = """
import os, stat
def is_socket(number):
    try: return stat.S_ISSOCK(os.fstat(number).st_mode)
    except OSError: return False
print([number for number in range(3, 999) if is_socket(number)], "SESSION_FD" in os.environ)
"""
    first = run(code)["stdout"]
    with ExitStack() as opened:
        for _ in range(50):
            opened.enter_context(tempfile.TemporaryFile())
        assert run(code)["stdout"] == first == "[9] False\n"


def test_only_results_that_reach_the_agent_count_as_delivered(run: Run, tools: Any) -> None:
    run("for _ in range(5): tools.get_emails()")
    assert 10 < tools.world.journal.delivered_tokens() < 80


def test_each_call_is_made_once_and_builds_on_those_before_it(run: Run) -> None:
    code = """
for number in range(3):
    sent = send_email(to="a@b.org", subject=f"mail {number}", body="b")
    assert read_email(email_id=sent["id"])["subject"] == f"mail {number}"
[mail["subject"] for mail in search_emails(query="mail", folder="Sent")["emails"]]
"""
    result = run(code)
    assert result["success"], result
    assert sorted(result["return_value"]) == ["mail 0", "mail 1", "mail 2"]
    assert result["tool_calls"] == 7


def test_threads_may_call_in_parallel(run: Run) -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    ids = list(pool.map(lambda n: send_email(to="a@b.org", subject=str(n), body="b")["id"], range(20)))
len(set(ids))
"""
    assert run(code)["return_value"] == 20


def test_a_refused_call_raises_in_the_program(run: Run) -> None:
    result = run("try: read_email('nope')\nexcept ToolError as error: print(error)")
    assert result["stdout"] == "Email not found: nope\n"
    assert run("read_email('nope')")["error"] == "ToolError: Email not found: nope"


def test_arguments_are_validated_as_for_direct_calls(run: Run) -> None:
    assert "Argument 'page'" in run("get_emails(page='two')")["error"]
    assert "unexpected keyword argument" in run("get_emails(nope=1)")["error"]


def test_functions_are_typed_and_described(run: Run) -> None:
    code = """
import inspect, typing
print(inspect.signature(tools.get_emails))
print(typing.get_type_hints(tools.read_email))
print("send_email" in dir(tools), "page_size" in tools.get_emails.__doc__)
"""
    lines = run(code)["stdout"].splitlines()
    assert lines[0].startswith("(folder: str = Ellipsis")
    assert lines[1:] == ["{'email_id': <class 'str'>}", "True True"]


def test_files_written_by_tools_and_by_the_program_are_the_same(run: Run) -> None:
    code = """
write_file(path="a.txt", content="one")
with open("a.txt", "a") as file: file.write(" two")
read_text_file(path="/workspace/a.txt")
"""
    assert run(code)["return_value"] == "one two"


def test_modules_of_the_workspace_are_the_programs_only(run: Run) -> None:
    assert run("for name in ('queue', 'mine'): open(f'{name}.py', 'w').write('VALUE = 42')")["success"]
    assert run("import mine\nmine.VALUE")["return_value"] == 42


def test_a_program_cannot_call_its_own_tool(run: Run) -> None:
    code = """
for name in ("programmatic_tool_calling", "woocommerce"):
    try:
        tools._namespace["call"](name, "code_execution", {"code": "1"})
    except ToolError as error:
        print(error)
"""
    assert run(code)["stdout"].splitlines() == [
        "Unknown tool: programmatic_tool_calling_code_execution",
        "Unknown tool: woocommerce_code_execution",
    ]


def test_tools_that_the_task_does_not_offer_are_not_offered_here(tmp_path: Path) -> None:
    services = {"email": ["get_emails"], "programmatic_tool_calling": None}
    with World.create(tmp_path / "world", Manifest(services=services)) as world:
        fill_mailbox(world)
        world.finish_building()
        code = "print(dir(tools))\ntools._namespace['call']('email', 'send_email', {})"
        text = world.call("programmatic_tool_calling", "code_execution", {"code": code}).text
        assert "['ToolError', 'get_emails']" in text
        assert "Unknown tool: email_send_email" in text
        assert not world.journal.with_status("fault")


def test_done_inside_a_program_ends_the_episode(run: Run, tools: Any) -> None:
    code = "print('all done')\nclaim_done()\nsend_email(to='a@b.org', subject='s', body='b')"
    result = run(code)
    assert (result["success"], result["stdout"], result["error"]) == (True, "all done\n", None)
    assert result["remarks"] == ["The episode is over, and so is the program."]
    assert tools.world.calls.ended
    assert [call.tool for call in tools.world.journal.entries()] == ["code_execution", "claim_done"]


def test_an_endless_program_is_stopped_and_its_calls_stay(run: Run, tools: Any) -> None:
    code = "print(get_emails(page_size=1)['page'])\nwhile True: pass"
    result = with_time_to_begin(
        lambda seconds: run(code, timeout=seconds), lambda result: result["stdout"] == "1\n"
    )
    assert not result["success"]
    assert result["stdout"] == "1\n"
    assert re.match(r"Execution timed out after \d+ seconds", result["error"])
    assert tools.call("email", "get_emails", page_size=1)["page"] == 1


@pytest.mark.parametrize(
    ("code", "value"),
    [("1 + 1", 2), ("x = 1", None), ("{1, 2}", "{1, 2}"), ("float('nan')", "nan"), ("10 ** 30", 1e30)],
)
def test_the_value_of_the_last_line_comes_back(run: Run, code: str, value: object) -> None:
    assert run(code)["return_value"] == value


def test_a_huge_value_is_cut(run: Run) -> None:
    value = run("'x' * 100_000")["return_value"]
    assert len(value) < 21_000
    assert value.endswith("[... truncated]")


def test_a_huge_value_arrives_though_the_server_was_busy_until_the_program_had_ended(run: Run) -> None:
    """What a slow machine does by chance: the value lies in the socket, whole, when the program has gone."""
    code = """
import threading, time
threading.Thread(target=lambda: python_execute("import time; time.sleep(60)"), daemon=True).start()
time.sleep(1)
'x' * 100_000
"""
    result = run(code)
    assert result["success"], result
    assert result["return_value"].endswith("x [... truncated]")


@pytest.mark.parametrize(
    "code", ["x = []\nfor _ in range(600): x = [x]\nx", "'\\ud800'", "2 ** 64", "print('\\0')"]
)
def test_no_value_breaks_the_answer(run: Run, tools: Any, code: str) -> None:
    run(code, timeout=5)
    assert not tools.world.journal.with_status("fault")


def test_an_exit_status_is_told(run: Run) -> None:
    result = run("import sys; print('a'); sys.exit(3)")
    assert (result["success"], result["stdout"], result["error"]) == (False, "a\n", "SystemExit: 3")


def test_the_traceback_is_the_programs_own(run: Run) -> None:
    stderr = run("def f():\n    return {}['a']\nf()", filename="mine")["stderr"]
    assert stderr.splitlines()[1].strip() == 'File "/run/code/mine.py", line 3, in <module>'
    assert "session.py" not in stderr


@pytest.mark.parametrize(
    "arguments",
    [
        {"code": ""},
        {"code": "1", "filename": "../x"},
        {"code": "1", "timeout": 0},
        {"code": "1", "tool_results_cache": 1},
    ],
)
def test_bad_arguments_are_refused(tools: Any, arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match="Argument"):
        tools.call("programmatic_tool_calling", "code_execution", **arguments)


def test_the_parameters_of_the_reference_that_are_not_needed_are_accepted(run: Run) -> None:
    assert run("1", tool_results_cache={"a": "b"}, _tools_available=["x"], timeout=None)["success"]


# -- replaying ------------------------------------------------------------------------------------------


@pytest.fixture
def episode(tmp_path: Path) -> Path:
    """An episode's folder, as far as replaying needs it, on which nothing was done yet."""
    path = tmp_path / "episode"
    with World.create(path / "world", Manifest(services=dict.fromkeys(SERVICES))) as world:
        fill_mailbox(world)
        world.finish_building()
    copy_world(path / "world", path / "base")
    (path / "episode.json").write_text('{"task": "none", "seed": 0, "target": null, "edl": 0}')
    return path


def act(episode: Path, *programs: str) -> None:
    with World(episode / "world") as world:
        for code in programs:
            outcome = world.call("programmatic_tool_calling", "code_execution", {"code": code})
            assert '"success":true' in outcome.text, outcome.text


PARALLEL = """
import random, time
from concurrent.futures import ThreadPoolExecutor
def send(number):
    time.sleep(random.random() / 20)
    send_email(to="a@b.org", subject=str(number), body="b")
with ThreadPoolExecutor(10) as pool:
    list(pool.map(send, range(10)))
open("done.txt", "w").write("done")
"""


def test_a_replay_makes_the_same_calls_in_the_same_order(episode: Path) -> None:
    act(
        episode,
        "get_emails()",
        PARALLEL,
        "send_email(to='a@b.org', subject='last', body='b')['id']",
    )
    replay = replay_episode(episode)
    assert replay.differences == []
    assert replay.calls == 3


def test_a_replay_reports_code_that_does_otherwise_than_it_did(episode: Path) -> None:
    act(episode, "import os\nsend_email(to='a@b.org', subject=os.urandom(4).hex(), body='b')")
    differences = replay_episode(episode).differences
    assert any("its code made other calls" in difference for difference in differences)


def test_calls_of_a_program_that_a_crash_cut_off_are_replayed(episode: Path) -> None:
    act(episode, "send_email(to='a@b.org', subject='s', body='b')\n1")
    with World(episode / "world") as world:
        world.journal.settle(1, "begun")
    assert replay_episode(episode).differences == []
