"""Chains of documents and pictures: what the pictures show is read back from their pixels, all of it."""

from __future__ import annotations

import io
import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as Pictures

from mesocosm.checkers.lore_multimodal import MUTANTS
from mesocosm.doors.mcp import McpTools, world_server
from mesocosm.errors import UsageError
from mesocosm.families.episode import Episode
from mesocosm.families.family import Family, load_family
from mesocosm.families.instances import Instance, build_instance
from mesocosm.generators.lore_multimodal import Expected, Params, compose
from mesocosm.generators.lore_multimodal.distortions import CHOICES
from mesocosm.generators.lore_multimodal.formulas import can_be_set, draw_formula
from mesocosm.generators.lore_multimodal.objects import COLORS, KINDS, SHAPES, Scene
from mesocosm.generators.lore_multimodal.painting import Formula, Painter, PicturedValues
from mesocosm.kits.weaving import BottomUp, Node, load_operators
from mesocosm.kits.weaving.chains import Chain
from mesocosm.kits.weaving.steps import TreeStep
from mesocosm.servers.documents.models import Document, Picture
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.documents.store.pictures import check_size, combined, draw, inspect
from mesocosm.services.calling import Tools, decode
from mesocosm.services.service import Image
from mesocosm.services.world import World
from mesocosm.solvers.lore_multimodal import solve
from mesocosm.solvers.lore_multimodal.counting import areas, count
from mesocosm.solvers.lore_multimodal.glyphs import read_formula
from mesocosm.solvers.lore_multimodal.straightening import Straightener
from mesocosm.worlds.randomness import Dice

STANDARD, HARD = load_family("lore_multimodal"), load_family("lore_multimodal_hard")
BOTH = pytest.mark.parametrize("family", [STANDARD, HARD], ids=["standard", "hard"])
EXPRESSION = "9 * v807 - v12345 * v6 + 4 * v9"

Build = Callable[..., Instance]
OpenTools = Callable[..., Any]


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
def hard(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    path = tmp_path_factory.mktemp("lore_multimodal") / "instance"
    return build_instance(HARD, 0, path, parameters={"operations": 25, "distractor_documents": 150})


@pytest.fixture
def episode(hard: Instance, tmp_path: Path) -> Iterator[Episode]:
    episode = Episode.create(tmp_path / "episode", hard.path, HARD)
    yield episode
    episode.close()


@pytest.fixture
def tools(episode: Episode) -> Iterator[McpTools]:
    with tools_of(episode.world) as tools:
        yield tools


def tools_of(world: World) -> McpTools:
    return McpTools(world_server(world))


def composed(family: Family, seed: int = 0, **parameters: Any) -> Chain:
    params = family.params(**parameters)
    assert isinstance(params, Params)
    return compose(Dice(family.name, seed), params)


def expected_of(instance: Instance) -> Expected:
    assert isinstance(instance.expected, Expected)
    return instance.expected


def solved(instance: Instance, path: Path, family: Family) -> Episode:
    episode = Episode.create(path, instance.path, family)
    with tools_of(episode.world) as tools:
        family.solve(tools, episode.prompt)
    return episode


def failures(episode: Episode) -> set[str]:
    verdict = episode.grade()
    assert verdict.verdict in ("passed", "failed"), verdict.error
    return {check.name for check in verdict.findings if not check.passed}


# -- pictures of objects -----------------------------------------------------------------------------------


@BOTH
def test_every_count_is_recovered_from_the_pixels(family: Family) -> None:
    scenes = 0
    for file in composed(family, operations=40, distractor_documents=300).files:
        if isinstance(file.draw, Scene):
            scenes += 1
            assert file.image
            what = file.draw.kind.plural if file.draw.kind else "objects"
            assert f" {what} " in file.text
            assert count(file.image, what) == file.draw.counted
            found = Counter((area.color, area.shape) for area in areas(file.image))
            assert found == Counter((one.color, one.shape) for one in file.draw.objects())
    assert scenes > 10


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    counted=st.integers(1, 100), kind=st.sampled_from(KINDS), others=st.integers(0, 100), seed=st.integers()
)
def test_objects_are_told_apart_however_many_there_are(
    counted: int, kind: Any, others: int, seed: int
) -> None:
    scene = Scene(counted, kind, others, str(seed))
    assert count(scene(), kind.plural) == counted
    assert len(areas(scene())) == counted + others


