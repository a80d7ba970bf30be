"""Ways to say what an announcement says about a work."""

from __future__ import annotations

import datetime as dt
import random

from mesocosm.generators.canvas_list_test.campus import Notice
from mesocosm.kits import wording
from mesocosm.kits.wording import Block


class Voice(wording.Voice):
    """One announcement's way to say things: the same marks and formats throughout."""

    def __init__(self, rng: random.Random) -> None:
        self._marks = rng.choice(("“{}”", "“{}”", "«{}»", "‘{}’"))
        super().__init__(rng)

    def quoted(self, title: str) -> str:
        """A title as it stands in a sentence."""
        return self._marks.format(title)


def statement(voice: Voice, title: str, notice: Notice) -> list[Block]:
    """What a notice says."""
    work = voice.quoted(title)
    match notice.about:
        case "deadline":
            assert notice.deadline
            return _deadline(voice, title, notice.deadline)
        case "withdrawn":
            text = voice.pick(
                f"The deadline that I announced for {work} does not hold after all: Canvas is right.",
                f"Please forget what I wrote about the deadline of {work}; it is due when Canvas says.",
                f"I take back the change of the deadline of {work}. The date on Canvas was right.",
            )
        case "optional":
            text = voice.pick(
                f"{work} is optional: whoever wants the practice may do it, nobody has to.",
                f"I have decided to make {work} voluntary.",
                f"Doing {work} is voluntary; it will not count for or against anybody.",
                f"Please treat {work} as an optional extra.",
            )
        case "cancelled":
            text = voice.pick(
                f"{work} is cancelled.",
                f"We drop {work} from the programme; nobody needs to do anything for it.",
                f"There will be no {work}. It is cancelled without replacement.",
                f"I have cancelled {work}, although Canvas still shows it.",
            )
        case "compulsory":
            text = voice.pick(
                f"Contrary to what I wrote earlier, {work} is compulsory for everybody.",
                f"{work} counts after all, so everybody has to do it.",
                f"The department insists: {work} is compulsory and not voluntary, as I had said.",
            )
        case "revived":
            text = voice.pick(
                f"{work} takes place after all.",
                f"Good news or bad: {work} is back on the programme, and everybody has to do it.",
                f"I was too quick to cancel {work}; it goes ahead as planned and is compulsory.",
            )
        case "excused":
            return _excused(voice, work, notice.names)
        case "rule":
            assert notice.rule
            if notice.rule.threshold is None:
                text = voice.pick(
                    f"Students who repeat the course are exempt from {work}.",
                    f"If you are taking this course for the second time, you need not do {work}.",
                    f"{work} is waived for those who repeat the course.",
                )
            else:
                text = _rule(voice, work, notice.rule.threshold, inclusive=notice.rule.inclusive)
    return [text]


def _deadline(voice: Voice, title: str, deadline: dt.datetime) -> list[Block]:
    work, day, clock = voice.quoted(title), voice.date(deadline.date()), voice.time(deadline.time())
    if voice.chance(0.35):
        lead = voice.pick("There is a new deadline.", "Please note a change.", "New arrangements, see below.")
        label = voice.pick("New deadline", "Deadline now", "Due now")
        return [lead, [f"{voice.pick('Work', 'What', 'For')}: {title}", f"{label}: {day}, {clock}"]]
    text = voice.pick(
        f"The deadline of {work} is now {day}, {clock}.",
        f"{work} is now due on {day} at {clock}.",
        f"You have until {clock} on {day} for {work}.",
        f"I have set the deadline of {work} to {day}, {clock}; never mind what Canvas shows.",
        f"Please hand in {work} by {day}, {clock}. That is the new deadline.",
    )
    return [text.replace("m..", "m.")]  # "at 3 p.m." has its full stop already


def _rule(voice: Voice, work: str, threshold: int, *, inclusive: bool) -> str:
    if inclusive:
        return voice.pick(
            f"Students with at least {threshold} points in the midterm are exempt from {work}.",
            f"If you reached {threshold} points or more in the midterm, you need not do {work}.",
            f"{work} is waived for everybody with a midterm result of {threshold} or higher.",
        )
    return voice.pick(
        f"Students with more than {threshold} points in the midterm are exempt from {work}.",
        f"If your midterm result is above {threshold}, you need not do {work}.",
        f"{work} is waived for everybody who scored higher than {threshold} in the midterm.",
    )


def _excused(voice: Voice, work: str, names: tuple[str, ...]) -> list[Block]:
    if voice.chance(0.5):
        return [f"The following students are excused from {work}:", list(names)]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    are = "is" if len(names) == 1 else "are"
    return [
        voice.pick(
            f"{listed} {are} excused from {work}.",
            f"Because of the excursion, {listed} {are} excused from {work}.",
            f"I have excused {listed} from {work}.",
        )
    ]


# -- announcements that change nothing ---------------------------------------------------------------------


def no_extension(voice: Voice, work: str) -> str:
    """Wrong because it refuses the new deadline that it speaks of."""
    return voice.pick(
        f"Some of you asked for another deadline for {work}. I cannot grant that; nothing changes.",
        f"No, {work} will not be put off, although the other group asked for it as well.",
        f"To all who asked whether {work} could be handed in later: it could not.",
    )


def last_year(voice: Voice, work: str) -> str:
    """Wrong because it was so a year ago."""
    return voice.pick(
        f"Older students may tell you that {work} was optional. That was last year; this year it is not.",
        f"Last year {work} was cancelled because of the storm. This year all goes as planned.",
        f"Last year 80 points in the midterm exempted you from {work}. There is no such rule this year.",
    )


def sister_course(voice: Voice, work: str, other: str) -> str:
    """Wrong because it is about a course that the student does not take."""
    return voice.pick(
        f"For those who also take {other}: {work} is cancelled over there. Nothing changes here.",
        f"In {other}, the sister course, {work} is voluntary. Not so with us: here nothing changes.",
        f"Whoever attends {other} too should know that its {work} has a new deadline. Ours stays.",
    )


def lecture(voice: Voice, work: str) -> str:
    """Wrong because something else is cancelled."""
    return voice.pick(
        f"The lecture on Thursday is cancelled. This does not affect {work}.",
        f"My office hour is cancelled this week; send questions about {work} by mail instead.",
        f"The tutorial is optional this week, since some of you are busy with {work}.",
    )
