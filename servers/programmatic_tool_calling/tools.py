"""The tool with which an agent calls the other tools from code."""

from __future__ import annotations

from typing import Any

from mesocosm.sandbox.scripts import explain
from mesocosm.servers.programmatic_tool_calling.store import ProgrammaticToolCallingStore, Ran
from mesocosm.services.schema import Nullable
from mesocosm.services.service import Service

server = Service(
    "programmatic_tool_calling",
    ProgrammaticToolCallingStore,
    instructions="Runs Python programs that call the other tools as functions; what they print comes back.",
    runs_code=True,
)


@server.writes(destructive=True)
def code_execution(
    store: ProgrammaticToolCallingStore,
    code: str,
    filename: Nullable[str] = None,
    timeout: Nullable[int] = 30,
    tool_results_cache: Nullable[dict[str, str]] = None,
    _tools_available: Nullable[list[str]] = None,
) -> dict[str, Any]:
    """Run a Python 3 program that can call your other tools, and return what it prints.

    Every other tool is a function of its name, to be called with the arguments that the tool takes:
    emails = get_emails(page=1). Tools of several services that have the same name bear their service before
    it, as in email_list_users(). The same functions are in the module tools; dir(tools) lists them.
    A call returns the tool's result: dicts and lists where it is JSON, otherwise text. A list that has more
    pages bears the number of the next one in .next_page. A refused call raises ToolError. Calls take effect
    at once, as if you had made them yourself; threads may make them in parallel. Results go to your program
    only, so print or end with an expression for what you want to see.

    The program starts in /workspace; numpy, pandas, openpyxl and python-dateutil are installed; there is no
    network. Each run starts anew: variables of earlier runs are gone, files in /workspace stay. Declaring the
    task done ends the program, too. The result is JSON: success, stdout, stderr, return_value (of a last line
    that is an expression), error, tool_calls.

    Args:
        code: The program, as you would write it into a .py file.
        filename: Name of the program in its error messages; it is not saved as a file.
        timeout: Seconds after which the program is stopped: 30 if not given, 120 at most.
        tool_results_cache: Not used; calls are made while the program runs.
        _tools_available: Not used; all tools of the episode are available.
    """
    return _report(store.run(code, filename, timeout))


def _report(ran: Ran) -> dict[str, Any]:
    ended = ran.ended
    cut_off = ended.reached not in (None, "done")
    remarks = explain(ended, ran.limits)
    failed = ran.error or (f"The program ended with status {ended.status}." if ended.status else None)
    return {
        "success": ended.status == 0,
        "stdout": ended.stdout.text(cut_off=cut_off),
        "stderr": ended.stderr.text(cut_off=cut_off),
        "return_value": ran.return_value,
        "error": remarks[0] if cut_off else failed,
        "tool_calls": ran.calls,
    } | ({"remarks": further} if (further := remarks[cut_off:]) else {})
