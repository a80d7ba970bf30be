"""Irrelevant remarks for the recall's documents and calendar."""

from __future__ import annotations

import random
from dataclasses import dataclass

from mesocosm.generators.recall_campaign.letters import say
from mesocosm.kits.prose import Prose, RecentRuns
from mesocosm.worlds import tokens

_FAULTS = (
    "small parts may come off",
    "a part came from another maker than agreed",
    "the dye was never tested",
    "the instructions in the box are those of something else",
    "a warning is missing",
    "the safety sheet is that of something else",
    "one batch was made of the wrong material",
    "the mark of the test laboratory is not genuine",
    "it smells of solvent",
    "a label with small parts can be pulled off",
)
_ABOUT = (
    "[Reason|What is wrong|The fault]: {fault}.",
    "[So far|By now|To date] {told} customers have told us about it.",
    "Nobody has been hurt[| so far|, as far as we know].",
    "[Until the van comes|Before it is fetched|Until it is picked up] the item may stay in the "
    "[hall|cellar|garage][, but it should not be used|. Please leave it alone|, unused].",
    "The box is not needed[| for the pickup].",
    "{maker}, who [made it|sold it to us|brought it in], [was told|has been told|knows], and [pays "
    "for|pays half of|shares the cost of] the van[| and the drivers].",
    "[What is left on the shelves|Our own stock|What we still have] goes into the back room[ and is "
    "not sold| and stays there|, under lock and key].",
    "[Questions of|Letters from|Calls from] the press [go to|are for|are answered by] {person}.",
    "[A new item or the money|The money or a new item|Exchange or refund]: [customers choose when the "
    "item is here|that is asked when it has come in|the choice is the customer's].",
    "The laboratory in {place} [has|is testing|asked for] {count} of them[ and will write to us|; nothing "
    "has come back yet|, says {other}].",
    "[What|Whatever] comes in is [counted|weighed|listed] on [Fridays|Mondays|Tuesdays] and [goes|is put] "
    "into the [grey|blue|green] [containers|crates|cages].",
    "The authority in {place} [has been told|got a copy].",
    "{person} [wrote|drafted] this notice, and {other} [has read|checked|signed] it.",
    "[What was bought in other shops|Whatever came from another shop|What others sold] is not [ours to "
    "take back|our affair|taken back here].",
    "Drivers carry the forms[| and a pair of scales].",
    "[A driver who finds nobody|Whoever finds the door shut|If nobody is in, the driver] leaves a "
    "card[ and rings the office| and calls the office|, and tries no second time].",
    "[Packed, none weighs more than {weight}|A parcel weighs up to {weight}|No box is above {weight}].",
    "[The text for the shop's pages comes from {person}|{person} puts it on the shop's pages|What the "
    "pages say is up to {person}|For the pages of the shop, ask {person}].",
    "{person} answers the telephone[| between ten and three].",
    "[Already|Up to now|As of today,] {count} [parcels|letters] have come in [by themselves|without our "
    "asking].",
    "[Shops in {place} have been asked|Shops near {place} were asked] to [take it off their "
    "shelves|sell no more of it|put it aside].",
    "The insurer [wants to know|asked] how many there are; {person} has answered.",
    "[Pictures of the fault|Photographs|Two photographs|Drawings of it] [are with|were sent to|came from] "
    "{person}.",
    "{maker} [offered|wanted|asked] to [repair|look at|test] [some|a few|{count}] of them, [which we "
    "declined|but we declined|and {other} declined].",
    "[Staff at the counter|Those at the counter|{person} and {other}] may read this to "
    "[customers|callers], but [give no copies|hand "
    "nothing out|keep the paper].",
    "{other} has [ordered|asked for] {count} labels for the [boxes|parcels].",
    "{other} [says|writes|thinks] that [a parcel|an item|a box] of this kind [takes up little room|needs "
    "little room|is easily stowed] in the van.",
    "There is [no|so far no] word from {maker} about {count} more of them.",
    "The [meeting about it|talk with the maker] was in {place}; {person} took notes.",
)
_LISTED = (
    "The numbers are those of the shop.",
    "New entries may stand anywhere in the list[|, not only at its end].",
    "Slips are kept for {years} years[| after the recall|, then shredded].",
    "{person} keeps this list.",
    "{person} makes the entries, and {other} [has the slips|checks them].",
    "A copy goes to [the accounts|{person}] on [Fridays|Mondays].",
    "The slips are in the [grey|blue|green] folder[| on the shelf].",
    "Ask {person} before you print it.",
    "Whoever makes an entry signs the slip.",
    "[In case of doubt|If a slip cannot be read], ask {person}.",
    "[Some|{count}] of the slips are still to be filed; [they are in {place}|{person} has them].",
    "The counter in {place} has a folder of its own.",
    "{other} has [read it through|gone through it] once [more|again].",
    "[Two|Three|Four] entries were struck out because they were [there twice|somebody else's].",
    "The [printer|copier] in {place} cuts off the last line.",
    "{company} may see [the list|it], but not [the names|who is on it].",
    "[Slips are numbered|The numbers of the slips run] on from one recall to the next.",
    "{person} is away [in the first week|on Thursdays]; then {other} has the pen.",
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
    years: str
    """How long papers are kept, whatever the recall."""
    metric: bool
    """True if people where the depot is weigh in kilograms."""

    @classmethod
    def draw(cls, prose: Prose, *, metric: bool) -> Known:
        """Some of each."""
        staff = tuple(prose.person().name for _ in range(_SOME))
        return cls(
            staff, tuple(prose.place() for _ in range(_SOME)),
            tuple(prose.company() for _ in range(_SOME)), _YEARS[len(staff[0]) % len(_YEARS)], metric,
        )  # fmt: skip


_YEARS = ("two", "three", "five")
_SOME = 10
_TRIES = 6


class Remarks:
    """Draws remarks, none of them twice in one text, and if possible none as it was said before."""

    def __init__(self, known: Known, rng: random.Random, memory: RecentRuns) -> None:
        self._known, self._rng, self._said = known, rng, memory
        self._fault, self._maker = rng.choice(_FAULTS), rng.choice(known.companies)
        pounds, self._told = rng.randint(4, 19), rng.randint(6, 40)
        self._weight = f"{pounds // 2} kilograms" if known.metric else f"{pounds} pounds"

    def notice(self, size: int, before: str) -> str:
        """Write further text of a notice after ``before``, of about ``size`` tokens."""
        return self._some(_ABOUT, size, before)

    def settled(self, size: int) -> str:
        """Write further text of a list, of about ``size`` tokens."""
        return self._some(_LISTED, size, "")

    def event(self, title: str) -> str:
        """Write the description of an event from its title."""
        return self._fill(self._rng.choice(_EVENTS[title]))

    def _some(self, ways: tuple[str, ...], size: int, before: str) -> str:
        said: list[str] = []
        worn: list[str] = []
        for way in self._rng.sample(ways, len(ways)):
            if tokens.count(" ".join(said)) >= size:
                return " ".join(said)
            last = said[-1] if said else before
            texts = (self._fill(way) for _ in range(_TRIES))
            text = next((text for text in texts if not self._said.again(text, last)), None)
            if text is None:
                worn.append(way)
            else:
                said.append(text)
        # Where everything was said before, something is said again.
        while worn and tokens.count(" ".join(said)) < size:
            said.append(self._fill(worn.pop()))
        return " ".join(said)

    def _fill(self, way: str) -> str:
        rng = self._rng
        person, other = rng.sample(self._known.staff, 2)
        return say(
            rng, (way,), person=person, other=other, place=rng.choice(self._known.towns),
            company=rng.choice(self._known.companies), maker=self._maker, count=rng.randint(2, 40),
            fault=self._fault, weight=self._weight, told=self._told, years=self._known.years,
        )  # fmt: skip
