"""Subjects of pages: items of several kinds, with the properties that such pages list."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from mesocosm.kits.procedures.places import PlaceNames
from mesocosm.kits.prose.names import Names

Draw = Callable[["Pool"], str]


class Pool:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._names, self._places = Names(rng), PlaceNames(rng)

    def person(self) -> str:
        return self._names.person().name

    def firm(self) -> str:
        """A name of a company."""
        return self._names.firm()

    def place(self) -> str:
        """A town; each at most once."""
        return self._places.draw()

    def pick(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def several(self, *choices: str) -> str:
        """Some of some words, as a list."""
        return ", ".join(self.rng.sample(choices, self.rng.randint(1, 3)))

    def date(self) -> str:
        """A day of a year, in ISO form."""
        return f"2025-{self.rng.randint(1, 12):02d}-{self.rng.randint(1, 28):02d}"


@dataclass(frozen=True)
class Property:
    name: str
    draw: Draw
    kind: str = "text"
    """``text``, ``word`` (of few), ``list``, ``number`` (with a unit), ``date`` or ``title``."""
    decoy: str = ""
    """A value that stands beside it now and then, as the old price beside the price."""


@dataclass(frozen=True)
class PageSubject:
    name: str
    items: str
    """The word for the items, in the plural."""
    properties: tuple[Property, ...]
    """The first is the title."""


def _title(name: str, draw: Draw) -> Property:
    return Property(name, draw, "title")


def _word(name: str, *choices: str) -> Property:
    return Property(name, lambda pool: pool.pick(*choices), "word")


def _list(name: str, *choices: str) -> Property:
    return Property(name, lambda pool: pool.several(*choices), "list")


def _number(name: str, low: int, high: int, unit: str, decoy: str = "") -> Property:
    return Property(name, lambda pool: f"{pool.rng.randint(low, high)} {unit}", "number", decoy)


def _price(name: str, low: int, high: int, decoy: str = "") -> Property:
    def draw(pool: Pool) -> str:
        return f"{pool.rng.randint(low, high)}.{pool.pick('00', '50', '90', '95', '99')} EUR"

    return Property(name, draw, "number", decoy)


def _code(name: str, letters: str) -> Property:
    return Property(name, lambda pool: f"{letters}-{pool.rng.randint(10_000, 99_999)}")


_PHONE = Property("Phone", lambda pool: f"0{pool.rng.randint(100, 999)} {pool.rng.randint(100_000, 999_999)}")
_DATE = "date"

SUBJECTS: tuple[PageSubject, ...] = (
    PageSubject(
        "Garage search",
        "garages",
        (
            _title(
                "Name", lambda pool: f"{pool.place()} {pool.pick('Motors', 'Autos', 'Garage', 'Car Care')}"
            ),
            Property(
                "Address", lambda pool: f"{pool.rng.randint(1, 180)} {pool.place()} Road, {pool.place()}"
            ),
            _word("Garage type", "Independent", "Franchised dealer", "Fast fit", "Body repair"),
            _list(
                "Services",
                "Servicing",
                "Tyres",
                "Air conditioning",
                "MOT",
                "Diagnostics",
                "Brakes & clutches",
            ),
            _number("Recommended by", 40, 100, "%", "Surveys"),
            _PHONE,
        ),
    ),
    PageSubject(
        "Online shop",
        "products",
        (
            _title(
                "Product",
                lambda pool: (
                    f"{pool.place()} {pool.pick('lamp', 'kettle', 'backpack', 'tent', 'drill', 'chair')} "
                    f"{pool.rng.randint(2, 90) * 10}"
                ),
            ),
            Property("Brand", lambda pool: pool.firm()),
            _price("Price", 5, 400, "Was"),
            _word("Availability", "In stock", "Sold out", "2-3 weeks", "Pre-order"),
            _list("Colours", "red", "navy", "black", "sand", "olive", "white", "teal"),
            _number("Weight", 90, 9_000, "g"),
            _code("Article", "ART"),
        ),
    ),
    PageSubject(
        "Vacancies",
        "positions",
        (
            _title(
                "Position",
                lambda pool: (
                    f"{pool.pick('Junior', 'Senior', 'Lead', 'Deputy')} "
                    f"{pool.pick('analyst', 'nurse', 'welder', 'archivist', 'cook')} ({pool.place()})"
                ),
            ),
            Property("Employer", lambda pool: pool.firm()),
            _word("Contract", "Permanent", "Temporary", "Freelance", "Apprenticeship"),
            _number("Salary", 21, 96, "thousand EUR", "Benefits"),
            Property("Apply by", lambda pool: pool.date(), _DATE),
            Property("Contact", lambda pool: pool.person()),
            _code("Reference", "JOB"),
        ),
    ),
    PageSubject(
        "Library catalogue",
        "books",
        (
            _title(
                "Title",
                lambda pool: (
                    f"{pool.pick('A History of', 'The Bridges of', 'Letters from', 'Walking in', 'Songs of')}"
                    f" {pool.place()}"
                ),
            ),
            Property("Author", lambda pool: pool.person()),
            _number("Pages", 60, 900, "pages"),
            Property("Published", lambda pool: str(pool.rng.randint(1950, 2024)), "year"),
            _word("Status", "Available", "On loan", "Reference only", "In repair"),
            _list("Subjects", "travel", "music", "geology", "law", "poetry", "railways", "cooking"),
            _code("Shelf mark", "LIB"),
        ),
    ),
    PageSubject(
        "What is on",
        "events",
        (
            _title(
                "Event",
                lambda pool: (
                    f"{pool.place()} {pool.pick('Jazz Night', 'Book Fair', 'Half Marathon', 'Open Day')}"
                ),
            ),
            Property("Venue", lambda pool: f"{pool.place()} {pool.pick('Hall', 'Theatre', 'Park', 'Arena')}"),
            Property("Date", lambda pool: pool.date(), _DATE, "Tickets since"),
            Property(
                "Doors", lambda pool: f"{pool.rng.randint(9, 21):02d}:{pool.pick('00', '15', '30', '45')}"
            ),
            _price("Admission", 3, 120, "At the door"),
            _word("Seating", "Seated", "Standing", "Mixed"),
            Property("Organiser", lambda pool: pool.firm()),
        ),
    ),
    PageSubject(
        "Homes to let",
        "homes",
        (
            _title(
                "Home", lambda pool: f"{pool.rng.randint(1, 90)} {pool.place()} {pool.pick('Lane', 'Street')}"
            ),
            _price("Rent", 350, 3_800, "Deposit"),
            _number("Area", 18, 240, "sq m"),
            _word("Type", "Flat", "House", "Studio", "Maisonette"),
            _list("Extras", "balcony", "garden", "lift", "parking", "cellar", "pets allowed"),
            Property("Free from", lambda pool: pool.date(), _DATE),
            Property("Agent", lambda pool: pool.person()),
            _PHONE,
        ),
    ),
    PageSubject(
        "Course finder",
        "courses",
        (
            _title(
                "Course",
                lambda pool: (
                    f"{pool.pick('Statistics', 'Pottery', 'First aid', 'Italian', 'Genetics')}"
                    f" {pool.rng.randint(1, 6)}{pool.pick('A', 'B', 'C')} at {pool.place()}"
                ),
            ),
            Property("Teacher", lambda pool: pool.person()),
            _number("Hours", 4, 160, "hours"),
            _price("Fee", 20, 900, "Reduced fee"),
            _word("Level", "Beginner", "Intermediate", "Advanced"),
            Property("Begins", lambda pool: pool.date(), _DATE),
            _list("Days", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
        ),
    ),
    PageSubject(
        "Departures",
        "trains",
        (
            _title("Train", lambda pool: f"{pool.pick('RE', 'IC', 'S')} {pool.rng.randint(100, 99_999)}"),
            Property("Destination", lambda pool: pool.place()),
            Property("Departs", lambda pool: f"{pool.rng.randint(0, 23):02d}:{pool.rng.randint(0, 59):02d}"),
            Property("Platform", lambda pool: f"{pool.rng.randint(1, 24)}{pool.pick('', '', 'a', 'b')}"),
            _word("Service", "On time", "Delayed", "Cancelled", "Diverted"),
            _number("Carriages", 2, 14, "carriages"),
            _list("Calls at", "Airport", "Harbour", "University", "Stadium", "Old Town", "Zoo"),
        ),
    ),
)
