"""The little English morphology that the grammar needs: verb forms, and "a" or "an"."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

Form = Literal["", "s", "ed", "en", "ing", "mark"]
"""Base form, third person, past tense, past participle, present participle; or marked for `conjugate`."""

FORMS: tuple[Form, ...] = ("", "s", "ed", "en", "ing", "mark")

# base past participle, for the irregular verbs that the grammar files use (prefixes are stripped first).
_IRREGULAR = {
    line.split()[0]: (line.split()[1], line.split()[2])
    for line in """\
be was been
become became become
begin began begun
bend bent bent
break broke broken
bring brought brought
build built built
buy bought bought
catch caught caught
choose chose chosen
come came come
cut cut cut
deal dealt dealt
do did done
draw drew drawn
drive drove driven
eat ate eaten
fall fell fallen
feed fed fed
feel felt felt
fight fought fought
find found found
fit fitted fitted
fly flew flown
forget forgot forgotten
get got got
give gave given
go went gone
grow grew grown
hang hung hung
have had had
hear heard heard
hit hit hit
hold held held
keep kept kept
know knew known
lay laid laid
lead led led
learn learned learned
leave left left
lend lent lent
let let let
lose lost lost
make made made
mean meant meant
meet met met
pay paid paid
put put put
read read read
ride rode ridden
ring rang rung
rise rose risen
run ran run
say said said
see saw seen
seek sought sought
sell sold sold
send sent sent
set set set
shake shook shaken
show showed shown
shut shut shut
sit sat sat
speak spoke spoken
spend spent spent
split split split
spread spread spread
stand stood stood
stick stuck stuck
sweep swept swept
swim swam swum
take took taken
teach taught taught
tell told told
think thought thought
throw threw thrown
wake woke woken
wear wore worn
win won won
wind wound wound
write wrote written
""".splitlines()
}
_PREFIXES = ("re", "over", "under", "with", "out")
_DOUBLING = frozenset(
    [
        *(
            "ban",
            "bar",
            "bid",
            "chat",
            "dim",
            "drop",
            "fan",
            "flag",
            "jot",
            "knit",
            "log",
            "map",
            "nod",
            "pat",
        ),
        *(
            "pin",
            "plan",
            "plug",
            "pop",
            "rub",
            "scan",
            "scrap",
            "scrub",
            "ship",
            "skip",
            "slip",
            "slot",
            "spot",
        ),
        *(
            "step",
            "stir",
            "stop",
            "strip",
            "sum",
            "swap",
            "tag",
            "tip",
            "top",
            "trim",
            "unplug",
            "unwrap",
            "wrap",
        ),
        *("zip", "admit", "commit", "defer", "permit", "prefer", "refer", "regret", "submit", "transfer"),
    ]
)
"""Regular verbs that double their last letter."""
_MARKED = re.compile("\x02([^\x03]*)\x03")


def _irregular(verb: str) -> tuple[str, str] | None:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    for prefix in _PREFIXES:
        stem = verb.removeprefix(prefix)
        if stem != verb and stem in _IRREGULAR:
            past, participle = _IRREGULAR[stem]
            return prefix + past, prefix + participle
    return None


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
    if form == "":
        return verb
    consonant_y = verb.endswith("y") and verb[-2] not in "aeiou"
    if form == "s":
        if verb == "have":
            return "has"
        if consonant_y:
            return verb[:-1] + "ies"
        return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")
    if form == "ing":
        if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and verb != "be":
            return verb[:-1] + "ing"
        if verb in _DOUBLING or (_irregular(verb) and _doubles(verb)):
            return verb + verb[-1] + "ing"
        return verb + "ing"
    irregular = _irregular(verb)
    if irregular:
        return irregular[0 if form == "ed" else 1]
    if consonant_y:
        return verb[:-1] + "ied"
    if verb.endswith("e"):
        return verb + "d"
    return verb + (verb[-1] if verb in _DOUBLING else "") + "ed"


def _doubles(verb: str) -> bool:
    """Whether an irregular verb ends in a single short vowel and one consonant: put, run, begin, forget."""
    return bool(re.search(r"(^|[^aeiou])[aeiou][bdgmnpt]$", verb)) and not verb.endswith("en")


_VOWEL_SOUND = re.compile(
    r"(?:(?<=[\s(“\"—])|^)(a|A) (?="
    r"[aiAI]|[eE](?!u)|[oO](?!ne\b|nce\b|ne-)|u(?!ni(?!n|m)|s[aeu]|tili|tensil|topia|kulele|biq)"
    r"|U(?!ni|S|K)|8|11\b|18\b|h(?:our|onest|onou?r|eir)|(?:MSc|MA|MRI|SLA|SMS|LED|LMS|NDA|FAQ|HR|RSS|XML|SSD|NGO|HTTP)\b)"
)


def fix_articles(text: str) -> str:
    """Turn "a" into "an" before a vowel sound."""
    return _VOWEL_SOUND.sub(r"\1n ", text)
