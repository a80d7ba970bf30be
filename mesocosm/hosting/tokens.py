"""Tokens of the control plane: the server's own, and those of a file, which have names and quotas.

::

    anna:
      sha256: 2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b
      episodes: 500         # at a time
      creations: 2000/h     # within any s, min, h or day
      bytes: 20GiB          # on this machine's disk
      scopes: [serve]       # what it opens of the control plane; without this, all

``serve``: making, changing, listing and removing episodes; ``grade``: verdicts and what is expected;
``read``: the catalogue, what was counted, and episodes whose id one knows. A quota limits what whoever holds
a token makes.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Literal

import anyio
import anyio.to_thread
import yaml
from pydantic import BaseModel, BeforeValidator, ByteSize, ConfigDict, Field, TypeAdapter, ValidationError

from mesocosm.errors import UsageError
from mesocosm.hosting.background import Background

OWN = "admin"
"""Name of the server's own token, which has no quota."""
Scope = Literal["serve", "grade", "read"]
ALL: tuple[Scope, ...] = ("serve", "grade", "read")
_SECONDS = {"s": 1, "min": 60, "h": 3600, "day": 86_400}
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"


class Rate(BaseModel):
    """A number of creations per period."""

    model_config = ConfigDict(frozen=True)

    count: int = Field(ge=1)
    seconds: int

    def __str__(self) -> str:
        unit = next(name for name, seconds in _SECONDS.items() if seconds == self.seconds)
        return f"{self.count:,}/{unit}"


def _read_rate(value: object) -> object:
    found = re.fullmatch(r"(\d+)\s*/\s*(s|min|h|day)", str(value).strip())
    if not found:
        raise ValueError("write COUNT/UNIT with s, min, h or day, as in 2000/h")
    return {"count": int(found[1]), "seconds": _SECONDS[found[2]]}


class Quota(BaseModel):
    """A token, by its digest, and what its holders may make."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=f"^{_NAME}$")
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    """Of the token, as ``printf %s TOKEN | sha256sum`` prints it."""
    episodes: int | None = Field(default=None, ge=0)
    """At a time."""
    creations: Annotated[Rate, BeforeValidator(_read_rate)] | None = None
    bytes: ByteSize | None = None
    """Maximum size of the episodes on disk."""
    scopes: tuple[Scope, ...] = ALL
    """Scopes of the token."""


def read_tokens(path: Path) -> list[Quota]:
    """Read the tokens of a file; ``UsageError`` locates and explains an error."""
    try:
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
        if not isinstance(given, dict) or not all(isinstance(quota, dict) for quota in given.values()):
            raise UsageError(f"--tokens {path}: write NAME: and below it sha256: and what is limited")
        quotas = TypeAdapter(list[Quota]).validate_python(
            [{"name": str(name), **quota} for name, quota in given.items()]
        )
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"--tokens {path}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        number, *at = first["loc"]
        name = list(given)[int(number)]
        raise UsageError(f"--tokens {path}: {'.'.join([str(name), *map(str, at)])}: {first['msg']}") from None
    if len({quota.sha256 for quota in quotas}) < len(quotas) or OWN in given:
        raise UsageError(f"--tokens {path}: a token has one name, and none is named {OWN}")
    return quotas


class Keys:
    """Tokens that open the control plane.

    Args:
        own: The server's own token.
        others: Those of the file.
    """

    def __init__(self, own: str, others: Iterable[Quota] = ()) -> None:
        self._own = own
        self.take(list(others))

    def take(self, others: Sequence[Quota]) -> None:
        """From now on these open it, besides the server's own."""
        self._others = {quota.sha256: quota.name for quota in others}
        self._scopes: dict[str, tuple[Scope, ...]] = {quota.name: quota.scopes for quota in others}

    def may(self, holder: str, scope: Scope) -> bool:
        """True if a token has a scope."""
        return holder == OWN or scope in self._scopes[holder]

    def holder(self, authorization: str | None) -> str | None:
        """The name of the token that a request's header has; ``None`` where it is none of them."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        raw = token.strip().encode("utf-8", "surrogateescape")
        if secrets.compare_digest(raw, self._own.encode()):
            return OWN
        return self._others.get(hashlib.sha256(raw).hexdigest())


class TokenFile:
    """A file of tokens, which may change while it is used."""

    LOOKED_EVERY = 2.0
    """Seconds."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = self._mark()

    def _mark(self) -> tuple[int, int, int]:
        found = self._path.stat()
        return found.st_mtime_ns, found.st_size, found.st_ino

    def changed(self) -> list[Quota] | None:
        """Return the new content, or ``None`` if the file is unchanged. Raises ``UsageError`` if it is
        invalid.
        """
        try:
            mark = self._mark()
            if mark == self._seen:
                return None
            said = read_tokens(self._path)
        except OSError as error:
            raise UsageError(f"--tokens {self._path}: {error.strerror}") from None
        self._seen = mark
        return said


def scope_of(method: str, path: str) -> Scope:
    """Return the scope that a request needs."""
    if path.endswith(("/grade", "/truth", "/archive")):
        return "grade"
    # Ids open episodes, so to have them listed is to serve.
    return "read" if method in ("GET", "HEAD") and path != "/episodes" else "serve"


@asynccontextmanager
async def following(
    path: Path | None, take: Callable[[Sequence[Quota]], None], background: Background
) -> AsyncIterator[None]:
    """Apply a token file whenever it changes. An invalid one changes nothing and is reported as trouble."""
    if path is None:
        yield
        return
    file = TokenFile(path)

    async def look() -> None:
        said = await anyio.to_thread.run_sync(file.changed)
        if said is not None:
            take(said)

    async with anyio.create_task_group() as group:
        group.start_soon(background.every, TokenFile.LOOKED_EVERY, "the file of tokens", look)
        yield
        group.cancel_scope.cancel()
