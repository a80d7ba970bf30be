"""Git's smart HTTP protocol: what ``git clone``, ``fetch`` and ``push`` ask, answered by dulwich."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, cast

from dulwich.errors import GitProtocolError
from dulwich.object_store import MissingObjectFinder
from dulwich.objects import Commit, ObjectID, RawObjectID, ShaFile, Tag, valid_hexsha
from dulwich.protocol import CAPABILITY_ATOMIC, CAPABILITY_FILTER, Protocol, pkt_line
from dulwich.refs import Ref
from dulwich.server import Backend, BackendRepo, ReceivePackHandler, UploadPackHandler
from sqlalchemy.orm import Session

from mesocosm.doors.request import Request
from mesocosm.errors import Refusal
from mesocosm.servers.codehost.rest.api import Answered, api
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.objects import GitRepository, ObjectStore
from mesocosm.servers.codehost.store.pushes import RefUpdate
from mesocosm.services.service import Reply, Row

_UNCACHED = {
    "Expires": "Fri, 01 Jan 1980 00:00:00 GMT",
    "Pragma": "no-cache",
    "Cache-Control": "no-cache, max-age=0, must-revalidate",
}
_RELATIVE, _OPTIONS = b"deepen-relative", b"push-options"
"""Capabilities that dulwich does not offer."""
_MALFORMED = (AssertionError, GitProtocolError, ValueError)
"""Exceptions of dulwich for a client that violates the fetch protocol."""


class _Remembered(ObjectStore):
    """Each object is read twice for a pack, to find what it needs and to send it; here only once."""

    def __init__(self, session: Session, network: int) -> None:
        super().__init__(session, network)
        self._read: dict[bytes, ShaFile] = {}

    def __getitem__(self, name: ObjectID | RawObjectID) -> ShaFile:
        if name not in self._read:
            self._read[name] = super().__getitem__(name)
        return self._read[name]


class _Served(GitRepository):
    """A repository whose packs have their objects in the same order each time."""

    def __init__(self, store: CodehostStore, repository: Row, boundary: Set[ObjectID]) -> None:
        super().__init__(store.session, repository["id"], repository["network"])
        self.object_store = _Remembered(store.session, repository["network"])
        self.sent: Sequence[bytes] = ()
        """The names of the objects of the pack that was made."""
        self._boundary = boundary

    def find_missing_objects(  # type: ignore[override]
        self, determine_wants: Any, graph_walker: Any, *args: Any, **options: Any
    ) -> Sequence[Any] | None:
        missing: Any
        if self._boundary:
            missing = self._missing_behind(determine_wants, graph_walker)
        else:
            missing = super().find_missing_objects(determine_wants, graph_walker, *args, **options)
        if missing is None:
            return None
        found = sorted(missing, key=lambda item: item[0])
        self.sent = [name for name, _ in found]
        return found

    def _missing_behind(self, determine_wants: Any, graph_walker: Any) -> MissingObjectFinder | None:
        """Find the parents' objects that a client with only the boundary commits lacks."""
        wants = determine_wants(self.get_refs(), None)
        if not wants:
            return None
        haves, boundary = self.object_store.find_common_revisions(graph_walker), self._boundary
        if graph_walker.client_shallow:
            # Its history will end elsewhere: what lies between is behind commits that it has.
            haves, boundary = [], graph_walker.shallow
        return MissingObjectFinder(self.object_store, haves, wants, shallow=boundary)


class _Backend(Backend):
    """Leads dulwich's handlers to the one repository that is asked for."""

    def __init__(self, store: CodehostStore, repository: Row, boundary: Set[ObjectID] = frozenset()) -> None:
        self.repository = _Served(store, repository, boundary)

    def open_repository(self, path: str) -> BackendRepo:
        return cast(BackendRepo, self.repository)


class _Upload(UploadPackHandler):
    """Answers a fetch. A partial clone would ask for single objects later, so none is offered."""

    def capabilities(self) -> list[bytes]:
        kept = [name for name in super().capabilities() if name != CAPABILITY_FILTER]
        return [*kept, _RELATIVE]

    def set_client_capabilities(self, caps: Iterable[bytes]) -> None:
        # Git says that it filters even after it has warned that the server does not.
        super().set_client_capabilities([name for name in caps if name != CAPABILITY_FILTER])


