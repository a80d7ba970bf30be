"""Explanation of a failure by a process of its own.

In a world of 4M tokens it takes ten seconds of a processor and more, in which a thread would keep the pages
of the others waiting.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError

from mesocosm.errors import UsageError
from mesocosm.evaluation.browser.marks import Marks
from mesocosm.evaluation.browser.subject import Subject
from mesocosm.evaluation.browser.why import explain
from mesocosm.evaluation.browser.why_parts import WhyPart, WhyPoint
from mesocosm.evaluation.browser.why_points import points
from mesocosm.worlds.garbage import look_rarely

# -P: no code of whoever may write to the working directory.
_COMMAND = (sys.executable, "-P", "-m", "mesocosm.evaluation.browser.working_out")


class WorkedOut(BaseModel):
    """Explanation of a failure."""

    why: Sequence[WhyPart] = ()
    points: Sequence[WhyPoint] = ()
    first_wrong: tuple[int, str] | None = None

    @classmethod
    def broken(cls, reason: str) -> WorkedOut:
        """Say in its place why there is none."""
        return cls(why=[WhyPart(f"It could not be worked out: {reason}")])


class WorkingOut:
    """A process at work; which Python beside task files is trusted it knows by the environment.

    Args:
        path: The folder of an episode, a finished run or a kept sample.
        folder: What the process writes lies there, and is gone with it.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        # Ctrl-C at the terminal is for who started it.
        self.process = subprocess.Popen(
            [*_COMMAND, str(path.absolute())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(folder)},
            process_group=0,
        )
        self._found = WorkedOut()
        self._reader = threading.Thread(target=self._read, name="why", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        answer, errors = self.process.communicate()
        try:
            self._found = WorkedOut.model_validate_json(answer)
        except ValidationError:
            code, said = self.process.returncode, errors.decode("utf-8", "replace").strip()
            how = signal.Signals(-code).name if code < 0 else f"code {code}"
            self._found = WorkedOut.broken(said.rpartition("\n")[2] or f"the process for it ended by {how}")
            if said:
                print(said, file=sys.stderr)

    @property
    def found(self) -> WorkedOut | None:
        """The explanation, as soon as there is one."""
        return None if self._reader.is_alive() else self._found

    def wait(self) -> WorkedOut:
        """Wait for the explanation."""
        self._reader.join()
        return self._found

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self._reader.join()


# -- in the other process --------------------------------------------------------------------------------


def main() -> None:
    """Work out the episode that the argument names, for the process that started this one."""
    answers, sys.stdout = sys.stdout, sys.stderr
    look_rarely()
    try:
        subject = Subject(Path(sys.argv[1]))
        try:
            marks = Marks(subject)
            made = WorkedOut(
                why=explain(subject, marks), points=points(subject, marks), first_wrong=subject.first_wrong
            )
        finally:
            subject.close()
    except UsageError as error:
        made = WorkedOut.broken(str(error))
    print(made.model_dump_json(), file=answers)


if __name__ == "__main__":
    main()
