"""A stdio MCP server that passes every message on to an HTTP endpoint: ``mesocosm bridge URL``.

For clients that can only start commands. It uses nothing but the standard library, so that it starts in
a few hundredths of a second and costs no second server; both protocol eras pass through it unread, except
for what HTTP wants to know in headers.
"""

from __future__ import annotations

import json
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPResponse
from typing import Any, BinaryIO

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"


class Bridge:
    """One client's connection to one endpoint."""

    def __init__(self, url: str, out: BinaryIO) -> None:
        self._url = url
        self._out = out
        self._lock = threading.Lock()
        self._session: str | None = None
        self._version: str | None = None

    def run(self, lines: BinaryIO) -> None:
        """Pass on messages until the client hangs up; answers may overtake each other."""
        threads: list[threading.Thread] = []
        for line in lines:
            if not line.strip():
                continue
            message = self._read(line)
            if message is None:
                continue
            if message.get("method") == "initialize":
                # Later messages carry the session that this one opens.
                self._pass_on(message)
                continue
            thread = threading.Thread(target=self._pass_on, args=(message,), daemon=True)
            thread.start()
            threads = [t for t in threads if t.is_alive()] + [thread]
        for thread in threads:
            thread.join()

    def _read(self, line: bytes) -> dict[str, Any] | None:
        """The message on a line; ``None`` where there is none, which is answered as JSON-RPC has it."""
        try:
            message = json.loads(line)
        except ValueError:
            self._refuse(-32700, "Parse error: a line must be one JSON object")
            return None
        if not isinstance(message, dict) or not isinstance(message.get("params", {}), dict):
            self._refuse(-32600, "Invalid Request: a message must be a JSON object with an object as params")
            return None
        return message

    def _refuse(self, code: int, text: str) -> None:
        error = {"code": code, "message": text}
        self._write(json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode())

    def _pass_on(self, message: dict[str, Any]) -> None:
        request = urllib.request.Request(
            self._url, data=json.dumps(message).encode(), headers=self._headers(message), method="POST"
        )
        try:
            with urllib.request.urlopen(request) as response:
                self._session = response.headers.get("mcp-session-id") or self._session
                for answer in _answers(response):
                    self._note_version(message, answer)
                    self._write(answer)
        except urllib.error.HTTPError as error:
            self._fail(message, error.read(), f"HTTP status {error.code}")
        except OSError as error:
            self._fail(message, b"", f"cannot reach {self._url}: {error}")

    def _headers(self, message: dict[str, Any]) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        parameters = message.get("params") or {}
        version = (parameters.get("_meta") or {}).get(VERSION_KEY)
        if version:
            headers |= {"MCP-Protocol-Version": version, "Mcp-Method": message.get("method", "")}
            name = parameters.get("name") or parameters.get("uri")
            if name:
                headers["Mcp-Name"] = name
        elif self._version:
            headers["MCP-Protocol-Version"] = self._version
        if self._session:
            headers["Mcp-Session-Id"] = self._session
        return headers

    def _note_version(self, message: dict[str, Any], answer: bytes) -> None:
        if message.get("method") == "initialize":
            self._version = (json.loads(answer).get("result") or {}).get("protocolVersion")

    def _fail(self, message: dict[str, Any], body: bytes, text: str) -> None:
        if "id" not in message:
            return
        try:
            answer = json.loads(body)
            error = answer["error"]
        except (ValueError, KeyError, TypeError):
            error = {"code": -32000, "message": text}
        self._write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode())

    def _write(self, answer: bytes) -> None:
        with self._lock:
            self._out.write(answer.replace(b"\n", b" ") + b"\n")
            self._out.flush()


def _answers(response: HTTPResponse) -> Iterator[bytes]:
    if not (response.headers.get("content-type") or "").startswith("text/event-stream"):
        body = response.read()
        if body.strip():
            yield body
        return
    data: list[bytes] = []
    for line in response:
        line = line.rstrip(b"\r\n")
        if line.startswith(b"data:"):
            data.append(line[5:].strip())
        elif not line and data:
            if body := b"\n".join(data).strip():
                yield body
            data = []


def main(url: str) -> None:
    """Bridge stdin and stdout to the endpoint at ``url``."""
    Bridge(url, sys.stdout.buffer).run(sys.stdin.buffer)


if __name__ == "__main__":
    main(sys.argv[1])
