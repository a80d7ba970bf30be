"""Sealed suites: instances with seeds derived from a secret, and the data published before and after.

Before: a manifest with a digest of every instance. It says that they are there, and nothing about them.
After: the suite's secret, from which anybody makes the seeds, builds the instances again and compares the
digests. A key makes any number of suites, each by its name; to reveal one says nothing about the others.
"""

# Seeds are derived from a key, so a private suite needs no private data (decision 078).

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

import mesocosm
from mesocosm.errors import UsageError
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance, fingerprint, memory_for
from mesocosm.families.suite import SuiteInstance
from mesocosm.families.workers.workers import Workers

_KEY_BYTES = 32


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid")


D = TypeVar("D", bound=_Document)


class SealedInstance(_Document):
    """An instance of which only its identity is published."""

    task: str
    version: int
    length: int
    number: int = Field(ge=0)
    digest: str
    """SHA-256 over all its files, in hexadecimal digits."""


class Sealed(_Document):
    """Manifest published in advance."""

    suite: str
    mesocosm: str
    """The version of the program that built the instances."""
    commitment: str
    """SHA-256 of the suite's secret."""
    instances: list[SealedInstance] = Field(min_length=1)

    @field_validator("instances")
    @classmethod
    def _each_once(cls, instances: list[SealedInstance]) -> list[SealedInstance]:
        seen = Counter((one.task, one.length, one.number) for one in instances)
        for (task, length, number), times in seen.items():
            if times > 1:
                raise ValueError(f"{task}, length {length}, number {number} is there {times} times")
        return instances

    def check(self, secret: bytes) -> None:
        """``UsageError`` unless this is the secret of this suite."""
        if not hmac.compare_digest(hashlib.sha256(secret).hexdigest(), self.commitment):
            raise UsageError(f"the key, or the secret, is not that of the sealed suite {self.suite!r}")


class Revealed(_Document):
    """Data published afterwards."""

    suite: str
    secret: str = Field(pattern=r"^[0-9a-f]{64}$")


def make_key(path: Path) -> None:
    """Write a new key, which only its owner may read; ``UsageError`` where something is already."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise UsageError(f"{path}: no key was written: {error.strerror}") from None
    with open(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(_KEY_BYTES) + "\n")


def secret_of(key: Path, suite: str) -> bytes:
    """The secret of a suite, by the key in a file."""
    try:
        given = bytes.fromhex(key.read_text(encoding="ascii").strip())
    except OSError as error:
        raise UsageError(f"{key}: {error.strerror}; make a key with: mesocosm suite key FILE") from None
    except ValueError:
        given = b""
    if len(given) < _KEY_BYTES:
        raise UsageError(
            f"{key}: a key is {2 * _KEY_BYTES} hexadecimal digits, as mesocosm suite key writes it"
        )
    return hmac.digest(given, f"mesocosm sealed suite {suite}".encode(), "sha256")


def seed_of(secret: bytes, number: int) -> int:
    """The seed of the instances of that number: of 63 bits, and none that a public suite would have."""
    drawn = hmac.digest(secret, str(number).encode(), "sha256")
    return int.from_bytes(drawn[:8], "big") >> 2 | 1 << 62


def read(path: Path, kind: type[D]) -> D:
    """Read a document; ``UsageError`` explains an error."""
    try:
        return kind.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise UsageError(f"{path}: {where}: {first['msg']}") from None


def digests(wanted: Sequence[SuiteInstance], workers: Workers) -> Iterator[tuple[SuiteInstance, str, int]]:
    """Build instances and forget them; yields each with its digest and its task's version."""
    ordered = sorted(wanted, key=lambda one: -one.length)
    for one, found in workers.done(_digest, ordered, lambda one: memory_for(one.length)):
        yield one, *found


def _digest(one: SuiteInstance) -> tuple[str, int]:
    family = load_family(one.task)
    with tempfile.TemporaryDirectory(prefix="mesocosm-seal-") as folder:
        instance = build_instance(family, one.seed, Path(folder) / "instance", target=one.length)
        return fingerprint(instance.path), family.task.version


def seal(suite: str, secret: bytes, built: Sequence[tuple[SuiteInstance, str, int]], count: int) -> Sealed:
    """The manifest of what was built of the first ``count`` seeds."""
    number_of = {seed_of(secret, number): number for number in range(count)}
    found = [
        SealedInstance(
            task=one.task, version=version, length=one.length, number=number_of[one.seed], digest=digest
        )
        for one, digest, version in built
    ]
    found.sort(key=lambda one: (one.task, one.length, one.number))
    commitment = hashlib.sha256(secret).hexdigest()
    return Sealed(suite=suite, mesocosm=mesocosm.__version__, commitment=commitment, instances=found)


def instances_of(manifest: Sealed, secret: bytes) -> dict[SuiteInstance, SealedInstance]:
    """Return the seeds of a manifest's instances; raises ``UsageError`` if the secret belongs to another
    suite.
    """
    manifest.check(secret)
    return {
        SuiteInstance(one.task, one.length, seed_of(secret, one.number)): one for one in manifest.instances
    }
