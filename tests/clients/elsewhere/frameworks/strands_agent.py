"""Strands Agents with its MCP client."""

import json
import sys

from mcp.client.streamable_http import streamable_http_client
from strands import Agent
from strands.models.openai import OpenAIModel
from strands.tools.mcp import MCPClient

told = json.loads(sys.argv[1])


def client(url):
    return MCPClient(lambda: streamable_http_client(url))


with client(told["every"]) as every:
    schemas = {tool.tool_name: tool.tool_spec["inputSchema"]["json"] for tool in every.list_tools_sync()}
with client(told["url"]) as own:
    model = OpenAIModel(client_args={"base_url": told["model"], "api_key": "none"}, model_id="solver")
    said = Agent(model, tools=own.list_tools_sync(), callback_handler=None)(told["prompt"])
print(json.dumps({"schemas": schemas, "said": str(said)}))
