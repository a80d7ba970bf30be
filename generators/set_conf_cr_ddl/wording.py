"""Ways to say dates, times, zones and deadlines."""

from __future__ import annotations

from typing import ClassVar

from mesocosm.generators.set_conf_cr_ddl.conferences import Deadline
from mesocosm.kits import wording
from mesocosm.kits.prose import Prose, Topic

_LOADED = wording.saying(
    r"camera|final version|withdr|accept|reject|deadline|\bdue\b|exten|postpon|put off|submi|upload|receiv"
    r"|reminder|arrived|paper \d|\b20\d\d\b|utc|gmt|aoe"
)
"""Words forbidden in everyday text, because they could be taken for a statement about a paper."""
_DAYS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten"}


def aside(prose: Prose, topic: Topic = "conference") -> str:
    """A sentence that has nothing to do with any deadline."""
    while _LOADED(sentence := prose.sentence(topic)):
        pass
    return sentence


class Voice(wording.WordingVoice):
    """One author's way to write down deadlines: the same format throughout a mail."""

    DATES: ClassVar[tuple[str, ...]] = (
        "{day:%A}, {day:%B} {day.day}, {day.year}",
        "{day:%A}, {day.day} {day:%B} {day.year}",
        "{day:%Y-%m-%d}",
        "{day:%B} {day.day}, {day.year}",
        "{day.day} {day:%B} {day.year}",
        "{day:%a} {day.day} {day:%b} {day.year}",
    )
    CLOCKS: ClassVar[tuple[str, ...]] = ("24", "24", "24", "am", "a.m.")

    def zone(self, deadline: Deadline) -> str:
        """The zone as it is stated; nothing where it is not."""
        match deadline.zone:
            case "aoe":
                return self.pick("AoE", "AoE", "Anywhere on Earth", "UTC-12", "AoE (UTC-12)")
            case "utc":
                return self.pick("UTC", "UTC", "GMT")
            case "other":
                return f"{deadline.place} time ({show_offset(deadline.offset)})"
            case _:
                return ""

    def deadline(self, deadline: Deadline) -> str:
        """A deadline with exactly what it states."""
        day, zone = self.date(deadline.date), self.zone(deadline)
        if deadline.time is None:
            if "(" in zone:  # no brackets within brackets
                return f"{day}, {zone}"
            return f"{day} ({zone})" if zone else day
        clock = f"{self.time(deadline.time)} {zone}".strip()
        return self.pick(f"{day}, {clock}", f"{day} at {clock}", f"{clock} on {day}")

    def days(self, number: int) -> str:
        if number == 7 and self.chance(0.5):
            return "one week"
        return self.pick(f"{_DAYS[number]} days", f"{number} days")


def show_offset(hours: float) -> str:
    """``UTC+5:30``, ``UTC-7`` or ``UTC+0``."""
    minutes = round(abs(hours) * 60)
    rest = f":{minutes % 60:02}" if minutes % 60 else ""
    return f"UTC{'-' if hours < 0 else '+'}{minutes // 60}{rest}"


def finish(text: str) -> str:
    """A text without the doubled punctuation that a time such as "5 p.m." leaves."""
    return text.replace("m..", "m.").replace(",;", ";")
