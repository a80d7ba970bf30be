"""An IMAP session on an episode's mailbox: every command is one call on the world."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Never

from pymap.concurrent import Event
from pymap.context import current_command
from pymap.exceptions import MailboxNotFound, MailboxReadOnly, NotSupportedError, ResponseError
from pymap.flags import FlagOp, PermanentFlags, SessionFlags
from pymap.interfaces.message import MessageInterface
from pymap.interfaces.session import SessionInterface
from pymap.mailbox import MailboxSnapshot
from pymap.parsing.command.select import CloseCommand
from pymap.parsing.message import AppendMessage
from pymap.parsing.response import ResponseBye, ResponseCode, ResponseNo, UntaggedResponse
from pymap.parsing.response.code import AppendUid, CopyUid
from pymap.parsing.response.specials import ExpungeResponse
from pymap.parsing.specials import Flag, ObjectId, SearchKey, SequenceSet
from pymap.selected import SelectedMailbox

from mesocosm.doors.episodes import UnknownEpisode
from mesocosm.doors.mail.access import Broken, MailAccess, one_line
from mesocosm.doors.mail.criteria import criterion_of, ids_of
from mesocosm.doors.mail.mailbox_names import matcher
from mesocosm.doors.mail.messages import MailboxReading, MailMessage, flag_set
from mesocosm.doors.mail.operations import MailAnswer, source_arguments, write_ids
from mesocosm.errors import Conflict, Denied, NotFound, Refusal

"""Folders are not nested, and no name has this character."""
CHANGEABLE = flag_set(("Seen", "Answered", "Flagged", "Deleted"))
_SPECIAL_USE = {
    "Sent": b"Sent",
    "Drafts": b"Drafts",
    "Trash": b"Trash",
    "Spam": b"Junk",
    "Archive": b"Archive",
}
_CODE = re.compile(r"\[([A-Z-]+)\] ")


class SessionRefused(ResponseError):
    """The store declines a command; nothing has changed."""

    def __init__(self, text: str, code: str) -> None:
        super().__init__(text)
        self._text, self._code = text, code

    def get_response(self, tag: bytes) -> ResponseNo:
        return ResponseNo(tag, self._text.encode(), ResponseCode.of(self._code.encode()))


class SessionGone(ResponseError):
    """The episode was deleted."""

    def get_response(self, tag: bytes) -> ResponseNo:
        response = ResponseNo(tag, b"The episode is gone.", ResponseCode.of(b"UNAVAILABLE"))
        response.add_untagged(ResponseBye(b"The episode is gone."))
        return response


class Selected(SelectedMailbox):
    """The messages of the open folder that the client knows of."""

    __slots__ = ()

    def _compare(self, before: Any, after: Any, with_uid: bool) -> Iterable[UntaggedResponse]:
        """Yield the untagged responses for the differences.

        A message that tools moved here keeps its id, so it may belong between others. New messages can only
        be announced at the end: those above it are announced as removed, then as new.
        """
        if not after.is_deleted and (new := after.uids - before.uids):
            moved = {uid for uid in before.uids & after.uids if uid > min(new)}
            if moved:
                removed = moved | (before.uids - after.uids)
                for number in sorted((before.seqs_cache[uid] for uid in removed), reverse=True):
                    yield ExpungeResponse(number)
                before.uids -= removed
        yield from super()._compare(before, after, with_uid)


class MailSession(SessionInterface):
    """Session of one signed-in client."""

    __slots__ = ("_access", "_revision")

    def __init__(self, access: MailAccess) -> None:
        super().__init__()
        self._access = access
        self._revision: int | None = None
        """The revision that the client has been told of."""

    @property
    def owner(self) -> str:
        return self._access.account

    @property
    def filter_set(self) -> None:
        return None

    def close(self) -> None:
        """Nothing is held."""

    async def cleanup(self) -> None:
        """Nothing is held."""

    # -- folders ----------------------------------------------------------------------------------------

    async def list_mailboxes(
        self, ref_name: str, filter_: str, subscribed: bool = False, selected: SelectedMailbox | None = None
    ) -> tuple[Iterable[tuple[str, str | None, Sequence[bytes]]], SelectedMailbox | None]:
        if not filter_:
            return [("", None, [b"Noselect"])], await self._up_to_date(selected)
        names: list[str] = (await self._ask("IMAP LIST")).data
        matches = matcher(ref_name + filter_)
        # Folders are flat, which is said by naming no delimiter.
        rows = [(name, None, [b"HasNoChildren", *_special_use(name)]) for name in names if matches(name)]
        return rows, await self._up_to_date(selected)

    async def get_mailbox(
        self, name: str, selected: SelectedMailbox | None = None
    ) -> tuple[MailboxSnapshot, SelectedMailbox | None]:
        answer = await self._ask("IMAP STATUS", folder=name)
        return _snapshot(answer.data, readonly=False), await self._up_to_date(selected)

    async def create_mailbox(
        self, name: str, selected: SelectedMailbox | None = None
    ) -> tuple[ObjectId, SelectedMailbox | None]:
        answer = await self._ask("IMAP CREATE", folder=name)
        self._leave_out(answer)
        return _mailbox_id(answer.data), await self._up_to_date(selected)

    async def delete_mailbox(
        self, name: str, selected: SelectedMailbox | None = None
    ) -> SelectedMailbox | None:
        answer = await self._ask("IMAP DELETE", folder=name)
        if selected is not None and selected.lookup != name:
            self._leave_out(answer)
        return await self._up_to_date(selected)

    async def rename_mailbox(
        self, before_name: str, after_name: str, selected: SelectedMailbox | None = None
    ) -> SelectedMailbox | None:
        await self._ask("IMAP RENAME", folder=before_name, name=after_name)
        if selected is not None and selected.lookup == before_name:
            selected.lookup = after_name
        return await self._up_to_date(selected)

    async def subscribe(self, name: str, selected: SelectedMailbox | None = None) -> SelectedMailbox | None:
        await self._ask("IMAP STATUS", folder=name)
        return await self._up_to_date(selected)

    async def unsubscribe(self, name: str, selected: SelectedMailbox | None = None) -> Never:
        raise NotSupportedError("Every folder is subscribed.")

    async def select_mailbox(
        self, name: str, readonly: bool = False
    ) -> tuple[MailboxSnapshot, SelectedMailbox]:
        answer = await self._ask("IMAP SELECT", folder=name)
        selected = Selected(
            _mailbox_id(answer.data["id"]),
            readonly,
            PermanentFlags(CHANGEABLE),
            SessionFlags([]),
            lookup=name,
        )
        self._tell(selected, answer.data, answer.revision)
        return _snapshot(answer.data, readonly=readonly), selected

    async def check_mailbox(
        self, selected: SelectedMailbox, *, wait_on: Event | None = None, housekeeping: bool = False
    ) -> SelectedMailbox:
        if wait_on is not None:
            await self._wait(wait_on)
        return await self._told(selected)

    # -- messages ---------------------------------------------------------------------------------------

    async def append_messages(
        self, name: str, messages: Sequence[AppendMessage], selected: SelectedMailbox | None = None
    ) -> tuple[AppendUid, SelectedMailbox | None]:
        (message,) = messages  # MULTIAPPEND is not offered
        answer = await self._ask(
            "IMAP APPEND",
            missing="TRYCREATE",
            folder=name,
            flags=_names(message.flag_set),
            date=message.when.isoformat() if message.when else None,
            **source_arguments(message.literal),
        )
        if selected is not None and selected.lookup != name:
            self._leave_out(answer)
        return AppendUid(answer.data["to"], answer.data["ids"]), await self._up_to_date(selected)

    async def fetch_messages(
        self, selected: SelectedMailbox, sequence_set: SequenceSet, set_seen: bool
    ) -> tuple[Iterable[tuple[int, MessageInterface]], SelectedMailbox]:
        if set_seen:
            await self._mark_seen(selected, sequence_set)
        reading = MailboxReading(self._access, selected.lookup, current_command.get())
        found = [
            (number, message.read_by(reading))
            for number, message in selected.messages.get_all(sequence_set)
            if isinstance(message, MailMessage)
        ]
        reading.expect([message.uid for _, message in found])
        return found, await self._told(selected)

    async def _mark_seen(self, selected: SelectedMailbox, messages: SequenceSet) -> None:
        seen = flag_set(("Seen",))
        unseen = [m.uid for _, m in selected.messages.get_all(messages) if not seen <= m.permanent_flags]
        if not unseen:
            return
        try:
            await self._store(selected, unseen, "ADD", ["Seen"])
        except SessionRefused:
            return  # No change is accepted any more, but who only reads may go on.

    async def search_mailbox(
        self, selected: SelectedMailbox, keys: frozenset[SearchKey]
    ) -> tuple[Iterable[tuple[int, MessageInterface]], SelectedMailbox]:
        criterion = criterion_of(list(keys), selected)
        answer = await self._ask("IMAP SEARCH", folder=selected.lookup, criterion=criterion)
        # What the client does not know of yet has no number.
        known = selected.messages.get_all(SequenceSet.build(answer.data, uid=True)) if answer.data else []
        found = [(number, message) for number, message in known if isinstance(message, MailMessage)]
        return found, await self._told(selected)

    async def update_flags(
        self,
        selected: SelectedMailbox,
        sequence_set: SequenceSet,
        flag_set: frozenset[Flag],
        mode: FlagOp = FlagOp.REPLACE,
    ) -> tuple[Iterable[tuple[int, MessageInterface]], SelectedMailbox]:
        _check_writable(selected)
        uids = ids_of(sequence_set, selected)
        await self._store(selected, uids, mode.name, _names(flag_set))
        known = selected.messages.get_all(sequence_set)
        return [(number, m) for number, m in known if isinstance(m, MailMessage)], await self._told(selected)

    async def _store(self, selected: SelectedMailbox, uids: list[int], mode: str, flags: list[str]) -> None:
        answer = await self._ask(
            "IMAP STORE", folder=selected.lookup, ids=write_ids(uids), mode=mode, flags=flags
        )
        self._tell(selected, answer.data, answer.revision)

    async def expunge_mailbox(
        self, selected: SelectedMailbox, uid_set: SequenceSet | None = None
    ) -> SelectedMailbox:
        if selected.readonly and isinstance(current_command.get(), CloseCommand):
            return selected
        _check_writable(selected)
        ids = None if uid_set is None else write_ids(ids_of(uid_set, selected))
        answer = await self._ask("IMAP EXPUNGE", folder=selected.lookup, ids=ids)
        self._tell(selected, answer.data, answer.revision)
        return await self._told(selected)

    async def copy_messages(
        self, selected: SelectedMailbox, sequence_set: SequenceSet, mailbox: str
    ) -> tuple[CopyUid | None, SelectedMailbox]:
        return await self._file("IMAP COPY", selected, sequence_set, mailbox)

    async def move_messages(
        self, selected: SelectedMailbox, sequence_set: SequenceSet, mailbox: str
    ) -> tuple[CopyUid | None, SelectedMailbox]:
        _check_writable(selected)
        return await self._file("IMAP MOVE", selected, sequence_set, mailbox)

    async def _file(
        self, operation: str, selected: SelectedMailbox, messages: SequenceSet, target: str
    ) -> tuple[CopyUid | None, SelectedMailbox]:
        ids = write_ids(ids_of(messages, selected))
        answer = await self._ask(
            operation, missing="TRYCREATE", folder=selected.lookup, ids=ids, target=target
        )
        if "left" in answer.data:
            self._tell(selected, answer.data["left"], answer.revision)
        elif target != selected.lookup:
            self._leave_out(answer)
        pairs = answer.data["ids"]
        return CopyUid(answer.data["to"], pairs) if pairs else None, await self._told(selected)

    # -- calls and what they changed --------------------------------------------------------------------

    async def _ask(self, operation: str, *, missing: str = "NONEXISTENT", **arguments: Any) -> MailAnswer:
        """Make one call; ``missing`` is the response code where a folder is unknown."""
        try:
            return await self._access.ask(operation, **arguments)
        except Refusal as refusal:
            raise _refused(refusal, missing) from None
        except UnknownEpisode:
            raise SessionGone from None
        except Broken as problem:
            raise SessionRefused(str(problem), "SERVERBUG") from None

    async def _changed(self) -> bool:
        try:
            return await self._access.revision() != self._revision
        except UnknownEpisode:
            raise SessionGone from None
        except Broken as problem:
            raise SessionRefused(str(problem), "SERVERBUG") from None

    async def _wait(self, done: Event) -> None:
        """Until the mailbox has changed or the client ends its waiting."""
        changed = Event.for_asyncio()
        either = done.or_event(changed)
        with self._access.watching(changed.set):
            while not done.is_set() and not await self._changed():
                await either.wait()
                changed.clear()
                either.clear()

    async def _up_to_date(self, selected: SelectedMailbox | None) -> SelectedMailbox | None:
        return await self._told(selected) if selected is not None else None

    async def _told(self, selected: SelectedMailbox) -> SelectedMailbox:
        """The open folder with everything that calls have changed in it."""
        if not await self._changed():
            return selected
        try:
            answer = await self._ask("IMAP NOOP", folder=selected.lookup)
        except SessionGone:
            raise
        except ResponseError:
            selected.set_deleted()  # or renamed, or the account has signed out
            return selected
        if _mailbox_id(answer.data["id"]) != selected.mailbox_id:
            selected.set_deleted()
            return selected
        self._tell(selected, answer.data, answer.revision)
        return selected

    def _leave_out(self, answer: MailAnswer) -> None:
        """This call has changed nothing in the open folder."""
        if self._revision == answer.previous:
            self._revision = answer.revision

    def _tell(self, selected: SelectedMailbox, state: dict[str, Any], revision: int | None) -> None:
        """Report the folder's state. Updates that are not allowed now wait for the next command."""
        known = selected.messages
        messages = [MailMessage(uid, date, flag_set(flags)) for uid, date, flags in state["messages"]]
        self._revision = revision
        if selected.hide_expunged:
            present = {message.uid for message in messages}
            told = [m for m in messages if m.uid > known.max_uid or known.get(m.uid) is not None]
            if len(told) < len(messages) or known.exists > len(present & _uids(known)):
                self._revision = None
            messages = told
        selected.set_messages(messages)


