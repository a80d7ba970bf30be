"""Running Python in the workspace; what it changes there is its only record."""

from __future__ import annotations

from dataclasses import dataclass

from mesocosm.sandbox import levels, runtime
from mesocosm.sandbox.jobs import CODE, WORKSPACE, Job, JobEnded, JobLimits
from mesocosm.sandbox.scripts import checked_code, checked_filename, checked_limits
from mesocosm.services.service import Store


@dataclass(frozen=True)
class Ran:
    """Outcome of a program, with the limits it ran under."""

    ended: JobEnded
    limits: JobLimits


class PythonExecuteStore(Store):
    """Every run is a fresh interpreter; nothing but the workspace outlives it."""

    def run(self, code: str, filename: str | None, timeout: int | None) -> Ran:
        """Run a program and wait for its end."""
        source, name, limits = (
            checked_code(code),
            checked_filename(filename),
            checked_limits(self.world, timeout),
        )
        job = Job(
            # The script lies outside of the workspace, where it leaves nothing behind; modules are
            # nevertheless imported from the workspace, as if it lay there.
            (runtime.PYTHON, "-P", f"{CODE}/{name}"),
            self.workspace.root,
            limits,
            {name: source},
            {"PYTHONPATH": WORKSPACE},
            self.now,
        )
        return Ran(levels.active().run(job), limits)
