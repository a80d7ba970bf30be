"""A program that stands for a command: it lends its streams, folder and environment to a process that is
forked elsewhere (``commands.py``), passes signals on to it, and ends as it does.

Loads little, for it is started often: ``python -I -S lent_streams.py ADDRESS WORDS``.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Mapping, Sequence

NUMBER = struct.Struct("i")


def ask(
    channel: socket.socket,
    words: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    streams: Sequence[int],
) -> int:
    """Ask for a process that does ``mesocosm WORDS``; returns its number. When it has ended, its exit status
    is in the channel; while it runs, closing the channel kills it."""
    socket.send_fds(channel, [b"x"], streams)
    asked = {"words": words, "folder": folder, "environment": dict(environment)}
    channel.sendall(json.dumps(asked).encode() + b"\n")
    number = received(channel)
    assert number is not None, "the process that commands are forked from has ended"
    return number


def received(channel: socket.socket) -> int | None:
    """The next number; nothing if there will be none."""
    said = channel.recv(NUMBER.size, socket.MSG_WAITALL)
    return int(NUMBER.unpack(said)[0]) if said else None


def main(address: str, words: Sequence[str]) -> int:
    """Stand for a command; returns its exit status, negative for a signal."""
    with socket.socket(socket.AF_UNIX) as channel:
        channel.connect(address)
        number = ask(channel, words, os.getcwd(), os.environ, (0, 1, 2))
        for passed_on in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(passed_on, lambda given, _: os.kill(number, given))
        status = received(channel)
    return 1 if status is None else status


if __name__ == "__main__":
    ended = main(sys.argv[1], sys.argv[2:])
    if ended < 0:
        signal.signal(-ended, signal.SIG_DFL)
        os.kill(os.getpid(), -ended)
    os._exit(ended)
