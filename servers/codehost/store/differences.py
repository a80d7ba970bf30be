"""Differences between files and between trees: statistics, patches, renames. No tables here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher

from dulwich.diff_tree import CHANGE_ADD, CHANGE_DELETE, RENAME_CHANGE_TYPES, RenameDetector, tree_changes
from dulwich.objects import ObjectID, TreeEntry

from mesocosm.servers.codehost.store.objects import DIRECTORY, ObjectStore
from mesocosm.worlds import deadlines

MAX_DIFF_BYTES = 1_000_000
"""Of a larger file only that it changed is told."""
MAX_PAIRS = 4_000_000
"""Pairs of equal lines of two versions: to compare those takes a second, and for each change again. Where
there are more, all lines are shown as replaced."""
_SECONDS_FOR_EACH = 5e-7
"""Time limit per byte for comparing versions with many equal lines."""
CONTEXT = 3
"""Lines that are shown around a change."""


@dataclass(frozen=True)
class Difference:
    """A file that is not the same in two trees."""

    status: str
    """``added``, ``modified``, ``removed`` or ``renamed``."""
    path: str
    previous_path: str | None
    old_sha: str | None
    new_sha: str | None
    old_mode: int | None
    new_mode: int | None


def differences(objects: ObjectStore, old: str | None, new: str) -> list[Difference]:
    """Compare a tree's files with those of another (or of none), by path."""
    found = list(_differences(objects, old, new, ""))
    if old and {"added", "removed"} <= {difference.status for difference in found}:
        old_id, new_id = ObjectID(old.encode()), ObjectID(new.encode())
        changes = tree_changes(objects, old_id, new_id, rename_detector=RenameDetector(objects))
        found = [_difference(change.type, change.old, change.new) for change in changes]
    return sorted(found, key=lambda difference: difference.path)


def _differences(objects: ObjectStore, old: str | None, new: str | None, prefix: str) -> Iterator[Difference]:
    """The differences without a look for renames; folders that are the same are not entered."""
    before = objects.entries(old) if old else []
    after = objects.entries(new) if new else []
    gone, come = set(before) - set(after), set(after) - set(before)
    was = {name: (mode, sha.decode()) for name, mode, sha in gone}
    now = {name: (mode, sha.decode()) for name, mode, sha in come}
    for name in sorted(was.keys() | now.keys()):
        path = prefix + _text(name)
        old_mode, old_sha = was.get(name, (None, None))
        new_mode, new_sha = now.get(name, (None, None))
        if DIRECTORY in (old_mode, new_mode):
            old_tree = old_sha if old_mode == DIRECTORY else None
            new_tree = new_sha if new_mode == DIRECTORY else None
            yield from _differences(objects, old_tree, new_tree, f"{path}/")
            old_mode, old_sha = (None, None) if old_tree else (old_mode, old_sha)
            new_mode, new_sha = (None, None) if new_tree else (new_mode, new_sha)
        if old_sha and new_sha:
            yield Difference("modified", path, None, old_sha, new_sha, old_mode, new_mode)
        elif old_sha:
            yield Difference("removed", path, None, old_sha, None, old_mode, None)
        elif new_sha:
            yield Difference("added", path, None, None, new_sha, None, new_mode)


def _difference(kind: str, old: TreeEntry | None, new: TreeEntry | None) -> Difference:
    status = {CHANGE_ADD: "added", CHANGE_DELETE: "removed"}.get(kind, "modified")
    if kind in RENAME_CHANGE_TYPES:
        status = "renamed"
    here = new or old
    assert here is not None
    assert here.path is not None
    return Difference(
        status,
        _text(here.path),
        _text(old.path) if status == "renamed" and old and old.path else None,
        old.sha.decode() if old and old.sha else None,
        new.sha.decode() if new and new.sha else None,
        old.mode if old else None,
        new.mode if new else None,
    )


def _text(path: bytes) -> str:
    return path.decode("utf-8", "replace")


