"""Many jobs in processes of this machine: lost processes, order, memory."""

from __future__ import annotations

from pathlib import Path

import jobs
import pytest

from mesocosm.families.workers.processes import Processes
from mesocosm.families.workers.workers import WorkersLost


@pytest.mark.parametrize("count", [1, 2])
def test_results_come_with_their_jobs_or_in_their_order(count: int) -> None:
    with Processes(count) as workers:
        assert dict(workers.done(jobs.squared, range(9))) == {n: n * n for n in range(9)}
        assert list(workers.ordered(jobs.squared, range(9))) == [n * n for n in range(9)]


def test_a_job_whose_process_is_killed_is_done_by_another(tmp_path: Path) -> None:
    marks = [tmp_path / name for name in "ab"]
    with Processes(2) as workers:
        assert {name for _, name in workers.done(jobs.killed_once, marks)} == {"a", "b"}


def test_a_job_that_kills_every_process_is_named_in_the_end() -> None:
    with Processes(2) as workers, pytest.raises(WorkersLost, match=r"3 times that did this job: 'huge'"):
        list(workers.done(jobs.killed, ["huge"]))


def test_what_goes_wrong_in_a_job_is_no_reason_to_do_it_again() -> None:
    with Processes(2) as workers, pytest.raises(ZeroDivisionError, match="job 7"):
        list(workers.done(jobs.refused, [7]))


def test_no_more_is_begun_than_there_is_memory_for() -> None:
    begun: list[int] = []

    class Watched(Processes):
        def room(self, memory: int) -> bool:
            begun.append(memory)
            return memory <= 2

    with Watched(2) as workers:
        assert len(list(workers.done(jobs.squared, range(6), lambda _: 1))) == 6
        assert max(begun) == 3, "a third was asked for, and not begun"
        # What needs more than there is, is done alone.
        assert list(workers.done(jobs.squared, [3], lambda _: 5)) == [(3, 9)]
