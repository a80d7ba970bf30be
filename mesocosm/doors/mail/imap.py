"""IMAP4rev1: the protocol is pymap's, the rules are the email service's."""

# The protocol is pymap's; rules and storage stay the store's (decision 022).

from __future__ import annotations

import asyncio
import logging
from argparse import Namespace
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, suppress
from typing import Any, Never, cast

from proxyprotocol.sock import SocketInfo
from pymap.concurrent import Subsystem
from pymap.config import BackendCapability, IMAPConfig
from pymap.context import connection_exit
from pymap.exceptions import InvalidAuth, NotAllowedError, TemporaryFailure
from pymap.imap import IMAPConnection
from pymap.imap.state import ConnectionState
from pymap.interfaces.login import IdentityInterface, LoginInterface
from pymap.interfaces.session import SessionInterface
from pymap.parsing import Params
from pymap.parsing.command import Command
from pymap.parsing.commands import Commands, InvalidCommand
from pymap.parsing.primitives import List
from pymap.parsing.response import CommandResponse, Response, ResponseBye, ResponseCode, ResponseNo
from pymap.parsing.specials.fetchattr import FetchAttribute
from pysasl import SASLAuth
from pysasl.creds.server import ServerCredentials
from pysasl.hashing import Cleartext
from pysasl.identity import Identity

from mesocosm.doors.admission import Full, intake
from mesocosm.doors.connections import INTRODUCTION, connections
from mesocosm.doors.mail.access import STRANGERS, BadSignIn, Broken, Closed, MailAccess, Mailboxes, one_line
from mesocosm.doors.mail.criteria import BAD_CHARSET, MailSearch, UidSearch
from mesocosm.doors.mail.mailbox_names import mend_pymap
from mesocosm.doors.mail.onward import Declined, Onward
from mesocosm.doors.mail.session import MailSession, SessionRefused
from mesocosm.worlds.deadlines import Pauses, lane_of

# Sections of a message (RFC 3501, 6.4.5) under the name that the client gave them.
#
# pymap sorts the fields of ``BODY[HEADER.FIELDS (...)]`` and writes them in capitals; clients such as
# node-imap look for the very words that they have sent, and take no other answer.

_parse_section: Any = FetchAttribute.__dict__["_parse_section"].__func__
_raw: Any = FetchAttribute.raw.fget  # type: ignore[attr-defined]


def _parsed(
    cls: type[FetchAttribute], buf: memoryview, params: Params
) -> tuple[FetchAttribute.Section, memoryview]:
    section, after = _parse_section(cls, buf, params)
    said = bytes(buf[: len(buf) - len(after)])
    if section.headers and b"{" not in said:
        section.said = said[said.index(b"(") :]
    return section, after


def _shown(attribute: FetchAttribute) -> bytes:
    raw: bytes = _raw(attribute)
    said = getattr(attribute.section, "said", None)
    if said and attribute.section and attribute.section.headers:
        raw = raw.replace(bytes(List(attribute.section.headers, sort=True)), said)
    return raw


def mend_sections() -> None:
    """Let pymap answer under the names of sections that the client wrote."""
    FetchAttribute._parse_section = classmethod(_parsed)  # type: ignore[assignment,method-assign]
    FetchAttribute.raw = property(_shown)  # type: ignore[assignment,method-assign]


MAX_LITERAL = 15_000_000
"""Longest string that a client may send, in bytes."""
_STRANGER = 65_536
"""The same before it has signed in."""
_SILENCE = 30 * 60
"""Seconds after which a silent client is given up."""

_log = logging.getLogger(__name__)


class _Config(IMAPConfig):
    """Without TLS, whose place is in front of this server, and without anything that asks the machine."""

    def __init__(self) -> None:
        super().__init__(
            Namespace(proxy_protocol=None),
            host=None,
            port=0,
            tls_enabled=False,
            reject_dnsbl=False,
            hash_context=Cleartext(),
            cpu_subsystem=Subsystem.for_asyncio(),
            max_append_len=MAX_LITERAL,
            bad_command_limit=20,
        )
        # Once: to find it reads what all installed packages say of themselves, and connections ask twice.
        self._auth = SASLAuth.named([b"PLAIN", b"LOGIN"])

    @property
    def backend_capability(self) -> BackendCapability:
        return BackendCapability(idle=True, object_id=True, multi_append=False, custom=[b"SPECIAL-USE"])

    @property
    def tls_auth(self) -> SASLAuth:
        return self._auth

    @property
    def commands(self) -> Commands:
        commands = super().commands
        commands.register(MailSearch)
        commands.register(UidSearch)
        return commands

    @property
    def greeting(self) -> bytes:
        return b"Mesocosm IMAP4rev1 ready"


class _Password(Identity):
    """Learns the password of credentials that are compared with it."""

    def __init__(self, user: str) -> None:
        self.secret = ""
        self._user = user

    @property
    def authcid(self) -> str:
        return self._user

    def compare_authcid(self, authcid: str) -> bool:
        return True

    def compare_secret(self, secret: str) -> bool:
        self.secret = secret
        return True

    def get_clear_secret(self) -> str | None:
        return None


class _SignedIn(IdentityInterface):
    """A client that has signed in."""

    def __init__(self, access: MailAccess | Onward) -> None:
        self._access = access

    @property
    def name(self) -> str:
        return self._access.account if isinstance(self._access, MailAccess) else ""

    @property
    def roles(self) -> frozenset[str]:
        return frozenset()

    @asynccontextmanager
    async def new_session(self) -> AsyncIterator[SessionInterface]:
        # No command of a client that goes on elsewhere reaches a session here.
        yield MailSession(cast("MailAccess", self._access))

    async def new_token(self, *, expiration: object = None) -> None:
        return None

    async def get(self) -> Never:
        raise NotAllowedError

    async def set(self, metadata: object) -> Never:
        raise NotAllowedError

    async def delete(self) -> Never:
        raise NotAllowedError


