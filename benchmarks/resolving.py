"""Solves what the generators wrote a second time, and compares with their golds.

    python benchmarks/resolving.py [lore] [lumina] [agentlongbench] [longproc] [--golds 200]

Data sets are written by the command line; everything else here reads them as a stranger would, from the
prompts and files alone: nothing of Mesocosm is imported. Programs of LORE and LongProc are run by Python
itself (waiting takes no time). Exit code 1 if a gold differs. Cells of tables (LongProc) are looked for on
the page in their order, filters are not applied again, programs not written again. Left out: pictures, C++.
"""

from __future__ import annotations

import argparse
import ast
import heapq
import itertools
import json
import operator
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

Solved = Iterator[tuple[str, bool]]
"""The question of each gold answer, and whether this came to the same."""
_CLOCK = """
import asyncio, runpy, sys
class Loop(asyncio.SelectorEventLoop):
    moment = 0.0
    def time(self):
        return self.moment
    def _run_once(self):
        if not self._ready and self._scheduled:
            self.moment = max(self.moment, self._scheduled[0].when())
        super()._run_once()
class Policy(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self):
        return Loop()
asyncio.set_event_loop_policy(Policy())
sys.path.insert(0, sys.argv[1])
runpy.run_path(sys.argv[1] + "/main.py", run_name="__main__")
"""


def write(folder: Path, *words: str) -> Path:
    """A data set that the command line writes."""
    path = folder / f"{words[0]}-{len(list(folder.iterdir()))}.jsonl"
    subprocess.run([sys.executable, "-m", "mesocosm", "dataset", *words, "--out", path], check=True)
    return path


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


# -- LORE --------------------------------------------------------------------------------------------------


