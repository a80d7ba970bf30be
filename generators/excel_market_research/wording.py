"""How memos say what they say: a dozen ways for every kind of statement, the same for figures that matter."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from mesocosm.generators.excel_market_research.expected import DATA, DRAFT_SHEET, METHODOLOGY_SHEET, RAW_SHEET
from mesocosm.kits.prose import Prose, Topic

OTHER_FILES = (
    "Market_Quarterly.xlsx", "Market_Data_Archive.xlsx", "Retail_Data.xlsx", "Market_Forecast.xlsx",
    "Market_Data_Europe.xlsx", "Export_Data.xlsx",
)  # fmt: skip
"""Workbooks that memos correct too, and that are not in the workspace."""

_FIGURES = (
    "the {year} figure of {name} in {book} is wrong and should be {value} ({unit})",
    "please use {value} ({unit}) for {name} in {year} instead of what {book} has",
    "for {name}, what {book} shows in {year} is replaced by {value} ({unit})",
    "{book} has {year} of {name} otherwise than the returns, which give {value} ({unit})",
    "{name} closed {year} at {value} ({unit}), whatever {book} says",
    "we have recounted {name} for {year}: {value} ({unit}) is what belongs in {book}",
    "{book} should carry {value} ({unit}) where it now has the sales of {name} in {year}",
    "the sales of {name} in {year} come to {value} ({unit}), which {book} does not show yet",
    "in {book}, read {value} ({unit}) for {year} in the column of {name}",
    "after the late returns, {year} stands at {value} ({unit}) for {name}, and {book} is out of date there",
    "{value} ({unit}) is the right amount for {name} in {year}; the one in {book} counted some shops twice",
    "whoever uses {book} should take {value} ({unit}) as the figure of {year} for {name}",
    "as to {name}, {book} has an old number for {year}, and the new one is {value} ({unit})",
    "our colleagues in statistics put {name} at {value} ({unit}) for {year}, and {book} has to follow",
)
_WITHDRAWN = (
    "what we wrote about {name} in {year} is withdrawn, and {book} was right after all",
    "our correction of {name} for {year} no longer holds: {book} stands as it is",
    "please go back to the figure that {book} has for {name} in {year}, since our correction was mistaken",
    "we take back what we said about {year} of {name}, so {book} counts again",
    "there was nothing wrong with {name} in {year}; leave {book} as it was before our memo",
    "for {name} in {year} our correction did not stand up, and {book} keeps its figure",
    "forget our amendment to {name} ({year}), because the number in {book} has been confirmed",
    "the shops confirm {book} for {name} in {year}, which makes our correction void",
    "{book} has the right sales of {name} in {year}, and our memo on it should be disregarded",
    "the amount we gave for {name} in {year} was another country's; use {book} as it stands",
    "as for {year} and {name}, we were too hasty: {book} needs no change there",
    "we retract the change to {name} in {year} and return to {book}",
)
_REFERRED = (
    "please disregard our memo of {day} on {name} in {year}: {book} was right",
    "our note of {day} about the {year} figure of {name} is withdrawn, and {book} stands",
    "what we sent round on {day} concerning {name} in {year} no longer holds, so keep to {book}",
    "the correction of {name} for {year} that went out on {day} was a mistake; {book} counts again",
    "we retract our memo of {day} as far as {name} in {year} is concerned and return to {book}",
    "{book} needs no change for {name} in {year}, in spite of what our memo of {day} asked for",
)
"""Withdrawals that name the memo beside the year."""
_WEIGHTS = (
    "in the sheet {sheet} the weight of {name} for {group} is now {value}",
    "from now on {value} of {name} goes to {group}, to be read in the sheet {sheet}",
    "please set {name} to {value} for {group} in the sheet {sheet}",
    "the part of {name} that belongs to {group} becomes {value} in the sheet {sheet}",
    "the committee gave {group} a weight of {value} in {name}, which the sheet {sheet} does not have yet",
    "in {sheet}, read {value} where the row {group} meets the column {name}",
    "{value} is the weight with which {name} count for {group}; the sheet {sheet} has an old one",
    "for {group}, the sheet {sheet} should give {name} a weight of {value}",
    "{name} are divided anew, with {value} going to {group} in the sheet {sheet}",
    "the row {group} of the sheet {sheet} has {value} under {name} after the review",
    "from the review of the sheet {sheet}: {name} count {value} for {group}",
    "{name} now count {value} for {group}, and the sheet {sheet} is amended accordingly",
)
_WISHES = (
    "in my view {name} should stand at {value} ({unit}) in {year}, though nobody has decided it",
    "I would put {name} at {value} ({unit}) for {year}; {book} looks wrong to me",
    "if you ask me, {value} ({unit}) is nearer the truth for {name} in {year} than {book}",
    "my own count of {name} for {year} gives {value} ({unit}), which I have sent to the {office}",
    "could somebody look at {name} in {year}? I get {value} ({unit}), not what {book} has",
    "I hear that {name} will be set to {value} ({unit}) for {year}, but that is only what people say",
    "we in sales have always used {value} ({unit}) for {name} in {year} instead of {book}",
    "the trade press had {name} at {value} ({unit}) in {year}, unlike {book}",
    "has the {office} ruled on {name} in {year} yet? The shops say {value} ({unit})",
    "I should like to see {value} ({unit}) in {book} for {name} in {year}",
)
_REASONS = (
    "The difference comes from a chain that reports a month late.",
    "Two wholesalers had sent the same return.",
    "It took three calls to find out.",
    "Exports through the northern depot had been left out.",
    "A column of the old form was read in the wrong currency.",
    "The field team has seen the receipts.",
    "Spare parts had been counted as sales.",
    "We thank the shops that answered twice.",
    "The association of dealers agrees with this.",
    "Nothing else in that part of the sheet is affected.",
    "The auditors looked at it in spring.",
    "A similar case came up two years ago.",
    "The question was put to us by the export desk.",
    "Returns of goods are already taken off.",
    "One importer had changed its financial year.",
    "The printed yearbook will follow in its next edition.",
)
NOTES: Topic = "market_notes"
_TITLES = (
    "{name}", "On {name}", "{name}: a note", "About {name}", "A word on {name}", "{name}, again",
    "Note on {name}", "{name} and the returns", "Returns for {name}", "{name} in the market tables",
    "As to {name}", "{name}, for the file",
)  # fmt: skip
"""Titles say what a memo is about and never what it says."""
_BOOKS = (DATA, f"the sheet {RAW_SHEET} of {DATA}", f"{DATA} ({RAW_SHEET})")

_SENTENCE = 24
"""Tokens of a sentence, about."""


class Wording:
    """Draws sentences and titles, each way in turn before any comes again."""

    def __init__(self, rng: random.Random, office: str) -> None:
        self._rng = rng
        self._office = office
        self._decks: dict[tuple[str, ...], list[str]] = {}

    def figure(self, kind: str, values: Mapping[str, str], *, earlier: str | None = None) -> str:
        """What a memo says about a figure; ``earlier`` is the day of the memo that it may take back by."""
        ways: Sequence[str] = {"withdrawal": _WITHDRAWN, "proposal": _WISHES}.get(kind, _FIGURES)
        if earlier and kind == "withdrawal" and self._rng.random() < 0.4:
            ways = _REFERRED
        book = self._rng.choice(OTHER_FILES if kind == "other_file" else _BOOKS)
        return self._said(ways, {**values, "book": book, "day": earlier or "", "office": self._office})

    def weight(self, values: Mapping[str, str], *, draft: bool = False) -> str:
        """What a memo says about a weight of the methodology, or of the draft that was never adopted."""
        return self._said(_WEIGHTS, {**values, "sheet": f'"{DRAFT_SHEET}"' if draft else METHODOLOGY_SHEET})

    def title(self, prose: Prose, topic: Topic, name: str) -> str:
        """What stands above a memo; on a market, it is about that of the category ``name``."""
        return self._deal(_TITLES).format(name=name) if topic == NOTES else prose.title(topic)

    def text(self, prose: Prose, size: int, topic: Topic, fact: str = "", *, name: str) -> str:
        """A text of about ``size`` tokens; a fact stands somewhere inside one of its paragraphs.

        Notes on a market are about that of the category ``name``.
        """
        matter = f"{name} ~ market" if topic == NOTES else None
        sentences = prose.sentences(topic, max(1, round(size / _SENTENCE)), matter=matter)
        if topic == NOTES and self._rng.random() < 0.6:
            sentences.insert(self._rng.randint(0, len(sentences)), self._deal(_REASONS))
        if fact:
            sentences.insert(self._rng.randint(0, len(sentences)), fact)
        length = self._rng.randint(3, 5)
        return "\n\n".join(
            " ".join(sentences[start : start + length]) for start in range(0, len(sentences), length)
        )

    def _said(self, ways: Sequence[str], values: Mapping[str, str]) -> str:
        said = self._deal(ways).format(**values)
        mark = "" if said.endswith("?") else "."
        return f"{said[0].upper()}{said[1:]}{mark}"

    def _deal(self, ways: Sequence[str]) -> str:
        deck = self._decks.setdefault(tuple(ways), [])
        if not deck:
            deck += self._rng.sample(list(ways), len(ways))
        return deck.pop()
