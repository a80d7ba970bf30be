"""Weaves the tree and its distractors, and writes them down as documents."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from mesocosm import tokens
from mesocosm.family import Evidence
from mesocosm.generators.lore_documents.expected import ROOT, Expected, Step
from mesocosm.generators.lore_documents.params import Params
from mesocosm.generators.lore_documents.wording import field_text, list_text, rule_text
from mesocosm.prose import Prose
from mesocosm.servers.documents.store import DocumentsStore, NewDocument
from mesocosm.tools import Tools, decode
from mesocosm.weaving import BottomUp, Kind, Node, Numbers, Tree, Values, free_id
from mesocosm.world import World

USER, LIBRARIAN, SPACE = "reader@example.org", "librarian@example.org", "library"
_TOPICS = ("technical_doc", "market_report", "meeting_minutes", "policy_document", "product_description")
_SHORTEST_REMARK = 10
_SHARE_OF_TREES = 0.12
"""How many distractors are trees of their own; the others are single documents that lead nowhere."""
_VARIABLES_PER_DOCUMENT = 4
_KINDS: tuple[Kind, ...] = ("integer", "string")


@dataclass
class Author:
    """Writes documents: what they are about, with irrelevant fields and remarks around it."""

    rng: random.Random
    prose: Prose
    params: Params
    name: Callable[[], str]
    values: Values

    def document(self, statement: str) -> str:
        """A document around a statement."""
        parts = [statement, *self.fields(self.rng.randint(0, self.params.distractor_fields))]
        self.rng.shuffle(parts)
        size = self._remark_size()
        if size:
            parts.insert(self.rng.choice((0, len(parts))), self.remark(size))
        return "\n".join(parts)

    def fields(self, count: int) -> Iterator[str]:
        """Fields of variables that no rule speaks of."""
        for _ in range(count):
            kind = self.rng.choice(_KINDS)
            yield field_text(self.name(), self.values.draw(kind), self.rng)

    def remark(self, size: int) -> str:
        """Text about something else."""
        return self.prose.text(self.rng.choice(_TOPICS), size)

    def _remark_size(self) -> int:
        mean = self.params.remark_tokens
        size = min(round(self.rng.expovariate(1 / mean)), 8 * mean) if mean else 0
        return size if size >= _SHORTEST_REMARK else 0


@dataclass
class Library:
    """The documents of a world while they are written."""

    documents: dict[str, str] = field(default_factory=dict)
    listed: list[str] = field(default_factory=list)
    """Distractors to be put on the lists."""
    computed: dict[str, None] = field(default_factory=dict)
    """Distractors whose identifiers have to be computed, as an ordered set."""

    def add(self, file_id: str, text: str) -> None:
        """Add a document."""
        self.documents[file_id] = text

    def cost(self, file_id: str) -> int:
        """About how many tokens a distractor adds to the survey, with its line on a list."""
        line = 0 if file_id in self.computed else tokens.count(f"- {file_id}\n")
        return tokens.count(self.documents[file_id] + "\n") + line


def generate(world: World, params: Params) -> Expected:
    """Fill the document store; the tree does not depend on the distractors."""
    numbers = Numbers(world.rng, span=_span(params))

    def name() -> str:
        return f"v{numbers.draw()}"

    values = params.values(world.rng)
    tree = BottomUp(world.rng, name, values, root=ROOT).weave(
        params.shape(), params.kinds(), collect_once=bool(params.distractor_documents or params.filler_tokens)
    )
    author = Author(world.rng, Prose(world.stream("remarks")), params, name, values)
    library = Library()
    evidence = [piece for node in tree.nodes() for piece in _write(node, author, library)]
    # Names and values of distractors continue those of the tree, drawn from dice of their own.
    numbers.rng = world.stream("distractor names")
    other_answer = _distract(world, params, name, library)
    lists = _write_lists(world, tree, library)
    _store(world, library)
    leaves = [leaf.id for leaf in tree.leaves()]
    world.stream("prompt").shuffle(leaves)
    steps = [_step(node) for node in tree.bottom_up() if node.rule]
    return Expected(
        public={
            "target": ROOT,
            "documents": ", ".join(leaves),
            "operations": str(tree.operations),
            "height": str(tree.height),
        },
        evidence=evidence + lists,
        answer=str(tree.root.value),
        operations=tree.operations,
        height=tree.height,
        collections=tree.collections,
        steps=steps,
        documents=_reading_order(leaves, library, tree),
        other_answer=other_answer,
    )


def survey(tools: Tools, expected: Expected) -> None:
    """Read every document that can be reached."""
    for file_id in expected.documents:
        offset: int | None = 0
        while offset is not None:
            # By lines, so that no identifier in a long list is cut in two.
            blocks = tools.read(
                "documents", "read_document", {"file_id": file_id, "offset": offset, "unit": "lines"}
            )
            offset = decode(blocks[1])["next_offset"] if len(blocks) > 1 else None


def _span(params: Params) -> int:
    """Numbers of variables come from so wide a range that distractors do not stand out by theirs."""
    documents = params.operations * (params.max_children + 2) + params.distractor_documents
    variables = documents * _VARIABLES_PER_DOCUMENT
    span = 100
    while span < 4 * variables:
        span *= 10
    return span


def _write(node: Node, author: Author, library: Library) -> Iterator[Evidence]:
    """Write a node down, if it is not a list; returns where it is met."""
    if node.role == "list":
        return
    statement = _statement(node, author.rng)
    library.add(node.id, author.document(statement))
    yield Evidence(service="documents", contains=statement)


def _statement(node: Node, rng: random.Random) -> str:
    if node.states:
        return rule_text(node.states, rng)
    assert node.value is not None
    return field_text(node.variable, node.value, rng)


def _distract(world: World, params: Params, name: Callable[[], str], library: Library) -> str:
    """Add so many distractors, and then so many tokens of them; returns what one of the trees leads to."""
    rng = world.stream("filler")
    author = Author(rng, Prose(world.stream("filler remarks")), params, name, params.values(rng))
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


def _tree(author: Author, params: Params, library: Library) -> tuple[list[str], str]:
    """A tree of another variable: plausible, but it ends in a value that nobody asks for."""
    shape = params.shape(author.rng.randint(1, 2)).model_copy(update={"collection_probability": 0.0})
    tree = BottomUp(author.rng, author.name, author.values, root=author.name()).weave(shape, params.kinds())
    made = []
    for node in tree.nodes():
        library.add(node.id, author.document(_statement(node, author.rng)))
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
    library.add(file_id, author.document(statement))
    if room is not None and library.cost(file_id) > room:
        library.add(file_id, statement)
        rest = room - library.cost(file_id)
        if rest >= _SHORTEST_REMARK:
            library.add(file_id, f"{statement}\n{author.remark(rest)}")
    return file_id


def _write_lists(world: World, tree: Tree, library: Library) -> list[Evidence]:
    """Write the lists, the distractors spread over them: nothing tells which document will matter."""
    rng = world.stream("lists")
    lists = [node for node in tree.nodes() if node.role == "list"]
    found = []
    for at, node in enumerate(lists):
        members = [parent.id for parent in node.parents]
        ids = members + library.listed[at :: len(lists)]
        rng.shuffle(ids)
        library.add(node.id, list_text(ids, rng))
        found += [Evidence(service="documents", contains=f"- {member}") for member in members]
    return found


def _store(world: World, library: Library) -> None:
    store = world.store(DocumentsStore)
    store.create_user(LIBRARIAN, "Library")
    store.create_user(USER, "Reader")
    store.sign_in(USER)
    store.create_space("Library", owner=LIBRARIAN, space_id=SPACE)
    store.give(SPACE, USER, "viewer")
    rows: list[NewDocument] = [
        {"title": file_id, "content": text, "file_id": file_id}
        for file_id, text in sorted(library.documents.items())
    ]
    store.add_documents(SPACE, rows)


def _reading_order(leaves: Sequence[str], library: Library, tree: Tree) -> list[str]:
    """An order in which the documents could be read: what is given, what is listed, what is computed."""
    evidence = [node.id for node in tree.bottom_up() if node.children]
    return [*leaves, *library.listed, *library.computed, *evidence]


def _step(node: Node) -> Step:
    assert node.rule
    known = {c.variable: c.value for c in node.children if c.role == "value" and c.value is not None}
    return Step(
        expression=node.rule.expression,
        variables=list(node.rule.variables),
        values=known,
        target=node.rule.target,
        result=node.id.partition("%")[2],
    )
