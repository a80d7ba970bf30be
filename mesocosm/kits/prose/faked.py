"""People, companies, towns and addresses of several countries, as Faker knows them.

Faker is asked once per locale and process, with a seed of its own, for pools; what a world takes from these
is drawn with the world's own dice. So a world is built as quickly as from lists, is the same for the same
version of Faker, and does not depend on what was built before it.
"""

# Each pool has its own seed, so that the order of requests does not matter (decision 089).

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from faker import Generator
from faker.config import DEFAULT_LOCALE
from faker.providers import BaseProvider

from mesocosm.kits.prose.grammar import Node

_KINDS = ("person", "company", "address", "phone_number")
"""Of providers. Some take long to import, so whoever needs none but names imports no others."""
_PEOPLE = {
    "en_GB": 4, "en_US": 4, "en_IN": 2, "de_DE": 2, "fr_FR": 2, "es_ES": 2, "pt_PT": 1, "it_IT": 1,
    "nl_NL": 1, "sv_SE": 1, "da_DK": 1, "pl_PL": 1, "en_KE": 1, "tw_GH": 1, "id_ID": 1, "ja_JP": 1,
    "zh_CN": 1,
}  # fmt: skip
"""How often people have names as in these places."""
_COMPANIES = {"en_US": 4, "en_GB": 4, "de_DE": 1, "fr_FR": 1, "nl_NL": 1, "sv_SE": 1, "da_DK": 1, "it_IT": 1}
_TOWNS = ("de_DE", "nl_NL", "da_DK", "sv_SE", "pt_PT", "fi_FI", "en_IN")
"""Locales whose towns exist. Faker's English ones are surnames with endings; those of ``it_IT`` vary between
processes."""
_ROMANIZED = ("ja_JP", "zh_CN")
_NAMES, _SURNAMES, _ENDINGS, _PLACES, _ADDRESSES = 150, 250, 40, 80, 200
"""How often it is asked for what goes into a pool."""
_ZERO = re.compile(r"\b0")
_MAC = re.compile(r"(?<=\bMc)[a-z]")
"""Names that Faker writes with a small letter: "Mckenzie"."""
_IRISH = re.compile(r"O(?:brien|conn|donn|hara|keefe|neal|neil|reilly|rourke|sulliv)")
"""Names that Faker writes without their apostrophe: "Oconnor"."""
_RIGHTLY = {"OHG mbH": "OHG"}
"""Forms of companies that Faker has and no law knows."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_OTHERWISE = frozenset(
    """
    January February March April May June July August September October November December
    Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Sun Mon Tue Wed Thu Fri Sat
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday Spring Summer Autumn Winter
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Names that say when something is, too."""


@dataclass(frozen=True)
class FakedNames:
    """First and last names that go together."""

    first: list[str]
    last: list[str]


@dataclass(frozen=True)
class Address:
    """Postal address in the country's own form."""

    street: str
    city: str
    state: str
    """Its abbreviation; empty where addresses have none."""
    postcode: str
    country: str
    phone: str


@dataclass(frozen=True)
class Addresses:
    """Parts from which a country's addresses are made."""

    streets: list[str]
    towns: list[str]
    """Empty where Faker has none that there are."""
    postcodes: list[str]
    phones: list[str]
    country: str


@cache
def _faker(locale: str, kinds: tuple[str, ...] = _KINDS) -> Any:
    """Faker in a locale: ``Faker(locale)`` without weights, which would read a hundred folders first."""
    faker = Generator()
    for kind in kinds:
        faker.add_provider(_provider(f"faker.providers.{kind}", locale, faker))
    return faker


def _provider(name: str, locale: str, faker: Generator) -> BaseProvider:
    """A provider in a locale; where it has none, as Faker does, in that which it has by default."""
    if find_spec(f"{name}.{locale}") is None:
        locale = getattr(import_module(name), "default_locale", "") or DEFAULT_LOCALE
    provider: BaseProvider = import_module(f"{name}.{locale}").Provider(faker)
    provider.__lang__ = locale
    return provider


