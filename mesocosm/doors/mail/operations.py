"""Arguments and answers of mail operations."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from mesocosm.services.service import Reply

# Sets of message ids, written as IMAP writes them.


def write_ids(ids: Iterable[int]) -> str:
    """Ids in ascending order: ``1:3,7``."""
    runs: list[list[int]] = []
    for key in ids:
        if runs and key == runs[-1][1] + 1:
            runs[-1][1] = key
        else:
            runs.append([key, key])
    return ",".join(f"{first}:{last}" if last > first else f"{first}" for first, last in runs)


def read_ids(text: str) -> list[int]:
    """The ids that ``write_ids`` wrote."""
    ids: list[int] = []
    for run in filter(None, text.split(",")):
        first, _, last = run.partition(":")
        ids.extend(range(int(first), int(last or first) + 1))
    return ids


# Bytes of a message as arguments of an operation.


def source_arguments(source: bytes) -> dict[str, str]:
    """Text where the bytes are text, else base64, so that the journal can hold them."""
    try:
        return {"message": source.decode()}
    except UnicodeDecodeError:
        return {"message_base64": base64.b64encode(source).decode()}


@dataclass(frozen=True)
class MailAnswer(Reply):
    """An answer that the protocol's own server puts into words."""

    repeatable: ClassVar[bool] = False  # its data is the mail server's, which uses it up

    body: bytes = b""
    data: Any = None
    """Data for that server."""
    said: str = ""
    """Text that the client got, as the journal keeps it."""
    revision: int | None = None
    """Number of the last call that changed the service, this one included."""
    previous: int | None = None
    """The same before this call."""

    @property
    def text(self) -> str:
        """The answer as the client sees it."""
        return self.said
