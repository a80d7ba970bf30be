"""Latency of mail clients: Python's imaplib and smtplib against a server in a separate process.

    python benchmarks/mail.py [--messages 1000] [--mails 200] [--rounds 3]

A mailbox with that many messages is served; reported are the medians of the seconds that it takes to fetch
their headers, a few fields with sizes and flags, envelopes and whole messages, and to search them; and
the mails a second that are sent over one SMTP connection. Target: 1,000 headers in less than 2 seconds.
"""

from __future__ import annotations

import argparse
import imaplib
import smtplib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mesocosm.hosting.pool import EpisodePool
from mesocosm.servers.email.store import EmailStore
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest

ADDRESS = "ada@example.org"
FETCHES = {
    "headers": "(BODY.PEEK[HEADER])",
    "fields, sizes, flags": "(UID FLAGS RFC822.SIZE BODY.PEEK[HEADER.FIELDS (SUBJECT FROM DATE)])",
    "envelopes": "(UID FLAGS INTERNALDATE ENVELOPE)",
    "whole messages": "(BODY.PEEK[])",
}


def make_episode(state: Path, messages: int) -> str:
    """A world with one mailbox, as an episode below a state directory."""
    task: Any = SimpleNamespace(
        name="benchmark", path=Path("tasks/benchmark.yaml"), task=SimpleNamespace(servers={})
    )
    with tempfile.TemporaryDirectory() as folder:
        instance = Path(folder) / "instance"
        instance.mkdir()
        with World.create(instance / "world", Manifest(services={"email": None})) as world:
            store = world.store(EmailStore)
            store.create_account(ADDRESS, "Ada Byron", "engine-1843")
            store.sign_in(ADDRESS)
            store.add_emails(ADDRESS, "INBOX", (_message(number) for number in range(messages)))
            world.finish_building()
        (instance / "expected.json").write_text("{}")
        (instance / "prompt.md").write_text("")
        return EpisodePool(state).adopt(instance, task)


def _message(number: int) -> Any:
    return {
        "sender": f"Colleague {number % 40} <colleague{number % 40}@example.org>",
        "to": ADDRESS,
        "subject": f"Report {number}" if number % 5 else f"Übersicht {number}",
        "body": f"The report with number {number} is ready.\n" * (number % 20 + 1),
        "date": f"2025-01-{number % 28 + 1:02}T08:00:00Z",
    }


def timed(action: Callable[[], Any], rounds: int) -> float:
    """Median of the seconds that it takes."""
    seconds = []
    for _ in range(rounds):
        started = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def measure(ports: dict[str, int], password: str, mails: int, rounds: int) -> None:
    """Print what the clients measure."""
    with imaplib.IMAP4("127.0.0.1", ports["imap"]) as reader:
        reader.login(ADDRESS, password)
        count = int(reader.select("INBOX")[1][0] or 0)
        for name, what in FETCHES.items():
            print(f"{count} {name:22} {timed(partial(reader.fetch, '1:*', what), rounds):8.3f} s")
        search = timed(lambda: reader.search(None, 'TEXT "number 77"'), rounds)
        print(f"{count} {'searched for a text':22} {search:8.3f} s")
    with smtplib.SMTP("127.0.0.1", ports["smtp"]) as sender:
        sender.login(ADDRESS, password)
        text = f"From: {ADDRESS}\r\nTo: {ADDRESS}\r\nSubject: Hello\r\n\r\nHello.\r\n"
        seconds = timed(lambda: [sender.sendmail(ADDRESS, [ADDRESS], text) for _ in range(mails)], 1)
        print(f"{mails / seconds:.0f} mails a second")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--mails", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        episode = make_episode(Path(folder), options.messages)
        words = ["serve", "--port", "0", "--imap-port", "0", "--smtp-port", "0", "--state", folder]
        with subprocess.Popen(
            [sys.executable, "-m", "mesocosm", *words], stderr=subprocess.PIPE, text=True
        ) as server:
            try:
                assert server.stderr is not None
                ports: dict[str, int] = {}
                while len(ports) < 2:
                    line = server.stderr.readline()
                    if " port " in line:
                        ports[line.split()[0]] = int(line.split()[-1])
                measure(ports, episode, options.mails, options.rounds)
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