def _several(
    locale: str, what: str, times: int, wanted: Callable[[str], bool] = bool, *arguments: str,
    kinds: tuple[str, ...] = _KINDS,
) -> list[str]:  # fmt: skip
    """Collect distinct one-line values of a Faker provider, filtered by what is wanted."""
    faker = _faker(locale, kinds)
    faker.seed_instance(0)  # for each pool, so that it does not matter which was asked for first
    make = getattr(faker, what)
    made = dict.fromkeys(", ".join(make(*arguments).split("\n")) for _ in range(times))
    return [one for one in made if wanted(one)]


def _plain(name: str) -> bool:
    """True if a name is a single word that every file format can hold, and no English word."""
    return bool(_WORD.fullmatch(name)) and name.istitle() and name not in _OTHERWISE and _is_western(name)


def _is_western(text: str) -> bool:
    try:
        text.encode("cp1252")  # as the fonts of PDF files have it
    except UnicodeEncodeError:
        return False
    return True


@cache
def names_of(locale: str) -> tuple[FakedNames, ...]:
    """Names of a locale, apart where they differ by sex."""
    if locale in _ROMANIZED:
        return (_names(locale, "first_romanized_name", "last_romanized_name"),)
    return tuple(_names(locale, f"first_name_{sex}", f"last_name_{sex}") for sex in ("male", "female"))


def _names(locale: str, first: str, last: str) -> FakedNames:
    of_people = partial(_several, locale, kinds=("person",))
    surnames = map(surname, of_people(last, _SURNAMES, _plain))
    return FakedNames(of_people(first, _NAMES, _plain), [*filter(None, surnames)])


def surname(made: str) -> str:
    """Normalise a surname from Faker; empty if it is no real surname."""
    return "" if _IRISH.match(made) else scottish(made)


def scottish(made: str) -> str:
    """Fix the capitals of Scottish names: Faker writes "Mccarthy" for "McCarthy"."""
    return _MAC.sub(_capital, made)


def _capital(found: re.Match[str]) -> str:
    return found[0].title()


@cache
def everybody() -> tuple[FakedNames, ...]:
    """The names of all locales, as often as they are to be met."""
    groups = ((names_of(locale), share) for locale, share in _PEOPLE.items())
    return tuple(one for found, share in groups for one in found for _ in range(share * (3 - len(found))))


@cache
def pools() -> dict[str, list[Node]]:
    """Rules of the grammars of texts: first, last, fullname, firm, town and street."""
    return {
        "first": [_one_of(names.first) for names in everybody()],
        "last": [_one_of(names.last) for names in everybody()],
        "fullname": [(_one_of(names.first), " ", _one_of(names.last)) for names in everybody()],
        "firm": [
            form for locale, share in _COMPANIES.items() for form in _firms(locale) for _ in range(share)
        ],
        "town": [_one_of(_several(locale, "city", _PLACES, _is_town)) for locale in _TOWNS],
        "street": _one_of(names_of("en_GB")[0].last),
    }


def _one_of(words: list[str]) -> list[Node]:
    return [*words]


def _is_town(name: str) -> bool:
    return _plain(name) and name.isascii()


def _is_ending(text: str) -> bool:
    """True if English readers take it for the end of a name rather than of a sentence."""
    return "." not in text and (text[0].isupper() or text.startswith("and "))


def _firms(locale: str) -> list[Node]:
    """Forms of company names."""
    last = _one_of(names_of(locale)[0].last)
    made = _several(locale, "company_suffix", _ENDINGS, _is_ending, kinds=("company",))
    endings = _one_of([_RIGHTLY.get(one, one) for one in made])
    form: Node = (last, " ", endings)
    return [form, form, (last, "-", last)] if locale.startswith("en") else [form] * 3


@cache
def addresses(locale: str, state: str = "") -> Addresses:
    """Load the parts of addresses of a country, or of a state of the United States."""
    phone = "basic_phone_number" if locale == "en_US" else "phone_number"
    some = partial(_several, locale)
    return Addresses(
        streets=some("street_address", _ADDRESSES, lambda street: not _ZERO.search(street)),
        towns=some("city", _PLACES, _is_western) if locale in _TOWNS else [],
        postcodes=some("postcode_in_state", _ADDRESSES, bool, state)
        if state
        else some("postcode", _ADDRESSES),
        phones=some(phone, 2 * _ADDRESSES),
        country=_faker(locale).current_country_code(),
    )
