"""The little English morphology that the grammar needs: verb forms (by LemmInflect), and "a" or "an"."""

from __future__ import annotations

import gzip
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

Form = Literal["", "s", "ed", "en", "ing", "mark"]
"""Base form, third person, past tense, past participle, present participle; or marked for `conjugate`."""

FORMS: tuple[Form, ...] = ("", "s", "ed", "en", "ing", "mark")

_TAGS: dict[Form, str] = {"s": "VBZ", "ed": "VBD", "en": "VBN", "ing": "VBG"}
"""What the library calls the forms (Penn Treebank)."""
_MARKED = re.compile("\x02([^\x03]*)\x03")


@cache
def inflect(phrase: str, form: Form) -> str:
    """Put the first word of a verb phrase into ``form``: ``inflect("write off", "en")`` is "written off"."""
    if form == "mark":
        return f"\x02{phrase}\x03"
    verb, _, rest = phrase.partition(" ")
    return _word(verb, form) + (" " + rest if rest else "")


def conjugate(marked: str, form: Form) -> str:
    """Put every verb of a text that was expanded with marked verbs into one form."""
    return _MARKED.sub(lambda match: inflect(match[1], form), marked)


def _word(verb: str, form: Form) -> str:
    """A verb in a form, in British spelling where the library knows both."""
    if form == "":
        return verb
    before, dash, last = verb.rpartition("-")
    known = [found for found in spellings(last, _TAGS[form]) if found.isalpha()]
    british = [found for found in known if "ll" in found and "ll" not in last]
    return f"{before}{dash}{(british or known)[0]}"


def spellings(verb: str, tag: str) -> list[str]:
    """The ways to write a form of a verb: what the library's ``getInflection`` returns.

    The library imports numpy and takes a lexicon of 40,000 lines apart, which is a sixth of a second in every
    process that writes a sentence. It is asked only for verbs that are not in that lexicon.
    """
    lexicon, exceptions = _lexicon()
    base = verb if verb in lexicon else verb.removeprefix("re")
    if found := exceptions.get((base, tag)) or _form(lexicon.get(base, ""), tag):
        again = verb.removesuffix(base)
        return [again + form for form in found.split("/")]
    from lemminflect import getInflection

    return [*getInflection(verb, tag)]


@cache
def _lexicon() -> tuple[dict[str, str], dict[tuple[str, str], str]]:
    """LemmInflect's files: the forms of each verb, in their order, and what they do not say rightly."""
    spec = find_spec("lemminflect")
    assert spec
    folder = Path(spec.origin or "").parent / "resources"
    lines = gzip.decompress((folder / "infl_lu.csv.gz").read_bytes()).decode()
    exceptions = _EXCEPTION.findall((folder / "infl_overrides.csv").read_text(encoding="utf-8"))
    return dict(_VERB.findall(lines)), {(verb, tag): form for verb, tag, form in exceptions}


_VERB = re.compile(r"\n([a-z]+),verb,([^\n]*)")
_EXCEPTION = re.compile(r"(?m)^([a-z]+),(VB[A-Z]),(\w+)$")
_ORDER = ("VBD", "VBN", "VBG", "VBZ")
_ALSO = {"VBD": "VBN", "VBN": "VBD"}
"""Past and participle stand once where they are the same."""


def _form(forms: str, tag: str) -> str:
    known = dict(zip(_ORDER, forms.split(","), strict=False))
    return known.get(tag) or known.get(_ALSO.get(tag, tag), "")


_VOWEL_SOUND = re.compile(
    # A space comes first: what begins with a certain character is found quickly.
    r" (?<=[aA] )(?<![^\s(“\"—]..)(?="
    r"[aiAIÀ-ÆÈ-ÏÒ-ÖØà-æè-ïò-öø]|[eE](?!u)|[oO](?!ne\b|nce\b|ne-)|u(?!ni(?!n|m)|s[aeu]|tili|tensil|topia|kulele|biq)"
    r"|U(?!ni|S|K)|8|11\b|18\b|h(?:our|onest|onou?r|eir)|(?:MSc|MA|MRI|SLA|SMS|LED|LMS|NDA|FAQ|HR|RSS|XML|SSD|NGO|HTTP)\b)"
)


def fix_articles(text: str) -> str:
    """Turn "a" into "an" before a vowel sound."""
    return _VOWEL_SOUND.sub("n ", text)
