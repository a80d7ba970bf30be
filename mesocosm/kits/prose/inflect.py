"""The little English morphology that the grammar needs: the forms of its verbs, and "a" or "an"."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Literal

Form = Literal["", "s", "ed", "en", "ing", "mark"]
"""Base form, third person, past tense, past participle, present participle; or marked for `conjugate`."""

FORMS: tuple[Form, ...] = ("", "s", "ed", "en", "ing", "mark")

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
    """A verb in a form, in British spelling."""
    if form == "":
        return verb
    before, dash, last = verb.rpartition("-")
    forms = _verbs().get(last)
    if forms is None:
        raise ValueError(f"the forms of {last!r} are to be added to data/verbs.txt")
    return f"{before}{dash}{forms[FORMS.index(form) - 1]}"


@cache
def _verbs() -> dict[str, list[str]]:
    """The forms of each verb, in the order of ``FORMS``."""
    text = files("mesocosm.kits.prose").joinpath("data", "verbs.txt").read_text(encoding="utf-8")
    return {base: forms for base, *forms in map(str.split, text.splitlines()[1:])}


_VOWEL_SOUND = re.compile(
    # A space comes first: what begins with a certain character is found quickly.
    r" (?<=[aA] )(?<![^\s(“\"—]..)(?="
    r"[aiAIÀ-ÆÈ-ÏÒ-ÖØà-æè-ïò-öø]|[eE](?!u)|[oO](?!ne\b|nce\b|ne-)|u(?!ni(?!n|m)|s[aeu]|tili|tensil|topia|kulele|biq)"
    r"|U(?!ni|S|K)|8|11\b|18\b|h(?:our|onest|onou?r|eir)|(?:MSc|MA|MRI|SLA|SMS|LED|LMS|NDA|FAQ|HR|RSS|XML|SSD|NGO|HTTP)\b)"
)


def fix_articles(text: str) -> str:
    """Turn "a" into "an" before a vowel sound."""
    return _VOWEL_SOUND.sub("n ", text)
