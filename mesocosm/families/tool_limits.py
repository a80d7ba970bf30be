"""Limits on the number of tools in a request, from the documentation of the models' APIs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mesocosm.services.service import load_service

MOST_TOOLS: Mapping[str, int] = {"openai": 128, "azureai": 128, "deepseek": 128, "groq": 128}
"""By what names of models begin with."""
CLIENTS: Mapping[str, str] = {"codex": "openai", "copilot": "openai", "openai-agents": "openai"}
"""Clients of ``mcp-config`` whose models are of one provider."""


def count_tools(offered: Mapping[str, Sequence[str] | None]) -> int:
    return sum(len(load_service(name).tools if tools is None else tools) for name, tools in offered.items())


def too_many(count: int, model: str) -> str | None:
    """A warning, if the model's API is known to take fewer tools than these."""
    provider = model.partition("/")[0]
    most = MOST_TOOLS.get(provider)
    if most is None or count <= most:
        return None
    return (
        f"{count} tools are offered, and the API of {provider} takes at most {most} in a request: --tools "
        "needed offers those that the task cannot do without, --tools a,b,... some by name"
    )
