"""Replies of the user, in Sent. None says anything about a deadline."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from dataclasses import replace

from mesocosm.generators.set_conf_cr_ddl.conferences import Contact, Mail, Office
from mesocosm.kits import mailbox
from mesocosm.worlds.randomness import Streams

_SHARE = 0.14
"""Of the mails that somebody wrote who reads answers, whatever they say."""
_TO_OFFICES = (
    "Thank you for your message of {day}. I have passed it on to everybody in the group whom it may concern.",
    "Many thanks for writing. We have read it and have no questions at the moment.",
    "Thank you, this has reached us. Please keep this address for anything else.",
    "Thanks for the note of {day}. It lies with the others now.",
    "We have got your message, thank you. If anything is unclear to us we shall ask.",
    "Thank you for the information, and for all the work that you have with us.",
    "Got it, thanks. My colleagues have a copy as well.",
    "Thank you very much. I have filed your mail of {day} and shall read it again when I need it.",
    "Thanks for letting us know. Could you use our group's address next time? This one is only mine.",
    "This is just to say that your message of {day} has come through. Thank you.",
)
_TO_PEOPLE = (
    "Thanks for your mail of {day}. Let us talk about it when we meet next.",
    "Thank you! I had been wondering about that since last week.",
    "Good to hear from you. I have no opinion on this yet, but I have made a note.",
    "Many thanks. I shall have a closer look as soon as I find the time.",
    "I got this, thank you. Nothing to add from my side.",
    "I am not sure about it either; I shall look it up myself.",
    "Thanks for telling me on {day}. I have not checked any of it so far.",
    "Thank you, that was helpful. Write again if anything changes.",
    "That may well be. I shall ask around before I believe it.",
    "Fine with me, thanks. Ask the others too, please.",
)


def answered(mails: Sequence[Mail], office: Office, streams: Streams) -> list[tuple[int, Mail]]:
    """Answers to some of the mails, one at least: each with the place of the mail that it answers.

    A mail has its own dice: one more changes nothing about the others, so that a length is soon met.
    """
    # Who is told something on the very morning has not answered yet.
    before = office.now - dt.timedelta(hours=16)
    dice = {
        place: streams.stream(f"answer to {mail.author.email}, {mail.moment}, {mail.subject}")
        for place, mail in enumerate(mails)
        if not mail.author.email.startswith("noreply@") and mail.moment < before
    }
    ranked = sorted(dice, key=lambda place: dice[place].random())
    chosen = ranked[: max(1, round(_SHARE * len(ranked)))]
    return [(place, _answer(mails[place], office, dice[place])) for place in sorted(chosen)]


def _answer(mail: Mail, office: Office, rng: random.Random) -> Mail:
    person, user = mail.author.person, office.user
    first = user.person.first if user.person else user.name
    hello = f"Dear {person.first}," if person else "Dear all,"
    moment = mailbox.later(
        mail.moment, rng, dt.timedelta(days=2), office.zone, until=office.now - dt.timedelta(minutes=5)
    )
    ways = _TO_PEOPLE if _is_colleague(mail.author, office) else _TO_OFFICES
    written, said = mail.moment.astimezone(office.zone), moment.astimezone(office.zone)
    text = mailbox.one_of_answers(ways, written, said, rng)
    subject = f"Re: {mail.subject.removeprefix('Re: ')}"
    body = f"{hello}\n\n{text}\n\nBest regards,\n{first}"
    return replace(mail, moment=moment, author=user, subject=subject, body=body)


def _is_colleague(who: Contact, office: Office) -> bool:
    return who.person is not None and who.email.endswith(f"@{office.domain}")
