"""The drive: accounts, files in folders, and access."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import orjson

from mesocosm.errors import Denied, Invalid, NotFound

if TYPE_CHECKING:
    from mesocosm.servers.google_sheet.store import SheetStore

ROLES = ("reader", "commenter", "writer", "owner")
"""From the least to the most."""
MAX_NAME = 1_000
_EMAIL = re.compile(r"[^@\s<>,;:\"()\[\]\\\x00-\x1f]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}")
_DOMAIN = re.compile(r"(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}")
_COLUMNS = (
    "number, id, kind, name, description, owner, parent, starred, trashed, created, modified, modified_by,"
    " version, properties"
)


@dataclass(frozen=True)
class FileEntry:
    """A file as the signed-in account may use it."""

    number: int
    id: str
    kind: str
    name: str
    description: str
    owner: str
    parent: int | None
    starred: bool
    trashed: bool
    created: str
    modified: str
    modified_by: str
    version: int
    properties: dict[str, str]
    role: str = "reader"

    def may(self, role: str) -> bool:
        """True if the account has this role or a higher one."""
        return ROLES.index(self.role) >= ROLES.index(role)


@dataclass(frozen=True)
class Granted:
    """A permission on a file."""

    id: str
    scope: str
    role: str
    name: str | None

    @property
    def type(self) -> str:
        """``user``, ``group``, ``domain`` or ``anyone``."""
        return self.scope.partition(":")[0]

    @property
    def value(self) -> str:
        """The address or the domain."""
        return self.scope.partition(":")[2]


def checked_name(name: str, what: str = "name") -> str:
    """A name that can be kept and shown."""
    if any(character < " " or character == "\x7f" for character in name):
        raise Invalid(f"Invalid value for {what}: control characters are not allowed.", code="invalid")
    if len(name) > MAX_NAME:
        raise Invalid(f"Invalid value for {what}: at most {MAX_NAME} characters.", code="invalid")
    return name


class Drive:
    """The files of all accounts, as the one that is signed in sees them."""

    def __init__(self, store: SheetStore) -> None:
        self.store = store

    # -- accounts ---------------------------------------------------------------------------------------

    def create_account(self, email: str, name: str) -> str:
        """An account with an empty drive; returns the id of its root folder."""
        if not _EMAIL.fullmatch(email):
            raise Invalid(f"{email[:100]!r} is not an e-mail address.", code="invalid")
        email = email.lower()
        self.store.run("INSERT INTO accounts (email, name) VALUES (?, ?)", (email, name))
        return self._insert("root", "My Drive", email, None).id

    def sign_in(self, email: str) -> None:
        """Sign in an account for the tools and clients."""
        known = self.store.rows("SELECT email FROM accounts WHERE email = ?", (email.lower(),))
        if not known:
            raise NotFound(f"There is no account {email[:100]!r}.", code="notFound")
        self.store.run("DELETE FROM sign_in")
        self.store.run("INSERT INTO sign_in (id, email) VALUES (1, ?)", (email.lower(),))

    @property
    def me(self) -> str:
        """The address of the account that is signed in."""
        rows = self.store.rows("SELECT email FROM sign_in")
        if not rows:
            raise Denied("Login Required: nobody is signed in.", code="required")
        return str(rows[0][0])

    def name_of(self, email: str) -> str:
        """Return an account's display name; for strangers the address up to the @."""
        rows = self.store.rows("SELECT name FROM accounts WHERE email = ?", (email,))
        return str(rows[0][0]) if rows else email.partition("@")[0]

    @property
    def root(self) -> FileEntry:
        """The root folder of the account."""
        rows = self.store.rows(f"SELECT {_COLUMNS} FROM files WHERE kind = 'root' AND owner = ?", (self.me,))
        return self._entry(rows[0], "owner")

    # -- files ------------------------------------------------------------------------------------------

    def file(self, file_id: str, role: str = "reader") -> FileEntry:
        """A file that the account may use so; otherwise ``NotFound`` or ``Denied``."""
        me = self.me
        if file_id == "root":
            return self.root
        rows = self.store.rows(f"SELECT {_COLUMNS} FROM files WHERE id = ?", (file_id,))
        found = self._entry(rows[0], "reader") if rows else None
        own = self.role_on(found, me) if found else None
        if not found or own is None:
            raise NotFound(f"File not found: {file_id[:100]}.", code="notFound")
        entry = FileEntry(**{**found.__dict__, "role": own})
        if not entry.may(role):
            raise Denied("The caller does not have permission", code="forbidden")
        return entry

    def role_on(self, file: FileEntry, email: str) -> str | None:
        """The greatest role that an address has on a file, by itself or by a folder that it lies in."""
        scopes = {f"user:{email}", f"group:{email}", f"domain:{email.partition('@')[2]}", "anyone"}
        best = "owner" if file.owner == email else None
        number: int | None = file.number
        seen: set[int] = set()
        while number is not None and number not in seen:
            seen.add(number)
            for scope, role in self.store.rows(
                "SELECT scope, role FROM permissions WHERE file = ?", (number,)
            ):
                if scope in scopes and (best is None or ROLES.index(role) > ROLES.index(best)):
                    best = role
            number = self.store.rows("SELECT parent FROM files WHERE number = ?", (number,))[0][0]
        return best

    def create(
        self, kind: str, name: str, parent: str | None = None, description: str = "",
        properties: dict[str, str] | None = None,
    ) -> FileEntry:  # fmt: skip
        """A new file in a folder that the account may write to; its root where none is said."""
        folder = self.root if parent is None else self.folder(parent, "writer")
        made = self._insert(kind, checked_name(name), self.me, folder.number, description)
        if properties:
            self.update(made.id, {"properties": properties})
        return self.file(made.id)

    def folder(self, file_id: str, role: str = "reader") -> FileEntry:
        """A folder that the account may use so."""
        found = self.file(file_id, role)
        if found.kind == "spreadsheet":
            raise Invalid(f"The file {file_id[:100]} is no folder.", code="invalid")
        return found

    def _insert(
        self, kind: str, name: str, owner: str, parent: int | None, description: str = ""
    ) -> FileEntry:
        stamp = self.store.stamp
        number = int(self.store.rows("SELECT coalesce(max(number), 0) + 1 FROM files")[0][0])
        file_id = new_id(kind, number, self.store.world.manifest.seed)
        number = self.store.run(
            "INSERT INTO files (id, kind, name, description, owner, parent, starred, trashed,"
            " created, modified,"
            " modified_by, version, properties) VALUES (?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, 1, '{}')",
            (file_id, kind, name, description, owner, parent, stamp, stamp, owner),
        )
        self.store.run(
            "INSERT INTO permissions (file, scope, role) VALUES (?, ?, 'owner')", (number, f"user:{owner}")
        )
        if kind == "spreadsheet":
            self._revise(number, 1, owner)
        rows = self.store.rows(f"SELECT {_COLUMNS} FROM files WHERE number = ?", (number,))
        return self._entry(rows[0], "owner")

    def update(self, file_id: str, changes: dict[str, Any], parent: str | None = None) -> FileEntry:
        """A file with some of name, description, starred, trashed, properties changed, or moved."""
        file = self.file(file_id, "reader" if set(changes) <= {"starred"} and parent is None else "writer")
        if file.kind == "root" and (changes or parent):
            raise Denied("The root folder cannot be changed.", code="forbidden")
        if changes.get("trashed") is not None and not file.may("owner"):
            raise Denied("The user does not have sufficient permissions for this file.", code="forbidden")
        if "name" in changes:
            checked_name(changes["name"])
        if "properties" in changes:
            kept = {**file.properties, **changes["properties"]}
            kept = {key: value for key, value in kept.items() if value is not None}
            changes = {**changes, "properties": orjson.dumps(kept, option=orjson.OPT_SORT_KEYS).decode()}
        if parent is not None:
            folder = self.folder(parent, "writer")
            if folder.number in self._below(file.number):
                raise Invalid("A folder cannot be moved into itself.", code="cannotMoveIntoItself")
            changes = {**changes, "parent": folder.number}
        for column in sorted(changes):
            self.store.run(f"UPDATE files SET {column} = ? WHERE number = ?", (changes[column], file.number))
        if set(changes) - {"starred", "parent", "trashed"}:
            self.touch(file.number)
        return self.file(file_id)

    def _below(self, number: int) -> set[int]:
        rows = self.store.rows(
            "WITH RECURSIVE below(number) AS (VALUES(?) UNION SELECT files.number FROM files, below"
            " WHERE files.parent = below.number) SELECT number FROM below",
            (number,),
        )
        return {row[0] for row in rows}

    def delete(self, file_id: str) -> None:
        """Remove a file for good, a folder with all that lies in it."""
        file = self.file(file_id, "writer")
        if not file.may("owner") or file.kind == "root":
            raise Denied("The user does not have sufficient permissions for this file.", code="forbidden")
        for number in sorted(self._below(file.number), reverse=True):
            self.store.sheets.remove_content(number)
            self.store.run(
                "DELETE FROM replies WHERE comment IN (SELECT id FROM comments WHERE file = ?)", (number,)
            )
            for table in ("comments", "revisions", "permissions"):
                self.store.run(f"DELETE FROM {table} WHERE file = ?", (number,))
            self.store.run("DELETE FROM files WHERE number = ?", (number,))

    def touch(self, number: int) -> None:
        """Note that a file was changed now, by whoever is signed in."""
        self.store.run(
            "UPDATE files SET version = version + 1, modified = ?, modified_by = ? WHERE number = ?",
            (self.store.stamp, self.me, number),
        )
        version, kind = self.store.rows("SELECT version, kind FROM files WHERE number = ?", (number,))[0]
        if kind == "spreadsheet":
            self._revise(number, version, self.me)

    def _revise(self, number: int, version: int, who: str) -> None:
        self.store.run(
            "INSERT INTO revisions (file, version, modified, modified_by) VALUES (?, ?, ?, ?)",
            (number, version, self.store.stamp, who),
        )

    def visible(self) -> Iterator[FileEntry]:
        """Every file that the account owns or that is shared with it, the last changed first."""
        me = self.me
        for row in self.store.rows(
            f"SELECT {_COLUMNS} FROM files WHERE kind != 'root' ORDER BY modified DESC, number DESC"
        ):
            entry = self._entry(row, "reader")
            role = self.role_on(entry, me)
            if role is not None:
                yield FileEntry(**{**entry.__dict__, "role": role})

    def by_number(self, number: int) -> FileEntry:
        """A file by its row."""
        row = self.store.rows(f"SELECT {_COLUMNS} FROM files WHERE number = ?", (number,))[0]
        return self._entry(row, "reader")

    def parents(self, file: FileEntry) -> list[str]:
        """Ids of the folder that a file lies in, where the account may see it."""
        if file.parent is None:
            return []
        parent = self.by_number(file.parent)
        return [parent.id] if self.role_on(parent, self.me) else []

    def _entry(self, row: Sequence[Any], role: str) -> FileEntry:
        values = list(row)
        values[7], values[8] = bool(values[7]), bool(values[8])
        values[13] = orjson.loads(values[13])
        names = (field.name for field in fields(FileEntry))
        return FileEntry(**dict(zip(names, [*values, role], strict=True)))

    # -- sharing ----------------------------------------------------------------------------------------

    def permissions(self, file_id: str) -> list[Granted]:
        file = self.file(file_id)
        rows = self.store.rows(
            "SELECT permissions.id, scope, role, accounts.name FROM permissions LEFT JOIN accounts"
            " ON scope = 'user:' || email WHERE file = ? ORDER BY permissions.id",
            (file.number,),
        )
        return [Granted(permission_id(row[1]), row[1], row[2], row[3]) for row in rows]

    def share(self, file_id: str, kind: str, value: str | None, role: str) -> Granted:
        """Give a person, group, domain or anyone a role; it replaces an earlier one."""
        file = self.file(file_id, "writer")
        scope = self._scope(kind, value)
        if role not in ROLES:
            raise Invalid(
                "The specified role is not valid: one of reader, commenter, writer.", code="invalid"
            )
        if role == "owner":
            raise Denied("Ownership is not transferred here.", code="forbidden")
        if scope == f"user:{file.owner}":
            raise Invalid("The owner's permission cannot be changed.", code="invalidSharingRequest")
        self.store.run(
            "INSERT INTO permissions (file, scope, role) VALUES (?, ?, ?)"
            " ON CONFLICT (file, scope) DO UPDATE SET role = excluded.role",
            (file.number, scope, role),
        )
        return next(one for one in self.permissions(file_id) if one.scope == scope)

    def permission(self, file_id: str, permission: str) -> Granted:
        for one in self.permissions(file_id):
            if one.id == permission:
                return one
        raise NotFound(f"Permission not found: {permission[:100]}.", code="notFound")

    def change_role(self, file_id: str, permission: str, role: str) -> Granted:
        """Change the role of an account that has one."""
        one = self.permission(file_id, permission)
        return self.share(file_id, one.type, one.value or None, role)

    def unshare(self, file_id: str, permission: str) -> None:
        """Take a permission back; everybody may give up their own."""
        one = self.permission(file_id, permission)
        file = self.file(file_id, "reader" if one.scope == f"user:{self.me}" else "writer")
        if one.role == "owner":
            raise Denied("The owner's permission cannot be removed.", code="forbidden")
        self.store.run("DELETE FROM permissions WHERE file = ? AND scope = ?", (file.number, one.scope))

    def _scope(self, kind: str, value: str | None) -> str:
        if kind == "anyone":
            return "anyone"
        if kind in ("user", "group"):
            if value is None or not _EMAIL.fullmatch(value):
                raise Invalid(
                    f"The specified emailAddress is invalid or not applicable for the given permission type:"
                    f" {str(value)[:100]!r}.",
                    code="invalidSharingRequest",
                )
            return f"{kind}:{value.lower()}"
        if kind == "domain":
            if value is None or not _DOMAIN.fullmatch(value):
                raise Invalid("The specified domain is invalid.", code="invalidSharingRequest")
            return f"domain:{value.lower()}"
        raise Invalid("The permission type is one of user, group, domain, anyone.", code="invalid")


def permission_id(scope: str) -> str:
    """Return the id of a permission, derived from its account as by the vendor."""
    kind, _, value = scope.partition(":")
    if kind == "anyone":
        return "anyoneWithLink"
    digest = hashlib.sha256(scope.encode()).digest()
    return str(int.from_bytes(digest[:8]) % 10**20).zfill(20) if value else kind


def new_id(kind: str, number: int, seed: int) -> str:
    """The id of a file: as long and of the letters of the vendor's, and always the same in the same world."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    digest = (
        hashlib.sha256(f"{kind} {number} {seed}".encode()).digest()
        + hashlib.sha256(f"{seed} {number}".encode()).digest()
    )
    length = 43 if kind == "spreadsheet" else 32 if kind == "folder" else 16
    return ("1" if kind != "root" else "0A") + "".join(alphabet[byte % 64] for byte in digest[:length])
