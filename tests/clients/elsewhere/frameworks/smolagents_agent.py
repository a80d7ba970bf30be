"""smolagents' tool-calling agent."""

import json
import sys

from smolagents import OpenAIServerModel, ToolCallingAgent, ToolCollection
from smolagents.models import get_tool_json_schema

told = json.loads(sys.argv[1])


def tools_of(url):
    return ToolCollection.from_mcp({"url": url, "transport": "streamable-http"}, trust_remote_code=True)


with tools_of(told["every"]) as every:
    functions = [get_tool_json_schema(tool)["function"] for tool in every.tools]
model = OpenAIServerModel("solver", api_base=told["model"], api_key="none")
with tools_of(told["url"]) as own:
    agent = ToolCallingAgent(tools=[*own.tools], model=model, verbosity_level=0)
    said = agent.run(told["prompt"], max_steps=300)
print(json.dumps({"schemas": {one["name"]: one["parameters"] for one in functions}, "said": str(said)}))
