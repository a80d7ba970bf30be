"""Typed functions become JSON schemas, and raw arguments become theirs."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict, Unpack

import pytest

from mesocosm.errors import Invalid
from mesocosm.services.schema import (
    About,
    Depends,
    Extra,
    Nullable,
    Number,
    description_of,
    resolved,
    signature_of,
    wants_request,
)


class Edit(TypedDict):
    old: str
    new: NotRequired[str]


def tool(
    store: object,
    name: str,
    id: Number,
    count: int = 3,
    note: str | None = None,
    end: Nullable[str] = None,
    kind: Literal["a", "b"] = "a",
    edits: list[Edit] | None = None,
    grade: float | str = 0,
    paths: Annotated[list[str], Extra(minItems=1)] = [],  # noqa: B006
    rows: list[list[Any]] | None = None,
    from_: str | None = None,
) -> None:
    """Do a thing.

    At length.

    Args:
        name: What it is
            called.
        count: How many.
    """


def test_a_function_becomes_the_schema_that_its_types_say() -> None:
    schema = signature_of(tool).schema
    assert schema["required"] == ["name", "id"]
    assert schema["properties"] == {
        "name": {"description": "What it is called.", "type": "string"},
        "id": {"type": "number"},
        "count": {"description": "How many.", "type": "integer", "default": 3},
        "note": {"type": "string"},
        "end": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "kind": {"type": "string", "enum": ["a", "b"], "default": "a"},
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"old": {"type": "string"}, "new": {"type": "string"}},
                "required": ["old"],
            },
        },
        "grade": {"anyOf": [{"type": "number"}, {"type": "string"}], "default": 0},
        "paths": {"type": "array", "items": {"type": "string"}, "minItems": 1, "default": []},
        "rows": {"type": "array", "items": {"type": "array", "items": {}}},
        "from": {"type": "string"},
    }


def test_the_description_ends_where_the_arguments_begin() -> None:
    assert description_of(tool) == "Do a thing.\n\nAt length."


def test_whole_numbers_reach_the_function_as_integers() -> None:
    bound = signature_of(tool).bind({"name": "x", "id": 7.0, "from": "y"})
    assert bound == {"name": "x", "id": 7, "from_": "y"}
    assert type(bound["id"]) is int


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"id": 1}, ["'name'", "required", "string"]),
        ({"name": 5, "id": 1}, ["'name'", "string", "5 (integer)"]),
        ({"name": "x", "id": 1.5}, ["'id'", "whole number", "1.5"]),
        ({"name": "x", "id": True}, ["'id'", "number", "boolean"]),
        ({"name": "x", "id": 1, "nmae": 2}, ["'nmae'", "Unknown", "name, id"]),
        ({"name": "x", "id": 1, "kind": "c"}, ["'kind'", '"a", "b"', '"c"']),
        ({"name": "x", "id": 1, "edits": [{}]}, ["edits[0]", "'old'"]),
        ({"name": "x", "id": 1, "edits": "no"}, ["'edits'", "array", '"no" (string)']),
        ({"name": "x", "id": 1, "note": None}, ["'note'", "string", "null"]),
        ({"name": "x", "id": 1, "paths": []}, ["'paths'", "at least 1"]),
        ({"name": "x", "id": 1, "count": "3"}, ["'count'", "integer"]),
    ],
)
def test_wrong_arguments_are_named_with_what_was_expected(
    arguments: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(Invalid) as refused:
        signature_of(tool).bind(arguments)
    for word in words:
        assert word in str(refused.value)


Course = Annotated[Number, About("The course.")]
Size = Annotated[int, Extra(minimum=1), About("How many.")]


def shared(store: object, course: Course, other: Course, size: Size | None = None) -> None:
    """Do a thing to two courses.

    Args:
        other: The one that is copied.
    """


def test_what_parameters_share_is_told_where_the_docstring_says_nothing_else() -> None:
    assert signature_of(shared).schema["properties"] == {
        "course": {"description": "The course.", "type": "number"},
        "other": {"description": "The one that is copied.", "type": "number"},
        "size": {"description": "How many.", "type": "integer", "minimum": 1},
    }
    assert signature_of(shared).integers == {"course", "other", "size"}


def _room(store: list[str], course: Course) -> str:
    store.append(f"room {course}")
    return f"room of {course}"


Room = Annotated[str, Depends(_room)]


def _seat(store: list[str], request: str, room: Room, row: Size = 2) -> str:
    return f"row {row} in {room} for {request}"


class Colours(TypedDict, total=False):
    floor: str


def paint(
    store: list[str], room: Room, wall: str, seat: Annotated[str, Depends(_seat)], **others: Unpack[Colours]
) -> list[Any]:
    """Paint a room.

    Args:
        wall: Colour of the walls.
        floor: Colour of the floor.
    """
    return [room, wall, seat, others]


def test_what_a_parameter_depends_on_stands_in_its_place_and_is_worked_out_once() -> None:
    schema = signature_of(paint).schema
    assert list(schema["properties"]) == ["course", "row", "wall", "floor"]
    assert schema["properties"]["course"] == {"description": "The course.", "type": "number"}
    assert schema["required"] == ["course", "wall"]
    assert wants_request(paint)
    calls: list[str] = []
    painted = resolved(paint)(calls, request="Ann", course=7, wall="red", floor="grey")
    assert painted == ["room of 7", "red", "row 2 in room of 7 for Ann", {"floor": "grey"}]
    assert calls == ["room 7"]


def enter(room: Room, door: str) -> str:
    """Enter a room."""
    return f"{room} by {door}"


def test_a_function_whose_first_parameter_is_worked_out_needs_no_store() -> None:
    assert list(signature_of(enter).schema["properties"]) == ["course", "door"]
    assert not wants_request(enter)
    assert resolved(enter)([], course=7, door="the window") == "room of 7 by the window"