@pytest.mark.parametrize("seed", range(5))
def test_blank_pixels_part_any_two_objects(seed: int) -> None:
    found = areas(Scene(36, None, 0, str(seed))())
    boxes = [
        (min(r.start for r in a.runs), a.runs[0].row, max(r.end for r in a.runs), a.runs[-1].row + 1)
        for a in found
    ]
    for one, other in combinations(boxes, 2):
        across = max(one[0], other[0]) - min(one[2], other[2])
        down = max(one[1], other[1]) - min(one[3], other[3])
        assert max(across, down) >= 2


def test_colors_are_far_from_each_other_and_from_the_ground() -> None:
    for one, other in combinations([*COLORS.values(), (255, 255, 255)], 2):
        assert math.dist(one, other) > 80


def test_those_that_do_not_count_are_easily_taken_for_those_that_do() -> None:
    kind = KINDS[7]
    others = [one for one in Scene(5, kind, 40, "x").objects() if one != kind]
    assert len(others) == 40
    assert any(one.color == kind.color for one in others)
    assert any(one.shape == kind.shape for one in others)
    assert {one.shape for one in others} == set(SHAPES)


# -- pictures of formulas ----------------------------------------------------------------------------------


@BOTH
def test_every_formula_is_recovered_from_the_pixels_of_its_upright_picture(family: Family) -> None:
    formulas = [f.draw for f in composed(family, operations=40, distractor_documents=300).files if f.draw]
    expressions = [one for one in formulas if isinstance(one, Formula)]
    assert len(expressions) > 10
    for one in expressions:
        assert read_formula(one.upright()) == one.expression


def test_every_formula_is_recovered_with_the_tools_from_what_the_agent_sees(tools: McpTools) -> None:
    drawn = composed(HARD, operations=25, distractor_documents=150)
    straightener = Straightener(tools, 60)
    kinds: set[str] = set()
    for file in drawn.files:
        if isinstance(file.draw, Formula):
            kinds |= {step[0] for step in file.draw.steps} or {"none"}
            shown = shown_image(tools, file.id)
            assert shown.data == file.image
            assert straightener.read(file.id, shown) == file.draw.expression
            assert shown_image(tools, file.id) == shown, "the stored image was changed"
    assert kinds == {"none", "rotate", "flip", "stretch", "shear"}


DISTORTIONS = [(kind, *choice) for kind, choices in CHOICES.items() for choice in choices]
FIRST = [(kind, *choices[0]) for kind, choices in CHOICES.items()]


@pytest.mark.parametrize(
    "step",
    [pytest.param(step, marks=() if step in FIRST else pytest.mark.long) for step in DISTORTIONS],
    ids=str,
)
def test_every_distortion_is_undone_exactly(
    open_tools: OpenTools, step: tuple[str, *tuple[Any, ...]]
) -> None:
    upright = draw_formula(EXPRESSION)

    def fill(world: World) -> None:
        fill_store(world, images=[{"title": "x", "file_id": "x", "data": upright, "steps": [step]}])

    tools = open_tools(fill, "documents")
    shown = shown_image(tools, "x")
    assert read_formula(shown.data) is None, "it can be read as it is"
    assert Straightener(tools, 60).read("x", shown) == EXPRESSION
    *_, last = tools.world.journal.entries()
    assert last.result
    view = decode(last.result.partition("\n")[0])["id"]
    assert shown_image(tools, view).data == upright
    assert last.seq <= 25, "too much was tried"


def test_a_distorted_formula_can_be_taken_for_no_other() -> None:
    upright = draw_formula("v1 + v8 + v11 - v88")
    for kind, choices in CHOICES.items():
        for choice in choices:
            assert read_formula(draw(upright, "image/png", combined([(kind, *choice)]))[0]) is None


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    st.lists(st.tuples(st.sampled_from(["", "3 * ", "17 * "]), st.integers(0, 10**6)), min_size=1, max_size=9)
)
def test_what_is_set_is_read(terms: list[tuple[str, int]]) -> None:
    expression = " - ".join(f"{factor}v{number}" for factor, number in terms)
    assert read_formula(draw_formula(expression)) == expression


@pytest.mark.parametrize("expression", ["reverse(v1)", "v1 % 7", "v1 // v2", " + ".join(["v1"] * 30)])
def test_what_no_formula_can_show_stays_text(expression: str) -> None:
    assert not can_be_set(expression)


def test_the_longest_formula_can_be_stretched() -> None:
    longest = " + ".join(["v40"] * 13)
    assert can_be_set(longest)
    assert read_formula(draw_formula(longest)) == longest
    _, width, height = inspect(draw_formula(longest))
    for kind, choices in CHOICES.items():
        for choice in choices:
            check_size(width, height, combined([(kind, *choice)]))


# -- worlds ------------------------------------------------------------------------------------------------


