"""What a model writes a little differently: ids, operators of other searches, names of arguments."""

from __future__ import annotations

import json
from collections.abc import Callable
from mailbox import fill_mailbox
from pathlib import Path
from typing import Any, TypedDict

import pytest
from campus import fill_campus
from hypothesis import given
from hypothesis import strategies as st
from shop import fill_shop

from mesocosm.errors import Invalid
from mesocosm.services.schema import Nullable, Number, Words, signature_of
from mesocosm.services.service import load_service, service_names

Open = Callable[..., Any]


def test_ids_are_taken_as_numbers_or_as_text(open_tools: Open) -> None:
    tools = open_tools(fill_mailbox, "email")
    assert tools.call("email", "read_email", email_id=1) == tools.call("email", "read_email", email_id="1")
    tools = open_tools(fill_shop, "woocommerce")
    one = tools.call("woocommerce", "woo_products_get", productId="1")
    assert one == tools.call("woocommerce", "woo_products_get", productId=1)
    order = tools.call(
        "woocommerce", "woo_orders_create", orderData={"line_items": [{"product_id": "1", "quantity": 1}]}
    )
    assert order["line_items"][0]["product_id"] == 1
    tools = open_tools(fill_campus, "canvas")
    course = tools.call("canvas", "canvas_get_course", course_id="1")
    assert course == tools.call("canvas", "canvas_get_course", course_id=1)


@given(st.integers(0, 10**17))
def test_an_id_is_the_same_however_it_is_written(number: int) -> None:
    def by_text(store: Any, item_id: str, ids: list[str] | None = None) -> None: ...
    def by_number(store: Any, itemId: Number, ids: list[int] | None = None) -> None: ...  # noqa: N803

    for value in (number, str(number)):
        assert signature_of(by_text).bind({"item_id": value, "ids": [value]}, lenient=True) == {
            "item_id": str(number),
            "ids": [str(number)],
        }
        assert signature_of(by_number).bind({"itemId": value, "ids": [value]}, lenient=True) == {
            "itemId": number,
            "ids": [number],
        }


@pytest.mark.parametrize("value", [True, 1.5, "x", "1.5", "", [1], {}])
def test_what_is_no_id_is_refused(value: Any) -> None:
    def by_number(store: Any, itemId: Number) -> None: ...  # noqa: N803

    with pytest.raises(Invalid, match="itemId"):
        signature_of(by_number).bind({"itemId": value})


@pytest.mark.parametrize(
    "query",
    ["lunch OR dinner", "lunch | dinner", "lunch -dinner", "-dinner", "NOT dinner", "lunch AND dinner"],
)
def test_operators_that_a_search_does_not_know_are_refused_with_a_hint(open_tools: Open, query: str) -> None:
    tools = open_tools(fill_mailbox, "email")
    with pytest.raises(
        Exception, match=r"'query': this search knows no operators .*(by itself|leave it out)"
    ):
        tools.call("email", "search_emails", query=query)
    with pytest.raises(Exception, match="knows no operators"):
        open_tools(fill_shop, "woocommerce").call("woocommerce", "woo_products_list", search=query)


@pytest.mark.parametrize(
    "query", ['"lunch OR dinner"', "lunch or dinner", "co-worker", "2025 - 2026", "OR", "R&D|X", "AND"]
)
def test_words_that_only_look_like_operators_are_searched_for(query: str) -> None:
    def search(store: Any, query: Words) -> None: ...

    assert signature_of(search).bind({"query": query}) == {"query": query}


