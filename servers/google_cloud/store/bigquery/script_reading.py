"""Scripts in GoogleSQL as steps: variables, IF, CASE, loops, blocks, EXECUTE IMMEDIATE.

A script is read as words, of which it needs to know where a statement ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mesocosm.errors import Invalid

_DEEPEST = 50
"""Blocks within each other (and within what EXECUTE IMMEDIATE runs)."""
_SPELLED = r"'''(?:\\.|.)*?'''|\"\"\"(?:\\.|.)*?\"\"\"|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\""
_PIECE = re.compile(
    rf"(?P<blank>(?:\s|--[^\n]*|\#[^\n]*|/\*.*?\*/)+)|(?P<text>[rRbB]{{0,2}}(?:{_SPELLED})|`(?:\\.|[^`\\])*`)"
    r"|(?P<word>@{0,2}[A-Za-z_]\w*)|(?P<other>.)",
    re.DOTALL,
)
_BEGINNINGS = (
    "DECLARE",
    "SET",
    "IF",
    "CASE",
    "LOOP",
    "WHILE",
    "REPEAT",
    "FOR",
    "BEGIN",
    "EXECUTE",
    "ASSERT",
    "RAISE",
)
_ALONE = {
    **dict.fromkeys(("BREAK", "LEAVE"), "BREAK"),
    **dict.fromkeys(("CONTINUE", "ITERATE"), "CONTINUE"),
    "RETURN": "RETURN",
}
"""Statements of one word, with what they do."""
_MAY_BE = re.compile(rf"\b(?:{'|'.join([*_BEGINNINGS, *_ALONE])})\b", re.IGNORECASE)


@dataclass(frozen=True)
class _Piece:
    word: str
    """In capital letters; empty for what is none."""
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class StatementStep:
    """One statement of a script: its word, the texts of its parts, and the blocks in it."""

    kind: str
    parts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    blocks: tuple[tuple[StatementStep, ...], ...] = ()
    called: tuple[str, ...] = ()
    """The names of what stands behind USING."""


def steps_of(text: str) -> tuple[StatementStep, ...] | None:
    """The steps of a script; ``None`` for statements with nothing around them."""
    if _MAY_BE.search(text) is None:
        return None
    reader = _Reader(text)
    steps = reader.block(())
    return steps if any(step.kind != "RUN" for step in steps) else None


class _Reader:
    """Reads a script, step by step."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pieces = [
            _Piece((found["word"] or "").upper(), found[0], found.start(), found.end())
            for found in _PIECE.finditer(text)
            if found["blank"] is None
        ]
        self._at = self._depth = 0

    def _peek(self, ahead: int = 0) -> _Piece:
        place = self._at + ahead
        end = len(self._text)
        return self._pieces[place] if place < len(self._pieces) else _Piece("", "", end, end)

    def _next(self) -> _Piece:
        piece = self._peek()
        self._at += 1
        return piece

    def _expect(self, *words: str) -> None:
        for word in words:
            piece = self._peek()
            if (piece.word or piece.text) != word:
                raise self._wrong(word, piece)
            self._at += 1

    def _wrong(self, wanted: str, piece: _Piece) -> Invalid:
        before = self._text[: piece.start]
        place = f"[{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}]"
        got = piece.text[:50] or "end of script"
        return Invalid(f"Syntax error: Expected {wanted} but got {got} at {place}", code="invalidQuery")

    def _until(self, *ends: str) -> str:
        """The text up to a word or sign outside of all brackets and CASEs, which is not taken."""
        first, depth = self._peek(), 0
        while (piece := self._peek()).text:
            if depth == 0 and (piece.word or piece.text) in ends:
                break
            depth += (piece.text in ("(", "[") or piece.word == "CASE") - (
                piece.text in (")", "]") or (piece.word == "END" and depth > 0)
            )
            self._at += 1
        if self._peek() is first or (not self._peek().text and ";" not in ends):
            raise self._wrong(ends[0] if self._peek() is not first else "an expression", self._peek())
        return self._text[first.start : self._pieces[self._at - 1].end]

    def block(self, ends: Sequence[str]) -> tuple[StatementStep, ...]:
        """Steps up to one of these words, or to the end of the script."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Invalid(
                f"The script has more than {_DEEPEST} blocks within each other.", code="invalidQuery"
            )
        steps: list[StatementStep] = []
        while (piece := self._peek()).text and piece.word not in ends:
            if piece.text == ";":
                self._at += 1
                continue
            steps.append(self._step())
            if self._peek().text:
                self._expect(";")
        if ends and not self._peek().text:
            raise self._wrong(ends[0], self._peek())
        self._depth -= 1
        return tuple(steps)

    def _step(self) -> StatementStep:
        word = self._peek().word
        if word in _ALONE:
            self._at += 1
            return StatementStep(_ALONE[word])
        reader = getattr(self, f"_{word.lower()}", None) if word in _BEGINNINGS else None
        if reader is None or (word == "BEGIN" and self._peek(1).word == "TRANSACTION"):
            return StatementStep("RUN", (self._until(";"),))
        self._at += 1
        made: StatementStep = reader()
        return made

    def _names(self) -> list[str]:
        """Names with commas between them."""
        names = [self._name()]
        while self._peek().text == ",":
            self._at += 1
            names.append(self._name())
        return names

    def _name(self) -> str:
        piece = self._next()
        if not piece.word and not piece.text.startswith("`"):
            raise self._wrong("identifier", piece)
        return piece.text.strip("`").lower()

    def _declare(self) -> StatementStep:
        names = self._names()
        kind = value = ""
        if self._peek().word != "DEFAULT":
            kind = self._until(";", "DEFAULT")
        if self._peek().word == "DEFAULT":
            self._at += 1
            value = self._until(";")
        return StatementStep("DECLARE", (kind, value), tuple(names))

    def _set(self) -> StatementStep:
        if self._peek().text == "(":
            self._at += 1
            names = self._names()
            self._expect(")")
        else:
            names = [self._name()]
        self._expect("=")
        return StatementStep("SET", (self._until(";"),), tuple(names))

    def _if(self) -> StatementStep:
        conditions, blocks = [self._until("THEN")], []
        ends = ("ELSEIF", "ELSE", "END")
        self._expect("THEN")
        blocks.append(self.block(ends))
        while self._peek().word == "ELSEIF":
            self._at += 1
            conditions.append(self._until("THEN"))
            self._expect("THEN")
            blocks.append(self.block(ends))
        return self._ended("IF", conditions, blocks)

    def _case(self) -> StatementStep:
        subject = "" if self._peek().word == "WHEN" else self._until("WHEN")
        conditions: list[str] = []
        blocks = []
        while self._peek().word == "WHEN":
            self._at += 1
            condition = self._until("THEN")
            conditions.append(f"({subject}) = ({condition})" if subject else condition)
            self._expect("THEN")
            blocks.append(self.block(("WHEN", "ELSE", "END")))
        return self._ended("CASE", conditions, blocks)

    def _ended(
        self, word: str, conditions: list[str], blocks: list[tuple[StatementStep, ...]]
    ) -> StatementStep:
        """The last block of an IF or a CASE, and its end."""
        if self._peek().word == "ELSE":
            self._at += 1
            conditions.append("TRUE")
            blocks.append(self.block(("END",)))
        self._expect("END", word)
        return StatementStep("IF", tuple(conditions), blocks=tuple(blocks))

    def _loop(self) -> StatementStep:
        block = self.block(("END",))
        self._expect("END", "LOOP")
        return StatementStep("WHILE", ("TRUE",), blocks=(block,))

    def _while(self) -> StatementStep:
        condition = self._until("DO")
        self._expect("DO")
        block = self.block(("END",))
        self._expect("END", "WHILE")
        return StatementStep("WHILE", (condition,), blocks=(block,))

    def _repeat(self) -> StatementStep:
        block = self.block(("UNTIL",))
        self._expect("UNTIL")
        condition = self._until("END")
        self._expect("END", "REPEAT")
        return StatementStep("REPEAT", (condition,), blocks=(block,))

    def _for(self) -> StatementStep:
        name = self._name()
        self._expect("IN", "(")
        query = self._until(")")
        self._expect(")", "DO")
        block = self.block(("END",))
        self._expect("END", "FOR")
        return StatementStep("FOR", (query,), (name,), (block,))

    def _begin(self) -> StatementStep:
        block = self.block(("END", "EXCEPTION"))
        if self._peek().word == "EXCEPTION":
            raise Invalid("Unsupported statement: EXCEPTION in a script", code="invalidQuery")
        self._expect("END")
        return StatementStep("BEGIN", blocks=(block,))

    def _execute(self) -> StatementStep:
        self._expect("IMMEDIATE")
        text, names = self._until("INTO", "USING", ";"), list[str]()
        if self._peek().word == "INTO":
            self._at += 1
            names = self._names()
        given: list[str] = []
        called: list[str] = []
        while self._peek().word == "USING" or (given and self._peek().text == ","):
            self._at += 1
            given.append(self._until(",", "AS", ";"))
            if self._peek().word == "AS":
                self._at += 1
                called.append(self._name())
        if called and len(called) < len(given):
            raise Invalid(
                "EXECUTE IMMEDIATE: either all values of USING have names or none", code="invalidQuery"
            )
        return StatementStep("EXECUTE", (text, *given), tuple(names), called=tuple(called))

    def _assert(self) -> StatementStep:
        condition, said = self._until("AS", ";"), ""
        if self._peek().word == "AS":
            self._at += 1
            said = self._until(";")
        return StatementStep("ASSERT", (condition, said))

    def _raise(self) -> StatementStep:
        if self._peek().word != "USING":
            return StatementStep("RAISE", ("",))
        self._expect("USING", "MESSAGE", "=")
        return StatementStep("RAISE", (self._until(";"),))


def flat(steps: Sequence[StatementStep]) -> Iterator[StatementStep]:
    """All steps of a script, with those of its blocks."""
    for step in steps:
        yield step
        for block in step.blocks:
            yield from flat(block)
