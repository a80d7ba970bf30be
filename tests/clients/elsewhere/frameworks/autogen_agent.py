"""AutoGen's assistant with its MCP workbench."""

import asyncio
import json
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from autogen_ext.tools.mcp import McpWorkbench, StreamableHttpServerParams, mcp_server_tools

told = json.loads(sys.argv[1])


async def main():
    schemas = {}
    for tool in await mcp_server_tools(StreamableHttpServerParams(url=told["every"])):
        schemas[tool.schema["name"]] = tool.schema["parameters"]
    info = {
        "vision": False,
        "function_calling": True,
        "json_output": False,
        "family": "unknown",
        "structured_output": False,
    }
    model = OpenAIChatCompletionClient(
        model="solver", base_url=told["model"], api_key="none", model_info=info
    )
    async with McpWorkbench(StreamableHttpServerParams(url=told["url"])) as workbench:
        agent = AssistantAgent("agent", model, workbench=workbench, max_tool_iterations=300)
        done = await agent.run(task=told["prompt"])
    print(json.dumps({"schemas": schemas, "said": str(done.messages[-1].content)}))


asyncio.run(main())
