"""What customers write about a recall, a dozen ways each, among other things that they write.

``[a|b]`` is one of both. The same words answer every recall of the shop; questions change nothing.
"""

from __future__ import annotations

import random
import re

from mesocosm.kits.prose import Prose, Topic
from mesocosm.worlds import tokens

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
RETURNED = (
    "I have already sent it back, you should have the parcel by now.",
    "It is back with you: I handed it in at your counter.",
    "I returned [the item|it] last week, so there is nothing left to pick up.",
    "You have had it [back|again] since Friday, a courier brought it.",
    "Nothing is left here, my son carried it to your shop.",
    "It went back by post on the day your letter came.",
    "Your colleague took it from me when I was in town, so it is with you.",
    "[The thing|It] is no longer with us; I gave it to your driver.",
    "I did not wait and brought it back myself.",
    "You need not send a van: it has been returned.",
    "It left this house by parcel, and your depot signed for it.",
    "My neighbour has already delivered it to your depot.",
)
NOT_RETURNED = (
    "What I wrote about the parcel was too early: it came back to me, and I still have the item.",
    "I have to correct myself: the item is still here with me, the parcel was refused.",
    "Forget my first mail. The post brought it back, and it stands in my hall again.",
    "I was wrong, it never left: my son had only put it in the cellar.",
    "It turns out that what was handed in was another box; yours is still with us.",
    "Contrary to what I told you, we still have it.",
    "The courier lost his nerve and left it at our door again, so it does wait here.",
    "Please disregard that it was gone. I found it in the garage, where it remains.",
    "Your counter would not take it, so it is here after all.",
    "I spoke too soon, for it has not left our flat.",
    "Somebody else's parcel was signed for, not mine; I keep yours for the van.",
    "I have it again: the address on the label was wrong.",
)
WISH = (
    "We are away, please do not come before {day}.",
    "Could your van come on {day} or later? I am not at home earlier.",
    "From {day} on any time is fine, but no sooner.",
    "Nobody opens the door here until {day}, then we are back.",
    "The first day that suits me is {day}.",
    "If it is for the van, {day} or any day after it.",
    "I am in hospital and [home|back] on {day}; not before, please.",
    "The lift is being repaired and works again on {day}, so come then at the earliest.",
    "We are moving house: you find us from {day}.",
    "Let it be {day} at the earliest.",
    "My shifts leave me no day before {day}.",
    "Until then it is no use; {day} is when I can hand it over, or later.",
)
CHANGED = (
    "My plans have changed, sorry.",
    "I have to move what I asked for.",
    "Please cross out the day that I gave you.",
    "Something came up, so I must ask for another day.",
    "Forget the day in my last mail.",
    "It is me again, about the day.",
)
QUESTION = (
    "Do I get my money back, or a new one? And does the box matter?",
    "Thank you for the letter. Is it dangerous to keep it in the hall until then?",
    "May a neighbour hand it over, if I am at work?",
    "Will the van call before it comes?",
    "Do you want the cable as well?",
    "Is my sister's one affected too? She bought hers elsewhere.",
    "How heavy may the parcel be? I would rather have it picked up.",
    "What happens if I keep it?",
    "Should I pack it, or do you bring a carton?",
    "I have lost the receipt. Is that a problem?",
    "Is there a voucher for the trouble?",
    "Who pays for this?",
)
FIRST_LETTER = "Recalls: please keep your item ready"
"""The subject of the letter that all customers got."""
LETTER = f"Re: {FIRST_LETTER}"
SUBJECTS = (
    LETTER,
    LETTER,
    LETTER,
    "Your letter",
    "About your letter",
    "Our {product}",
    "Recall {recall}",
    "Pickup",
    "[Hello|A note] from {first}",
    "To the recall desk",
    "The {product}",
)
EVERYDAY_SUBJECTS = (
    LETTER,
    "Your letter",
    "[Hello|A note] from {first}",
    "About your letter",
    "To the shop",
    "A question",
)
EARLIER_SUBJECTS = (
    "To the shop",
    "A question",
    "[Hello|A note] from {first}",
    "[Greetings|News] from {first}",
)
_TOPIC: Topic = "customer_letters"
_LATER = 0.6
_COMING_TO_IT = (
    "As to the recall:", "About your recall:", "Now to what you recall:", "To your letter on the recall:",
    "As for the recalled thing:", "My answer to the recall:", "For the recall desk:",
    "What you wrote to ask:",
)  # fmt: skip
_SPEAKS_OF_IT = re.compile(
    r"\b(?:19|20)\d\d\b|\b(?:back|again|return\w*|here|parcel|depot|counter|van|pick\w*|letter|recall\w*|"
    r"signed|sent|still|courier|neighbour|earliest|order\w*|exchang\w*|collect\w*|item|box)\b",
    re.IGNORECASE,
)
"""What must not stand beside a statement: it might be taken for a part of it."""


def say(rng: random.Random, ways: tuple[str, ...], **values: object) -> str:
    """One of some wordings, with one of the alternatives in each ``[one|other]``."""
    return _CHOICE.sub(lambda found: rng.choice(found[1].split("|")), rng.choice(ways)).format(**values)


def letter(rng: random.Random, prose: Prose, statement: str, size: int, absent: tuple[str, ...] = ()) -> str:
    """Paragraphs of about so many tokens, with the statement, if there is one: it comes first, or says what
    it is about, for after a word on something else "it" might be that.

    Nobody in ``absent`` is spoken of: neither who writes nor who reads it.
    """
    around: list[str] = []
    spent = tokens.count(statement)
    while spent < size - 8:
        sentence = prose.sentence(_TOPIC)
        if not _SPEAKS_OF_IT.search(sentence) and not any(name in sentence for name in absent):
            around.append(sentence)
            spent += tokens.count(sentence)
    if statement:
        if around and rng.random() < _LATER:
            around.append(f"{rng.choice(_COMING_TO_IT)} {statement}")
        else:
            around.insert(0, statement)
    cut = rng.randint(1, len(around)) if around else 0
    return "\n\n".join(part for part in (" ".join(around[:cut]), " ".join(around[cut:])) if part)