def _uids(known: Any) -> set[int]:
    return {uid for _, uid in known.get_uids(SequenceSet.all(uid=True))}


def _check_writable(selected: SelectedMailbox) -> None:
    if selected.readonly:
        raise MailboxReadOnly


def _names(flags: Iterable[Flag]) -> list[str]:
    """The system flags among these, without backslash; there are no others."""
    return sorted(str(flag)[1:] for flag in flags if flag.is_system)


def _special_use(name: str) -> list[bytes]:
    return [_SPECIAL_USE[name]] if name in _SPECIAL_USE else []


def _mailbox_id(folder: int) -> ObjectId:
    return ObjectId(b"F%d" % folder)


def _snapshot(state: dict[str, Any], *, readonly: bool) -> MailboxSnapshot:
    unseen = [number for number, (_, _, flags) in enumerate(state["messages"], 1) if "Seen" not in flags]
    return MailboxSnapshot(
        _mailbox_id(state["id"]),
        readonly,
        state["id"],  # a folder made anew has another id
        CHANGEABLE | flag_set(("Draft",)),
        frozenset(),
        len(state["messages"]),
        0,
        len(unseen),
        unseen[0] if unseen else None,
        state["next"],
    )


def _refused(refusal: Refusal, missing: str) -> ResponseError:
    text = one_line(refusal.message)
    if isinstance(refusal, NotFound) and missing == "NONEXISTENT":
        return MailboxNotFound(text)
    if coded := _CODE.match(text):
        return SessionRefused(text[coded.end() :], coded[1])
    codes = {NotFound: missing, Denied: "NOPERM", Conflict: "CANNOT"}
    return SessionRefused(text, codes.get(type(refusal), "CANNOT"))
