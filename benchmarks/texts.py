"""Quality of the texts of worlds: repetition of wordings, compressibility, and complaints of a checker.

    python benchmarks/texts.py [TASK...] [--length 256k] [--seed 0] [--words 75000]

Free text is what people would have written: the values of JSON results that are longer than a few words,
and text results; not the JSON around them, nor what holds evidence, nor listings of files, which a tool
makes. Each text is read once: HTML as a reader sees it, and not again beside the same text without marks;
no beginning of a text that a list shows; no quoted line ("> ") of a mail that was read itself, for a mail
program repeats it, and nobody writes it twice (a quotation of what was not read counts).

The checker is Harper (``harper-py``, British English), which runs offline; what it says of names, long
sentences and taste is left out. Slips are what no checker is needed for: blanks too many or missing,
sentences that start small, marks of templates. 75,000 words, about 100,000 tokens, are read. Prints a line
for each task and, with ``--show``, every complaint; with ``--repeats N``, what is repeated most. Exits with 1
if a task has a slip, more than one complaint in 1,000 words, or more than 1 % of its shingles twice.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from mesocosm.families.family import Family, family_names, load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.length import Survey
from mesocosm.families.quantities import parse_length
from mesocosm.kits.html_text import visible_text
from mesocosm.kits.prose.courses import catalogue
from mesocosm.services.calling import decode
from mesocosm.services.service import Image
from mesocosm.services.world import World

SHORTEST = 80
"""Characters from which a value counts as free text."""
_SHINGLE = 8
_NOT_WRITTEN = re.compile(r"(?:[\w ]+,){3,}[\w ]+\n|\[(?:FILE|DIR)\] ")
"""How a file of values between commas begins, and a listing of files: nobody writes in either."""
WITHOUT_PROSE = frozenset(
    {"gridworld", "listworld", "treeworld", "puzzle", "puzzle_history", "longproc"}
    | {"nhl_b2b_analysis", "payable_invoice_checker"}
)
"""Families whose worlds are values, records and forms (invoices of the same suppliers): hardly a letter."""
_OF_TASTE = frozenset({"Readability", "Style", "Formatting", "Regionalism", "Enhancement", "Redundancy"})
_UNJUST = (
    "closed compound", "should probably be written as", "position inside a building", "canonical spelling",
    "compound adjective", "preposition here", "between this modal verb", "phrasal verb", "negative word",
    "mass noun", "base form", "Months should", "find out", "indefinite article", "repeated verb form",
    "“knew”", "possessive version", "possessive pronoun `its`",
    "complete the infinitive", "For a duration", "canonical dictionary",
    "prefix that can be joined", "one character out of place", "title case in headings",
)  # fmt: skip
"""Messages of rules that are wrong about right English here: compounds that British dictionaries write as one
word, "in the first floor lounge", names that are also words, codes that begin with a digit."""
_KNOWN = frozenset(
    """
    annexe aider co-author co-authors interferometry wifi plasmids etc recode recoded recoding ttl dreamed
    blacksmiths mindedly anonymised flexitime lakeland matt undyed lookbook uncoated toml src sql rs ini
    ligand ligands
    gamelan matchings sherds implicature mbH s palletiser palletisers pipefitter pipefitters toolroom bagger
    bn mn timetabler timetablers
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Right words that its dictionary lacks."""


@cache
def _known() -> frozenset[str]:
    """These, and what courses are about: subjects have names, too."""
    topics = (topic for entry in catalogue() for topic in entry.topics)
    return _KNOWN | {word.strip(",") for topic in topics for word in topic.lower().split()}


COMPLAINTS = 1
"""Complaints in 1,000 words that a world may have at most."""
REPEATED = 0.01
"""The share of its runs of eight words that may occur more than once."""
SLIPS = {
    "blanks": re.compile(r"(?<=\S)  +(?=\S)|[ \t]+$|(?<=\S) [,.;:?!](?![\w.-])", re.MULTILINE),
    "no blank": re.compile(r"(?<!&amp)(?<=[a-z]{3})(?:[,;?!][A-Za-z]|\.[A-Z][a-z]+ )"),
    "starts small": re.compile(r"(?<![A-Z.])\b[a-z]{3,}[.?!] [a-z]+ [a-z]"),
    "template": re.compile(
        r"\{[{%#] | [}%#]\}|(?<!\{)\{[a-z_]\w*\}(?!\})|\[\w[^\]\n]*\|[^\]\n]*\]|<[a-z]+\|[a-z|]+>|~ | ~"
    ),
}
"""Patterns of mistakes, whoever wrote them."""


_PROGRAM = re.compile(r"^(?:def|import|from|class) [\w. ]+", re.MULTILINE)
_SAID_IN_CODE = re.compile(r'"""((?:.|\n)+?)"""|# (.+)')
_BESIDE_A_VARIABLE = re.compile(r"(?:^|\W)v\d+\W")
"""LORE's texts have values of variables among their sentences: "We note ylge for v32186"."""