def lines(data: bytes) -> list[bytes]:
    """The lines of a file, each with its end."""
    return data.splitlines(keepends=True) if b"\r" not in data else _split(data)


def _split(data: bytes) -> list[bytes]:
    """Only a line feed ends a line in git; ``splitlines`` would also cut at a carriage return."""
    parts = [part + b"\n" for part in data.split(b"\n")]
    last = parts.pop()[:-1]
    return [*parts, last] if last else parts


def is_binary(data: bytes) -> bool:
    """Git's rule: a null byte near the beginning."""
    return b"\0" in data[:8000]


def _contents(objects: ObjectStore, difference: Difference) -> tuple[bytes, bytes] | None:
    """Both versions, unless they are not for comparing line by line."""
    if 0o160000 in (difference.old_mode, difference.new_mode):
        return None
    old = objects.data(difference.old_sha) if difference.old_sha else b""
    new = objects.data(difference.new_sha) if difference.new_sha else b""
    if is_binary(old) or is_binary(new) or len(old) + len(new) > MAX_DIFF_BYTES:
        return None
    deadlines.expect(_SECONDS_FOR_EACH * (len(old) + len(new)))
    return old, new


def statistics(objects: ObjectStore, difference: Difference) -> tuple[int, int]:
    """Lines added and removed."""
    if (contents := _contents(objects, difference)) is None:
        return 0, 0
    old, new = (lines(data) for data in contents)
    if not old or not new:
        return len(new), len(old)
    same = sum(size for _, _, size in _same_lines(old, new))
    return len(new) - same, len(old) - same


class Matcher(SequenceMatcher[bytes]):
    """Compares until the time of the call is up."""

    def __init__(
        self, isjunk: None, old: Sequence[bytes], new: Sequence[bytes], autojunk: bool = True
    ) -> None:
        too_many = _pairs(old, new, autojunk) > MAX_PAIRS
        super().__init__(isjunk, *(([], []) if too_many else (old, new)), autojunk)
        if too_many:
            self.a, self.b = old, new
            self.matching_blocks = [Match(len(old), len(new), 0)]

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        """As difflib does."""
        deadlines.check()
        return super().find_longest_match(alo, ahi, blo, bhi)


def _pairs(old: Sequence[bytes], new: Sequence[bytes], autojunk: bool) -> int:
    """Pairs of equal lines that difflib looks at: it passes over what is in many places of long texts."""
    here, there = Counter(old), Counter(new)
    most = len(new) // 100 + 1 if autojunk and len(new) >= 200 else len(new)
    return sum(number * there[line] for line, number in here.items() if there[line] <= most)


def _matcher(old: Sequence[bytes], new: Sequence[bytes]) -> Matcher:
    return Matcher(None, old, new, autojunk=len(old) > 2000)


def hunks(objects: ObjectStore, difference: Difference) -> str | None:
    """The unified diff without its header; ``None`` for a binary file, or one too long to compare."""
    if (contents := _contents(objects, difference)) is None:
        return None
    old, new = (lines(data) for data in contents)
    return b"".join(_hunks(old, new)).decode("utf-8", "replace").removesuffix("\n")


