"""A task file put into effect: what a family in Python has modules for."""

from __future__ import annotations

import datetime as dt
import random
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import Field, PrivateAttr, ValidationError, create_model

from mesocosm.errors import Refusal, UsageError
from mesocosm.families import family
from mesocosm.families.task import FileProblem, Task
from mesocosm.families.verdict import Check, Misreading, Mutant
from mesocosm.kits.yaml_tasks import (
    evidence_defaults,
    evidence_proof,
    nearness,
    questions,
    serialization,
    validation,
)
from mesocosm.kits.yaml_tasks.agreement import disagreeing, shared
from mesocosm.kits.yaml_tasks.braces import has_values
from mesocosm.kits.yaml_tasks.complaints import complaints_of
from mesocosm.kits.yaml_tasks.definition import MAX_COUNT, Definition
from mesocosm.kits.yaml_tasks.derivation import (
    Derived,
    derive,
    judged_by_python,
    missing_quotations,
    rules_of,
    wanted_entities,
)
from mesocosm.kits.yaml_tasks.draws import Draw, Moment, Period, Undrawable
from mesocosm.kits.yaml_tasks.entities import Read, Wrong, evaluated
from mesocosm.kits.yaml_tasks.expressions import Expression, expressions_in
from mesocosm.kits.yaml_tasks.grading import judge, wanted_of
from mesocosm.kits.yaml_tasks.language import ExpressionError, for_expressions
from mesocosm.kits.yaml_tasks.misreadings import misreadings
from mesocosm.kits.yaml_tasks.placement import FactPlacement
from mesocosm.kits.yaml_tasks.population import Filled, fill
from mesocosm.kits.yaml_tasks.rendering import survey_options
from mesocosm.kits.yaml_tasks.solution import CallRefused, Solution
from mesocosm.kits.yaml_tasks.truth import Stream, Truth, read_zone
from mesocosm.services.calling import Tools
from mesocosm.services.words import load_words
from mesocosm.worlds.manifest import DEFAULT_START
from mesocosm.worlds.randomness import Dice

if TYPE_CHECKING:
    from mesocosm.services.world import World

_DRAFTS: ContextVar[dict[Any, FactPlacement] | None] = ContextVar("drafts", default=None)
"""Texts shared by the drafts of a world on the way to a length."""
_KEPT_BACKGROUND = 2
"""Background entities of each kind that the control plane keeps: for near misses."""


class WrittenExpected(family.Expected):
    """The drawn facts; everything else follows from the file."""

    truth: dict[str, Any]
    prompt: str
    told: Sequence[tuple[str, str, str]] = ()
    """(service, text, which fact it tells) of what the survey must deliver."""
    _settled: dict[str, Any] = PrivateAttr(default_factory=dict)
    _needed: Callable[[], Sequence[evidence_proof.Stated]] | None = PrivateAttr(None)
    _derive: Callable[[], Derived] | None = PrivateAttr(None)
    _near: Callable[[], list[str]] | None = PrivateAttr(None)
    _lacking: Callable[[], list[str]] | None = PrivateAttr(None)

    def finished(self) -> WrittenExpected:
        """Add what the evidence must contain."""
        return self.model_copy(update={"told": self._needed()}) if self._needed else self

    def derived(self) -> list[str]:
        """Describe what an agent must know and where it stands; only for a fresh build."""
        return [str(one) for one in self._derive().known] if self._derive else []

    def near_misses(self) -> list[str]:
        """Describe what does not count and what distinguishes it; only for a fresh build."""
        return self._near() if self._near else []

    def lacking(self) -> list[str]:
        """List the cases that do not occur; only for a fresh build."""
        return self._lacking() if self._lacking else []


def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a user's function so that its errors become complaints about the field that calls it."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (ExpressionError, Undrawable, Wrong):
            raise  # of a field that it reads
        except Exception as error:
            *outer, last = traceback.extract_tb(error.__traceback__)
            if not outer:
                raise  # it was not called as it is to be
            place = f"{Path(last.filename).name}, line {last.lineno}"
            raise ExpressionError(f"{function.__name__}: {place}: {type(error).__name__}: {error}") from None

    return call


