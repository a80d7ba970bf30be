"""Semantic checks of a task file: names, cases, things, tools and expressions."""

from __future__ import annotations

import math
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from mesocosm.kits.prose.topics import TOPICS
from mesocosm.kits.yaml_tasks.braces import BadBraces, has_values, unclosed
from mesocosm.kits.yaml_tasks.complaints import DOING, Complaint, complaints_of, now_called
from mesocosm.kits.yaml_tasks.definition import (
    MAX_BELONGING,
    MAX_COUNT,
    Between,
    Definition,
    Doing,
    Rows,
    Selection,
    SolutionStep,
    Statement,
)
from mesocosm.kits.yaml_tasks.draws import Date, Draw, Faked, Moment, Number, Ref, drawn, unquoted
from mesocosm.kits.yaml_tasks.expressions import bare
from mesocosm.kits.yaml_tasks.grading import WAYS
from mesocosm.kits.yaml_tasks.language import ExpressionError
from mesocosm.services.content import service_names
from mesocosm.services.outlines import outlines
from mesocosm.services.words import Word, find_thing, thing_names
from mesocosm.worlds.workspace import Workspace

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_ROWS = {"columns", "for", "each"}
"""Keys of the rows of a table, which no way of judging has."""
_FILED = ("excel", "filesystem", "pdf_tools")
_PATHS = {"path", "filepath", "source", "destination", "pdf_file_path"}
"""Names of what is a path in the workspace, in these services."""
TAKEN = (
    "case", "distractor", "index", "this", "now", "today", "size", "filler_tokens", "span", "file", "loop",
    "self",
)  # fmt: skip
"""Names that mean something of themselves."""


def check(
    definition: Definition, servers: Mapping[str, Any], parameters: Iterable[str]
) -> Iterator[Complaint]:
    """Yield the errors in a definition that is well-formed."""
    yield from check_offer("servers", servers)
    yield from _check_facts(definition, list(parameters))
    for index, statement in enumerate(definition.evidence):
        place: tuple[Any, ...] = ("evidence", index)
        yield from _check_selection(definition, statement, place)
        yield from _check_thing(definition, statement, place, servers, stated=True)
        yield from _check_as(definition, statement, place)
        yield from _check_topics(statement.topics, place)
        if statement.topics and statement.what not in definition.noise:
            yield (*place, "topics"), f"there is no everyday text, as noise has no {statement.what}"
    for name in definition.noise:
        thing = find_thing(name)
        told = {statement.what for statement in definition.evidence}
        if thing is None or thing.text is None:
            possible = [one for one in thing_names(stated=True) if (it := find_thing(one)) and it.text]
            yield ("noise", name), f"no such text; possible: {', '.join(possible)}"
        elif name not in told:
            yield (
                ("noise", name),
                f"no evidence is a {name}, for this to be like; it is {', '.join(sorted(told))}",
            )
        everyday = definition.noise[name]
        if thing is not None and not thing.letter and (everyday.html or everyday.copies):
            yield ("noise", name), "only mails have copies and HTML; leave `html` and `copies` out"
        yield from _check_topics(everyday.topics, ("noise", name))
    for index, goal in enumerate(definition.goal):
        place = ("goal", index)
        yield from _check_selection(definition, goal, place)
        yield from _check_thing(definition, goal, place, servers, stated=False)
    for index, step in enumerate(definition.solution):
        place = ("solution", index)
        yield from _check_selection(definition, step, place)
        yield from _check_step(step, place, servers)
    for service in definition.survey:
        if service not in servers:
            yield ("survey", service), f"the task has no such server; it has {', '.join(servers)}"


def check_offer(key: str, offered: Mapping[str, Sequence[str] | None]) -> Iterator[Complaint]:
    """Tools that ``servers`` or ``needed`` name and that there are not."""
    for service, names in offered.items():
        known = outlines(service) if service in service_names() else {}
        for name in names or ():
            if known and name not in known:
                yield (key, service), f"{service} has no tool {name!r}; it has {', '.join(known)}"


def check_parameters(definition: Definition, parameters: Iterable[str]) -> Iterator[Complaint]:
    """Parameters that could not be read, since their names mean something else already."""
    for name in parameters:
        if name in definition.entities:
            yield ("parameters", name), f"{name!r} is an entity already; the parameter needs another name"


