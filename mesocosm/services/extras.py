"""Parts of the dependencies that only some services need: whether they are installed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, requires

from mesocosm.errors import MissingExtra
from mesocosm.services.service import load_service


def require_extras(services: Iterable[str]) -> None:
    """Raise ``MissingExtra`` for the first of these services that needs what is not installed."""
    for name in services:
        extra = load_service(name).extra
        if extra is not None and not is_installed(extra):
            raise MissingExtra(f"the service {name}", extra)


@cache
def is_installed(extra: str) -> bool:
    """True if all packages of an extra are installed, by this package's metadata."""
    try:
        needed = requires("mesocosm") or []
        for one in needed:
            if re.search(rf"extra == ['\"]{re.escape(extra)}['\"]", one):
                distribution(re.split(r"[^\w.-]", one, maxsplit=1)[0])
    except PackageNotFoundError as missing:
        # Of a program that is run without having been installed nothing is known.
        return missing.name == "mesocosm"
    return True
