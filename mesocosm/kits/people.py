"""People with addresses."""

from __future__ import annotations

from dataclasses import dataclass

from mesocosm.kits.prose import Person, Prose


@dataclass(frozen=True)
class Contact:
    """Somebody with an address."""

    person: Person
    email: str

    @classmethod
    def at(cls, domain: str, prose: Prose) -> Contact:
        """Somebody new with an address at a domain."""
        person = prose.person()
        return cls(person, f"{person.handle}@{domain}")

    @property
    def name(self) -> str:
        """First and last name."""
        return self.person.name

    @property
    def header(self) -> str:
        """As a From or To header shows them."""
        return f"{self.person.name} <{self.email}>"
