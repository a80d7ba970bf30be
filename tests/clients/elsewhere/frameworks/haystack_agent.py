"""Haystack's agent with its MCP toolset."""

import json
import sys

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from haystack_integrations.tools.mcp import MCPToolset, StreamableHttpServerInfo

told = json.loads(sys.argv[1])


def toolset(url):
    return MCPToolset(StreamableHttpServerInfo(url=url), eager_connect=True)


schemas = {tool.name: tool.tool_spec["parameters"] for tool in toolset(told["every"])}
model = OpenAIChatGenerator(Secret.from_token("none"), model="solver", api_base_url=told["model"])
agent = Agent(chat_generator=model, tools=toolset(told["url"]), max_agent_steps=300)
done = agent.run(messages=[ChatMessage.from_user(told["prompt"])])
print(json.dumps({"schemas": schemas, "said": done["messages"][-1].text}))