def lore(folder: Path, golds: int) -> Solved:
    """Documents are read, programs are run."""
    variants = [("documents", ""), ("documents", "--hard"), ("documents", "--expert")]
    variants += [("code", ""), ("code", "--hard"), ("code", "--expert")]
    each = -(-golds // len(variants) // 4)
    for domain, variant in variants:
        words = ["lore", "--domain", domain, "--n", "1,7,20,45", "--seeds", f"100-{99 + each}"]
        for row in lines(write(folder, *words, *([variant] if variant else []))):
            found = _documents(row) if domain == "documents" else _program(row)
            yield f"{row['task']} {row['id']}", found == row["answer"]


_FIELDS = [
    re.compile(pattern)
    for pattern in (
        r"(?:Field |Parameter |Variable |Value of )?(v\d+)"
        r"(?:: | = | has value | is set to | is | contains | equals )(-?\w+)\.$",
        r"We note (?P<v>-?\w+) for (?P<n>v\d+)\.$",
    )
]
_NAMES = {"reverse": lambda text: text[::-1], "swapcase": lambda text: text.swapcase()}


def _documents(row: dict[str, Any]) -> str | None:
    """Reads what it is told of, computes what it can, until v0 is known."""
    values: dict[str, int | str] = {}
    rules: list[tuple[str, str]] = []
    doubtful: list[tuple[str, str, str, str, int]] = []
    today = _moment(row["prompt"].partition("Today is ")[2].partition(".")[0])
    pending = re.findall(
        r"v\d+%[-\w]+", row["prompt"].partition("Start by reading the documents: ")[2].split("\n\n")[0]
    )
    read: set[str] = set()
    while "v0" not in values:
        while pending:
            document = pending.pop(0)
            if document in read:
                continue
            read.add(document)
            for line in row["files"][document].split("\n"):
                if line.startswith("- v"):
                    pending.append(line[2:])
                elif rule := re.search(r"'(v\d+)%X'", line):
                    rules.append((rule[1], _expression(line)))
                elif unless := _unless(line):
                    doubtful.append(unless)
                elif dated := _dated(line):
                    name, before, after, change = dated
                    values[name] = _typed(before if today < change else after)
                else:
                    _note(line, values)
        while known := [one for one in doubtful if one[3] in values]:
            for name, below, otherwise, given, limit in known:
                values[name] = _typed(below if int(values[given]) < limit else otherwise)
            doubtful = [one for one in doubtful if one not in known]
        for rule_ in list(rules):
            target, expression = rule_
            if set(re.findall(r"v\d+", expression)) <= values.keys():
                rules.remove(rule_)
                pending.append(f"{target}%{eval(expression, {'__builtins__': {}, **_NAMES}, values)}")  # noqa: S307
        if not pending and "v0" not in values:
            return None
    return str(values["v0"])


_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def _moment(day: str) -> tuple[int, ...]:
    """A day that can be compared; nothing, where there is none."""
    parts = day.split()
    return (int(parts[2]), _MONTHS.index(parts[1]), int(parts[0])) if len(parts) == 3 else ()


def _typed(word: str) -> int | str:
    return int(word) if word.lstrip("-").isdigit() else word


def _unless(line: str) -> tuple[str, str, str, str, int] | None:
    """A variable, what it is if another is below a number, what it is otherwise, that one, and the number."""
    condition = re.search(r"(v\d+) is below (-?\d+)", line)
    if condition is None:
        return None
    rest = line.replace(condition[0], "?").rstrip(".")
    name = re.search(r"v\d+", rest)
    assert name, line
    said = rest.replace("it equals", "equals")
    first, second = re.findall(r"(?:is|equals|value|else|then|and|:) (-?\w+)(?=[;, ]|$)", said)
    below, otherwise = (second, first) if "unless" in line else (first, second)
    return name[0], below, otherwise, condition[1], int(condition[2])


def _dated(line: str) -> tuple[str, str, str, tuple[float, ...]] | None:
    """A variable, what it was before a day, what it is from then on, and that day."""
    days = re.findall(r"\d+ (?:" + "|".join(_MONTHS) + r") \d{4}", line)
    name = re.match(r"(?:From .*? on |On \d+ \w+ \d+ )?(v\d+)\b", line)
    if not days or name is None:
        return None
    change: tuple[float, ...] = _moment(days[-1])
    if "up to and including" in line:
        before, after = re.findall(r"(?:: |, )(-?\w+) ", line)
        change = (*change[:2], change[2] + 0.5)
    elif "changes from" in line:
        before, after = re.findall(r"(?:from|to) (-?\w+)", line)
    elif line.startswith("From"):
        after, before = re.findall(r"equals (-?\w+)", line)
    else:
        before, after = re.findall(r"(?:is|and) (-?\w+)", line)
    return name[1], before, after, change


def _expression(line: str) -> str:
    found = re.search(
        r"(?:X = |the value of |X being |, with )((?:\d|v\d|[ +*()-]|reverse|swapcase)+?)(?: as X)?[,.]", line
    )
    assert found, line
    return found[1].strip()


def _note(line: str, values: dict[str, int | str]) -> None:
    for pattern in _FIELDS:
        if found := pattern.match(line):
            name, value = (found["n"], found["v"]) if "n" in pattern.groupindex else found.groups()
            values[name] = int(value) if re.fullmatch(r"-?\d+", value) else value


def _program(row: dict[str, Any]) -> str:
    with tempfile.TemporaryDirectory() as name:
        for file, text in row["files"].items():
            (Path(name) / file).write_text(text)
        (Path(name) / "clock_.py").write_text(_CLOCK)
        command = [sys.executable, f"{name}/clock_.py", name]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


# -- LUMINA ------------------------------------------------------------------------------------------------


def lumina(folder: Path, golds: int) -> Solved:
    """The calls of an optimal policy, and which calls were among the best."""
    words = ["lumina", "--horizons", "5,12,30", "--seeds", f"100-{99 + -(-golds // 9)}", "--players", "0.9"]
    for row in lines(write(folder, *words)):
        yield f"{row['id']} horizon", _HORIZONS[row["task"]](row["world"]) == row["horizon"]
        if row["task"] in _FLAGS:
            [trajectory] = row["trajectories"]
            yield f"{row['id']} steps", _FLAGS[row["task"]](row["world"], trajectory["steps"])


def _list_horizon(world: dict[str, Any]) -> int:
    places = iter(world["initial"])
    assert all(value in places for value in world["target"]), "a subsequence"
    return len(world["initial"]) - len(world["target"]) + 1


def _tree_horizon(world: dict[str, Any]) -> int:
    """All whose children are not told are asked about, but for the node itself; then comes the end."""
    told = {node for node, _, children in world["given"] if children is not None}
    untold = sum(node["id"] not in told for node in world["tree"])
    has_it = [node["id"] for node in world["tree"] if node["val"] == world["value"]]
    assert has_it == ([world["answer"]] if world["answer"] else [])
    return untold + (0 if has_it else 1)


def _grid_horizon(world: dict[str, Any]) -> int:
    size, holes = world["size"], set(map(tuple, world["holes"]))
    best: dict[tuple[int, ...], tuple[int, int]] = {}
    queue = [(0, 0, tuple(world["start"]))]
    while queue:
        cost, moves, place = heapq.heappop(queue)
        if place in best:
            continue
        best[place] = cost, moves
        for row, column in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            there = (place[0] + row, place[1] + column)
            if all(0 <= part < size for part in there):
                heapq.heappush(queue, (cost + 1 + 3 * (there in holes), moves + 1, there))
    cost, moves = best[tuple(world["goal"])]
    assert cost == world["cost"]
    return moves + 1


def _list_steps(world: dict[str, Any], steps: list[dict[str, Any]]) -> bool:
    """Up to the first call that was none of the best: only the leftmost element too many may go."""
    left, target = list(world["initial"]), world["target"]
    for step in steps:
        at = next(
            (place for place, value in enumerate(left) if place >= len(target) or value != target[place]),
            None,
        )
        best = (
            step["tool"] == "done"
            if at is None
            else (step["tool"], step["arguments"].get("id")) == ("pop", at)
        )
        if best != step["optimal"]:
            return False
        if not best:
            return True
        if at is not None:
            left.pop(at)
    return True


def _tree_steps(world: dict[str, Any], steps: list[dict[str, Any]]) -> bool:
    known = {node: value for node, value, _ in world["given"]}
    frontier = {node for node, _, children in world["given"] if children is None}
    for step in steps:
        goal = [node for node, value in known.items() if value == world["value"]]
        node = step["arguments"].get("id")
        if goal:
            best = step["tool"] == "found" and node in goal
        else:
            best = (
                step["tool"] == "get_children" and node in frontier
                if frontier
                else step["tool"] == "unreachable"
            )
        if best != step["optimal"]:
            return False
        if step["tool"] == "get_children" and step["ok"]:
            frontier.discard(node)
            for child in json.loads(step["result"]):
                if child["id"] not in known:
                    known[child["id"]] = child["val"]
                    frontier.add(child["id"])
    return True


_HORIZONS: dict[str, Callable[[dict[str, Any]], int]] = {
    "listworld": _list_horizon, "treeworld": _tree_horizon, "gridworld": _grid_horizon,
}  # fmt: skip
_FLAGS: dict[str, Callable[[dict[str, Any], list[dict[str, Any]]], bool]] = {
    "listworld": _list_steps, "treeworld": _tree_steps,
}  # fmt: skip


# -- AgentLongBench ----------------------------------------------------------------------------------------


def agentlongbench(folder: Path, golds: int) -> Solved:
    """Every question from the messages of its history."""
    out = folder / "rollouts"
    words = ["--lengths", "32k", "--per-type", str(-(-golds // 32)), "--seed", "77", "--out", str(out)]
    subprocess.run([sys.executable, "-m", "mesocosm", "dataset", "agentlongbench", *words], check=True)
    histories = {
        row["id"]: row["messages"] for file in (out / "trajectories").iterdir() for row in lines(file)
    }
    for file in sorted((out / "questions").iterdir()):
        for row in lines(file):
            found = _answer(row["question"], histories[row["trajectory"]], row["type"])
            same = (
                sorted(found) == sorted(row["answer"])
                if row["answer_kind"] == "set"
                else found == row["answer"]
            )
            yield row["id"], same


def _answer(question: str, messages: list[dict[str, Any]], type_: str) -> list[str]:
    said: dict[int, list[tuple[str, list[tuple[str, bool]]]]] = {}
    results: dict[int, dict[str, list[str]]] = {}
    number = 0
    for message in messages:
        text = message["content"]
        if message["role"] == "user":
            number = int(text.split()[1].rstrip(":"))
            said[number] = [_marked(line) for line in text.split("\n") if line.startswith("- ")]
        elif message["role"] == "tool":
            told = json.loads(text)
            parts = told.get("per_section", [])
            results[number] = {part["section"]: part["candidates"] for part in parts} or {
                "": told["intersection"]
            }
    rounds = [int(one) for one in re.findall(r"\bround (\d+)", question)]
    if type_ == "count_frequency_tool":
        name = re.search(r"the \w+ (\w+) occur", question)
        assert name
        return [str(sum(names.count(name[1]) for names in results[rounds[0]].values()))]
    if type_ == "find_duplicates_tool":
        name = re.search(r"the \w+ (\w+) occur", question)
        assert name
        both = all(any(name[1] in names for names in results[at].values()) for at in rounds[:2])
        return ["yes" if both else "no"]
    if type_ == "find_target_offsets_tool":
        after = re.search(r"directly after (\w+)\?", question)
        section = re.search(r"of the section (.+?) in the result", question)
        assert after
        names = results[rounds[0]][section[1] if section else ""]
        at = names.index(after[1])
        return names[at + 1 : at + 3]
    if type_ == "count_correctness_env":
        return [str(sum(all(right for _, right in values) for _, values in said[rounds[0]]))]
    if type_ == "count_frequency_env":
        asked = re.search(r"the value (.+?) stand in the section (.+?), whether", question)
        assert asked
        held = (any(value == asked[1] for value, _ in dict(one)[asked[2]]) for one in said.values())
        return [str(sum(held))]
    if type_ == "find_round_largest_value_env":
        asked = re.search(r"the number in the section (.+?) the highest", question)
        assert asked
        section_name = asked[1]
        return [str(max(said, key=lambda at: int(dict(said[at])[section_name][0][0])))]
    if type_ == "weighted_summation_env":
        points = dict(
            re.findall(
                r"([A-Z]\w*(?: \w+)?|attr_\d) (\d+)(?=[,.])", question.partition("Points by section:")[2]
            )
        )
        scores = [
            sum(int(points[name]) * sum(right for _, right in values) for name, values in said[at])
            for at in rounds[:2]
        ]
        return [str(abs(scores[0] - scores[1]))]
    lists = list(results[rounds[0]].values()) if rounds else [one[""] for one in results.values()]
    return [name for name in lists[0] if all(name in names for names in lists)]


def _marked(line: str) -> tuple[str, list[tuple[str, bool]]]:
    section, _, values = line[2:].partition(": ")
    return section, [
        (value.rpartition(" (")[0], value.rpartition(" (")[2].startswith("correct"))
        for value in values.split("; ")
    ]


# -- LongProc ----------------------------------------------------------------------------------------------


def longproc(folder: Path, golds: int) -> Solved:
    """The whole text of routes, beliefs and countdown; the plan of a trip; what programs print; tables."""
    names = "routes,beliefs,countdown,travel,programs,tables"
    words = ["--procedure", names, "--level", "0.5k,2k", "--seeds", f"100-{99 + -(-golds // 12)}"]
    for row in lines(write(folder, "longproc", *words)):
        case = row["prompt"].rpartition("# The case\n")[2].strip()
        given, _, question = case.rpartition("\n\n")
        yield row["id"], _PROCEDURES[row["procedure"]](given, question, row)


def _block(gold: str, tag: str) -> list[str]:
    return gold.split(f"<{tag}>\n")[1].split(f"\n</{tag}>")[0].split("\n")


def _routes(given: str, question: str, row: dict[str, Any]) -> bool:
    onwards = {a: (means, b) for a, means, b in re.findall(r"From (\w+) there is a (\w+) to (\w+)\.", given)}
    at, end = re.findall(r"from (\w+) to (\w+)", question)[0]
    written = []
    while at != end:
        means, there = onwards[at]
        written.append(f"From {at}, take a {means} to {there}.")
        at = there
    return written == _block(row["gold"], "Route")


def _beliefs(given: str, question: str, row: dict[str, Any]) -> bool:
    asked = re.search(r"Where does (\w+) believe the (.+?) to be", question)
    assert asked
    who, what = asked.groups()
    room = place = belief = "None"
    written = []
    for number, line in enumerate(given.split("\n")):
        before, was = room, place
        text = line.partition(": ")[2].rstrip(".")
        if number == 0:
            parts = dict(part.split(" is in the ") for part in text.split("; "))
            room, place = parts[who], parts[f"the {what}"]
        else:
            if text.startswith(f"{who} "):
                if moved := re.search(r"(?:goes to|enters) the (.+?)(?: and puts|$)", text):
                    room = moved[1]
                elif "leaves" in text:
                    room = "None"
            if put := re.search(rf"puts the {re.escape(what)}(?:,[^,]*,)? into the (.+)$", text):
                place = put[1]
        sees = room != "None" and place.startswith(f"{room}'s ")
        belief = place if sees else belief
        changes = (
            f"{who} location {'un' * (room == before)}changed; {what} location {'un' * (place == was)}changed"
        )
        note = "initial state" if number == 0 else changes
        written.append(
            f"- Step {number}: ({note}) {{{who} location: {room}; {what} location: {place}; "
            f"{who} sees {what}: {sees}; {who}'s belief on {what}: {belief}}}"
        )
    return written == _block(row["gold"], "Tracking") and [belief] == _block(row["gold"], "Belief")


_SIGNS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv,
}  # fmt: skip


def _countdown(given: str, question: str, row: dict[str, Any]) -> bool:
    first, second = given.split("\n")
    numbers, target = [int(one) for one in first.split()[1:]], int(second.split()[1])
    text = [f"Numbers {' '.join(map(str, numbers))}, target {target}"]

    def search(state: list[int], depth: int, path: list[str]) -> list[str] | None:
        for one, other in itertools.combinations(range(len(state)), 2):
            rest = [value for at, value in enumerate(state) if at not in (one, other)]
            if rest:
                text.append(
                    f"{'>' * depth} Pick {state[one]} and {state[other]}, left {' '.join(map(str, rest))}"
                )
            a, b = sorted((state[one], state[other]), reverse=True)
            mark = ">" * (depth + bool(rest))
            for sign, act in _SIGNS.items():
                if sign == "/" and (b == 0 or a % b):
                    text.append(f"{mark} {a} / {b} is not whole, drop")
                    continue
                made = act(a, b)
                said = f"{a} {sign} {b} = {made}"
                if made > 2000:
                    text.append(f"{mark} {said} exceeds 2000, drop")
                elif made == 0:
                    text.append(f"{mark} {said} is not positive, drop")
                elif rest:
                    text.append(f"{mark} {said}, now {' '.join(map(str, [made, *rest]))}")
                    if found := search([made, *rest], depth + 2, [*path, said]):
                        return found
                else:
                    text.append(f"{mark} {said}, {'found' if made == target else f'not {target}'}")
                    if made == target:
                        return [*path, said]
        return None

    found = search(numbers, 1, [])
    return text == _block(row["gold"], "Search") and found == _block(row["gold"], "Solution")


def _travel(given: str, question: str, row: dict[str, Any]) -> bool:
    """The one order of the cities that keeps dates and flights."""
    stays = [
        (city, int(days), int(start) if start else None)
        for city, days, start in re.findall(
            r"Stay: (\w+) for (\d+) days(?:, from day (\d+) to day \d+)?\.", given
        )
    ]
    flights = set(re.findall(r"Flight: from (\w+) to (\w+)\.", given))
    plans: list[list[str]] = []

    def extend(day: int, here: str, left: list[tuple[str, int, int | None]], plan: list[str]) -> None:
        if not left:
            plans.append(plan)
        for stay in left:
            city, days, start = stay
            if (start is None or start == day) and (not here or (here, city) in flights):
                end = day + days - 1
                flight = [f"Day {day}: fly from {here} to {city}."] if here else []
                said = f"Day {day}-{end}: stay in {city} for {days} days."
                extend(end, city, [one for one in left if one is not stay], [*plan, *flight, said])

    extend(1, "", stays, [])
    return plans == [_block(row["gold"], "Plan")]


def _programs(given: str, question: str, row: dict[str, Any]) -> bool:
    """The gold prints what the tests say; the description is not followed again."""
    program = row["gold"].split("```python\n")[1].rsplit("\n```", 1)[0]
    ast.parse(program)
    for data, wanted in row["case"]["tests"][:3]:
        done = subprocess.run(
            [sys.executable, "-c", program], input=data, capture_output=True, text=True, check=False
        )
        if done.stdout.split() != wanted.split():
            return False
    return True


class _Page(HTMLParser):
    """Content under one second-level heading, as tokens: tags and texts."""

    def __init__(self, heading: str) -> None:
        super().__init__()
        self.heading, self.tokens, self._inside, self._title = heading, [], False, False  # type: ignore[var-annotated]

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._title = tag == "h2"
        if self._inside:
            self.tokens.append(f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self._inside = False
        self._title = False
        if self._inside:
            self.tokens.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self._title:
            self._inside = data.strip() == self.heading
        elif self._inside:
            self.tokens.append(data)


def _tables(given: str, question: str, row: dict[str, Any]) -> bool:
    """Every cell of the gold stands in the items under the heading, in their order."""
    heading = re.search(r'under the heading "(.+?)"', question)
    assert heading
    page = _Page(heading[1])
    page.feed(given)
    text = "".join(page.tokens)
    text = re.sub(r"<br>", " ", text.replace("</br>", ""))
    text = re.sub(r"</li><li>", ", ", text)
    flat = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "\n", text).replace("\n ", "\n"))
    at = 0
    for line in row["gold"].split("\n")[2:-1]:
        title, *cells = line.split("\t")
        at = flat.find(title, at)
        if at < 0 or any(
            cell != "N/A" and cell not in flat[max(0, at - 2_000) : at + 4_000] for cell in cells
        ):
            return False
        at += 1
    return True


_PROCEDURES: dict[str, Callable[[str, str, dict[str, Any]], bool]] = {
    "routes": _routes, "beliefs": _beliefs, "countdown": _countdown, "travel": _travel, "programs": _programs,
    "tables": _tables,
}  # fmt: skip


def main() -> int:
    """Solve again what is asked for."""
    solvers = {"lore": lore, "lumina": lumina, "agentlongbench": agentlongbench, "longproc": longproc}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("papers", nargs="*", choices=[[], *solvers], default=[])
    parser.add_argument("--golds", type=int, default=200)
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        for paper in options.papers or solvers:
            solved = list(solvers[paper](Path(name), options.golds))
            differing = [what for what, same in solved if not same]
            wrong += len(differing)
            print(
                f"{paper}: {len(solved) - len(differing)} of {len(solved)} golds agree {differing[:5] or ''}"
            )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
