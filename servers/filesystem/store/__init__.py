"""The rules of the filesystem service: files of the workspace as text, listings, edits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from mesocosm.errors import Conflict, Invalid, NotFound, Refusal
from mesocosm.servers.filesystem.store.edits import Edit, apply_edits, fenced_diff, unix_lines
from mesocosm.servers.filesystem.store.globs import Exclusions, Glob
from mesocosm.services.service import Store
from mesocosm.worlds.workspace import Details, FolderEntry, visible

MAX_TEXT = 100_000
"""Characters of text that one result may hold."""
MAX_IMAGE_BYTES = 5_000_000
MAX_BLOB_BYTES = 75_000
"""Bytes of other media, which are delivered as base64 text."""
PAGE_SIZE = 1_000
"""Entries of one page of a listing."""
MAX_TREE = 2_000
"""Entries of a directory tree, which cannot be paged."""
MAX_PATHS = 500
"""Files of one read_multiple_files, patterns of one exclusion list."""


class FilesystemStore(Store):
    """The workspace as an agent that works with text files sees it."""

    # -- reading ----------------------------------------------------------------------------------------

    def text(self, path: str, head: int | None, tail: int | None, offset: int | None) -> str:
        """The text of a file: all of it, its last lines, or some lines from an offset."""
        for name, value, least in (("head", head, 1), ("tail", tail, 1), ("offset", offset, 0)):
            if value is not None and value < least:
                raise Invalid(f"{name} must be {least} or more, got {value}.")
        if tail is not None and (head is not None or offset is not None):
            raise Invalid("Cannot specify both head (or offset) and tail parameters simultaneously")
        text = self._decoded(path)
        total = None
        if head is not None or tail is not None or offset is not None:
            lines = text.split("\n")
            total = len(lines) - (lines[-1] == "")
            if offset is not None and offset >= max(total, 1):
                raise Invalid(f"offset is {offset:,}, but {path} has only {total:,} lines.")
            first = max(0, total - tail) if tail is not None else offset or 0
            last = first + head if head is not None else total
            text = "\n".join(lines[first : min(last, total)])
        if len(text) > MAX_TEXT:
            raise self._too_long(path, text, partial=total is not None)
        return text

    def _too_long(self, path: str, text: str, *, partial: bool) -> Invalid:
        lines = text.count("\n") + (not text.endswith("\n"))
        what = "These lines have" if partial else f"{path} has"
        advice = (
            "Read fewer lines at once with head, offset (lines to skip first) and tail."
            if lines > 1
            else "Use a program to read parts of this line."
        )
        return Invalid(
            f"{what} {len(text):,} characters in {lines:,} lines; one result holds at most"
            f" {MAX_TEXT:,} characters. {advice}"
        )

    def _decoded(self, path: str) -> str:
        data = self.workspace.read(path)
        if b"\0" in data[:65_536]:
            raise Invalid(f"{path} is not a text file: it contains null bytes.")
        return data.decode("utf-8", "replace")

    def texts(self, paths: Sequence[str]) -> list[tuple[str, str | Refusal]]:
        """The text of each of several files, or why it cannot be had."""
        if len(paths) > MAX_PATHS:
            raise Invalid(f"At most {MAX_PATHS} files can be read at once, got {len(paths)}.")
        results: list[tuple[str, str | Refusal]] = []
        left = MAX_TEXT
        for path in paths:
            try:
                text = self.text(path, None, None, None)
                if len(text) > left:
                    raise Invalid("left out, because the result would be too large; read it in another call.")
                left -= len(text)
                results.append((path, text))
            except Refusal as refusal:
                results.append((path, refusal))
        return results

    def media(self, path: str, *, image: bool) -> bytes:
        """The bytes of a picture or of another kind of file."""
        return self.workspace.read(path, MAX_IMAGE_BYTES if image else MAX_BLOB_BYTES)

    def details(self, path: str) -> tuple[Details, datetime]:
        """Return a file's metadata, and its modification time by the world's clock."""
        details = self.workspace.details(path)
        return details, details.modified or self.now

    # -- listing ----------------------------------------------------------------------------------------

    def entries(self, path: str, page: int) -> tuple[Sequence[FolderEntry], int]:
        """One page of what a folder holds, and how many entries there are."""
        entries = self.workspace.entries(path)
        return self._page(entries, page), len(entries)

    def _page(self, entries: Sequence[FolderEntry], page: int) -> Sequence[FolderEntry]:
        if page < 1 or (page > 1 and (page - 1) * PAGE_SIZE >= len(entries)):
            pages = max(1, -(-len(entries) // PAGE_SIZE))
            raise Invalid(f"page must be between 1 and {pages}, got {page}.")
        return entries[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]

    def sized_entries(
        self, path: str, page: int, *, by_size: bool
    ) -> tuple[Sequence[FolderEntry], Sequence[FolderEntry]]:
        """One page of what a folder holds, by name or the largest first, and all that it holds."""
        entries = self.workspace.entries(path)
        if by_size:
            entries.sort(key=lambda entry: -entry.size)
        return self._page(entries, page), entries

    def tree(self, path: str, exclude: Sequence[str]) -> list[FolderEntry]:
        """List everything below a folder except excluded paths, folders before their content."""
        excluded = _exclusions(exclude, names_anywhere=True)
        kept = (entry for entry in self.workspace.walk(path, skip=excluded) if not excluded(entry.path))
        entries = list(islice(kept, MAX_TREE + 1))
        if len(entries) > MAX_TREE:
            raise Invalid(
                f"The tree below {path} has more than {MAX_TREE:,} entries."
                " Ask for a folder below it, or leave folders out with excludePatterns."
            )
        return entries

    def search(self, path: str, pattern: str, exclude: Sequence[str], page: int) -> tuple[Sequence[str], int]:
        """One page of the full paths below a folder that match a pattern, and how many do."""
        glob, excluded = Glob(pattern), _exclusions(exclude)
        folder = self.workspace.shown(self.workspace.resolve(path))
        found = [
            entry
            for entry in self.workspace.walk(path, skip=excluded)
            if not excluded(entry.path) and glob.matches(entry.path)
        ]
        return [f"{folder}/{visible(entry.path)}" for entry in self._page(found, page)], len(found)

    # -- writing ----------------------------------------------------------------------------------------

    def write(self, path: str, text: str) -> None:
        """Write a whole text file into a folder that exists."""
        self._check_parent(path)
        self.workspace.write(path, _encoded(text, "content"), self.now)

    def edit(self, path: str, edits: Sequence[Edit], *, dry_run: bool) -> str:
        """Replace passages of a text file; returns the diff. Line ends stay as they are in the file."""
        if not edits:
            raise Invalid("edits must hold at least one edit.")
        original = self._decoded(path)
        windows = original.count("\r\n") * 2 > original.count("\n")
        before = unix_lines(original)
        after = apply_edits(before, edits)
        diff = fenced_diff(before, after, self.workspace.shown(self.workspace.resolve(path)))
        if not dry_run:
            data = _encoded(after.replace("\n", "\r\n") if windows else after, "newText")
            self.workspace.write(path, data, self.now)
        if len(diff) > MAX_TEXT:
            return f"{diff[:MAX_TEXT]}\n\n[The diff has {len(diff):,} characters; the rest is left out.]\n"
        return diff

    def make_directory(self, path: str) -> None:
        """Make sure that a folder exists."""
        self.workspace.make_folder(path, self.now)

    def move(self, source: str, destination: str) -> None:
        """Give a file or folder a new name, in a folder that exists."""
        if not self.workspace.exists(source):
            raise NotFound(f"No such file or directory: {source}")
        self._check_parent(destination)
        if self.workspace.exists(destination):
            raise Conflict(f"The destination already exists: {destination}")
        self.workspace.move(source, destination, self.now)

    def _check_parent(self, path: str) -> None:
        target = self.workspace.resolve(path)
        if target != self.workspace.resolve(".") and not target.parent.is_dir():
            raise NotFound(f"Parent directory does not exist: {self.workspace.shown(target.parent)}")


def _exclusions(patterns: Sequence[str], *, names_anywhere: bool = False) -> Exclusions:
    if len(patterns) > MAX_PATHS:
        raise Invalid(f"excludePatterns may hold at most {MAX_PATHS} patterns.")
    return Exclusions(list(patterns), names_anywhere=names_anywhere)


def _encoded(text: str, what: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Invalid(f"{what} is not valid Unicode text: it contains half of a surrogate pair.") from None
