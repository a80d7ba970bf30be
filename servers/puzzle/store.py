"""Rules of the puzzle: matching conditions, feedback on guesses, and the end of the game."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

import orjson
from sqlalchemy import bindparam, func, insert, select

from mesocosm.errors import Conflict, Invalid, NotFound
from mesocosm.servers.puzzle.models import Base, Creature, Game, Guess, Query, Section, Trait
from mesocosm.services.service import Store

MAX_CONDITIONS = 30
MAX_VALUES = 100
MAX_NAMES = 50
_LISTED = 60
"""Values of a section that a refusal lists; of more it names those that are near."""

Value = int | str
Profile = Mapping[str, tuple[Value, ...]]
"""A creature's description, by section."""
Comparator = Literal["any", "none", ">", "<", "=="]

_CREATURES = select(Creature.id, Creature.number, Creature.name).order_by(Creature.id)
_TRAITS = select(Trait.creature_id, Trait.section_id, Trait.word, Trait.amount).order_by(Trait.id)
_BY_WORD = select(Trait.creature_id).where(
    Trait.section_id == bindparam("section"), Trait.word.in_(bindparam("words", expanding=True))
)
_AMOUNT = select(Trait.creature_id).where(Trait.section_id == bindparam("section"))
_COMPARED = {
    ">": _AMOUNT.where(Trait.amount > bindparam("amount")),
    "<": _AMOUNT.where(Trait.amount < bindparam("amount")),
    "==": _AMOUNT.where(Trait.amount == bindparam("amount")),
}
_WORDS = (
    select(Trait.word)
    .join(Section, Section.id == Trait.section_id)
    .where(Section.name == bindparam("section"))
    .distinct()
    .order_by(Trait.word)
)
_SECTIONS = select(Section.id, Section.name, Section.numeric).order_by(Section.id)
_GAME = select(Game.target_id, Game.rounds, Game.verbose, Game.by_section)
_GUESSES = select(Guess.id, Guess.creature_id).order_by(Guess.id)


@dataclass(frozen=True)
class Condition:
    """Condition on one section of a creature."""

    section: str
    comparator: Comparator
    operands: tuple[Value, ...]


@dataclass(frozen=True)
class Known:
    """A creature with its values."""

    id: int
    number: int
    name: str
    profile: Profile


@dataclass(frozen=True)
class Feedback:
    """Feedback on a guess."""

    round: int
    guess: Known
    target: Profile
    by_section: bool
    solved: bool
    remaining: int


