"""Derivations of the goal from the prompt and the texts, step by step, with the gaps.

A walk knows the answers, so that it proves nothing about the question. What follows from what is noted while
the goal is worked out; each value at the end of that must be told: by a statement, by the prompt, or by what
is said once for all. What a case stands for is quoted (``told``), and the quotation must be found.
"""

# A solution that knows the truth proves only that the goal can be reached, not that the answer can be read
# (decision 098).

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mesocosm.kits.yaml_tasks.ambiguity import Ambiguity, passed_over, rows_in
from mesocosm.kits.yaml_tasks.complaints import Gap
from mesocosm.kits.yaml_tasks.definition import Case, Definition, Distractor, Rows, Selection, Statement
from mesocosm.kits.yaml_tasks.draws import Draw, drawn
from mesocosm.kits.yaml_tasks.entities import Entity, Read, Wrong, evaluated, selects
from mesocosm.kits.yaml_tasks.evidence_proof import behind, reads_of, text_of
from mesocosm.kits.yaml_tasks.expressions import ANYTHING, Expression
from mesocosm.kits.yaml_tasks.filters import show
from mesocosm.kits.yaml_tasks.grading import wanted_of
from mesocosm.kits.yaml_tasks.language import ExpressionError
from mesocosm.kits.yaml_tasks.numerals import says_number, says_span
from mesocosm.kits.yaml_tasks.placement import Told
from mesocosm.kits.yaml_tasks.population import Filled
from mesocosm.kits.yaml_tasks.rendering import expressions_of, prepared
from mesocosm.kits.yaml_tasks.sensitivity import Place, Showing
from mesocosm.kits.yaml_tasks.truth import Truth
from mesocosm.services.words import find_thing

_SHOWN = 100
_SAMPLE = 20
_ALIKE = 3
"""So many values are replaced of those that are told in the same way."""
_PLAIN = (0, 1, 100)
"""Numbers that need not be told: nothing, one, and what percentages are of."""
_SAID_PLAINLY: Mapping[float, Sequence[str]] = {
    0: ("no", "not", "nothing", "none", "never", "nobody", "without", "free"),
    1: ("a", "an", "once", "single", "first"),
    100: ("all", "full", "fully", "whole", "entire", "everything", "complete", "completely"),
}
"""Words for a case that imply these values."""
_LAST = re.compile(r"\b(?:last|latest|newest|most recent|later)\b")


_PYTHON = (
    "is Python, which the proof does not follow: say it in an expression, or put a function "
    "`solve(tools, prompt)` beside it that finds the answer by reading"
)
"""Reason why results of a Python function are not derived."""


@dataclass(frozen=True)
class Known:
    """One thing that an agent must know, and where it stands."""

    what: str
    value: str
    stands: str

    def __str__(self) -> str:
        return f"{self.what} = {self.value}: {self.stands}"


@dataclass(frozen=True)
class Quotation:
    """Words that must stand in the prompt or in a delivered text."""

    keys: tuple[Any, ...]
    label: str
    text: str

    def missing(self, texts: Iterable[str], rules: str) -> Gap | None:
        """Return the complaint if no text contains the quotation; texts are flattened."""
        if any(form in text for form in _forms(self.text) for text in texts):
            return None
        near = nearest(self.text, rules)
        message = (
            f"{self.label}: {shortened(self.text)!r} stands neither in the prompt nor in what is delivered"
        )
        return Gap(self.keys, f"{message}; nearest: {near!r}" if near else message)


@dataclass
class Derived:
    known: list[Known] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    asked: list[Gap] = field(default_factory=list)
    """Contradictions to the prompt, and judged values that it does not mention."""
    apart: list[Gap] = field(default_factory=list)
    """Cases and distractors that nothing tells from others."""
    quotations: list[Quotation] = field(default_factory=list)
    rules: str = ""
    """The prompt, and what is told once."""


def judged_by_python() -> Gap:
    """Make the complaint about a judging function without a solver that reads."""
    return Gap(("python",), f"`check` {_PYTHON}")


def flat(text: str) -> str:
    """A text with single blanks and no capitals."""
    return " ".join(text.split()).lower()


