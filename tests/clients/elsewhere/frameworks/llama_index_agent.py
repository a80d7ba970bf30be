"""LlamaIndex' function agent with llama-index-tools-mcp."""

import asyncio
import json
import sys

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai_like import OpenAILike
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

told = json.loads(sys.argv[1])


async def tools_of(url):
    return await McpToolSpec(client=BasicMCPClient(url, timeout=60)).to_tool_list_async()


async def main():
    every = [
        tool.metadata.to_openai_tool(skip_length_check=True)["function"]
        for tool in await tools_of(told["every"])
    ]
    model = OpenAILike(
        model="solver",
        api_base=told["model"],
        api_key="none",
        is_chat_model=True,
        is_function_calling_model=True,
    )
    agent = FunctionAgent(tools=await tools_of(told["url"]), llm=model, timeout=300, streaming=False)
    done = await agent.run(told["prompt"], max_iterations=300)
    print(json.dumps({"schemas": {tool["name"]: tool["parameters"] for tool in every}, "said": str(done)}))


asyncio.run(main())