def _check_facts(definition: Definition, parameters: list[str]) -> Iterator[Complaint]:
    for name, fact in definition.entities.items():
        place = ("entities", name)
        if not _NAME.fullmatch(name) or name in TAKEN:
            yield place, f"not a name for an entity: small letters, digits and _; not {', '.join(TAKEN)}"
        special = fact.special_fields
        everything = [*fact.fields.items(), *(field for fields in special for field in fields.items())]
        for field, source in everything:
            if field in TAKEN:
                yield (*place, "fields", field), _taken(field, name)
            elif not _NAME.fullmatch(field):
                yield (*place, "fields", field), "not a name for a field: small letters, digits and _"
            if isinstance(source, Draw) and source.unique == "parent" and fact.parent is None:
                message = (
                    f"`unique: parent` is for what belongs to another (parent), and {name} belongs to none"
                )
                yield (*place, "fields", field), message
            if isinstance(source, Ref) and source.ref not in definition.entities:
                several = [other for other, it in definition.entities.items() if not it.single]
                yield (*place, "fields", field), f"no entities {source.ref!r}; there are {', '.join(several)}"
            if field in definition.entities and not (isinstance(source, Ref) and source.ref == field):
                yield (
                    (*place, "fields", field),
                    f"{field!r} is an entity already: take another name",
                )
        counts = [fact.count.least, fact.count.most] if isinstance(fact.count, Between) else [fact.count]
        for count in counts:
            yield from _check_amount(count, parameters, (*place, "count"))
        for other, like in fact.distractors.items():
            yield from _check_amount(like.weight, parameters, (*place, "distractors", other, "weight"))
        for kind, it in fact.cases.items():
            yield from _check_amount(it.share, parameters, (*place, "cases", kind, "share"))
            yield from _check_amount(it.weight, parameters, (*place, "cases", kind, "weight"))
        if isinstance(fact.count, int) and not 1 <= fact.count <= MAX_COUNT:
            yield (*place, "count"), f"between 1 and {MAX_COUNT:,}"
        if isinstance(fact.count, Between):
            if fact.parent is None:
                yield (*place, "count"), "a range is for what belongs to another (parent)"
            elif isinstance(counts[0], int) and isinstance(counts[1], int) and counts[1] < counts[0]:
                yield (*place, "count"), "from is more than to"
        if fact.parent is not None and (
            fact.parent not in definition.entities or definition.entities[fact.parent].single
        ):
            several = [other for other, it in definition.entities.items() if not it.single and other != name]
            yield (
                (*place, "parent"),
                f"no entities {fact.parent!r} of which there are several; there are {', '.join(several)}",
            )
        if circle := _circle(definition, name):
            yield (*place, "parent"), f"a circle: {' -> '.join(circle)}"
        if (most := _belonging(definition, name)) > MAX_BELONGING:
            message = f"up to {most:,} of {name} belong to one; at most {MAX_BELONGING:,} can"
            yield (*place, "count"), message
        if fact.cases and fact.single:
            yield (*place, "cases"), "cases are for what there are several of (count)"
        if fact.cases and not fact.cases_with(background=False):
            yield (*place, "cases"), "all cases fill the length (weight); one at least needs a share"
        if fact.parent is not None and fact.cases_with(background=True):
            yield (
                (*place, "cases"),
                f"what belongs to another fills the length when that does; give {fact.parent} the case",
            )
        for other, like in fact.distractors.items():
            if all(source == fact.fields.get(field) for field, source in like.fields.items()):
                yield (*place, "distractors", other, "fields"), "nothing is different from those that count"
        if fact.distractors and (fact.single or fact.parent is not None):
            yield (
                (*place, "distractors"),
                "distractors are for what there are several of (count) and belongs to no other",
            )
    me = definition.entities.get("me")
    if me is None or not me.single or not {"name", "email"} <= set(me.own_fields):
        yield ("entities",), "there must be an entity `me` with the fields name and email: who acts"


