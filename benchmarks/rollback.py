"""Cost of going back to a step, and overhead of keeping steps for each call that writes.

    python benchmarks/rollback.py [--task refund_list] [--length 8k] [--times 20]

A hundred calls are made that all write: mails, and a file with every tenth. Then the episode goes back to
the first of them, the worst of the last hundred, and to one of the last ten. In processor time: others may
use the machine, too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.quantities import parse_length

CALLS = 100


def act(episode: Episode) -> float:
    """Make the calls; milliseconds of one."""
    started = time.process_time()
    for number in range(CALLS):
        if number % 10:
            mail = {"to": "a@example.com", "subject": f"number {number}", "body": "text " * number}
            outcome = episode.world.call("email", "send_email", mail)
        else:
            file = {"path": f"{number}.txt", "content": "text " * number}
            outcome = episode.world.call("filesystem", "write_file", file)
        assert not outcome.is_error, outcome.text
    return (time.process_time() - started) * 1e3 / CALLS


def back(episode: Episode, step: int) -> float:
    """Go back on a copy; milliseconds."""
    fork = episode.fork(episode.path.with_name("fork"))
    try:
        assert fork.world.journal.last == CALLS
        started = time.process_time()
        fork.rollback(step)
        return (time.process_time() - started) * 1e3
    finally:
        fork.close()
        shutil.rmtree(fork.path)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="refund_list")
    parser.add_argument("--length", default="8k")
    parser.add_argument("--times", type=int, default=20)
    options = parser.parse_args()
    family = load_family(options.task)
    with tempfile.TemporaryDirectory() as folder:
        instance = build_instance(
            family, 0, Path(folder) / "instance", target=parse_length(options.length)
        ).path
        print(f"{options.task} at {options.length}; load {os.getloadavg()[0]:.1f}")
        for kept in (True, False):
            episode = Episode.create(Path(folder) / f"episode-{kept}", instance, family)
            if not kept:
                shutil.rmtree(episode.path / "world" / "steps")
            act(episode)
            episode.reset()
            if not kept:
                episode.close()
                shutil.rmtree(episode.path / "world" / "steps")
            each = act(episode)
            print(f"a call that writes, steps {'kept' if kept else 'not kept'}: {each:.2f} ms")
            if kept:
                files = (path for path in (episode.path / "world" / "steps").rglob("*") if path.is_file())
                print(f"{CALLS} steps take {sum(path.stat().st_size for path in files) / 1e6:.1f} MB")
                for step in (0, CALLS - 10):
                    taken = [back(episode, step) for _ in range(options.times)]
                    print(
                        f"back over {CALLS - step} calls: {median(taken):.2f} ms, at most {max(taken):.2f} ms"
                    )
            episode.close()


if __name__ == "__main__":
    main()
