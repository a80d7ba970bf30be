"""Searching mail: the query language, and how it is answered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from sqlalchemy import ColumnElement, column, func, or_, select, table

from mesocosm.errors import Invalid
from mesocosm.servers.email.models import SEARCHED, Email, Folder
from mesocosm.servers.email.store import limits
from mesocosm.servers.email.store.mailbox import HAS_ATTACHMENTS, NEWEST_FIRST, SUMMARY, MailboxPart
from mesocosm.services.service import Row

EVERYWHERE = "*"
"""In place of a folder: all of them. No folder can be called so."""
MAX_QUERY_CHARACTERS = 1000
_MAX_TRIGRAMS = 64

# Most often it is the body that has a word.
_ANYWHERE = tuple(reversed(SEARCHED))
_FIELDS: dict[str, tuple[str, ...]] = {
    "from": ("sender",),
    "to": ("to", "cc", "bcc"),
    "cc": ("cc",),
    "subject": ("subject",),
    "body": ("body",),
}
_FLAGS: dict[str, ColumnElement[bool]] = {
    "unread": Email.is_read.is_(False),
    "read": Email.is_read.is_(True),
    "important": Email.is_important.is_(True),
    "not_important": Email.is_important.is_(False),
}
_OPERATORS = "|".join([*_FIELDS, "is", "has", "after", "since", "before"])
_TERM = re.compile(rf'(?:(?P<operator>{_OPERATORS}):)?(?:"(?P<phrase>[^"]*)"|(?P<word>\S+))', re.IGNORECASE)
_ELSEWHERE = re.compile(
    r"(?<![^\s(])(in|label|bcc|newer|older|newer_than|older_than|on|filename|larger|smaller|size|list|category):\S",
    re.I,
)
"""Conditions of other products' searches; as words they would find nothing, and nobody would know why."""
_QUOTED = re.compile(r'"[^"]*"')
_DATE = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})")
_WILDCARD = re.compile(r"[%_\\]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_INDEX = table("emails_text", column("rowid"), column("emails_text"))


class Searching(MailboxPart):
    """Finding messages of the signed-in account."""

    def search(self, query: str, folder: str, page: int, page_size: int) -> tuple[Sequence[Row], int]:
        """One page of the messages that match every term of a query, newest first, and their number."""
        limits.check_page(page, page_size)
        place = self._place(folder)
        wanted = [place, *conditions(query)]
        hits = (
            select(Email.id, func.count().over().label("total"))
            .where(*wanted)
            .order_by(*NEWEST_FIRST)
            .limit(page_size)
            .offset((page - 1) * page_size)
            .subquery()
        )
        statement = (
            select(*SUMMARY, hits.c.total)
            .join(hits, hits.c.id == Email.id)
            .join(Folder, Folder.id == Email.folder_id)
            .order_by(*NEWEST_FIRST)
        )
        rows = self.fetch(statement)
        if rows or page == 1:
            return rows, int(rows[0]["total"]) if rows else 0
        total = self.fetch(select(func.count().label("total")).select_from(Email).where(*wanted))
        return rows, int(total[0]["total"])

    def _place(self, folder: str) -> ColumnElement[bool]:
        if folder == EVERYWHERE:
            return Email.folder_id.in_(list(self.folder_names()))
        return Email.folder_id == self.folder_id(folder)


def conditions(query: str) -> list[ColumnElement[bool]]:
    """Build the SQL conditions of a query; raises ``Invalid`` for one that cannot be parsed."""
    query = limits.text("Search query", query)
    if not query.strip():
        raise Invalid("Search query cannot be empty.")
    if len(query) > MAX_QUERY_CHARACTERS:
        raise Invalid(f"Search query too long (max {MAX_QUERY_CHARACTERS} characters).")
    unknown = _ELSEWHERE.search(_QUOTED.sub(" ", query))
    if unknown:
        known = ":, ".join([*_FIELDS, "is", "has", "after"])
        raise Invalid(
            f"Unknown search operator {unknown[1]}:; there is {known}: and before:. The folder is an argument"
            " of its own. What only looks like an operator is found in double quotes."
        )
    wanted: list[ColumnElement[bool]] = []
    texts: list[tuple[str, Sequence[str]]] = []
    for term in _TERM.finditer(query):
        operator, value = (term["operator"] or "").lower(), term["phrase"] or term["word"] or ""
        if operator in _FIELDS or not operator:
            texts.append((value, _FIELDS.get(operator, _ANYWHERE)))
        else:
            wanted.append(_condition(operator, value))
    return [*wanted, *_contain([text for text in texts if text[0].strip()])]


def _condition(operator: str, value: str) -> ColumnElement[bool]:
    if operator == "is":
        return _one_of(operator, value, _FLAGS)
    if operator == "has":
        return _one_of(operator, value, {"attachment": HAS_ATTACHMENTS, "attachments": HAS_ATTACHMENTS})
    day = _day(operator, value)
    return Email.date < day if operator == "before" else Email.date >= day


def _one_of(operator: str, value: str, choices: Mapping[str, ColumnElement[bool]]) -> ColumnElement[bool]:
    if value.lower() not in choices:
        raise Invalid(
            f"Unknown search operator {operator}:{value}; there is {operator}:{', '.join(choices)}."
        )
    return choices[value.lower()]


def _day(operator: str, value: str) -> str:
    found = _DATE.fullmatch(value)
    try:
        if found:
            return date(*map(int, found.groups())).isoformat()
    except ValueError:
        pass
    raise Invalid(f"{operator}: takes a date as YYYY-MM-DD, got {value!r}.")


def _contain(texts: Sequence[tuple[str, Sequence[str]]]) -> Iterator[ColumnElement[bool]]:
    """Build conditions that each text occurs in one of its columns, ignoring case.

    The index says which messages may match, LIKE looks at those. LIKE folds only ASCII letters, so where the
    index, which folds all, has been asked, any character will do for LIKE in the place of another.
    """
    trigrams = dict.fromkeys(value[i : i + 3] for value, _ in texts for i in range(len(value) - 2))
    asked = list(trigrams)[:_MAX_TRIGRAMS]
    if asked:
        match = " AND ".join('"' + trigram.replace('"', '""') + '"' for trigram in asked)
        yield Email.id.in_(select(_INDEX.c.rowid).where(_INDEX.c.emails_text.op("MATCH")(match)))
    # The longest first: it spares most messages the looking for the others.
    for value, columns in sorted(texts, key=lambda text: -len(text[0])):
        if value in asked and columns is _ANYWHERE:
            continue  # The index alone has answered.
        pattern = _WILDCARD.sub(r"\\\g<0>", value)
        yield _like(columns, pattern if len(value) < 3 else _NOT_ASCII.sub("_", pattern))


def _like(columns: Sequence[str], pattern: str) -> ColumnElement[bool]:
    return or_(*(getattr(Email, name).like(f"%{pattern}%", escape="\\") for name in columns))
