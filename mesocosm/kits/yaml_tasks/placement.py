"""Telling the facts: each statement becomes a thing of a service, among others that cannot be told from it
without being read."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from mesocosm.kits.prose import RecentRuns
from mesocosm.kits.prose.courses import subject_called
from mesocosm.kits.yaml_tasks.braces import chosen
from mesocosm.kits.yaml_tasks.definition import Definition, Everyday, Rows, Statement
from mesocosm.kits.yaml_tasks.entities import Entity, Read, Wrong, evaluated
from mesocosm.kits.yaml_tasks.id_dependence import goes_through, is_late
from mesocosm.kits.yaml_tasks.language import ExpressionError
from mesocosm.kits.yaml_tasks.letters import LEAST, Crowd, Letters, Strangers
from mesocosm.kits.yaml_tasks.rendering import (
    fitted,
    in_order,
    joined_rows,
    misfit,
    parts_of,
    prepared,
    row_of,
    rows_with_owners,
    selects_at,
    survey_options,
)
from mesocosm.kits.yaml_tasks.scopes import Scope
from mesocosm.kits.yaml_tasks.truth import Further, Truth
from mesocosm.services.words import Fields, Thing, Word, find_thing
from mesocosm.worlds import tokens

OWN_SHARE = 0.75
"""Part of the filler that is background of the task's own kinds; the rest is everyday text."""
_ONCE = 0.85
"""Probability that an everyday writer writes only one thing, where most do (``Thing.writer``)."""
_SAMPLE = 60
_PLACEHOLDER = 10_000
"""Stands for an id that a service will give."""


@dataclass
class Told:
    """One thing to be put into a service."""

    what: str
    fields: Fields
    entity: Entity | None = None
    statement: Statement | None = None
    reads: Mapping[str, Collection[Read]] = field(default_factory=dict)
    """By its fields: the facts' fields that each was written from."""
    content: str = ""
    """Text of the statement itself, without its surroundings."""
    counting: Sequence[Mapping[str, Any]] | None = None
    """Of a table: those of its rows that are about no background."""
    given: Fields = field(default_factory=dict)
    cost: int = 0
    """About how many tokens a survey spends on it, once that was asked."""
    matters: Mapping[str, str] = field(default_factory=dict)
    """By topic, what the everyday text in it is about."""

    def again(self) -> Told:
        """The same for another world."""
        fields = dict(self.fields)
        return Told(
            self.what,
            fields,
            self.entity,
            self.statement,
            self.reads,
            self.content,
            self.counting,
            {},
            self.cost,
            self.matters,
        )

    @property
    def evidence(self) -> bool:
        """True if this text states a fact the goal depends on."""
        if not any(self.reads.values()) or (self.entity and self.entity.background):
            return False
        counts = self.statement.matters if self.statement else None
        return counts is None or self.entity is None or bool(counts.value(self.entity.lookup))


class Reads(Collection[Read]):
    """Fields that something was known from: an entity's own by their names, which are the same for many
    entities, and those of others."""

    __slots__ = ("entity", "others", "own")

    def __init__(self, entity: Entity | None, own: frozenset[str], others: frozenset[Read]) -> None:
        self.entity, self.own, self.others = entity, own, others

    def __len__(self) -> int:
        return len(self.own) + len(self.others)

    def __contains__(self, read: object) -> bool:
        return read in set(self)

    def __iter__(self) -> Iterator[Read]:
        if self.entity is not None:
            for name in self.own:
                yield self.entity, name
        yield from self.others


_OF_ONE = ("cc", "html_body", "answers", "files")
"""Fields of mails that each has for itself."""
_Row = tuple[dict[str, Any] | None, Reads]
"""A row of a table, if an entity has one, and what this was known from."""
_Place = tuple[int, Entity | None]
"""A statement by its number, and whom it is about."""


