"""The mails of subscribers to the shop."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator

from mesocosm.generators.filter_low_selling_products.expected import Reader
from mesocosm.generators.filter_low_selling_products.planning import Plan
from mesocosm.kits.mailbox import Mail, misfiled
from mesocosm.kits.prose import Person, Prose

_LEAVE = (
    ("Newsletter", "please take me off your mailing list."),
    ("Unsubscribe", "please unsubscribe me from your newsletter."),
    ("Your mails", "I do not want to get any more of your newsletters; please remove me from the list."),
    ("Mailing list", "kindly remove my address from the mailing list."),
)
_RETURN = (
    ("Newsletter again", "please put me back on your mailing list."),
    ("I changed my mind", "I would like to get your newsletter again, so please add me to the list."),
    ("Subscribe", "please subscribe me to your newsletter again."),
)
_STAY = (
    (
        "Your newsletter",
        "your last newsletter reached me twice. I like reading it, so please keep it coming.",
    ),
    (
        "A question",
        "a friend wants to unsubscribe from your newsletter: how is that done? I am staying, of course.",
    ),
    ("The mailing list", "I nearly left your mailing list last month, and I am glad that I stayed."),
)
"""They speak of leaving, and do not ask for it."""


def subscribers_mails(plan: Plan, prose: Prose, rng: random.Random) -> Iterator[Mail]:
    """What subscribers wrote about the newsletter, in no order."""
    for index, (reader, person) in enumerate(zip(plan.readers, plan.people, strict=True)):
        # The list was exported more than 40 days ago; all of this is newer.
        first = plan.now - dt.timedelta(minutes=rng.randint(10 * 24 * 60, 35 * 24 * 60))
        later = plan.now - dt.timedelta(minutes=rng.randint(2 * 60, 9 * 24 * 60))
        match reader.fate:
            case "by_mail":
                if rng.random() < 0.3:
                    yield _mail(plan, prose, rng, reader, person, first, rng.choice(_RETURN), index)
                yield _mail(plan, prose, rng, reader, person, later, rng.choice(_LEAVE), index)
            case "back_again":
                yield _mail(plan, prose, rng, reader, person, first, rng.choice(_LEAVE), index)
                yield _mail(plan, prose, rng, reader, person, later, rng.choice(_RETURN), index)
            case "rejoined":
                yield _mail(plan, prose, rng, reader, person, later, rng.choice(_RETURN), index)
            case "other_address":
                # Maybe the same person: but it is not the address that the list has.
                elsewhere = reader.model_copy(update={"email": f"{person.handle}.home@postbox.net"})
                yield _mail(plan, prose, rng, elsewhere, person, later, rng.choice(_LEAVE), index)
            case "complaint":
                yield _mail(plan, prose, rng, reader, person, later, rng.choice(_STAY), index)


def _mail(
    plan: Plan, prose: Prose, rng: random.Random, reader: Reader, person: Person, moment: dt.datetime,
    said: tuple[str, str], index: int,
) -> Mail:  # fmt: skip
    subject, text = said
    if rng.random() < 0.3:
        text += " " + prose.sentence("shop_orders")
    hello = rng.choice(("Hello", "Dear shop", "Good morning"))
    body = f"{hello},\n\n{text}\n\n{person.name}"
    return Mail(f"{reader.name} <{reader.email}>", moment, subject, body, misfiled(index))
