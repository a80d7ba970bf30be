"""The oracle of woven tasks: which documents were read, what follows from them, which can be read next.

It is told what each document of the tree says, so it reads neither phrases nor pictures, and it passes over
distractors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import orjson
from pydantic import BaseModel, ConfigDict

from mesocosm.families.oracle import Call, Lapse, Made, Oracle, State, Subtask
from mesocosm.kits.weaving.tree import Node, Register, Tree
from mesocosm.services.world import World

_READ, _SUBMIT = ("documents", "read_document"), ("submit_answer", "submit_answer")


class Piece(BaseModel):
    """One document of a tree."""

    model_config = ConfigDict(frozen=True)

    document: str
    says: str
    """The fact that it adds to what is known, in few words."""
    known_by: list[list[str]]
    """Documents to be read before its identifier is known: any of these lists, all of the list."""
    values: dict[str, int | str] = {}
    """The variables that it states, or whose values follow from it and from ``uses``."""
    uses: list[str] = []
    """Documents whose values those follow from."""


def chain_pieces(tree: Tree) -> list[Piece]:
    """The documents of a bottom-up tree, in an order in which they can be read."""
    return [
        Piece(
            document=node.id,
            says=_says(node),
            known_by=[[child.id for child in node.children]],
            values={node.variable: node.value} if node.role == "value" and node.value is not None else {},
            uses=[node.validity.given.id] if node.validity and node.validity.given else [],
        )
        for node in tree.bottom_up()
    ]


def program_pieces(tree: Tree, file: Callable[[Node], str], says: Callable[[Node], str]) -> list[Piece]:
    """The modules of a top-down tree that its value depends on, those that others ask before them.

    Args:
        tree: The tree.
        file: The identifier under which a module can be read.
        says: What it says, in few words.
    """
    asked = {
        node: [child for child in node.children if child.id not in _spare(node)] for node in tree.nodes()
    }
    wanted = {tree.root}
    pending = [tree.root]
    while pending:
        for child in asked[pending.pop()]:
            if child not in wanted:
                wanted.add(child)
                pending.append(child)
    shared = _shared(tree)
    return [
        *(
            Piece(
                document=file(Node(id=register.name)),
                says=f"{register.name}.{register.attribute} is {register.value} at first",
                known_by=[[file(node)] for node in nodes],
            )
            for register, nodes in shared.items()
        ),
        *(
            Piece(
                document=file(node),
                says=says(node),
                known_by=[[file(parent)] for parent in node.parents if parent in wanted] or [[]],
                values={} if node.value is None else {node.variable: node.value},
                uses=[file(one) for one in [*asked[node], *_found(node, tree)]],
            )
            for node in tree.bottom_up()
            if node in wanted
        ),
    ]


def _found(node: Node, tree: Tree) -> list[Node]:
    """Return the nodes besides its children that a node's value depends on, through a shared number."""
    if node.rule is None or node.rule.reads is None:
        return []
    return [tree.found[node] or Node(id=node.rule.reads.name)]


def _shared(tree: Tree) -> dict[Register, list[Node]]:
    """The shared numbers that some node finds as they are at first, and the nodes that name them."""
    at_first = {node.rule.reads for node, found in tree.found.items() if node.rule and found is None}
    naming: dict[Register, list[Node]] = {}
    for node in tree.bottom_up():
        for register in (node.rule.reads, node.rule.writes) if node.rule else ():
            if register and register in at_first and node not in naming.setdefault(register, []):
                naming[register].append(node)
    return naming


def _spare(node: Node) -> tuple[str, ...]:
    return node.rule.spare if node.rule else ()


def _says(node: Node) -> str:
    if node.states:
        return f"read {node.states.target}%X, where X = {node.states.expression}"
    if node.role == "list":
        return f"further documents: {', '.join(parent.id for parent in node.parents)}"
    return f"{node.variable} = {node.value}"


