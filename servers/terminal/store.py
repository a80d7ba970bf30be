"""Running commands in the workspace; what they change there is their only record."""

from __future__ import annotations

from dataclasses import dataclass

from mesocosm.errors import Invalid
from mesocosm.sandbox import levels
from mesocosm.sandbox.jobs import Job, JobEnded, JobLimits
from mesocosm.sandbox.runtime import COMMANDS
from mesocosm.sandbox.scripts import limits_in
from mesocosm.services.service import Store
from mesocosm.worlds.limits import settings

MAX_COMMAND_BYTES = 32_768


@dataclass(frozen=True)
class Rules:
    """Constraints on a command."""

    commands: tuple[str, ...]
    isolated: bool | None
    """True if the kernel enforces them; ``None`` where no commands are run at all."""
    limits: JobLimits


@dataclass(frozen=True)
class Ran:
    """Outcome of a command line, with the limits it ran under."""

    ended: JobEnded
    limits: JobLimits


class TerminalStore(Store):
    """Every command line is a fresh shell; nothing but the workspace outlives it."""

    def run(self, command: str) -> Ran:
        """Run a command line and wait for its end."""
        if not command.strip():
            raise Invalid("Argument 'command' must not be empty.")
        if "\0" in command:
            raise Invalid("Argument 'command' must not contain null characters.")
        if len(command.encode()) > MAX_COMMAND_BYTES:
            raise Invalid(f"Argument 'command' is too long; at most {MAX_COMMAND_BYTES:,} bytes are run.")
        limits = limits_in(self.world, self.limits)
        job = Job(("bash", "-c", command, "bash"), self.workspace.root, limits, moment=self.now)
        return Ran(levels.active().run(job), limits)

    @property
    def limits(self) -> JobLimits:
        """The limits of every command line."""
        return JobLimits.configured(settings().sandbox_timeout)

    def rules(self) -> Rules:
        """The rules that are in force."""
        try:
            isolated: bool | None = levels.active().isolated
        except levels.Unavailable:
            isolated = None
        return Rules(COMMANDS, isolated, self.limits)
