"""The tool with which an agent runs Python."""

from __future__ import annotations

from mesocosm.sandbox.scripts import explain
from mesocosm.servers.python_execute.store import PythonExecuteStore, Ran
from mesocosm.services.schema import Nullable
from mesocosm.services.service import Service

server = Service(
    "python_execute",
    PythonExecuteStore,
    instructions="Runs Python programs in the workspace, with numpy, pandas and openpyxl, without a network.",
    runs_code=True,
)


@server.writes(destructive=True)
def python_execute(
    store: PythonExecuteStore, code: str, filename: Nullable[str] = None, timeout: Nullable[int] = 30
) -> str:
    """Run a Python 3 program and return what it prints.

    The program starts in /workspace, where it may read and write files; print what you want to see. numpy,
    pandas, openpyxl and python-dateutil are installed; there is no network. Each call starts anew: variables
    and imports of earlier calls are gone, files in /workspace stay, files in /tmp do not. Long output is cut
    in the middle; time, memory, processes and file sizes are limited.

    Args:
        code: The program, as you would write it into a .py file.
        filename: Name of the program in its error messages, such as analysis.py; it is not saved as a file.
        timeout: Seconds after which the program is stopped: 30 if not given, 120 at most.
    """
    return _report(store.run(code, filename, timeout))


def _report(ran: Ran) -> str:
    ended = ran.ended
    cut_off = ended.reached is not None
    sections = []
    for title, stream in (("STDOUT", ended.stdout), ("STDERR", ended.stderr)):
        if stream.total:
            sections.append(f"=== {title} ===\n{stream.text(cut_off=cut_off).rstrip()}")
    if not ended.stdout.total and not ended.stderr.total:
        sections.append("No console output produced.")
    facts = [f"Return code: {ended.status}", f"Timeout limit: {ran.limits.seconds} seconds"]
    sections.append("=== EXECUTION INFO ===\n" + "\n".join([*facts, *explain(ended, ran.limits)]))
    return "\n".join(sections)