def _taken(field: str, fact: str) -> str:
    """Explain why a field cannot have a reserved name."""
    if field == "case":
        return (
            f"`case` is there of itself: which case each {fact} is; what cases there are, and what differs "
            "in each, stands under `cases`"
        )
    if field == "distractor":
        return "`distractor` is there of itself: what is different in one is written under `distractors`"
    return f"{field!r} means something already, as do {', '.join(one for one in TAKEN if one != field)}"


def _check_amount(given: Any, parameters: list[str], place: tuple[Any, ...]) -> Iterator[Complaint]:
    if not isinstance(given, str):
        return
    try:
        names = bare(given).names
    except ExpressionError as error:
        yield place, str(error)
        return
    for name in sorted(names - set(parameters)):
        yield place, f"no parameter {name!r}; there are {', '.join(parameters)}"


def _circle(definition: Definition, name: str) -> list[str]:
    """Facts of which each belongs to the next, back to the first; none where they end."""
    path = [name]
    while (parent := definition.entities[path[-1]].parent) in definition.entities:
        path.append(str(parent))
        if path[-1] == name:
            return path
        if len(path) > len(definition.entities):
            break
    return []


def _belonging(definition: Definition, name: str) -> int:
    """Return the maximum number of a type's entities that belong to one top-level entity."""
    most, seen, fact = 1, {name}, definition.entities[name]
    while fact.parent is not None:
        count = fact.count.most if isinstance(fact.count, Between) else fact.count
        most *= count if isinstance(count, int) else 1
        if fact.parent in seen or fact.parent not in definition.entities:
            break
        seen.add(fact.parent)
        fact = definition.entities[fact.parent]
    return most


def _check_topics(topics: Sequence[str], place: tuple[Any, ...]) -> Iterator[Complaint]:
    for topic in topics:
        if topic not in TOPICS:
            yield (*place, "topics"), f"no topic {topic!r}; possible: {', '.join(TOPICS)}"


def _check_selection(
    definition: Definition, chosen: Selection, place: tuple[Any, ...]
) -> Iterator[Complaint]:
    if chosen.for_ is None:
        if chosen.cases or chosen.where:
            yield place, "cases and where need `for`: which entities are meant"
        return
    fact = definition.entities.get(chosen.for_)
    if fact is not None and fact.single:
        message = (
            f"of {chosen.for_} there is only one: leave `for` out, and name its fields {chosen.for_}.FIELD"
        )
        yield (*place, "for"), message
        return
    if fact is None:
        several = [name for name, it in definition.entities.items() if not it.single]
        yield (
            (*place, "for"),
            f"no entities {chosen.for_!r} of which there are several; there are {', '.join(several)}",
        )
        return
    for kind in chosen.cases or ():
        if kind not in fact.cases:
            known = ", ".join(fact.cases) or "none"
            yield (*place, "cases"), f"{chosen.for_} has no case {kind!r}; it has {known}"


def _old_key(doing: Doing) -> str | None:
    return next((key for key in doing.model_extra or {} if key in DOING), None)


