"""Frames between server and code runner: a line of JSON, then the bytes that it announces."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

MAX_HEADER_BYTES = 64 * 1024 * 1024
"""The longest header lists all files of a workspace."""


class BadFrame(Exception):
    """The other side sent what is no frame."""


class TooMuch(BadFrame):
    """More came than the workspace may hold."""


def encode(kind: str, payload: bytes = b"", **header: Any) -> bytes:
    return json.dumps({"kind": kind, "size": len(payload), **header}).encode() + b"\n" + payload


class Decoder:
    """Puts frames together from the pieces in which they arrive.

    Args:
        largest: Bytes that a payload may have.
    """

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._buffer = bytearray()
        self._header: Mapping[str, Any] | None = None

    def feed(self, data: bytes) -> Iterator[tuple[Mapping[str, Any], bytes]]:
        """Take in the next bytes; yields the frames that are whole now."""
        # What is there of a header has no end; what is there of a payload may be followed by a whole one.
        searched = len(self._buffer) if self._header is None else 0
        self._buffer += data
        while True:
            if self._header is None:
                end = self._buffer.find(b"\n", searched)
                searched = 0
                if end < 0:
                    if len(self._buffer) > MAX_HEADER_BYTES:
                        raise BadFrame("a header without end")
                    return
                self._header = self._read_header(bytes(self._buffer[:end]))
                del self._buffer[: end + 1]
            size = self._header["size"]
            if len(self._buffer) < size:
                searched = 0
                return
            header, payload = self._header, bytes(self._buffer[:size])
            del self._buffer[:size]
            self._header = None
            yield header, payload

    def _read_header(self, line: bytes) -> Mapping[str, Any]:
        try:
            header = json.loads(line)
            size = header["size"]
            if not isinstance(header["kind"], str) or type(size) is not int or not 0 <= size <= self._largest:
                raise BadFrame(f"a frame of {size} bytes; at most {self._largest} are taken")
        except (ValueError, KeyError, TypeError, RecursionError):
            raise BadFrame("a header that makes no sense") from None
        assert isinstance(header, dict)
        return header
