"""Collects the sheets of the case, carries the procedure out, and hands the output in as the prompt asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from mesocosm.kits.paging import read_whole
from mesocosm.kits.procedures import beliefs, countdown, routes, travel
from mesocosm.services.calling import Tools
from mesocosm.solvers.longproc.programming import program
from mesocosm.solvers.longproc.tabulating import table

# Carrying procedures out on input as it was read.

Lines = Sequence[str]


def answer_to(prompt: str, given: Lines) -> str:
    """The answer to a case: which procedure it is, its prompt says."""
    question = " ".join(prompt.rpartition("# Your case")[2].split())
    for opening, carry_out in _PROCEDURES.items():
        if opening in question:
            return carry_out(question, given)
    raise ValueError("the prompt asks for no procedure that is known")


def _routes(question: str, given: Lines) -> str:
    asked = re.search(r"Find the route from (\w+) to (\w+)\.", question)
    assert asked
    links = re.findall(r"From (\w+) there is a (\w+) to (\w+)\.", "\n".join(given))
    case = routes.RouteCase(links=[(a, b, means) for a, means, b in links], start=asked[1], end=asked[2])
    return routes.gold(case)


def _countdown(question: str, given: Lines) -> str:
    numbers, target = (list(map(int, line.partition(": ")[2].split())) for line in given)
    return countdown.gold(countdown.CountdownCase(numbers=numbers, target=target[0]))


def _travel(question: str, given: Lines) -> str:
    text = "\n".join(given)
    stays = [
        travel.Stay(city=city, days=int(days), start=int(start) if start else None)
        for city, days, start in re.findall(
            r"Stay: (\w+) for (\d+) days(?:, from day (\d+) to day \d+)?\.", text
        )
    ]
    flights = re.findall(r"Flight: from (\w+) to (\w+)\.", text)
    return travel.gold(travel.TravelCase(stays=stays, flights=flights))


def _beliefs(question: str, given: Lines) -> str:
    asked = re.search(r"Where does (\w+) believe the (.+?) to be after", question)
    assert asked
    agents = dict(re.findall(r"(\w+) is in the ([^;.]+)", given[0].replace("Step 0: ", "")))
    things = {
        thing: (room, box)
        for thing, room, box in re.findall(r"the ([^;]+?) is in the ([^;']+)'s ([^;.]+)", given[0])
    }
    case = beliefs.BeliefCase(
        agents={name: room for name, room in agents.items() if name[0].isupper()},
        things=things,
        rooms=[],
        containers=[],
        steps=[_step(line) for line in given[1:]],
        agent=asked[1],
        thing=asked[2],
    )
    return beliefs.gold(case)


def _step(line: str) -> beliefs.BeliefStep:
    text = line.partition(": ")[2].rstrip(".")
    agent = text.split()[0]
    if put := re.search(r"puts the (.+?)(?:, which was in the room before,)? into the ([^']+)'s (.+)$", text):
        kind = "carry" if "goes to" in text else "put"
        return beliefs.BeliefStep(agent, kind, put[2], put[1], put[3])
    if went := re.search(r"(goes to|enters) the (.+)$", text):
        return beliefs.BeliefStep(agent, "go" if went[1] == "goes to" else "enter", went[2])
    return beliefs.BeliefStep(agent, "leave" if "leaves" in text else "wait")


_PROCEDURES: dict[str, Callable[[str, Lines], str]] = {
    "Find the route": _routes,
    "Reach the target": _countdown,
    "Plan the trip": _travel,
    "Where does": _beliefs,
    "Write a table": table,
    "Write this program": program,
}


_CASE, _PART = "\n# The case\n", "\n# What to write\n"
_PAGE = 100
_FILES_PER_PAGE = 1_000
_LINES_PER_CALL = 20
_HEAD = re.compile(r"^Case (\S+), sheet (\d+) of (\d+)$", re.MULTILINE)


def solve(tools: Tools, prompt: str) -> None:
    """Read all sheets until those of the case are there, and hand in the answer."""
    flat = " ".join(prompt.split())
    reference = re.search(r"Your case has the reference (\S+?)\. ", flat)
    assert reference
    read = _from_workspace if "list_directory lists" in flat else _from_documents
    given = _body(read(tools, reference[1]))
    _hand_in(tools, flat, answer_to(prompt, given))


def answer_from(prompt: str) -> str | None:
    """The answer to a prompt that holds the whole case; ``None`` for another prompt."""
    _, begins, case = prompt.rpartition(_CASE)
    case, _, part = case.partition(_PART)
    given, _, question = case.strip().rpartition("\n\n")
    if not begins or not given:
        return None
    try:
        answer = answer_to(question, [line for line in given.split("\n") if line.strip()])
    except ValueError:
        return None
    wanted = re.search(r"[Ww]rite lines (\d+) to (\d+)", part)
    return _part_of(answer, int(wanted[1]), int(wanted[2])) if wanted else answer


def _part_of(answer: str, first: int, last: int) -> str:
    """Some lines of the first block of an answer, between its tags."""
    opening, *lines = answer.split("\n")
    return "\n".join([opening, *lines[first - 1 : last], opening.replace("<", "</")])


def _from_documents(tools: Tools, reference: str) -> list[str]:
    ids: list[str] = []
    page = 1
    while True:
        shown = tools.call("documents", "list_folder", folder_id="cases", page=page, per_page=_PAGE)
        ids += [item["id"] for item in shown["items"]]
        if len(ids) >= shown["total"]:
            break
        page += 1
    return _gathered((read_whole(tools, file_id) for file_id in ids), reference)


def _from_workspace(tools: Tools, reference: str) -> list[str]:
    names: list[str] = []
    page = 1
    while True:
        (shown,) = tools.look("filesystem", "list_directory", {"path": "cases", "page": page})
        found = re.findall(r"^\[FILE\] (.+)$", str(shown), re.MULTILINE)
        names += found
        if len(found) < _FILES_PER_PAGE:
            break
        page += 1
    paths = (f"cases/{name}" for name in names)
    texts = (str(tools.look("filesystem", "read_text_file", {"path": path})[0]) for path in paths)
    return _gathered(texts, reference)


def _gathered(texts: object, reference: str) -> list[str]:
    """The sheets of a case in their order, read until all are there."""
    found: dict[int, str] = {}
    for text in texts:  # type: ignore[attr-defined]
        of = _HEAD.search(text)
        assert of, f"no sheet: {text[:100]!r}"
        if of[1] == reference:
            found[int(of[2])] = text.replace(of[0], "", 1)
            if len(found) == int(of[3]):
                break
    return [found[number] for number in sorted(found)]


def _body(sheets: list[str]) -> list[str]:
    """The lines of the input, without notes."""
    return [
        line
        for sheet in sheets
        for line in sheet.split("\n")
        if line.strip() and not line.startswith("Note: ")
    ]


def _hand_in(tools: Tools, prompt: str, answer: str) -> None:
    if "call submit_answer" in prompt:
        tools.call("submit_answer", "submit_answer", answer=answer)
        return
    if "append_lines" in prompt:
        lines = answer.split("\n")
        for at in range(0, len(lines), _LINES_PER_CALL):
            tools.call("record", "append_lines", lines=lines[at : at + _LINES_PER_CALL])
    else:
        tools.call("filesystem", "write_file", path="answer.txt", content=answer)
    tools.call("claim_done", "claim_done")
