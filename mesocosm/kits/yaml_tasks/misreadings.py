"""Near misses that follow from a task file: walks over facts that were misread, and damage."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from mesocosm.families.verdict import Inapplicable, Misreading, Mutant
from mesocosm.kits.yaml_tasks.damage import all_findings, damage, tables
from mesocosm.kits.yaml_tasks.definition import Definition, Goal
from mesocosm.kits.yaml_tasks.draws import Date, Draw, Moment, Number, Ref, Series
from mesocosm.kits.yaml_tasks.entities import Entity, Wrong
from mesocosm.kits.yaml_tasks.grading import GoalTable, Wanted, wanted_of
from mesocosm.kits.yaml_tasks.language import ExpressionError
from mesocosm.kits.yaml_tasks.mistakes import (
    Change,
    as_utc,
    first_difference,
    last_overlooked,
    left_out,
    name_of,
    same_rows,
    shifted,
    swapped,
    taken_for,
    unread,
    victims_of,
    walked,
)
from mesocosm.kits.yaml_tasks.solution import Solution
from mesocosm.kits.yaml_tasks.supposition import Supposition
from mesocosm.kits.yaml_tasks.truth import Truth
from mesocosm.services.calling import ToolError, Tools

if TYPE_CHECKING:
    from mesocosm.kits.yaml_tasks.written import YamlFamily


@dataclass(frozen=True)
class _Right:
    """The truth of an instance, computed once for all its misreadings."""

    supposed: Supposition
    wanted: list[Wanted]
    steps: list[set[tuple[str, str]]]
    """For whom the steps are made."""
    victims: set[tuple[str, str]]
    """Entities that near misses change."""


def misreadings(written: YamlFamily) -> list[Mutant | Misreading]:
    """All near misses of a task, by names that tell them apart."""
    found: dict[str, Mutant | Misreading] = {}
    maker = _Maker(written)
    made: list[Mutant | Misreading] = [*maker.misread(), *tables(written), *damage(written)]
    for one in made:
        found.setdefault(one.name, one)
    return list(found.values())


class _Maker:
    def __init__(self, written: YamlFamily) -> None:
        self._written = written
        self._definition: Definition = written.definition
        self._lead = _leading(self._definition)
        self._start = partial(_walk_for_others, written, self._lead)
        self._met: set[tuple[str, str]] = set()
        """Prompts of instances, each with what a misreading came to there."""
        self._known: tuple[Any, _Right] | None = None

    def misread(self) -> Iterator[Misreading]:
        """Everything that can be read wrongly, of every fact that a goal or the walk is about."""
        breaks = frozenset(name for goal in self._definition.goal for name in all_findings(goal))
        for name, fact in self._definition.entities.items():
            if fact.single:
                continue
            top = _top(self._definition, name)
            if name == top:
                yield from self._whole(name, breaks)
            for field, source in _drawn(fact.fields):
                yield from self._field(name, None, field, source, breaks)
            for kind, it in fact.cases.items():
                for field, source in _drawn(it.fields):
                    if it.weight is None:
                        yield from self._field(name, kind, field, source, breaks)
            if fact.parent is not None:
                yield self._make(f"the last {name} of one overlooked", breaks, last_overlooked(name))
                for kind in fact.cases:
                    for other in fact.cases:
                        if kind != other:
                            change = taken_for(name, kind, other)
                            yield self._make(f"a {name} that is {kind} taken for {other}", breaks, change)

    def _whole(self, name: str, breaks: frozenset[str]) -> Iterator[Misreading]:
        known = self._definition.entities[name].cases
        kinds: list[str | None] = list(known) or [None]
        for kind in kinds:
            of = f"a {name} that is {kind}" if kind else f"a {name}"
            yield self._make(f"{of} left out", breaks, left_out(name, kind))
            yield Misreading(f"{of} done twice", breaks, self._start, partial(self._twice, name, kind))
            if kind is not None:
                yield Misreading(
                    f"{of} done although it must not",
                    breaks,
                    self._start,
                    partial(self._needless, name, kind),
                )
                for other in kinds:
                    if (
                        other not in (kind, None)
                        and self._definition.entities[name].cases[kind].weight is None
                    ):
                        yield self._make(f"{of} taken for {other}", breaks, taken_for(name, kind, other))

        for other in self._definition.entities[name].distractors:
            yield Misreading(
                f"a {name} that is {other} done although it must not",
                breaks,
                self._start,
                partial(self._needless_like, name, other),
            )

    def _field(
        self, name: str, kind: str | None, field: str, source: Draw, breaks: frozenset[str]
    ) -> Iterator[Misreading]:
        of = f"the {field} of a {name}" + (f" that is {kind}" if kind else "")
        yield self._make(f"{of} taken from another", breaks, swapped(name, kind, field))
        if isinstance(source, (Moment, Date)):
            yield self._make(f"{of} a day late", breaks, shifted(name, kind, field, dt.timedelta(days=1)))
        if isinstance(source, Moment):
            yield self._make(f"{of} an hour late", breaks, shifted(name, kind, field, dt.timedelta(hours=1)))
            yield self._make(f"{of} taken for UTC", breaks, as_utc(name, kind, field))
        if isinstance(source, (Number, Series)):
            step = source.number.step if isinstance(source, Number) else 1
            yield self._make(f"{of} off by {step:g}", breaks, shifted(name, kind, field, step))
        if kind is not None:
            yield self._make(f"{of} unread", breaks, unread(name, kind, field))

    def _make(self, name: str, breaks: frozenset[str], change: Change) -> Misreading:
        return Misreading(name, breaks, self._start, partial(self._act, change))

    # -- acting -----------------------------------------------------------------------------------------

    def _act(self, change: Change, tools: Tools, expected: Any) -> str | None:
        """Make the rest of the walk over facts that were misread, if that makes a difference."""
        with self._misread(expected) as right:
            truth = right.supposed.truth
            rows = change(right.supposed, right.wanted)
            steps = walked(self._definition, truth)
            if same_rows(right.wanted, rows) and right.steps == steps:
                raise Inapplicable
            left = (self._left(all_of_them, right.victims) for all_of_them in (right.wanted, rows))
            if len(right.wanted) == len(rows) and same_rows(*left):
                raise Inapplicable  # it makes a difference only for those that are done already
            outcome = expected.prompt, _outcome(rows, steps)
            if outcome in self._met:
                raise Inapplicable  # another misreading comes to the same
            self._met.add(outcome)
            self._finish(tools, truth, right.victims)
            return self._unnoticed(right.wanted, rows)

    def _unnoticed(self, right: Sequence[Wanted], rows: Sequence[Wanted]) -> str | None:
        """Return what to mend if a goal is met although its value differs."""
        if (difference := first_difference(right, rows)) is None:
            return None
        one, field = difference
        goal = one.goal
        keys = ("goal", self._definition.goal.index(goal), goal.what, field or None)
        of = one.entity.label if one.entity else goal.what
        wants = f"of {of} it wants another {field}" if field else f"{of} is wanted or not"
        remedy = (
            f"let a step write {field}, or leave it out of the goal" if field else "let a step depend on it"
        )
        message = f"misread so, {wants}, and the steps of `solution` do the same: {remedy}"
        return str(self._written.problem(keys, message))

    @contextmanager
    def _misread(self, expected: Any) -> Iterator[_Right]:
        """Yield the truth under a misreading."""
        right = self._right_of(expected)
        try:
            with right.supposed.beginning():
                yield right
        except (Wrong, ExpressionError):
            raise Inapplicable from None  # who misreads it so notices

    def _right_of(self, expected: Any) -> _Right:
        if self._known is None or self._known[0] is not expected:
            truth = self._written.truth_of(expected)
            supposed = Supposition(truth)
            right = wanted_of(self._definition, truth)
            found = walked(self._definition, truth), victims_of(self._definition, truth)
            self._known = expected, _Right(supposed, right, *found)
        return self._known[1]

    def _left(self, rows: Sequence[Wanted], victims: set[tuple[str, str]]) -> list[Wanted]:
        """The rows that the rest of the walk brings about."""
        done = {self._definition.solution[number].for_ for number in self._lead}
        return [
            one
            for one in rows
            if one.entity is None or one.entity.fact not in done or name_of(one.entity) in victims
        ]

    def _finish(
        self, tools: Tools, truth: Truth, victims: set[tuple[str, str]], also: Sequence[Entity] = ()
    ) -> None:
        solution = Solution(self._definition, truth, tools)
        rest = [number for number in range(len(self._definition.solution)) if number not in self._lead]
        try:
            made = solution.make(self._lead, lambda one: name_of(one) in victims, also)
            if also and not made:
                raise Inapplicable
            solution.make(rest)
        except ToolError:
            raise Inapplicable from None  # the tools do not let it happen

    def _needless(self, name: str, kind: str, tools: Tools, expected: Any) -> None:
        right = self._right_of(expected)
        truth = right.supposed.truth
        others = [*truth.sets.get(name, ()), *truth.background.get(name, ())]
        wanted = {name_of(one.entity) for one in right.wanted if one.entity}
        one = next((one for one in others if one.case == kind and name_of(one) not in wanted), None)
        if one is None or any(goal.for_ == name and _chooses(goal, kind) for goal in self._definition.goal):
            raise Inapplicable
        self._done_for(one, tools, expected)

    def _needless_like(self, name: str, distractor: str, tools: Tools, expected: Any) -> None:
        right = self._right_of(expected)
        truth = right.supposed.truth
        kinds = {one.entity.case for one in right.wanted if one.entity}
        likes = [one for one in truth.background.get(name, ()) if one.distractor == distractor]
        likes.sort(key=lambda one: one.case not in kinds)  # those that would be done
        if not likes:
            raise Inapplicable
        self._done_for(likes[0], tools, expected)

    def _done_for(self, one: Entity, tools: Tools, expected: Any) -> None:
        steps = [step for number, step in enumerate(self._definition.solution) if number in self._lead]
        with self._misread(expected) as right:
            truth = right.supposed.truth
            if any(step.for_ == one.fact for step in steps):
                self._finish(tools, truth, right.victims, [one])
                return
            # Whoever lists them takes it for one of them.
            right.supposed.all_of(one.fact, [*truth.sets[one.fact], one])
            if same_rows(right.wanted, wanted_of(self._definition, truth)):
                raise Inapplicable
            self._finish(tools, truth, victims_of(self._definition, truth))

    def _twice(self, name: str, kind: str | None, tools: Tools, expected: Any) -> None:
        right = self._right_of(expected)
        truth = right.supposed.truth
        adds = any(goal.for_ == name and goal.how == "add" for goal in self._definition.goal)
        steps = [number for number in self._lead if self._definition.solution[number].for_ == name]
        wanted = {name_of(one.entity) for one in right.wanted if one.entity}
        one = next((one for one in truth.sets[name] if one.case == kind and name_of(one) in wanted), None)
        if not adds or not steps or one is None:
            raise Inapplicable
        self._finish(tools, truth, right.victims, [one])


def _walk_for_others(written: YamlFamily, lead: Sequence[int], tools: Tools, expected: Any) -> None:
    truth = written.truth_of(expected)
    victims = victims_of(written.definition, truth)
    Solution(written.definition, truth, tools).make(lead, lambda one: name_of(one) not in victims)


def _outcome(rows: Sequence[Wanted], steps: Sequence[set[tuple[str, str]]]) -> str:
    """Digest what is wanted and for whom steps are made."""
    fields = [
        {name: value.rows if isinstance(value, GoalTable) else value for name, value in one.fields.items()}
        for one in rows
    ]
    return sha256(repr((fields, [sorted(those) for those in steps])).encode()).hexdigest()


def _leading(definition: Definition) -> list[int]:
    """The steps that can be made for some entities first: those before one that looks at all of them."""
    found = []
    for number, step in enumerate(definition.solution):
        if step.for_ is None or step.sort:
            break
        found.append(number)
    return found


def _drawn(fields: Any) -> Iterator[tuple[str, Draw]]:
    for name, source in fields.items():
        if isinstance(source, Draw) and not isinstance(source, Ref):
            yield name, source


def _top(definition: Definition, name: str) -> str:
    parent = definition.entities[name].parent
    return name if parent is None else _top(definition, parent)


def _chooses(goal: Goal, kind: str) -> bool:
    return goal.where is None and (goal.cases is None or kind in goal.cases)
