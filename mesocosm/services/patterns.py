"""Regular expressions that somebody else writes: RE2, which never tries a text twice, and during which others
can work.

Its dialect has neither backreferences nor looks ahead or behind, and its ``\\d``, ``\\w`` and ``\\b`` know
ASCII; ``\\pN`` and ``\\pL`` know all digits and letters.
"""

# RE2 takes linear time; Python's ``re`` backtracks, and thirty letters could hold a thread for hours
# (decision 092).

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import re2

_MEMORY = 2**18
"""Bytes of one that is compiled; the library keeps 128 of them."""
STEPS = 200_000_000
"""Size of what is compiled times characters of a text: two seconds of a processor at worst."""
_LONGEST, _MOST_CLASSES = 1_000, 50
"""Characters of one, and classes of Unicode in it: nobody works while it is compiled."""
_CLASS = re.compile(r"\\[pP]")
_NO_CHARACTERS = re.compile("[\ud800-\udfff]")


class BadPattern(ValueError):
    """A text that is no regular expression, or one that is too large."""


def like(text: str) -> str:
    """A pattern of SQL's LIKE as a regular expression of the whole text, whatever its letters' case."""
    return "(?is)" + "".join({"%": ".*", "_": "."}.get(one, re2.escape(one)) for one in text)


class Pattern:
    """A regular expression; ``BadPattern`` describes its error.

    ``flags``: of RE2, as in ``im``. ``bounded``: whether texts for which it is too large are refused.
    ``longest``: how many characters it may have.
    """

    def __init__(self, text: str, *, flags: str = "", bounded: bool = True, longest: int = _LONGEST) -> None:
        self._bounded = bounded
        if len(text) > longest:
            raise BadPattern(f"it has {len(text):,} characters; up to {longest:,} are taken")
        if len(_CLASS.findall(text)) > _MOST_CLASSES:
            raise BadPattern(f"it has more than {_MOST_CLASSES} classes of Unicode")
        options = re2.Options()
        options.log_errors, options.max_mem = False, _MEMORY
        try:
            self._compiled = re2.compile(f"(?{flags}){text}" if flags else text, options)
        except re2.error as error:
            (said,) = error.args
            raise BadPattern(said.decode("utf-8", "replace") if isinstance(said, bytes) else said) from None
        except UnicodeEncodeError:
            raise BadPattern("it has half a character") from None

    @property
    def groups(self) -> int:
        """The number of capturing groups."""
        return int(self._compiled.groups)

    def search(self, text: str) -> Any:
        """The first match, or ``None``; ``BadPattern`` where the two together are too large."""
        return self._compiled.search(self._bearable(text))

    def fullmatch(self, text: str) -> Any:
        """The match of the whole text, or ``None``."""
        return self._compiled.fullmatch(self._bearable(text))

    def finditer(self, text: str) -> Iterator[Any]:
        """All matches; each may take as long as a search."""
        found: Iterator[Any] = self._compiled.finditer(self._bearable(text))
        return found

    def steps(self, text: str) -> int:
        """Return an upper bound on the steps of a search."""
        return int(self._compiled.programsize) * len(text)

    def _bearable(self, text: str) -> str:
        if self._bounded and self.steps(text) > STEPS:
            raise BadPattern(f"it is too large for a text of {len(text):,} characters")
        return _NO_CHARACTERS.sub("\ufffd", text)
