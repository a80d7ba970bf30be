"""The tools with which an agent uses a shell."""

from __future__ import annotations

from mesocosm.sandbox.scripts import explain, size
from mesocosm.servers.terminal.store import MAX_COMMAND_BYTES, Ran, TerminalStore
from mesocosm.services.service import Service

server = Service(
    "terminal",
    TerminalStore,
    instructions="Runs shell commands in the workspace, without a network. show_security_rules lists what is "
    "there and what is limited.",
    runs_code=True,
)

NOT_FOUND = 127


@server.writes(destructive=True)
def run_command(store: TerminalStore, command: str) -> str:
    """Run a command line with bash, in /workspace, and return its output and return code.

    Pipes, redirections, quoting, variables, loops and && work as usual; process substitution <(...) does not.
    Only the commands that show_security_rules lists exist. Each call is a fresh shell: files in /workspace
    stay; a changed directory, variables, background processes and files in /tmp do not. There is no network.
    Files bear the world's time once the command that wrote them has ended, not before.

    Args:
        command: The command line, such as: grep -c error log.txt | sort -n
    """
    return _report(store.run(command))


@server.reads
def show_security_rules(store: TerminalStore) -> str:
    """List the commands that exist in the terminal, and the limits under which they run."""
    rules = store.rules()
    limits = rules.limits
    enforced = {
        True: "the kernel shows nothing of the machine but the workspace, the commands and their libraries",
        False: "NOT isolated: a plain process of the server's user, as its operator asked",
        None: "commands are not available on this server",
    }[rules.isolated]
    return "\n".join(
        [
            "Security rules of the terminal:",
            "Working directory: /workspace (the only place where files last; /tmp is emptied each time)",
            f"Isolation: {enforced}",
            "Network: none" if rules.isolated else "Network: not restricted",
            f"Commands: {', '.join(rules.commands)}; and those built into bash",
            f"Command line: at most {MAX_COMMAND_BYTES:,} bytes",
            f"Time: {limits.seconds} seconds",
            f"Memory: {size(limits.memory_bytes)}",
            f"Processes: {limits.processes}" if rules.isolated else "Processes: not limited",
            f"File size: {size(limits.file_bytes)}; /tmp: {size(limits.scratch_bytes)}",
            f"Workspace: {size(limits.workspace_bytes)} in {limits.workspace_entries:,} files and folders",
            "Links that leave the workspace, hard links, pipes, sockets and devices are removed from it",
        ]
    )


def _report(ran: Ran) -> str:
    ended = ran.ended
    cut_off = ended.reached is not None
    parts = [
        stream.text(cut_off=cut_off).rstrip("\n") for stream in (ended.stdout, ended.stderr) if stream.total
    ]
    if ended.status == NOT_FOUND:
        parts.append("Only the commands that show_security_rules lists exist.")
    parts += explain(ended, ran.limits)
    return "\n".join([*parts, f"Command completed with return code: {ended.status}"])
