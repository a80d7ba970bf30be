"""Signing in to an episode's mailbox, and what a mail client may then do there."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

import orjson

from mesocosm.doors.episodes import EpisodeSource, UnknownEpisode
from mesocosm.doors.mail import MAIL_SERVICE
from mesocosm.doors.mail.onward import Onward
from mesocosm.doors.mail.operations import MailAnswer
from mesocosm.errors import Invalid, NotNow, Refusal, UsageError
from mesocosm.services.calling import FAULT_TEXT
from mesocosm.services.service import UnknownTool
from mesocosm.worlds.deadlines import request_came

_log = logging.getLogger(__name__)
STRANGERS = ""
"""The lane of clients that have not signed in."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


class BadSignIn(Exception):
    """The password is no episode's, or the user not its mailbox."""

    def __init__(self, why: str = "") -> None:
        super().__init__(why or "Unknown user or wrong password; the password is the id of the episode.")


class Closed(Exception):
    """The task offers only some of the tools, so its mailbox is closed to mail clients."""


class Broken(Exception):
    """The mailbox cannot be used; what is wrong is the operator's alone."""

    def __init__(self) -> None:
        super().__init__(FAULT_TEXT)


class MailAccess:
    """A mailbox as one client that has signed in may use it."""

    def __init__(self, pool: EpisodeSource, episode: str, account: str = "") -> None:
        self._pool = pool
        self.episode = episode
        self.account = account

    @classmethod
    async def sign_in(cls, pool: EpisodeSource, operation: str, user: str, password: str) -> MailAccess:
        """Open the episode whose id is the password. Raises ``BadSignIn`` or ``Closed``."""
        try:
            await pool.bring(password)
            hosted = pool.get(password)
            if MAIL_SERVICE not in hosted.services:
                raise Closed("This episode has no mailbox.")
            if not hosted.is_open(MAIL_SERVICE):
                raise Closed(
                    "This task offers only some of the tools; its mailbox is closed to mail clients."
                )
            access = cls(pool, password)
            return cls(pool, password, (await access._request(operation, user=user)).data)
        except (UnknownEpisode, UnicodeError):
            raise BadSignIn from None
        except Refusal as refusal:
            raise BadSignIn(refusal.message) from None
        except (UsageError, NotNow):
            raise Broken from None

    async def ask(self, operation: str, **arguments: Any) -> MailAnswer:
        """Make one operation as one call on the world. Raises a ``Refusal``, or ``Broken``."""
        return await self._request(operation, account=self.account, **arguments)

    async def revision(self) -> int | None:
        """A number that is another one when the mailbox has been changed."""
        try:
            return await self._pool.get(self.episode).revision(MAIL_SERVICE)
        except UsageError:
            raise Broken from None

    def watching(self, tell: Callable[[], None]) -> AbstractContextManager[None]:
        """``tell`` is called when the mailbox may have changed."""
        return self._pool.watching(self.episode, tell)

    async def _request(self, operation: str, **arguments: Any) -> MailAnswer:
        request_came()
        try:
            # A message is long, and most are ASCII: these are text, which shows at once.
            orjson.dumps([value for value in arguments.values() if not _is_ascii(value)])
        except TypeError:
            raise Invalid("The command holds what is no text.") from None
        try:
            hosted = self._pool.get(self.episode)
            known = hosted.operation(MAIL_SERVICE, operation)
            outcome = await hosted.make(MAIL_SERVICE, known, arguments, None)
        except UnknownEpisode:
            raise
        except (UsageError, UnknownTool):
            raise Broken from None
        except Exception:  # noqa: BLE001 - the world cannot be used: what is wrong is the operator's alone
            _log.exception("%s could not be answered", operation)
            raise Broken from None
        if outcome.refusal is not None:
            raise outcome.refusal
        if not isinstance(outcome.reply, MailAnswer):
            raise Broken
        return outcome.reply


class Mailboxes(Protocol):
    """Mail server's accounts, checked at login."""

    async def sign_in(self, operation: str, user: str, password: str) -> MailAccess | Onward:
        """Open the mailbox of the episode whose id is the password, here or on another server.

        Raises ``BadSignIn``, ``Closed`` or ``Broken``, or ``Declined`` where another server says no.
        """


class OwnMailboxes:
    """Those of the episodes of this process."""

    def __init__(self, pool: EpisodeSource) -> None:
        self._pool = pool

    async def sign_in(self, operation: str, user: str, password: str) -> MailAccess:
        """Open the mailbox of an episode."""
        return await MailAccess.sign_in(self._pool, operation, user, password)


def _is_ascii(value: object) -> bool:
    return isinstance(value, str) and value.isascii()


def one_line(text: str) -> str:
    """Text that fits into a line of a protocol."""
    return _CONTROL.sub(" ", text)[:400]