class PuzzleStore(Store):
    """The encyclopaedia and the game."""

    metadata = Base.metadata

    # -- the encyclopaedia ------------------------------------------------------------------------------

    def sections(self) -> dict[str, bool]:
        """The sections, and whether they are numbers."""
        return {row["name"]: bool(row["numeric"]) for row in self.fetch(_SECTIONS)}

    def size(self) -> int:
        """Count the creatures."""
        return int(self.fetch(select(func.count().label("n")).select_from(Creature))[0]["n"])

    def page(self, page: int, per_page: int) -> list[Known]:
        """Creatures in alphabetical order."""
        first = (page - 1) * per_page
        rows = self.fetch(_CREATURES.limit(per_page).offset(first))
        return self._known([(row["id"], row["number"], row["name"]) for row in rows])

    def everyone(self) -> list[Known]:
        """All creatures."""
        return self._known([(row["id"], row["number"], row["name"]) for row in self.fetch(_CREATURES)])

    def names(self) -> dict[int, str]:
        """The names of all creatures, by their ids."""
        return {row["id"]: row["name"] for row in self.fetch(_CREATURES)}

    def look_up(self, names: Sequence[str]) -> list[Known]:
        """The creatures of these names; refused if there is none of a name."""
        if not 1 <= len(names) <= MAX_NAMES:
            raise Invalid(f"names: 1 to {MAX_NAMES} names, not {len(names)}.")
        rows = self.fetch(_CREATURES.where(Creature.name.in_(names)))
        found = {row["name"]: (row["id"], row["number"], row["name"]) for row in rows}
        for name in names:
            if name not in found:
                raise NotFound(f"There is no creature named {name[:80]!r}.")
        return self._known([found[name] for name in dict.fromkeys(names)])

    def _known(self, rows: Sequence[tuple[int, int, str]]) -> list[Known]:
        names = {row["id"]: row["name"] for row in self.fetch(_SECTIONS)}
        profiles: dict[int, dict[str, tuple[Value, ...]]] = {row[0]: {} for row in rows}
        few = len(rows) <= 500
        traits = _TRAITS.where(Trait.creature_id.in_(list(profiles))) if few else _TRAITS
        for row in self.fetch(traits):
            said = profiles[row["creature_id"]]
            value = row["amount"] if row["word"] is None else row["word"]
            name = names[row["section_id"]]
            said[name] = (*said.get(name, ()), value)
        return [Known(id_, number, name, profiles[id_]) for id_, number, name in rows]

    # -- queries ----------------------------------------------------------------------------------------

    def meeting(self, conditions: Sequence[Condition]) -> list[str]:
        """The names of all creatures that meet all conditions, in alphabetical order."""
        met: set[int] | None = None
        for condition in conditions:
            ids = self._meeting(condition)
            met = ids if met is None else met & ids
        rows = self.fetch(_CREATURES)
        return [row["name"] for row in rows if met is None or row["id"] in met]

    def _meeting(self, condition: Condition) -> set[int]:
        sections = {row["name"]: row["id"] for row in self.fetch(_SECTIONS)}
        section = sections[condition.section]
        if condition.comparator in ("any", "none"):
            rows = self.fetch(_BY_WORD, section=section, words=list(condition.operands))
            held = {row["creature_id"] for row in rows}
            if condition.comparator == "any":
                return held
            return {row["id"] for row in self.fetch(_CREATURES)} - held
        rows = self.fetch(_COMPARED[condition.comparator], section=section, amount=condition.operands[0])
        return {row["creature_id"] for row in rows}

    def check(self, conditions: Sequence[Condition]) -> None:
        """Refuse conditions on what there is not, or of the wrong type, or too many."""
        if len(conditions) > MAX_CONDITIONS:
            raise Invalid(f"conditions: at most {MAX_CONDITIONS}, not {len(conditions)}.")
        sections = self.sections()
        for condition in conditions:
            if condition.section not in sections:
                raise Invalid(
                    f"There is no section {condition.section[:80]!r}; there are {', '.join(sections)}."
                )
            numeric = condition.comparator not in ("any", "none")
            if sections[condition.section] != numeric:
                kind = "numeric" if sections[condition.section] else "value"
                raise Invalid(f"{condition.section} is asked for with conditions of the type {kind}.")
            if not 1 <= len(condition.operands) <= MAX_VALUES:
                raise Invalid(f"values: 1 to {MAX_VALUES} values, not {len(condition.operands)}.")
            if not numeric:
                self._check_values(condition)

    def _check_values(self, condition: Condition) -> None:
        words = list(condition.operands)
        rows = self.fetch(_WORDS.where(Trait.word.in_(words)), section=condition.section)
        known = {row["word"] for row in rows}
        for word in words:
            if word not in known:
                there = [row["word"] for row in self.fetch(_WORDS, section=condition.section)]
                what = f"No creature has the value {str(word)[:80]!r} in {condition.section}"
                raise Invalid(f"{what}; {_offered(str(word), there)}")

    def record(self, conditions: Sequence[Condition]) -> None:
        """Keep that this was asked."""
        kept = [[one.section, one.comparator, list(one.operands)] for one in conditions]
        row = {"guesses": len(self.guesses()), "conditions": orjson.dumps(kept).decode()}
        self.session.execute(insert(Query), [row])

    def queries(self) -> list[tuple[int, list[Condition]]]:
        """List the queries in order, each with the number of guesses before it."""
        rows = self.fetch(select(Query.guesses, Query.conditions).order_by(Query.id))
        return [
            (
                row["guesses"],
                [
                    Condition(name, sign, tuple(values))
                    for name, sign, values in orjson.loads(row["conditions"])
                ],
            )
            for row in rows
        ]

    def wasted(self) -> int:
        """Count the wasted queries.

        Wasted is a query that was made before, or that is met by nobody whom the feedback of then left open.
        """
        made = self.queries()
        if not made:
            return 0
        everyone = {one.id: one for one in self.everyone()}
        target, guesses, by_section = everyone[self.target()], self.guesses(), self.by_section
        wasted = 0
        left: dict[int, set[str]] = {}
        seen: set[frozenset[Condition]] = set()
        for rounds, asked in made:
            if rounds not in left:
                told = [everyone[id_] for id_ in guesses[:rounds] if id_ in everyone]
                left[rounds] = {
                    one.name for one in everyone.values() if _is_open(one, told, target, by_section)
                }
            wasted += frozenset(asked) in seen or not left[rounds].intersection(self.meeting(asked))
            seen.add(frozenset(asked))
        return wasted

    # -- the game ---------------------------------------------------------------------------------------

    @property
    def verbose(self) -> bool:
        """True if a query returns one list per section."""
        return bool(self.fetch(_GAME)[0]["verbose"]) if self._begun() else False

    @property
    def by_section(self) -> bool:
        """True if feedback rates each section as a whole."""
        return bool(self.fetch(_GAME)[0]["by_section"]) if self._begun() else False

    def rounds(self) -> int:
        """Guesses that are allowed."""
        return int(self._game()[1])

    def target(self) -> int:
        """The id of the hidden creature, which no tool tells."""
        return int(self._game()[0])

    def guesses(self) -> list[int]:
        """The ids of the creatures that were guessed, in order."""
        return [row["creature_id"] for row in self.fetch(_GUESSES)]

    def solved(self) -> bool:
        """True if the hidden creature was guessed."""
        return self._begun() and self.target() in self.guesses()

    def guess(self, name: str) -> Feedback:
        """Guess a creature."""
        target, rounds = self._game()
        made = self.guesses()
        if target in made:
            raise Conflict("The game is over: the hidden creature was found.")
        if len(made) >= rounds:
            raise Conflict(f"The game is over: all {rounds} rounds are used up.")
        (known,) = self.look_up([name])
        if known.id in made:
            raise Conflict(f"{known.name} was guessed in round {made.index(known.id) + 1}.")
        number = len(made) + 1
        self.session.execute(insert(Guess).values(id=number, creature_id=known.id))
        hidden = self.fetch(_CREATURES.where(Creature.id == target))[0]
        (right,) = self._known([(hidden["id"], hidden["number"], hidden["name"])])
        solved, left = known.id == target, rounds - number
        return Feedback(number, known, right.profile, self.by_section, solved, left)

    def _begun(self) -> bool:
        return bool(self.fetch(_GAME))

    def _game(self) -> tuple[int, int]:
        rows = self.fetch(_GAME)
        if not rows:
            raise Conflict("No game has been set up.")
        return rows[0]["target_id"], rows[0]["rounds"]

    # -- filling ----------------------------------------------------------------------------------------

    def add_sections(self, sections: Mapping[str, bool]) -> None:
        """Add the sections, and whether they are numbers."""
        rows = [
            {"id": at, "name": name, "numeric": numeric}
            for at, (name, numeric) in enumerate(sections.items(), 1)
        ]
        self.session.execute(insert(Section), rows)

    def add_creatures(self, creatures: Iterable[tuple[int, str, Profile]]) -> None:
        """Add creatures (number, name, profile), in alphabetical order."""
        sections = {row["name"]: row["id"] for row in self.fetch(_SECTIONS)}
        rows, traits = [], []
        for id_, (number, name, profile) in enumerate(creatures, 1):
            rows.append({"id": id_, "number": number, "name": name})
            for section, values in profile.items():
                for value in values:
                    word, amount = (None, value) if isinstance(value, int) else (value, None)
                    traits.append(
                        {"creature_id": id_, "section_id": sections[section], "word": word, "amount": amount}
                    )
        self.session.execute(insert(Creature), rows)
        self.session.execute(insert(Trait), traits)

    def set_up(self, target: int, rounds: int, *, verbose: bool, by_section: bool = False) -> None:
        """Begin a game with a hidden creature (its id)."""
        row = {"target_id": target, "rounds": rounds, "verbose": verbose, "by_section": by_section}
        self.session.execute(insert(Game).values(id=1, **row))


