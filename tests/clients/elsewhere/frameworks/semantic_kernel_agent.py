"""Semantic Kernel's chat agent with its MCP plugin."""

import asyncio
import json
import sys

from openai import AsyncOpenAI
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.function_calling_utils import (
    kernel_function_metadata_to_function_call_format,
)
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.connectors.mcp import MCPStreamableHttpPlugin
from semantic_kernel.kernel import Kernel

told = json.loads(sys.argv[1])


async def main():
    async with MCPStreamableHttpPlugin(name="t", url=told["every"], load_prompts=False) as every:
        kernel = Kernel()
        kernel.add_plugin(every)
        schemas = {}
        for metadata in kernel.get_full_list_of_function_metadata():
            schemas[metadata.name] = kernel_function_metadata_to_function_call_format(metadata)["function"][
                "parameters"
            ]
    service = OpenAIChatCompletion("solver", async_client=AsyncOpenAI(base_url=told["model"], api_key="none"))
    async with MCPStreamableHttpPlugin(name="t", url=told["url"], load_prompts=False) as plugin:
        from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior

        agent = ChatCompletionAgent(
            service=service,
            plugins=[plugin],
            function_choice_behavior=FunctionChoiceBehavior.Auto(maximum_auto_invoke_attempts=300),
        )
        done = await agent.get_response(messages=told["prompt"])
    print(json.dumps({"schemas": schemas, "said": str(done)}))


asyncio.run(main())
