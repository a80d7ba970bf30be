"""Replies: the owner's earlier mail, quoted below the answer."""

from __future__ import annotations

import datetime as dt
import random
import textwrap
from collections.abc import Mapping
from typing import Any

from mesocosm.kits.holidays import is_holiday
from mesocosm.kits.yaml_tasks.options import chosen

_SATURDAY = 5
_ASKED = (
    "Have you {had|found} {the time|a moment} to {look at|think about} {what I sent|my last mail|my "
    "question}?",
    "{Is there|Do you have} {any news|anything new} {on your side|from your end|for me}?",
    "{I have not heard from you|Nothing has come from you|It has been quiet} {for a while|since last "
    "week|lately}, {so I ask again|hence this mail|which is why I write}.",
    "{There is|I am in} no {great hurry|rush}, {but I would like to know|yet it would help to know} "
    "{how things stand|where we are|what you think}.",
    "{A short answer|A line or two|A few words} {will do|would be enough|is all I need}.",
    "{Please let me know|Tell me|Write to me} {if anything is unclear|if something is missing|what you "
    "need from me}.",
    "{I am going through|I have been sorting|I am tidying up} {my papers|my mails|the last few weeks} "
    "and {came across|found} {your name|an open point}.",
    "{Could you|Would you|Can you} {bring me up to date|tell me where things stand|fill me in}{ when "
    "you find the time| this week|}?",
    "{Thank you for|Thanks for|I am grateful for} {your patience|your last mail|the call the other day}.",
    "{I was out|I have been travelling|I had a full week} and {have only now got round to this|am "
    "catching up now}.",
    "{Somebody|Somebody else|One of us} {said|thought|told me} that you {had tried to call|wanted to "
    "talk|might have a question}.",
    "{Ring me|Call me} {any morning|after lunch|on the usual number}, or {just write|answer here|drop "
    "me a line}.",
    "{Did everything|Did it all|Did all of it} reach you {in good order|as it should|safely}?",
    "{I am keeping|I have kept} {this|the matter} open until {I hear from you|you write|we have spoken}.",
)
"""Everyday texts that the owner wrote before, without any relevant content."""


def asked(answer: Mapping[str, Any], name: str, hello: str, bye: str, rng: random.Random) -> dict[str, Any]:
    """``date``, ``subject`` and ``body`` of what the owner, called ``name``, wrote a day or two before."""
    text = " ".join(chosen(line, rng) for line in rng.sample(_ASKED, rng.randint(2, 4)))
    ago = dt.timedelta(days=rng.randint(1, 2), minutes=rng.randint(-40, 40), seconds=rng.randint(0, 59))
    moment = answer["date"] - ago
    if answer["date"].weekday() < _SATURDAY:  # who works on weekdays wrote on one
        while not _is_worked_on(moment):
            moment -= dt.timedelta(days=1)
    return {
        "date": moment,
        "subject": str(answer["subject"]).removeprefix("Re: "),
        "body": f"{hello}\n\n{text}\n\n{bye}\n{name.split()[0]}",
    }


def _is_worked_on(moment: dt.datetime) -> bool:
    return moment.weekday() < _SATURDAY and not is_holiday(moment.date())


def quoted(mail: Mapping[str, Any], author: str) -> str:
    """Quote a mail below an answer to it."""
    lines = [part for line in str(mail["body"]).split("\n") for part in textwrap.wrap(line, 70) or [""]]
    marked = "\n".join(f"> {line}".rstrip() for line in lines)
    moment = mail["date"]
    return f"On {moment:%a}, {moment.day} {moment:%b %Y} at {moment:%H:%M}, {author} wrote:\n{marked}"
