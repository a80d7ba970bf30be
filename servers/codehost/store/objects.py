"""Git's own view of a repository, over the tables: what dulwich reads and writes.

Nothing is kept in memory between two calls, so that a rolled-back call leaves nothing behind.
``GitRepository`` is a repository as dulwich's server wants one: it can make packs for a client that fetches
and takes those of a client that pushes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from dulwich.object_store import BaseObjectStore, MemoryObjectStore, OverlayObjectStore
from dulwich.objects import ObjectID, RawObjectID, ShaFile, Tree, parse_tree, sha_to_hex
from dulwich.refs import SYMREF, Ref, RefsContainer
from dulwich.repo import BaseRepo
from sqlalchemy import bindparam, delete, select, text, update
from sqlalchemy.orm import Session

from mesocosm.errors import Invalid
from mesocosm.servers.codehost.models import Object, Repository
from mesocosm.servers.codehost.models import Ref as RefRow
from mesocosm.worlds.database import fetch

HEAD = Ref(b"HEAD")
DIRECTORY = 0o040000
"""The mode of a directory in a tree."""
_HEADS = "refs/heads/"

_RAW = select(Object.type, Object.data).where(
    Object.network == bindparam("network"), Object.sha == bindparam("sha")
)
_HAS = select(Object.type).where(Object.network == bindparam("network"), Object.sha == bindparam("sha"))
_TYPES = select(Object.sha, Object.type).where(
    Object.network == bindparam("network"), Object.sha.in_(bindparam("shas", expanding=True))
)
_MANY = 500
"""Objects that one statement asks for."""
_ALL = select(Object.sha).where(Object.network == bindparam("network")).order_by(Object.sha)
_PREFIX = (
    select(Object.sha)
    .where(
        Object.network == bindparam("network"),
        Object.sha >= bindparam("first"),
        Object.sha < bindparam("last"),
    )
    .order_by(Object.sha)
)
_ADD = text(
    "INSERT OR IGNORE INTO objects (network, sha, type, size, data)"
    " VALUES (:network, :sha, :type, :size, :data)"
)
_REF = select(RefRow.sha).where(
    RefRow.repository_id == bindparam("repository"), RefRow.name == bindparam("name")
)
_REFS = select(RefRow.name, RefRow.sha).where(RefRow.repository_id == bindparam("repository"))
_DEFAULT = select(Repository.default_branch).where(Repository.id == bindparam("repository"))


class ObjectStore(MemoryObjectStore):
    """The objects of a network of forks. How packs are taken apart is inherited."""

    def __init__(self, session: Session, network: int) -> None:
        super().__init__()
        self._session = session
        self._network = network

    def __iter__(self) -> Iterator[ObjectID]:
        """Every object's name."""
        rows = fetch(self._session, _ALL, {"network": self._network})
        return iter([ObjectID(row["sha"].encode()) for row in rows])

    def __getitem__(self, name: ObjectID | RawObjectID) -> ShaFile:
        """An object; ``KeyError`` if there is none of that name."""
        return BaseObjectStore.__getitem__(self, name)

    def contains_loose(self, sha: ObjectID) -> bool:
        """True if the object exists."""
        return bool(fetch(self._session, _HAS, self._key(sha)))

    def get_raw(self, name: RawObjectID | ObjectID) -> tuple[int, bytes]:
        """Type and contents of an object."""
        rows = fetch(self._session, _RAW, self._key(name))
        if not rows:
            raise KeyError(name)
        return rows[0]["type"], rows[0]["data"]

    def add_object(self, obj: ShaFile) -> None:
        """Add an object, unless it is there."""
        self.add_objects([(obj, None)])

    def add_objects(
        self,
        objects: Iterable[tuple[ShaFile, str | None]],
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """Add objects, except those that are there."""
        rows = [
            {
                "network": self._network,
                "sha": obj.id.decode(),
                "type": obj.type_num,
                "size": len(raw := obj.as_raw_string()),
                "data": raw,
            }
            for obj, _ in objects
        ]
        if rows:
            self._session.execute(_ADD, rows)

    def iter_prefix(self, prefix: bytes) -> Iterator[ObjectID]:
        """The objects whose names begin so."""
        first = prefix.decode()
        parameters = {"network": self._network, "first": first, "last": first + "g"}
        return iter([ObjectID(row["sha"].encode()) for row in fetch(self._session, _PREFIX, parameters)])

    def tree(self, sha: str) -> Tree:
        """A tree by its name."""
        return cast(Tree, self[ObjectID(sha.encode())])

    def entries(self, sha: str) -> list[tuple[bytes, int, bytes]]:
        """Name, mode and object of everything in a tree, in git's order: the quick way to read one."""
        return list(parse_tree(self.get_raw(ObjectID(sha.encode()))[1], sha_len=20))

    def data(self, sha: str) -> bytes:
        """The contents of a blob."""
        return self.get_raw(ObjectID(sha.encode()))[1]

    def types(self, shas: Sequence[str]) -> dict[str, int]:
        """Git's number of the type of each of these objects that there is."""
        found: dict[str, int] = {}
        for at in range(0, len(shas), _MANY):
            chosen = {"network": self._network, "shas": shas[at : at + _MANY]}
            found |= {row["sha"]: row["type"] for row in fetch(self._session, _TYPES, chosen)}
        return found

    def _key(self, sha: ObjectID | RawObjectID) -> dict[str, Any]:
        name = sha if len(sha) == 40 else sha_to_hex(RawObjectID(sha))
        return {"network": self._network, "sha": name.decode()}


class Scratch(OverlayObjectStore):
    """An object store over another one that keeps what is added in memory: for trying a merge out."""

    def __init__(self, below: ObjectStore) -> None:
        self._added = MemoryObjectStore()
        super().__init__([self._added, below], self._added)

    def added(self) -> list[tuple[ShaFile, None]]:
        return [(self._added[name], None) for name in self._added]


class RefTable(RefsContainer):
    """The refs of one repository. ``HEAD`` points at the default branch."""

    def __init__(self, session: Session, repository_id: int) -> None:
        super().__init__()
        self._session = session
        self._repository = repository_id

    def allkeys(self) -> set[Ref]:
        """Every ref's name."""
        rows = fetch(self._session, _REFS, {"repository": self._repository})
        return {HEAD, *(Ref(row["name"].encode()) for row in rows)}

    def get_packed_refs(self) -> dict[Ref, ObjectID]:
        """None: all refs are alike here."""
        return {}

    def read_loose_ref(self, name: Ref) -> bytes | None:
        if name == HEAD:
            rows = fetch(self._session, _DEFAULT, {"repository": self._repository})
            return SYMREF + f"{_HEADS}{rows[0]['default_branch']}".encode() if rows else None
        parameters = {"repository": self._repository, "name": name.decode(errors="replace")}
        rows = fetch(self._session, _REF, parameters)
        return rows[0]["sha"].encode() if rows else None

    def set_symbolic_ref(
        self,
        name: Ref,
        other: Ref,
        committer: bytes | None = None,
        timestamp: int | None = None,
        timezone: int | None = None,
        message: bytes | None = None,
    ) -> None:
        """Have ``HEAD`` point at another branch."""
        if name != HEAD or not other.startswith(_HEADS.encode()):
            raise ValueError("only HEAD is symbolic, and it points at a branch")
        branch = other.decode().removeprefix(_HEADS)
        self._session.execute(
            update(Repository).where(Repository.id == self._repository).values(default_branch=branch)
        )

    def set_if_equals(
        self,
        name: Ref,
        old_ref: ObjectID | None,
        new_ref: ObjectID,
        committer: bytes | None = None,
        timestamp: int | None = None,
        timezone: int | None = None,
        message: bytes | None = None,
    ) -> bool:
        """Set a ref, if it is still ``old_ref``."""
        self._check_refname(name)
        self._check_ref_value(new_ref)
        name = self.follow(name)[0][-1]
        if old_ref is not None and self.read_loose_ref(name) != old_ref:
            return False
        self._session.execute(
            text("INSERT OR REPLACE INTO refs (repository_id, name, sha) VALUES (:repository, :name, :sha)"),
            {"repository": self._repository, "name": name.decode(), "sha": new_ref.decode()},
        )
        return True

    def add_if_new(
        self,
        name: Ref,
        ref: ObjectID,
        committer: bytes | None = None,
        timestamp: int | None = None,
        timezone: int | None = None,
        message: bytes | None = None,
    ) -> bool:
        """Set a ref, if there is none of that name."""
        name = self.follow(name)[0][-1]
        return self.read_loose_ref(name) is None and self.set_if_equals(name, None, ref)

    def remove_if_equals(
        self,
        name: Ref,
        old_ref: ObjectID | None,
        committer: bytes | None = None,
        timestamp: int | None = None,
        timezone: int | None = None,
        message: bytes | None = None,
    ) -> bool:
        """Remove a ref, if it is still ``old_ref``."""
        if old_ref is not None and self.read_loose_ref(name) != old_ref:
            return False
        self._session.execute(
            delete(RefRow).where(RefRow.repository_id == self._repository, RefRow.name == name.decode())
        )
        return True


class GitRepository(BaseRepo):
    """A repository as dulwich knows one."""

    def __init__(self, session: Session, repository_id: int, network: int) -> None:
        super().__init__(ObjectStore(session, network), RefTable(session, repository_id))
        self.bare = True


TreeChanges = Mapping[str, tuple[int, str] | None]
"""New mode and name of the contents of files by path; ``None`` removes a file."""


def write_tree(objects: ObjectStore, base: str | None, changes: TreeChanges) -> str:
    """Add the trees that differ from those of ``base`` by these changes; returns the name of the root."""
    nested: dict[str, Any] = {}
    for path, entry in changes.items():
        folder = nested
        *parents, name = path.split("/")
        for parent in parents:
            folder = folder.setdefault(parent, {}) if isinstance(folder, dict) else folder
        if not isinstance(folder, dict) or name in folder:
            raise Invalid(f"{path} cannot be both a file and a folder.")
        folder[name] = entry
    new: list[tuple[ShaFile, str | None]] = []
    tree = _changed(objects, objects.tree(base) if base else Tree(), nested, new)
    objects.add_objects([*new, (tree, None)])
    return tree.id.decode()


def _changed(
    objects: ObjectStore, tree: Tree, changes: Mapping[str, Any], new: list[tuple[ShaFile, str | None]]
) -> Tree:
    for name, change in changes.items():
        key = name.encode()
        if isinstance(change, dict):
            mode, sha = tree[key] if key in tree else (0, b"")  # noqa: SIM401 - a tree has no get
            below = objects.tree(sha.decode()) if mode == DIRECTORY else Tree()
            below = _changed(objects, below, change, new)
            if len(below):
                new.append((below, None))
                tree[key] = (DIRECTORY, below.id)
            elif mode:
                del tree[key]
        elif change is not None:
            tree[key] = (change[0], ObjectID(change[1].encode()))
        elif key in tree:
            del tree[key]
    return tree
