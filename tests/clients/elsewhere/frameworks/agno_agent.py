"""Agno's agent with its MCP tools."""

import asyncio
import json
import sys

from agno.agent import Agent
from agno.models.openai import OpenAILike
from agno.tools.mcp import MCPTools

told = json.loads(sys.argv[1])


async def main():
    async with MCPTools(url=told["every"], transport="streamable-http", timeout_seconds=60) as every:
        schemas = {tool.name: tool.to_dict()["parameters"] for tool in every.functions.values()}
    async with MCPTools(url=told["url"], transport="streamable-http", timeout_seconds=60) as own:
        agent = Agent(
            model=OpenAILike(id="solver", base_url=told["model"], api_key="none"),
            tools=[own],
            telemetry=False,
        )
        done = await agent.arun(told["prompt"])
    print(json.dumps({"schemas": schemas, "said": done.content}))


asyncio.run(main())
