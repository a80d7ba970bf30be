"""Search of documents by content."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text

from mesocosm.errors import Invalid
from mesocosm.servers.documents.store.access import DocumentsPart, Listing, as_list, page_bounds, storable
from mesocosm.servers.documents.store.excerpts import excerpts
from mesocosm.services.service import Paging

_MAX_QUERY, _MAX_WORDS = 500, 32
_WORD = re.compile(r"[^\W_]+")
_WITHIN = """
    documents.trashed_at IS NULL
    AND (documents.owner = :me
        OR documents.space IN (SELECT value FROM json_each(:spaces))
        OR documents.folder IN (SELECT value FROM json_each(:folders))
        OR documents.number IN (SELECT value FROM json_each(:documents)))
    AND documents.type LIKE :type
"""
_BELOW = """
    AND documents.space = :space
    AND (:folder = 0 OR documents.folder IN (SELECT value FROM json_each(:below)))
"""
# A word of the title counts as five of the text. CROSS JOIN makes SQLite begin with the index of words.
# Nobody can interrupt bm25, which counts each term in the whole text: very long documents come last.
# Documents are numbered in the order they were made: of equally good ones the oldest comes first.
_MATCHES = """
    SELECT documents.number,
        CASE WHEN documents.characters * :terms > 1000000 THEN 0
            ELSE bm25(documents_text, 5.0, 1.0) END AS score
    FROM documents_text CROSS JOIN documents ON documents.number = documents_text.rowid
    WHERE documents_text MATCH :words AND
"""
_PAGE = (
    "SELECT number, count(*) OVER () AS total FROM ({}) ORDER BY score, number LIMIT :limit OFFSET :offset"
)
_TOTAL = "SELECT count(*) AS total FROM ({})"
_FOUND = text(
    """
    SELECT documents.number, documents.id, documents.title, documents.type, documents.owner,
        documents.characters, documents.updated_at, coalesce(documents.plain, documents.content) AS body
    FROM documents WHERE documents.number IN (SELECT value FROM json_each(:numbers))
    """
)


def _statements(below: str) -> Mapping[str, Any]:
    matches = _MATCHES + _WITHIN + below
    return {"page": text(_PAGE.format(matches)), "total": text(_TOTAL.format(matches))}


_EVERYWHERE, _SOMEWHERE = _statements(""), _statements(_BELOW)


@dataclass(frozen=True)
class Found(Listing):
    """One page of search results; each row has a ``snippet`` of the text around the words."""


class Search(DocumentsPart):
    """Finding documents."""

    def search(
        self,
        query: str,
        within: str | None,
        type: str | None,
        paging: Paging,
    ) -> Found:
        """One page of the documents with all words of a query, the best first."""
        limit, offset = page_bounds(paging)
        terms = terms_of(query)
        words = " AND ".join(f'"{term}"' for term in terms)
        parameters: dict[str, Any] = {**self.reach(), "words": words, "type": type or "%"}
        parameters["terms"] = len(terms)
        statements = _EVERYWHERE
        if within is not None:
            parameters |= self._below(within)
            statements = _SOMEWHERE
        rows = self.fetch(statements["page"], limit=limit, offset=offset, **parameters)
        total = rows[0]["total"] if rows else self.fetch(statements["total"], **parameters)[0]["total"]
        numbers = [row["number"] for row in rows]
        by_number = {row["number"]: row for row in self.fetch(_FOUND, numbers=as_list(numbers))}
        found = [by_number[number] for number in numbers]
        shown = excerpts(terms, [row["body"] for row in found])
        found = [{**row, "snippet": excerpt} for row, excerpt in zip(found, shown, strict=True)]
        return Found(found, *paging, int(total))

    def _below(self, item_id: str) -> dict[str, Any]:
        here = self.container(item_id)
        below = self.folders_below([here.folder]) if here.folder else []
        return {"space": here.space, "folder": here.folder or 0, "below": as_list(below)}


def terms_of(query: str) -> list[str]:
    """Split a query into its required terms: words (in any form) and quoted phrases."""
    if not storable(query) or len(query) > _MAX_QUERY:
        raise Invalid(f"query must be text of at most {_MAX_QUERY} characters.")
    terms = [phrase or word for phrase, word in re.findall(r'"([^"]+)"|([^\s"]+)', query)]
    terms = list(dict.fromkeys(term for term in terms if _WORD.search(term)))
    if not terms:
        raise Invalid("query contains no word to look for.")
    if len(words := _WORD.findall(query)) > _MAX_WORDS:
        raise Invalid(f"query must have at most {_MAX_WORDS} words, got {len(words)}.")
    return terms