def _check_thing(
    definition: Definition, doing: Doing, place: tuple[Any, ...], servers: Mapping[str, Any], *, stated: bool
) -> Iterator[Complaint]:
    offered = thing_names(servers, stated=stated, judged=not stated)
    if len(doing.model_extra or {}) != 1:
        if old := _old_key(doing):
            yield (*place, old), f"unknown key{now_called(old)}"
            return
        extra = ", ".join(doing.model_extra or {}) or "none"
        yield place, f"one key service.thing is needed, found {extra}; possible: {', '.join(offered)}"
        return
    thing, service = find_thing(doing.what), doing.what.partition(".")[0]
    if thing and service not in servers:
        yield (*place, doing.what), f"servers does not have {service}; it has {', '.join(servers)}"
        return
    if thing is None or doing.what not in offered:
        yield (*place, doing.what), f"no such thing; possible: {', '.join(offered)}"
        return
    given = (doing.model_extra or {})[doing.what]
    if not isinstance(given, dict):
        yield (*place, doing.what), "its fields are needed, as a mapping"
        return
    words = thing.says if stated else thing.judges
    for field, value in given.items():
        if field not in words:
            yield (*place, doing.what, field), f"unknown field; {doing.what} has {', '.join(words)}"
            continue
        if words[field].shape == "list" and isinstance(value, dict) and _ROWS & value.keys():
            yield from _check_rows(definition, value, (*place, doing.what, field))
        elif field == "rows" and isinstance(value, list) and not all(isinstance(one, dict) for one in value):
            message = 'rows are a mapping, such as {for: article, columns: {SKU: "{sku}"}}'
            yield (*place, doing.what, field), f"{message}, found {str(value)[:60]}"
        elif field in _PATHS and service in _FILED and isinstance(value, str):
            yield from _check_path(value, (*place, doing.what, field), absolute=False)
    identified = getattr(doing, "how", "add") != "add" and thing.identified_by in given
    for field, word in words.items():
        if word.required and field not in given and not identified:
            left_out = ""
            if word.default and (owner := getattr(doing, "for_", None)):
                left_out = f" (left out, it is {word.default}, and {owner} has not all of these)"
            yield (*place, doing.what), f"the field {field!r} is required: {word.about}{left_out}"
    if identified and getattr(doing, "how", "add") == "change" and len(given) == 1:
        yield (*place, doing.what), f"nothing beside {thing.identified_by!r}: say what it is to be changed to"
    for field, value in given.items():
        if isinstance(value, dict) and list(value.values()) == [None]:
            yield (*place, doing.what, field), unquoted(value)
    yield from _check_expressions(given, (*place, doing.what))
    if not stated:
        yield from _check_ways(given, words, (*place, doing.what))
    if stated:
        yield from _check_options(given, (*place, doing.what))


def _check_rows(
    definition: Definition, given: Mapping[str, Any], place: tuple[Any, ...]
) -> Iterator[Complaint]:
    if "columns" not in given:
        hint = "; where the things of `each` are whole rows it is {}" if "each" in given else ""
        yield place, f"`columns` is required: the cells of a row by the names of the columns{hint}"
        return
    try:
        rows = Rows.model_validate(given)
    except ValidationError as error:
        yield from (((*place, *keys), message) for keys, message in complaints_of(error, Rows, given))
        return
    yield from _check_selection(definition, rows, place)
    fact = definition.entities.get(rows.for_ or "")
    if fact is None or fact.single:
        return
    each = rows.each.source if rows.each is not None else ""
    if each in definition.entities and each not in fact.own_fields and definition.entities[each].single:
        message = (
            f"`each` names a field of {rows.for_} that is a list of things, and of {each} there is only one"
        )
        yield (*place, "each"), message
    elif isinstance(fact.fields.get(each), (Number, Moment, Date, Faked, Ref)):
        yield (*place, "each"), f"{each!r} is no list; for one row of each {rows.for_} leave `each` out"
    if rows.each is None:
        given_ones = {one.as_ for one in definition.evidence if one.for_ == rows.for_ and one.as_}
        known = {*fact.own_fields, *given_ones, *TAKEN, *definition.entities}
        for name in rows.sort:
            if name.lstrip("-") not in known:
                yield (
                    (*place, "sort"),
                    f"{rows.for_} has no field {name.lstrip('-')!r}; it has {', '.join(fact.own_fields)}",
                )


def _check_path(path: str, place: tuple[Any, ...], *, absolute: bool) -> Iterator[Complaint]:
    """Paths that no file of the workspace has."""
    inside = posixpath.normpath(path.removeprefix(f"{Workspace.ALIAS}/") if absolute else path)
    if inside.startswith(("/", "~", "..")) or re.match(r"[A-Za-z]:|\\\\", path):
        yield place, f"{path!r} is outside the workspace: a path begins there, such as out/list.csv"


def _check_as(definition: Definition, statement: Statement, place: tuple[Any, ...]) -> Iterator[Complaint]:
    """Names for what a service gives that mean something else already."""
    fact = definition.entities.get(statement.for_ or "")
    if (name := statement.as_) is None:
        return
    if not _NAME.fullmatch(name) or name in TAKEN:
        yield (*place, "as"), f"{name!r} is not a name: small letters, digits and _; not {', '.join(TAKEN)}"
    elif name in definition.entities:
        yield (*place, "as"), f"{name!r} is an entity already; what the service gives needs another name"
    elif fact is not None and name in fact.own_fields:
        message = f"{name!r} is a field of {statement.for_}; what the service gives needs another name"
        yield (*place, "as"), message