@dataclass(frozen=True)
class _Frame:
    """Frame around a statement, the same each time it is written."""

    before: str
    after: str
    title: str | None
    topic: str = ""
    matters: Mapping[str, str] = field(default_factory=dict)


class FactPlacement:
    """Renders statements, and what surrounds them.

    One instance serves all worlds that are built on the way to a length (``begin``): background entities that
    were made for one are there for the next, and what does not follow from ids is written only once.
    """

    def __init__(
        self,
        definition: Definition,
        truth: Truth,
        stream: Callable[[str], random.Random],
        count: Callable[[str], int] = tokens.count,
        letters: type[Letters] = Letters,
    ) -> None:
        self._count = count
        self._kind_of_letters = letters
        self.definition = definition
        self.truth = truth
        self._stream = stream
        self._statements = list(enumerate(definition.evidence))
        self._late = {
            index
            for index, statement in self._statements
            if is_late(statement.fields, truth.late)
            or any(map(is_rows, statement.fields.values()))
            or goes_through(statement.fields, definition, statement.for_)
        }
        self._tables = list(_tables(definition))
        self._told: dict[_Place, Told] = {}
        self._frames: dict[tuple[_Place, bool], _Frame] = {}
        self._places: dict[Entity | str, Fields] = {}
        """Placeholders for values that services will assign, by entity or by the ``as`` of what is told
        once."""
        self._counting: Sequence[Mapping[str, Any]] | None = None
        self._lasting: dict[tuple[Any, ...], dict[str, _Row]] = {
            keys: {}
            for keys, _, rows, outer in self._tables
            if outer is None
            and rows.for_
            and rows.each is None
            and not is_late(_said(rows), truth.late)
            and not goes_through(_said(rows), definition, rows.for_)
        }
        """Rows that follow from no ids, by table and entity: written once, however many worlds are built."""
        self._surveyed: dict[str, dict[str, Any]] = {}
        """By service, what the file says of how it is surveyed."""
        self._names: dict[frozenset[str], frozenset[str]] = {}
        self._reads: dict[frozenset[Read], frozenset[Read]] = {}
        self._further = Further(definition, truth, stream("background kinds"))
        self._said_around = RecentRuns()
        """Memory of surrounding texts, the same in all drafts and so written in the same order."""
        self._said = RecentRuns()
        """Memory of texts in this world."""

    def begin(self) -> None:
        """Back to where nothing was put into any service."""
        self._said = RecentRuns()
        self.truth.given.clear()
        names = [statement.as_ for statement in self.definition.evidence if statement.as_]
        for entity in self.truth.everything:
            for name in names:
                entity.drawn.pop(name, None)
        self.truth.forget_late()

    # -- statements -------------------------------------------------------------------------------------

    def statements_of(self, entity: Entity) -> Iterator[tuple[int, Statement]]:
        """Those that are made for an entity."""
        for index, statement in self._statements:
            if statement.for_ == entity.fact and selects_at(statement, entity, ("evidence", index)):
                yield index, statement

    def told(self, what: str, *, background: bool) -> Iterator[Told]:
        """All statements about one sort of thing: those of background entities, or the others."""
        for index, statement in self._statements:
            if statement.what == what:
                for entity in self._told_of(index, statement, background=background):
                    yield self.tell(index, statement, entity)

    def _told_of(self, index: int, statement: Statement, *, background: bool) -> Iterator[Entity | None]:
        """For whom a statement is made."""
        if statement.for_ is None:
            if not background:
                yield None
            return
        source = self.truth.background if background else self.truth.sets
        for entity in source.get(statement.for_, ()):
            if selects_at(statement, entity, ("evidence", index)):
                yield entity

    def tell(self, index: int, statement: Statement, entity: Entity | None) -> Told:
        place = index, entity
        told = self._told.get(place)
        if told is None:
            told = self._tell(index, statement, entity)
            if index not in self._late:
                self._told[place] = told
        return told.again()

    def _tell(self, index: int, statement: Statement, entity: Entity | None) -> Told:
        thing = find_thing(statement.what)
        assert thing is not None
        called = f"{index}:{entity.fact}:{entity.ident}" if entity else f"{index}:"
        rng = self._stream(f"tell:{called}")
        keys = ("evidence", index, statement.what)
        scope = Scope(self.truth, entity, rng)
        fields: Fields = {}
        reads: dict[str, Reads] = {}
        self._counting = None
        for name, value in statement.fields.items():
            with self.truth.watched() as seen:
                fields[name] = self._field((*keys, name), thing.says[name], value, scope, entity)
            reads[name] = self._shared(entity, seen)
        told = Told(statement.what, fields, entity, statement, reads, counting=self._counting)
        if thing.text and isinstance(fields.get(thing.text), str):
            told.content = fields[thing.text]
            content = told.content.strip()
            apart = "\n" in content
            place = (index, entity), apart
            frame = self._frames.get(place)
            if frame is None:
                frame = self._frame(thing, told, index, rng, apart=apart)
                if index in self._late:
                    self._frames[place] = frame
            fields[thing.text] = f"{frame.before}{content}{frame.after}"
            if thing.title and frame.title is not None:
                fields[thing.title] = frame.title
            told.matters = frame.matters
            letters = self._letters(self._stream(f"dress:{called}"), told, matters=frame.matters)
            fields |= self._dress(thing, fields, letters, frame.topic)
        if problem := thing.check(fields):
            raise Wrong(keys, f"{entity.label}: {problem}" if entity else problem)
        return told

    def _field(
        self, keys: tuple[Any, ...], word: Word, value: Any, scope: Scope, entity: Entity | None
    ) -> Any:
        label = f"{entity.label}: " if entity else ""
        try:
            if word.shape == "list" and is_rows(value):
                return self._rows(keys, Rows.model_validate(value), entity)
            if isinstance(value, list) and word.shape != "list" and word.shape != "data":
                share = self._even(keys[1], keys[-1], entity, scope.rng)
                value = value[int(share * len(value))]
            found = evaluated(prepared(value), scope)
            if isinstance(found, str):
                found = chosen(found, scope.rng)
            elif isinstance(found, list):
                found = [chosen(one, scope.rng) if isinstance(one, str) else one for one in found]
            elif isinstance(found, dict):
                found = {
                    key: chosen(one, scope.rng) if isinstance(one, str) else one for key, one in found.items()
                }
        except ExpressionError as error:
            raise Wrong(keys, f"{label}{error}") from None
        if problem := misfit(word, found):
            raise Wrong(keys, f"{label}{problem}")
        return fitted(word, found)

    def _rows(self, keys: tuple[Any, ...], rows: Rows, entity: Entity | None) -> Sequence[Mapping[str, Any]]:
        found: list[tuple[Entity | None, dict[str, Any]]]
        if entity is None and (ready := joined_rows(self.truth, rows, keys)):
            whole, self._counting = ready
            return whole
        # Rows of tables are made once for each entity and kept: a length is calibrated by many attempts, over
        # thousands of entities.
        if keys in self._lasting and rows.for_:
            ones = self.truth.everyone(rows.for_)
            chosen = [one for one in ones if self._row(keys, rows, one) is not None]
            found = [(one, self._row(keys, rows, one) or {}) for one in in_order(chosen, rows.sort, keys)]
        else:
            found = list(rows_with_owners(self.truth, rows, keys, entity, background=True))
        self._counting = [row for owner, row in found if owner is None or not owner.background]
        return [row for _, row in found]

    def _rows_of_one(
        self, keys: tuple[Any, ...], rows: Rows, entity: Entity, around: Entity | None
    ) -> Iterator[Mapping[str, Any]]:
        """The rows of an entity in a table: one or none, or with ``each`` as many as it has things."""
        if rows.each is None:
            if (row := self._row(keys, rows, entity, around)) is not None:
                yield row
        elif selects_at(rows, entity, keys, around):
            for part in parts_of(self.truth, rows, entity, keys, told=True):
                made = row_of(self.truth, rows, entity, keys, around, part, told=True)
                yield made if rows.columns else part

    def _row(
        self, keys: tuple[Any, ...], rows: Rows, entity: Entity, around: Entity | None = None
    ) -> dict[str, Any] | None:
        """The row of an entity in a table; ``None`` where it has none."""
        lasting = self._lasting.get(keys)
        if lasting is None:
            chosen = selects_at(rows, entity, keys, around)
            return row_of(self.truth, rows, entity, keys, around, told=True) if chosen else None
        if entity.ident not in lasting:
            with self.truth.watched() as seen:
                chosen = selects_at(rows, entity, keys)
                row = row_of(self.truth, rows, entity, keys, told=True) if chosen else None
            lasting[entity.ident] = row, self._shared(entity, seen)
        row, reads = lasting[entity.ident]
        # A row that was kept reads nothing now, but the proof has to see what it was made of.
        if self.truth.reads is not None and not entity.background:
            self.truth.reads.update(reads)
        return row

    def _shared(self, entity: Entity | None, reads: set[Read]) -> Reads:
        """Return the recorded reads, shared by all entities with the same ones."""
        # Thousands of rows read the same fields of others: one set for all of them instead of one each.
        own = frozenset(name for one, name in reads if one is entity)
        others = frozenset(read for read in reads if read[0] is not entity)
        return Reads(entity, self._names.setdefault(own, own), self._reads.setdefault(others, others))

    def _even(self, index: int, part: str, entity: Entity | None, rng: random.Random) -> float:
        """From 0 to below 1, spread evenly over the entities that a statement is made for."""
        if entity is None:
            return rng.random()
        return self.truth.even(f"tell:{index}:{part}", entity.place, background=entity.background)

    def _frame(
        self,
        thing: Thing,
        told: Told,
        index: int,
        rng: random.Random,
        *,
        apart: bool,
    ) -> _Frame:
        statement, fields, entity = told.statement, told.fields, told.entity
        assert statement is not None
        everyday = self.definition.noise.get(statement.what)
        if everyday is None:
            return _Frame("", "", None)
        letters = self._letters(rng, told, self._said_around)
        size = _size(everyday, self._even(index, "around", entity, rng)) if statement.around else 0
        topic = rng.choice(_topics(everyday, statement))
        before, after = letters.around(topic, size, apart=apart, share=everyday.apart)
        if thing.letter:
            hello, bye = letters.courtesies(fields, self.truth.singles["me"])
            before, after = f"{hello}\n\n{before}", f"{after}\n\n{bye}"
        subject = thing.title and thing.title not in fields
        title = letters.subject(topic) if subject else None
        return _Frame(before, after, title, topic, letters.matters)

    def _letters(
        self,
        rng: random.Random,
        like: Told,
        said: RecentRuns | None = None,
        matters: Mapping[str, str] | None = None,
    ) -> Letters:
        """Return the letter writer for a statement, or for noise like it: about its course, if it has one."""
        everyday = self.definition.noise.get(like.what)
        name = everyday.course if everyday else None
        currency = everyday.currency if everyday else "$"
        thing = find_thing(like.what)
        reader = str(self.truth.singles["me"]["name"]).split()[:1] if thing and thing.letter else []
        if name is None or like.entity is None:
            return self._kind_of_letters(rng, None, said, matters, currency, reader)
        course = like.entity.lookup(name)
        try:
            title, number = str(course["title"]), int(course["code"])
        except (KeyError, TypeError, ValueError):
            problem = f"{name} of {like.entity.label} has no title, or no number as code"
            raise Wrong(("noise", like.what, "course"), problem) from None
        return self._kind_of_letters(rng, subject_called(title, number), said, matters, currency, reader)

    def _dress(self, thing: Thing, fields: Fields, letters: Letters, topic: str) -> Fields:
        """Add to a mail what the noise settings ask for besides its text."""
        everyday = self.definition.noise.get(f"email.{thing.name}") if thing.letter else None
        if everyday is None or not everyday.dresses:
            return {}
        return letters.dressed(fields, everyday, self.truth.singles["me"], topic)

    def pretend(self) -> None:
        """Use placeholders as if services had assigned values."""
        self.stand_in_for_all()
        for owner, given in self._places.items():
            if isinstance(owner, Entity):
                for name, value in given.items():
                    owner.give(name, value)

    # -- background -------------------------------------------------------------------------------------

    def add_background(self, budget: int) -> int:
        """Entities of background kinds for a number of tokens, each once at least, so that every case occurs
        at every length; returns how many tokens these cost beyond that."""
        if not self._further.cases:
            return 0
        self.stand_in_for_all()
        if not any(self.truth.background.values()):
            self._further.begin(self.cost_of)
            self._frame_all()
        spent = self._further.add(budget, budget * (OWN_SHARE if self.definition.noise else 1), self.cost_of)
        self.truth.forget_late()
        return spent

    def _frame_all(self) -> None:
        """Write the frames of required evidence before those of optional items. Optional ones vary with the
        length, and writers remember what was said.
        """
        for index, statement in self._statements:
            if statement.what in self.definition.noise:
                for entity in self._told_of(index, statement, background=False):
                    self.tell(index, statement, entity)

    def _stand_in(self, entity: Entity) -> None:
        """Something in the place of what services will give."""
        for _, statement in self.statements_of(entity):
            if statement.as_ and statement.as_ not in entity.known:
                entity.known[statement.as_] = self._place(entity, statement.as_, statement.what)

    def _place(self, owner: Entity | str, name: str, what: str) -> Fields:
        thing = find_thing(what)
        assert thing is not None
        places = self._places.setdefault(owner, {})
        if name not in places:
            places[name] = dict.fromkeys(thing.gives, _PLACEHOLDER + len(self._places))
        found: Fields = places[name]
        return found

    def stand_in_for_all(self) -> None:
        """Make placeholders for all values that services will assign."""
        for entity in self.truth.everything:
            self._stand_in(entity)
        for statement in self.definition.evidence:
            if statement.as_ and statement.for_ is None:
                self.truth.given[statement.as_] = self._place(statement.as_, statement.as_, statement.what)

    def estimated(self) -> int:
        """About how many tokens a survey spends on all that is no background, by a sample of each fact."""
        self.stand_in_for_all()
        together = 0.0
        for ones in self.truth.sets.values():
            sample = [one for one in ones[:_SAMPLE] if one.parent is None]
            together += sum(map(self.cost_of, sample)) / max(1, len(sample)) * len(ones)
        self.truth.forget_late()
        # What was written for the sample is out of order.
        # Writers avoid what they said lately, so that a sample would change the texts of the world itself.
        self._told.clear()
        self._frames.clear()
        self._said_around = RecentRuns()
        return round(together)

    def cost_of(self, entity: Entity) -> int:
        """About how many tokens a survey spends on an entity and on all that belongs to it."""
        together = 0
        for one in [entity, *(child for ones in entity.children.values() for child in ones)]:
            self._stand_in(one)
            for index, statement in self.statements_of(one):
                together += self.cost(self.tell(index, statement, one))
            together += self._cost_in_rows(one)
        return together

    def _cost_in_rows(self, entity: Entity) -> int:
        together = 0
        for keys, thing, rows, outer in self._tables:
            statement = self.definition.evidence[keys[1]]
            if rows.for_ != entity.fact or not self.is_read(keys[2], statement.fields, statement):
                continue
            for around in (
                [None] if outer is None or entity.definition.parent == outer else self.truth.sets[outer]
            ):
                for cells in self._rows_of_one(keys, rows, entity, around):
                    together += sum(self._count(str(cell)) + 1 for cell in cells.values())
                    together += thing.row_overhead(cells, self._count)
        return together

    def cost(self, told: Told) -> int:
        """About how many tokens a survey spends on a thing."""
        told.cost = told.cost or self._cost(told)
        return told.cost

    def is_read(self, what: str, fields: Fields, statement: Statement | None) -> bool:
        """True if the survey meets the thing itself; a query may have summed it with others."""
        if statement is not None and statement.asked:
            return True
        thing, service = find_thing(what), what.partition(".")[0]
        assert thing is not None
        if service not in self._surveyed:
            self._surveyed[service] = survey_options(self.definition, service, self.truth.lookup)
        return thing.read_singly(fields, self._surveyed[service])

    def _cost(self, told: Told) -> int:
        thing = find_thing(told.what)
        assert thing is not None
        if not self.is_read(told.what, told.fields, told.statement):
            return told.statement.answered if told.statement else 0
        together = thing.overhead + thing.size(told.fields, self._count)
        for name, value in told.fields.items():
            if isinstance(value, str):
                times = 2 if name == thing.title and thing.listed else 1
                together += times * self._count(orjson.dumps(value).decode())
        return together

    def everyday(self, what: str, patterns: Sequence[Told], budget: int, *, exactly: bool) -> list[Told]:
        """Write everyday things for a number of tokens, each like one of the patterns except in content.

        ``exactly``: the last one is as long as it has to be.
        """
        everyday, thing = self.definition.noise[what], find_thing(what)
        assert thing is not None
        rng = self._stream(f"everyday:{what}")
        patterns = [one for one in patterns if one.content] or list(patterns)
        for one in patterns:
            self._said.remember(str(one.fields.get(thing.text or "")))
        crowd = Crowd([_written(thing, one.fields) for one in patterns])
        strangers = Strangers(crowd)
        found: list[Told] = []
        left = budget
        while patterns:
            pattern = rng.choice(patterns)
            around = _size(everyday, self.truth.even(f"everyday:{what}", len(found), background=True))
            one = self._everyday(what, thing, everyday, pattern, crowd, strangers, around, rng)
            price = self.cost(one)
            size = max(LEAST, self._count(pattern.content) + around)
            if left - price >= price - size + 2 * LEAST:  # there is room for another one after it
                found.append(one)
                left -= price
                continue
            if everyday.dresses:  # the last one has its text only
                plain = {name: value for name, value in one.fields.items() if name not in _OF_ONE}
                price = self._cost(Told(what, plain | {thing.text or "": one.content}))
            if exactly and (size := size + left - price) >= LEAST:
                found.append(
                    self._everyday(what, thing, everyday, pattern, crowd, strangers, size, rng, exactly=True)
                )
            elif exactly:
                self._stretch(thing, everyday, patterns, left, rng)
            elif price <= left:
                found.append(one)
            break
        return found

    def _stretch(
        self, thing: Thing, everyday: Everyday, patterns: Sequence[Told], size: int, rng: random.Random
    ) -> None:
        """Lengthen one of the things by a remainder too small for another."""
        plain = [one for one in patterns if not one.fields.get("html_body")]
        longer = [one for one in plain if not one.evidence] or plain
        if size >= LEAST and longer and thing.text:
            one = rng.choice(longer)
            hello, _, rest = str(one.fields[thing.text]).partition("\n\n") if thing.letter else ("", "", "")
            topics = [topic for topic in _topics(everyday, one.statement) if topic in one.matters]
            topic = rng.choice(topics or _topics(everyday, one.statement))
            letters = self._letters(rng, one, self._said, one.matters)
            further = letters.text(topic, size, opening=not topics)
            whole = [hello, further, rest] if thing.letter else [str(one.fields[thing.text]), further]
            one.fields[thing.text] = "\n\n".join(part for part in whole if part)

    def _everyday(
        self,
        what: str,
        thing: Thing,
        everyday: Everyday,
        pattern: Told,
        crowd: Crowd,
        strangers: Strangers,
        size: int,
        rng: random.Random,
        *,
        exactly: bool = False,
    ) -> Told:
        letters = self._letters(rng, pattern, self._said)
        own = _OF_ONE if everyday.dresses else ()
        fields = {name: value for name, value in pattern.fields.items() if name not in own}
        if thing.when:
            day, clock = (rng.choice(crowd.letters)[thing.when] for _ in range(2))
            if isinstance(day, dt.datetime) and isinstance(clock, dt.datetime):
                at = clock.timetz().replace(tzinfo=None)
                if at.second:  # nobody writes at the second at which somebody else does
                    at = at.replace(second=rng.randrange(60))
                moment = dt.datetime.combine(day.date(), at, day.tzinfo)
                if thing.by_the_minute and "author" in fields:
                    moment = crowd.free_minute(moment, fields["author"], rng)
                fields = thing.moved(fields, moment if moment <= max(self.truth.now, day) else day)
        if thing.letter and rng.random() < 0.5:
            fields |= strangers.sender(letters, pattern.fields, rng)
        if thing.writer in fields and rng.random() < _ONCE and (name := letters.other_name(crowd)):
            fields[thing.writer] = name
        topic = rng.choice(_topics(everyday, pattern.statement))
        if thing.title:
            fields[thing.title] = letters.subject(topic)
        if thing.remarks:
            said = fields.get(thing.remarks) or ()
            fields[thing.remarks] = [letters.remark(topic, self._count(str(one))) for one in said]
        if thing.serial:
            fields[thing.serial] = letters.other_number(str(fields[thing.serial]))
        text = (
            letters.text(topic, size)
            if exactly
            else letters.like(pattern.content, self._count(pattern.content), topic, size, everyday.apart)
        )
        if thing.letter:
            hello, bye = letters.courtesies(fields, self.truth.singles["me"])
            text = f"{hello}\n\n{text}\n\n{bye}"
        assert thing.text
        fields[thing.text] = text
        if not exactly:
            fields |= self._dress(thing, fields, self._letters(rng, pattern, None, letters.matters), topic)
        return Told(what, thing.unlike(fields), content=text, matters=letters.matters)


