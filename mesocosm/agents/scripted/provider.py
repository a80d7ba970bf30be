"""The scripted models as providers of inspect_ai, through the real clients of the real protocols.

``scripted/solver`` speaks chat completions, ``scripted-responses/solver`` OpenAI's responses, and
``scripted-anthropic/solver`` Anthropic's messages. Their server is started with the first model, unless a
base URL names one that runs already (``mesocosm model-server``).
"""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from functools import cache
from typing import Any

from inspect_ai.model import GenerateConfig, ModelAPI, modelapi

from mesocosm.agents.scripted.behaviours import read_name
from mesocosm.agents.scripted.exchange import RequestRefused
from mesocosm.agents.scripted.http_server import model_server
from mesocosm.errors import UsageError

KEY = "scripted-models-need-no-key"


@cache
def _own_server() -> str:
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(model_server())


def _prepared(name: str, base_url: str | None) -> str:
    try:
        read_name(name)
    except RequestRefused as refused:
        raise UsageError(refused.message) from None
    return (base_url or _own_server()).rstrip("/").removesuffix("/v1")


@modelapi(name="scripted")
def scripted() -> type[ModelAPI]:
    """Chat completions."""
    from inspect_ai.model._providers.openai_compatible import OpenAICompatibleAPI

    class ScriptedChat(OpenAICompatibleAPI):
        def __init__(
            self,
            model_name: str,
            base_url: str | None = None,
            api_key: str | None = None,
            config: GenerateConfig = GenerateConfig(),  # noqa: B008 - as inspect_ai declares it
            **options: Any,
        ) -> None:
            options.setdefault("strict_tools", False)
            url = _prepared(model_name, base_url) + "/v1"
            super().__init__(model_name, url, KEY, config, service="scripted", **options)

    return ScriptedChat


@modelapi(name="scripted-responses")
def scripted_responses() -> type[ModelAPI]:
    """OpenAI's responses."""
    from inspect_ai.model._providers.openai import OpenAIAPI

    class ScriptedResponses(OpenAIAPI):
        def __init__(
            self,
            model_name: str,
            base_url: str | None = None,
            api_key: str | None = None,
            config: GenerateConfig = GenerateConfig(),  # noqa: B008 - as inspect_ai declares it
            **options: Any,
        ) -> None:
            url = _prepared(model_name, base_url) + "/v1"
            super().__init__(model_name, url, KEY, config, responses_api=True, **options)

    return ScriptedResponses


@modelapi(name="scripted-anthropic")
def scripted_anthropic() -> type[ModelAPI]:
    """Anthropic's messages."""
    from inspect_ai.model._providers.anthropic import AnthropicAPI

    class ScriptedMessages(AnthropicAPI):
        def __init__(
            self,
            model_name: str,
            base_url: str | None = None,
            api_key: str | None = None,
            config: GenerateConfig = GenerateConfig(),  # noqa: B008 - as inspect_ai declares it
            **options: Any,
        ) -> None:
            super().__init__(model_name, _prepared(model_name, base_url), KEY, config, **options)

    return ScriptedMessages
