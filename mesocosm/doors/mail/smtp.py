"""Submission over SMTP: the protocol is aiosmtpd's, the rules are the email service's."""

from __future__ import annotations

import asyncio
import logging
import re
from asyncio import AbstractEventLoop, StreamReader, StreamWriter, WriteTransport
from contextlib import suppress
from typing import Any, cast

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from mesocosm.doors.admission import Full, Take, intake
from mesocosm.doors.connections import INTRODUCTION, connections
from mesocosm.doors.episodes import UnknownEpisode
from mesocosm.doors.mail.access import STRANGERS, BadSignIn, Broken, Closed, MailAccess, Mailboxes, one_line
from mesocosm.doors.mail.onward import Declined, Onward
from mesocosm.doors.mail.operations import source_arguments
from mesocosm.errors import Denied, Refusal
from mesocosm.worlds.deadlines import Pauses, lane_of

MAX_BYTES = 15_000_000
"""Largest message as it is transmitted; what it holds may be 10,240,000 bytes."""
MAX_LINES = 400_000
"""Of one message; each takes forty times its bytes while it is read, and the mailbox takes no more either."""
MAX_RECIPIENTS = 100
"""Of one message; the mailbox takes no more either."""
SILENCE = 300.0
"""Seconds in which the next command of who has signed in, or all of a message, has to be there."""
_MAX_LINE = 65_536
"""Bytes of a line that is no message's, after which nobody waits for its end."""

_log = logging.getLogger(__name__)
# aiosmtpd warns there of a property of its own that it sets itself.
logging.getLogger("mail.log").setLevel(logging.ERROR)
_CODED = re.compile(r"[45]\d\d ")
_BROKEN = "451 4.3.0 "