def _check_ways(
    given: Mapping[str, Any], words: Mapping[str, Word], place: tuple[Any, ...]
) -> Iterator[Complaint]:
    """Ways to judge a field that there are not."""
    for field, value in given.items():
        if (
            field in words
            and words[field].shape != "data"
            and isinstance(value, dict)
            and not (words[field].shape == "list" and _ROWS & value.keys())
        ):
            for way in value:
                if way not in WAYS and not (way == "within" and "number" in value):
                    possible = ", ".join(WAYS)
                    yield (*place, field, way), f"no way to judge a field; possible: {possible}"
            if value.get("one_of") == []:
                yield (*place, field, "one_of"), "found []; values of which it must be one are needed"
            within = value.get("within", 0)
            if "{" not in str(within) and not (isinstance(within, (int, float)) and 0 <= within < math.inf):
                yield (*place, field, "within"), f"found {within!r}; a number from 0 on is needed"


def _check_options(given: Any, place: tuple[Any, ...]) -> Iterator[Complaint]:
    if isinstance(given, str) and unclosed(given):
        yield place, "an option is not closed: write {one way|another}"
    elif isinstance(given, (Mapping, list)):
        inner = given.items() if isinstance(given, Mapping) else enumerate(given)
        for key, value in inner:
            yield from _check_options(value, (*place, key))


def _check_expressions(given: Any, place: tuple[Any, ...]) -> Iterator[Complaint]:
    """Texts that are no expressions or not allowed; where they are."""
    if isinstance(given, str):
        try:
            drawn(given)
        except ValueError as error:
            yield place, str(error)
    elif isinstance(given, Mapping):
        for key, inner in given.items():
            if isinstance(key, str) and holds_values(key):
                yield (*place, key), "a name stands as it is: what is in its braces would not be filled in"
            yield from _check_expressions(inner, (*place, key))
    elif isinstance(given, list):
        for index, inner in enumerate(given):
            yield from _check_expressions(inner, (*place, index))


def holds_values(text: str) -> bool:
    """True if a literal text has braces that look like a value."""
    try:
        return has_values(text)
    except BadBraces:
        return False


def _check_step(
    step: SolutionStep, place: tuple[Any, ...], servers: Mapping[str, Any]
) -> Iterator[Complaint]:
    if len(step.model_extra or {}) != 1:
        if old := _old_key(step):
            yield (*place, old), f"unknown key{now_called(old)}"
            return
        extra = ", ".join(step.model_extra or {}) or "none"
        yield place, f"one key service.tool is needed, found {extra}"
        return
    service, _, tool = step.what.partition(".")
    if service not in servers or service not in service_names():
        yield (*place, step.what), f"servers does not have {service!r}; it has {', '.join(servers)}"
        return
    yield from _check_expressions(step.fields, (*place, step.what))
    for name in _PATHS & step.fields.keys() if service in _FILED else ():
        if isinstance(path := step.fields[name], str):
            yield from _check_path(path, (*place, step.what, name), absolute=True)
    if _fits(step.fields, service, tool, servers[service]):
        return
    if set(servers[service] or ()) - set(outlines(service)):
        return  # this has been said
    from mesocosm.services.service import load_service  # not needed for what is right

    tools = load_service(service).select(servers[service]).tools
    if tool not in tools:
        yield (*place, step.what), f"{service} has no tool {tool!r}; it has {', '.join(tools)}"
        return
    parameters = tools[tool].signature.schema["properties"]
    for name in step.fields:
        if name not in parameters:
            yield (*place, step.what, name), f"unknown argument; {tool} has {', '.join(parameters) or 'none'}"
    for name in tools[tool].signature.schema.get("required", ()):
        if name not in step.fields:
            yield (*place, step.what), f"the argument {name!r} is required"


def _fits(fields: Iterable[str], service: str, tool: str, offered: Iterable[str] | None) -> bool:
    """True if a step matches the tool's signature, as far as the service's source shows."""
    known = outlines(service)
    if tool not in known or (offered is not None and (tool not in offered or set(offered) - set(known))):
        return False
    given = set(fields)
    return given <= set(known[tool].parameters) and given >= set(known[tool].required)
