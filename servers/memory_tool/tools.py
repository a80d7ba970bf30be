"""What an agent sees of the memory tool."""

from __future__ import annotations

from collections.abc import Sequence

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.memory_tool.store import LISTED_LEVELS, MAX_SHOWN, Item, MemoryToolStore
from mesocosm.services.schema import Nullable
from mesocosm.services.service import Service

server = Service(
    "memory_tool",
    MemoryToolStore,
    instructions="Notes that outlast the conversation: text files below /memories.",
)

SNIPPET_LINES = 4


@server.reads(long=True)
def view(store: MemoryToolStore, path: str, view_range: Nullable[list[int]] = None) -> str:
    """Show a file with line numbers, or list a directory two levels deep.

    Args:
        path: A path that begins with /memories; /memories itself lists everything.
        view_range: For a file, the first and the last line to show, from 1; -1 is the end of the file.
    """
    content = store.content(path)
    if content is not None:
        lines = content.removesuffix("\n").split("\n")
        first, last = _range(view_range, len(lines))
        shown = _numbered(lines[first - 1 : last], first)
        if len(shown) > MAX_SHOWN:
            raise Invalid(
                f"These {last - first + 1:,} lines of {path} have more than {MAX_SHOWN:,} characters;"
                f" show fewer of its {len(lines):,} lines with view_range."
            )
        return f"Here's the content of {path} with line numbers:\n{shown}"
    if not store.is_folder(path):
        raise NotFound(f"The path {path} does not exist. Please provide a valid path.")
    items, more = store.listing(path)
    return _listing(path, items, more)


@server.writes
def create(store: MemoryToolStore, path: str, file_text: str = "") -> str:
    """Create a new file; directories in its path come into being with it.

    Args:
        path: The file, such as /memories/notes.txt; it must not exist yet.
        file_text: Its content.
    """
    store.create(path, file_text)
    return f"File created successfully at: {path}"


@server.writes(destructive=True)
def str_replace(store: MemoryToolStore, path: str, old_str: str, new_str: str = "") -> str:
    """Replace a passage of a file.

    Args:
        path: The file.
        old_str: The passage, word for word; it must stand in the file exactly once.
        new_str: What replaces it; nothing, if not given.
    """
    text, line = store.replace(path, old_str, new_str)
    lines = text.removesuffix("\n").split("\n")
    first = max(1, line - SNIPPET_LINES)
    last = min(len(lines), line + new_str.count("\n") + SNIPPET_LINES)
    shown = _numbered(lines[first - 1 : last], first)
    return f"The memory file has been edited.\n{shown[:MAX_SHOWN]}"


@server.writes
def insert(store: MemoryToolStore, path: str, insert_line: int, insert_text: str = "") -> str:
    """Insert text into a file after a line.

    Args:
        path: The file.
        insert_line: Number of the line after which to insert; 0 inserts at the beginning.
        insert_text: The text, which becomes lines of its own.
    """
    store.insert(path, insert_line, insert_text)
    return f"The file {path} has been edited."


@server.writes(destructive=True)
def delete(store: MemoryToolStore, path: str) -> str:
    """Delete a file, or a directory with everything in it. /memories itself cannot be deleted.

    Args:
        path: What to delete.
    """
    store.delete(path)
    return f"Successfully deleted {path}"


@server.writes
def rename(store: MemoryToolStore, old_path: str, new_path: str) -> str:
    """Rename or move a file or directory.

    Args:
        old_path: The present path.
        new_path: The new path, which must not exist yet.
    """
    store.rename(old_path, new_path)
    return f"Successfully renamed {old_path} to {new_path}"


def _range(view_range: list[int] | None, lines: int) -> tuple[int, int]:
    if view_range is None:
        return 1, lines
    if len(view_range) != 2:
        raise Invalid("Invalid `view_range`: it must be a list of two line numbers.")
    first, last = view_range
    if not 1 <= first <= lines or not (last == -1 or first <= last <= lines):
        raise Invalid(
            f"Invalid `view_range`: {view_range}. The file has {lines:,} lines;"
            " the first line must be from 1, the last from the first to the end, or -1."
        )
    return first, lines if last == -1 else last


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(lines, start=first))


def _listing(path: str, items: Sequence[Item], more: int) -> str:
    lines = [
        f"Here're the files and directories up to {LISTED_LEVELS} levels deep in {path},"
        " excluding hidden items and node_modules:"
    ]
    lines += [f"{_size(item.size)}\t{item.path}" for item in items]
    if more:
        lines.append(f"[{more:,} more; view a directory below]")
    return "\n".join(lines)


def _size(size: int) -> str:
    """A size as ``du -h`` writes it."""
    scaled = float(size)
    for unit in ("B", "K"):
        if scaled < 1024:
            return f"{size}B" if unit == "B" else f"{scaled:.1f}{unit}"
        scaled /= 1024
    return f"{scaled:.1f}M"
