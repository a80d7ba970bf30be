"""Pydantic AI's agent."""

import asyncio
import json
import sys

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits

told = json.loads(sys.argv[1])


async def main():
    async with MCPToolset(told["every"]) as every:
        schemas = {tool.name: tool.inputSchema for tool in await every.list_tools()}
    model = OpenAIChatModel("solver", provider=OpenAIProvider(base_url=told["model"], api_key="none"))
    agent = Agent(model, toolsets=[MCPToolset(told["url"])])
    async with agent:
        done = await agent.run(told["prompt"], usage_limits=UsageLimits(request_limit=300))
    print(json.dumps({"schemas": schemas, "said": done.output}))


asyncio.run(main())
