"""Files and directories: reading them at any ref, blaming their lines, and committing changes to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from dulwich.objects import Blob
from sqlalchemy import bindparam, select

from mesocosm.errors import Conflict, Denied, Invalid, NotFound
from mesocosm.servers.codehost.models import File, Object
from mesocosm.servers.codehost.store.blame import Blame
from mesocosm.servers.codehost.store.history import Signature
from mesocosm.servers.codehost.store.objects import DIRECTORY, ObjectStore, write_tree
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.values import Unprocessable, clean, cursor, parse_cursor, window
from mesocosm.services.service import Row

FILE, EXECUTABLE, SYMLINK, SUBMODULE = 0o100644, 0o100755, 0o120000, 0o160000
MAX_DIRECTORY = 1000
"""Entries of a directory that are listed, as in the product's contents API."""
MAX_TREE = 1000
"""Entries of a tree on one page."""
MAX_FILE = 1_000_000
"""Bytes of a file that a tool writes or reads."""
MAX_RAW = 100_000_000
"""Bytes of a file that the API gives as it is."""

_SIZES = select(Object.sha, Object.size).where(
    Object.network == bindparam("network"), Object.sha.in_(bindparam("shas", expanding=True))
)
_AT_HEAD = select(File.mode, File.sha).where(
    File.repository_id == bindparam("repository"), File.path == bindparam("path")
)


@dataclass(frozen=True)
class Entry:
    """Something in a tree."""

    path: str
    mode: int
    sha: str
    size: int | None
    """Of a file."""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def type(self) -> str:
        """``dir``, ``file``, ``symlink`` or ``submodule``."""
        return {DIRECTORY: "dir", SYMLINK: "symlink", SUBMODULE: "submodule"}.get(self.mode, "file")


@dataclass(frozen=True)
class Blamed:
    """Lines that the same commit wrote."""

    first: int
    last: int
    commit_id: int


@dataclass(frozen=True)
class By:
    """Author and committer of a commit, with the time."""

    author: tuple[Signature, datetime]
    committer: tuple[Signature, datetime]


