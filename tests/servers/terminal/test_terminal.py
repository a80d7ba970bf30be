"""terminal: bash in the workspace, with the commands on the list and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confinement import needs_sandbox

from mesocosm.sandbox.runtime import COMMANDS, missing_commands
from mesocosm.services.calling import ToolError

OpenTools = Callable[..., Any]
pytestmark = needs_sandbox


@pytest.fixture
def tools(open_tools: OpenTools) -> Any:
    return open_tools(lambda world: world.workspace.write("log.txt", b"b\na\nb\n"), "terminal")


@pytest.fixture
def run(tools: Any) -> Callable[[str], str]:
    return lambda command: str(tools.call("terminal", "run_command", command=command))


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ('sort log.txt | uniq -c | awk \'{print $2 "=" $1 "/"}\'', "a=1/\nb=2/"),
        ("echo x > f && cat f", "x"),
        ("for i in 1 2; do echo $i; done", "1\n2"),
        ("cd /tmp; pwd; cd /workspace; ls", "/tmp\nlog.txt"),
        ("python3 -c 'import pandas, sys; print(sys.argv[1:])' a", "['a']"),
        ("grep -c b log.txt; tar czf - log.txt | tar tz", "2\nlog.txt"),
        ("whoami 2>/dev/null || id -un", "agent"),
        ("cat <<'END' | sed s/o/0/g\nfoo\nEND", "f00"),
    ],
)
def test_a_shell_as_one_knows_it(run: Callable[[str], str], command: str, output: str) -> None:
    assert run(command) == f"{output}\nCommand completed with return code: 0"


def test_the_return_code_and_both_streams_come_back(run: Callable[[str], str]) -> None:
    assert run("echo out; echo err >&2; exit 3") == "out\nerr\nCommand completed with return code: 3"


def test_a_listing_is_the_same_whenever_it_is_made(run: Callable[[str], str]) -> None:
    run("mkdir d; echo x > d/f; ln -s f d/link")
    assert "Jan 15  2025 d" in run("ls -la")
    assert run("ls -la --time-style=full-iso d") == run("ls -la --time-style=full-iso d")


@pytest.mark.parametrize(
    "command", ["curl http://1.1.1.1", "perl -e 1", "gcc x.c", "sudo ls", "bwrap ls", "ps"]
)
def test_commands_that_are_not_on_the_list_do_not_exist(run: Callable[[str], str], command: str) -> None:
    text = run(command)
    assert "command not found" in text
    assert text.endswith("exist.\nCommand completed with return code: 127")


def test_every_command_of_the_list_exists(run: Callable[[str], str]) -> None:
    # What the machine itself lacks cannot be offered; `mesocosm doctor` names it.
    here = [name for name in COMMANDS if name not in missing_commands()]
    text = run(f"for name in {' '.join(here)}; do command -v $name > /dev/null || echo no $name; done")
    assert text == "Command completed with return code: 0"


def test_long_output_is_cut(run: Callable[[str], str]) -> None:
    text = run("seq 100000")
    assert text.startswith("1\n2\n")
    assert "99999\n100000\nCommand completed" in text
    assert len(text) < 41_000


@pytest.mark.parametrize("command", ["", "  ", "echo \0", "x" * 40_000])
def test_bad_commands_are_refused(tools: Any, command: str) -> None:
    with pytest.raises(ToolError, match="'command'"):
        tools.call("terminal", "run_command", command=command)
    assert [entry.path for entry in tools.world.workspace.walk()] == ["log.txt"]


def test_the_rules_name_what_is_enforced(tools: Any) -> None:
    text = tools.call("terminal", "show_security_rules")
    assert "Network: none" in text
    assert "awk, base64" in text
    assert "Time: 30 seconds" in text


def test_the_rules_say_when_nothing_is_run_at_all(tools: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESOCOSM_SANDBOX", "none")
    assert "not available on this server" in tools.call("terminal", "show_security_rules")
    with pytest.raises(ToolError, match="fault of the environment"):
        tools.call("terminal", "run_command", command="ls")