def fill_store(world: World, *, texts: list[Any] | None = None, images: list[Any] | None = None) -> None:
    store = world.store(DocumentsStore)
    store.items.create_user("a@example.org", "A")
    store.sign_in("a@example.org")
    store.items.create_space("Library", owner="a@example.org", space_id="library")
    store.filling.add_documents("library", texts or [])
    store.filling.add_images("library", images or [])


def shown_image(tools: Tools, file_id: str) -> Image:
    block = tools.look("documents", "read_document", {"file_id": file_id})[-1]
    assert isinstance(block, Image)
    return block


def test_the_worked_example_has_its_structure_and_is_solved_from_pixels(
    open_tools: OpenTools,
) -> None:
    """Two operations: a formula over three counts names a rule, which concatenates two strings."""
    params = Params(
        image_share=1, formula_share=1, distractor_objects=10, distortions=["rotate"], distorted_share=1
    )
    dice, names = Dice("example", 0), iter(range(1, 99))
    weaver = BottomUp(dice.rng, lambda: f"v{next(names)}", PicturedValues(dice.rng, params))
    concatenation, subtraction = load_operators(["concatenation", "subtraction"])
    first, second, rule = weaver.expand(weaver.tree.root, concatenation, 2)
    *counts, formula = weaver.expand(rule, subtraction, 3)
    tree = weaver.finish()
    assert (tree.operations, tree.height, len(tree.leaves())) == (2, 2, 6)

    painter = Painter(params, 1)
    said = {node.id: painter.state(node, dice.rng) for node in tree.nodes()}
    assert {node.id for node in tree.nodes() if said[node.id].draw} == {n.id for n in [*counts, formula]}
    assert not any(said[node.id].draw for node in (first, second, rule, tree.root))

    def fill(world: World) -> None:
        texts = [{"title": i, "file_id": i, "content": s.text} for i, s in said.items() if not s.draw]
        images = [
            {"title": i, "file_id": i, "content": s.text, **stored(s.draw)} for i, s in said.items() if s.draw
        ]
        fill_store(world, texts=texts, images=images)

    tools = open_tools(fill, "documents", "submit_answer")
    leaves = ", ".join(leaf.id for leaf in tree.leaves())
    solve(tools, f"Find the value of the variable v0. Start with {leaves}. Each is 60 pixels high.")
    answer = [entry for entry in tools.world.journal.entries() if entry.tool == "submit_answer"]
    assert [entry.arguments["answer"] for entry in answer] == [tree.root.value]


def stored(drawn: Any) -> dict[str, Any]:
    if isinstance(drawn, Formula):
        return {"data": drawn.upright(), "steps": drawn.steps}
    return {"data": drawn()}


@BOTH
def test_distractors_change_neither_the_tree_nor_its_pictures(family: Family) -> None:
    few = composed(family, filler_tokens=500)
    many = {file.id: file for file in composed(family, filler_tokens=9_000).files}
    lists = {node.id for node in few.tree.nodes() if node.role == "list"}
    inside = {node.id for node in few.tree.nodes()} - lists
    for file in few.files:
        if file.id in inside:
            assert (file.text, file.image) == (many[file.id].text, many[file.id].image)


@BOTH
def test_a_world_shows_what_is_composed(family: Family, build: Build) -> None:
    instance = build(3, family=family, operations=8, distractor_documents=20)
    with World(instance.path / "world") as world:
        shown = {
            name: world.calls.peek("documents", "read_document", {"file_id": name}).blocks
            for name in expected_of(instance).documents
        }
    chain = composed(family, 3, operations=8, distractor_documents=20)
    assert shown == {
        file.id: (file.text, *([Image(file.image)] if file.image else [])) for file in chain.files
    }
    assert expected_of(instance).answer == chain.answer


def test_shares_say_how_many_values_and_rules_are_pictures() -> None:
    def kinds(**shares: Any) -> Counter[str]:
        chain = composed(STANDARD, operations=60, **shares)
        return Counter(type(file.draw).__name__ for file in chain.files)

    none = kinds(image_share=0, formula_share=0)
    assert set(none) == {"NoneType"}
    assert set(kinds(image_share=1, formula_share=0)) == {"NoneType", "Scene"}
    chain = composed(STANDARD, operations=60, image_share=1, formula_share=1)
    drawn = {file.id for file in chain.files if file.draw}
    assert drawn == {node.id for node in chain.tree.nodes() if _is_numeric(node)}


def _is_numeric(node: Node) -> bool:
    if node.states:
        return node.states.operator.gives == "integer"
    return node.role == "value" and node.kind == "integer"


