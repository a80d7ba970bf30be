"""The right answers, derived again by other programs from what a prompt shows."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from itertools import combinations, pairwise, permutations

import pytest

from mesocosm.errors import UsageError
from mesocosm.kits.procedures import TOLERANCE, ProcedureInstance, make_instance, procedure_names

LEVELS = (500, 2_000)
INSTANCES = [(name, level, seed) for name in procedure_names() for level in LEVELS for seed in (0, 1)]


def shown(made: ProcedureInstance) -> str:
    """The case as a prompt shows it."""
    return made.prompt.rpartition("# The case\n\n")[2]


def block(text: str, tag: str) -> list[str]:
    return text.split(f"<{tag}>\n")[1].split(f"\n</{tag}>")[0].split("\n")


@pytest.mark.parametrize(("name", "level", "seed"), INSTANCES)
def test_a_gold_has_the_tokens_of_its_level(name: str, level: int, seed: int) -> None:
    assert abs(make_instance(name, level, seed).output_tokens / level - 1) <= TOLERANCE


@pytest.mark.parametrize(("level", "seed"), [(500, 0), (2_000, 1), (8_000, 2)])
def test_routes_by_walking_backwards(level: int, seed: int) -> None:
    made = make_instance("routes", level, seed)
    asked = re.search(r"Find the route from (\w+) to (\w+)\.", shown(made))
    links = re.findall(r"From (\w+) there is a (\w+) to (\w+)\.", shown(made))
    assert asked
    into: dict[str, list[tuple[str, str]]] = {}
    for source, means, target in links:
        into.setdefault(target, []).append((source, means))
    routes = [(asked[2], ())]
    found = []
    while routes:
        at, steps = routes.pop()
        if at == asked[1]:
            found.append(steps)
            continue
        taken = {step.split()[1] for step in steps}
        for source, means in into.get(at, []):
            if f"{source}," not in taken:
                routes.append((source, (f"From {source}, take a {means} to {at}.", *steps)))
    assert [list(steps) for steps in found] == [block(made.gold, "Route")]


@pytest.mark.parametrize(("level", "seed"), [(500, 0), (2_000, 1), (8_000, 2)])
def test_beliefs_by_reading_the_story_anew_for_every_step(level: int, seed: int) -> None:
    made = make_instance("beliefs", level, seed)
    asked = re.search(r"Where does (\w+) believe the (.+?) to be", shown(made))
    assert asked
    who, what = asked[1], asked[2]
    room: str | None = None
    place = belief = None
    lines = []
    for number, line in enumerate(line for line in shown(made).split("\n") if line.startswith("Step ")):
        before = room, place
        for text in line.split(": ", 1)[1].rstrip(".").split("; "):
            if start := re.fullmatch(rf"{who} is in the (.+)", text):
                room = start[1]
            if start := re.fullmatch(rf"the {re.escape(what)} is in the (.+)", text):
                place = start[1]
            if text.startswith(f"{who} "):
                if went := re.match(rf"{who} (?:goes to|enters) the (.+?)(?: and puts|$)", text):
                    room = went[1]
                if "leaves" in text:
                    room = None
            if put := re.search(
                rf"puts the {re.escape(what)}(?:, which was .+ before,)? into the (.+)$", text
            ):
                place = put[1]
        sees = room is not None and place is not None and place.startswith(f"{room}'s ")
        belief = place if sees else belief
        moved = [
            f"{name} location {'unchanged' if old == new else 'changed'}"
            for name, old, new in ((who, before[0], room), (what, before[1], place))
        ]
        note = "; ".join(moved) if number else "initial state"
        lines.append(
            f"- Step {number}: ({note}) {{{who} location: {room}; {what} location: {place}; "
            f"{who} sees {what}: {sees}; {who}'s belief on {what}: {belief}}}"
        )
    assert lines == block(made.gold, "Tracking")
    assert [str(belief)] == block(made.gold, "Belief")


def search(numbers: list[int], target: int, depth: int, lines: list[str]) -> list[str] | None:
    """The search of the countdown prompt, written from the prompt, with a list instead of generators."""
    last = len(numbers) == 2
    for i, j in combinations(range(len(numbers)), 2):
        rest = numbers[:i] + numbers[i + 1 : j] + numbers[j + 1 :]
        at = depth if last else depth + 1
        if not last:
            lines.append(f"{'>' * at} Pick {numbers[i]} and {numbers[j]}, left {' '.join(map(str, rest))}")
        a, b = sorted((numbers[i], numbers[j]), reverse=True)
        for sign, result in (("+", a + b), ("-", a - b), ("*", a * b), ("/", a / b)):
            head = f"{'>' * (at + 1)} {a} {sign} {b}"
            if sign == "/" and result != int(result):
                lines.append(f"{head} is not whole, drop")
            elif result > 2000:
                lines.append(f"{head} = {result} exceeds 2000, drop")
            elif result == 0:
                lines.append(f"{head} = 0 is not positive, drop")
            elif last:
                found = int(result) == target
                lines.append(f"{head} = {int(result)}, {'found' if found else f'not {target}'}")
                if found:
                    return [f"{a} {sign} {b} = {int(result)}"]
            else:
                state = [int(result), *rest]
                lines.append(f"{head} = {int(result)}, now {' '.join(map(str, state))}")
                if (deeper := search(state, target, at + 1, lines)) is not None:
                    return [f"{a} {sign} {b} = {int(result)}", *deeper]
    return None


@pytest.mark.parametrize(("level", "seed"), [(500, 0), (2_000, 1), (8_000, 2), (32_000, 0)])
def test_countdown_by_a_second_search(level: int, seed: int) -> None:
    made = make_instance("countdown", level, seed)
    numbers = [int(word) for word in re.search(r"Numbers: ([\d ]+)", shown(made))[1].split()]  # type: ignore[index]
    target = int(re.search(r"Target: (\d+)", shown(made))[1])  # type: ignore[index]
    lines = [f"Numbers {' '.join(map(str, numbers))}, target {target}"]
    equations = search(numbers, target, 0, lines)
    assert lines == block(made.gold, "Search")
    assert equations == block(made.gold, "Solution")


@pytest.mark.parametrize(("level", "seed"), [(500, 0), (500, 1), (2_000, 1)])
def test_a_trip_has_one_plan_of_all_orders(level: int, seed: int) -> None:
    made = make_instance("travel", level, seed)
    stays = re.findall(r"Stay: (\w+) for (\d+) days(?:, from day (\d+) to day \d+)?\.", shown(made))
    flights = set(re.findall(r"Flight: from (\w+) to (\w+)\.", shown(made)))
    plans = []
    for order in permutations(stays) if len(stays) < 9 else []:
        day, fits = 1, True
        for _, days, start in order:
            fits = fits and (not start or int(start) == day)
            day += int(days) - 1
        if fits and all((a[0], b[0]) in flights for a, b in pairwise(order)):
            plans.append([city for city, _, _ in order])
    stayed = re.findall(r"stay in (\w+) for", "\n".join(block(made.gold, "Plan")))
    assert plans == [stayed]


class Reader(HTMLParser):
    """The headings of a page and its texts in order, each with the tags that it stands in."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("img", "br", "input"):
            self._open.append(tag)
        self.texts.append((tuple(self._open), f"<{tag}>"))

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()
        self.texts.append((tuple(self._open), f"</{tag}>"))

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((tuple(self._open), data.strip()))


