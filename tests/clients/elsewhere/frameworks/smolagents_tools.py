"""The tools of smolagents, called one by one: its agent ends by a tool of its own, as no other does."""

import json
import sys

from smolagents import ToolCollection
from smolagents.models import get_tool_json_schema

told = json.loads(sys.argv[1])


def tools_of(url):
    return ToolCollection.from_mcp({"url": url, "transport": "streamable-http"}, trust_remote_code=True)


with tools_of(told["every"]) as every:
    functions = [get_tool_json_schema(tool)["function"] for tool in every.tools]
with tools_of(told["url"]) as own:
    tools = {tool.name: tool for tool in own.tools}
    said = [str(tools[name](**arguments)) for name, arguments in told["calls"]]
print(json.dumps({"schemas": {one["name"]: one["parameters"] for one in functions}, "said": said}))
