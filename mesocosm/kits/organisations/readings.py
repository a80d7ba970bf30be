"""Blind readings: what people understood from thread and lists alone, compared with the intended meaning.

A *sheet* has castings of scenes with the lists and what held before, and asks what happened; readers
answer in a few words (codes of the domain). Their answers are kept as they were given, not the truth:
``readings.txt`` beside the scenes, by scene and casting, with a digest of what was read, so that a
reading of a text that has changed since is no reading any more.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from mesocosm.kits.organisations.domains import Domain
from mesocosm.kits.organisations.rehearsal import Rehearsal, rehearse
from mesocosm.kits.organisations.scenes import Scene

_CASTINGS = 3
_OF_AN_EXAM = {"exam", "room", "length"}
_UNREAD = {"when", "notice", "spread", "split", "path", "line"}
"""Fields of a scene that change nothing of what readers see."""


@dataclass(frozen=True)
class ReadingItem:
    """A thread to be read."""

    id: str
    digest: str
    text: str
    meant: str
    """The fact that it was meant to tell; not shown to readers."""
    scene: Scene

    @property
    def code(self) -> str:
        """Code of the item for readers. It reveals neither scene nor story, and changes with the wording."""
        return hashlib.sha256(f"{self.id}\n{self.digest}".encode()).hexdigest()[:8]


def items(domain: Domain, scenes: Iterable[Scene], castings: int = _CASTINGS) -> Iterator[ReadingItem]:
    """Yield castings of all scenes that tell something, each with what held before."""
    for scene in scenes:
        if scene.story.startswith("everyday"):
            continue
        levels = ("referring", "described", "referring")
        wording = scene.model_dump_json(exclude=_UNREAD, fallback=_shown)
        found = list(rehearse(domain, scene, levels, seeds=8))[:castings]
        for number, casting in enumerate(found):
            meant = _meant(casting)
            digest = hashlib.sha256(f"{wording}\n{meant}".encode()).hexdigest()[:10]
            yield ReadingItem(f"{scene.name}.{number}", digest, _thread(casting), meant, scene)


def _shown(value: object) -> str:
    """A condition as it is written."""
    return getattr(value, "text", "")


def _thread(casting: Rehearsal) -> str:
    """Return the thread with a reader's context."""
    lines = [f"({one})" for one in casting.domain.beside(casting.letters, casting.stage)]
    for letter in casting.letters:
        copied = f", cc {letter.cc.full}" if letter.cc else ""
        file = f" [file: {letter.file}]" if letter.file else " [no file]" if letter.channel == "mail" else ""
        me = " = me" if letter.sender is casting.stage.me else ""
        lines.append(
            f"[{letter.at:%a %Y-%m-%d %H:%M}] {letter.channel}: {letter.sender.full} "
            f"({letter.sender.role}{me}) to {letter.to.full}{copied} | {letter.subject}{file}"
        )
        lines.append("  " + letter.body.replace("\n\n", " / ").replace("\n", " / "))
    return "\n".join(lines)


def _meant(casting: Rehearsal) -> str:
    found: list[str] = []
    seen: set[str] = set()
    for letter in casting.letters:
        for telling in letter.tellings:
            event = telling.event
            if event.id in seen:
                continue
            seen.add(event.id)
            said = casting.domain.code(event)
            if said:
                found.append(said)
    return "; ".join(found)


def agrees(meant: str, read: str) -> bool:
    """True if a reading has the intended codes in the same order, ignoring blanks."""
    return _normal(meant) == _normal(read)


def _normal(text: str) -> list[str]:
    """The codes, in small letters; of several people, and of what is set together, the order does not
    matter."""
    parts = [re.sub(r"\s+", " ", part.strip().lower()) for part in text.split(";")]
    found: list[str] = []
    for part in parts:
        if not part or part in ("nothing", "-"):
            continue
        if part.startswith("other "):
            part = "other"  # whose it is does not matter
        *words, last = part.split(" ")
        part = " ".join([*words, "+".join(sorted(last.split("+")))])
        # Time, place and length of an exam are told together, in any order.
        before = found[-1].split(" & ") if found else []
        kinds = {one.split(" ")[0] for one in before}
        if words and words[0] in _OF_AN_EXAM - kinds and kinds and kinds <= _OF_AN_EXAM:
            found[-1] = " & ".join(sorted([*before, part]))
        else:
            found.append(part)
    return found


@dataclass(frozen=True)
class KeptReading:
    """The answers to one thread, by reader."""

    digest: str
    answers: Mapping[str, str]


def read_kept(path: Path) -> dict[str, KeptReading]:
    """Return the readings of a file, by the ids of their items; none where there is no file."""
    if not path.is_file():
        return {}
    data = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    return {
        key: KeptReading(
            str(one["text"]), {name: str(said or "") for name, said in one.items() if name != "text"}
        )
        for key, one in data.items()
    }


def parse_answers(text: str) -> dict[str, str]:
    """Return answers by the codes of their items: lines such as ``3f9a01c7 | in Maya``."""
    found = {}
    for line in text.splitlines():
        key, parted, said = line.partition("|")
        if parted and re.fullmatch(r"\w+", key.strip()):
            found[key.strip()] = said.strip()
    return found


@dataclass(frozen=True)
class Agreement:
    """Agreement of blind readings with the intended meaning."""

    read: int
    agreed: int
    unread: Sequence[str]
    """Items that nobody has read, or not since their text changed."""
    misread: Sequence[tuple[str, str, str]]
    """Item, what was meant, what was read."""

    @property
    def share(self) -> float:
        """The share of the readings that agree."""
        return self.agreed / self.read if self.read else 0.0


def agreement(found: Iterable[ReadingItem], kept: Mapping[str, KeptReading], least: int = 2) -> Agreement:
    """Compare items with the readings that are kept of them."""
    read = agreed = 0
    unread, misread = [], []
    for item in found:
        one = kept.get(item.id)
        if one is None or one.digest != item.digest or len(one.answers) < least:
            unread.append(item.id)
            continue
        for said in one.answers.values():
            read += 1
            if agrees(item.meant, said):
                agreed += 1
            else:
                misread.append((item.id, item.meant, said))
    return Agreement(read, agreed, unread, misread)


def keep(path: Path, found: Iterable[ReadingItem], answers: Mapping[str, Mapping[str, str]]) -> None:
    """Write down the answers of readers (by name, then by the item's code), beside those that still hold.

    An answer to words that have changed since has a code that nothing has any more, and is left out.
    """
    before = read_kept(path)
    data = {}
    for item in found:
        old = before.get(item.id)
        said = dict(old.answers) if old and old.digest == item.digest else {}
        said |= {name: given[item.code] for name, given in answers.items() if item.code in given}
        if said:
            data[item.id] = {"text": item.digest, **said}
    path.write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=110), encoding="utf-8")
