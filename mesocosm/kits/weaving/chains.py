"""Chains of documents: a bottom-up tree and its distractors, written down.

What a node looks like is said by a ``Writer``; a family whose documents are pictures has one of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from pydantic import Field

from mesocosm.families import family
from mesocosm.families.family import Evidence
from mesocosm.kits.prose import Prose
from mesocosm.kits.weaving import (
    BottomUp,
    Node,
    Numbers,
    Rule,
    Tree,
    TreeValue,
    ValueKind,
    Values,
    free_id,
)
from mesocosm.kits.weaving.composition import Composition, File
from mesocosm.kits.weaving.oracle import Piece, WovenOracle, chain_pieces
from mesocosm.kits.weaving.params import TreeParams
from mesocosm.kits.weaving.shadows import Shadows
from mesocosm.kits.weaving.steps import TreeStep, steps_of
from mesocosm.kits.weaving.supply import wide_span
from mesocosm.kits.weaving.validity import Calendar, restricted_text, some_day, written
from mesocosm.worlds import tokens
from mesocosm.worlds.randomness import Streams

# Wording of nodes as documents.
#
# The phrases are short, because thousands of distractor documents repeat them: between two values that differ
# stand fewer than eight words.

_FIELDS = (
    "{name}: {value}.",
    "{name} = {value}.",
    "{name} has value {value}.",
    "Value of {name} is {value}.",
    "Field {name} contains {value}.",
    "Parameter {name} is set to {value}.",
    "Variable {name} equals {value}.",
    "We note {value} for {name}.",
)
_RULES = (
    "Read the document '{target}%X' next, where X = {expression}.",
    "Continue with '{target}%X'; X is the value of {expression}.",
    "Compute X = {expression}, then read '{target}%X'.",
    "More is said in '{target}%X', X being {expression}.",
    "The document '{target}%X' follows, with {expression} as X.",
)
_NUMBERS = (
    "A negative X keeps its minus sign.",
    "Write no plus sign before X.",
    "X is an integer.",
    "",
)
_STRINGS = (
    "The variables are strings; + concatenates.",
    "Here + joins strings.",
    "X is a string.",
    "",
)
_LISTS = (
    "These documents belong together:",
    "Further documents:",
    "To be read as well:",
    "The following documents are on file:",
)


def field_text(name: str, value: TreeValue, rng: random.Random) -> str:
    """A statement of what a variable's value is."""
    return rng.choice(_FIELDS).format(name=name, value=value)


def rule_text(rule: Rule, rng: random.Random) -> str:
    """A statement of which document to read next."""
    notes = _STRINGS if rule.operator.gives == "string" else _NUMBERS
    sentence = rng.choice(_RULES).format(target=rule.target, expression=rule.expression)
    return f"{sentence} {rng.choice(notes)}".strip()


def list_text(ids: Iterable[str], rng: random.Random) -> str:
    """A list of documents, one a line."""
    return "\n".join([rng.choice(_LISTS), *(f"- {one}" for one in ids)])


ROOT = "v0"
"""The variable that is asked for."""
_TOPICS = ("technical_doc", "market_report", "meeting_minutes", "policy_document", "product_description")
_SHORTEST_REMARK = 10
_TOKENS_PER_SENTENCE = 22
_SENTENCES_PER_MATTER = 6
_SHARE_OF_TREES = 0.12
"""Share of distractors that are trees of their own; the others are single dead ends."""
_VARIABLES_PER_DOCUMENT = 4
_KINDS: tuple[ValueKind, ...] = ("integer", "string")


class ChainParams(TreeParams):
    """Parameters of a chain: its length, its steps and its surroundings."""

    sparing = ("silent_errors", "validity_share")

    operators: list[str] = Field(default=["addition", "subtraction", "concatenation"], min_length=1)
    """Operations; a name with a dot is a module of the user's."""
    distractor_fields: int = Field(default=1, ge=0, le=100)
    """Irrelevant fields beside what a document is about, at most."""
    remark_tokens: int = Field(default=10, ge=0, le=5000)
    """Tokens of remarks in a document, on average."""
    distractor_documents: int = Field(default=0, ge=0)
    """Documents that lead elsewhere (besides those of ``filler_tokens``)."""
    silent_errors: bool = False
    """True if a wrong result leads to another document and another end, instead of nowhere."""

    validity_share: float = Field(default=0, ge=0, le=1)
    """Share of values stated beside another one, with the time or the other value for which each holds."""

    def values(self, rng: random.Random) -> Values:
        """A supply of values; those of the tree and of each distractor are drawn from the same range."""
        return Values(rng, span=self.value_span, negative_share=self.negative_share)

    @property
    def value_span(self) -> int:
        """Integers are smaller than this, until half of them are used."""
        return wide_span(self.operations * self.max_children)


