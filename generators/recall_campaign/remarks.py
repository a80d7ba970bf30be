"""What stands in the documents of a recall and on its calendar and decides nothing."""

from __future__ import annotations

import random
from dataclasses import dataclass

from mesocosm.generators.recall_campaign.letters import say
from mesocosm.kits.prose import Prose
from mesocosm.worlds import tokens

_FAULTS = (
    "the coating comes off after some months",
    "a fastening may come loose",
    "the dye is not the one that we ordered",
    "an edge can splinter",
    "the maker used another glue than agreed",
    "a joint may give way",
    "the safety sheet is wrong",
    "a seam may open",
    "the surface gets slippery when it is wet",
    "a label with small parts can be pulled off",
)
_ABOUT = (
    "Reason: {fault}.",
    "[What is wrong:|The fault:] {fault}.",
    "{count} customers have told us about it.",
    "Nobody has been hurt[| so far|, as far as we know].",
    "Until the van comes the item may stay in the [hall|cellar|garage], but it should not be used.",
    "The box is not needed[| for the pickup].",
    "{company}, who [made it|sold it to us], [was told|has been told] and pays for the van.",
    "What is left on the shelves goes into the back room and [is not sold|stays there].",
    "Questions of the press go to {person}.",
    "[A new item or the money|The money or a new item]: customers choose when the item is here.",
    "The laboratory in {place} has {count} of them and will write to us.",
    "What comes in is counted on [Fridays|Mondays] and goes into the [grey|blue|green] containers.",
    "The authority in {place} [has been told|got a copy].",
    "{person} wrote this notice, and {other} [has read|checked] it.",
    "What was bought in other shops is not ours to take back.",
    "Drivers carry the forms[| and a pair of scales].",
    "A driver who finds nobody leaves a card and [rings|calls] the office.",
    "Packed, the item weighs {count} pounds at the most.",
    "The text for the shop's pages comes from {person}.",
    "{person} answers the telephone[| between ten and three].",
)
_LISTED = (
    "The numbers are those of the shop.",
    "New entries may stand anywhere in the list[|, not only at its end].",
    "Slips are kept for [two|three|five] years.",
    "{person} keeps this list.",
    "{person} makes the entries, and {other} [has the slips|checks them].",
    "A copy goes to [the accounts|{person}] on [Fridays|Mondays].",
    "The slips are in the [grey|blue|green] folder[| on the shelf].",
    "Ask {person} before you print it.",
    "Whoever makes an entry signs the slip.",
    "[In case of doubt|If a slip cannot be read], ask {person}.",
    "{count} slips are still in [{place}|the folder of {person}] to be filed.",
    "The counter in {place} has a folder of its own.",
)
_EVENTS = {
    "Van booked": ("For the fair in {place}.", "Lent to {company}.", "{person} needs it in {place}."),
    "Furniture delivery": ("Two shelves for the office.", "Desks for {person} and {other}.", "By {company}."),
    "Inspection papers": (
        "{company} looks at the brakes.", "{person} has the file.", "To be signed by {person}.",
    ),
    "Driver on call": ("{person}, by telephone.", "{person} or {other}.", "If somebody is ill: {person}."),
    "Tour notes": ("{person} writes them up.", "The tour of {place}.", "With {person} and {other}."),
    "Depot tidied up": ("Shelf {count} has to be free.", "{person} and {other}.", "With {company}."),
}  # fmt: skip


@dataclass(frozen=True)
class Known:
    """Names that the people of a shop write about."""

    staff: tuple[str, ...]
    towns: tuple[str, ...]
    companies: tuple[str, ...]

    @classmethod
    def draw(cls, prose: Prose) -> Known:
        """Some of each."""
        staff = (prose.person().name for _ in range(_SOME))
        return cls(
            tuple(staff), tuple(prose.place() for _ in range(_SOME)),
            tuple(prose.company() for _ in range(_SOME)),
        )  # fmt: skip


_SOME = 6


class Remarks:
    """Draws remarks, none of them twice in one text."""

    def __init__(self, known: Known, rng: random.Random) -> None:
        self._known, self._rng = known, rng
        self._fault = rng.choice(_FAULTS)

    def notice(self, size: int) -> str:
        """What else a notice says, in about so many tokens."""
        return self._some(_ABOUT, size)

    def settled(self, size: int) -> str:
        """What else stands on a list, in about so many tokens."""
        return self._some(_LISTED, size)

    def event(self, title: str) -> str:
        """What an event of that title is about."""
        return self._fill(self._rng.choice(_EVENTS[title]))

    def _some(self, ways: tuple[str, ...], size: int) -> str:
        said: list[str] = []
        for way in self._rng.sample(ways, len(ways)):
            if tokens.count(" ".join(said)) >= size:
                break
            said.append(self._fill(way))
        return " ".join(said)

    def _fill(self, way: str) -> str:
        rng = self._rng
        person, other = rng.sample(self._known.staff, 2)
        return say(
            rng, (way,), person=person, other=other, place=rng.choice(self._known.towns),
            company=rng.choice(self._known.companies), count=rng.randint(2, 40), fault=self._fault,
        )  # fmt: skip
