"""CAMEL's chat agent with its MCP toolkit."""

import asyncio
import json
import sys

from camel.agents import ChatAgent
from camel.models import ModelFactory
from camel.toolkits.mcp_toolkit import MCPToolkit
from camel.types import ModelPlatformType
from camel.utils import BaseTokenCounter

told = json.loads(sys.argv[1])


class Counter(BaseTokenCounter):
    """Counts characters: the vocabularies of the real counters are asked for over the network."""

    def count_tokens_from_messages(self, messages):
        return len(str(messages)) // 4

    def encode(self, text):
        return list(text.encode())

    def decode(self, token_ids):
        return bytes(token_ids).decode()


def toolkit(url):
    return MCPToolkit(config_dict={"mcpServers": {"it": {"url": url, "mode": "streamable-http"}}}, timeout=60)


async def main():
    async with toolkit(told["every"]) as every:
        functions = [tool.get_openai_tool_schema()["function"] for tool in every.get_tools()]
    model = ModelFactory.create(
        token_counter=Counter(),
        model_platform=ModelPlatformType.OPENAI_COMPATIBLE_MODEL,
        model_type="solver",
        url=told["model"],
        api_key="none",
    )
    async with toolkit(told["url"]) as own:
        agent = ChatAgent(model=model, tools=own.get_tools(), max_iteration=300)
        done = await agent.astep(told["prompt"])
    schemas = {function["name"]: function["parameters"] for function in functions}
    print(json.dumps({"schemas": schemas, "said": done.msgs[-1].content}))


asyncio.run(main())
