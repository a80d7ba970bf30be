"""The door: what listens, and sends every request to the host that its episode is on."""

# One door in front of several processes: Python computes on one core per process (decision 079).

from __future__ import annotations

import asyncio
import secrets
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

import orjson
from starlette.types import Message

import mesocosm
from mesocosm.doors.rooted import Rooted, RootedByToken, rooted_at
from mesocosm.errors import UsageError
from mesocosm.hosting.application import ENDING
from mesocosm.hosting.background import Background
from mesocosm.hosting.hosts import parting
from mesocosm.hosting.hosts.asking import ask, handed_on
from mesocosm.hosting.hosts.links import Host
from mesocosm.hosting.hosts.placement import Placement
from mesocosm.hosting.hosts.relay import ENDED, REPLACED, Choice, Client, Head, HostReply, busy
from mesocosm.hosting.metrics import (
    CONTENT_TYPE,
    LINES_LOST,
    MISSING,
    REFUSED,
    RETRY_AFTER,
    Drain,
    Draining,
    Metrics,
    RequestLog,
    gauge_draining,
    together,
)
from mesocosm.hosting.pool import kind_of, log_request
from mesocosm.hosting.quotas import QuotaRequest, Quotas
from mesocosm.hosting.repeats import Repeats
from mesocosm.hosting.server import DRAINING
from mesocosm.hosting.tokens import OWN, Keys, Quota, Scope

MOST_BUSY = 1000
"""Requests that a host may be working at; more are told to come again."""
_PATIENCE = 10.0
"""Seconds that a request waits for a host, and an episode for being moved."""
_HEARD_WITHIN = 2.0
"""Seconds in which all hosts are to say whether they are ready; then what some of them said is answered."""
_CALM = 2
"""Requests at which the other hosts may be when one comes,"""
_CALMING = 5.0
"""and seconds after which it comes whatever they are at."""
_STRANGER = HostReply.refusal(
    401, "the control plane needs the admin token as bearer token", **{"www-authenticate": "Bearer"}
)
_NOBODY = "no host is up; they are being started"


@dataclass
class _Move:
    """Episodes are on other hosts than before, and each host is being told."""

    before: Placement
    told: dict[int, asyncio.Task[None]]

    def __post_init__(self) -> None:
        self.settled = asyncio.gather(*self.told.values(), return_exceptions=True)
        """All have been told."""

    def awaited(self, id_: str, number: int) -> list[asyncio.Task[None]]:
        """List what has to finish before a host may be asked for an episode: the previous host has closed it,
        and the new one knows that it owns it.
        """
        was = self.before.of(id_)
        if was is None or was == number:
            return []
        return [task for one in (was, number) if (task := self.told.get(one)) and not task.done()]