class _Login(LoginInterface):
    """Signs a client in with an episode's id as password."""

    def __init__(self, mailboxes: Mailboxes, tell: Callable[[MailAccess | Onward], None]) -> None:
        self._mailboxes = mailboxes
        self._tell = tell

    @property
    def tokens(self) -> Never:
        raise NotImplementedError("there are no tokens")

    async def authenticate(self, credentials: ServerCredentials) -> _SignedIn:
        password = _Password(credentials.authcid)
        credentials.verify(password)
        try:
            access = await self._mailboxes.sign_in("IMAP LOGIN", password.authcid, password.secret)
        except BadSignIn as problem:
            raise InvalidAuth(one_line(str(problem))) from None
        except Closed as problem:
            raise NotAllowedError(one_line(str(problem))) from None
        except Broken as problem:
            raise TemporaryFailure(str(problem)) from None
        except Declined as problem:
            raise SessionRefused(problem.text, problem.code) from None
        self._tell(access)
        return _SignedIn(access)

    async def authorize(self, authenticated: IdentityInterface, authzid: str) -> IdentityInterface:
        return authenticated


class _State(ConnectionState):
    """Gives the answer of RFC 3501 to a search in an unknown charset, which is not a syntax error."""

    async def do_command(self, cmd: Command) -> CommandResponse:
        problem = cmd.parse_exc if isinstance(cmd, InvalidCommand) else None
        if problem is not None and problem.code is not None and bytes(problem.code) == b"[%b]" % BAD_CHARSET:
            known = ResponseCode.of(BAD_CHARSET + b" (US-ASCII UTF-8)")
            return ResponseNo(cmd.tag, b"The charset is not known.", known)
        return await super().do_command(cmd)


class _Connection(IMAPConnection):
    """Reads no more from a client than a command can need, and does not wait for it forever."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._pauses = Pauses(lane_of(STRANGERS))
        self._kept = ExitStack()
        """Resources of the last command."""

    signed_in: MailAccess | Onward | None = None

    def sign_in(self, access: MailAccess | Onward) -> None:
        """The client has signed in: it may stay, and be silent."""
        self.signed_in = access
        if isinstance(access, MailAccess):
            self._pauses.lane = lane_of(access.episode)
        connections.asks(self.writer.transport)

    def sign_out(self) -> None:
        """The client is gone."""
        self._kept.close()
        if isinstance(self.signed_in, Onward):
            self.signed_in.end()

    async def readline(self) -> memoryview:
        if isinstance(self.signed_in, Onward):
            await self.signed_in.relay(self.reader, self.writer)
            raise EOFError
        try:
            async with asyncio.timeout(_SILENCE if self.signed_in else INTRODUCTION):
                return memoryview(await self._command())
        except (TimeoutError, ValueError, Full) as problem:
            # ValueError is StreamReader's way to say that a line is too long.
            reason = {TimeoutError: b"Too quiet.", Full: str(problem).encode()}.get(
                type(problem), b"Too long."
            )
            await self.write_response(ResponseBye(reason, ResponseCode.of(b"UNAVAILABLE")))
            raise EOFError from None

    async def write_response(self, resp: Response) -> None:
        """Write an answer line by line, so that nothing is fetched before the client takes it."""
        untagged: Sequence[Response] = ()
        if isinstance(resp, CommandResponse):
            untagged, resp = resp._untagged, Response(resp.tag, resp.text)
        with suppress(ConnectionError):
            for line in (*untagged, resp):
                if self.writer.is_closing():
                    return
                await line.async_write(self.writer)
                await self.writer.drain()

    async def _command(self) -> bytes:
        self._kept.close()
        # What was sent ahead is there at once: without a pause it would be answered to its end.
        await self._pauses.take()
        most, take = _STRANGER, None
        if isinstance(self.signed_in, MailAccess):
            most, take = MAX_LITERAL, self._kept.enter_context(intake.of(self.signed_in.episode))
        command = bytearray(await self.reader.readline())
        while literal := self._literal_plus.search(command):
            length = int(literal[1])
            if len(command) + length > most:
                raise ValueError("too long")
            if take:
                take(length)
            command += await self.reader.readexactly(length)
            command += await self.reader.readline()
        if not command.endswith(b"\n"):
            raise EOFError
        self._pauses.begin()
        return bytes(command)


class ImapService:
    """Serves IMAP connections of all episodes."""

    def __init__(self, mailboxes: Mailboxes) -> None:
        mend_pymap()
        mend_sections()
        self._mailboxes = mailboxes
        self._config = _Config()
        self._commands = self._config.commands

    async def __call__(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Serve one connection until it ends."""
        connection = _Connection(
            self._commands, self._config, reader, writer, SocketInfo.get(writer, None, unique_id=b"-")
        )
        if not connections.admit(writer.transport):
            return
        async with AsyncExitStack() as stack:
            connection_exit.set(stack)
            stack.callback(connections.left, writer.transport)
            stack.push_async_callback(_closed, writer)
            stack.enter_context(closing(connection))
            stack.callback(connection.sign_out)
            try:
                await connection.run(_State(_Login(self._mailboxes, connection.sign_in), self._config))
            except ConnectionError:
                pass  # the client has gone
            except Exception as problem:  # noqa: BLE001 - clients send whatever they like, and pymap says BYE
                _log.warning("an IMAP command could not be understood: %r", problem)


async def _closed(writer: StreamWriter) -> None:
    """Wait until the connection is closed: until then it counts, with its pending output."""
    with suppress(ConnectionError):
        await writer.wait_closed()
