"""LangGraph's ready-made agent with langchain-mcp-adapters."""

import asyncio
import json
import sys

from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent

told = json.loads(sys.argv[1])


async def tools_of(url):
    return await MultiServerMCPClient({"it": {"url": url, "transport": "streamable_http"}}).get_tools()


async def main():
    every = [convert_to_openai_tool(tool)["function"] for tool in await tools_of(told["every"])]
    model = ChatOpenAI(model="solver", base_url=told["model"], api_key="none")
    agent = create_react_agent(model, await tools_of(told["url"]))
    done = await agent.ainvoke({"messages": [("user", told["prompt"])]}, {"recursion_limit": 600})
    schemas = {tool["name"]: tool["parameters"] for tool in every}
    print(json.dumps({"schemas": schemas, "said": done["messages"][-1].content}))


asyncio.run(main())
