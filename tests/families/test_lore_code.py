"""Programs over many modules: that they run to the answer, what their worlds contain, checker and solver."""

from __future__ import annotations

import ast
import random
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesocosm.checkers.lore_code import MUTANTS
from mesocosm.doors.mcp import McpTools, world_server
from mesocosm.errors import UsageError
from mesocosm.families.episode import Episode
from mesocosm.families.family import Family, load_family
from mesocosm.families.instances import Instance, build_instance
from mesocosm.families.oracle import Made
from mesocosm.generators.lore_code import Expected, Params, compose
from mesocosm.generators.lore_code.composing import Codebase
from mesocosm.generators.lore_code.writing import Author
from mesocosm.kits.prose import Prose
from mesocosm.kits.weaving import Rule, TopDown, Values, load_operators
from mesocosm.kits.weaving.composition import File
from mesocosm.sandbox import bubblewrap, runtime
from mesocosm.sandbox.jobs import CODE, WORKSPACE, Job, JobLimits
from mesocosm.servers.documents.models import Document
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.services.world import World
from mesocosm.solvers.lore_code import value_of
from mesocosm.worlds.randomness import Dice
from tests.confinement import needs_sandbox

STANDARD, HARD = load_family("lore_code"), load_family("lore_code_hard")
EXPERT = load_family("lore_code_expert")
RUNNER = Path(__file__).parents[1] / "virtual_time.py"
EVERYTHING = ["addition", "subtraction", "multiplication", "weighting", "conditional", "asynchronous"]
ARITHMETIC = ["addition", "subtraction", "multiplication", "weighting", "asynchronous"]

Build = Callable[..., Instance]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """``build(seed, operations=5, ...)``: an instance with these parameters."""
    built: list[Path] = []

    def make(seed: int = 0, *, family: Family = STANDARD, **parameters: Any) -> Instance:
        path = tmp_path / f"instance-{len(built)}"
        built.append(path)
        return build_instance(family, seed, path, parameters=parameters)

    return make


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    return build_instance(HARD, 1, tmp_path_factory.mktemp("lore_code") / "instance", target=8_000)


@pytest.fixture
def episode(instance: Instance, tmp_path: Path) -> Episode:
    return Episode.create(tmp_path / "episode", instance.path, HARD)


def composed(family: Family, seed: int, **parameters: Any) -> Codebase:
    params = family.params(**parameters)
    assert isinstance(params, Params)
    return compose(Dice(family.name, seed), params)


