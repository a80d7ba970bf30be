"""Google's Agent Development Kit with its MCP toolset, on LiteLLM."""

import asyncio
import json
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # the newest list of prices is asked of nobody

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.models.lite_llm import LiteLlm, _function_declaration_to_tool_param
from google.adk.runners import InMemoryRunner
from google.adk.tools.mcp_tool.mcp_session_manager import StreamableHTTPConnectionParams
from google.adk.tools.mcp_tool.mcp_toolset import McpToolset
from google.genai.types import Content, Part

told = json.loads(sys.argv[1])


def toolset(url):
    return McpToolset(connection_params=StreamableHTTPConnectionParams(url=url, timeout=60))


async def main():
    every = toolset(told["every"])
    schemas = {}
    for tool in await every.get_tools():
        function = _function_declaration_to_tool_param(tool._get_declaration())["function"]
        schemas[function["name"]] = function["parameters"]
    await every.close()
    own = toolset(told["url"])
    model = LiteLlm(model="openai/solver", api_base=told["model"], api_key="none")
    runner = InMemoryRunner(LlmAgent(name="agent", model=model, tools=[own]), app_name="app")
    session = await runner.session_service.create_session(app_name="app", user_id="me")
    message = Content(role="user", parts=[Part(text=told["prompt"])])
    said = ""
    async for event in runner.run_async(
        user_id="me", session_id=session.id, new_message=message, run_config=RunConfig(max_llm_calls=300)
    ):
        for part in event.content.parts if event.content else ():
            said = part.text or said
    await own.close()
    print(json.dumps({"schemas": schemas, "said": said}))


asyncio.run(main())