def test_every_search_without_operators_says_so() -> None:
    searches = {
        (name, tool.name)
        for name in service_names()
        for tool in load_service(name).tools.values()
        for parameter in ("query", "q", "search", "search_term")
        if parameter in tool.signature.schema["properties"] and parameter not in tool.signature.words
    }
    sql = {"google_cloud", "snowflake"}
    assert {service for service, _ in searches} - sql == {"codehost", "history"}, searches


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("woo_orders_list", {"perPage": 0}, "perPage must be between"),
        ("woo_products_list", {"minPrice": "x"}, "minPrice"),
        (
            "woo_products_update",
            {"productId": 1, "productData": {"categories": [{"name": "x"}]}},
            "categories are",
        ),
    ],
)
def test_an_error_names_the_argument_as_it_was_given(
    open_tools: Open, tool: str, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(Exception, match=words):
        open_tools(fill_shop, "woocommerce").call("woocommerce", tool, **arguments)


# -- arguments as clients send them ----------------------------------------------------------------------


class _Point(TypedDict, total=False):
    x: int
    label: str


def _drawn(
    store: Any,
    name: str,
    points: list[_Point],
    origin: _Point | None = None,
    width: float = 1.0,
    closed: bool = False,
    shown: Nullable[str] = "",
    tags: list[str] | None = None,
) -> None: ...


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"points": '[{"x": "3", "label": 4}]'}, {"points": [{"x": 3, "label": "4"}]}),
        ({"points": [{"x": 1, "label": None}]}, {"points": [{"x": 1}]}),
        ({"origin": '{"x": 1}', "width": "2.5"}, {"origin": {"x": 1}, "width": 2.5}),
        ({"closed": "True", "tags": '["a"]'}, {"closed": True, "tags": ["a"]}),
        ({"origin": None, "width": None, "closed": None, "tags": None}, {}),
        ({"shown": None}, {"shown": None}),
        ({"name": 7}, {"name": "7"}),
        ({"name": "[1]"}, {"name": "[1]"}),
    ],
)
def test_an_argument_is_what_it_can_only_mean(sent: dict[str, Any], meant: dict[str, Any]) -> None:
    usual = {"name": "n", "points": []}
    signature = signature_of(_drawn)
    assert signature.bind(usual | sent, lenient=True, drop_nulls=True) == usual | meant
    assert bool(signature.coercions(usual | sent)) == (sent != meant)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"points": "[1"}, "'points' must be array"),
        ({"points": None}, r"'points' must be array of object, got null \(null\)"),
        ({"points": [{"x": "1.5"}]}, "must be integer, got 1.5"),
        ({"closed": "perhaps"}, "'closed' must be boolean"),
        ({"closed": 1}, "'closed' must be boolean"),
        ({"tags": "a, b"}, "'tags' must be array of string"),
        ({"name": True}, r"'name' must be string, got true \(boolean\)"),
        ({"colour": None}, "Unknown argument 'colour'"),
    ],
)
def test_what_may_mean_several_things_is_refused(sent: dict[str, Any], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        signature_of(_drawn).bind({"name": "n", "points": []} | sent, lenient=True, drop_nulls=True)


def test_every_tool_takes_null_for_what_it_may_go_without() -> None:
    for name in service_names():
        for tool in load_service(name).tools.values():
            schema = tool.signature.schema
            optional = dict.fromkeys(schema["properties"].keys() - set(schema["required"]))
            if schema["required"] or not optional:
                continue
            tool.bind(optional)


def test_a_client_that_sends_null_and_json_as_text_is_served(open_tools: Open) -> None:
    tools = open_tools(fill_mailbox, "email")
    shown = tools.call("email", "get_emails", folder=None, page="1", page_size=None)
    assert shown == tools.call("email", "get_emails", page=1)


# -- every parameter of every tool -----------------------------------------------------------------------


def _example(schema: dict[str, Any]) -> Any:
    """A value that a schema allows; raises ``LookupError`` where none can be told from it."""
    if options := schema.get("anyOf"):
        return _example(options[0])
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "array":
        return [_example(schema["items"])] * max(1, schema.get("minItems", 1))
    if kind == "object":
        known = schema.get("properties") or {}
        chosen = [*schema.get("required", ())] or [*known][:3]
        return {name: _example(known[name]) for name in chosen}
    found: dict[Any, Any] = {
        "string": "text",
        "integer": max(1, schema.get("minimum", 1)),
        "number": max(2, schema.get("minimum", 2)),  # vendors write it for whole numbers, too
        "boolean": True,
    }
    return found[kind]


def _as_text(value: Any) -> Any:
    """The value as many a model writes it: numbers as text, lists and objects as JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value)


def _inside(value: Any) -> Any:
    """A list or an object whose numbers and truth values are texts."""
    if isinstance(value, list):
        return [_inside(one) for one in value]
    if isinstance(value, dict):
        return {name: _inside(one) for name, one in value.items()}
    return _as_text(value)


def _takes_text(schema: dict[str, Any]) -> bool:
    return "string" in [one.get("type") for one in (schema, *schema.get("anyOf", ()))]


@pytest.mark.parametrize("service", service_names())
def test_every_argument_is_taken_as_clients_send_it(service: str) -> None:
    """One rule for all tools: what a text can only mean, and null where an argument may be left out."""
    for tool in load_service(service).tools.values():
        schema = tool.signature.schema
        usual = {name: _example(schema["properties"][name]) for name in schema["required"]}
        plain = tool.bind(usual)
        for name, parameter in schema["properties"].items():
            value = _example(parameter)
            meant = tool.bind(usual | {name: value})
            if not _takes_text(parameter):
                for sent in (_as_text(value), _inside(value)):
                    assert tool.bind(usual | {name: sent}) == meant, (tool.name, name, sent)
            if name not in schema["required"] and plain.get(name) is not None:
                left_out = tool.bind({**usual, name: None})
                assert left_out == plain or left_out.get(name) is None, (tool.name, name)
        with pytest.raises(Invalid, match="Unknown argument 'not_a_parameter'"):
            tool.bind(usual | {"not_a_parameter": 1})


def test_no_vendor_closes_the_root_of_a_schema() -> None:
    """So none of ours says ``additionalProperties: false``; unknown arguments are refused all the same."""
    folder = Path(__file__).parent / "tools"
    tools = [tool for path in sorted(folder.glob("*.json")) for tool in json.loads(path.read_text())]
    assert len(tools) > 300
    assert not [tool["name"] for tool in tools if tool["inputSchema"].get("additionalProperties") is False]
