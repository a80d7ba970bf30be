"""Sheets: the input of cases spread over documents, among sheets of other cases of the same kind."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mesocosm.kits.procedures.protocol import Procedure, ProcedureCase
from mesocosm.kits.prose import Prose
from mesocosm.worlds import tokens

_TOPICS = ("technical_doc", "meeting_minutes", "policy_document")
_NOTED = 0.4
"""The share of sheets with a note that has nothing to do with the case."""
_NOTE_TOKENS = 24
_SHORTEST_NOTE = 8
NOTE = "Note: "


@dataclass(frozen=True)
class CaseSheet:
    """A part of the input of a case."""

    name: str
    """Opaque."""
    reference: str
    """Of the case."""
    number: int
    of: int
    body: str
    place: float
    """Position, from 0 to 1, of the line that says whose sheet it is: one has to read to find it."""
    note: str = ""

    @property
    def head(self) -> str:
        """Line that identifies the sheet; unique."""
        return f"Case {self.reference}, sheet {self.number} of {self.of}"

    @property
    def text(self) -> str:
        lines = self.body.split("\n")
        lines.insert(round(self.place * len(lines)), self.head)
        if self.note:
            lines.insert(round(self.place * 7919 % 1 * len(lines)), f"{NOTE}{self.note}")
        return "\n".join(lines) + "\n"


class Clerk:
    """Distributes cases over sheets under neutral references and names."""

    def __init__(self, rng: random.Random, prose: Prose, of: Procedure[ProcedureCase], overhead: int) -> None:
        self._rng, self._prose, self._of, self._overhead = rng, prose, of, overhead
        self._taken: set[str] = set()

    def sheets(self, case: ProcedureCase) -> list[CaseSheet]:
        bodies = list(_bodies(self._of.given(case), self._of.SHEET))
        reference = self._unique(lambda: f"{self._letters()}-{self._rng.randint(10_000, 99_999)}")
        return [
            CaseSheet(
                name=self._unique(lambda: f"{self._rng.getrandbits(32):08x}"),
                reference=reference,
                number=number,
                of=len(bodies),
                body=body,
                place=self._rng.random(),
                note=self._note(_NOTE_TOKENS) if self._rng.random() < _NOTED else "",
            )
            for number, body in enumerate(bodies, 1)
        ]

    def distractors(self, level: int, cases: int, budget: int) -> tuple[list[CaseSheet], int]:
        """Make sheets of distractor cases, and further ones up to ``budget`` tokens; returns the unused
        budget.
        """
        found = [sheet for _ in range(cases) for sheet in self.sheets(self._of.distract(self._rng, level))]
        size = level
        while True:
            sheets = self.sheets(self._of.distract(self._rng, size))
            cost = sum(map(self.cost, sheets))
            if cost <= budget:
                budget -= cost
                found += sheets
            elif size <= self._of.SMALLEST:
                return found, budget
            else:
                size = max(self._of.SMALLEST, min(size // 2, size * budget // cost))

    def padded(self, sheets: Sequence[CaseSheet], budget: int) -> list[CaseSheet]:
        """The sheets with notes that take the rest of a budget, in equal parts."""
        padded = list(sheets)
        while budget >= _SHORTEST_NOTE:
            share = max(_SHORTEST_NOTE, -(-budget // len(padded)))
            at = self._rng.randrange(len(padded))
            more = self._note(min(share, budget))
            note = f"{padded[at].note} {more}".strip()
            padded[at] = replace(padded[at], note=note)
            budget -= tokens.count(f" {more}")
        return padded

    def cost(self, sheet: CaseSheet) -> int:
        """About how many tokens a sheet adds to the survey."""
        return tokens.count(sheet.text) + self._overhead

    def _note(self, size: int) -> str:
        return " ".join(self._prose.text(self._rng.choice(_TOPICS), size).split())

    def _letters(self) -> str:
        return "".join(self._rng.choice("ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(2))

    def _unique(self, draw: object) -> str:
        assert callable(draw)
        while (found := str(draw())) in self._taken:
            pass
        self._taken.add(found)
        return found


def _bodies(units: Sequence[str], size: int) -> Iterator[str]:
    """The units in pieces of about so many characters."""
    piece: list[str] = []
    length = 0
    for unit in units:
        if piece and length + len(unit) > size:
            yield "\n".join(piece)
            piece, length = [], 0
        piece.append(unit)
        length += len(unit) + 1
    if piece:
        yield "\n".join(piece)
