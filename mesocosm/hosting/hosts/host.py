"""A process that hosts episodes behind a door, and ends when whoever started it does."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from mesocosm.families.store import EpisodeStore
from mesocosm.hosting.hosts.placement import Ids, Seat
from mesocosm.hosting.pool import EpisodePool
from mesocosm.hosting.replication import KEEP_EVERY
from mesocosm.hosting.tokens import Quota

if TYPE_CHECKING:
    from mesocosm.hosting.application import Hosting


class HostSettings(BaseModel):
    """Settings that a host is started with."""

    number: int
    """By which the ids that it draws lead to it."""
    address: str
    """Address to listen on: the path of a unix socket, or ``name:port``."""
    state: Path
    """The directory of the episodes, which all hosts share."""
    mail: dict[str, str] = {}
    """Where it is to listen for ``imap`` and ``smtp``, like the address."""
    mail_ports: dict[str, int] = {}
    """The door's ports of these, which clients are told."""
    key: str
    """Of the ids, in hexadecimal digits."""
    admin_token: str
    token_file: Path | None = None
    """File of tokens, read by the door, which tells hosts of changes."""
    tokens: list[Quota] = []
    """Further tokens for the control plane; the door counts their holders' use."""
    allowed_hosts: list[str] = []
    store: str | None = None
    """URL of where episodes are kept besides."""
    keep_every: float = KEEP_EVERY
    server: str | None = None
    """The name under which it holds what is kept there; all hosts of a door have one."""
    alone: bool = False
    """True if no other host shares its state directory: released episodes then stay only in the store."""
    expire_after: float | None = None
    expire_abandoned: bool = True
    """Seconds after which episodes that nobody uses are removed."""
    behind_proxy: bool = False
    """True if forwarding headers are trusted, which requires that all clients are on this machine."""


def run(settings: HostSettings, ready: Callable[[], None]) -> None:
    """Host episodes until told to end."""
    from mesocosm.hosting.server import listen_at, serve_at

    hosting = hosting_of(settings)
    listeners = {protocol: listen_at(address) for protocol, address in settings.mail.items()}
    beside = mail_servers(hosting.pool, listeners)
    serve_at(hosting, settings.address, ready, beside, behind_proxy=settings.behind_proxy)


def hosting_of(settings: HostSettings) -> Hosting:
    """Build the application of a host from its settings."""
    from mesocosm.doors.connections import connections, raise_file_limit
    from mesocosm.hosting.application import Hosting

    raise_file_limit()
    # All come from the door, which has let in as many as it wants to.
    connections.limited = False
    hosting = Hosting(
        settings.state,
        admin_token=settings.admin_token,
        allowed_hosts=settings.allowed_hosts,
        store=EpisodeStore(settings.store) if settings.store else None,
        keep_every=settings.keep_every,
        tokens=settings.tokens,
        server=settings.server,
        seat=Seat(settings.number, Ids(bytes.fromhex(settings.key))),
        alone=settings.alone,
        expire_after=settings.expire_after,
        expire_abandoned=settings.expire_abandoned,
    )
    hosting.pool.mail_ports.update(settings.mail_ports)
    return hosting


def mail_servers(
    pool: EpisodePool, listeners: Mapping[str, socket.socket]
) -> AbstractAsyncContextManager[object]:
    """Mail for the episodes of a host, on what listens already."""
    if not listeners:
        return nullcontext()
    from mesocosm.doors.mail.access import OwnMailboxes
    from mesocosm.doors.mail.ports import MailServers

    return MailServers(OwnMailboxes(pool), imap=listeners.get("imap"), smtp=listeners.get("smtp"))


def live(settings: HostSettings, starter: Connection) -> None:
    """Run a host as a process; tells ``starter`` when it serves, and ends with it."""
    from mesocosm.worlds.log_format import report_with_time

    os.setsid()
    take_turns()
    report_with_time()
    # What is made for this process alone, such as the image of its sandboxes, goes with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    threading.Thread(target=_end_with, args=(starter,), daemon=True).start()
    run(settings, lambda: starter.send_bytes(b"serves"))


def _end_with(starter: Connection) -> None:
    try:
        starter.recv_bytes()
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGTERM)


def take_turns() -> None:
    """Let this thread wait for its turn where all processors are at work, in place of pushing others aside.

    Until then more requests have come, and are answered together. Woken for each of them alone, it finds the
    processor's caches full of what others do, which costs more than the request. What it starts is as usual.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH | os.SCHED_RESET_ON_FORK, os.sched_param(0))
