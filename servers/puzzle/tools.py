"""What an agent sees of the puzzle service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from mesocosm.errors import Invalid
from mesocosm.servers.puzzle.store import (
    Condition,
    Feedback,
    Known,
    PuzzleStore,
    Value,
    section_verdict,
    verdict,
)
from mesocosm.services.schema import Extra
from mesocosm.services.service import Service

server = Service(
    "puzzle",
    PuzzleStore,
    instructions="A guessing game: find the hidden creature of an encyclopaedia by queries and guesses.",
)
_NAMES_PER_PAGE = 500
_CONCISE = "intersection: one list, of the creatures that meet all conditions"
_VERBOSE = (
    "per_section: one list for each section, of the creatures that meet the conditions on that section alone "
    "(not intersected)"
)

_BY_SECTION = "per section: correct (all of its values, and no others), or wrong"

Page = Annotated[int, Extra(minimum=1)]


class Asked(TypedDict):
    """One condition."""

    type: Literal["value", "numeric"]
    section: str
    values: NotRequired[list[str]]
    exclude: NotRequired[bool]
    comparator: NotRequired[Literal[">", "<", "=="]]
    threshold: NotRequired[int]


@server.reads
def describe_game(store: PuzzleStore) -> dict[str, Any]:
    """Say what the game is and how it stands: sections, what queries return, rounds left, wasted queries.

    A query is wasted if it was made before, or if nobody meets it whom the feedback leaves open.
    """
    made, rounds = len(store.guesses()), store.rounds()
    return {
        "sections": {name: "number" if number else "values" for name, number in store.sections().items()},
        "query_returns": _VERBOSE if store.verbose else _CONCISE,
        **({"feedback": _BY_SECTION} if store.by_section else {}),
        "creatures": store.size(),
        "rounds": rounds,
        "remaining_rounds": rounds - made,
        "solved": store.solved(),
        "queries": len(store.queries()),
        "wasted_queries": store.wasted(),
    }


@server.reads
def browse(
    store: PuzzleStore, page: Page = 1, per_page: Annotated[int, Extra(minimum=1, maximum=100)] = 50
) -> dict[str, Any]:
    """Read the encyclopaedia: creatures in alphabetical order with all their sections.

    Args:
        page: Page, from 1.
        per_page: Creatures per page, 1 to 100.
    """
    more = {"next_page": page + 1} if page * per_page < store.size() else {}
    return {"creatures": [_creature(one) for one in store.page(page, per_page)], **more}


@server.reads
def look_up(store: PuzzleStore, names: list[str]) -> list[dict[str, Any]]:
    """Read the sections of creatures by name.

    Args:
        names: Their names as the encyclopaedia writes them, at most 50.
    """
    return [_creature(one) for one in store.look_up(names)]


@server.writes
def query(store: PuzzleStore, conditions: list[Asked], page: Page = 1) -> dict[str, Any]:
    """Find the creatures that meet conditions, in alphabetical order; a query costs no round.

    A condition of the type "value" has values, and is met by creatures that have any of them in the section
    (with exclude: none of them). One of the type "numeric" has a comparator and a threshold, and is met by
    those whose number is >, < or == the threshold. describe_game says which of two things the result is: one
    list of those who meet all conditions (intersection), or one list for each section, of those who meet the
    conditions on that section alone (per_section). Long lists come in pages of 500 names.

    Args:
        conditions: The conditions.
        page: Page of the lists, from 1; further pages are no queries of their own.
    """
    asked = [condition_of(one) for one in conditions]
    store.check(asked)
    if page == 1:
        store.record(asked)
    if not store.verbose:
        names, more = _paged(store.meeting(asked), page)
        return {"intersection": names, **more}
    lists = []
    onward: dict[str, Any] = {}
    for section in dict.fromkeys(one.section for one in asked):
        names, more = _paged(store.meeting([one for one in asked if one.section == section]), page)
        lists.append({"section": section, "candidates": names, "total": more["total"]})
        onward |= {"next_page": more["next_page"]} if "next_page" in more else {}
    return {"per_section": lists, **onward}


@server.writes
def guess(store: PuzzleStore, name: str) -> dict[str, Any]:
    """Guess the hidden creature. This uses up a round; the feedback says section by section what is right.

    A guess that is refused uses up none: of a name that there is not, or of one that was guessed before.

    Args:
        name: Name of a creature.
    """
    return _feedback(store.guess(name))


_PARTS: dict[str, tuple[frozenset[str], frozenset[str], str]] = {
    "value": (frozenset({"values"}), frozenset({"exclude"}), "values, and may have exclude"),
    "numeric": (
        frozenset({"comparator", "threshold"}),
        frozenset(),
        "a comparator (>, < or ==) and a threshold",
    ),
}
"""By type: what a condition must have and may have besides, and both in words."""


def condition_of(asked: Asked) -> Condition:
    """The condition that an agent wrote down; refused where its parts do not fit its type."""
    needed, allowed, words = _PARTS[asked["type"]]
    given = asked.keys() - {"type", "section"}
    wrong = [f"{part} is missing" for part in sorted(needed - given)]
    wrong += [f"{part} has no place in it" for part in sorted(given - needed - allowed)]
    if wrong:
        raise Invalid(f"A condition of the type {asked['type']} has {words}: {', '.join(wrong)}.")
    if asked["type"] == "value":
        comparator: Literal["any", "none"] = "none" if asked.get("exclude") else "any"
        return Condition(asked["section"], comparator, tuple(sorted(set(asked["values"]))))
    return Condition(asked["section"], asked["comparator"], (int(asked["threshold"]),))


def _paged(names: list[str], page: int) -> tuple[list[str], dict[str, Any]]:
    more = {"next_page": page + 1} if page * _NAMES_PER_PAGE < len(names) else {}
    shown = names[(page - 1) * _NAMES_PER_PAGE : page * _NAMES_PER_PAGE]
    return shown, {"total": len(names), **more}


def _creature(known: Known) -> dict[str, Any]:
    return {"name": known.name, "number": known.number, **{s: list(v) for s, v in known.profile.items()}}


def _feedback(feedback: Feedback) -> dict[str, Any]:
    return {
        "round": feedback.round,
        "guess": feedback.guess.name,
        "number": feedback.guess.number,
        "sections": {
            section: _section(values, feedback.target[section], feedback.by_section)
            for section, values in feedback.guess.profile.items()
        },
        "result": "correct" if feedback.solved else "wrong",
        "remaining_rounds": feedback.remaining,
    }


def _section(values: Sequence[Value], right: Sequence[Value], whole: bool) -> str | list[dict[str, Value]]:
    if whole:
        return section_verdict(values, right)
    return [{"value": value, "verdict": verdict(value, right)} for value in values]