@dataclass(frozen=True)
class WovenOracle(Oracle):
    """The oracle of one woven instance.

    Args:
        pieces: The documents of the tree.
        question: The variable, or the document, whose value is asked for.
        answer: That value, as it has to be submitted.
        unit: In which unit long documents are read on.
    """

    pieces: Sequence[Piece]
    question: str
    answer: str
    unit: str = "lines"

    def state(self, world: World | None, journal: Sequence[Made]) -> State:
        """Documents that were read, values that are known, and documents that can be read."""
        reading = _Reading.of(journal)
        known = self._known(reading)
        read = [piece for piece in self.pieces if piece.document in reading.complete]
        open_ = [piece.document for piece in self._open(reading)]
        rules = [piece.says for piece in read if not piece.values]
        lines = [
            f"Values known: {_show(f'{name} = {value}' for name, value in known.items())}.",
            f"Said besides: {_show(rules, '; ')}.",
            f"Relevant documents read: {_show(piece.document for piece in read)}.",
            f"Relevant documents to be read: {_show(open_)}.",
        ]
        if reading.submitted:
            lines.append("An answer was submitted.")
        return State(
            text="\n".join(lines),
            facts={
                "values": known,
                "rules": rules,
                "read": [piece.document for piece in read],
                "to_read": open_,
                "submitted": reading.submitted,
            },
        )

    def plan(self, world: World | None, journal: Sequence[Made]) -> list[Subtask]:
        """Documents that matter and can be read now; then the answer."""
        reading = _Reading.of(journal)
        if reading.submitted:
            return []
        if self.question in self._known(reading):
            service, tool = _SUBMIT
            call = Call(service=service, tool=tool, arguments={"answer": self.answer})
            return [Subtask(goal=f"Submit the value of {self.question}.", calls=[call])]
        return [self._step(piece, reading) for piece in self._open(reading)]

    def lapse(self, journal: Sequence[Made]) -> Lapse:
        """Classify a failure as in the paper, by documents of the tree that were mentioned but not read.

        A document whose identifier has to be computed is not told of: whoever has all that it follows from,
        and does not read it, has not combined it, or wrongly.
        """
        told = _Told(self.pieces)
        reading, latest = _Reading(), 0
        for step, made in enumerate(journal, 1):
            before = len(reading.complete)
            reading.take(made)
            if len(reading.complete) > before:
                document = _stretch(made)[0]
                latest = max(latest, told.since.get(document, 0))
                told.read(document, step)
        left = [since for document, since in told.since.items() if document not in reading.complete]
        if not left:
            return "reasoned_wrongly"
        return "lead_lost" if min(left) < latest else "halted_early"

    def judge(self, journal: Sequence[Made]) -> list[bool]:
        """Of each call, whether it was in the plan of its moment."""
        reading, judged = _Reading(), []
        for made in journal:
            judged.append(self._is_best(made, reading))
            reading.take(made)
        return judged

    def _is_best(self, made: Made, reading: _Reading) -> bool:
        if reading.submitted:
            return False
        if self.question in self._known(reading):
            return (made.service, made.tool) == _SUBMIT and made.arguments.get("answer") == self.answer
        if (made.service, made.tool) != _READ:
            return False
        document, unit, offset = _stretch(made)
        return offset == reading.next_line(document, unit) and any(
            piece.document == document for piece in self._open(reading)
        )

    def _step(self, piece: Piece, reading: _Reading) -> Subtask:
        service, tool = _READ
        arguments: dict[str, str | int] = {"file_id": piece.document}
        at = reading.next_line(piece.document, self.unit)
        arguments |= {"offset": at, "unit": self.unit}
        goal = f"Read the document {piece.document}" + (f" on from {self.unit[:-1]} {at}." if at else ".")
        return Subtask(goal=goal, calls=[Call(service=service, tool=tool, arguments=arguments)])

    def _open(self, reading: _Reading) -> Iterator[Piece]:
        """Documents that were not read yet and whose identifiers are known."""
        for piece in self.pieces:
            if piece.document not in reading.complete and any(
                reading.complete.issuperset(documents) for documents in piece.known_by
            ):
                yield piece

    def _known(self, reading: _Reading) -> dict[str, int | str]:
        known: dict[str, int | str] = {}
        settled: set[str] = set()
        for piece in self.pieces:
            if piece.document in reading.complete and settled.issuperset(piece.uses):
                settled.add(piece.document)
                known |= piece.values
        return known


class _Told:
    """Documents whose identifiers appear in the prompt or in a document that was read."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        says = {piece.document: piece.says for piece in pieces}
        self.since = {piece.document: 0 for piece in pieces if [] in piece.known_by}
        """At which call each became known."""
        self._leads: dict[str, list[str]] = {}
        for piece in pieces:
            name = re.escape(piece.document.removesuffix(".py"))
            named = re.compile(rf"(?<![\w%]){name}(?![\w%-])")
            for source in dict.fromkeys(one for documents in piece.known_by for one in documents):
                if named.search(says[source]):
                    self._leads.setdefault(source, []).append(piece.document)

    def read(self, document: str, step: int) -> None:
        """Record the identifiers in a document."""
        for lead in self._leads.get(document, ()):
            self.since.setdefault(lead, step)


def _show(parts: Iterable[str], between: str = ", ") -> str:
    return between.join(parts) or "none"


def _next_offset(result: str) -> int | None:
    """Return the offset at which to continue, from a result's second block; ``None`` at the end."""
    where = result.rpartition("\n")[2]
    if not where.startswith("{") or '"next_offset":' not in where:
        return None
    onward: int | None = orjson.loads(where)["next_offset"]
    return onward


@dataclass
class _Reading:
    """Parts of documents that were read."""

    complete: set[str] = field(default_factory=set)
    reached: dict[tuple[str, str], int] = field(default_factory=dict)
    """How far documents were read without a gap, by document and unit."""
    submitted: bool = False

    @classmethod
    def of(cls, journal: Sequence[Made]) -> _Reading:
        reading = cls()
        for made in journal:
            reading.take(made)
        return reading

    def take(self, made: Made) -> None:
        """Note what came of a call."""
        if made.ok and (made.service, made.tool) == _READ:
            self._read(made)
        self.submitted |= made.ok and (made.service, made.tool) == _SUBMIT

    def next_line(self, document: str, unit: str) -> int:
        return self.reached.get((document, unit), 0)

    def _read(self, made: Made) -> None:
        document, unit, offset = _stretch(made)
        place = document, unit
        if offset > self.reached.get(place, 0):
            return  # what lies between was not read
        onward = _next_offset(made.result)
        if onward is None:
            self.complete.add(document)
        else:
            self.reached[place] = max(self.reached.get(place, 0), onward)


def _stretch(made: Made) -> tuple[str, str, int]:
    """The document that a call reads, in which unit, and from where on."""
    offset = made.arguments.get("offset", 0)
    return (
        str(made.arguments.get("file_id")),
        str(made.arguments.get("unit", "characters")),
        offset if isinstance(offset, int) else -1,
    )
