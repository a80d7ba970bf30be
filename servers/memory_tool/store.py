"""The rules of the memory tool: text files below /memories, kept in the world's database."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, delete, func, insert, select, update

from mesocosm.errors import Conflict, Invalid, NotFound
from mesocosm.servers.memory_tool.models import Base, File
from mesocosm.services.service import Store

ROOT = "/memories"
MAX_FILE = 1_000_000
"""Bytes of one file."""
MAX_FILES = 10_000
MAX_TOTAL = 50_000_000
MAX_PATH = 500
MAX_SHOWN = 100_000
"""Characters of a file that one result may show."""
MAX_LISTED = 1_000
LISTED_LEVELS = 2

_FILE = select(File.content).where(File.path == bindparam("path"))
_TOTAL = select(func.count().label("files"), func.sum(File.size).label("bytes"))
# Everything below a folder: its path with a slash, up to the character after the slash.
_BELOW = select(File.path, File.size).where(
    File.path > bindparam("folder") + "/", File.path < bindparam("folder") + "0"
)


@dataclass(frozen=True)
class Item:
    """A file or folder in a listing, with the bytes of all files in it."""

    path: str
    size: int


class MemoryToolStore(Store):
    """The memory folder."""

    metadata = Base.metadata

    # -- reading ----------------------------------------------------------------------------------------

    def content(self, path: str) -> str | None:
        """The content of a file, or ``None`` if there is no file of that path."""
        rows = self.fetch(_FILE, path=resolve(path))
        return str(rows[0]["content"]) if rows else None

    def file(self, path: str) -> str:
        """The content of a file that must exist."""
        content = self.content(path)
        if content is None:
            raise NotFound(f"The path {path} does not exist. Please provide a valid path.")
        return content

    def is_folder(self, path: str) -> bool:
        """True if there are files below a path. The root is always a folder."""
        folder = resolve(path)
        return folder == ROOT or bool(self.fetch(_BELOW.limit(1), folder=folder))

    def listing(self, path: str) -> tuple[Sequence[Item], int]:
        """A folder and what is in it, two levels deep, without hidden items; and how many more there are."""
        folder = resolve(path)
        sizes: dict[str, int] = {folder: 0}
        for row in self.fetch(_BELOW, folder=folder):
            parts = str(row["path"])[len(folder) + 1 :].split("/")
            if any(part.startswith(".") or part == "node_modules" for part in parts):
                continue
            sizes[folder] += row["size"]
            for level in range(1, min(len(parts), LISTED_LEVELS) + 1):
                item = "/".join((folder, *parts[:level]))
                sizes[item] = sizes.get(item, 0) + row["size"]
        paths = sorted(sizes)
        return [Item(item, sizes[item]) for item in paths[:MAX_LISTED]], max(0, len(paths) - MAX_LISTED)

    # -- writing ----------------------------------------------------------------------------------------

    def create(self, path: str, text: str) -> None:
        """A new file."""
        place = self._free(path)
        if self.fetch(_TOTAL)[0]["files"] >= MAX_FILES:
            raise Invalid(f"The memory is full: it may hold {MAX_FILES:,} files.")
        self.session.execute(insert(File).values(path=place, content=text, size=_size(text, path)))
        self._check_total()

    def _check_total(self) -> None:
        if (self.fetch(_TOTAL)[0]["bytes"] or 0) > MAX_TOTAL:
            raise Invalid(f"The memory is full: its files may have {MAX_TOTAL:,} bytes together.")

    def save(self, path: str, text: str) -> None:
        """Replace the content of a file."""
        place = resolve(path)
        self.session.execute(
            update(File).where(File.path == place).values(content=text, size=_size(text, path))
        )
        self._check_total()

    def replace(self, path: str, old: str, new: str) -> tuple[str, int]:
        """Replace the one passage that is ``old``; returns the new text and the line where it was."""
        if not old:
            raise Invalid("old_str must not be empty.")
        text = self.file(path)
        count = text.count(old)
        if count == 0:
            raise NotFound(
                f"No replacement was performed, old_str `{_short(old)}` did not appear verbatim in {path}."
            )
        if count > 1:
            lines = ", ".join(map(str, _lines_of(text, old)))
            raise Conflict(
                f"No replacement was performed. Multiple occurrences of old_str `{_short(old)}`"
                f" in lines: {lines}. Please ensure it is unique"
            )
        line = text[: text.index(old)].count("\n") + 1
        changed = text.replace(old, new)
        self.save(path, changed)
        return changed, line

    def insert(self, path: str, line: int, text: str) -> None:
        """Insert text after a line; 0 is before the first."""
        content = self.file(path)
        lines = _split(content)
        if not 0 <= line <= len(lines):
            raise Invalid(
                f"Invalid `insert_line` parameter: {line}."
                f" It should be within the range of lines of the file: [0, {len(lines)}]"
            )
        before, after = "".join(lines[:line]), "".join(lines[line:])
        if before and not before.endswith("\n"):
            before += "\n"
        if after and text and not text.endswith("\n"):
            text += "\n"
        self.save(path, before + text + after)

    def delete(self, path: str) -> None:
        """Delete a file, or a folder with everything in it; the memory folder itself stays."""
        place = resolve(path)
        if place == ROOT:
            raise Invalid(f"The {ROOT} directory itself cannot be deleted.")
        self._must_exist(path)
        below = File.path.between(f"{place}/", f"{place}0")
        self.session.execute(delete(File).where((File.path == place) | below))

    def rename(self, old: str, new: str) -> None:
        """Give a file or folder another path, which must be free."""
        source, target = resolve(old), resolve(new)
        if source == ROOT or target == ROOT:
            raise Invalid(f"The {ROOT} directory itself cannot be renamed or replaced.")
        self._must_exist(old)
        if target.startswith(source + "/"):
            raise Invalid(f"{old} cannot be moved into itself.")
        self._free(new, "The destination {path} already exists")
        moved = [source] if self.content(source) is not None else []
        moved += [str(row["path"]) for row in self.fetch(_BELOW, folder=source)]
        for path in moved:
            place = target + path[len(source) :]
            _check_path(place, new)
            self.session.execute(update(File).where(File.path == path).values(path=place))

    def _must_exist(self, path: str) -> None:
        if self.content(path) is None and not self.is_folder(path):
            raise NotFound(f"The path {path} does not exist")

    def _free(self, path: str, taken: str = "File {path} already exists") -> str:
        """A path that nothing has yet, and that does not lead through a file."""
        place = resolve(path)
        if place == ROOT:
            raise Invalid(f"{ROOT} is a directory; name a file in it, such as {ROOT}/notes.txt.")
        if path.endswith("/"):
            raise Invalid(f"{path} names a directory, not a file.")
        if self.content(place) is not None or self.is_folder(place):
            raise Conflict(taken.format(path=path))
        parent = posixpath.dirname(place)
        while parent != ROOT:
            if self.content(parent) is not None:
                raise Invalid(f"{parent} is a file, not a directory.")
            parent = posixpath.dirname(parent)
        return place

    # -- filling ----------------------------------------------------------------------------------------

    def add_files(self, files: Iterable[tuple[str, str]]) -> None:
        """Add many files (path below /memories, content), all of them new."""
        rows = [
            {"path": resolve(path), "content": content, "size": _size(content, path)}
            for path, content in files
        ]
        if rows:
            self.session.execute(insert(File), rows)


def resolve(path: str) -> str:
    """The path in its plain form; ``Invalid`` if it does not lead to the memory folder or into it."""
    _check_path(path, path)
    plain = posixpath.normpath(path)
    plain = "/" + plain.lstrip("/") if plain.startswith("//") else plain
    if not path.startswith("/") or (plain != ROOT and not plain.startswith(ROOT + "/")):
        raise Invalid(f"Path must start with {ROOT} and stay inside it, got: {path[:100]}")
    return plain


def _check_path(path: str, shown: str) -> None:
    if not path or len(path) > MAX_PATH or not path.isprintable() or not _is_unicode(path):
        raise Invalid(f"Not a usable path: {shown[:100]!r}")


def _size(text: str, path: str) -> int:
    if not _is_unicode(text) or "\0" in text:
        raise Invalid("The text contains a character that is not allowed.")
    size = len(text.encode())
    if size > MAX_FILE:
        raise Invalid(f"{path} would have {size:,} bytes; a memory file may have {MAX_FILE:,}.")
    return size


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _split(text: str) -> list[str]:
    """The lines of a text with their ends."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _lines_of(text: str, part: str) -> list[int]:
    """Numbers of the first lines in which a part begins."""
    numbers: list[int] = []
    start = text.find(part)
    while start >= 0 and len(numbers) < 50:
        number = text.count("\n", 0, start) + 1
        if number not in numbers:
            numbers.append(number)
        start = text.find(part, start + len(part))
    return numbers


def _short(text: str) -> str:
    return text if len(text) <= 1_000 else text[:1_000] + "..."
