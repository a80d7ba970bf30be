"""The applicant's documents: in several versions, as drafts, of other people, and those that count."""

from __future__ import annotations

import datetime as dt
import random
import textwrap
from dataclasses import dataclass, field

from mesocosm.generators.apply_phd_email.expected import MATERIALS, PageRef
from mesocosm.kits.prose import Prose, Topic

_WIDTH = 88
"""Characters of a line: below the width at which the writer of PDF files would wrap it."""
_PRIZES = ("Calder Essay Prize", "Denholm Travel Grant", "Eastmere Teaching Award", "Glenrock Medal",
           "Harrow Summer Fellowship", "Lindqvist Poster Prize", "Faculty Merit Scholarship")  # fmt: skip

AWARDS = ("awards_oldest_first", "awards_newest_first")


@dataclass
class Material:
    """The folder of documents."""

    pages: dict[str, list[str]] = field(default_factory=dict)
    """Texts of the pages, by path."""
    chosen: dict[str, tuple[PageRef, ...]] = field(default_factory=dict)
    """The pages that are meant by each kind of document."""
    older: dict[str, str] = field(default_factory=dict)


def day(moment: dt.date) -> str:
    """A date in words."""
    return f"{moment:%B} {moment.day}, {moment.year}"


def draw_material(
    name: str, other: str, referees: tuple[str, str], today: dt.date, rng: random.Random, prose: Prose
) -> Material:
    """Draw the documents of ``name``; ``other`` is a friend whose papers lie in the same folder."""
    made = _Maker(Material(), name, today, rng, prose)
    made.versions("cv", "Curriculum vitae", ["cv.pdf", "cv_final.pdf"], "research", pages=2)
    made.versions("statement", "Statement of purpose", ["statement.pdf", "statement_new.pdf"], "research")
    made.versions("english", "English test certificate", ["english.pdf", "english_2.pdf"], None, verb="test")
    made.proposal()
    for kind, title in (("bachelor", "Bachelor's"), ("master", "Master's")):
        made.add(kind, f"transcript_{kind}.pdf", [[f"{title} transcript of {name}", made.grades()]])
    numbers = rng.sample((1, 2), 2)
    for kind, number, referee in zip(("first_letter", "second_letter"), numbers, referees, strict=True):
        lines = [f"Letter of recommendation for {name}", f"Written by {referee}", made.sentence("research")]
        made.add(kind, f"recommendation_{number}.pdf", [lines])
    made.awards()
    # A friend's: newer than the applicant's own, but of somebody else.
    friend = [
        f"Curriculum vitae of {other}",
        f"Curriculum vitae: version of {day(today - dt.timedelta(days=3))}",
    ]
    made.add(None, f"cv_{other.split()[-1].lower()}.pdf", [friend])
    files = list(made.material.pages.items())
    rng.shuffle(files)
    made.material.pages = dict(files)
    return made.material


@dataclass
class _Maker:
    material: Material
    name: str
    today: dt.date
    rng: random.Random
    prose: Prose

    def add(self, kind: str | None, file: str, pages: list[list[str]]) -> str:
        path = f"{MATERIALS}/{file}"
        self.material.pages[path] = [
            "\n".join(part for line in lines for part in textwrap.wrap(line, _WIDTH, break_on_hyphens=False))
            for lines in pages
        ]
        if kind:
            self.material.chosen[kind] = tuple(PageRef(path=path, index=i) for i in range(len(pages)))
        return path

    def sentence(self, topic: Topic) -> str:
        text = self.prose.sentence(topic)
        return text.encode("cp1252", "ignore").decode("cp1252")

    def grades(self) -> str:
        marks = (f"{mark}.{self.rng.randint(0, 9)}" for mark in (1, 2, 1))
        return f"Number {self.rng.randint(10_000, 99_999)}, grades " + ", ".join(marks)

    def versions(
        self, kind: str, title: str, files: list[str], topic: Topic | None, *, pages: int = 1,
        verb: str = "version",
    ) -> None:  # fmt: skip
        """An older and a newer version; the names of the files do not say which is which."""
        self.rng.shuffle(files)
        old = self.today - dt.timedelta(days=self.rng.randint(300, 700))
        new = self.today - dt.timedelta(days=self.rng.randint(30, 200))
        paths = []
        for file, date, key in zip(files, (old, new), (None, kind), strict=True):
            head = [f"{title} of {self.name}", f"{title}: {verb} of {day(date)}"]
            head.append(self.sentence(topic) if topic else f"Score: {self.rng.randint(92, 118)} of 120")
            count = pages if key else 1
            more = [[f"{title}, page {n}", self.sentence("conference")] for n in range(2, count + 1)]
            paths.append(self.add(key, file, [head, *more]))
        self.material.older[paths[1]] = paths[0]

    def proposal(self) -> None:
        date = self.today - dt.timedelta(days=self.rng.randint(40, 90))
        title = f"Research proposal of {self.name}"
        self.add(
            "proposal",
            "research_proposal.pdf",
            [
                [title, f"Research proposal: version of {day(date)}", "Summary", self.sentence("research")],
                ["Research proposal, page 2", "Work plan", self.sentence("project_work")],
            ],
        )
        self.material.chosen["proposal_summary"] = self.material.chosen["proposal"][:1]
        # Newer than the proposal, but marked as a draft.
        draft = self.today - dt.timedelta(days=self.rng.randint(4, 20))
        self.add(None, "proposal_v2.pdf", [[title, f"Research proposal: DRAFT of {day(draft)}"]])

    def awards(self) -> None:
        """One page each; the names of the files are not in the order of the dates."""
        dates = [dt.date(self.today.year - years, self.rng.randint(1, 12), 5) for years in (5, 3, 2)]
        letters = ["c", "a", "b"] if self.rng.random() < 0.5 else ["b", "c", "a"]
        prizes = self.rng.sample(_PRIZES, len(dates))
        refs = []
        for date, letter, prize in zip(dates, letters, prizes, strict=True):
            lines = ["Award certificate", f"{prize} for {self.name}", f"Awarded on {day(date)}"]
            refs.append(PageRef(path=self.add(None, f"certificate_{letter}.pdf", [lines]), index=0))
        self.material.chosen[AWARDS[0]] = tuple(refs)
        self.material.chosen[AWARDS[1]] = tuple(reversed(refs))
