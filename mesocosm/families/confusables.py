"""Characters that a reader takes for others, or does not see, by their codes: ``Pric\\u0435s``."""

from __future__ import annotations

import re
import unicodedata

_LETTERS = frozenset(
    # Cyrillic
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0475\u04bb\u0501\u051b\u051d"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0405\u0406\u0408\u04ae\u04c0"
    # Greek
    "\u03b1\u03b9\u03bd\u03bf\u03c1\u03c5\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1"
    "\u03a4\u03a5\u03a7"
    # Latin and IPA letters that look like those of ASCII
    "\u0131\u0251\u0261\u0269"
)
"""Letters that look like one of ASCII."""
_MARKS = frozenset("\u2010\u2011\u2212\u02d7\u2024\u2044\u2215\u02bc\u02b9\u201a\ua789\u2236")
"""Marks that look like one of ASCII."""
_WORD = re.compile(r"\w+")
_ANY = re.compile(r"[^\x09\x0a\x20-\x7e]")
_WIDTHS = ("<wide>", "<font>", "<compat>", "<noBreak>")
"""Ways in which a character is another form of one, which fonts may hide."""


def visible(text: str) -> str:
    """The text with what a reader would not tell from other text by its codes."""
    if not _ANY.search(text):
        return text
    letters = _WORD.sub(lambda found: _word(found[0]), text)
    return "".join(_coded(one) if _is_hidden(one) else one for one in letters)


def _word(word: str) -> str:
    """A word in which letters of ASCII are imitated: beside some of them, or by all of its letters."""
    if any("a" <= one.lower() <= "z" for one in word) or {*filter(str.isalpha, word)} <= _LETTERS:
        return "".join(_coded(one) if one in _LETTERS else one for one in word)
    return word


def _is_hidden(one: str) -> bool:
    if one in _MARKS or "\u0300" <= one <= "\u036f":
        return True
    if unicodedata.category(one) in ("Cf", "Cc", "Zs", "Zl", "Zp", "Co", "Cn"):
        return one not in " \n\t"
    # Marks of other scripts are letters of their words; those for Latin have letters with them besides.
    return "\ufe00" <= one <= "\ufe0f" or (
        unicodedata.decomposition(one).startswith(_WIDTHS)
        and unicodedata.normalize("NFKC", one).isascii()
        and len(unicodedata.normalize("NFKC", one)) == 1
    )


def _coded(one: str) -> str:
    return one.encode("ascii", "backslashreplace").decode()
