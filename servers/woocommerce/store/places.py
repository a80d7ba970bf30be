"""Countries, currencies and continents: what the world is, whatever the shop."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from mesocosm.services.schema import Json

CONTINENTS = {
    "AF": "Africa",
    "AN": "Antarctica",
    "AS": "Asia",
    "EU": "Europe",
    "NA": "North America",
    "OC": "Oceania",
    "SA": "South America",
}
_ZONES = {
    "Africa": "AF",
    "Antarctica": "AN",
    "Arctic": "EU",
    "Asia": "AS",
    "Atlantic": "EU",
    "Australia": "OC",
    "Europe": "EU",
    "Indian": "AF",
    "Pacific": "OC",
}
"""Prefixes of time zones by country; America is resolved below."""
_SOUTH = frozenset(["AR", "BO", "BR", "CL", "CO", "EC", "FK", "GF", "GY", "PE", "PY", "SR", "UY", "VE"])
_SPEAKERS = {"US": "en_US", "CA": "en_CA", "AU": "en_AU"}
"""Countries whose states are known here, and the locale that lists them."""


@cache
def countries() -> dict[str, str]:
    """The names of the countries, by code (ISO 3166)."""
    lines = files("tzdata.zoneinfo").joinpath("iso3166.tab").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return dict(sorted(((line[0], line[1]) for line in pairs), key=lambda pair: pair[1]))


@cache
def states(code: str) -> list[Json]:
    """The states of a country, where they are known."""
    if code not in _SPEAKERS:
        return []
    from faker import Faker

    faker: Any = Faker(_SPEAKERS[code])
    provider = next(
        one for one in faker.get_providers() if hasattr(one, "states_abbr") or hasattr(one, "provinces")
    )
    names = getattr(provider, "provinces", None) or provider.states
    short = getattr(provider, "provinces_abbr", None) or provider.states_abbr
    return [{"code": one, "name": name} for one, name in zip(short, names, strict=False)]


@cache
def continents() -> dict[str, list[str]]:
    """The codes of the countries of each continent."""
    found: dict[str, list[str]] = {code: [] for code in CONTINENTS}
    lines = files("tzdata.zoneinfo").joinpath("zone.tab").read_text(encoding="utf-8").splitlines()
    zones: dict[str, str] = {}
    for line in lines:
        if line and not line.startswith("#"):
            code, _, zone = line.split("\t")[:3]
            zones.setdefault(code, zone.partition("/")[0])
    for code in countries():
        area = zones.get(code, "Europe")
        where = _ZONES.get(area) or ("SA" if code in _SOUTH else "NA")
        found[where].append(code)
    return found


@cache
def currencies() -> dict[str, tuple[str, str]]:
    """Name and symbol of each currency, by code (ISO 4217)."""
    from faker.providers.currency import Provider

    return {
        code: (name, Provider.currency_symbols.get(code, code)) for code, name in sorted(Provider.currencies)
    }