@dataclass(frozen=True, kw_only=True)
class Chain(Composition):
    """A composed chain of documents."""

    evidence: list[Evidence]
    steps: list[TreeStep]
    """In an order in which they can be taken; the last one leads to the answer."""
    reading_order: list[str]
    """All documents, in an order in which they could be met: given, listed, computed."""
    other_answer: str
    """The answer of another variable's tree."""


class ChainExpected(family.Expected):
    """The answer, and how it follows."""

    answer: str
    operations: int
    """N."""
    height: int
    """The longest chain of dependencies."""
    collections: int
    """How often leaves were collected in a list."""
    steps: list[TreeStep]
    """In an order in which they can be taken; the last one leads to the answer."""
    documents: list[str]
    """All documents that can be reached, those in the prompt first."""
    other_answer: str
    """The answer of another variable's tree."""

    pieces: list[Piece]
    """The text of each document of the tree, and when it can be read."""

    @property
    def measures(self) -> dict[str, int]:
        """N and the height."""
        return {"operations": self.operations, "height": self.height}

    @property
    def least_calls(self) -> int:
        """Every document of the tree is read, and the answer submitted."""
        return len(self.pieces) + 1

    def oracle(self) -> WovenOracle:
        return WovenOracle(self.pieces, ROOT, self.answer)

    @classmethod
    def of(cls, chain: Chain, **own: Any) -> Self:
        """Build the checker's knowledge of a chain, with a family's own fields."""
        return cls(
            **own,
            public=chain.public,
            evidence=chain.evidence,
            answer=chain.answer,
            operations=chain.operations,
            height=chain.height,
            collections=chain.tree.collections,
            steps=chain.steps,
            documents=chain.reading_order,
            other_answer=chain.other_answer,
            pieces=chain_pieces(chain.tree),
        )


# -- writing -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChainStatement:
    """Content of a document."""

    text: str
    """Occurs in no other document."""
    draw: Callable[[], bytes] | None = None
    """Draws the picture that the text speaks of."""


class Writer:
    """States the variable of a value node, and the rule of a rule node."""

    def state(self, node: Node, rng: random.Random) -> ChainStatement:
        """The statement of a node that is no list. A picture draws from dice of its own, not from ``rng``."""
        if node.states:
            return ChainStatement(rule_text(node.states, rng))
        assert node.value is not None
        if node.validity:
            return ChainStatement(restricted_text(node.variable, node.value, node.validity, rng))
        return ChainStatement(field_text(node.variable, node.value, rng))