def verdict(value: Value, right: Sequence[Value]) -> str:
    """Word the feedback on a guessed value."""
    if value in right:
        return "correct"
    if isinstance(value, int) and isinstance(right[0], int):
        return f"wrong, too {'low' if value < right[0] else 'high'}"
    return "wrong"


def section_verdict(values: Sequence[Value], right: Sequence[Value]) -> str:
    """Word the feedback on a section as a whole."""
    return "correct" if set(values) == set(right) else "wrong"


def _verdicts(guess: Profile, target: Profile, by_section: bool) -> list[list[str]]:
    if by_section:
        return [[section_verdict(values, target[section])] for section, values in guess.items()]
    return [[verdict(value, target[section]) for value in values] for section, values in guess.items()]


def _is_open(one: Known, guesses: Sequence[Known], target: Known, by_section: bool) -> bool:
    """True if the feedback on these guesses is consistent with this creature being the hidden one."""
    return all(
        (one.id == guess.id) == (target.id == guess.id)
        and _verdicts(guess.profile, one.profile, by_section)
        == _verdicts(guess.profile, target.profile, by_section)
        for guess in guesses
    )


def _offered(word: str, there: Sequence[str]) -> str:
    """Return the available values, or those most similar to the requested one."""
    if len(there) <= _LISTED:
        return f"there are {', '.join(there)}."
    folded = {value.casefold(): value for value in there}
    near = [folded[one] for one in get_close_matches(word.casefold(), folded, 5, 0.7)]
    hint = f"near it are {', '.join(near)}" if near else "browse shows them"
    return f"it has {len(there):,} values, and {hint}."