class Door:
    """Entry point of clients' requests. Knows nothing of a host but its address."""

    def __init__(
        self,
        placement: Placement,
        admin_token: str,
        *,
        most_busy: int = MOST_BUSY,
        log: RequestLog | None = None,
        tokens: Sequence[Quota] = (),
        token_file: Path | None = None,
        state: Path | None = None,
        prune: bool = False,
        mail: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self.placement = placement
        self.hosts: dict[int, Host] = {}
        self.mail = dict(mail)
        """Its ports of ``imap`` and ``smtp``."""
        self._admin_token = admin_token
        self._most_busy = most_busy
        self._repeats = Repeats()
        self._changed = asyncio.Event()
        self.joins: Callable[[bytes], HostReply] | None = None
        """Answers hosts that come by themselves, if they may."""
        self.parts: Callable[[bytes], Awaitable[HostReply]] | None = None
        """Answers those that are to end."""
        self.told: list[Callable[[], None]] = []
        """Callbacks that are told, before hosts are, that episodes have moved."""
        self._moves: list[_Move] = []
        self._turns = 0
        """Number of announcements of hosts; the latest is valid."""
        self._clients: weakref.WeakSet[Client] = weakref.WeakSet()
        self._log = log
        self._ends = False
        self.metrics = Metrics("mesocosm_door")
        if log is not None:
            self.metrics.gauge("mesocosm_log_lines_lost", LINES_LOST, lambda: log.lost)
        self.metrics.gauge("mesocosm_hosts_up", "Hosts that serve", lambda: len(self.placement.up))
        self.metrics.gauge(
            "mesocosm_busy", "Requests being answered", lambda: sum(h.busy for h in self.hosts.values())
        )
        self._ended = self.metrics.counter("mesocosm_hosts_ended", "Hosts that have ended")
        self._keys = Keys(admin_token, tokens)
        self._quotas: Quotas | None = None
        if tokens or token_file:
            assert state, "quotas are kept there"
            self._quotas = Quotas(state, self._keys, tokens, self.metrics, prune=prune)
        self._tokens = [quota.model_dump(mode="json") for quota in tokens]
        self.background = Background()
        self._draining = Draining()
        gauge_draining(self.metrics, self._draining)

    def client(self) -> Client:
        """The protocol of a connection of a client."""
        client = Client(self)
        self._clients.add(client)
        return client

    def take_tokens(self, tokens: Sequence[Quota]) -> None:
        """From now on these are the tokens, besides the server's own, here and on all hosts."""
        self._keys.take(tokens)
        self._tokens = [quota.model_dump(mode="json") for quota in tokens]
        if self._quotas is not None:
            self._quotas.take(tokens)
        self._place(self.placement.up)

    # -- hosts come and go ------------------------------------------------------------------------------

    async def came(self, host: Host) -> None:
        """Add a host. Others close the episodes that become its own; until then they are unavailable."""
        await self._calm()
        self.hosts[host.number] = host
        await self._place({*self.placement.up, host.number}).settled

    async def _calm(self) -> None:
        """Wait until hosts have opened what they took over: moving an episode meanwhile would open it
        twice.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + _CALMING
        while loop.time() < until and any(self.hosts[number].busy > _CALM for number in self.placement.up):
            await asyncio.sleep(_CALMING / 50)

    async def leaves(self, number: int) -> None:
        """Prepare for a host's end: its episodes go to others."""
        await self._place({*self.placement.up} - {number}).settled

    def went(self, host: Host) -> None:
        """Remove a host that ended: its episodes go to others from now on."""
        if self.hosts.get(host.number) is host:
            del self.hosts[host.number]
            self._ended()
            self._place({*self.placement.up} - {host.number})
        host.close()

    def _place(self, up: Iterable[int]) -> _Move:
        before, self.placement = self.placement, self.placement.among(up)
        self._turns += 1
        for tell in self.told:
            tell()
        told = {"up": self.placement.up, "turn": self._turns, "tokens": self._tokens}
        body = orjson.dumps(told)
        concerned = {number: self.hosts[number] for number in (*before.up, *up) if number in self.hosts}
        move = _Move(
            before,
            {number: asyncio.create_task(self._tell(host, body)) for number, host in concerned.items()},
        )
        self._moves.append(move)
        move.settled.add_done_callback(lambda _: self._moves.remove(move))
        self._changed.set()
        self._changed = asyncio.Event()
        return move

    async def _tell(self, host: Host, body: bytes) -> None:
        """Tell a host which others serve; it answers once it has closed their episodes."""
        await ask(host, "PUT", "/hosts/up", self._as_admin, body, _PATIENCE)

    @property
    def _as_admin(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._admin_token}", "content-type": "application/json"}

    async def drain(self) -> None:
        """Take no further requests, and wait until clients have the answers to those that there are."""
        self._ends = True
        loop = asyncio.get_running_loop()
        until = loop.time() + DRAINING
        while loop.time() < until and any(client.waits for client in self._clients):
            await asyncio.sleep(0.02)

    # -- where a request goes ---------------------------------------------------------------------------

    def choose(self, head: Head) -> Choice:
        """The host of the episode that a request is about; else the one with the least to do."""
        if self._ends:
            return busy(ENDING, 5)
        if self._draining.refuses(head.method, head.path):
            return busy(REFUSED, RETRY_AFTER)
        if self._quotas is not None and Quotas.concern(head.method, head.path):
            return partial(self._within, self._quotas)
        return self._choose(head)

    async def _within(self, quotas: Quotas, head: Head, body: bytes) -> HostReply:
        async def act() -> HostReply:
            choice = self._choose(head)
            return await (choice(head, body) if callable(choice) else self._pass_on(choice, head, body))

        return await quotas.answer(QuotaRequest(head.method, head.path, head.headers, body), act)

    def _choose(self, head: Head) -> Choice:
        path = head.path
        if path.startswith(("/e/", "/episodes/")):
            id_ = path.split("/", 3)[2]
            if path == "/episodes/batch" and head.method == "POST":
                return self._create_batch
            return self._host_of(id_)
        if path == "/grade" and head.method == "POST":
            return self._grade_batch
        if path == "/hosts" and head.method == "POST" and self.joins is not None:
            return partial(self._take_in, self.joins)
        if path == "/hosts" and head.method == "DELETE" and self.parts is not None:
            return partial(self._let_out, self.parts)
        if path == "/hosts" or path.startswith("/hosts/"):
            return self._show_hosts(head) if path == "/hosts" else HostReply.refusal(404, "Not Found")
        if path == "/ready" and head.method == "GET":
            return self._show_ready
        if path == "/metrics":
            return self._show_metrics
        if path == "/drain":
            return self._drain
        if rooted := rooted_at(path):
            return partial(self._enter, rooted)
        if path == "/episodes" and head.method == "POST" and (key := head.headers.get("idempotency-key")):
            number = self.placement.by_hash(key)
            return self._serving(number) if number is not None else self._later()
        return self._least_busy()

    def seen(self, head: Head, host: int | None, status: int, seconds: float, sent: int) -> None:
        """A request was answered."""
        kind = kind_of(head.path)
        self.metrics.requests.labels(kind, status).observe(seconds)
        self.metrics.sent.labels(kind).inc(sent)
        if self._log is not None:
            headers = head.headers
            token = self._keys.holder(headers.get("authorization"))
            log_request(self._log, head.method, head.path, headers, token, status, seconds, sent, host)

    async def host_of(self, id_: str) -> Host | HostReply:
        """The host that an episode is on, when it has it; else why there is none."""
        return await self._settled(self._host_of(id_))

    def _host_of(self, id_: str) -> Choice:
        number = self.placement.of(id_)
        if number is None:
            return self._later(id_)
        if self._moves and (awaited := [task for move in self._moves for task in move.awaited(id_, number)]):
            return self._when_moved(id_, awaited)
        return self._serving(number)

    def _serving(self, number: int) -> Host | HostReply:
        host = self.hosts[number]
        return host if host.busy < self._most_busy else busy("the host has too much to do")

    def _least_busy(self) -> Choice:
        if not self.placement.up:
            return self._later()
        # Of several that have nothing to do, now the one and now the other.
        number = min(self.placement.up, key=lambda n: (self.hosts[n].busy, secrets.randbelow(64)))
        return self._serving(number)

    async def _later(self, id_: str | None = None) -> Host | HostReply:
        """A host when there is one."""
        try:
            async with asyncio.timeout(_PATIENCE):
                while not self.placement.up:
                    await self._changed.wait()
        except TimeoutError:
            return busy(_NOBODY, 2)
        return await self._settled(self._least_busy() if id_ is None else self._host_of(id_))

    async def _when_moved(self, id_: str, awaited: list[asyncio.Task[None]]) -> Host | HostReply:
        await asyncio.wait(awaited)
        return await self._settled(self._host_of(id_))

    async def _settled(self, choice: Choice) -> Host | HostReply:
        if isinstance(choice, Host | HostReply):
            return choice
        assert isinstance(choice, Awaitable)
        return await choice

    # -- what the door has to read ----------------------------------------------------------------------

    async def _ask(
        self, number: int, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> HostReply:
        host = self.hosts.get(number)
        return await ask(host, method, target, headers, body) if host else busy(_NOBODY)

    async def _pass_on(self, choice: Choice, head: Head, body: bytes) -> HostReply:
        host = await self._settled(choice)
        if isinstance(host, HostReply):
            return host
        return await ask(host, head.method, head.target, handed_on(head.headers), body)

    async def _once(self, head: Head, body: bytes, act: Callable[[], Awaitable[HostReply]]) -> HostReply:
        """Return the reply of ``act``, or the earlier one for the same idempotency key."""

        async def succeed() -> HostReply:
            reply = await act()
            if reply.status >= 400:
                raise _Failed(reply)
            return reply

        key = head.headers.get("idempotency-key")
        asked = (head.path, body, head.headers.get("authorization"))
        try:
            return await self._repeats.once(key, asked, succeed)
        except _Failed as failed:
            return failed.reply
        except UsageError as error:
            return HostReply.refusal(400, str(error))

    async def _create_batch(self, head: Head, body: bytes) -> HostReply:
        orders = parting.orders_in(body)
        if not orders or not self.placement.up:
            return await self._pass_on(self._least_busy(), head, body)
        headers, up = handed_on(head.headers), self.placement.up
        headers.pop("idempotency-key", None)
        return await self._once(head, body, lambda: parting.create(self._ask, up, orders, headers))

    async def _grade_batch(self, head: Head, body: bytes) -> HostReply:
        asked = parting.wanted_in(body)
        barred = asked is not None and asked.get("delete") is True and not self._may(head, "serve")
        if asked is None or barred or not self.placement.up:
            return await self._pass_on(self._least_busy(), head, body)
        headers, placement = handed_on(head.headers), self.placement
        headers.pop("idempotency-key", None)

        def host_of(id_: str) -> int:
            number = placement.of(id_)
            assert number is not None, "a host is up"
            return number

        return await self._once(head, body, lambda: parting.grade(self._ask, host_of, asked, headers))

    async def _enter(self, rooted: Rooted | RootedByToken, head: Head, body: bytes) -> HostReply:
        """Route a client that can only be configured with a host: its login names the episode."""

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in head.headers.items()]
        found = await rooted.placed({"type": "http", "path": head.path, "headers": raw}, receive)
        choice = self._host_of(found[0]["path"].split("/")[2]) if found else self._least_busy()
        return await self._pass_on(choice, head, body)

    def _may(self, head: Head, scope: Scope) -> bool:
        holder = self._keys.holder(head.headers.get("authorization"))
        return holder is not None and self._keys.may(holder, scope)

    async def _show_metrics(self, head: Head, _: bytes) -> HostReply:
        if not self._may(head, "read"):
            return _STRANGER
        page = self.metrics.page()
        if page is None:
            return HostReply.refusal(501, MISSING)
        hosts = list(self.hosts.values())
        said = await asyncio.gather(
            *(ask(host, "GET", "/metrics", self._as_admin, patience=_PATIENCE) for host in hosts)
        )
        pages = {
            host.number: reply.body for host, reply in zip(hosts, said, strict=True) if reply.status == 200
        }
        return HostReply(200, together(page, pages), {"content-type": CONTENT_TYPE})

    async def _show_ready(self, *_: object) -> HostReply:
        """Report problems here or at any host. Does not wait for slow or ending hosts once another has
        answered.
        """
        if trouble := self.background.trouble:
            return HostReply.refusal(503, trouble)
        asked = [
            asyncio.create_task(ask(self.hosts[number], "GET", "/ready", {}, patience=_PATIENCE))
            for number in self.placement.up
        ]
        said: list[HostReply] = []
        late = set(asked)
        try:
            within: float | None = _HEARD_WITHIN
            while late and not said:
                how = asyncio.ALL_COMPLETED if within else asyncio.FIRST_COMPLETED
                late = (await asyncio.wait(late, timeout=within, return_when=how))[1]
                heard = [task.result() for task in asked if task not in late]
                said, within = [reply for reply in heard if reply not in (ENDED, REPLACED)], None
        finally:
            for task in asked:
                task.cancel()
        return next((reply for reply in said if reply.status != 200), said[0] if said else busy(_NOBODY, 2))

    async def _drain(self, head: Head, _: bytes) -> HostReply:
        """Drain all hosts and merge their replies into one."""
        asked = {name: value for name, value in head.headers.items() if name in ("authorization", "host")}
        hosts = [self.hosts[number] for number in self.placement.up]
        if not hosts:
            return busy(_NOBODY, 2)
        said = await asyncio.gather(
            *(ask(host, head.method, head.target, asked, patience=_PATIENCE) for host in hosts)
        )
        if failed := next((reply for reply in said if reply.status != 200), None):
            return failed
        if head.method != "GET":
            self._draining.on = head.method == "POST"
        parts = [Drain.model_validate_json(reply.body) for reply in said]
        whole = Drain(
            draining=self._draining.on,
            requests=sum(part.requests for part in parts),
            active=sum(part.active for part in parts),
        )
        return HostReply(200, whole.model_dump_json().encode(), {"content-type": "application/json"})

    async def _take_in(self, join: Callable[[bytes], HostReply], head: Head, body: bytes) -> HostReply:
        if self._keys.holder(head.headers.get("authorization")) != OWN:
            return _STRANGER
        return join(body)

    async def _let_out(
        self, part: Callable[[bytes], Awaitable[HostReply]], head: Head, body: bytes
    ) -> HostReply:
        if self._keys.holder(head.headers.get("authorization")) != OWN:
            return _STRANGER
        return await part(body)

    def _show_hosts(self, head: Head) -> HostReply:
        if not self._may(head, "read"):
            return _STRANGER
        up = [self.hosts[number] for number in self.placement.up]
        hosts = [{"number": h.number, "pid": h.pid, "address": h.address, "busy": h.busy} for h in up]
        body = orjson.dumps({"version": mesocosm.__version__, "hosts": hosts, "mail": self.mail})
        return HostReply(200, body, {"content-type": "application/json"})


class _Failed(Exception):
    """A request that is done again when it comes again."""

    def __init__(self, reply: HostReply) -> None:
        super().__init__(reply.status)
        self.reply = reply
