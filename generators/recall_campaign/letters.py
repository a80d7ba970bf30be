"""Letters of customers about a recall, a dozen wordings each, among other topics.

``[a|b]`` is one of both. The same words answer every recall of the shop; questions change nothing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import islice

from mesocosm.kits.prose import Prose, RecentRuns, Topic
from mesocosm.kits.wording import saying
from mesocosm.worlds import tokens

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
BY_PARCEL = (
    "[I have|We have] [already|meanwhile|since] sent it back, so you should have [the|that|our] parcel "
    "by [now|today].",
    "[You need not|There is no need to|Please do not] send [a van|anybody|a driver]: it has "
    "[been sent back|gone back][| already] by [post|parcel].",
    "It left [this house|our flat|us] by [parcel|post|courier], and [your depot|the shop|somebody] "
    "signed for it[| yesterday| at noon].",
)
BY_HAND = (
    "It is [back with you|in your hands|where it came from]: [I|we|my wife and I] handed it in "
    "[at your counter|at the counter|at your shop][| yesterday| in person].",
    "[Your colleague|One of your people|Somebody from your depot] took it from me [when I was|while I was|as "
    "I stood] [in your shop|in your yard|at your counter], so it is [with you|in your hands|at your place].",
    "I did not wait [for you|any longer|for the van] [and|but] [brought|carried|took] it back "
    "[myself|on foot|by bus].",
    "[You need not|There is no need to|Please do not] send [a van|anybody|a driver]: it has "
    "[been returned|been handed in][| already] at [your|the] [counter|shop|depot].",
)
BY_OTHERS = (
    "Nothing [is left|remains|waits] [here|with us|in this house]: [my son|our daughter|a cousin] carried it "
    "to [your|the] [shop|counter|depot].",
    "[The thing|It|What you want] is no longer [with us|in our house|here]; [my wife|my mother|my father] "
    "gave it to your [driver|man|colleague].",
    "[My neighbour|My sister|A friend] has already [delivered|driven|taken] it to "
    "[your depot|your counter|the shop][| for me| on her way].",
)
AT_ONCE_BY_PARCEL = (
    "It went back by [post|parcel|courier] [on the day|the day after|an hour after] your letter "
    "[came|arrived|was here].",
)
AT_ONCE_BY_HAND = (
    "[I|We] returned [the item|it|the thing] [at once|the same day|that very day], so "
    "[there is nothing left|nothing remains|you find nothing] to [pick up|fetch|collect].",
)
AT_ONCE_BY_OTHERS = (
    "You have had it [back|again] [since yesterday|for a day or two|these last days]: [my brother|my aunt|"
    "a friend] [brought|took] it[| over| along].",
)
"""They leave no day between the letter and what is said: nobody says so who named a day before."""
LATER = (*BY_PARCEL, *BY_HAND, *BY_OTHERS)
RETURNED = (*LATER, *AT_ONCE_BY_PARCEL, *AT_ONCE_BY_HAND, *AT_ONCE_BY_OTHERS)
_MISTAKEN = (
    "It [turns out|seems|is clear now] that [what left us|what we gave away|what went off] was "
    "[another|the wrong|an empty] box; yours is still [with us|in our hall|where it was].",
    "Contrary to what I [told you|wrote|said], [we|I|my parents] still [have|keep|hold] it[| here| in "
    "the hall].",
)
_PARCEL_FAILED = (
    "What I [wrote|said|told you] about the parcel was [too early|wrong|a mistake]: it came [back|home] to "
    "[me|us], and [I|we] still have [the item|the thing|it].",
    "I have to [correct myself|take that back|put that right]: [the item|it|the thing] is still here"
    "[| with me| with us], [as|because|since] the parcel was [refused|turned away|sent home].",
    "Forget my [first|last|other] mail. The [post|courier|carrier] brought it back, and it stands in "
    "[my hall|our cellar|my garage] again.",
    "The courier [lost his way|turned round|gave up] and left it at our [door|gate|house] again, so "
    "it [stands|waits|is waiting] here.",
    "Somebody else's [parcel|box|thing] was signed for, not [mine|ours]; [I|we] keep yours for the "
    "[van|driver|pickup].",
    "[I|We] have it again: the [address|number|street] on the label was [wrong|smudged|an old one].",
)
_HAND_FAILED = (
    "Your [counter|shop|depot] would not [take|accept|have] it, so it is here [after all|as before|once "
    "more].",
    "I have to [correct myself|take that back|put that right]: [the item|it|the thing] is still here"
    "[| with me| with us], [as|because|since] your people [gave it back|sent it home again|knew of no "
    "recall].",
    "[I|We] have it again: it was [handed|given] back [at the door|with regrets|an hour later], as [my "
    "receipt|some form|a slip] was missing.",
)
_NEVER_LEFT = (
    "I was [wrong|mistaken|too quick]: it never left, [my son|my husband|somebody here] had "
    "[only|just|merely] put it in the [cellar|attic|shed].",
    "Please [disregard|forget|strike out] that it was gone. I [found|saw|discovered] it in the "
    "[garage|cellar|attic], where it [remains|waits|stays].",
    "I spoke [too soon|too early|before I knew], for it has not left [our flat|the house|our hands].",
)
TAKEN_BACK = (
    ((*BY_PARCEL, *AT_ONCE_BY_PARCEL), (*_MISTAKEN, *_PARCEL_FAILED)),
    ((*BY_HAND, *AT_ONCE_BY_HAND), (*_MISTAKEN, *_HAND_FAILED)),
    ((*BY_OTHERS, *AT_ONCE_BY_OTHERS), (*_MISTAKEN, *_NEVER_LEFT)),
)
"""Pairs of an earlier and a later statement: a parcel does not come back from the counter, and what I carried
away myself has left the house."""
NOT_RETURNED = (*_MISTAKEN, *_PARCEL_FAILED, *_HAND_FAILED, *_NEVER_LEFT)
WISH = (
    "We are [away|abroad|travelling], please [do not come|send nobody|plan nothing] before {day}.",
    "Could your [van|driver|man] come on {day} or [later|after]? [I am not|Nobody is|We are not] at home "
    "[earlier|before].",
    "From {day} on [any time|any hour|every day] is [fine|good|all right], but "
    "[no sooner|not before|nothing earlier].",
    "Nobody opens [the|our|this] door [here|for you] until {day}, when we are [back|home|in] again.",
    "The first day that [suits|fits|is good for] [me|us] is {day}[|, I fear|, sorry].",
    "For the [van|pickup], {day} or any day [after it|that follows|later on] [suits|will do for] [me|us].",
    "[I am|My wife is|My mother is] in hospital and home again on {day}; [not before|no sooner|no earlier], "
    "please.",
    "The [lift|bell|gate] is [being repaired|broken|out of order] and [works again|will be mended] on {day}, "
    "so come [then|that day] at the earliest.",
    "We have [builders|painters|plumbers] in the house: you can [reach|get at|count on] us from {day} on.",
    "[Let it be|Make it|I ask for] {day} at the [earliest|soonest][|, please].",
    "My [shifts|exams|children] leave me no [day|time|hour] before {day}.",
    "[Sooner|Earlier] [is no use|will not do]; {day} is when [I|we|my parents] can hand it over, or [any day "
    "later|any day after that].",
)
CHANGED = (
    "My plans have [changed|been upset], [sorry|I fear|I am afraid].",
    "I [have to|must] [move|change|correct] what I asked for.",
    "Please cross out the [day|date] that I [gave you|named|wrote].",
    "[Something|Work|A visit] came up, so I must [ask for|name] another day.",
    "Forget the day [in|of] my [last|first|earlier] mail.",
    "[It is me again|Once more from me], about the day.",
)
QUESTION = (
    "Do I get [my money back|a refund|a voucher], or [a new one|another one]? And does the "
    "[box|carton|packaging] matter?",
    "[Thank you|Thanks] for [the|your] letter. Is it [dangerous|safe|all right] to keep it in the "
    "[hall|kitchen|car] [until then|for now]?",
    "May [a neighbour|my mother|the caretaker] hand it over, if I am [at work|out|away]?",
    "Will [the van|the driver|somebody] [call|ring] [beforehand|an hour ahead|the evening before]?",
    "Do you [want|need|take] the [manual|leaflet|receipt|wrapping] as well?",
    "Is [my sister's one|the one in our office|my father's] affected too? It [came from|was bought at] "
    "[another shop|a market|a sale].",
    "How [heavy|big] may [the|a] parcel be? [I would rather|We would like to|It would help to] have it "
    "picked up.",
    "What [happens|do you do|follows] if [I|we] [keep|lose] it?",
    "Should I [pack it|wrap it|put it in a bag], or do you bring [a carton|paper|a box]?",
    "I have lost the [receipt|bill|box]. Is that [a problem|bad|going to matter]?",
    "Is there [a voucher|anything|some money] for the [trouble|wait|time]?",
    "Who pays for [this|the van|all that]?",
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
QUESTION_SUBJECTS = (
    LETTER,
    "Your letter",
    "[Hello|A note] from {first}",
    "About your letter",
    "To the shop",
    "A question",
)
OTHER_SUBJECTS = (
    "To the shop",
    "[Hello|A note] from {first}",
    "[Greetings|News] from {first}",
    "The {product}",
    "Our {product}",
)
_TOPIC: Topic = "customer_letters"
_LATER = 0.6
_SENTENCES = 30
"""After which somebody comes to speak of other people."""
_COMING_TO_IT = (
    "Now to the recall.", "And now for the recall.", "That leaves the recall.", "Then there is the recall.",
    "You wrote to us about the recall.", "The next line is for the recall desk.", "Finally, the recall.",
    "I come to the recalled item now.", "The other matter is the recalled item.",
)  # fmt: skip
_SPEAKS_OF_IT = saying(
    r"\b(?:19|20)\d\d\b|\b(?:back|again|return\w*|here|parcel|depot|counter|van|pick\w*|letter|recall\w*|"
    r"signed|sent|still|courier|neighbour|earliest|order\w*|exchang\w*|collect\w*|item|box|g[ai]ven?)\b"
)
"""Words forbidden beside a statement, because they might be taken for a part of it."""


def say(rng: random.Random, ways: tuple[str, ...], **values: object) -> str:
    """One of some wordings, with one of the alternatives in each ``[one|other]``."""
    return _CHOICE.sub(lambda found: rng.choice(found[1].split("|")), rng.choice(ways)).format(**values)


def asides(prose: Prose, product: str, absent: tuple[str, ...]) -> Iterator[str]:
    """Sentences, without end, that have nothing to do with the recall, nor with anybody in ``absent``.

    They are about one thing, which the first of them introduces, and it is never one like the product: "it"
    might be that.
    """

    def beside_it(sentence: str) -> bool:
        return not _SPEAKS_OF_IT(sentence) and not any(name in sentence for name in absent)

    while True:
        matter = _another_thing(prose, product)
        introduced = (next(prose.each_sentence(_TOPIC, 1, matter=matter)) for _ in range(_SENTENCES))
        yield from islice(filter(beside_it, introduced), 1)
        yield from filter(beside_it, prose.each_sentence(_TOPIC, _SENTENCES, matter=matter, opening=False))


def _another_thing(prose: Prose, product: str) -> str:
    matter = prose.matter(_TOPIC)
    while any(word in product.lower() for word in matter.rpartition("~")[2].split()):
        matter = prose.matter(_TOPIC)
    return matter


def letter(
    rng: random.Random,
    prose: Prose,
    memory: RecentRuns,
    statement: str,
    size: int,
    product: str,
    absent: tuple[str, ...] = (),
) -> str:
    """Paragraphs of about so many tokens, with the statement, if there is one: it comes first, or says what
    it is about, for after a word on something else "it" might be that.

    Nobody in ``absent`` is spoken of: neither who writes nor who reads it.
    """
    around = _around(prose, memory, size - tokens.count(statement), product, absent)
    if statement:
        if around and rng.random() < _LATER:
            around.append(f"{rng.choice(_COMING_TO_IT)} {statement}")
        else:
            around.insert(0, statement)
    cut = rng.randint(1, len(around)) if around else 0
    return "\n\n".join(part for part in (" ".join(around[:cut]), " ".join(around[cut:])) if part)


def beside(prose: Prose, memory: RecentRuns, size: int, product: str, absent: tuple[str, ...]) -> str:
    """A further paragraph of a letter, of about so many tokens."""
    return " ".join(_around(prose, memory, size, product, absent))


def _around(prose: Prose, memory: RecentRuns, size: int, product: str, absent: tuple[str, ...]) -> list[str]:
    around: list[str] = []
    more = asides(prose, product, absent)
    spent = 0
    while spent < size - 8:
        around.append(memory.draw(more.__next__, around[-1] if around else ""))
        spent += tokens.count(around[-1])
    return around
