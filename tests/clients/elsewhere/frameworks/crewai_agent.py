"""CrewAI's agent with its MCP adapter, which sends null for what a model leaves out."""

import json
import sys

from crewai import LLM, Agent
from crewai_tools import MCPServerAdapter

told = json.loads(sys.argv[1])


def adapter(url):
    return MCPServerAdapter({"url": url, "transport": "streamable-http"}, connect_timeout=60)


with adapter(told["every"]) as every:
    schemas = {tool.name: tool.args_schema.model_json_schema() for tool in every}
model = LLM(model="openai/solver", base_url=told["model"], api_key="none")
with adapter(told["url"]) as own:
    agent = Agent(role="Clerk", goal="Do it.", backstory="-", llm=model, tools=list(own), max_iter=300)
    said = agent.kickoff(told["prompt"]).raw
print(json.dumps({"schemas": schemas, "said": said}))
