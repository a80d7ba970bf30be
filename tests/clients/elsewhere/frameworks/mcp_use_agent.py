"""mcp-use's agent, on LangChain."""

import asyncio
import json
import sys

from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_openai import ChatOpenAI
from mcp_use import MCPAgent, MCPClient
from mcp_use.agents.adapters import LangChainAdapter

told = json.loads(sys.argv[1])


def client(url):
    return MCPClient.from_dict({"mcpServers": {"it": {"url": url}}})


async def main():
    every = client(told["every"])
    schemas = {}
    adapter = LangChainAdapter()
    await adapter.create_all(every)
    for tool in adapter.tools:
        function = convert_to_openai_tool(tool)["function"]
        schemas[function["name"]] = function["parameters"]
    await every.close_all_sessions()
    model = ChatOpenAI(model="solver", base_url=told["model"], api_key="none")
    agent = MCPAgent(llm=model, client=client(told["url"]), max_steps=300)
    said = await agent.run(told["prompt"])
    await agent.close()
    print(json.dumps({"schemas": schemas, "said": str(said)}))


asyncio.run(main())
