"""Bytes of a message as arguments of an operation."""

from __future__ import annotations

import base64


def source_arguments(source: bytes) -> dict[str, str]:
    """Text where the bytes are text, else base64, so that the journal can hold them."""
    try:
        return {"message": source.decode()}
    except UnicodeDecodeError:
        return {"message_base64": base64.b64encode(source).decode()}