@dataclass
class Author:
    """Writes documents: their statement among irrelevant fields and remarks."""

    rng: random.Random
    prose: Prose
    params: ChainParams
    name: Callable[[], str]
    values: Values
    writer: Writer
    calendar: Calendar
    known: Sequence[Node] = ()
    """Nodes of the tree with integers, on which irrelevant fields may depend."""
    _sentences: list[str] = field(default_factory=list)
    """Written, and not used yet."""

    def node(self, node: Node) -> tuple[File, str]:
        """Write the document of a node; returns it with the text of its statement."""
        statement = self.writer.state(node, self.rng)
        return File(node.id, self.document(statement.text), statement.draw), statement.text

    def document(self, statement: str) -> str:
        parts = [statement, *self.fields(self.rng.randint(0, self.params.distractor_fields))]
        self.rng.shuffle(parts)
        size = self._remark_size()
        if size:
            parts.insert(self.rng.choice((0, len(parts))), self.aside(size))
        return "\n".join(parts)

    def fields(self, count: int) -> Iterator[str]:
        """Fields of variables that no rule speaks of."""
        for _ in range(count):
            kind = self.rng.choice(_KINDS)
            variable, value = self.name(), self.values.draw(kind)
            validity = self.calendar.at_times(value, self.known)
            if validity:
                yield restricted_text(variable, value, validity, self.rng)
            else:
                yield field_text(variable, value, self.rng)

    def aside(self, size: int) -> str:
        """Some sentences about something else, of about so many tokens.

        Several documents in a row speak of one matter: thinking of one takes longer than writing of it.
        """
        count = max(1, round(size / _TOKENS_PER_SENTENCE))
        while len(self._sentences) < count:
            self._sentences += self.prose.sentences(self.rng.choice(_TOPICS), _SENTENCES_PER_MATTER)
        taken, self._sentences = self._sentences[:count], self._sentences[count:]
        return " ".join(taken)

    def remark(self, size: int) -> str:
        """Text about something else, of so many tokens."""
        return self.prose.text(self.rng.choice(_TOPICS), size)

    def _remark_size(self) -> int:
        mean = self.params.remark_tokens
        size = min(round(self.rng.expovariate(1 / mean)), 8 * mean) if mean else 0
        return size if size >= _SHORTEST_REMARK else 0


@dataclass
class Library:
    """The documents of a chain while they are written."""

    files: dict[str, File] = field(default_factory=dict)
    listed: list[str] = field(default_factory=list)
    """Distractors to be put on the lists."""
    computed: dict[str, None] = field(default_factory=dict)
    """Distractors whose identifiers have to be computed, as an ordered set."""

    def add(self, file: File) -> None:
        """Add a document, or replace it."""
        self.files[file.id] = file

    def cost(self, file_id: str) -> int:
        """About how many tokens a distractor adds to the survey, with its line on a list."""
        line = 0 if file_id in self.computed else tokens.count(f"- {file_id}\n")
        return tokens.count(self.files[file_id].text + "\n") + line


# -- composing ---------------------------------------------------------------------------------------------


def compose_chain(streams: Streams, params: ChainParams, writer: Writer) -> Chain:
    """A tree and its distractors as documents; the tree does not depend on the distractors."""
    numbers = Numbers(streams.rng, span=_span(params))

    def name() -> str:
        return f"v{numbers.draw()}"

    values = params.values(streams.rng)
    tree = BottomUp(streams.rng, name, values, root=ROOT).weave(
        params.shape(), params.kinds(), collect_once=bool(params.distractor_documents or params.filler_tokens)
    )
    rng = streams.stream("validity")
    calendar = Calendar(rng, some_day(rng), params.validity_share, params.values(rng))
    calendar.restrict(list(tree.bottom_up()), tree.root)
    known = [node for node in tree.nodes() if isinstance(node.value, int)]
    remarks = Prose(streams.stream("remarks"))
    author = Author(streams.rng, remarks, params, name, values, writer, calendar, known)
    library = Library()
    evidence = [_write(node, author, library) for node in tree.nodes() if node.role != "list"]
    # Names and values of distractors continue those of the tree, drawn from dice of their own.
    numbers.rng = streams.stream("distractor names")
    other_answer = _distract(streams, name, author, library)
    evidence += _write_lists(streams, tree, library)
    if params.silent_errors:
        _write_shadows(streams, name, tree, author, library)
    leaves = [leaf.id for leaf in tree.leaves()]
    streams.stream("prompt").shuffle(leaves)
    return Chain(
        files=[file for _, file in sorted(library.files.items())],
        public={
            "target": ROOT,
            "documents": ", ".join(leaves),
            "operations": str(tree.operations),
            "height": str(tree.height),
            **({"today": written(calendar.today)} if params.validity_share else {}),
        },
        answer=str(tree.root.value),
        tree=tree,
        evidence=evidence,
        steps=steps_of(tree),
        reading_order=_reading_order(leaves, library, tree),
        other_answer=other_answer,
    )


def _span(params: ChainParams) -> int:
    """Numbers of variables come from so wide a range that distractors do not stand out by theirs."""
    documents = params.operations * (params.max_children + 2) + params.distractor_documents
    return wide_span(documents * _VARIABLES_PER_DOCUMENT)


