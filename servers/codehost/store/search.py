"""Base of all searches: visibility, limits and execution."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import text

from mesocosm.errors import NotFound
from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.queries import MAX_RESULTS, Qualifier, Query, Where
from mesocosm.servers.codehost.store.values import Unprocessable, window
from mesocosm.services.service import Row

SCOPE = ("repo", "user", "org")
"""Qualifiers that say where to search."""
ACCOUNT = "(SELECT id FROM accounts WHERE login = {})"
_VISIBLE = """NOT repositories.private OR repositories.owner_id = {}
    OR repositories.id IN (SELECT repository_id FROM collaborators WHERE account_id = {})
    OR repositories.owner_id IN (SELECT organization_id FROM members
        JOIN accounts o ON o.id = organization_id
        WHERE account_id = {} AND (o.default_role != 'none' OR role = 'admin'))"""
_REPOSITORY_KINDS = {
    "public": "NOT repositories.private",
    "private": "repositories.private",
    "archived": "repositories.archived",
    "fork": "repositories.parent_id IS NOT NULL",
}
_HIDDEN = (
    "Validation Failed: The listed users and repositories cannot be searched either because the resources"
    " do not exist or you do not have permission to view them."
)


class Searching(StorePart):
    """The parts of searches."""

    @staticmethod
    def result_window(page: int | None, per_page: int | None) -> tuple[int, int]:
        """``(limit, offset)`` of a page of results, of which only the first 1,000 can be had."""
        limit, offset = window(page, per_page)
        if offset and offset + limit > MAX_RESULTS:
            raise Unprocessable(f"Only the first {MAX_RESULTS} search results are available")
        return limit, offset

    def seen(self) -> Where:
        """The condition that the signed-in account may read the repository."""
        where, me = Where(), self.me["id"]
        where.add(_VISIBLE, me, me, me)
        return where

    def limit_scope(self, where: Where, parsed: Query) -> None:
        """The repositories and owners that a query is limited to; unknown ones are refused."""
        wanted: list[tuple[str, Any]] = []
        for qualifier in parsed.values(*SCOPE):
            try:
                condition, value = self._scope_of(qualifier)
            except NotFound:
                raise Unprocessable(_HIDDEN) from None
            if qualifier.negated:
                where.add(condition, value, negated=True)
            else:
                wanted.append((condition, value))
        where.any_of(wanted)

    def login_of(self, value: str) -> str:
        """The login that a qualifier names, which may be ``@me``."""
        return str(self.me["login"]) if value.lower() == "@me" else value.removeprefix("@")

    @staticmethod
    def one_of(where: Where, qualifier: Qualifier, conditions: Mapping[str, str]) -> None:
        """The condition that a qualifier chooses by its value."""
        condition = conditions.get(qualifier.value.lower().replace(" ", "_"))
        if condition is None:
            choices = ", ".join(conditions)
            raise Unprocessable(
                f"Validation Failed: {qualifier.name}:{qualifier.value} is not one of {choices}."
            )
        where.add(condition, negated=qualifier.negated)

    def kind_of_repository(self, where: Where, qualifier: Qualifier) -> None:
        """``is:public`` and the like."""
        self.one_of(where, qualifier, _REPOSITORY_KINDS)

    @staticmethod
    def words_within(where: Where, parsed: Query, columns: Sequence[str]) -> None:
        """Words as parts of short texts that have no index."""
        said = " || ' ' || ".join(f"coalesce({column}, '')" for column in columns)
        alternatives = []
        for group in parsed.groups:
            parts = []
            for word, negated in group:
                mark = where.name(f"%{like(word)}%")
                parts.append(f"({said}) {'NOT ' if negated else ''}LIKE {mark} ESCAPE '\\'")
            alternatives.append("(" + " AND ".join(parts) + ")")
        if alternatives:
            where.conditions.append("(" + " OR ".join(alternatives) + ")")

    @staticmethod
    def within(parsed: Query) -> set[str]:
        """Return the fields to search."""
        return {part for qualifier in parsed.values("in") for part in qualifier.value.lower().split(",")}

    def run(
        self, where: Where, source: str, columns: str, ordering: str, limit: int, offset: int
    ) -> tuple[Sequence[Row], int]:
        """One page of results, and how many there are."""
        # What makes the search slow is done once for both.
        statement = f"SELECT {columns}, count(*) OVER () AS n FROM {source} WHERE {where.text}"
        statement += f" ORDER BY {ordering} LIMIT :limit OFFSET :offset"
        rows = self.fetch(text(_escaped(statement)), **where.parameters, limit=limit, offset=offset)
        if rows or not offset:
            return rows, int(rows[0]["n"]) if rows else 0
        count = f"SELECT count(*) AS n FROM {source} WHERE {where.text}"
        return rows, int(self.fetch(text(_escaped(count)), **where.parameters)[0]["n"])

    def _scope_of(self, qualifier: Qualifier) -> tuple[str, int]:
        if qualifier.name == "repo":
            owner, _, name = qualifier.value.partition("/")
            return "repositories.id = {}", self.store.repositories.repository(owner, name)["id"]
        return "repositories.owner_id = {}", self.store.accounts.account(self.login_of(qualifier.value))["id"]


def like(value: str) -> str:
    """A text in a LIKE pattern."""
    return re.sub(r"([\\%_])", r"\\\1", value)


def _escaped(statement: str) -> str:
    """SQLAlchemy takes a colon and a word for a parameter; only ``:v0`` and its like are ours."""
    return re.sub(r"(?<!\\):(?!v\d|limit|offset)", r"\\:", statement)