class Contents(StorePart):
    """The files of a repository."""

    def look(
        self, repository: Row, path: str, ref: str | None, most: int = MAX_FILE
    ) -> tuple[Row, Entry, bytes | list[Entry]]:
        """Look up a path: the commit, the entry, and its content or the directory's entries.

        A file may have ``most`` bytes.
        """
        commit = self.store.commits.commit(repository, ref)
        objects = self.store.commits.objects(repository)
        path = path.strip("/")
        found = self._file_at_head(repository, commit, path) or self.store.commits.entry(
            objects, commit["tree"], path
        )
        if found is None:
            raise NotFound(
                f"Not Found: {path or '/'} is neither a file nor a directory of"
                f" {repository['owner']}/{repository['name']} at {ref or repository['default_branch']}."
            )
        mode, sha = found
        if mode == DIRECTORY:
            return commit, Entry(path, mode, sha, None), self._list(objects, repository, path, sha)
        if mode == SUBMODULE:
            return commit, Entry(path, mode, sha, None), b""
        data = objects.data(sha)
        if len(data) > most:
            raise Denied(
                f"This API returns blobs up to {most // 1_000_000} MB in size. The requested blob is too"
                f" large to fetch via the API ({len(data)} bytes)."
            )
        return commit, Entry(path, mode, sha, len(data)), data

    def walk(
        self,
        repository: Row,
        name: str | None,
        *,
        recursive: bool,
        prefix: str | None,
        page: int | None = None,
        many: int = MAX_TREE,
    ) -> tuple[str, list[Entry], bool]:
        """A tree: its name, one page of ``many`` entries by path, and whether there are more of them."""
        first = window(page, 1)[1] * many
        tree = self.store.commits.tree(repository, name)
        objects = self.store.commits.objects(repository)
        prefix = (prefix or "").lstrip("/")
        found: list[Entry] = []
        self._walk(objects, tree, "", prefix, recursive, found, first + many)
        sized = self._sized(repository, found[first : first + many])
        return tree, sized, len(found) > first + many

    def blame_ranges(
        self,
        repository: Row,
        path: str,
        ref: str | None,
        start: int | None,
        end: int | None,
        after: str | None,
        per_page: int | None,
    ) -> tuple[Row, list[Blamed], int, int]:
        """The commit looked at, ranges after a cursor, how many there are, and how many came before."""
        limit, _ = window(1, per_page)
        offset = parse_cursor(after, (int,))[0] if after else 0
        if start is not None and end is not None and start > end:
            raise Invalid(f"start_line ({start}) must not be greater than end_line ({end}).")
        commit, lines = self.blame(repository, path, ref)
        ranges: list[Blamed] = []
        for number, commit_id in list(enumerate(lines, start=1))[(start or 1) - 1 : end]:
            if ranges and ranges[-1].commit_id == commit_id:
                ranges[-1] = Blamed(ranges[-1].first, number, commit_id)
            else:
                ranges.append(Blamed(number, number, commit_id))
        offset = min(max(offset, 0), len(ranges))
        return commit, ranges[offset : offset + limit], len(ranges), offset

    @staticmethod
    def blame_cursor(position: int) -> str:
        """The position in such a list."""
        return cursor([position])

    def file_text(self, file: Row) -> str:
        """The contents of a file that code search has found."""
        return ObjectStore(self.session, file["network"]).data(file["sha"]).decode("utf-8", "replace")

    def blame(self, repository: Row, path: str, ref: str | None) -> tuple[Row, list[int]]:
        """The commit at which a file is looked at, and for each line the row of the commit that wrote it."""
        commit, entry, data = self.look(repository, path, ref)
        if isinstance(data, list) or entry.type != "file":
            raise Invalid(f"{entry.path or '/'} is not a file.")
        return commit, Blame(self.store.commits, repository).lines(commit, entry.path, entry.sha)

    # -- writing ----------------------------------------------------------------------------------------

    def put_file(
        self,
        repository: Row,
        path: str,
        content: str | bytes,
        message: str,
        branch: str,
        sha: str | None,
        *,
        allow_symlink: bool = False,
        by: By | None = None,
    ) -> tuple[Row, Entry]:
        """Commit a new version of a file; the version that it replaces must be named."""
        head = self.head_for_writing(repository, branch)
        path = valid_path(path)
        objects = self.store.commits.objects(repository)
        there = self.store.commits.entry(objects, head["tree"], path) if head else None
        mode = FILE
        if there:
            mode = self._replaceable(path, there, sha, allow_symlink=allow_symlink)
        elif sha:
            raise Unprocessable(
                f"{path} does not exist on {branch}, so there is no version {sha} to replace."
            )
        self._check_parents(objects, head, [path])
        data = _encoded(path, content)
        commit = self.commit_files(repository, branch, head, {path: (mode, data)}, message, by)
        return commit, Entry(path, mode, Blob.from_string(data).id.decode(), len(data))

    def push(self, repository: Row, branch: str, files: Sequence[tuple[str, str]], message: str) -> Row:
        """Commit several files at once, whatever was at their paths; a branch that is not there begins at the
        head of the default branch."""
        commits = self.store.commits
        if not commits.ref(repository, f"refs/heads/{branch}") and commits.branches(repository, 1, 1)[1]:
            commits.create_branch(repository, branch, None)
        head = self.head_for_writing(repository, branch)
        if not files:
            raise Unprocessable("files must contain at least one file.")
        objects = self.store.commits.objects(repository)
        changes: dict[str, tuple[int, bytes] | None] = {}
        for name, content in files:
            path = valid_path(name)
            if path in changes:
                raise Unprocessable(f"tree contains duplicate file paths: {path}")
            there = self.store.commits.entry(objects, head["tree"], path) if head else None
            if there and there[0] in (DIRECTORY, SUBMODULE):
                raise Unprocessable(f"{path} is a directory; a file cannot take its place.")
            changes[path] = (there[0] if there else FILE, _encoded(path, content))
        self._check_parents(objects, head, list(changes))
        return self.commit_files(repository, branch, head, changes, message)

    def remove_file(self, repository: Row, path: str, message: str, branch: str, by: By | None = None) -> Row:
        """Commit the removal of a file."""
        head = self.head_for_writing(repository, branch)
        path = valid_path(path)
        there = (
            self.store.commits.entry(self.store.commits.objects(repository), head["tree"], path)
            if head
            else None
        )
        if there is None or there[0] == DIRECTORY:
            raise NotFound(f"Not Found: there is no file {path} on {branch}.")
        return self.commit_files(repository, branch, head, {path: None}, message, by)

    def head_for_writing(self, repository: Row, branch: str) -> Row | None:
        """The head of a branch that may be committed to; ``None`` for the first commit of a repository."""
        if branch in self.store.repositories.protected_branches(repository["id"]):
            raise Conflict("Could not update the branch: Changes must be made through a pull request.")
        found = self.store.commits.ref(repository, f"refs/heads/{branch}")
        if found:
            return self.store.commits.commit_by_sha(repository, found)
        if branch == repository["default_branch"] and not self.store.commits.branches(repository, 1, 1)[1]:
            return None
        raise NotFound(f"Branch {branch} not found")

    def commit_files(
        self,
        repository: Row,
        branch: str,
        head: Row | None,
        changes: Mapping[str, tuple[int, bytes] | None],
        message: str,
        by: By | None = None,
    ) -> Row:
        """Commit mode and contents of files by path, in the name of the signed-in account or of others.

        On the default branch the message may close issues.
        """
        clean(message, "message", blank=False)
        tree = self.store_files(
            self.store.commits.objects(repository), head["tree"] if head else None, changes
        )
        mine = self.signature(self.me)
        by = by or By((mine, self.store.now), (mine, self.store.now))
        commit = self.store.commits.add_commit(
            repository,
            tree,
            [head] if head else [],
            message,
            by.author[0],
            by.committer[0],
            authored=by.author[1],
            committed=by.committer[1],
        )
        self.store.commits.move_branch(repository, branch, commit)
        if branch == repository["default_branch"]:
            self.store.pulls.close_by_words(repository, message)
        return commit

    def store_files(
        self, objects: ObjectStore, base: str | None, changes: Mapping[str, tuple[int, bytes] | None]
    ) -> str:
        """Add blobs and trees; returns the name of the new root tree."""
        blobs = {path: Blob.from_string(change[1]) for path, change in changes.items() if change}
        objects.add_objects([(blob, None) for blob in blobs.values()])
        entries = {
            path: (change[0], blobs[path].id.decode()) if change else None for path, change in changes.items()
        }
        return write_tree(objects, base, entries)

    @staticmethod
    def signature(account: Row) -> Signature:
        """Return an account's signature in commits."""
        return account["name"], account["email"] or f"{account['login']}@users.noreply.github.com"

    # -- parts ------------------------------------------------------------------------------------------

    def _file_at_head(self, repository: Row, commit: Row, path: str) -> tuple[int, str] | None:
        """The quick way to a file at the head of the default branch, past trees of any size."""
        if commit["sha"] != self.store.commits.ref(repository, f"refs/heads/{repository['default_branch']}"):
            return None
        rows = self.fetch(_AT_HEAD, repository=repository["id"], path=path)
        return (rows[0]["mode"], rows[0]["sha"]) if rows else None

    def _list(self, objects: ObjectStore, repository: Row, path: str, tree: str) -> list[Entry]:
        prefix = f"{path}/" if path else ""
        items = objects.entries(tree)
        folders = [item for item in items if item[1] == DIRECTORY]
        files = [item for item in items if item[1] != DIRECTORY]
        shown = (folders + files)[:MAX_DIRECTORY]
        return self._sized(repository, [_entry(prefix, item) for item in shown])

    def _walk(
        self,
        objects: ObjectStore,
        tree: str,
        path: str,
        prefix: str,
        recursive: bool,
        found: list[Entry],
        enough: int,
    ) -> None:
        for item in objects.entries(tree):
            if len(found) > enough:
                return
            entry = _entry(path, item)
            inside = entry.type == "dir" and prefix.startswith(entry.path + "/")
            if entry.path.startswith(prefix):
                found.append(entry)
            elif not inside:
                continue
            if recursive and entry.type == "dir":
                self._walk(objects, entry.sha, entry.path + "/", prefix, recursive, found, enough)

    def _sized(self, repository: Row, entries: list[Entry]) -> list[Entry]:
        shas = [entry.sha for entry in entries if entry.type in ("file", "symlink")]
        rows = self.fetch(_SIZES, network=repository["network"], shas=shas) if shas else []
        sizes = {row["sha"]: row["size"] for row in rows}
        return [Entry(entry.path, entry.mode, entry.sha, sizes.get(entry.sha)) for entry in entries]

    def _replaceable(self, path: str, there: tuple[int, str], sha: str | None, *, allow_symlink: bool) -> int:
        mode, current = there
        if mode in (DIRECTORY, SUBMODULE):
            raise Unprocessable(f"{path} is a directory; a file cannot take its place.")
        if mode == SYMLINK and not allow_symlink:
            raise Unprocessable(
                f"{path} is a symbolic link. Set allow_symlink_write to replace where it points."
            )
        if not sha:
            raise Unprocessable(
                f'Invalid request. "sha" wasn\'t supplied. The current SHA of {path} is {current}.'
            )
        if sha.lower() != current:
            raise Conflict(f"{path} does not match {sha}")
        return mode

    def _check_parents(self, objects: ObjectStore, head: Row | None, paths: Sequence[str]) -> None:
        """No folder of a new file may be a file, neither there nor among the new ones."""
        new = set(paths)
        folders: dict[str, str] = {}
        for path in paths:
            parts = path.split("/")[:-1]
            folders |= {"/".join(parts[:depth]): path for depth in range(1, len(parts) + 1)}
        for folder, path in folders.items():
            there = self.store.commits.entry(objects, head["tree"], folder) if head else None
            if folder in new or (there and there[0] != DIRECTORY):
                raise Unprocessable(f"{folder} is a file; {path} cannot be created below it.")


def _entry(prefix: str, item: tuple[bytes, int, bytes]) -> Entry:
    name, mode, sha = item
    return Entry(prefix + name.decode("utf-8", "replace"), mode, sha.decode(), None)


def valid_path(path: str) -> str:
    """The path of a file as git keeps it, or a refusal."""
    path = path.removeprefix("/")
    parts = path.split("/")
    if not path or "\0" in path or len(path.encode()) > 4096:
        raise Unprocessable(f"path {path[:80]!r} is not a valid file name.")
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
        raise Unprocessable(f"path contains a malformed path component: {path[:200]!r}")
    return path


def _encoded(path: str, content: str | bytes) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    if len(data) > MAX_FILE:
        raise Unprocessable(f"{path} would be {len(data)} bytes; the limit is {MAX_FILE} bytes.")
    return data