def _hunks(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[bytes]:
    for group in Matcher(None, old, new, autojunk=True).get_grouped_opcodes(CONTEXT):
        first, last = group[0], group[-1]
        yield b"@@ -%s +%s @@\n" % (_span(first[1], last[2]), _span(first[3], last[4]))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from _marked(b" ", old[i1:i2])
            else:
                yield from _marked(b"-", old[i1:i2])
                yield from _marked(b"+", new[j1:j2])


def _span(start: int, stop: int) -> bytes:
    length = stop - start
    if length == 1:
        return b"%d" % (start + 1)
    return b"%d,%d" % (start + (length > 0), length)


def _marked(mark: bytes, lines: Sequence[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield mark + line
        if not line.endswith(b"\n"):
            yield b"\n\\ No newline at end of file\n"


def unified(objects: ObjectStore, found: Sequence[Difference]) -> str:
    """Differences as ``git diff`` shows them."""
    return "".join(line + "\n" for difference in found for line in _file(objects, difference))


def _file(objects: ObjectStore, difference: Difference) -> Iterator[str]:
    old, new = difference.previous_path or difference.path, difference.path
    yield f"diff --git a/{old} b/{new}"
    index = f"index {(difference.old_sha or '0' * 40)[:7]}..{(difference.new_sha or '0' * 40)[:7]}"
    if difference.old_mode is None:
        yield f"new file mode {difference.new_mode:o}"
    elif difference.new_mode is None:
        yield f"deleted file mode {difference.old_mode:o}"
    elif difference.old_mode != difference.new_mode:
        yield f"old mode {difference.old_mode:o}"
        yield f"new mode {difference.new_mode:o}"
    else:
        index += f" {difference.new_mode:o}"
    if difference.status == "renamed":
        yield f"rename from {old}"
        yield f"rename to {new}"
    if difference.old_sha == difference.new_sha:
        return
    yield index
    body = hunks(objects, difference)
    before = f"a/{old}" if difference.old_sha else "/dev/null"
    after = f"b/{new}" if difference.new_sha else "/dev/null"
    if body is None:
        yield f"Binary files {before} and {after} differ"
    elif body:
        yield f"--- {before}"
        yield f"+++ {after}"
        yield body


def commented_lines(objects: ObjectStore, difference: Difference) -> set[tuple[str, int]]:
    """The (side, line) pairs that the diff shows, with three lines of context."""
    if (contents := _contents(objects, difference)) is None:
        return set()
    old, new = (lines(data) for data in contents)
    shown: set[tuple[str, int]] = set()
    for group in _matcher(old, new).get_grouped_opcodes(CONTEXT):
        for _, i1, i2, j1, j2 in group:
            shown |= {("LEFT", line + 1) for line in range(i1, i2)}
            shown |= {("RIGHT", line + 1) for line in range(j1, j2)}
    return shown


def kept_lines(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Pairs of line numbers (from 0) at which both versions have the same line."""
    for start, new_start, size in _same_lines(old, new):
        for offset in range(size):
            yield start + offset, new_start + offset


def _same_lines(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[tuple[int, int, int]]:
    """Runs of lines that both versions have: where they begin in each, and how long they are.

    What is the same at both ends is set aside first: most changes are small, and comparing is slow.
    """
    first, shorter = 0, min(len(old), len(new))
    while first < shorter and old[first] == new[first]:
        first += 1
    last = 0
    while last < shorter - first and old[-1 - last] == new[-1 - last]:
        last += 1
    yield 0, 0, first
    between = _matcher(old[first : len(old) - last], new[first : len(new) - last])
    for block in between.get_matching_blocks():
        yield block.a + first, block.b + first, block.size
    yield len(old) - last, len(new) - last, last


def place_of(patch: str, side: str, line: int) -> tuple[int | None, str]:
    """Return the position of a line in a file's patch, and the hunk up to it; ``None`` if it is not in the
    patch.
    """
    for position, begin, where in _places(patch):
        if where == (side, line):
            return position, "\n".join(patch.split("\n")[begin : position + 1])
    return None, ""


def line_at(patch: str, position: int) -> tuple[str, int] | None:
    """Side and number of the line at a place in a file's patch, counted from below its first ``@@``."""
    return next((where for at, _, where in _places(patch) if at == position), None)


def _places(patch: str) -> Iterator[tuple[int, int, tuple[str, int]]]:
    """Of each line of a patch that is one of a file: its position, that of its hunk, its side and number."""
    old = new = begin = 0
    for position, line in enumerate(patch.split("\n")):
        if line.startswith("@@"):
            begin = position
            old, new = (int(part.partition(",")[0][1:]) - 1 for part in line.split()[1:3])
        elif line.startswith("-"):
            old += 1
            yield position, begin, ("LEFT", old)
        elif not line.startswith("\\"):
            old, new = old + (not line.startswith("+")), new + 1
            yield position, begin, ("RIGHT", new)