def shortened(text: str) -> str:
    """The beginning of a text, in a line."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 3]}..."


def nearest(text: str, rules: str) -> str:
    """The sentence most like a text; empty where none is."""
    sentences = [" ".join(one.split()) for one in re.split(r"(?<=[.;:!?])\s|\n\n", rules)]
    found = difflib.get_close_matches(text, [one for one in sentences if one], n=1, cutoff=0.4)
    return shortened(found[0]) if found else ""


def _forms(text: str) -> set[str]:
    """A text as it may stand in results."""
    line = flat(text)
    return {line, line.replace("\\", "\\\\").replace('"', '\\"')}


def spelt(fields: Any) -> Iterator[str]:
    """The texts in fields of a thing."""
    if isinstance(fields, str):
        yield fields
    elif isinstance(fields, Mapping):
        for key, inner in fields.items():
            yield str(key)
            yield from spelt(inner)
    elif isinstance(fields, (list, tuple)):
        for inner in fields:
            yield from spelt(inner)
    elif isinstance(fields, (int, float)):
        yield show(fields)


def rules_of(filled: Filled, prompt: str) -> str:
    """The prompt, and all that is told once."""
    return "\n\n".join([prompt, *(text for one in filled.once for text in spelt(one.fields))])


def derive(
    definition: Definition,
    truth: Truth,
    filled: Filled,
    prompt: str,
    prompt_reads: Iterable[Read],
    asking: Expression,
) -> Derived:
    """Trace everything the goal wants to its evidence.

    ``asking``: what the file has as prompt, which reads ``prompt_reads``.
    """
    return _Deriving(definition, truth, filled, prompt, prompt_reads, asking).derived()


class _Deriving:
    def __init__(
        self,
        definition: Definition,
        truth: Truth,
        filled: Filled,
        prompt: str,
        prompt_reads: Iterable[Read],
        asking: Expression,
    ) -> None:
        self._definition, self._truth, self._filled = definition, truth, filled
        self._behind: dict[Read, set[Read]] = {}
        self._mentions: dict[tuple[int, str], tuple[frozenset[str], frozenset[str]]] = {}
        self._found = Derived(rules=rules_of(filled, prompt))
        truth.forget()  # what was worked out before would hide what it follows from
        # A prompt that only tests a value (``{"late" if day > due}``) tells the outcome and not the value, so
        # what is read and what is shown are kept apart all the way.
        self._showing = Showing(definition, truth)
        self._prompt_reads = self._shown(prompt_reads, (asking.mentions, asking.shows))
        self._written = flat(" ".join([*asking.literals, *_literals(filled.once)]))
        """Constants of the file that everybody is told, never taken for numbers of a rule, such as today's
        day."""
        self._by_rule = self._prompt_reads | {
            read for one in filled.once for name in one.reads for read in self._shown_in(one, name)
        }
        self._where: dict[Read, list[Place]] = {}
        self._tried: Counter[tuple[Any, ...]] = Counter()
        self._summed_up: dict[tuple[str, str | None], bool] = {}
        self._summed: set[Read] = set()
        self._seen: dict[Read, str] = {}
        self._sources = set[tuple[Any, ...]]()

    def derived(self) -> Derived:
        truth = self._truth
        for told in self._filled.told:
            for name in told.reads:
                for read in self._shown_in(told, name):
                    self._where.setdefault(read, []).append((told, name))
        for told in self._filled.summed:
            self._summed |= self._all_behind(read for reads in told.reads.values() for read in reads)
        # Twice: the first run works everything out, so that the second one reads only what the goal itself
        # asks for.
        with self._quietly():
            wanted_of(self._definition, truth)
        with truth.watched() as reads:  # what follows from others is known by now, and these are not read
            wanted_of(self._definition, truth)
        closure = self._all_behind(reads)
        self._expressions_of_goals()
        for read in sorted(reads, key=called):
            self._seek(read)
        self._cases(closure)
        self._decided_alike(closure)
        self._out_of_order(closure)
        self._shifted(closure)
        self._selected_by()
        self._left_unused(closure)
        self._expectations()
        everything = [*self._filled.once, *self._filled.told, *self._filled.beside]
        apart = Ambiguity(self._definition, truth, everything)
        self._found.apart += [*apart.untold(), *apart.unanswerable(), *apart.mixed_up(self._wanted)]
        return self._found

    def _all_behind(self, reads: Iterable[Read]) -> set[Read]:
        return {further for one in reads for further in behind(self._truth, one, self._behind)}

    def _shown_in(self, told: Told, part: str) -> set[Read]:
        """Return the fields whose values appear in a text, not only what follows from them."""
        if told.statement is None:
            return set()
        place = id(told.statement), part
        if place not in self._mentions:
            self._mentions[place] = self._mentioned(prepared(told.statement.fields.get(part)))
        shown = self._shown(told.reads[part], self._mentions[place])
        if told.entity is not None and (over := passed_over(told, part)):
            shown = {read for read in shown if read[0] is not told.entity or read[1] not in over}
        return shown

    def _mentioned(self, source: Any) -> tuple[frozenset[str], frozenset[str]]:
        """Return the names that are read, and those whose values are shown rather than tested; all if a
        Python function decides.
        """
        found, shown = set[str](), set[str]()
        for expression in expressions_of(source):
            # A moment that is shown shifted by a span tells the moment only if the span is said somewhere.
            found |= expression.mentions
            known = all(self._is_said(shift) for shift in expression.shifts)
            shown |= expression.shows if known else expression.steady
            if expression.calls & self._truth.hooks.keys():
                found.add(ANYTHING)
        return frozenset(found), frozenset(shown)

    def _shown(self, reads: Iterable[Read], names: tuple[frozenset[str], frozenset[str]]) -> set[Read]:
        """Return the shown fields among those read, with what they reveal. A value that is only compared is
        not revealed.
        """
        mentions, shows = names
        if ANYTHING in mentions:
            return set(reads)
        found, todo = set[Read](), [read for read in reads if read[1] in mentions]
        if mentions - shows and ANYTHING not in shows:
            todo = [read for read in todo if read[1] in shows or not self._is_measured(read)]
        while todo:
            if (read := todo.pop()) in found:
                continue
            found.add(read)
            entity, name = read
            source = entity.source_of(name) if name in entity.definition.own_fields else None
            # Whoever reads a sum or a joined text learns what it is made of; of a choice only which way it
            # went.
            if isinstance(source, Expression) and not source.decides and name not in entity.drawn:
                deeper = behind(self._truth, read, self._behind)
                todo += self._shown(deeper - {read}, self._mentioned(source)) - found
        return found

    def _is_measured(self, read: Read) -> bool:
        entity, name = read
        with self._quietly():
            value = entity.lookup(name)
        return _is_number(value) or isinstance(value, (dt.date, dt.timedelta))

    def _gap(self, keys: tuple[Any, ...], message: str, *, untold: bool = False) -> None:
        gap = Gap(keys, message, untold)
        if gap not in self._found.gaps:
            self._found.gaps.append(gap)

    @cached_property
    def _rules(self) -> str:
        return flat(self._found.rules)

    @cached_property
    def _told(self) -> str:
        told = (text for one in self._filled.told for text in spelt(one.fields))
        return flat("\n".join([self._rules, *told]))

    # -- values -----------------------------------------------------------------------------------------

    def _seek(self, read: Read) -> None:
        """Find where a field is told: directly, or through everything it follows from."""
        if read in self._seen:
            return
        self._seen[read] = ""
        entity, name = read
        if name in ("case", "distractor", "index", "this"):
            return
        if read in self._prompt_reads:
            self._know(read, "the prompt says it")
        elif read in self._where:
            told, part = self._where[read][0]
            self._know(read, f"{told.what} tells it: {shortened(text_of(told, part))!r}")
            self._reads_the_same(read)
        elif read in self._summed:
            self._know(read, "queries of tables answer it")
        else:
            self._follow(entity, name)

    def _reads_the_same(self, read: Read) -> None:
        """Report values whose text would read the same with another value. Tries a few alternatives."""
        entity, name = read
        places = self._where[read]
        alike = (
            entity.fact,
            name,
            entity.case,
            entity.distractor,
            *((id(it.statement), on) for it, on in places),
        )
        self._tried[alike] += 1
        # Entities of one case are told by the same statements; other values are tried for a few of them.
        if self._tried[alike] > _ALIKE or (other := self._showing.same_for(read, places)) is None:
            return
        told, part = places[0]
        index = self._definition.evidence.index(told.statement) if told.statement else 0
        message = f"{_is(entity, name)}, and what tells it would read the same with {other}"
        keys = ("evidence", index, told.what, part)
        self._once(keys, f"{message}: {shortened(text_of(told, part))!r}", name)

    def _follow(self, entity: Entity, name: str) -> None:
        source, keys, read = entity.source_of(name), entity.keys_of(name), (entity, name)
        if name not in entity.definition.own_fields:
            self._know(read, "the service gives it")
        elif isinstance(source, Draw):
            self._once(keys, f"{_is(entity, name)}; the goal needs it, and no evidence tells it", untold=True)
        elif _is_worked_out(source):
            self._constants(source, keys, entity)
            with self._quietly():
                evaluated(source, entity.lookup)
            deeper = sorted(reads_of(self._truth, entity, source) - {read}, key=called)
            self._know(
                read, f"follows from {', '.join(dict.fromkeys(map(called, deeper))) or 'nothing else'}"
            )
            for one in deeper:
                self._seek(one)
        else:
            self._constant(entity, name, source, keys)

    def _constant(self, entity: Entity, name: str, source: Any, keys: tuple[Any, ...]) -> None:
        """Report constants of the file that no agent can read."""
        # A constant of the file is the author's knowledge: a case that says ``fee: 12`` needs a text that
        # says so.
        untold = [one for one in _scalars(source) if not self._is_told(one)]
        if keys[2] == "cases" and source is not None and not self._quotes(entity, source):
            message = f"{_is(entity, name)} by its case alone, which no evidence tells"
            self._once(keys, f"{message}, and no `quote` of the case has")
        elif untold and keys[2] != "cases":
            what = "" if untold == [source] else f" ({_shown(untold[0])})"
            self._once(keys, f"{_is(entity, name)}{what}, which neither the prompt nor a rule says")
        elif source is not None:
            self._know((entity, name), "the rules say it")

    def _once(self, keys: tuple[Any, ...], message: str, part: str = "", *, untold: bool = False) -> None:
        """One complaint for each place: the entities differ in no more than their values."""
        if ("gap", *keys, part) not in self._sources:
            self._sources.add(("gap", *keys, part))
            self._gap(keys, message, untold=untold)

    def _know(self, read: Read, stands: str) -> None:
        entity, name = read
        with self._quietly():
            value = entity.lookup(name)
        self._seen[read] = stands
        if not isinstance(value, (Entity, list, tuple, dict)):
            self._found.known.append(Known(called(read), _shown(value), stands))

    def _quietly(self) -> Any:
        return self._truth.watched()

    def _is_said(self, value: Any) -> bool:
        """True if a constant is stated to everybody."""
        return says_span(self._written, value) if isinstance(value, dt.timedelta) else self._is_told(value)

    def _is_told(self, value: Any) -> bool:
        if isinstance(value, bool) or value is None or value == "":
            return True
        if isinstance(value, (int, float)):
            return value in _PLAIN or says_number(self._written, value)
        if isinstance(value, str):
            return flat(value) in self._told
        return True

    # -- what the goal itself says ----------------------------------------------------------------------

    def _expressions_of_goals(self) -> None:
        for index, goal in enumerate(self._definition.goal):
            place: tuple[Any, ...] = ("goal", index)
            if goal.where is not None:
                self._constants(goal.where, (*place, "where"), None)
            for rows in rows_in(goal.fields):
                self._constants(rows.each, (*place, goal.what), None)
            self._constants_in(goal.fields, (*place, goal.what))

    def _constants_in(self, value: Any, keys: tuple[Any, ...]) -> None:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                if key == "where" and "columns" in value:
                    self._constants(Selection.model_validate({"where": inner}).where, (*keys, key), None)
                elif key not in ("matches", "only", "within", "cases", "sort", "for", "each"):
                    self._constants_in(inner, (*keys, key))
        elif isinstance(value, list):
            for inner in value:
                self._constants_in(inner, keys)
        else:
            self._constants(prepared(value), keys, None)
            if _is_number(value) and not self._is_told(value):
                self._gap(keys, f"{show(value)} is judged, and neither the prompt nor a rule says it")

    def _constants(self, source: Any, keys: tuple[Any, ...], entity: Entity | None) -> None:
        """The numbers and words that an expression decides by."""
        place = ("constants", *keys)
        if place in self._sources:
            return
        self._sources.add(place)
        for expression in expressions_of(source):
            label = f"{entity.label}: " if entity else ""
            for name in sorted(expression.calls & self._truth.hooks.keys()):
                self._gap(keys, f"{label}`{name}` {_PYTHON}")
            for value in expression.constants:
                if not self._is_said(value):
                    message = f"{label}{_shown(value)} decides in {shortened(expression.source)!r}"
                    self._gap(keys, f"{message}, and neither the prompt nor a rule says it")

    # -- cases ------------------------------------------------------------------------------------------

    def _cases(self, closure: set[Read]) -> None:
        """Check that cases are explained where the goal depends on them."""
        deciding = {entity.fact for entity, name in closure if name == "case"}
        deciding |= {
            str(one.for_) for one in selections(self._definition) if one.for_ and one.cases is not None
        }
        for fact, it in self._definition.entities.items():
            counting = [one for one in it.cases_with(background=False) if self._of_kind(fact, one)]
            self._quoted(fact, "cases", it.cases)
            self._quoted(fact, "distractors", it.distractors)
            plain = [one for one in counting if not it.cases[one].quote]
            if fact not in deciding or len(plain) < 2:
                continue
            ordinary = next((one for one in plain if self._is_wanted(self._of_kind(fact, one)[0])), plain[0])
            for kind in plain:
                if kind != ordinary:
                    does = "wants" if self._is_wanted(self._of_kind(fact, kind)[0]) else "leaves out"
                    message = f"the goal decides by cases, and {does} {fact} {kind}; `quote` is to give"
                    where = "what says so in the prompt, in a document or in what is told of it"
                    self._gap(("entities", fact, "cases", kind), f"{message} {where}")

    def _decided_alike(self, closure: set[Read]) -> None:
        """Report cases that the goal treats differently although their texts do not differ."""
        for fact, it in self._definition.entities.items():
            kinds = [one for one in it.cases_with(background=False) if self._of_kind(fact, one)]
            ones = {kind: self._of_kind(fact, kind)[:_SAMPLE] for kind in kinds}
            made = {kind: self._made_of(ones[kind]) for kind in kinds} if len(kinds) > 1 else {}
            for number, kind in enumerate(kinds):
                for other in kinds[number + 1 :]:
                    differs = self._decided(fact, kind, other, closure)
                    if not differs or not made[kind] & made[other]:
                        continue
                    if not any(
                        self._tells_case(fact, one, kind, other) for one in (*ones[kind], *ones[other])
                    ):
                        message = f"nothing that is told is different in a {fact} that is {other} and in one"
                        keys = ("entities", fact, "cases", other)
                        self._once(
                            keys, f"{message} that is {kind}, and the goal makes another {differs} of it"
                        )

    def _decided(self, fact: str, kind: str, other: str, closure: set[Read]) -> str:
        """Return a field that the goal decides by the case alone; empty if everything is told."""
        it = self._definition.entities[fact]
        pair = self._of_kind(fact, kind)[0], self._of_kind(fact, other)[0]
        for name in [*it.cases[kind].fields, *it.cases[other].fields]:
            sources = [one.source_of(name) for one in pair]
            known = any((one, name) in self._where or isinstance(one.source_of(name), Draw) for one in pair)
            if sources[0] != sources[1] and not known and any((one, name) in closure for one in pair):
                return name
        return ""

    def _made_of(self, ones: Sequence[Entity]) -> set[frozenset[int]]:
        """Return the sets of evidence that these are told by: evidence of its own reveals a case."""
        return {
            frozenset(id(told.statement) for told in self._by_entity.get(one, ()))
            | self._in_tables.get(one, set())
            for one in ones
        }

    @cached_property
    def _in_tables(self) -> dict[Entity, set[int]]:
        found: dict[Entity, set[int]] = {}
        for told in (*self._filled.told, *self._filled.summed):
            for reads in told.reads.values() if told.entity is None else ():
                for entity, _ in reads:
                    found.setdefault(entity, set()).add(id(told.statement))
        return found

    def _tells_case(self, fact: str, entity: Entity, *kinds: str) -> bool:
        """True if the texts about an entity depend on its case, or on fields that only the case has."""
        it = self._definition.entities[fact]
        names = {name for kind in kinds for name in it.cases[kind].fields}
        if any((entity, name) in reads for name in ("case",) for reads in self._reads_about(entity)):
            return True
        return any(
            (entity, name) in self._where and behind(self._truth, (entity, name), self._behind) & owned
            for owned in [{(entity, one) for one in names}]
            for name in it.own_fields
        )

    def _reads_about(self, entity: Entity) -> Iterator[set[Read]]:
        for told in self._by_entity.get(entity, ()):
            yield from map(set, told.reads.values())

    def _out_of_order(self, closure: set[Read]) -> None:
        """``new_time or time`` where the new time was written before the other, and a rule says the last."""
        if not _LAST.search(self._rules):
            return
        seen = set[tuple[str, str | None]]()
        for entity, name in sorted(closure, key=called):
            source = entity.source_of(name)
            if not isinstance(source, Expression) or (entity.fact, entity.case) in seen:
                continue
            for chain in source.chains:
                dated = [(one, when) for one in chain if (when := self._written_at((entity, one)))]
                if len(dated) > 1 and any(when > dated[0][1] for _, when in dated[1:]):
                    seen.add((entity.fact, entity.case))
                    first, (second, _) = dated[0][0], max(dated[1:], key=lambda pair: pair[1])
                    message = (
                        f"{entity.label}: {first} is taken rather than {second}, which was written later"
                    )
                    self._gap(entity.keys_of(first), f"{message}, and a rule says that the last counts")

    def _written_at(self, read: Read) -> dt.datetime | None:
        """Return when the first letter that tells a value was written; ``None`` if none does."""
        moments = []
        for told, part in self._where.get(read, ()):
            thing = find_thing(told.what)
            when = told.fields.get(thing.when or "") if thing and part != thing.when else None
            if isinstance(when, dt.datetime) and thing and thing.letter:
                moments.append(when)
        return min(moments, default=None)

    def _shifted(self, closure: set[Read]) -> None:
        """Texts that name another number than the one that counts, which something else tells."""
        others = {
            (id(it), part): (index, names)
            for index, it in enumerate(self._definition.evidence)
            for part, value in it.fields.items()
            for one in expressions_of(prepared(value))
            if any(_is_number(shift) and not self._is_said(shift) for shift in one.shifts)
            and (names := one.shows - one.steady)
        }
        for told in self._filled.told if others else ():
            for part, reads in told.reads.items():
                index, names = others.get((id(told.statement), part), (0, frozenset()))
                for read in reads if names else ():
                    if read[1] in names and read in closure and read in self._where:
                        message = f"{_is(*read)}, and evidence.{index} names another number for it"
                        self._once(("evidence", index, told.what, part), message, read[1])

    def _of_kind(self, fact: str, kind: str | None) -> list[Entity]:
        return [one for one in self._truth.sets.get(fact, ()) if one.case == kind]

    def _quoted(self, fact: str, part: str, cases: Mapping[str, Case] | Mapping[str, Distractor]) -> None:
        for name, case in cases.items():
            if case.quote is None:
                continue
            keys = ("entities", fact, part, name, "quote")
            ones = [*self._truth.sets.get(fact, ()), *self._truth.background.get(fact, ())]
            ones = [one for one in ones if (one.distractor if part == "distractors" else one.case) == name]
            if part == "cases":
                ones = [one for one in ones if not one.distractor]
            seen = set[str]()
            for entity in ones:
                for text in self._quotes_of(case, entity, keys):
                    if text not in seen:
                        seen.add(text)
                        self._found.quotations.append(Quotation(keys, entity.label, text))
            for text in sorted(seen)[:3]:
                wanted = "" if part == "distractors" or not ones else self._said_of(ones[0])
                self._found.known.append(
                    Known(f"{fact} {name}{wanted}", repr(text), "its rule, which the proof finds told")
                )

    def _said_of(self, entity: Entity) -> str:
        return ", wanted" if self._is_wanted(entity) else ", not wanted"

    def _quotes_of(self, case: Case | Distractor, entity: Entity, keys: tuple[Any, ...]) -> list[str]:
        try:
            with self._quietly():
                found = evaluated(prepared(case.quote), entity.lookup)
        except ExpressionError as error:
            raise Wrong(keys, f"{entity.label}: {error}") from None
        return [str(one) for one in (found if isinstance(found, list) else [found])]

    def _quotes(self, entity: Entity, value: Any) -> bool:
        """True if the texts about an entity's case contain a value."""
        case = entity.definition.cases[entity.case or ""]
        if case.quote is None:
            return False
        keys = ("entities", entity.fact, "cases", entity.case, "quote")
        text = flat(" ".join(self._quotes_of(case, entity, keys)))
        words = set(re.findall(r"\w+", text))
        return all(
            says_number(text, one) or any(word in words for word in _SAID_PLAINLY.get(one, ()))
            if _is_number(one)
            else isinstance(one, bool) or flat(str(one)) in text
            for one in _scalars(value)
        )

    @cached_property
    def _wanted(self) -> set[Entity]:
        with self._quietly():
            return wanted_entities(self._definition, self._truth)

    def _is_wanted(self, entity: Entity) -> bool:
        return entity in self._wanted

    def _expectations(self) -> None:
        for fact, it in self._definition.entities.items():
            for kind, case in it.cases.items():
                keys = ("entities", fact, "cases", kind, "expect")
                for entity in self._of_kind(fact, kind) if case.expect else ():
                    for condition in case.expect:
                        self._expect(condition, entity, keys)
                        self._untold_in(condition, entity, keys)

    def _expect(self, condition: Expression, entity: Entity, keys: tuple[Any, ...]) -> None:
        def lookup(name: str) -> Any:
            own = name in entity.definition.own_fields
            return self._counts(entity) if name == "wanted" and not own else entity.lookup(name)

        try:
            with self._quietly():
                if condition.value(lookup):
                    return
                names = sorted(name for name in condition.names if name != "wanted")
                values = [f"{name} is {_shown(lookup(name))}" for name in names]
        except ExpressionError as error:
            raise Wrong(keys, f"{entity.label}: {error}") from None
        if "wanted" in condition.names:
            values.append("the goal wants it" if self._counts(entity) else "the goal does not want it")
        message = f"{entity.label}: not {condition.source}: {', '.join(values)}"
        self._once(keys, message, condition.source)

    def _counts(self, entity: Entity) -> bool:
        """True if the goal concerns an entity, directly or because it would differ without it, as a sum
        does.
        """
        if entity in self._wanted or entity.parent is not None:
            return entity in self._wanted
        alike = entity.fact, entity.case
        if alike not in self._summed_up:
            few = [one for one in self._of_kind(*alike) if one not in self._wanted][:_ALIKE]
            self._summed_up[alike] = any(map(self._showing.matters_itself, few))
        return self._summed_up[alike]

    def _is_known(self, read: Read, pending: frozenset[Read] = frozenset()) -> bool:
        """True if a field is told or follows from told fields."""
        entity, name = read
        if name in ("case", "distractor", "index", "this") or name not in entity.definition.own_fields:
            return True
        if read in self._prompt_reads or read in self._where or read in self._summed:
            return True
        source = entity.source_of(name)
        if isinstance(source, Draw):
            return False
        deeper = reads_of(self._truth, entity, source) - {read} - pending if _is_worked_out(source) else set()
        return all(self._is_known(one, pending | {read}) for one in deeper)

    def _untold_in(self, condition: Expression, entity: Entity, keys: tuple[Any, ...]) -> None:
        """Report values that ``expect`` reads and no evidence tells."""
        for name in sorted(condition.names & entity.definition.own_fields.keys()):
            # What the goal needs, too, was complained about as that.
            if (entity, name) not in self._seen and not self._is_known((entity, name)):
                message = f"{_is(entity, name)}, which `expect` reads and no evidence tells"
                self._once(keys, message, f"untold {name}")

    # -- what selects -----------------------------------------------------------------------------------

    def _selected_by(self) -> None:
        """Report criteria for what counts that neither the prompt nor a rule states."""
        chosen = {one.for_: one for one in selections(self._definition) if one.for_ in self._truth.sets}
        for fact in chosen:
            it = self._definition.entities[str(fact)]
            for name, other in it.distractors.items():
                self._told_apart(str(fact), other, ("entities", fact, "distractors", name), name)
            for name in it.cases_with(background=True):
                self._told_apart(str(fact), it.cases[name], ("entities", fact, "cases", name), name)
        for index, one in enumerate(selections(self._definition)):
            if one.where is not None and one.for_ in self._truth.sets:
                with self._truth.watched() as reads:
                    for entity in self._truth.sets[one.for_]:
                        _selects(one, entity)
                for read in sorted(reads, key=called):
                    self._single_named(read, ("goal", min(index, len(self._definition.goal) - 1)))

    def _single_named(self, read: Read, keys: tuple[Any, ...]) -> None:
        entity, name = read
        if entity.fact not in self._truth.singles or not self._is_unsaid(read):
            return
        message = "the goal selects by it, and neither the prompt nor a rule says so"
        self._gap(keys, f"{_is(entity, name)}; {message}")

    def _told_apart(self, fact: str, other: Case | Distractor, keys: tuple[Any, ...], name: str) -> None:
        if other.quote is not None:
            return
        shown: list[str] = []
        with self._quietly():
            for entity in self._truth.sets[fact][:40]:
                unsaid = [one for one in other.fields if self._is_unsaid((entity, one))]
                if len(unsaid) < len(other.fields):
                    return
                shown += [f"{one} {_shown(entity.lookup(one))}" for one in unsaid if not shown]
        if not other.fields or shown:
            what = f"what counts has {', '.join(shown)}" if shown else "nothing in its fields is different"
            message = f"the prompt does not say, nor does a rule, why {fact} {name} does not count: {what}"
            self._gap(keys, message)

    def _is_unsaid(self, read: Read) -> bool:
        """True if neither the prompt nor a rule states a value or what it follows from."""
        entity, name = read
        if name in ("case", "distractor", "index", "this"):
            return True
        if behind(self._truth, read, self._behind) & self._by_rule:
            return False
        value = entity.lookup(name)
        if _is_number(value):
            return not says_number(self._written, value)
        return value is None or isinstance(value, (bool, Entity)) or flat(show(value)) not in self._rules

    # -- what is told and makes no difference -----------------------------------------------------------

    def _left_unused(self, closure: set[Read]) -> None:
        """Report fields of a case that are told but make no difference to the goal."""
        for told in self._filled.told:
            entity, statement = told.entity, told.statement
            if entity is None or statement is None or entity.background or entity not in self._wanted:
                continue
            case = entity.definition.cases.get(entity.case or "")
            if case is None or case.quote is not None or case.weight is not None:
                continue
            own = {name for name in _read_in(told) if name in self._names_of(entity, statement, case)}
            chosen_by = {name for other in entity.definition.distractors.values() for name in other.fields}
            if own - chosen_by and not any((entity, name) in closure for name in own):
                name = min(own - chosen_by)
                index = self._definition.evidence.index(statement)
                message = f"{_is(entity, name)}, which evidence.{index} tells"
                why = "use it, or let `quote` say why it does not count"
                self._once(entity.keys_of(name), f"{message}, and the goal makes nothing of it: {why}")

    def _names_of(self, entity: Entity, statement: Statement, case: Case) -> set[str]:
        """Fields that the case has, or that a statement made for some cases alone reads as no other does."""
        names = set(case.fields)
        kinds = entity.definition.cases_with(background=False)
        if statement.cases is not None and set(kinds) - set(statement.cases):
            elsewhere = {
                name
                for told in self._by_entity[entity]
                if told.statement is not statement
                for name in _read_in(told)
            }
            names |= {name for name in entity.definition.own_fields if name not in elsewhere}
        return names

    @cached_property
    def _by_entity(self) -> dict[Entity, list[Told]]:
        found: dict[Entity, list[Told]] = {}
        for told in self._filled.told:
            if told.entity is not None:
                found.setdefault(told.entity, []).append(told)
        return found