@dataclass(frozen=True)
class _Fetched(Reply):
    """A pack, logged by its contents: zlib's output differs between builds."""

    names: Sequence[bytes] = ()

    @property
    def text(self) -> str:
        if not self.names:
            return super().text
        return f"{len(self.names)} objects, SHA-256 of their names {sha256(b''.join(self.names)).hexdigest()}"


class _Wire(Protocol):
    """The two ends of one request."""

    def __init__(self, body: bytes = b"", *, takes_push: bool = False) -> None:
        self.given, self.answered = io.BytesIO(body), io.BytesIO()
        self._takes_push = takes_push
        super().__init__(self.given.read, self.answered.write)

    def read_pkt_line(self) -> bytes | None:
        """The next line, ``None`` at the end of a section; ``GitProtocolError`` if there is none."""
        try:
            line = super().read_pkt_line()
            # Who pushes from a shallow clone says first where it ends; the objects are checked anyway.
            while self._takes_push and line is not None and line.startswith(b"shallow "):
                line = super().read_pkt_line()
        except (AssertionError, ValueError) as error:
            raise GitProtocolError(f"malformed line: {error}") from None
        return line


class _Offered(ReceivePackHandler):
    """Capabilities of a push. Push options (``git push -o``) are accepted without effect."""

    def capabilities(self) -> list[bytes]:
        return [*super().capabilities(), _OPTIONS]


class _Receive(_Offered):
    """Takes a push: dulwich reads what the client wants, the store decides."""

    def __init__(self, store: CodehostStore, repository: Row, wire: _Wire) -> None:
        super().__init__(_Backend(store, repository), [""], wire, stateless_rpc=True)
        self._store, self._repository, self._wire = store, repository, wire
        self.refused = False
        """True if the whole push is rejected."""

    def _apply_pack(self, refs: list[tuple[ObjectID, ObjectID, Ref]]) -> Iterator[tuple[bytes, bytes]]:
        while self.has_capability(_OPTIONS) and self._wire.read_pkt_line() is not None:
            pass
        updates = [
            RefUpdate(name.decode("utf-8", "replace"), before.decode(), after.decode())
            for before, after, name in refs
        ]
        try:
            reasons = self._store.pushes.receive(self._repository, updates, self._wire.given.read())
        except Refusal as refusal:
            self.refused = True
            yield b"unpack", _line(refusal.message)
            yield from ((name, b"unpacker error") for _, _, name in refs)
            return
        failed = [reason for reason in reasons if reason is not None]
        atomic = bool(failed) and self.has_capability(CAPABILITY_ATOMIC)
        self.refused = atomic or len(failed) == len(reasons)
        yield b"unpack", b"ok"
        for (_, _, name), reason in zip(refs, reasons, strict=True):
            yield name, _line(reason or "atomic push failure") if reason or atomic else b"ok"


def _from_the_tips(
    line: bytes, lines: Sequence[bytes], shallow: Sequence[bytes], repository: _Served
) -> bytes:
    """A line that says how much deeper the client's history shall be, as how deep it shall be in all."""
    word, _, number = line.strip().partition(b" ")
    if word != b"deepen":
        return line
    words = [wanted.split() for wanted in lines if wanted.startswith(b"want ")]
    tips = [ObjectID(wanted[1]) for wanted in words if wanted[1:]]
    depth, found, level = 0, set(shallow), {tip for tip in tips if tip in repository.object_store}
    seen: set[ObjectID] = set()
    reached = 0
    while level and found:
        depth += 1
        if level & found:
            reached, found = depth, found - level
        seen |= level
        level = {parent for name in level for parent in _parents(repository, name)} - seen
    return b"deepen %d\n" % (reached + int(number))


def _parents(repository: _Served, name: ObjectID) -> Sequence[ObjectID]:
    found = repository.object_store[name]
    while isinstance(found, Tag):
        found = repository.object_store[found.object[1]]
    return found.parents if isinstance(found, Commit) else ()