def test_the_answer_is_in_no_document_but_the_last_and_in_no_picture(hard: Instance) -> None:
    expected = expected_of(hard)
    with World(hard.path / "world") as world:
        session = world.store(DocumentsStore).session
        holding = [row.id for row in session.query(Document) if expected.answer in row.content]
        assert not any(expected.answer.encode() in row.data for row in session.query(Picture))
    assert holding == [expected.steps[-1].document]
    assert expected.answer not in hard.prompt


def test_pictures_are_small(hard: Instance) -> None:
    with World(hard.path / "world") as world:
        sizes = [len(row.data) for row in world.store(DocumentsStore).session.query(Picture)]
    assert len(sizes) > 50
    assert max(sizes) < 6_000


def test_the_prompt_says_how_high_formulas_are() -> None:
    height = re.search(r"is (\d+) pixels high", HARD.task.render_prompt(composed(HARD, operations=1).public))
    assert height
    assert Pictures.open(io.BytesIO(draw_formula(EXPRESSION))).height == int(height[1])


def test_n_and_the_height_are_recorded(hard: Instance) -> None:
    expected = expected_of(hard)
    assert expected.operations == len(expected.steps) == 25
    assert expected.public["height"] == str(expected.height)


@pytest.mark.parametrize(
    "wrong",
    [{"distortions": ["twirl"]}, {"max_objects": 0}, {"image_share": 1.5}, {"distractor_objects": -1}],
)
def test_parameters_that_make_no_picture_are_refused(build: Build, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        build(0, **wrong)


def test_only_drawing_formulas_loads_matplotlib() -> None:
    program = (
        "import sys, mesocosm.generators.lore_multimodal, mesocosm.solvers.lore_multimodal;"
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


# -- the checker -------------------------------------------------------------------------------------------


def test_looking_at_transformed_images_is_no_damage(
    episode: Episode, tools: McpTools, hard: Instance
) -> None:
    image = next(
        file.id for file in composed(HARD, operations=25, distractor_documents=150).files if file.draw
    )
    view = tools.call("documents", "rotate_image", doc_id=image, angle=20)
    tools.call("documents", "flip_image", doc_id=view["id"], flip_type="vertical")
    tools.call("submit_answer", "submit_answer", answer=expected_of(hard).answer)
    assert failures(episode) == set()


def test_a_document_that_is_no_view_of_an_image_is_damage(
    episode: Episode, tools: McpTools, hard: Instance
) -> None:
    tools.call("submit_answer", "submit_answer", answer=expected_of(hard).answer)
    with episode.world.editing() as world:
        world.store(DocumentsStore).writing.create("Mine", "text", "text", None)
    assert failures(episode) == {"documents"}


def test_every_mutant_has_its_place_in_the_hard_task(hard: Instance, tmp_path: Path) -> None:
    episode = solved(hard, tmp_path / "solved", HARD)
    assert failures(episode) == set()
    for number, mutant in enumerate(MUTANTS):
        fork = episode.fork(tmp_path / f"fork-{number}")
        with fork.world.editing() as world:
            mutant.apply(world, expected_of(hard))
        assert mutant.breaks in failures(fork), mutant.name
        fork.close()


# -- the solver --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Size:
    family: Family
    operations: int
    distractors: int = 0
    parameters: tuple[tuple[str, Any], ...] = ()


@pytest.mark.parametrize(
    "size",
    [
        Size(STANDARD, 1),
        pytest.param(Size(STANDARD, 350), marks=pytest.mark.long),
        Size(HARD, 1, 10),
        pytest.param(Size(HARD, 100, 5), marks=pytest.mark.long),
        Size(HARD, 15, 0, (("image_share", 1), ("formula_share", 1), ("distorted_share", 1))),
    ],
    ids=lambda size: f"{size.family.name}-{size.operations}",
)
def test_a_chain_of_any_length_is_followed_without_a_wrong_step(
    build: Build, tmp_path: Path, size: Size
) -> None:
    instance = build(
        1,
        family=size.family,
        operations=size.operations,
        distractor_documents=size.distractors,
        **dict(size.parameters),
    )
    episode = solved(instance, tmp_path / "episode", size.family)
    assert failures(episode) == set()
    assert not episode.world.journal.with_status("refused"), "the solver guessed"


def test_a_step_that_counts_wrongly_names_another_document(hard: Instance) -> None:
    expected = expected_of(hard)
    counted = [(step, name) for step in expected.steps for name in step.values if name in expected.sights]
    assert len(counted) > 10
    for step, name in counted:
        assert isinstance(step, TreeStep)
        assert step.values[name] == expected.sights[name].counted
