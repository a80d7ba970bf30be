#!/usr/bin/env bash
# Makes the environments of agent frameworks, which cannot share one with this project or with each other:
# `tests/clients/environments.sh FOLDER [NAME ...]` makes all of them, or those; tests find them by
# MESOCOSM_CLIENTS=FOLDER. One that cannot be made is said, and its tests are skipped.
set -uo pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
wanted=" ${*:2} "
python3 -m venv "$folder/uv" && "$folder/uv/bin/pip" install -q uv || exit 1
uv=$folder/uv/bin/uv
make() {
    local name=$1
    shift
    [ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || return 0
    "$uv" venv -q --clear --python "$folder/uv/bin/python" "$folder/$name" && "$uv" pip install -q --python "$folder/$name/bin/python" "$@" && return
    echo "no environment $name: $*" >&2
    rm -rf "${folder:?}/$name"
}
make agno_agent agno==3.1.10 openai==3.57.0 'fastmcp>=4,<5'
make autogen_agent 'autogen-ext[mcp,openai]==0.7.5' autogen-agentchat==0.7.5 'mcp<2'
make camel_agent camel-ai==0.2.90 'mcp<2'
make crewai_agent crewai==1.15.30 'crewai-tools[mcp]==1.15.30' litellm==1.110.2
make github3 github3.py==4.0.1
make google_adk 'google-adk[mcp]==2.13.0' litellm==1.110.2
make haystack_agent mcp-haystack==2.1.1
make langchain_adapters langchain-mcp-adapters==0.3.2 langgraph==1.2.24 langchain-openai==1.7.4
make llama_index_agent llama-index-tools-mcp==0.6.0 llama-index-core==0.14.25 llama-index-llms-openai-like==0.8.1
make mcp_use_agent mcp-use==1.7.1 langchain-openai==1.7.4
make microsoft_agent agent-framework-core==1.23.0 agent-framework-openai==1.17.0 'mcp>=2' tenacity==9.2.1
make openai_agents openai-agents==0.24.0
make pydantic_agent 'pydantic-ai-slim[mcp,openai]==2.68.0'
make semantic_kernel_agent 'semantic-kernel[mcp]==1.45.0'
make smolagents_tools 'smolagents[openai]==1.26.0' mcpadapt==0.1.19 'mcp<2' websockets==17.4
make strands_agent 'strands-agents[openai]==1.62.0'