def _boundary(body: bytes, repository: _Served) -> tuple[bytes, Set[ObjectID]]:
    """Split a fetch request for dulwich, and find the commits at which the client's history ends.

    Dulwich understands the lines that name those only where a new depth is asked for.
    """
    wire, lines = _Wire(body), []
    while (line := wire.read_pkt_line()) is not None:
        lines.append(line)
    told = [line for line in lines if line.startswith(b"shallow ")]
    names = [line.removeprefix(b"shallow ").strip() for line in told]
    if not all(valid_hexsha(name) for name in names):
        raise GitProtocolError("invalid name of a shallow commit")
    if lines and _RELATIVE in lines[0].split():
        lines = [_from_the_tips(line, lines, names, repository) for line in lines]
        body = b"".join([*map(pkt_line, lines), pkt_line(None), body[wire.given.tell() :]])
    if told and not any(line.startswith(b"deepen") for line in lines):
        kept = [pkt_line(line) for line in lines if not line.startswith(b"shallow ")]
        body = b"".join([*kept, pkt_line(None), body[wire.given.tell() :]])
    return body, frozenset(ObjectID(name) for name in names)


def _line(message: str) -> bytes:
    return " ".join(message.split()).encode()


def _plain(message: str, status: int) -> Answered:
    """A refusal whose text git shows to its user."""
    return Answered(message, Reply(f"{message}\n".encode(), status, media_type="text/plain; charset=utf-8"))


def _repository(store: CodehostStore, owner: str, name: str, service: str) -> Row:
    need = "write" if service == "git-receive-pack" else "read"
    try:
        return store.repositories.repository(owner, name.removesuffix(".git"), need)
    except Refusal as refusal:
        message = "Repository not found." if refusal.status == 404 else refusal.message
        raise _plain(message, refusal.status) from None


@api.get("/{owner}/{name}/info/refs")
def info_refs(store: CodehostStore, request: Request, owner: str, name: str, service: str = "") -> Reply:
    """The refs of a repository, with which every conversation begins."""
    if service not in ("git-upload-pack", "git-receive-pack"):
        raise _plain("Please upgrade your git client: only the smart HTTP protocol is served.", 403)
    repository = _repository(store, owner, name, service)
    handler = _Upload if service == "git-upload-pack" else _Offered
    wire = _Wire()
    wire.write(pkt_line(f"# service={service}\n".encode()) + pkt_line(None))
    handler(_Backend(store, repository), [""], wire, stateless_rpc=True, advertise_refs=True).handle()
    return _reply(wire, f"{service}-advertisement")


@api.post("/{owner}/{name}/git-upload-pack", writes=False)
def upload_pack(store: CodehostStore, request: Request) -> Reply:
    """The objects that a client lacks."""
    repository = _repository(store, **request.params, service="git-upload-pack")
    try:
        body, boundary = _boundary(request.body, _Backend(store, repository).repository)
        wire, backend = _Wire(body), _Backend(store, repository, boundary)
        _Upload(backend, [""], wire, stateless_rpc=True).handle()
    except _MALFORMED as error:
        raise _plain(f"fatal: {error}", 400) from None
    reply = _reply(wire, "git-upload-pack-result")
    return _Fetched(reply.body, reply.status, reply.headers, reply.media_type, backend.repository.sent)


@api.post("/{owner}/{name}/git-receive-pack")
def receive_pack(store: CodehostStore, request: Request) -> Reply:
    """Receive a push; if nothing is accepted, it leaves no trace."""
    repository = _repository(store, **request.params, service="git-receive-pack")
    wire = _Wire(request.body, takes_push=True)
    handler = _Receive(store, repository, wire)
    try:
        handler.handle()
    except GitProtocolError as error:
        raise _plain(f"fatal: {error}", 400) from None
    reply = _reply(wire, "git-receive-pack-result")
    if handler.refused:
        raise Answered("The push was refused.", reply)
    return reply


def _reply(wire: _Wire, kind: str) -> Reply:
    return Reply(wire.answered.getvalue(), headers=_UNCACHED, media_type=f"application/x-{kind}")