def _written(thing: Thing, fields: Fields) -> Fields:
    """A thing as a letter from who wrote it."""
    return {**fields, "from": fields[thing.writer]} if thing.writer in fields else fields


def _tables(definition: Definition) -> Iterator[tuple[tuple[Any, ...], Thing, Rows, str | None]]:
    """Yield the rows of evidence with their place, and the entity type for which a table is made."""
    for index, statement in enumerate(definition.evidence):
        for name, value in statement.fields.items():
            if is_rows(value):
                thing = find_thing(statement.what)
                assert thing is not None
                keys = "evidence", index, statement.what, name
                yield keys, thing, Rows.model_validate(value), statement.for_


def _said(rows: Rows) -> dict[str, Any]:
    """All of a table that may follow from something."""
    return {
        "columns": rows.columns,
        "where": rows.where,
        "sort": [f"{{{one.lstrip('-')}}}" for one in rows.sort],
    }


def _topics(everyday: Everyday, statement: Statement | None) -> Sequence[str]:
    """Return the topics of everyday text around a statement, or like it."""
    return statement.topics if statement is not None and statement.topics else everyday.topics


def _size(everyday: Everyday, share: float) -> int:
    """Return the tokens of text around a statement."""
    least, most = everyday.around
    return least + int(share * (most - least + 1))


def is_rows(value: Any) -> bool:
    """True if a field of the file generates the rows of a table."""
    return isinstance(value, Mapping) and "columns" in value
