"""OpenAI's Agents SDK."""

import asyncio
import json
import sys

from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp, MCPUtil
from openai import AsyncOpenAI

told = json.loads(sys.argv[1])


async def main():
    set_tracing_disabled(True)
    async with MCPServerStreamableHttp(
        params={"url": told["every"]}, client_session_timeout_seconds=60
    ) as every:
        tools = await MCPUtil.get_all_function_tools(
            [every], convert_schemas_to_strict=False, run_context=None, agent=None
        )
        schemas = {tool.name: tool.params_json_schema for tool in tools}
    client = AsyncOpenAI(base_url=told["model"], api_key="none")
    async with MCPServerStreamableHttp(
        params={"url": told["url"]}, client_session_timeout_seconds=60
    ) as server:
        agent = Agent(
            "agent",
            mcp_servers=[server],
            model=OpenAIChatCompletionsModel("solver", client),
            model_settings=ModelSettings(temperature=0),
        )
        done = await Runner.run(agent, told["prompt"], max_turns=300)
    print(json.dumps({"schemas": schemas, "said": done.final_output}))


asyncio.run(main())
