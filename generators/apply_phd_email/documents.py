"""The applicant's documents: in several versions, as drafts, of other people, and those that count."""

from __future__ import annotations

import datetime as dt
import random
import textwrap
from dataclasses import dataclass
from dataclasses import field as having

from mesocosm.generators.apply_phd_email.expected import MATERIALS, PageRef
from mesocosm.generators.apply_phd_email.papers import Field, Papers

_WIDTH = 88
"""Characters of a line: below the width at which the writer of PDF files would wrap it."""
_PRIZES = ("Calder Essay Prize", "Denholm Travel Grant", "Eastmere Tutor Prize", "Glenrock Medal",
           "Harrow Summer Fellowship", "Lindqvist Poster Prize", "Faculty Merit Scholarship")  # fmt: skip

_TESTED = ("Reading", "listening", "speaking", "writing")

AWARDS = ("awards_oldest_first", "awards_newest_first")


@dataclass
class Material:
    """The folder of documents."""

    field: Field
    """The applicant's field of study."""
    pages: dict[str, list[str]] = having(default_factory=dict)
    """Texts of the pages, by path."""
    made: dict[str, dt.datetime] = having(default_factory=dict)
    """When the files were made, by path: on the days that stand in them."""
    chosen: dict[str, tuple[PageRef, ...]] = having(default_factory=dict)
    """The pages that are meant by each kind of document."""
    older: dict[str, str] = having(default_factory=dict)


def day(moment: dt.date) -> str:
    """A date in words."""
    return f"{moment:%B} {moment.day}, {moment.year}"


def draw_material(
    name: str,
    college: str,
    other: str,
    referees: tuple[str, str],
    today: dt.date,
    rng: random.Random,
    *,
    awards: int = 3,
) -> Material:
    """Draw the documents of ``name``; ``other`` is a friend whose papers lie in the same folder."""
    papers = Papers.of(name, college, today, rng)
    made = _Maker(Material(papers.field), papers, today, rng)
    made.versions("cv", "Curriculum vitae", ["cv.pdf", "cv_final.pdf"])
    made.versions("statement", "Statement of purpose", ["statement.pdf", "statement_new.pdf"])
    made.versions("english", "English test certificate", ["english.pdf", "english_2.pdf"], verb="test")
    made.proposal()
    for kind, title, ago in (("bachelor", "Bachelor's", 900), ("master", "Master's", 40)):
        head = [f"{title} transcript of {name}", f"Transcript no. {rng.randint(10_000, 99_999)}, {college}"]
        marks = papers.courses(master=kind == "master")
        made.add(kind, f"transcript_{kind}.pdf", [[*head, *marks]], made.ago(ago, ago + 100))
    numbers = rng.sample((1, 2), 2)
    letters = zip(("first_letter", "second_letter"), numbers, referees, papers.praises(), strict=True)
    for kind, number, referee, praise in letters:
        date = made.ago(10, 60)
        head = [f"Letter of recommendation for {name}", f"Written by {referee}", f"{college}, {day(date)}"]
        made.add(kind, f"recommendation_{number}.pdf", [[*head, praise]], date)
    made.awards(awards)
    # A friend's: newer than the applicant's own, but of somebody else.
    written = today - dt.timedelta(days=3)
    friend = [f"Curriculum vitae of {other}", f"Curriculum vitae: version of {day(written)}"]
    friend += Papers.of(other, college, today, rng).life(written)
    made.add(None, f"cv_{other.split()[-1].lower()}.pdf", [friend], written)
    files = list(made.material.pages.items())
    rng.shuffle(files)
    made.material.pages = dict(files)
    return made.material


@dataclass
class _Maker:
    material: Material
    papers: Papers
    today: dt.date
    rng: random.Random

    def ago(self, least: int, most: int) -> dt.date:
        return self.today - dt.timedelta(days=self.rng.randint(least, most))

    def add(self, kind: str | None, file: str, pages: list[list[str]], date: dt.date) -> str:
        path = f"{MATERIALS}/{file}"
        self.material.pages[path] = [
            "\n".join(part for line in lines for part in textwrap.wrap(line, _WIDTH, break_on_hyphens=False))
            for lines in pages
        ]
        clock = dt.time(
            self.rng.randint(8, 20), self.rng.randint(0, 59), self.rng.randint(0, 59), tzinfo=dt.UTC
        )
        self.material.made[path] = dt.datetime.combine(date, clock)
        if kind:
            self.material.chosen[kind] = tuple(PageRef(path=path, index=i) for i in range(len(pages)))
        return path

    def versions(self, kind: str, title: str, files: list[str], *, verb: str = "version") -> None:
        """An older and a newer version; the names of the files do not say which is which."""
        self.rng.shuffle(files)
        paths = []
        for file, date, key in zip(files, (self.ago(300, 700), self.ago(30, 200)), (None, kind), strict=True):
            head = [f"{title} of {self.papers.name}", f"{title}: {verb} of {day(date)}"]
            match kind:
                case "cv":
                    head += self.papers.life(date)
                case "statement":
                    head.append(self.papers.purpose())
                case _:
                    parts = {part: self.rng.randint(22, 29) for part in _TESTED}
                    head.append(f"Score: {sum(parts.values())} of 120")
                    head.append(", ".join(f"{part} {points}" for part, points in parts.items()))
            more = [[f"{title}, page 2", *self.papers.skills()]] if kind == "cv" and key else []
            paths.append(self.add(key, file, [head, *more], date))
        self.material.older[paths[1]] = paths[0]

    def proposal(self) -> None:
        date = self.ago(40, 90)
        title = f"Research proposal of {self.papers.name}"
        first = [title, f"Research proposal: version of {day(date)}", "Summary", self.papers.summary()]
        second = ["Research proposal, page 2", "Work plan", *self.papers.work_plan()]
        self.add("proposal", "research_proposal.pdf", [first, second], date)
        self.material.chosen["proposal_summary"] = self.material.chosen["proposal"][:1]
        # Newer than the proposal, but marked as a draft.
        draft = self.ago(4, 20)
        marked = [title, f"Research proposal: DRAFT of {day(draft)}", *self.papers.work_plan()[:1]]
        self.add(None, "proposal_v2.pdf", [marked], draft)

    def awards(self, number: int) -> None:
        """One page each; the names of the files are not in the order of the dates."""
        years = [self.today.year - ago for ago in (5, 3, 2)[:number]]
        dates = [dt.date(year, self.rng.randint(1, 12), self.rng.randint(1, 28)) for year in years]
        orders = (("c", "a", "b"), ("b", "c", "a")) if number > 2 else (("b", "a"),)
        letters = self.rng.choice(orders)
        prizes = self.rng.sample(_PRIZES, len(dates))
        refs = []
        for date, letter, prize in zip(dates, letters, prizes, strict=True):
            lines = ["Award certificate", f"{prize} for {self.papers.name}", f"Awarded on {day(date)}"]
            refs.append(PageRef(path=self.add(None, f"certificate_{letter}.pdf", [lines], date), index=0))
        self.material.chosen[AWARDS[0]] = tuple(refs)
        self.material.chosen[AWARDS[1]] = tuple(reversed(refs))