@dataclass
class _Reading(Survey):
    """A survey that keeps its free texts, each once."""

    texts: dict[str, None] = field(default_factory=dict)

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
        """Make one call and keep what people wrote."""
        blocks = super().look(service, tool, arguments)
        for block in blocks:
            if isinstance(block, str):
                self.texts.update(dict.fromkeys(free_texts(decode(block))))
        return blocks

    def once(self, without: Sequence[str] = ()) -> list[str]:
        """The free texts as they are read, each once; none of those that hold something of ``without``."""
        shown = {text: _shown(text) for text in self.texts}
        lines = {line.strip() for text in shown.values() for line in text.split("\n")}
        written = {text: _without_quotations(seen, lines) for text, seen in shown.items()}
        kept = set(_without_previews(list(dict.fromkeys(written.values()))))
        return list(
            dict.fromkeys(
                said
                for text, said in written.items()
                if said in kept and not any(piece in text for piece in without)
            )
        )


def _shown(text: str) -> str:
    """A text as a reader sees it: HTML without its marks, its blocks as paragraphs."""
    return re.sub(r"\s{2,}", "\n\n", visible_text(text)).strip() if "</p>" in text else text


def _without_quotations(text: str, lines: Container[str]) -> str:
    """A text without the quoted lines ("> ") that were read where they were written."""
    kept = [line for line in text.split("\n") if not (line[:1] == ">" and line.lstrip("> ").strip() in lines)]
    return "\n".join(kept)


def _without_previews(texts: list[str]) -> list[str]:
    """Texts of which none is the beginning of another (as lists show it), or another in other layout."""
    whole = {text: " ".join(text.split()) for text in texts}
    found: set[str] = set()
    after = ""
    for text in sorted(texts, key=whole.__getitem__, reverse=True):
        # What begins with a text is sorted right after it, so right before it here.
        if not after.startswith(whole[text].removesuffix("…").removesuffix("...").rstrip()):
            found.add(text)
            after = whole[text]
    return [text for text in texts if text in found]


def free_texts(value: Any) -> Iterator[str]:
    """Yield the human-written texts in a result."""
    if isinstance(value, dict):
        for item in value.values():
            yield from free_texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from free_texts(item)
    elif isinstance(value, str) and len(value) >= SHORTEST and " " in value and not _NOT_WRITTEN.match(value):
        yield value


def texts_of(family: Family, length: int, seed: int) -> list[str]:
    """The free texts of an instance that hold no evidence."""
    with tempfile.TemporaryDirectory(prefix="mesocosm-texts-") as folder:
        built = build_instance(family, seed, Path(folder) / "x", target=length)
        with World(built.path / "world", read_only=True) as world:
            reading = _Reading(world)
            family.survey(reading, built.expected)
    evidence = [piece.contains for piece in built.expected.evidence]
    return reading.once(evidence)


def repeated(texts: Iterable[str]) -> float:
    """The share of shingles of eight words that occur more than once."""
    words = [word for text in texts for word in text.lower().split()]
    shingles = Counter(tuple(words[at : at + _SHINGLE]) for at in range(len(words) - _SHINGLE + 1))
    return sum(number for number in shingles.values() if number > 1) / max(sum(shingles.values()), 1)


