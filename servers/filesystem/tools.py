"""What an agent sees of the filesystem service."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from mesocosm.errors import Refusal
from mesocosm.servers.filesystem.store import PAGE_SIZE, FilesystemStore
from mesocosm.servers.filesystem.store.edits import Edit
from mesocosm.services.schema import Extra, Number
from mesocosm.services.service import Image, Service
from mesocosm.worlds.workspace import FolderEntry, Workspace, visible

server = Service(
    "filesystem",
    FilesystemStore,
    instructions="The files of the workspace, /workspace. Paths may be absolute or relative to it.",
)

_MEDIA_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
    ".svg": "image/svg+xml",
    ".mp3": "audio/mpeg",
    ".wav": "audio/wav",
    ".ogg": "audio/ogg",
    ".flac": "audio/flac",
}


@server.reads(long=True)
def read_file(
    store: FilesystemStore,
    path: str,
    tail: Number | None = None,
    head: Number | None = None,
    offset: Number | None = None,
) -> str:
    """Read a text file. The older name of read_text_file, which does the same.

    Args:
        path: The file to read.
        tail: Return only the last so many lines.
        head: Return only the first so many lines (after offset, if given).
        offset: Skip so many lines first.
    """
    return store.text(path, head, tail, offset)


@server.reads(long=True)
def read_text_file(
    store: FilesystemStore,
    path: str,
    tail: Number | None = None,
    head: Number | None = None,
    offset: Number | None = None,
) -> str:
    """Read a file as UTF-8 text: all of it, its first or last lines, or lines from the middle.

    A file that is too large for one result is refused; read it in parts with head and offset.

    Args:
        path: The file to read.
        tail: Return only the last so many lines.
        head: Return only the first so many lines (after offset, if given).
        offset: Skip so many lines first.
    """
    return store.text(path, head, tail, offset)


@server.reads
def read_media_file(store: FilesystemStore, path: str) -> Image | dict[str, Any]:
    """Read a picture, or an audio or other binary file as base64 data with its MIME type.

    Args:
        path: The file to read: png, jpg, gif, webp, bmp, svg, mp3, wav, ogg, flac or any small file.
    """
    media_type = _MEDIA_TYPES.get(PurePosixPath(path).suffix.lower(), "application/octet-stream")
    kind = media_type.partition("/")[0]
    data = store.media(path, image=kind == "image")
    if kind == "image":
        return Image(data, media_type)
    return {
        "type": "audio" if kind == "audio" else "blob",
        "data": base64.b64encode(data).decode(),
        "mimeType": media_type,
    }


@server.reads(long=True)
def read_multiple_files(store: FilesystemStore, paths: Annotated[list[str], Extra(minItems=1)]) -> str:
    """Read several text files at once, each with its path; one that cannot be read does not stop the others.

    Args:
        paths: The files to read.
    """
    parts = [
        f"{path}: Error - {text.message}" if isinstance(text, Refusal) else f"{path}:\n{text}\n"
        for path, text in store.texts(paths)
    ]
    return "\n---\n".join(parts)


@server.writes(destructive=True, idempotent=True)
def write_file(store: FilesystemStore, path: str, content: str) -> str:
    """Create a text file, or replace the whole content of an existing one without asking.

    Args:
        path: The file to write; its directory must exist.
        content: The new content.
    """
    store.write(path, content)
    return f"Successfully wrote to {path}"


@server.writes(destructive=True)
def edit_file(store: FilesystemStore, path: str, edits: list[Edit], dryRun: bool = False) -> str:  # noqa: N803 - the product's name
    """Replace passages of a text file and return a git-style diff of what changed.

    Each edit replaces the first place where its oldText stands. If it stands nowhere exactly, lines that
    differ from it only in white space are taken. All edits are made, or none.

    Args:
        path: The file to edit.
        edits: The replacements, made in this order.
        dryRun: Only show the diff; change nothing.
    """
    return store.edit(path, edits, dry_run=dryRun)


@server.writes(idempotent=True)
def create_directory(store: FilesystemStore, path: str) -> str:
    """Create a directory, with the directories above it where they are missing; it may exist already.

    Args:
        path: The directory to create.
    """
    store.make_directory(path)
    return f"Successfully created directory {path}"


@server.reads
def list_directory(store: FilesystemStore, path: str, page: int = 1) -> str:
    """List what a directory holds, one line each, marked [FILE] or [DIR].

    Args:
        path: The directory to list.
        page: Which thousand of the entries to list, from 1.
    """
    entries, total = store.entries(path, page)
    lines = [f"{_mark(entry)} {visible(entry.name)}" for entry in entries]
    return "\n".join([*lines, *_more(page, total)]) or "The directory is empty."


@server.reads
def list_directory_with_sizes(
    store: FilesystemStore,
    path: str,
    sortBy: Literal["name", "size"] = "name",  # noqa: N803
    page: int = 1,
) -> str:
    """List what a directory holds with the size of each file, and the totals.

    Args:
        path: The directory to list.
        sortBy: Order by name, or by size with the largest first.
        page: Which thousand of the entries to list, from 1.
    """
    entries, all_entries = store.sized_entries(path, page, by_size=sortBy == "size")
    lines = [
        f"{_mark(entry)} {visible(entry.name):<30} {'' if entry.kind == 'folder' else _size(entry.size):>10}"
        for entry in entries
    ]
    folders = sum(entry.kind == "folder" for entry in all_entries)
    totals = [
        "",
        f"Total: {len(all_entries) - folders} files, {folders} directories",
        f"Combined size: {_size(sum(entry.size for entry in all_entries))}",
    ]
    return "\n".join([*(line.rstrip() for line in lines), *_more(page, len(all_entries)), *totals])


@server.reads
def directory_tree(
    store: FilesystemStore,
    path: str,
    excludePatterns: list[str] = [],  # noqa: N803, B006 - the schema's default
) -> list[dict[str, Any]]:
    """Show everything below a directory as a JSON tree of name, type and, for directories, children.

    Args:
        path: The directory to start from.
        excludePatterns: Glob patterns, or plain names, of what to leave out.
    """
    root: list[dict[str, Any]] = []
    children: dict[str, list[dict[str, Any]]] = {"": root}
    for entry in store.tree(path, excludePatterns):
        node: dict[str, Any] = {"name": visible(entry.name), "type": "file"}
        if entry.kind == "folder":
            children[entry.path] = node["children"] = []
            node["type"] = "directory"
        children[entry.path.rpartition("/")[0]].append(node)
    return root


@server.writes
def move_file(store: FilesystemStore, source: str, destination: str) -> str:
    """Move or rename a file or directory; fails if the destination exists.

    Args:
        source: What to move.
        destination: Its new path; the directory it goes to must exist.
    """
    store.move(source, destination)
    return f"Successfully moved {source} to {destination}"


@server.reads
def search_files(
    store: FilesystemStore,
    path: str,
    pattern: str,
    excludePatterns: list[str] = [],  # noqa: N803, B006 - the schema's default
    page: int = 1,
) -> str:
    """Find files and directories by a glob pattern; returns their full paths.

    The pattern matches paths relative to the directory: `*.csv` finds files right in it, `**/*.csv` finds
    files at any depth, `{a,b}` is either.

    Args:
        path: The directory to search below.
        pattern: The glob pattern.
        excludePatterns: Glob patterns of what to leave out.
        page: Which thousand of the matches to return, from 1.
    """
    found, total = store.search(path, pattern, excludePatterns, page)
    return "\n".join([*found, *_more(page, total)]) or "No matches found"


@server.reads
def get_file_info(store: FilesystemStore, path: str) -> str:
    """Show the size, time of last change, kind and permissions of a file or directory.

    Args:
        path: The file or directory.
    """
    details, modified = store.details(path)
    folder = details.kind == "folder"
    lines = [] if folder else [f"size: {details.size}"]
    lines += [
        f"modified: {modified:%a %b %d %Y %H:%M:%S} GMT+0000 (Coordinated Universal Time)",
        f"isDirectory: {str(folder).lower()}",
        f"isFile: {str(not folder).lower()}",
        f"permissions: {details.permissions:o}",
    ]
    return "\n".join(lines)


@server.reads
def list_allowed_directories(store: FilesystemStore) -> str:
    """Show which directories these tools can work in; everything below them is included."""
    return f"Allowed directories:\n{Workspace.ALIAS}"


def _mark(entry: FolderEntry) -> str:
    return "[DIR]" if entry.kind == "folder" else "[FILE]"


def _more(page: int, total: int) -> Sequence[str]:
    """The line that says that there is a next page."""
    if page * PAGE_SIZE >= total:
        return ()
    return (f"[{min(page * PAGE_SIZE, total):,} of {total:,} shown; the next are on page {page + 1}]",)


def _size(size: int) -> str:
    units = ("B", "KB", "MB", "GB")
    scaled, unit = float(size), 0
    while scaled >= 1024 and unit < len(units) - 1:
        scaled, unit = scaled / 1024, unit + 1
    return f"{scaled:.2f} {units[unit]}" if unit else f"{size} B"
