"""Git's smart HTTP protocol: what ``git clone``, ``fetch`` and ``push`` ask, answered by dulwich."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, cast

from dulwich.errors import GitProtocolError
from dulwich.objects import ObjectID, RawObjectID, ShaFile
from dulwich.protocol import CAPABILITY_ATOMIC, Protocol, pkt_line
from dulwich.refs import Ref
from dulwich.server import Backend, BackendRepo, ReceivePackHandler, UploadPackHandler
from sqlalchemy.orm import Session

from mesocosm.errors import Refusal
from mesocosm.rest import Request
from mesocosm.servers.codehost.rest.api import Answered, api
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.objects import GitRepository, ObjectStore
from mesocosm.servers.codehost.store.pushing import RefUpdate
from mesocosm.service import Reply, Row

_UNCACHED = {
    "Expires": "Fri, 01 Jan 1980 00:00:00 GMT",
    "Pragma": "no-cache",
    "Cache-Control": "no-cache, max-age=0, must-revalidate",
}
_MALFORMED = (AssertionError, GitProtocolError, ValueError)
"""What dulwich raises when a client that fetches does not keep to the protocol."""


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

    def __init__(self, store: CodehostStore, repository: Row) -> None:
        super().__init__(store.session, repository["id"], repository["network"])
        self.object_store = _Remembered(store.session, repository["network"])
        self.sent: Sequence[bytes] = ()
        """The names of the objects of the pack that was made."""

    def find_missing_objects(  # type: ignore[override]
        self, *args: Any, **options: Any
    ) -> Sequence[Any] | None:
        missing = super().find_missing_objects(*args, **options)
        if missing is None:
            return None
        found = sorted(missing, key=lambda item: item[0])
        self.sent = [name for name, _ in found]
        return found


class _Backend(Backend):
    """Leads dulwich's handlers to the one repository that is asked for."""

    def __init__(self, store: CodehostStore, repository: Row) -> None:
        self.repository = _Served(store, repository)

    def open_repository(self, path: str) -> BackendRepo:
        return cast(BackendRepo, self.repository)


@dataclass(frozen=True)
class _Fetched(Reply):
    """A pack, of which the journal says what is in it: zlib's output differs between its builds."""

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


class _Receive(ReceivePackHandler):
    """Takes a push: dulwich reads what the client wants, the store decides."""

    def __init__(self, store: CodehostStore, repository: Row, wire: _Wire) -> None:
        super().__init__(_Backend(store, repository), [""], wire, stateless_rpc=True)
        self._store, self._repository, self._wire = store, repository, wire
        self.refused = False
        """Whether nothing of the push may stay."""

    def _apply_pack(self, refs: list[tuple[ObjectID, ObjectID, Ref]]) -> Iterator[tuple[bytes, bytes]]:
        updates = [
            RefUpdate(name.decode("utf-8", "replace"), before.decode(), after.decode())
            for before, after, name in refs
        ]
        try:
            reasons = self._store.receive(self._repository, updates, self._wire.given.read())
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


def _line(message: str) -> bytes:
    return " ".join(message.split()).encode()


def _plain(message: str, status: int) -> Answered:
    """A refusal whose text git shows to its user."""
    return Answered(message, Reply(f"{message}\n".encode(), status, media_type="text/plain; charset=utf-8"))


def _repository(store: CodehostStore, owner: str, name: str, service: str) -> Row:
    need = "write" if service == "git-receive-pack" else "read"
    try:
        return store.repository(owner, name.removesuffix(".git"), need)
    except Refusal as refusal:
        message = "Repository not found." if refusal.status == 404 else refusal.message
        raise _plain(message, refusal.status) from None


@api.get("/{owner}/{name}/info/refs", threaded=True)
def info_refs(store: CodehostStore, request: Request, owner: str, name: str, service: str = "") -> Reply:
    """The refs of a repository, with which every conversation begins."""
    if service not in ("git-upload-pack", "git-receive-pack"):
        raise _plain("Please upgrade your git client: only the smart HTTP protocol is served.", 403)
    repository = _repository(store, owner, name, service)
    handler = UploadPackHandler if service == "git-upload-pack" else ReceivePackHandler
    wire = _Wire()
    wire.write(pkt_line(f"# service={service}\n".encode()) + pkt_line(None))
    handler(_Backend(store, repository), [""], wire, stateless_rpc=True, advertise_refs=True).handle()
    return _reply(wire, f"{service}-advertisement")


@api.post("/{owner}/{name}/git-upload-pack", writes=False, threaded=True)
def upload_pack(store: CodehostStore, request: Request) -> Reply:
    """The objects that a client lacks."""
    repository = _repository(store, **request.params, service="git-upload-pack")
    wire, backend = _Wire(request.body), _Backend(store, repository)
    try:
        UploadPackHandler(backend, [""], wire, stateless_rpc=True).handle()
    except _MALFORMED as error:
        raise _plain(f"fatal: {error}", 400) from None
    reply = _reply(wire, "git-upload-pack-result")
    return _Fetched(reply.body, reply.status, reply.headers, reply.media_type, backend.repository.sent)


@api.post("/{owner}/{name}/git-receive-pack", threaded=True)
def receive_pack(store: CodehostStore, request: Request) -> Reply:
    """A push; one of which nothing was accepted leaves no trace."""
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
