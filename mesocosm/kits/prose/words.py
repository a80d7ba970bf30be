"""Token counts of generated sentences, summed from the counts of their words.

cl100k_base never joins two words into one token, so for text with single spaces the sum over words, each
counted with the space before it, is the count of the text; only a line's first word can differ by a token.
A dictionary look-up a word is many times faster than encoding.
"""

from __future__ import annotations


class _WordCosts(dict[str, int]):
    def __missing__(self, word: str) -> int:
        # Imported on first use: the tokenizer takes longer to import than this whole package.
        from mesocosm.worlds.tokens import count

        self[word] = tokens = count(" " + word)
        return tokens


_COSTS = _WordCosts()


def cost(text: str) -> int:
    """Number of cl100k_base tokens of ``text``, very nearly."""
    return sum(map(_COSTS.__getitem__, text.split()))
