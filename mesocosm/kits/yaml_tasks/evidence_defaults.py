"""Defaults for evidence: senders, moments, and an item for each case.

    - for: student
      email.mail:
        body:
          moved: ["{spoken(new_time)} is better.", "Could it be {spoken(new_time)}?"]
          gone: ["I need not come.", "I do not have to come."]

stands for two items with ``cases``, each ``from`` the student and after what stands above it. All that looks
at evidence knows such items alone; complaints say where they stand in the file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mesocosm.kits.yaml_tasks.definition import Definition
from mesocosm.services.words import Thing, find_thing

_ONE_VALUE = re.compile(r"\{([^{}|]+)\}")
_VALUE = re.compile(r"\{(\w+)\}")
_ROWS = {"columns", "for", "each"}
"""Keys of the rows of a table."""
_FIRST, _LAST = 10, 7
"""Days before the present between which the first thing came about that was told of one."""
_DAY, _GAP, _HOURS_AFTER = 24, 44, 132
"""Hours: of a day, the most from one such thing to the next, and those in which all further ones came."""
_OLDEST, _OLD = 90, 30
"""Days before the present between which what is told once came about."""


class Misspread(ValueError):
    """Error in an item, with its place."""

    def __init__(self, keys: tuple[Any, ...], message: str) -> None:
        super().__init__(message)
        self.keys = keys


@dataclass(frozen=True)
class Origin:
    """Place of an item in the file."""

    index: int
    by_case: Mapping[str, str] = field(default_factory=dict)
    """Of fields that are told by case: the key under which this one's stands."""


def spread(data: Mapping[str, Any]) -> tuple[dict[str, Any], list[Origin]]:
    """Fill in the defaults of evidence; returns the definition and each item's place in the file.

    What has another shape than it should stays as it is, for others to complain about.
    """
    entities, evidence = data.get("entities"), data.get("evidence")
    if not isinstance(entities, Mapping) or not isinstance(evidence, list):
        return dict(data), []
    moments = _Moments(entities, evidence)
    items: list[Any] = []
    origins: list[Origin] = []
    for index, item in enumerate(evidence):
        whole = _completed(item, entities, moments.of(index))
        try:
            for one, by_case in _by_case(whole, entities):
                items.append(one)
                origins.append(Origin(index, by_case))
        except Misspread as wrong:
            raise Misspread(("evidence", index, *wrong.keys), str(wrong)) from None
    return {**data, "entities": moments.entities(), "evidence": items}, origins


def read(data: Mapping[str, Any]) -> Definition:
    """Parse a definition; ``Misspread`` or ``ValidationError`` explains an error."""
    return Definition.model_validate(spread(data)[0])


def in_file(data: Mapping[str, Any], keys: Sequence[Any]) -> tuple[Any, ...]:
    """Map a place in the definition to one in the file."""
    if len(keys) < 2 or keys[0] != "evidence" or not isinstance(keys[1], int):
        return tuple(keys)
    try:
        _, origins = spread(data)
    except Misspread:
        return tuple(keys)
    if keys[1] >= len(origins):
        return tuple(keys)
    origin, rest = origins[keys[1]], list(keys[2:])
    if len(rest) > 1 and rest[1] in origin.by_case:
        rest.insert(2, origin.by_case[rest[1]])
    return (keys[0], origin.index, *rest)


def _thing_of(item: Any) -> tuple[str, Thing, Mapping[str, Any]] | None:
    """Return the thing that an item tells, with its fields."""
    if not isinstance(item, Mapping):
        return None
    for key, fields in item.items():
        thing = find_thing(key) if isinstance(key, str) and "." in key else None
        if thing is not None and isinstance(fields, Mapping):
            return key, thing, fields
    return None


def _completed(item: Any, entities: Mapping[str, Any], moment: str | None) -> Any:
    """Fill in what follows from the entity that an item is about."""
    known = _thing_of(item)
    if known is None:
        return item
    what, thing, fields = known
    found = {
        name: text
        for name, word in thing.says.items()
        if word.default and name not in fields and (text := _read_by(word.default, item.get("for"), entities))
    }
    if moment is not None:
        found[str(thing.when)] = moment
    return {**item, what: {**found, **fields}} if found else item


def _read_by(default: str, fact: Any, entities: Mapping[str, Any]) -> str | None:
    """A default over the fields of an entity, or of the next one that it belongs to and that has all of them;
    nothing where none has."""
    names, prefix, seen = set(_VALUE.findall(default)), "", set[Any]()
    while isinstance(entities.get(fact), Mapping) and fact not in seen:
        seen.add(fact)
        it = entities[fact]
        if isinstance(it.get("fields"), Mapping) and names <= set(it["fields"]):
            return _VALUE.sub(rf"{{{prefix}\1}}", default)
        fact = it.get("parent")
        prefix = f"{prefix}{fact}."
    return None