@pytest.mark.parametrize("seed", range(6))
def test_titles_of_a_table_are_those_under_the_heading(seed: int) -> None:
    made = make_instance("tables", 500, seed)
    heading = re.search(r'under the heading "(.+?)"', shown(made))
    reader = Reader()
    reader.feed(shown(made))
    inside, titles = False, []
    cells = 0
    for tags, text in reader.texts:
        if "h2" in tags and not text.startswith("<"):
            inside = bool(heading) and text == heading[1]
        if text == "<tr>":
            cells = 0
        if text == "<td>":
            cells += 1
        first = tags[-1:] == ("td",) and cells == 1
        if inside and (("h3" in tags) or first) and not text.startswith("<"):
            titles.append(text)
    wanted = [line.split("\t")[0] for line in made.gold.split("\n")[2:-1]]
    if "Only" not in shown(made).rpartition("Properties:")[2]:
        assert wanted == titles
    else:
        at = iter(titles)
        assert all(title in at for title in wanted), "not in the order of the page"
        assert 0 < len(wanted) <= len(titles)


@pytest.mark.parametrize("seed", [0, 1])
def test_programs_print_what_their_description_was_read_to_print(seed: int) -> None:
    made = make_instance("programs", 500, seed)
    code = "\n".join(made.gold.split("\n")[1:-1])
    for given, wanted in made.case.tests:  # type: ignore[attr-defined]
        done = subprocess.run([sys.executable, "-c", code], input=given, text=True, capture_output=True)
        assert done.stdout == wanted


def test_the_same_seed_gives_the_same_bytes_in_another_process() -> None:
    names = ["tables", "programs", "routes", "beliefs", "countdown", "travel"]
    code = (
        "from mesocosm.kits.procedures.rows import rows; import sys; "
        "from mesocosm.families.workers.processes import Processes; "
        f"sys.stdout.buffer.write(b''.join(rows({names}, [500], [3], Processes(1))))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, env={"PYTHONHASHSEED": seed}
        )
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stdout.count(b"\n") == 6


@pytest.mark.parametrize(
    ("name", "level"), [("routes", 10), ("countdown", 100), ("travel", 50), ("programs", 9)]
)
def test_too_small_a_level_is_refused_with_the_nearest(name: str, level: int) -> None:
    with pytest.raises(UsageError, match=r"the nearest level is \d+"):
        make_instance(name, level, 0)


def test_too_large_a_level_is_refused() -> None:
    with pytest.raises(UsageError, match="levels go up to"):
        make_instance("routes", 1_000_000, 0)
