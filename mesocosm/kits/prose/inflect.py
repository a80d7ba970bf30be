"""The little English morphology that the grammar needs: verb forms (by LemmInflect), and "a" or "an"."""

from __future__ import annotations

import re
from functools import cache
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
    from lemminflect import getInflection

    before, dash, last = verb.rpartition("-")
    known = [found for found in getInflection(last, _TAGS[form]) if found.isalpha()]
    british = [found for found in known if "ll" in found and "ll" not in last]
    return f"{before}{dash}{(british or known)[0]}"


_VOWEL_SOUND = re.compile(
    r"(?:(?<=[\s(“\"—])|^)(a|A) (?="
    r"[aiAIÀ-ÆÈ-ÏÒ-ÖØà-æè-ïò-öø]|[eE](?!u)|[oO](?!ne\b|nce\b|ne-)|u(?!ni(?!n|m)|s[aeu]|tili|tensil|topia|kulele|biq)"
    r"|U(?!ni|S|K)|8|11\b|18\b|h(?:our|onest|onou?r|eir)|(?:MSc|MA|MRI|SLA|SMS|LED|LMS|NDA|FAQ|HR|RSS|XML|SSD|NGO|HTTP)\b)"
)


def fix_articles(text: str) -> str:
    """Turn "a" into "an" before a vowel sound."""
    return _VOWEL_SOUND.sub(r"\1n ", text)
