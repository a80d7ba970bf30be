"""A model as a process: it speaks chat completions over HTTP, and its name says how it behaves.

    python scripted_model.py REQUESTS_FILE      prints its port

Each request's headers and body are appended to the file as a JSON line. ``solver`` works as the reference
solver does, on what the conversation holds, reading at once all that it can; the others behave as told below.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from mesocosm.solvers.lore_documents import Notes

Messages = list[dict[str, Any]]
Calls = list[tuple[str, dict[str, Any]]]
READ, SUBMIT = "read_document", "submit_answer"
STRAY: Calls = [(READ, {"file_id": "v9%nowhere"}), (READ, {"file_id": "v8%nowhere"})]


def solver(messages: Messages) -> Calls:
    """Reads everything that it knows of, then submits what it was asked for."""
    prompt = next(str(message["content"]) for message in messages if message["role"] == "user")
    asked = re.search(r"value of the variable (v\d+)", " ".join(prompt.split()))
    assert asked
    notes, known = Notes(), re.findall(r"\bv\d+%(?!X\b)\w+", prompt)
    for message in messages:
        if message["role"] == "tool":
            known += notes.take_in(str(message["content"]))
    calls = [call for message in messages for call in message.get("tool_calls") or []]
    read = {json.loads(call["function"]["arguments"]).get("file_id") for call in calls}
    if asked[1] in notes.values:
        return [(SUBMIT, {"answer": notes.values[asked[1]]})]
    return [(READ, {"file_id": one}) for one in dict.fromkeys(known) if one not in read]


def recovering(messages: Messages) -> Calls:
    """Goes astray twice, reads one thing among strays, goes astray twice more, and then solves the task."""
    turn = sum(message["role"] == "assistant" for message in messages)
    if turn == 2:
        return [*STRAY, solver(messages)[0]]
    return STRAY if turn < 5 else solver(messages)


def obedient(messages: Messages) -> Calls:
    """Does what it was told last to do, in the list world."""
    told = str(messages[-1]["content"])
    index = re.search(r"Plan: Remove the element \d+, which is at index (\d+)", told)
    if index:
        return [("pop", {"id": int(index[1])})]
    return [("done", {})] if "call done" in told else []


POLICIES: dict[str, Callable[[Messages], Calls]] = {
    "solver": solver,
    "recovering": recovering,
    "stray": lambda _: STRAY,
    "garbled": lambda _: [(READ, {}), ("no_such_tool", {"file_id": "v1%a"})],
    "guessing": lambda _: [(SUBMIT, {"answer": "guess"})],
    "talking": lambda _: [],
    "obedient": obedient,
}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with Path(sys.argv[1]).open("a") as file:
            file.write(
                json.dumps({"headers": {k.lower(): v for k, v in self.headers.items()}, "body": body}) + "\n"
            )
        policy = POLICIES.get(body["model"])
        if policy is None:
            self._answer(
                400, {"error": {"message": "there is no such model", "type": "invalid_request_error"}}
            )
            return
        said, wanted = "Thinking.", policy(body["messages"])
        if wanted and wanted[0][0] == SUBMIT not in {one["function"]["name"] for one in body["tools"]}:
            said, wanted = f"{wanted[0][1]['answer']}\n", []
        calls = [
            {
                "id": f"call-{n}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(given)},
            }
            for n, (name, given) in enumerate(wanted)
        ]
        message = {"role": "assistant", "content": said, "tool_calls": calls or None}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        head = {"id": "one", "object": "chat.completion", "created": 0, "model": body["model"]}
        self._answer(200, {**head, "choices": [choice], "usage": usage})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Nothing is logged."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