class _Handler:
    """Answers the commands of one connection that need the mailbox."""

    async def handle_MAIL(  # noqa: N802 - aiosmtpd finds it by this name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        access = _access(session)
        if access is None:
            return "530 5.7.0 Authentication required"
        if address.lower() != access.account:
            return one_line(f"553 5.7.1 <{address}>: You may send as {access.account} only.")
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 2.1.0 OK"

    async def handle_RCPT(  # noqa: N802 - aiosmtpd finds it by this name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        access = _access(session)
        if access is None:
            return "530 5.7.0 Authentication required"
        if len(envelope.rcpt_tos) >= MAX_RECIPIENTS:
            return f"452 4.5.3 Too many recipients (max {MAX_RECIPIENTS})."
        if not address.isascii():
            return "553 5.6.7 Addresses are in ASCII here."
        try:
            await access.ask("SMTP RCPT", recipient=address)
        except (Refusal, Broken, UnknownEpisode) as problem:
            return _refused(problem)
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(options)
        return "250 2.1.5 OK"

    async def handle_DATA(  # noqa: N802 - aiosmtpd finds it by this name
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        access = _access(session)
        if access is None:
            return "530 5.7.0 Authentication required"
        content = envelope.original_content or b""
        try:
            sent = await access.ask(
                "SMTP DATA", recipients=list(envelope.rcpt_tos), **source_arguments(content)
            )
        except (Refusal, Broken, UnknownEpisode) as problem:
            return _refused(problem)
        return f"250 2.0.0 OK: queued as {sent.data}"

    async def handle_exception(self, error: Exception) -> str:
        """Answer an exception that aiosmtpd itself raised on malformed input."""
        _log.warning("an SMTP command could not be understood: %s", type(error).__name__)
        await asyncio.sleep(0)  # a fault that comes at every line must not hold the loop
        return "500 5.5.2 The command cannot be understood."


class _Endless(Exception):
    """A client sends more than anybody reads."""


class _Reader:
    """Stream of a client for aiosmtpd, with a limit, and with pauses in which others are answered."""

    def __init__(self, reader: StreamReader) -> None:
        self.whole = reader
        self.pauses = Pauses(lane_of(STRANGERS))
        self._left = _MAX_LINE
        self._of_message = False
        self._lines = 0
        self._take: Take | None = None

    def begin_message(self, take: Take) -> None:
        """Switch to reading a message. Accepts twice the maximum size, so that an oversized message gets an
        answer.
        """
        self._of_message, self._left, self._lines, self._take = True, 2 * MAX_BYTES, MAX_LINES + 1, take

    def end_message(self) -> None:
        """Switch back to reading commands, one per line."""
        self._of_message, self._left, self._take = False, _MAX_LINE, None

    async def readuntil(self, separator: bytes = b"\n") -> bytes:
        """A line."""
        await self.pauses.take()
        line = self._counted(await self.whole.readuntil(separator))
        self.pauses.begin()
        if not self._of_message:
            self._left = _MAX_LINE
            return line
        self._lines -= 1
        if self._lines < 0:
            raise _Endless
        return line

    async def readline(self) -> bytes:
        """A line of a client that signs in."""
        await self.pauses.take()
        line = await self.whole.readline()
        self.pauses.begin()
        return line

    async def read(self, size: int) -> bytes:
        """Some bytes of a line that is too long."""
        await self.pauses.take()
        return self._counted(await self.whole.read(size))

    def _counted(self, data: bytes) -> bytes:
        self._left -= len(data)
        if self._left < 0:
            raise _Endless
        if self._take:
            self._take(len(data))
        return data


class Connection(SMTP):
    """One client; it signs in with the episode's id."""

    def __init__(self, mailboxes: Mailboxes, hostname: str, loop: AbstractEventLoop) -> None:
        super().__init__(
            _Handler(),
            data_size_limit=MAX_BYTES,
            enable_SMTPUTF8=True,
            hostname=hostname,
            ident="Mesocosm",
            auth_require_tls=False,
            authenticator=_read_password,
            loop=loop,
        )
        self._mailboxes = mailboxes
        self._onward: Onward | None = None
        self._input: _Reader | None = None

    def _cb_client_connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._input = _Reader(reader)
        super()._cb_client_connected(cast("StreamReader", self._input), writer)

    def _reset_timeout(self, duration: float | None = None) -> None:
        signed_in = self.session is not None and self.session.authenticated
        super()._reset_timeout(duration or (SILENCE if signed_in else INTRODUCTION))

    async def smtp_DATA(self, arg: str) -> None:  # noqa: N802 - aiosmtpd's name
        """Read a message and send it."""
        assert self._input is not None
        assert self.session is not None
        access = _access(self.session)
        with intake.of(access.episode if access else "") as take:
            self._input.begin_message(take)
            try:
                await super().smtp_DATA(arg)
            finally:
                self._input.end_message()

    async def handle_exception(self, error: Exception) -> str:
        """Answer a command that failed."""
        if not isinstance(error, (_Endless, Full)):
            return await super().handle_exception(error)
        # What is still coming is never read; the answer is written before.
        self.loop.call_soon(self._hang_up)
        if isinstance(error, Full):
            return f"452 4.3.1 {error}"
        return f"552 5.3.4 Too much: a message has at most {MAX_BYTES} bytes and {MAX_LINES} lines. Goodbye."

    def _timeout_cb(self) -> None:
        if self.transport is None:
            return
        transport = cast("WriteTransport", self.transport)
        if not transport.get_write_buffer_size():
            transport.write(b"421 4.4.2 Too quiet. Goodbye.\r\n")
        # Who does not read could keep a connection open that is closed only after all was written.
        if transport.get_write_buffer_size():
            transport.abort()
        else:
            transport.close()

    def _hang_up(self) -> None:
        if self.transport is not None:
            self.transport.close()

    async def smtp_AUTH(self, arg: str) -> None:  # noqa: N802 - aiosmtpd's name
        """Sign in; a user of another host is relayed there."""
        await super().smtp_AUTH(arg)
        if self._onward is None:
            self._reset_timeout()  # from here on it may be silent for longer
            return
        assert self._timeout_handle is not None
        self._timeout_handle.cancel()  # from here on the other server has the patience
        with suppress(ConnectionError):
            assert self._input is not None
            await self._onward.relay(self._input.whole, self._writer)
        if self.transport is not None:
            self.transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        """Of ``asyncio``."""
        if self._onward is not None:
            self._onward.end()
        super().connection_lost(error)

    async def auth_PLAIN(self, _: Any, args: list[str]) -> AuthResult:  # noqa: N802 - aiosmtpd's name
        return await self._checked(await super().auth_PLAIN(_, args))

    async def auth_LOGIN(self, _: Any, args: list[str]) -> AuthResult:  # noqa: N802 - aiosmtpd's name
        return await self._checked(await super().auth_LOGIN(_, args))

    async def _checked(self, result: AuthResult) -> AuthResult:
        if not result.success:
            return result
        given = result.auth_data
        assert isinstance(given, LoginPassword)
        try:
            user, password = given.login.decode(), given.password.decode()
            access = await self._mailboxes.sign_in("SMTP AUTH", user, password)
        except (BadSignIn, Closed, UnicodeDecodeError) as problem:
            why = "Authentication credentials invalid" if isinstance(problem, ValueError) else str(problem)
            return AuthResult(success=False, handled=False, message=one_line(f"535 5.7.8 {why}"))
        except Broken as problem:
            return AuthResult(success=False, handled=False, message=f"{_BROKEN}{problem}")
        except Declined as problem:
            return AuthResult(success=False, handled=False, message=f"{problem.code} {problem.text}")
        if isinstance(access, Onward):
            self._onward = access
        elif self._input is not None:
            self._input.pauses.lane = lane_of(access.episode)
        if self.transport is not None:
            connections.asks(cast("WriteTransport", self.transport))
        return AuthResult(success=True, auth_data=access)


def _read_password(
    server: SMTP, session: Session, envelope: Envelope, mechanism: str, given: LoginPassword
) -> AuthResult:
    # Checked afterwards, by ``_checked``: aiosmtpd asks for an answer at once.
    return AuthResult(success=True, auth_data=given)


def _access(session: Session) -> MailAccess | None:
    access = session.auth_data if session.authenticated else None
    return access if isinstance(access, MailAccess) else None


def _refused(problem: Exception) -> str:
    if isinstance(problem, UnknownEpisode):
        return "421 4.3.2 The episode is gone."
    text = one_line(problem.message if isinstance(problem, Refusal) else str(problem))
    if _CODED.match(text):
        return text
    if not isinstance(problem, Refusal):
        return f"{_BROKEN}{text}"
    return f"550 5.7.1 {text}" if isinstance(problem, Denied) else f"554 5.6.0 {text}"
