"""Knowledge of the family's checker."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from mesocosm.families import family

MATERIALS = "materials"
"""The folder with the applicant's documents."""
OUTBOX = "outbox"
"""The folder for the files that are made from them."""

ASKING = ("asked", "corrected", "two_mails", "assistant", "last_day", "extended", "reopened")
"""Fates of professors who get material."""
OTHERS = (
    "expired", "withdrawn", "declined", "namesake", "auto_reply", "research_assistant", "undecided",
)  # fmt: skip
"""Fates of professors who get nothing."""


class PageRef(BaseModel):
    """A page of one of the documents."""

    model_config = ConfigDict(frozen=True)

    path: str
    index: int
    """From 0."""


class File(BaseModel):
    """A file to attach: its name, and its pages in order."""

    model_config = ConfigDict(frozen=True)

    name: str
    pages: tuple[PageRef, ...]


class Request(BaseModel):
    """Request of one professor."""

    model_config = ConfigDict(frozen=True)

    professor: str
    own_address: str
    """The professor's; ``address`` may be an assistant's."""
    address: str
    fate: str
    """One of ``ASKING``."""
    files: tuple[File, ...]
    superseded: tuple[File, ...] = ()
    """Files that an earlier mail asked for; a later one replaced them."""


class Silent(BaseModel):
    """A professor who is to get nothing."""

    model_config = ConfigDict(frozen=True)

    name: str
    address: str
    fate: str
    """One of ``OTHERS``."""


class Expected(family.Expected):
    """Mails to send, with their contents."""

    applicant: str
    """Address of the account that sends."""
    subject: str
    outdated_number: str
    """The applicant number of an earlier round."""
    number: str
    requests: list[Request]
    others: list[Silent]
    documents: dict[str, list[str]]
    """Texts of the pages of every file in the folder, by path."""
    older: dict[str, str]
    """Of documents in several versions: path of the one that counts to one that does not."""