def write(files: Iterable[File], folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for file in files:
        (folder / file.id).write_text(file.text)
    return folder


def executed(folder: Path) -> str:
    """What the program prints, run with a clock that does not wait, in a sandbox."""
    command = (runtime.PYTHON, f"{CODE}/run.py", WORKSPACE)
    ended = bubblewrap.Bubblewrap().run(Job(command, folder, JobLimits(), {"run.py": RUNNER.read_bytes()}))
    assert ended.status == 0, ended.stderr.text()
    return ended.stdout.text()


def executed_plainly(*command: object) -> str:
    arguments = [sys.executable, "-I", "-B", *map(str, command)]
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout


def understood(files: Iterable[File]) -> tuple[str, list[str]]:
    """What the solver's interpreter finds, and the modules that it reads."""
    texts, read = {file.id: file.text for file in files}, []

    def take(name: str) -> str:
        read.append(f"{name}.py")
        return texts[f"{name}.py"]

    return str(value_of("main", take)), read


def expected_of(instance: Instance) -> Expected:
    assert isinstance(instance.expected, Expected)
    return instance.expected


def contents(instance: Instance) -> dict[str, str]:
    connection = sqlite3.connect(instance.path / "world" / "documents.db")
    try:
        return dict(connection.execute("SELECT id, content FROM documents"))
    finally:
        connection.close()


def submit(episode: Episode, answer: str) -> set[str]:
    """The checks that fail after this answer."""
    outcome = episode.world.call("submit_answer", "submit_answer", {"answer": answer})
    assert outcome.status == "ok", outcome.text
    return failures(episode)


def failures(episode: Episode) -> set[str]:
    verdict = episode.grade()
    assert verdict.verdict in ("passed", "failed"), verdict.error
    return {check.name for check in verdict.findings if not check.passed}


def solve(instance: Instance, path: Path, family: Family) -> Episode:
    episode = Episode.create(path, instance.path, family)
    with McpTools(world_server(episode.world)) as tools:
        family.solve(tools, episode.prompt)
    return episode


# -- the programs run --------------------------------------------------------------------------------------


@needs_sandbox
@pytest.mark.parametrize(
    ("family", "operations", "seeds", "filler"),
    [
        (STANDARD, 1, range(4), 0),
        (STANDARD, 20, range(2), 3_000),
        (STANDARD, 350, range(1), 0),
        (HARD, 1, range(6), 0),
        (HARD, 20, range(4), 3_000),
        (HARD, 100, range(1), 0),
        (HARD, 350, range(1), 5_000),
        (EXPERT, 20, range(4), 3_000),
    ],
    ids=lambda value: value.name if isinstance(value, Family) else str(value),
)
def test_executing_the_program_gives_the_answer(
    tmp_path: Path, family: Family, operations: int, seeds: range, filler: int
) -> None:
    for seed in seeds:
        codebase = composed(family, seed, operations=operations, filler_tokens=filler)
        assert executed(write(codebase.files, tmp_path / str(seed))) == codebase.answer
        assert understood(codebase.files)[0] == codebase.answer


@needs_sandbox
def test_a_program_deeper_than_pythons_recursion_limit_runs(tmp_path: Path) -> None:
    codebase = composed(HARD, 0, operations=350, leaf_threshold=2, collection_probability=1)
    assert codebase.height > 350
    assert executed(write(codebase.files, tmp_path / "x")) == understood(codebase.files)[0] == codebase.answer


def test_a_program_without_concurrency_runs_as_it_stands(tmp_path: Path) -> None:
    codebase = composed(STANDARD, 5, operations=30, filler_tokens=2_000)
    assert executed_plainly("-c", _RUN, write(codebase.files, tmp_path / "x")) == codebase.answer


_RUN = "import runpy, sys; sys.path[0:0] = sys.argv[1:]; runpy.run_module('main', run_name='__main__')"


def test_the_virtual_clock_wakes_tasks_as_the_real_one_does(tmp_path: Path) -> None:
    codebase = composed(HARD, 2, operations=6, operators=["asynchronous"])
    assert executed_plainly(RUNNER, write(codebase.files, tmp_path / "virtual")) == codebase.answer

    def in_real_time(parts: int) -> object:
        slept = [
            File(f.id, re.sub(r"sleep\((\d+)\)", rf"sleep(\1 / {parts})", f.text)) for f in codebase.files
        ]
        return executed_plainly("-c", _RUN, write(slept, tmp_path / f"real-{parts}"))

    # A machine with much to do wakes tasks late: then they sleep for longer.
    assert any(in_real_time(parts) == codebase.answer for parts in (200, 50, 10, 2))


def test_the_worked_example_of_the_paper_returns_115(tmp_path: Path) -> None:
    numbers = count()
    weaver = TopDown(
        random.Random(0), lambda: f"v{next(numbers)}", Values(random.Random(0)), root="main", modulus=997
    )
    addition, subtraction = load_operators(["addition", "subtraction"])
    weaver.tree.root.rule = None
    weaver.expand(weaver.tree.root, addition, 2)
    weaver.tree.root.rule = Rule(addition, ("v0", "v1"), "v0 + v1")
    v1 = weaver.tree.root.children[1]
    weaver.expand(v1, subtraction, 3)
    v1.rule = Rule(subtraction, ("v3", "v4", "v2"), "v3 + v4 - v2")
    tree = weaver.finish()
    values = {"v0": 44, "v2": 24, "v3": 45, "v4": 50}
    for leaf in tree.leaves():
        leaf.value = values[leaf.id]
    author = Author(random.Random(0), Prose(random.Random(0)), Params(distractor_functions=0), avoid=115)
    modules = [author.module(node, tree.height) for node in tree.nodes()]
    files = [File(module.id, module.text()) for module in modules]
    assert sorted(file.id for file in files) == ["main.py", "v0.py", "v1.py", "v2.py", "v3.py", "v4.py"]
    assert "return v3.main() + v4.main() - v2.main()" in "".join(file.text for file in files)
    assert (tree.operations, tree.height) == (2, 2)
    assert understood(files) == ("115", ["main.py", "v0.py", "v1.py", "v3.py", "v4.py", "v2.py"])
    assert executed_plainly("-c", _RUN, write(files, tmp_path / "x")) == "115"


def test_an_operator_of_the_users_own_becomes_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = Path(__file__).parents[2] / "docs/guides/weave-operators.md"
    definition = re.findall(r"```python\n(.*?)```", guide.read_text(), re.DOTALL)[0]
    (tmp_path / "own_operators").mkdir()
    (tmp_path / "own_operators/square.py").write_text(definition)
    monkeypatch.syspath_prepend(str(tmp_path))
    codebase = composed(STANDARD, 0, operations=5, operators=["own_operators.square"])
    assert re.search(r"v(\d+)\.main\(\) \* v\1\.main\(\)", "".join(file.text for file in codebase.files))
    assert executed_plainly("-c", _RUN, write(codebase.files, tmp_path / "x")) == codebase.answer
    assert codebase.steps[-1].load() is load_operators(["own_operators.square"])[0]
    for module in [name for name in sys.modules if name.startswith("own_operators")]:
        del sys.modules[module]


# -- properties --------------------------------------------------------------------------------------------

PROPERTY = settings(max_examples=25, deadline=None, derandomize=True, database=None)
PARAMS = st.builds(
    Params,
    operations=st.integers(1, 60),
    operators=st.lists(st.sampled_from(EVERYTHING), min_size=1, max_size=6, unique=True).map(
        lambda names: ["subtraction", *names]
    ),
    max_children=st.integers(2, 5),
    leaf_threshold=st.integers(2, 40),
    collection_probability=st.sampled_from([0.0, 0.5, 1.0]),
    negative_share=st.sampled_from([0.0, 0.4]),
    largest_value=st.sampled_from([60, 99, 400]),
    distractor_functions=st.integers(0, 3),
    distractor_fields=st.integers(0, 3),
    remark_share=st.sampled_from([0.0, 0.6]),
    distractor_modules=st.integers(0, 30),
)


def imports_of(text: str) -> set[str]:
    names = {
        name.name for node in ast.parse(text).body if isinstance(node, ast.Import) for name in node.names
    }
    return names - {"asyncio", "sys"}


@PROPERTY
@given(params=PARAMS, seed=st.integers(0, 10**6))
def test_any_program_is_whole_and_the_solver_understands_it(params: Params, seed: int) -> None:
    codebase = compose(Dice("lore_code", seed), params)
    texts = {file.id: file.text for file in codebase.files}
    assert len(texts) == len(codebase.files)
    assert sorted(texts) == [file.id for file in codebase.files]
    assert codebase.reading_order[0] == "main.py"
    met = {"main.py"}
    for name in codebase.reading_order:  # each is imported by one before it
        assert name in met
        met |= {f"{module}.py" for module in imports_of(texts[name])}
    assert met == texts.keys() == set(codebase.reading_order)
    for text in texts.values():
        functions = [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        assert functions.count("main") == 1
        assert len(set(functions)) == len(functions)
    answer, read = understood(codebase.files)
    assert answer == codebase.answer
    assert len(read) == len(set(read))
    assert {f"# {name}\n" for name in read} == {piece.contains for piece in codebase.evidence}


@PROPERTY
@given(params=PARAMS, seed=st.integers(0, 10**6))
def test_no_module_tells_the_answer_and_values_stay_small(params: Params, seed: int) -> None:
    codebase = compose(Dice("lore_code", seed), params)
    told = re.compile(rf"\b{codebase.answer.lstrip('-')}\b")
    assert [file.id for file in codebase.files if told.search(file.text)] == []
    values = [node.value for node in codebase.tree.nodes()]
    assert all(isinstance(value, int) and 0 < abs(value) < 1000 for value in values)


@PROPERTY
@given(params=PARAMS, seed=st.integers(0, 10**6))
def test_every_operation_counts_and_no_program_recurses(params: Params, seed: int) -> None:
    codebase = compose(Dice("lore_code", seed), params)
    nodes = list(codebase.tree.nodes())
    spare = {name for node in nodes if node.rule for name in node.rule.spare}
    assert codebase.operations == params.operations == sum(len(node.children) > 1 for node in nodes)
    assert not any(node.rule for node in nodes if node.id in spare)
    assert all(len(node.parents) == 1 for node in nodes if node.id in spare)
    assert len(list(codebase.tree.bottom_up())) == len(nodes)


@PROPERTY
@given(seed=st.integers(0, 10**6), operators=st.sampled_from([ARITHMETIC, EVERYTHING]))
def test_another_leaf_means_another_answer_unless_it_is_compared_or_not_chosen(
    seed: int, operators: list[str]
) -> None:
    params = Params(operations=25, operators=operators, collection_probability=0, negative_share=0.2)
    codebase = compose(Dice("lore_code", seed), params)
    parents = {variable: step for step in codebase.steps for variable in step.variables}
    checked = 0
    for leaf in codebase.leaves:
        if counts_for_sure(leaf, parents):
            values = {**codebase.leaves, leaf: codebase.leaves[leaf] + 1}
            for step in codebase.steps:
                values[step.module] = step.value(values)
            assert str(values["main"]) != codebase.answer
            checked += 1
    assert checked > 5
    if operators == ARITHMETIC:
        assert checked == len(codebase.leaves)


@PROPERTY
@given(seed=st.integers(0, 10**6), operations=st.integers(1, 40))
def test_what_modules_share_is_understood_too_and_no_more_is_read_than_counts(
    seed: int, operations: int
) -> None:
    codebase = composed(EXPERT, seed, operations=operations, distractor_modules=5)
    answer, read = understood(codebase.files)
    assert answer == codebase.answer
    assert {f"# {name}\n" for name in read} == {piece.contains for piece in codebase.evidence}


def counts_for_sure(module: str, parents: dict[str, Any]) -> bool:
    """Whether no condition stands between a module and the answer, except as the branch that is taken."""
    while module != "main":
        step = parents[module]
        if step.load().spare and module != step.variables[-2]:
            taken = step.variables[2:-1]
            if module not in taken:
                return False
        module = step.module
    return True


def test_branches_that_are_not_taken_lead_on_as_often_as_those_that_are() -> None:
    leads_on = {"taken": 0, "left": 0}
    forks = 0
    for seed in range(3):
        codebase = composed(STANDARD, seed, operations=100)
        texts = {file.id: file.text for file in codebase.files}
        for step in codebase.steps:
            if step.load().spare:
                forks += 1
                for which, module in zip(leads_on, step.variables[-2:], strict=True):
                    leads_on[which] += bool(imports_of(texts[f"{module}.py"]))
    assert forks > 50
    assert min(leads_on.values()) > 0.9 * forks


def test_neither_an_end_nor_a_cache_tells_which_branch_is_taken() -> None:
    ends, kept = dict.fromkeys(("taken", "left"), 0), dict.fromkeys(("taken", "left"), 0)
    for seed in range(12):
        codebase = composed(STANDARD, seed, operations=40, distractor_modules=400)
        texts = {file.id: file.text for file in codebase.files}
        for step in codebase.steps:
            if step.load().spare:
                for which, module in zip(ends, step.variables[-2:], strict=True):
                    ends[which] += not called_by(texts[f"{module}.py"])
                    kept[which] += "@cache" in texts[f"{module}.py"]
    for counts in (ends, kept):
        assert min(counts.values()) > 0.6 * max(counts.values()) > 0, counts


def test_who_follows_all_calls_reads_most_distractors_and_who_follows_all_imports_reads_all() -> None:
    for seed in range(4):
        codebase = composed(STANDARD, seed, distractor_modules=600)
        texts = {file.id.removesuffix(".py"): file.text for file in codebase.files}
        assert 0.65 < len(reached(texts, called_by)) / len(texts) < 0.8
        assert reached(texts, imports_of) == texts.keys()


def called_by(text: str) -> set[str]:
    """The modules whose ``main`` is called by that of a module."""
    (main,) = (node for node in ast.parse(text).body if getattr(node, "name", "") == "main")
    calls = (node for node in ast.walk(main) if isinstance(node, ast.Attribute) and node.attr == "main")
    return {call.value.id for call in calls if isinstance(call.value, ast.Name)}


def reached(texts: dict[str, str], led_to: Callable[[str], set[str]]) -> set[str]:
    found, left = {"main"}, ["main"]
    while left:
        new = led_to(texts[left.pop()]) - found
        found |= new
        left += new
    return found


# -- worlds ------------------------------------------------------------------------------------------------


def test_distractors_change_neither_the_program_nor_the_prompt(build: Build) -> None:
    few, many = build(3, filler_tokens=500), build(3, filler_tokens=9_000)
    assert expected_of(few).steps == expected_of(many).steps
    assert expected_of(few).answer == expected_of(many).answer
    assert few.prompt == many.prompt
    one, other = contents(few), contents(many)
    for step in expected_of(few).steps:
        mains = [text[text.index("def main():") :].split("\n\n")[0] for text in (one[f"{step.module}.py"],)]
        assert mains[0] in other[f"{step.module}.py"]


def test_distractors_look_like_the_rest(build: Build) -> None:
    expected, documents = expected_of(build(0, family=HARD, filler_tokens=30_000)), {}
    instance = build(0, family=HARD, filler_tokens=30_000)
    documents = contents(instance)
    inside = {piece.contains[2:-1] for piece in expected.evidence}
    groups = [[documents[name] for name in documents if (name in inside) == same] for same in (True, False)]
    for feature in (r"async def", r"return -?\d+$", r" if v\d+|if v\d+", r"% \d{3}$", r"functools"):
        shares = [
            sum(bool(re.search(feature, text, re.MULTILINE)) for text in texts) / len(texts)
            for texts in groups
        ]
        assert shares[1] > 0.25 * shares[0] > 0, feature
    means = [
        sum(int(name[1:-3]) for name in documents if name != "main.py" and (name in inside) == same)
        / (len(groups[not same]) or 1)
        for same in (True, False)
    ]
    assert means[0] == pytest.approx(means[1], rel=0.35)


def test_n_and_the_height_are_recorded(build: Build) -> None:
    expected = expected_of(build(0, operations=33))
    assert expected.operations == 33
    assert 3 <= expected.height <= 33 + expected.collections
    assert expected.public == {"operations": "33", "height": str(expected.height)}


def test_without_distractors_there_is_the_program_and_nothing_else(build: Build) -> None:
    instance = build(0, operations=2, distractor_functions=0, distractor_fields=0, remark_share=0)
    texts = contents(instance)
    tree = {name for step in expected_of(instance).steps for name in [step.module, *step.variables]}
    assert texts.keys() == {f"{name}.py" for name in tree}
    assert all(text.count("def ") == 1 and '"""' not in text for text in texts.values())


def test_the_agent_can_do_no_more_than_read_and_answer(instance: Instance) -> None:
    with World(instance.path / "world") as world:
        tools = {(service.name, tool) for service in world.services.values() for tool in service.tools}
    assert tools == {("documents", "read_document"), ("submit_answer", "submit_answer")}


def test_a_file_that_does_not_exist_is_a_clear_error(episode: Episode) -> None:
    outcome = episode.world.call("documents", "read_document", {"file_id": "v0.py "})
    assert (outcome.status, outcome.text) == ("refused", "File not found: v0.py ")


@pytest.mark.parametrize(
    "wrong",
    [{"operations": 0}, {"operators": ["rooting"]}, {"min_children": 5}, {"operators": ["concatenation"]}],
)
def test_parameters_that_make_no_program_are_refused(build: Build, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        build(0, **wrong)


# -- the checker -------------------------------------------------------------------------------------------


def test_the_very_value_passes(episode: Episode, instance: Instance) -> None:
    assert submit(episode, expected_of(instance).answer) == set()


@pytest.mark.parametrize(
    "change", ["{} ".format, "{}\n".format, "0{}".format, "+{}".format, "{}.".format, lambda a: a[1:]]
)
def test_anything_near_it_fails(episode: Episode, instance: Instance, change: Callable[[str], str]) -> None:
    assert submit(episode, change(expected_of(instance).answer)) == {"answer"}


def test_no_answer_fails(episode: Episode) -> None:
    assert failures(episode) == {"submitted", "answer"}


def test_a_changed_module_fails(episode: Episode, instance: Instance) -> None:
    assert submit(episode, expected_of(instance).answer) == set()
    with episode.world.editing() as world:
        world.store(DocumentsStore).session.query(Document).limit(1).one().title = "changed"
    assert failures(episode) == {"documents"}


def test_every_mistake_has_its_place_in_a_hard_task(build: Build, tmp_path: Path) -> None:
    made = {
        "hard": solve(build(2, family=HARD, operations=60), tmp_path / "hard", HARD),
        "expert": solve(build(2, family=EXPERT, operations=60), tmp_path / "expert", EXPERT),
    }
    for number, mutant in enumerate(MUTANTS):
        solved = made["expert" if "shared" in mutant.name else "hard"]
        assert failures(solved) == set()
        expected = solved.family.read_expected((solved.path / "expected.json").read_bytes())
        fork = solved.fork(tmp_path / f"fork-{number}")
        with fork.world.editing() as world:
            mutant.apply(world, expected)
        assert mutant.breaks in failures(fork), mutant.name


# -- the solver --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "operations", "filler"),
    [
        (STANDARD, 1, 0),
        (STANDARD, 2, 500),
        pytest.param(STANDARD, 100, 0, marks=pytest.mark.long),
        (HARD, 1, 0),
        (HARD, 60, 4_000),
        pytest.param(HARD, 350, 0, marks=pytest.mark.long),
        (EXPERT, 1, 0),
        (EXPERT, 60, 4_000),
        pytest.param(EXPERT, 350, 0, marks=pytest.mark.long),
    ],
    ids=lambda value: value.name if isinstance(value, Family) else str(value),
)
def test_a_program_of_any_size_is_understood_without_a_wrong_step(
    build: Build, tmp_path: Path, family: Family, operations: int, filler: int
) -> None:
    instance = build(1, family=family, operations=operations, filler_tokens=filler)
    episode = solve(instance, tmp_path / "episode", family)
    assert failures(episode) == set()
    assert not episode.world.journal.with_status("refused"), "the solver guessed"
    # It read what the program calls, once, and nothing else.
    assert episode.world.journal.last == len(expected_of(instance).evidence) + 1


def test_the_oracle_leads_to_the_answer_past_all_distractors(episode: Episode, instance: Instance) -> None:
    oracle, made = expected_of(instance).oracle(), list[Made]()
    while subtasks := oracle.plan(episode.world, made):
        for call in subtasks[-1].calls:
            outcome = episode.world.call(call.service, call.tool, call.arguments)
            made.append(Made(**call.model_dump(), ok=outcome.status == "ok", result=outcome.text))
    assert failures(episode) == set()
    assert len(made) == len(expected_of(instance).evidence) + 1
    assert f"main = {expected_of(instance).answer}" in oracle.state(episode.world, made).text
