"""The drive's language for searches: ``name contains 'budget' and '1abc' in parents and trashed = false``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from mesocosm.errors import Invalid
from mesocosm.servers.google_sheet.store.drive import FileEntry

if TYPE_CHECKING:
    from mesocosm.servers.google_sheet.store import SheetStore

MIME = {
    "spreadsheet": "application/vnd.google-apps.spreadsheet",
    "folder": "application/vnd.google-apps.folder",
    "root": "application/vnd.google-apps.folder",
}
"""Of each kind of file."""
Test = Callable[[FileEntry], bool]

_TOKEN = re.compile(
    r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(<=|>=|!=|=|<|>)|([(){}])|([A-Za-z][\w.]*))"""
)
_TEXTS = {"name": "name", "title": "name", "mimeType": "kind"}
_TIMES = {"modifiedTime": "modified", "createdTime": "created", "modifiedDate": "modified"}
_FLAGS = {"trashed": "trashed", "starred": "starred"}
MAX_DEPTH = 50


def search(store: SheetStore, text: str | None) -> Test:
    """Compile a file search into a test."""
    if not text or not text.strip():
        return lambda file: True
    return _Reading(store, text).whole()


class _Reading:
    def __init__(self, store: SheetStore, text: str) -> None:
        self.store, self.text = store, text
        self.tokens: list[tuple[str, str]] = []
        self.at = self.depth = 0
        at, text = 0, text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if not found:
                raise self.wrong()
            quoted = found[1] if found[1] is not None else found[2]
            if quoted is not None:
                self.tokens.append(("text", re.sub(r"\\(.)", r"\1", quoted)))
            else:
                kind = "sign" if found[3] else "mark" if found[4] else "word"
                self.tokens.append((kind, found[3] or found[4] or found[5]))
            at = found.end()

    def wrong(self) -> Invalid:
        return Invalid(f"Invalid Value: the query {self.text[:100]!r} cannot be read.", code="invalid")

    def whole(self) -> Test:
        test = self.either()
        if self.at < len(self.tokens):
            raise self.wrong()
        return test

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("", "")

    def take(self, *kinds: str) -> str:
        kind, value = self.peek()
        if kind not in kinds:
            raise self.wrong()
        self.at += 1
        return value

    def word(self, *words: str) -> bool:
        kind, value = self.peek()
        if kind == "word" and value.lower() in words:
            self.at += 1
            return True
        return False

    def either(self) -> Test:
        test = self.both()
        while self.word("or"):
            one, other = test, self.both()
            test = _either(one, other)
        return test

    def both(self) -> Test:
        test = self.term()
        while self.word("and"):
            one, other = test, self.term()
            test = _both(one, other)
        return test

    def term(self) -> Test:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.wrong()
        try:
            if self.word("not"):
                inner = self.term()
                return lambda file: not inner(file)
            if self.peek() == ("mark", "("):
                self.at += 1
                inner = self.either()
                if self.take("mark") != ")":
                    raise self.wrong()
                return inner
            return self.comparison()
        finally:
            self.depth -= 1

    def comparison(self) -> Test:
        kind, value = self.peek()
        if kind == "text":
            self.at += 1
            if not self.word("in"):
                raise self.wrong()
            return self.membership(value, self.take("word"))
        field = self.take("word")
        if field == "sharedWithMe":
            if self.peek()[0] == "sign":
                self.take("sign")
                self.take("word")
            me = self.store.drive.me
            return lambda file: file.owner != me
        if field == "properties" and self.word("has"):
            return self.properties()
        if field == "fullText":
            if not self.word("contains"):
                raise self.wrong()
            return self.contents(self.take("text"))
        if field in _FLAGS:
            sign, wanted = self.take("sign"), self.take("word").lower() == "true"
            return lambda file: (getattr(file, _FLAGS[field]) == wanted) == (sign == "=")
        if field in _TEXTS:
            return self.named(field)
        if field in _TIMES:
            sign, moment = self.take("sign"), self.take("text")
            return lambda file: _compared(getattr(file, _TIMES[field])[: len(moment)], sign, moment)
        raise Invalid(f"Invalid Value: the query field {field[:40]!r} is not known here.", code="invalid")

    def named(self, field: str) -> Test:
        def value(file: FileEntry) -> str:
            return MIME[file.kind] if field == "mimeType" else file.name.casefold()

        if self.word("contains"):
            # As the vendor has it: words of a name that begin so; types that begin so.
            part = self.take("text")
            if field == "mimeType":
                return lambda file: value(file).startswith(part)
            pattern = re.compile(r"(?<!\w)" + re.escape(part.casefold()))
            return lambda file: bool(pattern.search(value(file)))
        sign, text = self.take("sign"), self.take("text")
        if sign not in ("=", "!="):
            raise self.wrong()
        wanted = text if field == "mimeType" else text.casefold()
        return lambda file: (value(file) == wanted) == (sign == "=")

    def membership(self, value: str, field: str) -> Test:
        if field == "parents":
            folder = self.store.drive.file(value).number
            return lambda file: file.parent == folder
        address = self.store.drive.me if value == "me" else value.lower()
        if field == "owners":
            return lambda file: file.owner == address
        if field in ("writers", "readers"):
            roles = ("writer", "owner") if field == "writers" else ("reader", "commenter", "writer", "owner")
            return lambda file: self.store.drive.role_on(file, address) in roles
        raise self.wrong()

    def properties(self) -> Test:
        pairs = {}
        if self.take("mark") != "{":
            raise self.wrong()
        while True:
            name = self.take("word")
            if self.take("sign") != "=":
                raise self.wrong()
            pairs[name] = self.take("text")
            if not self.word("and"):
                break
        if self.take("mark") != "}" or set(pairs) != {"key", "value"}:
            raise self.wrong()
        return lambda file: file.properties.get(pairs["key"]) == pairs["value"]

    def contents(self, text: str) -> Test:
        rows = self.store.rows(
            "SELECT DISTINCT spreadsheet FROM cells JOIN sheets ON cells.sheet = sheets.number"
            " WHERE instr(lower(text), lower(?))",
            (text,),
        )
        inside = {row[0] for row in rows}
        return lambda file: (
            file.number in inside or text.casefold() in f"{file.name} {file.description}".casefold()
        )


def _either(one: Test, other: Test) -> Test:
    return lambda file: one(file) or other(file)


def _both(one: Test, other: Test) -> Test:
    return lambda file: one(file) and other(file)


def _compared(one: str, sign: str, other: str) -> bool:
    return {
        "=": one == other, "!=": one != other, "<": one < other,
        "<=": one <= other, ">": one > other, ">=": one >= other,
    }[sign]  # fmt: skip