class _Moments:
    """Moments that the file leaves open: further fields of the entities."""

    def __init__(self, entities: Mapping[str, Any], evidence: Sequence[Any]) -> None:
        self._entities = entities
        self._told: dict[str, list[str]] = {}
        """By fact, what each of these moments lies after; nothing for the first."""
        self._named: dict[int, str] = {}
        last: dict[str, str] = {}
        for index, item in enumerate(evidence):
            fact = self._undated(item)
            if fact is None:
                last.update(_said(item))
                continue
            told = self._told.setdefault(fact, [])
            told.append(last.get(fact, ""))
            last[fact] = f"told_{len(told)}"
            self._named[index] = f"{{{'me.' if fact == 'me' else ''}{last[fact]}}}"

    def _undated(self, item: Any) -> str | None:
        """Return the entity type whose moment an undated item takes; ``None`` if it needs none."""
        known = _thing_of(item)
        if known is None:
            return None
        _, thing, fields = known
        fact = item.get("for", "me")
        if not _came_about(thing) or thing.when in fields:
            return None
        return fact if isinstance(fact, str) and isinstance(self._entities.get(fact), Mapping) else None

    def of(self, index: int) -> str | None:
        return self._named.get(index)

    def entities(self) -> dict[str, Any]:
        """The entities with these fields."""
        found = dict(self._entities)
        for fact, before in self._told.items():
            it = found[fact]
            if isinstance(it.get("fields", {}), Mapping):
                further = _once(len(before)) if fact == "me" else _in_order(before)
                found[fact] = {**it, "fields": {**further, **it.get("fields", {})}}
        return found


def _once(count: int) -> dict[str, Any]:
    """Date what is told once, such as rules, before what happened."""
    period = {"after": f"now - {_OLDEST}d", "before": f"now - {_OLD}d", "weekdays": True}
    return {f"told_{number}": {"moment": period} for number in range(1, count + 1)}


def _came_about(thing: Thing) -> bool:
    """True if the thing is in the past. An event, for instance, may be in the future."""
    word = thing.says.get(thing.when or "")
    return word is not None and word.required and word.shape == "moment"


def _said(item: Any) -> Iterator[tuple[str, str]]:
    """Yield the moment that an item gives for all its entities, if any."""
    known = _thing_of(item)
    if known is not None and isinstance(item.get("for"), str) and not {"cases", "where"} & item.keys():
        _, thing, fields = known
        value = fields.get(thing.when or "")
        if _came_about(thing) and isinstance(value, str) and (one := _ONE_VALUE.fullmatch(value)):
            yield item["for"], f"({one[1]})"


def _in_order(before: Sequence[str]) -> dict[str, Any]:
    """Make moments in sequence, all in the past if what precedes them is."""
    gap = min(_GAP, _HOURS_AFTER // max(1, len(before) - 1))
    hours = {} if gap > _DAY else {"hours": list(range(_DAY))}
    first = {"after": f"now - {_FIRST}d", "before": f"now - {_LAST}d"}
    found: dict[str, Any] = {}
    for number, one in enumerate(before, start=1):
        period = {"after": f"{one} + {max(1, gap // 3)}h", "before": f"{one} + {gap}h", **hours}
        found[f"told_{number}"] = {"moment": period if one else first}
    return found


def _by_case(item: Any, entities: Mapping[str, Any]) -> Iterator[tuple[Any, Mapping[str, str]]]:
    """An item for each way in which its fields differ by case."""
    known = _thing_of(item)
    told = dict(_told_by_case(known[1], known[2])) if known else {}
    if known is None or not told:
        yield item, {}
        return
    what, _, fields = known
    fact = entities.get(item.get("for"))
    there = fact.get("cases") if isinstance(fact, Mapping) else None
    if not isinstance(there, Mapping) or not there:
        [name, *_] = told
        message = f"a mapping is by cases, and {item.get('for') or 'what is told once'} has none"
        raise Misspread((what, name), message)
    keys = {name: _keys_of(fields[name], there, (what, name)) for name in told}
    groups: dict[tuple[str, ...], list[str]] = {}
    for case in item.get("cases") or there:
        if all(case in of for of in keys.values()):
            groups.setdefault(tuple(of[case] for of in keys.values()), []).append(case)
    for place, cases in groups.items():
        by_case = dict(zip(keys, place, strict=True))
        own = {name: fields[name][key] for name, key in by_case.items()}
        yield {**item, "cases": cases, what: {**fields, **own}}, by_case


def _told_by_case(thing: Thing, fields: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    for name, value in fields.items():
        word = thing.says.get(name)
        if word is None or word.shape == "data" or not isinstance(value, Mapping):
            continue
        if word.shape == "list" and _ROWS & value.keys():
            continue
        if value and list(value.values()) != [None]:  # which is a text in braces without quotes
            yield name, value


def _keys_of(value: Mapping[Any, Any], cases: Collection[Any], place: tuple[Any, ...]) -> dict[str, str]:
    """By case, the key under which it stands."""
    found: dict[str, str] = {}
    for key in value:
        for case in [name.strip() for name in str(key).split(",")]:
            if case not in cases:
                known = ", ".join(map(str, cases))
                message = f"no case {case!r}; there are {known}: a mapping says what is told of each"
                raise Misspread((*place, key), message)
            if case in found:
                raise Misspread((*place, key), f"{case!r} stands in it twice")
            found[case] = str(key)
    if len(value) == 1:
        [key] = value
        raise Misspread(place, f"of one sort of cases it is told that: write `cases: [{key}]` beside `for`")
    return found