def repeats(texts: Iterable[str]) -> list[tuple[int, str]]:
    """The longest runs of words whose shingles all occur more than once, with how often; costliest first."""
    words = [word for text in texts for word in text.lower().split()]
    shingles = [tuple(words[at : at + _SHINGLE]) for at in range(len(words) - _SHINGLE + 1)]
    number = Counter(shingles)
    runs = Counter[str]()
    for many, run in groupby(range(len(shingles)), key=lambda at: number[shingles[at]] > 1):
        if many:
            places = list(run)
            runs[" ".join(words[places[0] : places[-1] + _SHINGLE])] += 1
    costs = sorted(
        ((times * (run.count(" ") + 2 - _SHINGLE), run) for run, times in runs.items()), reverse=True
    )
    return [(runs[run], run) for _, run in costs]


def shrunk(texts: Iterable[str]) -> float:
    """To which share of its size zlib brings the text."""
    together = "\n".join(texts).encode()
    return len(zlib.compress(together, 9)) / max(len(together), 1)


def slips(texts: Iterable[str]) -> list[str]:
    """List errors in the texts as such, with their places."""
    found = []
    for text in texts:
        for kind, pattern in SLIPS.items():
            for slip in pattern.finditer(text):
                around = text[max(0, slip.start() - 40) : slip.end() + 40].replace("\n", "↵")
                found.append(f"{kind}: …{around}…")
    return found


def first_words(texts: Sequence[str], words: int) -> list[str]:
    """The first texts that have so many words."""
    read, found = 0, []
    for text in texts:
        if read >= words:
            break
        read += len(text.split())
        found.append(text)
    return found


@cache
def _linter(american: bool) -> Any:
    from harper import Dialect, Linter

    return Linter(Dialect.AMERICAN if american else Dialect.BRITISH)


def _said(text: str) -> str:
    """A text, or what a program has in docstrings and comments."""
    if not _PROGRAM.search(text):
        return text
    return "\n\n".join(whole or line for whole, line in _SAID_IN_CODE.findall(text))


def complaints(texts: Sequence[str], *, american: bool = False) -> list[str]:
    """List the checker's complaints about texts, which are British unless marked American."""
    said = []
    for given in texts:
        text = _said(given)
        for lint in _linter(american).lint(text):
            at = lint.span
            may_be_name = lint.lint_kind == "Spelling" or "offensive" in lint.message  # "Dick Östberg"
            name = may_be_name and not lint.problem_text[:1].islower()
            code = any(letter in text[max(0, at.start - 1) : at.end + 1] for letter in "_/\\.@0123456789")
            code |= bool(_BESIDE_A_VARIABLE.search(text[max(0, at.start - 24) : at.end + 14]))
            if (
                lint.lint_kind in _OF_TASTE
                or name
                or code
                or lint.problem_text.lower() in _known()
                or any(part in lint.message for part in _UNJUST)
            ):
                continue
            around = text[max(0, at.start - 40) : at.end + 40].replace("\n", " ")
            said.append(f"{lint.lint_kind}: …{around}…: {lint.message}")
    return said


def main() -> int:
    """Read the tasks and print a table; 1 if one of them reads worse than it should."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    parser.add_argument("--length", type=parse_length, default=256_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--words", type=int, default=75_000)
    parser.add_argument("--show", action="store_true", help="print every complaint")
    parser.add_argument("--repeats", type=int, default=0, metavar="N", help="print the N costliest repeats")
    given = parser.parse_args()
    families = [load_family(task) for task in given.tasks or family_names()]
    worse = False
    print(f"{'task':<30}{'words read':>12}{'repeated':>9}{'zlib':>7}{'slips':>7}{'complaints / 1,000':>20}")
    for family in families:
        if family.task.family in WITHOUT_PROSE:
            continue
        texts = first_words(texts_of(family, given.length, given.seed), given.words)
        read = sum(len(text.split()) for text in texts)
        american = family.task.domain == "campus"
        wrong, twice = slips(texts), repeated(texts)
        said = complaints(texts, american=american)
        rate = 1000 * len(said) / max(read, 1)
        worse |= bool(wrong) or rate > COMPLAINTS or twice > REPEATED
        print(
            f"{family.name:<30}{read:>12,}{twice:>9.2%}{shrunk(texts):>7.0%}{len(wrong):>7}{rate:>20.2f}",
            flush=True,
        )
        for times, run in repeats(texts)[: given.repeats]:
            print(f"  {times} x {run}")
        if given.show:
            print(*(f"  {line}" for line in [*wrong, *said]), sep="\n")
    return int(worse)


if __name__ == "__main__":
    sys.exit(main())
