"""What every service promises, tested for each service that exists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mesocosm.services import contracts
from mesocosm.services.outlines import outlines
from mesocosm.services.service import LONG, Tool, load_service, service_names
from mesocosm.services.world import World
from mesocosm.worlds import tokens
from mesocosm.worlds.manifest import Manifest

REFERENCE = Path(__file__).parent / "tools"
"""Names and schemas of the tools of the real products' MCP servers."""


PORTABLE = {
    "canvas.canvas_submit_grade.grade": "oneOf: Gemini and OpenAI's strict mode know anyOf",
    "codehost.issue_write.issue_fields": "a list of types: Gemini knows one type each",
    "excel.write_data_to_excel.data": "items of any type: Gemini wants a type",
    "google_sheet.update_cells.data": "items without a schema: OpenAI refuses the request",
}
"""Parameters whose schema is not the vendor's to the letter, and who cannot read the vendor's."""


def bare(schema: Any) -> Any:
    """A schema without the texts that are our own, and without what Google's MCP client fails on."""
    if isinstance(schema, dict):
        return {
            key: bare(value)
            for key, value in schema.items()
            if not (key == "description" and isinstance(value, str))
            and not (key == "additionalProperties" and isinstance(value, bool))
        }
    return [bare(item) for item in schema] if isinstance(schema, list) else schema


def says_more(ours: Any, theirs: Any) -> bool:
    """Whether a schema is the vendor's, or says more of objects of which the vendor's says little."""
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return bool(ours == theirs)
    if theirs.get("type") == "object":
        added = ours.keys() - theirs.keys() <= {"properties", "required", "additionalProperties"}
        known = theirs.get("properties", {})
        inner = ours.get("properties", {})
        same = all(says_more(inner.get(name), one) for name, one in known.items())
        return added and same and ours.get("required", []) == theirs.get("required", [])
    if ours.keys() != theirs.keys():
        return False
    options = zip(ours.get("anyOf", ()), theirs.get("anyOf", ()), strict=True)
    rest = [key for key in ours if key not in ("items", "anyOf")]
    return (
        all(ours[key] == theirs[key] for key in rest)
        and says_more(ours.get("items"), theirs.get("items"))
        and all(says_more(*pair) for pair in options)
    )


def tool_of(service: str, name: str) -> Tool:
    return load_service(service).tools[name]


def reference_tools(service: str) -> dict[str, dict[str, Any]]:
    tools = json.loads((REFERENCE / f"{service}.json").read_text())
    return {tool["name"]: tool["inputSchema"] for tool in tools}


@pytest.mark.parametrize(
    "service", sorted({path.stem for path in REFERENCE.glob("*.json")} & set(service_names()))
)
def test_every_tool_of_the_real_product_is_here_with_an_equal_schema(service: str) -> None:
    tools = load_service(service).tools
    for name, schema in reference_tools(service).items():
        assert name in tools
        ours, theirs = bare(tools[name].signature.schema), bare(schema)
        assert set(ours["required"]) == set(theirs.get("required", [])), name
        for parameter, expected in theirs.get("properties", {}).items():
            if f"{service}.{name}.{parameter}" in PORTABLE:
                assert ours["properties"][parameter] != expected, parameter
                continue
            assert says_more(ours["properties"][parameter], expected), f"{name}: {parameter}"


@pytest.mark.parametrize("service", service_names())
def test_a_service_tells_an_agent_what_it_is_and_what_its_tools_do_and_take(service: str) -> None:
    assert not list(contracts.undescribed(load_service(service)))


# -- calls made up from the schemas ---------------------------------------------------------------------

