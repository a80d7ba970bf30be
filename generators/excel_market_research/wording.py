"""Wording of memos: a dozen ways for each kind of statement, the same for figures that matter."""

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

# Values, years and days stand between what they are of and where: else the same runs of words came again and
# again, as there are few names and a book has few.
_FIGURES = (
    "for {name}, the figure of {year} is wrong in {book}: {value} ({unit}) is right",
    "please use {value} ({unit}) for {name} in {year} instead of what {book} has",
    "{name} for {year} is replaced in {book} by {value} ({unit})",
    "the returns give {value} ({unit}) for {name} in {year}, other than {book}",
    "{name} closed {year} at {value} ({unit}), whatever {book} says",
    "we have recounted {name} for {year}: {value} ({unit}) belongs in {book}",
    "for {name} in {year}, {book} should carry {value} ({unit})",
    "the sales of {name} in {year} come to {value} ({unit}), unlike in {book}",
    "in {book}, read {value} ({unit}) for {year} in the column of {name}",
    "in {year} {name} stood at {value} ({unit}), and {book} errs",
    "right for {name} in {year} is {value} ({unit}); {book} is mistaken",
    "whoever uses {book} should take {value} ({unit}) as the figure of {year} for {name}",
    "the {year} number of {name} is old; {value} ({unit}) goes into {book}",
    "statistics puts {name} at {value} ({unit}) for {year}, and {book} has to follow",
    "enter {value} ({unit}) under {name} for {year} in {book}",
    "by the returns, {name} reached {value} ({unit}) in {year}, whatever {book} has",
    "{book} is to show {name} at {value} ({unit}) in {year}",
    "{year} brought {value} ({unit}) for {name}, and {book} is wrong there",
)
_WITHDRAWN = (
    "our note on {name} in {year} is withdrawn, and {book} stands",
    "our correction of {name} for {year} no longer holds: {book} stands",
    "go back to {book} for {year} of {name}: we were mistaken",
    "we take back our figure of {name} for {year}, so {book} counts again",
    "for {name} in {year} our correction did not stand up; keep {book}",
    "forget our amendment to {name} ({year}), since {book} is confirmed",
    "{book} is confirmed for {year}: our correction of {name} lapses",
    "{book} was right about {year}; disregard our memo on {name}",
    "we retract the change to {name} in {year} and return to {book}",
    "as for {year} and {name}, we were too hasty: {book} stands",
    "nothing is to be changed in {name} for {year} after all, so keep to {book}",
    "{book} has {name} right for {year}, and our correction is void",
)
_REFERRED = (
    "please disregard our memo of {day} on {name} in {year}: {book} was right",
    "our note of {day} about {name} lapses for {year}, and {book} stands",
    "what we sent round on {day} concerning {name} in {year} no longer holds: keep {book}",
    "the correction of {name} for {year} that went out on {day} was a mistake; keep {book}",
    "we retract our memo of {day} as far as {name} in {year} goes, and return to {book}",
    "{book} needs no change for {year}, and our memo of {day} on {name} lapses",
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
    "a customer has {value} ({unit}) for {name} in {year} in his own books, and not what {book} has",
    "would {value} ({unit}) not be the better figure for {name} in {year}? I have my doubts about {book}",
)
NOTES: Topic = "market_notes"
_TITLES = (
    "{name}", "On {name}", "{name}: a note", "About {name}", "A word on {name}", "{name}, again",
    "Note on {name}", "{name} and the returns", "Returns for {name}", "{name} in the market tables",
    "As to {name}", "{name}, for the file", "Concerning {name}", "{name} in brief", "Remarks on {name}",
    "{name}: a few lines", "The {name} market", "Memo on {name}", "{name}, once more",
    "Market notes: {name}", "{name} and the shops", "{name}: what we heard", "Regarding {name}",
    "{name}, for the record", "More on {name}", "{name} this season",
    "Panel notes, {name}", "{name} and the panel", "To the file: {name}",
)  # fmt: skip
"""Titles say what a memo is about and never what it says."""
_BOOKS = (DATA, f"{RAW_SHEET} of {DATA}", f"{DATA} ({RAW_SHEET})")

_SENTENCE = 22
"""Tokens of a sentence, about."""


class Wording:
    """Draws sentences and titles, each way in turn before any comes again."""

    def __init__(self, rng: random.Random, office: str) -> None:
        self._rng = rng
        self._office = office
        self._decks: dict[tuple[str, ...], list[str]] = {}

    def figure(self, kind: str, values: Mapping[str, str], *, earlier: str | None = None) -> str:
        """Word a memo's statement on a figure; ``earlier`` is the day of a memo that it may withdraw."""
        ways: Sequence[str] = {"withdrawal": _WITHDRAWN, "proposal": _WISHES}.get(kind, _FIGURES)
        if earlier and kind == "withdrawal" and self._rng.random() < 0.4:
            ways = _REFERRED
        book = self._rng.choice(OTHER_FILES if kind == "other_file" else _BOOKS)
        return self._said(ways, {**values, "book": book, "day": earlier or "", "office": self._office})

    def weight(self, values: Mapping[str, str], *, draft: bool = False) -> str:
        """Word a memo's statement on a weight of the methodology, or of the draft that was never adopted."""
        return self._said(_WEIGHTS, {**values, "sheet": f'"{DRAFT_SHEET}"' if draft else METHODOLOGY_SHEET})

    def memo(self, prose: Prose, size: int, topic: Topic, fact: str = "", *, name: str) -> tuple[str, str]:
        """Title and text of a memo about one matter: for notes on a market, that of the category ``name``."""
        matter = f"{name} ~ market" if topic == NOTES else prose.matter(topic)
        text = self._text(prose, size, topic, fact, matter)
        title = self._deal(_TITLES).format(name=name) if topic == NOTES else prose.title(topic, matter=matter)
        return title, text

    def _text(self, prose: Prose, size: int, topic: Topic, fact: str, matter: str) -> str:
        """A text of about ``size`` tokens; a fact stands somewhere inside one of its paragraphs."""
        sentences = prose.sentences(topic, max(1, round(size / _SENTENCE)), matter=matter)
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
