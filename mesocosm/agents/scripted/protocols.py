"""The three protocols: OpenAI's chat completions and responses, and Anthropic's messages.

Each reads a request's body into an ``Ask`` and writes a ``ModelAnswer`` as a body or as a stream of events.
"""

from __future__ import annotations

import base64
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from mesocosm.agents.scripted.exchange import (
    NAMESPACED,
    Ask,
    ModelAnswer,
    ModelCall,
    ModelMessage,
    RequestRefused,
    usage,
)

Event = tuple[str, dict[str, Any]]
"""Name and data of a server-sent event; a name of nothing is not written."""


class Protocol(ABC):
    """Wire protocol of one provider."""

    path: ClassVar[str]
    too_long: ClassVar[str]
    """Error for a request that exceeds the model's window."""
    last: ClassVar[bytes] = b""
    """End of a stream."""

    def read(self, body: dict[str, Any], size: int) -> Ask:
        """The request; ``RequestRefused`` if it is none."""
        try:
            messages = [message for given in self._given(body) for message in self._message(given)]
            tools = frozenset(name for tool in body.get("tools") or [] for name in self._tools(tool))
            return Ask(
                str(body["model"]), _joined(messages), tools, bool(body.get("stream")), max(1, size // 4)
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RequestRefused(
                400, "invalid_request_error", f"the request cannot be read: {error!r}"
            ) from None

    @abstractmethod
    def _given(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The messages of a request."""

    @abstractmethod
    def _message(self, given: dict[str, Any]) -> Iterator[ModelMessage]:
        """Convert one of its messages."""

    def _tools(self, tool: dict[str, Any]) -> Iterator[str]:
        """The names of one entry of a request's tools."""
        yield str(tool.get("name") or tool.get("type"))

    @abstractmethod
    def body(self, ask: Ask, answer: ModelAnswer) -> dict[str, Any]:
        """The answer in one piece."""

    @abstractmethod
    def events(self, ask: Ask, answer: ModelAnswer) -> Iterator[Event]:
        """The answer in pieces."""

    def error(self, refused: RequestRefused) -> dict[str, Any]:
        return {"error": {"message": refused.message, "type": refused.kind, "code": refused.kind}}


class Chat(Protocol):
    """OpenAI's chat completions, which nearly every local server speaks."""

    path = "/v1/chat/completions"
    too_long = "context_length_exceeded"
    last = b"data: [DONE]\n\n"

    def _given(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        return list(body["messages"])

    def _message(self, given: dict[str, Any]) -> Iterator[ModelMessage]:
        role = {"developer": "system"}.get(given["role"], given["role"])
        text, images = _parts(given.get("content"))
        calls = tuple(
            ModelCall(call["id"], call["function"]["name"], _arguments(call["function"]["arguments"]))
            for call in given.get("tool_calls") or []
        )
        failed = role == "tool" and text.startswith("Error: ")
        yield ModelMessage(role, text, calls, str(given.get("tool_call_id", "")), failed, images)

    def _tools(self, tool: dict[str, Any]) -> Iterator[str]:
        yield str(tool["function"]["name"])

    def body(self, ask: Ask, answer: ModelAnswer) -> dict[str, Any]:
        calls = [_chat_call(call) for call in answer.calls]
        message = {"role": "assistant", "content": answer.text or None, "tool_calls": calls or None}
        if answer.reasoning:
            message["reasoning_content"] = answer.reasoning
        choice = {"index": 0, "message": message, "finish_reason": _finish(answer)}
        counted = usage(ask, answer)
        return {
            **_chat_head(ask, "chat.completion"),
            "choices": [choice],
            "usage": {
                "prompt_tokens": counted.given,
                "completion_tokens": counted.made,
                "total_tokens": counted.total,
            },
        }

    def events(self, ask: Ask, answer: ModelAnswer) -> Iterator[Event]:
        head = _chat_head(ask, "chat.completion.chunk")
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": answer.text}]
        deltas += [
            {"tool_calls": [{"index": at, **_chat_call(call)}]} for at, call in enumerate(answer.calls)
        ]
        for delta in deltas:
            yield "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield "", {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(answer)}]}
        yield "", {**head, "choices": [], "usage": self.body(ask, answer)["usage"]}


class Responses(Protocol):
    """OpenAI's responses."""

    path = "/v1/responses"
    too_long = "context_length_exceeded"

    def _given(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        given = body["input"]
        return [{"role": "user", "content": given}] if isinstance(given, str) else list(given)

    def _message(self, given: dict[str, Any]) -> Iterator[ModelMessage]:
        kind = given.get("type", "message")
        if kind == "function_call":
            name = NAMESPACED.join(filter(None, (given.get("namespace"), given["name"])))
            call = ModelCall(given["call_id"], name, _arguments(given["arguments"]))
            yield ModelMessage("assistant", "", (call,))
        elif kind == "function_call_output":
            text, images = _parts(given["output"])
            yield ModelMessage("tool", text, (), given["call_id"], text.startswith("Error: "), images)
        elif kind == "message":
            role = {"developer": "system"}.get(given["role"], given["role"])
            text, images = _parts(given["content"])
            yield ModelMessage(role, text, images=images)

    def _tools(self, tool: dict[str, Any]) -> Iterator[str]:
        if tool.get("type") != "namespace":
            yield from super()._tools(tool)
        else:
            for inner in tool["tools"]:
                yield f"{tool['name']}{NAMESPACED}{inner['name']}"

    def body(self, ask: Ask, answer: ModelAnswer) -> dict[str, Any]:
        counted = usage(ask, answer)
        return {
            **_response_head(ask),
            "status": "incomplete" if answer.stop == "length" else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if answer.stop == "length" else None,
            "output": _response_items(ask, answer),
            "usage": {
                "input_tokens": counted.given,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": counted.made,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": counted.total,
            },
        }

    def events(self, ask: Ask, answer: ModelAnswer) -> Iterator[Event]:
        number = 0

        def event(name: str, **data: Any) -> Event:
            nonlocal number
            number += 1
            return name, {"type": name, "sequence_number": number, **data}

        started = {**_response_head(ask), "status": "in_progress", "output": []}
        yield event("response.created", response=started)
        for at, item in enumerate(_response_items(ask, answer)):
            yield event("response.output_item.added", output_index=at, item=item)
            yield event("response.output_item.done", output_index=at, item=item)
        yield event("response.completed", response=self.body(ask, answer))


class AnthropicMessages(Protocol):
    """Anthropic's messages."""

    path = "/v1/messages"
    too_long = "prompt is too long"

    def _given(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        system = [{"role": "system", "content": body["system"]}] if body.get("system") else []
        return system + list(body["messages"])

    def _message(self, given: dict[str, Any]) -> Iterator[ModelMessage]:
        content = given["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text, images = _parts([block for block in blocks if block["type"] in ("text", "image")])
        calls = tuple(
            ModelCall(block["id"], block["name"], block["input"])
            for block in blocks
            if block["type"] == "tool_use"
        )
        for block in blocks:
            if block["type"] == "tool_result":
                told, shown = _parts(block.get("content"))
                failed = bool(block.get("is_error"))
                yield ModelMessage("tool", told, (), block["tool_use_id"], failed, shown)
        if text or calls or images:
            yield ModelMessage(given["role"], text, calls, images=images)

    def body(self, ask: Ask, answer: ModelAnswer) -> dict[str, Any]:
        counted = usage(ask, answer)
        return {
            **self._head(ask),
            "content": _message_blocks(answer),
            "stop_reason": {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens"}[answer.stop],
            "usage": {"input_tokens": counted.given, "output_tokens": counted.made},
        }

    def _head(self, ask: Ask) -> dict[str, Any]:
        return {
            "id": f"msg_{_number(ask)}",
            "type": "message",
            "role": "assistant",
            "model": ask.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": ask.size, "output_tokens": 0},
        }

    def events(self, ask: Ask, answer: ModelAnswer) -> Iterator[Event]:
        def event(name: str, **data: Any) -> Event:
            return name, {"type": name, **data}

        whole = self.body(ask, answer)
        yield event("message_start", message=self._head(ask))
        for at, block in enumerate(whole["content"]):
            empty, deltas = _pieces(block)
            yield event("content_block_start", index=at, content_block=empty)
            for delta in deltas:
                yield event("content_block_delta", index=at, delta=delta)
            yield event("content_block_stop", index=at)
        delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        yield event("message_delta", delta=delta, usage={"output_tokens": whole["usage"]["output_tokens"]})
        yield event("message_stop")

    def error(self, refused: RequestRefused) -> dict[str, Any]:
        kind = {429: "rate_limit_error", 500: "api_error"}.get(refused.status, "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": refused.message}}


PROTOCOLS: dict[str, Protocol] = {one.path: one for one in (Chat(), Responses(), AnthropicMessages())}


# -- pieces ---------------------------------------------------------------------------------------------


def _joined(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Calls that came as messages of their own, with those that were made together with them."""
    found: list[ModelMessage] = []
    for message in messages:
        before = found[-1] if found else None
        if before and message.role == before.role == "assistant":
            text = "\n".join(filter(None, (before.text, message.text)))
            found[-1] = ModelMessage("assistant", text, before.calls + message.calls)
        else:
            found.append(message)
    return found


def _parts(content: Any) -> tuple[str, tuple[bytes, ...]]:
    """Text and images of a message's content, in any of the protocols."""
    if content is None or isinstance(content, str):
        return content or "", ()
    texts, images = [], []
    for part in content:
        if isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif "image_url" in part:
            url = part["image_url"]
            images.append(_data(url["url"] if isinstance(url, dict) else url))
        elif part.get("type") == "image":
            images.append(base64.b64decode(part["source"]["data"]))
    return "\n".join(texts), tuple(images)


def _data(url: str) -> bytes:
    return base64.b64decode(url.partition("base64,")[2])


def _arguments(text: str) -> dict[str, Any] | str:
    try:
        read = json.loads(text)
    except ValueError:
        return text
    return read if isinstance(read, dict) else text


def _written(call: ModelCall) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def _finish(answer: ModelAnswer) -> str:
    return {"stop": "stop", "calls": "tool_calls", "length": "length"}[answer.stop]


def _number(ask: Ask) -> str:
    """Return the number of an answer in its conversation. Some clients replace an answer by another with the
    same id.
    """
    last = ask.messages[-1].text if ask.messages else ""
    return hashlib.sha256(f"{len(ask.messages)} {last}".encode()).hexdigest()[:24]


def _chat_head(ask: Ask, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{_number(ask)}", "object": kind, "created": 0, "model": ask.model}


def _chat_call(call: ModelCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _written(call)}}


def _response_head(ask: Ask) -> dict[str, Any]:
    return {
        "id": f"resp_{_number(ask)}",
        "object": "response",
        "created_at": 0,
        "model": ask.model,
        "error": None,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def _response_items(ask: Ask, answer: ModelAnswer) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if answer.text:
        content = [{"type": "output_text", "text": answer.text, "annotations": []}]
        items.append(
            {
                "id": f"msg_{_number(ask)}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": content,
            }
        )
    for call in answer.calls:
        namespace, _, name = call.name.rpartition(NAMESPACED)
        items.append(
            {
                "id": f"fc_{call.id}",
                "type": "function_call",
                "status": "completed",
                "call_id": call.id,
                **({"namespace": namespace} if namespace else {}),
                "name": name,
                "arguments": _written(call),
            }
        )
    return items


def _message_blocks(answer: ModelAnswer) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if answer.reasoning:
        blocks.append({"type": "thinking", "thinking": answer.reasoning, "signature": "c2NyaXB0ZWQ="})
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    for call in answer.calls:
        given = call.arguments if isinstance(call.arguments, dict) else {"malformed": call.arguments}
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": given})
    return blocks


def _pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as a stream begins it, and what follows."""
    if block["type"] == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
    if block["type"] == "tool_use":
        written = json.dumps(block["input"])
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": written}]
    deltas = [
        {"type": "thinking_delta", "thinking": block["thinking"]},
        {"type": "signature_delta", "signature": block["signature"]},
    ]
    return {**block, "thinking": "", "signature": ""}, deltas