class YamlFamily:
    """A task of which all parts are in its file."""

    Expected: type[WrittenExpected] = WrittenExpected

    def __init__(self, task: Task, path: Path, hooks: Mapping[str, Callable[..., Any]] | None = None) -> None:
        self.task = task
        self.path = path
        hooks = dict(hooks or {})
        self._further_check = hooks.pop("check", None)
        self._solver = hooks.pop("solve", None)
        self.hooks = {name: for_expressions(_guarded(hook)) for name, hook in hooks.items()}
        with self._placed():
            try:
                self.definition = evidence_defaults.read(task.definition)
            except evidence_defaults.Misspread as wrong:
                raise FileProblem(path, wrong.keys, str(wrong)) from None
            except ValidationError as error:
                keys, message = complaints_of(
                    error, Definition, evidence_defaults.spread(task.definition)[0]
                )[0]
                raise Wrong(keys, message) from None
            for keys, message in validation.check(
                self.definition, task.servers, [*self.parameters, task.growth.parameter]
            ):
                raise Wrong(keys, message)

    @cached_property
    def parameters(self) -> list[str]:
        """Numbers that the file's counts and shares may name."""
        return [name for name, value in self.task.parameters.items() if isinstance(value, (int, float))]

    @cached_property
    def Params(self) -> type[family.Params]:  # noqa: N802 - it stands for a family's class
        """Parameters: ``size`` or what grows, and those of the file."""
        fields: dict[str, Any] = {
            name: (type(value), Field(default=value, description=self.task.about.get(name)))
            for name, value in self.task.parameters.items()
        }
        grows = self.task.growth.parameter
        about = self.task.about.get(grows, "How much there is to do.")
        fields.setdefault(grows, (int, Field(default=10, ge=1, le=MAX_COUNT, description=about)))
        made: type[family.Params] = create_model("Params", __base__=family.MadeParams, **fields)
        return made

    # -- building ---------------------------------------------------------------------------------------

    def generate(self, world: World, params: family.Params) -> WrittenExpected:
        with self._placed():
            teller = self._begun(world, Dice(world.manifest.family, world.manifest.seed), params)
            truth = teller.truth
            filled = fill(teller, world, params.filler_tokens, self.task.servers)
            with truth.watched() as prompt_reads:
                prompt = self.prompt_of(truth)
            kept = serialization.kept(truth, _KEPT_BACKGROUND)
            if files := {service: sorted(paths) for service, paths in filled.files.items() if paths}:
                kept["files"] = files
            expected = WrittenExpected(evidence=filled.evidence, truth=kept, prompt=prompt)
            expected._needed = self._to_be_told(truth, filled, prompt_reads)
            expected._derive = partial(self.derived, truth, filled, prompt, prompt_reads)
            expected._near = partial(self._near_misses, truth, filled)
            expected._lacking = partial(_lacking, truth)
            return expected

    def derived(self, truth: Truth, filled: Filled, prompt: str, reads: Iterable[Read]) -> Derived:
        """Derive the goal from the texts, where no solver reads, and find contradictions to the prompt."""
        with self._placed():
            if self.reads:
                derived = Derived(rules=rules_of(filled, prompt))
                derived.asked += shared(self.definition, self._solver, self.hooks)
            else:
                derived = derive(
                    self.definition, truth, filled, prompt, reads, Expression(self.task.prompt + " ")
                )
                if self._further_check:
                    derived.gaps.append(judged_by_python())
            wanted = wanted_of(self.definition, truth)
            asked = questions.asked_otherwise(
                self.definition, self.task.prompt, prompt, derived.rules, wanted
            )
            derived.asked += asked
            derived.asked += disagreeing(self.definition, self.task, truth, prompt, derived.rules)
            return derived

    def _near_misses(self, truth: Truth, filled: Filled) -> list[str]:
        told = [*filled.told, *filled.summed, *filled.beside]
        with self._placed():
            wanted = wanted_entities(self.definition, truth)
            return list(nearness.near_misses(self.definition, truth, told, wanted))

    def _to_be_told(
        self, truth: Truth, filled: Filled, prompt: Iterable[Read]
    ) -> Callable[[], list[evidence_proof.Stated]]:
        def needed() -> list[evidence_proof.Stated]:
            with self._placed():
                return evidence_proof.needed(self.definition, truth, filled, prompt)

        return needed

    @contextmanager
    def drafting(self) -> Iterator[None]:
        """Share work between drafts of a world that differ only in filler."""
        token = _DRAFTS.set({})
        try:
            yield
        finally:
            _DRAFTS.reset(token)

    def estimated(self, dice: Dice, params: family.Params) -> int:
        """About how many tokens an instance has without filler."""
        with self._placed():
            teller = self._begun(Start(dice), dice, params)
            return teller.estimated()

    def _begun(self, world: Beginning, dice: Dice, params: family.Params) -> FactPlacement:
        """Draw the facts of a world with these parameters, without telling anything."""
        drafts = _DRAFTS.get()
        same = id(self), dice, params.model_copy(update={"filler_tokens": 0}).model_dump_json()
        teller = None if drafts is None else drafts.get(same)
        if teller is None:
            truth = self.draw(world, params, dice.stream)
            teller = FactPlacement(self.definition, truth, dice.stream)
            if drafts is not None:
                drafts.clear()
                drafts[same] = teller
        else:
            world.set_now(teller.truth.now)
            teller.begin()
        return teller

    def draw(self, world: Beginning, params: family.Params, stream: Stream) -> Truth:
        """The facts, and the world's clock set."""
        zones = self.definition.world.zone
        name = zones if isinstance(zones, str) else world.stream("zone").choice(zones)
        zone = read_zone(name)
        parameters = params.model_dump(exclude={"filler_tokens"})  # of which facts must not depend
        truth = Truth(self.definition, stream, world.now, zone, self.hooks, parameters)
        truth.now = self._now(world, truth)
        world.set_now(truth.now)
        truth.draw()
        return truth

    def _now(self, world: Beginning, truth: Truth) -> dt.datetime:
        given = self.definition.world.now
        keys = ("world", "now")
        if given is None:
            year = dt.datetime(2025, 1, 8, tzinfo=truth.zone)
            given = Moment(
                moment=Period(
                    after=year, before=year + dt.timedelta(days=330), hours=[8, 9, 10], weekdays=True
                )
            )
        try:
            if isinstance(given, Draw):
                value: Any = given.draw(_Beginning(world, truth))
            else:
                value = evaluated(given, truth.lookup)
        except (Undrawable, ExpressionError) as error:
            raise Wrong(keys, str(error)) from None
        if isinstance(value, str):
            try:
                value = dt.datetime.fromisoformat(value)
            except ValueError:
                raise Wrong(keys, f"{value!r} is no moment; write 2025-03-03T09:05") from None
        if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
            value = dt.datetime.combine(value, dt.time(9))
        if not isinstance(value, dt.datetime):
            raise Wrong(keys, f"{value!r} is no moment; write 2025-03-03T09:05")
        return value.replace(tzinfo=truth.zone) if value.tzinfo is None else value.astimezone(truth.zone)

    def prompt_of(self, truth: Truth) -> str:
        """The prompt, over these facts."""
        try:
            return str(Expression(self.task.prompt + " ").value(truth.lookup)).strip() + "\n"
        except ExpressionError as error:
            raise Wrong(("prompt",), str(error)) from None

    def prompt(self, expected: family.Expected) -> str:
        """Return the task's prompt."""
        assert isinstance(expected, WrittenExpected)
        return expected.prompt

    def survey(self, tools: Tools, expected: family.Expected) -> None:
        """Read all services from the first page to the last."""
        assert isinstance(expected, WrittenExpected)
        for service in self.task.servers:
            if words := load_words(service):
                words.survey(tools, self._survey_options(service, expected))

    def _survey_options(self, service: str, expected: WrittenExpected) -> dict[str, Any]:
        """Return the options of the survey: the present, the files of the evidence, and the task file's
        options.
        """
        told = [
            one.fields.get("path") for one in self.definition.evidence if one.what.startswith(f"{service}.")
        ]
        paths = [path for path in told if isinstance(path, str) and not has_values(path)]
        files = list(dict.fromkeys([*paths, *expected.truth.get("files", {}).get(service, ())]))
        now = expected.truth["now"]["$moment"]
        listing = "filesystem" in self.task.servers
        with self._placed():
            said = self.definition.survey.get(service, {})
            if "{" in "".join(expressions_in(said)):
                said = survey_options(self.definition, service, self.truth_of(expected).lookup)
        return {"now": now, "files": files, "listing": listing, **said}

    # -- judging ----------------------------------------------------------------------------------------

    def truth_of(self, expected: family.Expected) -> Truth:
        """The facts, as they were drawn."""
        assert isinstance(expected, WrittenExpected)
        truth = serialization.read(self.definition, expected.truth, self.hooks)
        truth.settled = expected._settled
        return truth

    def settled_truth(self, expected: family.Expected) -> Truth:
        """Return the truth for readers that change nothing; cached."""
        assert isinstance(expected, WrittenExpected)
        truth: Truth | None = expected._settled.get("truth")
        if truth is None or truth.definition is not self.definition:
            truth = expected._settled["truth"] = self.truth_of(expected)
        return truth

    def check(self, world: World, expected: family.Expected, **options: Any) -> Iterable[Check]:
        with self._placed():
            assert isinstance(expected, WrittenExpected)
            truth = self.settled_truth(expected)
            found = list(judge(self.definition, self.task.servers, truth, world))
            return [*found, *(self._further_check(world, truth.lookup) if self._further_check else ())]

    def solve(self, tools: Tools, prompt: str, expected: family.Expected | None) -> None:
        """Make the walk, or call the solver beside the file."""
        if self._solver is not None:
            self._solver(tools, prompt)
            return
        assert expected is not None
        with self._placed():
            try:
                Solution(self.definition, self.truth_of(expected), tools).make()
            except CallRefused as refused:
                raise refused.wrong from None

    @property
    def reads(self) -> bool:
        """True if a solver beside the file finds the answer by reading."""
        return self._solver is not None

    @cached_property
    def MUTANTS(self) -> list[Mutant | Misreading]:  # noqa: N802 - it stands for a family's constant
        """Near misses: misread facts, and damage."""
        return misreadings(self)

    def unstated(self, tools: Tools, expected: family.Expected) -> list[str]:
        """List what the goal needs but the survey does not deliver."""
        assert isinstance(expected, WrittenExpected)
        survey = evidence_proof.Collecting(tools)
        self.survey(survey, expected)
        found = evidence_proof.missing(survey, expected.told)
        if expected._derive is not None:
            derived = expected._derive()
            gaps = [*derived.asked, *derived.gaps, *derived.apart]
            gaps += missing_quotations(derived, survey.everything)
            found += [str(self.problem(gap.keys, gap.message)) for gap in gaps]
        return found

    def problem(self, keys: Sequence[Any], message: str) -> FileProblem:
        """Make a problem for a part of the definition, with its place in the file."""
        return FileProblem(self.path, evidence_defaults.in_file(self.task.definition, keys), message)

    @contextmanager
    def _placed(self) -> Iterator[None]:
        """Complaints say where in the file they arose."""
        try:
            yield
        except Wrong as wrong:
            raise self.problem(wrong.keys, wrong.message) from None
        except Refusal as refused:
            raise UsageError(
                f"{self.path}: a service refuses what the evidence says: {refused.message}"
            ) from None


def _lacking(truth: Truth) -> list[str]:
    return [f"no {fact} is {case}" for fact, case in truth.absent()]


class Beginning(Protocol):
    """Context of drawing facts: a world being built, or a stand-in."""

    @property
    def now(self) -> dt.datetime:
        """The clock."""

    def stream(self, name: str) -> random.Random:
        """A source of randomness of its own."""

    def set_now(self, moment: dt.datetime) -> None:
        """Set the clock."""


@dataclass
class Start:
    """Stand-in for a world while drawing."""

    dice: Dice
    now: dt.datetime = DEFAULT_START

    def stream(self, name: str) -> random.Random:
        """A source of randomness of its own."""
        return self.dice.stream(name)

    def set_now(self, moment: dt.datetime) -> None:
        self.now = moment


class _Beginning:
    """Context of drawing the world's clock."""

    locale = "en_US"
    number = 0

    def even(self, part: str) -> float:
        return self.rng.random()

    def __init__(self, world: Beginning, truth: Truth) -> None:
        self.rng = world.stream("now")
        self.zone = truth.zone
        self.lookup = truth.lookup

    def __getattr__(self, name: str) -> Any:
        raise Undrawable("the clock is drawn before all entities")
