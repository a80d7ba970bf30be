"""Receiving git objects: reading packs, and checking that objects are complete and valid.

Whatever is wrong is a refusal here, so that no later call stumbles over it.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterable, Mapping

from dulwich.errors import ApplyDeltaError, ChecksumMismatch, FileFormatException, GitProtocolError
from dulwich.objects import S_ISGITLINK, Blob, Commit, ShaFile, Tag, Tree
from dulwich.pack import UnresolvedDeltas
from sqlalchemy.orm import Session

from mesocosm.servers.codehost.store.objects import DIRECTORY, ObjectStore
from mesocosm.servers.codehost.store.values import Unprocessable
from mesocosm.worlds import deadlines

MAX_INFLATED = 512 * 2**20
"""Bytes that the objects of a pack may have in all."""
MAX_DEPTH = 200
"""Folders within folders."""
MAX_FILES = 200_000
"""Files of a tree that is pushed, counted each time that it is there."""
MAX_TREE = 2 * 2**20
"""Bytes of one folder's list: it is taken apart in one go, which holds up every other thread."""
_LAST_SECOND = 253_402_300_799
"""Of the year 9999, after which dates have no text."""
_OFS_DELTA, _REF_DELTA = 6, 7
_PIECE = 2**14
_MALFORMED = (
    ApplyDeltaError,
    AssertionError,
    ChecksumMismatch,
    EOFError,
    FileFormatException,
    GitProtocolError,
    LookupError,
    OSError,
    TypeError,
    UnresolvedDeltas,
    ValueError,
    struct.error,
    zlib.error,
)
"""Exceptions of dulwich for an invalid pack."""

Received = Mapping[str, ShaFile]
"""Objects by their names."""


class _Incoming(ObjectStore):
    """Unpacks a pack, with stored objects as bases of deltas; stores nothing."""

    def __init__(self, session: Session, network: int) -> None:
        super().__init__(session, network)
        self.received: dict[str, ShaFile] = {}

    def add_object(self, obj: ShaFile) -> None:
        self.received[obj.id.decode()] = obj


def read_pack(session: Session, network: int, pack: bytes) -> Received:
    """The objects of a pack; nothing is stored."""
    try:
        _check_size(pack)
        incoming = _Incoming(session, network)
        stream = io.BytesIO(pack)
        incoming.add_thin_pack(stream.read, None)
        if stream.read(1):
            raise Unprocessable("there is something after the pack")
    except _MALFORMED as error:
        raise Unprocessable(f"index-pack failed: {type(error).__name__}") from None
    return incoming.received


def check_objects(objects: ObjectStore, received: Received) -> None:
    """Refuse objects that are malformed, or that need some that are neither there nor among them."""
    needed: dict[str, set[int]] = {}
    for obj in received.values():
        deadlines.check()
        if isinstance(obj, Tree) and obj.raw_length() > MAX_TREE:
            raise Unprocessable(f"tree {obj.id.decode()} is too large")
        try:
            obj.check()
            references = list(_references(obj))
        except _MALFORMED as error:
            raise Unprocessable(f"object {obj.id.decode()} is malformed: {error}") from None
        for sha, kind in references:
            needed.setdefault(sha, set()).add(kind)
    known = {sha: obj.type_num for sha, obj in received.items()}
    known |= objects.types([sha for sha in needed if sha not in known])
    for sha, kinds in needed.items():
        if kinds != {known.get(sha)}:
            raise Unprocessable(f"missing necessary objects: {sha}")
    _check_extent(received)


def _references(obj: ShaFile) -> Iterable[tuple[str, int]]:
    """The objects that an object needs, each with its type."""
    if isinstance(obj, Commit):
        _check_text(obj)
        if not all(0 <= time <= _LAST_SECOND for time in (obj.commit_time, obj.author_time)):
            raise ValueError("a date out of range")
        yield obj.tree.decode(), Tree.type_num
        for parent in obj.parents:
            yield parent.decode(), Commit.type_num
    elif isinstance(obj, Tag):
        _check_text(obj)
        if not 0 <= (obj.tag_time or 0) <= _LAST_SECOND:
            raise ValueError("a date out of range")
        kind, sha = obj.object
        yield sha.decode(), kind.type_num
    elif isinstance(obj, Tree):
        for name, mode, sha in obj.iteritems():
            if name.decode().lower() == ".git":
                raise ValueError("a file named .git")
            if not S_ISGITLINK(mode):
                yield sha.decode(), Tree.type_num if mode == DIRECTORY else Blob.type_num


def _check_text(obj: ShaFile) -> None:
    if b"\0" in obj.as_raw_string():
        raise ValueError("a null character")


def _check_extent(received: Received) -> None:
    """A few small trees, each many times within the next, can stand for more files than can be listed."""
    extents: dict[str, tuple[int, int]] = {}
    for root in received.values():
        waiting = [root] if isinstance(root, Tree) else []
        while waiting:
            tree = waiting[-1]
            below = [sha.decode() for _, mode, sha in tree.iteritems() if mode == DIRECTORY]
            unknown = [received[sha] for sha in below if sha in received and sha not in extents]
            if unknown:
                waiting.extend(item for item in unknown if isinstance(item, Tree))
                continue
            waiting.pop()
            inside = [extents.get(sha, (1, 1)) for sha in below]
            depth = 1 + max((depth for depth, _ in inside), default=0)
            files = len(tree) + sum(files for _, files in inside)
            if depth > MAX_DEPTH or files > MAX_FILES:
                raise Unprocessable(f"tree {tree.id.decode()} is too large")
            extents[tree.id.decode()] = depth, files


def _check_size(pack: bytes) -> None:
    """Look through a pack without keeping anything: a small one can be made to become very large."""
    magic, version, count = struct.unpack_from(">4sII", pack)
    if magic != b"PACK" or version not in (2, 3):
        raise ValueError("no pack")
    at, total = 12, 0
    for _ in range(count):
        kind = pack[at] >> 4 & 7
        first, at = pack[at], at + 1
        size = first & 15
        if first & 128:
            size, at = _number(pack, at, size, 4)
        if kind == _OFS_DELTA:
            while pack[at] & 128:
                at += 1
            at += 1
        elif kind == _REF_DELTA:
            at += 20
        total += size
        _check_total(total)
        begin, at = _inflated(pack, at, size)
        if kind in (_OFS_DELTA, _REF_DELTA):
            # A delta begins with the sizes of its base and of its result.
            _, after = _number(begin, 0)
            total += _number(begin, after)[0]
            _check_total(total)


def _check_total(total: int) -> None:
    if total > MAX_INFLATED:
        raise Unprocessable(f"the pack is larger than {MAX_INFLATED} bytes")


def _number(data: bytes, at: int, value: int = 0, shift: int = 0) -> tuple[int, int]:
    """A number of which each byte has seven bits, the last byte below 128, and where it ends."""
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def _inflated(pack: bytes, at: int, size: int) -> tuple[bytes, int]:
    """Inflate the beginning of an object, and find the end of its compressed data."""
    inflating = zlib.decompressobj()
    view = memoryview(pack)
    begin, found = b"", 0
    while not inflating.eof:
        piece: bytes | memoryview = inflating.unconsumed_tail
        if not piece:
            piece = view[at : at + _PIECE]
            at += len(piece)
        if not piece:
            raise EOFError
        part = inflating.decompress(piece, _PIECE)
        begin, found = begin or part[:64], found + len(part)
        if found > size:
            raise ValueError("larger than it says")
    return begin, at - len(inflating.unused_data)
