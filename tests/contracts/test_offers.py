"""What tools are called where all are together, and which of them a task needs."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations
from mailbox import fill_mailbox
from pathlib import Path

import pytest
from worlds import build_world

from mesocosm.doors.mcp import McpTools, world_server
from mesocosm.errors import UsageError
from mesocosm.families.family import family_names, load_family
from mesocosm.families.tool_limits import count_tools, too_many
from mesocosm.services.calling import ToolError
from mesocosm.services.service import Page, combined_names, ending_tools, load_service, service_names
from mesocosm.services.world import World

MakeWorld = Callable[..., World]


def test_all_services_together_have_no_two_tools_of_one_name() -> None:
    for services in (service_names(), *combinations(service_names(), 2)):
        names = combined_names(services)
        assert len(set(names.values())) == sum(len(load_service(name).tools) for name in services)


def test_only_names_that_several_services_use_bear_the_service() -> None:
    names = combined_names(("email", "documents", "canvas", "claim_done"))
    assert names["canvas", "canvas_list_courses"] == "canvas_list_courses"
    assert names["claim_done", "claim_done"] == "claim_done"
    assert names["email", "list_users"] == "email_list_users"
    assert names["documents", "list_users"] == "documents_list_users"
    assert combined_names(("email", "claim_done"))["email", "list_users"] == "list_users"
    assert ending_tools(("email", "claim_done")) == {"claim_done"}


def test_a_choice_of_tools_renames_none(tmp_path: Path) -> None:
    build_world(tmp_path / "world", ["email", "documents", "claim_done"], fill_mailbox).close()
    offer = {"email": ["list_users"], "claim_done": None}
    with (
        World(tmp_path / "world", offer=offer) as world,
        McpTools(world_server(world)) as tools,
    ):
        assert [(tool.service, tool.name) for tool in tools.list_tools()] == [
            ("email", "email_list_users"),
            ("claim_done", "claim_done"),
        ]
        assert "list_users" not in tools.instructions
        assert load_service("email").instructions in tools.instructions
        assert load_service("documents").instructions not in tools.instructions
        assert tools.call("email", "list_users")
        with pytest.raises(Exception, match="Unknown tool: read_email"):
            tools.call("email", "read_email", email_id="1")
        with pytest.raises(Exception, match="Unknown tool"):
            tools.call("documents", "list_users")


def test_the_combined_endpoint_says_what_each_service_says(make_world: MakeWorld) -> None:
    world = make_world(None, "calendar", "canvas", "claim_done")
    with McpTools(world_server(world)) as tools:
        for service in world.services.values():
            assert f"{service.name}: {service.instructions}" in tools.instructions


def test_a_tool_of_arrays_says_how_the_rest_is_fetched(make_world: MakeWorld) -> None:
    with McpTools(world_server(make_world(None, "canvas", "woocommerce", "email"))) as tools:
        listed = {tool.name: tool for tool in tools.list_tools()}
    paged = [tool for tool in listed.values() if Page.remark in tool.description]
    assert {"canvas_list_courses", "woo_orders_list"} <= {tool.name for tool in paged}
    assert all("page" in tool.input_schema["properties"] for tool in paged)
    assert Page.remark not in listed["get_emails"].description


@pytest.mark.parametrize("family", family_names())
def test_a_task_says_which_tools_it_needs(family: str) -> None:
    task = load_family(family).task
    needed = task.offered("needed")
    for name, tools in needed.items():
        load_service(name).select(tools)  # refuses what the service does not have
    assert ending_tools(needed) == ending_tools(task.servers)
    listing = [
        json.dumps(tool.listing)
        for name, tools in needed.items()
        for tool in load_service(name).select(tools).tools.values()
    ]
    assert sum(map(len, listing)) < 32 * 1024


def test_the_error_of_a_tool_is_still_an_error(make_world: MakeWorld) -> None:
    with McpTools(world_server(make_world(fill_mailbox, "email"))) as tools, pytest.raises(ToolError):
        tools.call("email", "read_email", email_id="nope")


def test_tools_are_offered_by_name_and_the_end_with_them() -> None:
    task = load_family("canvas_arrange_exam").task
    offered = task.offered("canvas_list_courses, read_email,list_users")
    assert offered == {
        "canvas": ["canvas_list_courses"],
        "email": ["list_users", "read_email"],
        "claim_done": ["claim_done"],
    }
    with pytest.raises(UsageError, match="offers no tool 'fax'"):
        task.offered("canvas_list_courses,fax")


def test_more_tools_than_a_model_takes_are_warned_of() -> None:
    task = load_family("canvas_arrange_exam").task
    assert "146 tools" in (too_many(count_tools(task.offered("all")), "openai/gpt-5") or "")
    assert too_many(count_tools(task.offered("needed")), "openai/gpt-5") is None
    assert too_many(1_000, "mockllm/model") is None
