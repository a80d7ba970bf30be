"""Judges the material that was sent, and that nothing else was touched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mesocosm.checkers.apply_phd_email.mutants import MUTANTS
from mesocosm.errors import Refusal
from mesocosm.families.verdict import Check, finding, told
from mesocosm.generators.apply_phd_email.expected import OUTBOX, Expected, File
from mesocosm.kits.damage import touched_files, touched_tables
from mesocosm.kits.outbox import Outbox
from mesocosm.servers.pdf_tools.store.documents import Document
from mesocosm.services.world import World

__all__ = ["MUTANTS", "check"]

_MOST_PAGES = 200
_LARGEST = 2_000_000
"""Bytes of a file. One that is larger, or has other than the wanted number of pages, is not read: the largest
that is asked for has some hundred thousand."""


def check(world: World, expected: Expected) -> list[Check]:
    """One finding per rule of the prompt."""
    changes = world.changes()
    outbox = Outbox(world, changes, expected.applicant)
    wanted = {request.address.lower(): request for request in expected.requests}
    matched = [
        _Sent(mail.recipients[0], dict(mail.files), wanted[mail.recipients[0]].files)
        for mail in outbox.letters
        if mail.recipients and mail.recipients[0] in wanted
    ]
    nothing = [] if matched else ["nothing was sent"]
    return [
        *outbox.recipients({address: request.professor for address, request in wanted.items()}),
        outbox.subjects(expected.subject),
        finding("attachment_names", list(_names(matched)) or nothing),
        finding("attachment_pages", list(_pages(matched, expected)) or nothing),
        finding("mailbox", outbox.damage(with_files=True)),
        finding("memory", touched_tables(world, changes, "memory")),
        finding("files", touched_files(changes, folder=OUTBOX)),
    ]


@dataclass(frozen=True)
class _Sent:
    """A mail to somebody who asked, and what they asked for."""

    to: str
    files: dict[str, bytes]
    wanted: tuple[File, ...]


def _names(matched: Iterable[_Sent]) -> Iterable[str]:
    for mail in matched:
        names = {file.name for file in mail.wanted}
        if missing := sorted(names - set(mail.files)):
            yield f"{', '.join(missing)} missing in the mail to {mail.to}"
        if extra := sorted(set(mail.files) - names):
            yield f"{', '.join(extra)} not asked for by {mail.to}"


def _pages(matched: Iterable[_Sent], expected: Expected) -> Iterable[str]:
    for mail in matched:
        for file in mail.wanted:
            if file.name not in mail.files:
                # Nothing that could be right: the finding must not pass for want of the file.
                yield f"{file.name} is not in the mail to {mail.to}"
                continue
            texts = tuple(_letters(expected.documents[ref.path][ref.index]) for ref in file.pages)
            found = _texts(mail.files[file.name], len(texts))
            if found is None:
                yield f"{file.name} to {mail.to} is no readable PDF file"
            elif found != texts:
                yield f"{file.name} to {mail.to}: {_difference(found, texts)}"


@lru_cache(maxsize=128)
def _texts(data: bytes, pages: int) -> tuple[str, ...] | None:
    """The texts of a file's pages, empty ones if there are not so many; ``None`` for what cannot be read.

    Kept, because forks of an episode that are judged one after the other have nearly the same files.
    """
    if len(data) > _LARGEST:
        return None
    try:
        document = Document(data, "attachment")
        if document.pages != pages:
            return ("",) * min(document.pages, _MOST_PAGES)
        return tuple(_letters(document.text(page)) for page in range(1, pages + 1))
    except Refusal:
        return None


def _letters(text: str) -> str:
    """A text without its blanks and line breaks, which extraction may set differently."""
    return "".join(text.split())


def _difference(found: Sequence[str], texts: Sequence[str]) -> str:
    if len(found) != len(texts):
        return f"pages: {told(len(found), len(texts))}"
    return f"page {next(i for i, pair in enumerate(zip(found, texts, strict=True), 1) if pair[0] != pair[1])}"