def called(read: Read) -> str:
    """Return how a field is named to people."""
    entity, name = read
    return f"{entity.fact}.{name}" if entity.definition.single else f"{entity.label}: {name}"


def _is(entity: Entity, name: str) -> str:
    """A field with its value, as complaints say it."""
    value = _shown(entity.lookup(name))
    return f"{called((entity, name))} is {value}"


def selections(definition: Definition) -> list[Selection]:
    """All that goals are for, and the rows in them."""
    found: list[Selection] = []
    for goal in definition.goal:
        found.append(goal)
        for value in goal.fields.values():
            if isinstance(value, Mapping) and "columns" in value:
                found.append(Rows.model_validate(value))
    return found


def wanted_entities(definition: Definition, truth: Truth) -> set[Entity]:
    """Those that a goal is for."""
    return {
        entity
        for one in selections(definition)
        if one.for_ in truth.sets
        for entity in truth.sets[one.for_]
        if _selects(one, entity)
    }


def _selects(one: Selection, entity: Entity) -> bool:
    try:
        return selects(one, entity)
    except Wrong:  # such as rows that read the thing around them
        return True


def _read_in(told: Told) -> set[str]:
    """Return the entity's fields in a text; its time is no information for a reader."""
    thing = find_thing(told.what)
    when = thing.when if thing else None
    return {
        name
        for part, reads in told.reads.items()
        if part != when
        for who, name in reads
        if who is told.entity
    } - {"index", "this", "case", "distractor"}


def _literals(once: Iterable[Told]) -> Iterator[str]:
    """Yield the literal text of evidence that is independent of the facts."""
    for told in once:
        for text in spelt(told.statement.fields if told.statement else {}):
            source = drawn(text)
            yield from source.literals if isinstance(source, Expression) else [text]


def _is_worked_out(source: Any) -> bool:
    return any(True for _ in expressions_of(source))


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _scalars(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _scalars(inner)
    else:
        yield value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    if isinstance(value, dt.timedelta):
        hours = value.total_seconds() / 3600
        return f"a span of {hours / 24:g} days" if hours >= 48 else f"a span of {hours:g} hours"
    if isinstance(value, (Entity, Mapping)):
        return getattr(value, "label", "a thing")
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    return shortened(show(value)) if value is not None else "nothing"


def missing_quotations(derived: Derived, texts: Sequence[str]) -> list[Gap]:
    """The quotations that stand nowhere; of each place the first."""
    flattened = [flat(derived.rules), *map(flat, texts)]
    found: dict[tuple[Any, ...], Gap] = {}
    for one in derived.quotations:
        if one.keys not in found and (gap := one.missing(flattened, derived.rules)):
            found[one.keys] = gap
    return list(found.values())