TEXTS = st.one_of(
    st.sampled_from(
        ["", " ", "1", "-1", "abc", "INBOX", "a@b.org", "2025-01-15", "2025-01-15T10:00:00Z", "../x", "/etc"]
    ),
    st.text(max_size=20),
    st.sampled_from(
        ["\x00", "\ud800", "%", "_", '"', "'; --", "9" * 30, "\u0130", "x" * 5000, "/workspace/a.xlsx"]
    ),
)
INTEGERS = st.one_of(st.integers(-3, 12), st.sampled_from([2**31, 2**63, -(2**63), 10**30]))


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a schema admits."""
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return st.one_of([values(option) for option in schema[union]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema.get("type")
    if isinstance(kind, list):
        return st.one_of([values({**schema, "type": one}) for one in kind])
    if kind == "array":
        return st.lists(values(schema.get("items", {})), min_size=schema.get("minItems", 0), max_size=3)
    if kind == "object":
        required, optional = {}, {}
        for name, inner in schema.get("properties", {}).items():
            (required if name in schema.get("required", []) else optional)[name] = values(inner)
        return st.fixed_dictionaries(required, optional=optional)
    return {
        "string": TEXTS,
        "integer": INTEGERS,
        "number": st.one_of(INTEGERS, st.sampled_from([1.0, 1.5, -0.0, 1e300])),
        "boolean": st.booleans(),
        "null": st.none(),
    }.get(kind or "", st.one_of(TEXTS, INTEGERS, st.booleans(), st.none()))


@pytest.fixture(scope="module")
def empty_world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """One world with every service and nothing in it."""
    path = tmp_path_factory.mktemp("contracts") / "world"
    world = World.create(path, Manifest(services=dict.fromkeys(service_names())))
    world.finish_building()
    return world


FUZZED = [name for name in service_names() if name not in {"claim_done", "submit_answer"}]
EXECUTES_CODE = {"python_execute", "programmatic_tool_calling", "terminal"}


@pytest.mark.parametrize("service", [name for name in FUZZED if name not in EXECUTES_CODE])
@settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
@given(data=st.data())
def test_no_call_that_the_schema_admits_is_a_fault(
    empty_world: World, service: str, data: st.DataObject
) -> None:
    tools = sorted(load_service(service).tools)
    name = data.draw(st.sampled_from(tools), label="tool")
    arguments = data.draw(values(tool_of(service, name).signature.schema), label="arguments")
    outcome = empty_world.call(service, name, arguments)
    faults = [fault.error for fault in empty_world.journal.with_status("fault")]
    assert outcome.status != "fault", faults[-1]


@pytest.mark.parametrize("service", service_names())
def test_refused_calls_leave_no_trace(service: str, tmp_path: Path) -> None:
    assert not list(contracts.traces(load_service(service), tmp_path / "world"))


@pytest.mark.parametrize("name", service_names())
def test_the_outline_of_a_service_is_what_its_tools_take(name: str) -> None:
    read = {tool: (set(one.parameters), set(one.required)) for tool, one in outlines(name).items()}
    schemas = {tool: one.signature.schema for tool, one in load_service(name).tools.items()}
    assert read == {
        tool: (set(schema["properties"]), set(schema["required"])) for tool, schema in schemas.items()
    }


def test_a_result_of_25000_tokens_is_warned_of(tmp_path: Path) -> None:
    """One of those that ``benchmarks/long_results.py`` finds in worlds that are larger than a test's."""
    services = {"filesystem": None, "memory": None}
    with World.create(tmp_path / "world", Manifest(services=services)) as world:
        text = "".join(f"{n} and what line {n} says\n" for n in range(4_000))[:99_000]
        world.workspace.write("long.txt", text.encode())
        said = [{"name": f"N{n}", "entityType": "x", "observations": [text[:1_000]]} for n in range(100)]
        world.finish_building()
        assert world.call("memory", "create_entities", {"entities": said}).status == "ok"
        for service, tool, arguments in (
            ("filesystem", "read_text_file", {"path": "long.txt"}),
            ("memory", "search_nodes", {"query": "line", "per_page": 100}),
        ):
            assert tokens.count(world.call(service, tool, arguments).text) >= 25_000
            assert tool_of(service, tool).listing["description"].endswith(LONG)
        assert LONG not in tool_of("filesystem", "get_file_info").description
