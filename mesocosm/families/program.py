"""Fingerprint of what makes instances: this program, and the libraries that affect their bytes."""

from __future__ import annotations

import hashlib
import itertools
import os
import platform
import re
from functools import cache
from importlib import metadata
from pathlib import Path

import mesocosm
from mesocosm.services.content import roots

_EXTRAS = ("code", "lumina", "sheets", "warehouses")
"""Parts of the dependencies that instances are made with."""
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)[^;]*(?:;.*extra\s*==\s*['\"](?P<extra>[\w-]+)['\"])?")


@cache
def code() -> str:
    """A digest of all code and data."""
    digest = hashlib.sha256(mesocosm.__version__.encode())
    walks = (os.walk(root.path, followlinks=True) for root in roots())
    for folder, subfolders, files in itertools.chain.from_iterable(walks):
        subfolders[:] = sorted(name for name in subfolders if name != "__pycache__")
        for file in sorted(files):
            digest.update(Path(folder, file).read_bytes())
    return digest.hexdigest()


@cache
def parts() -> dict[str, str]:
    """Versions of Mesocosm, Python and the libraries (or ``missing``), and a digest of the code, by name."""
    found = {
        "mesocosm": mesocosm.__version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
        "the code of mesocosm": code(),
    }
    for requirement in sorted(metadata.requires("mesocosm") or ()):
        told = _REQUIREMENT.match(requirement)
        if told and (told["extra"] is None or told["extra"] in _EXTRAS):
            found[told["name"]] = _version(told["name"])
    return found


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "missing"
