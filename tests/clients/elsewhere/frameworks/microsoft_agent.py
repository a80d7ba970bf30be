"""Microsoft's Agent Framework with its MCP tool."""

import asyncio
import json
import sys

from agent_framework import Agent, MCPStreamableHTTPTool
from agent_framework.openai import OpenAIChatCompletionClient

told = json.loads(sys.argv[1])


async def main():
    async with MCPStreamableHTTPTool("every", told["every"], load_prompts=False) as every:
        schemas = {tool.name: tool.parameters() for tool in every.functions}
    client = OpenAIChatCompletionClient(model="solver", base_url=told["model"], api_key="none")
    client.function_invocation_configuration["max_iterations"] = 300
    async with MCPStreamableHTTPTool("own", told["url"], load_prompts=False) as own:
        done = await Agent(client, tools=[own]).run(told["prompt"])
    print(json.dumps({"schemas": schemas, "said": done.text}))


asyncio.run(main())
