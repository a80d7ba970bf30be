"""Judges what was handed in: the result, the text line by line, and that nothing else was changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlalchemy import delete, update

from mesocosm.families.verdict import Check, Inapplicable, Mutant, finding
from mesocosm.generators.longproc.expected import Expected
from mesocosm.generators.longproc.filling import ANSWER_FILE
from mesocosm.kits.damage import touched_files, touched_services
from mesocosm.kits.procedures import procedure
from mesocosm.servers.documents.models import Document
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.record.models import Line
from mesocosm.servers.record.store import RecordStore
from mesocosm.servers.submit_answer.models import Answer
from mesocosm.servers.submit_answer.store import SubmitAnswerStore
from mesocosm.services.contents import UnreadableContent, file_data, text_of
from mesocosm.services.world import World

_LARGEST = 20_000_000
_OWN_TABLES = {("submit_answer", "answers"), ("record", "lines")}


def check(world: World, expected: Expected) -> list[Check]:
    """Check that there is an answer, that its result and its text are right, and that nothing else
    changed.
    """
    answer = _handed_in(world, expected)
    of = procedure(expected.procedure)
    score = of.score(of.CaseType.model_validate(expected.case), expected.gold, answer)
    if score.unjudged:
        raise RuntimeError(f"the program cannot be run here: {score.why}")
    where = f"line {score.line}, token {score.token}: " if score.line else ""
    exact = f"{score.partial:.3f} of it is right; {where}{score.why}"
    return [
        Check(name="submitted", passed=bool(answer.strip()), detail=f"{len(answer):,} characters"),
        Check(name="result", passed=score.value == 1.0, detail=f"value {score.value:.3f}. {score.why}"),
        Check(name="text", passed=score.exact, detail="" if score.exact else exact),
        finding("untouched", _touched(world)),
    ]


def _handed_in(world: World, expected: Expected) -> str:
    match expected.delivery:
        case "answer":
            return "\n".join(world.store(SubmitAnswerStore).answers())
        case "record":
            return world.store(RecordStore).text()
        case _:
            data = file_data(world.workspace, ANSWER_FILE, _LARGEST)
            text = data if isinstance(data, UnreadableContent) else text_of(data)
            return "" if isinstance(text, UnreadableContent) else text


def _touched(world: World) -> Iterator[str]:
    changes = world.changes()
    yield from touched_files(changes, made=(ANSWER_FILE,))
    yield from touched_services(
        world, changes, is_harmless=lambda service, table, _: (service, table) in _OWN_TABLES
    )


# -- near misses -------------------------------------------------------------------------------------------


def _put(world: World, expected: Expected, answer: str) -> None:
    match expected.delivery:
        case "answer":
            world.store(SubmitAnswerStore).session.execute(update(Answer).values(answer=answer))
        case "record":
            session = world.store(RecordStore).session
            session.execute(delete(Line))
            session.add_all(Line(number=at, text=text) for at, text in enumerate(answer.split("\n"), 1))
        case _:
            world.workspace.write(ANSWER_FILE, answer.encode(), world.now)


def _instead(other: Callable[[Expected], str]) -> Callable[[World, Expected], None]:
    def apply(world: World, expected: Expected) -> None:
        _put(world, expected, other(expected))

    return apply


def _lines(change: Callable[[list[str], int], list[str]]) -> Callable[[World, Expected], None]:
    """Changes the lines of the gold at a place: in programs at the first, which every test needs."""

    def other(expected: Expected) -> str:
        lines = expected.gold.split("\n")
        at = 1 if expected.procedure.startswith("programs") else len(lines) // 2
        if lines[at].startswith(("<", "```")) or lines[at + 1].startswith(("<", "```")):
            at = 1
        return "\n".join(change(lines, at))

    return _instead(other)


def _without_a_search_line(world: World, expected: Expected) -> None:
    if "<Search>" not in expected.gold:
        raise Inapplicable("there is no search")
    lines = expected.gold.split("\n")
    end = lines.index("</Search>")
    _put(world, expected, "\n".join(lines[: end - 2] + lines[end - 1 :]))


def _nothing(world: World, expected: Expected) -> None:
    match expected.delivery:
        case "answer":
            world.store(SubmitAnswerStore).session.execute(delete(Answer))
        case "record":
            world.store(RecordStore).session.execute(delete(Line))
        case _:
            world.workspace.delete(ANSWER_FILE)


def _sheet_changed(world: World, expected: Expected) -> None:
    name = expected.own_sheets[0]
    if expected.delivery == "file":
        world.workspace.write(f"cases/{name}.txt", b"read\n", world.now)
        return
    session = world.store(DocumentsStore).session
    session.execute(update(Document).where(Document.id == f"sheet-{name}").values(title="read"))


MUTANTS = [
    Mutant("a line missing", "text", _lines(lambda lines, at: lines[:at] + lines[at + 1 :])),
    Mutant("a line twice", "text", _lines(lambda lines, at: lines[: at + 1] + lines[at:])),
    Mutant(
        "two lines swapped",
        "text",
        _lines(lambda lines, at: [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]),
    ),
    Mutant(
        "a line changed", "text", _lines(lambda lines, at: [*lines[:at], f"{lines[at]}1", *lines[at + 1 :]])
    ),
    Mutant("first tag gone", "text", _instead(lambda e: e.gold.partition("\n")[2])),
    Mutant("first line gone", "text", _lines(lambda lines, at: lines[:1] + lines[2:])),
    Mutant("cut off", "text", _instead(lambda e: e.gold[: len(e.gold) * 2 // 3])),
    Mutant("last tag gone", "text", _instead(lambda e: e.gold.rpartition("\n")[0])),
    Mutant("the answer to another case", "result", _instead(lambda e: e.other_gold)),
    Mutant("followed by another answer", "result", _instead(lambda e: f"{e.gold}\n{e.other_gold}")),
    Mutant("right by a wrong search", "text", _without_a_search_line),
    Mutant("nothing handed in", "submitted", _nothing),
    Mutant("a sheet changed", "untouched", _sheet_changed),
]