def _write(node: Node, author: Author, library: Library) -> Evidence:
    """Write a node down; returns where it is met."""
    file, statement = author.node(node)
    library.add(file)
    return Evidence(service="documents", contains=statement)


def _distract(streams: Streams, name: Callable[[], str], of_tree: Author, library: Library) -> str:
    """Add distractors by number and by tokens; returns the result of one of their trees."""
    params, rng = of_tree.params, streams.stream("filler")
    prose = Prose(streams.stream("filler remarks"))
    author = replace(of_tree, rng=rng, prose=prose, name=name, values=params.values(rng), _sentences=[])
    left, spent = params.distractor_documents, 0
    answers: list[str] = []
    while left > 0 or spent < params.filler_tokens:
        # Values may repeat those of other trees: a supply for all would run into ever greater numbers.
        author.values = params.values(rng)
        room = None if left > 0 else params.filler_tokens - spent
        if rng.random() < _SHARE_OF_TREES and (room is None or room > 60 * params.remark_tokens):
            made, answer = _tree(author, params, library)
            answers.append(answer)
        else:
            made = [_single(author, library, room)]
        if room is None:
            left -= len(made)
        else:
            spent += sum(library.cost(one) for one in made)
    return answers[0] if answers else author.values.answer()


def _tree(author: Author, params: ChainParams, library: Library) -> tuple[list[str], str]:
    """A tree of another variable: plausible, but it ends in a value that nobody asks for."""
    shape = params.shape(author.rng.randint(1, 2)).model_copy(update={"collection_probability": 0.0})
    tree = BottomUp(author.rng, author.name, author.values, root=author.name()).weave(shape, params.kinds())
    author.calendar.restrict(list(tree.bottom_up()), tree.root)
    made = []
    for node in tree.nodes():
        library.add(author.node(node)[0])
        if node.children:
            library.computed[node.id] = None
        else:
            library.listed.append(node.id)
        made.append(node.id)
    return made, str(tree.root.value)


def _single(author: Author, library: Library, room: int | None) -> str:
    """A document of irrelevant fields only."""
    file_id = free_id(author.name(), author.rng)
    (statement,) = author.fields(1)
    library.listed.append(file_id)
    library.add(File(file_id, author.document(statement)))
    if room is not None and library.cost(file_id) > room:
        library.add(File(file_id, statement))
        rest = room - library.cost(file_id)
        if rest >= _SHORTEST_REMARK:
            library.add(File(file_id, f"{statement}\n{author.remark(rest)}"))
    return file_id


def _write_lists(streams: Streams, tree: Tree, library: Library) -> list[Evidence]:
    """Write the lists, with distractors mixed in so that nothing reveals the relevant documents."""
    rng = streams.stream("lists")
    lists = [node for node in tree.nodes() if node.role == "list"]
    found = []
    for at, node in enumerate(lists):
        members = [parent.id for parent in node.parents]
        ids = members + library.listed[at :: len(lists)]
        rng.shuffle(ids)
        library.add(File(node.id, list_text(ids, rng)))
        found += [Evidence(service="documents", contains=f"- {member}") for member in members]
    return found


def _write_shadows(
    streams: Streams, name: Callable[[], str], tree: Tree, of_tree: Author, library: Library
) -> None:
    """Write the documents to which wrong results lead. The survey skips them, as no right result leads
    there.
    """
    rng = streams.stream("shadows")
    values = of_tree.params.values(rng)
    prose = Prose(streams.stream("shadow remarks"))
    author = replace(of_tree, rng=rng, prose=prose, name=name, values=values, _sentences=[])
    for id_, node in Shadows(tree, rng, name, values, author.calendar).documents():
        if node.role == "list":
            ids = [parent.id for parent in node.parents]
            ids += rng.sample(library.listed, min(len(ids), len(library.listed)))
            rng.shuffle(ids)
            library.add(File(id_, list_text(ids, rng)))
        else:
            statement = author.writer.state(node, rng)
            library.add(File(id_, author.document(statement.text), statement.draw))


def _reading_order(leaves: Sequence[str], library: Library, tree: Tree) -> list[str]:
    """Return a possible order of reading: given, listed, then computed documents."""
    evidence = [node.id for node in tree.bottom_up() if node.children]
    return [*leaves, *library.listed, *library.computed, *evidence]
