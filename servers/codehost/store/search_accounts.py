"""Searching repositories and accounts."""

from __future__ import annotations

from collections.abc import Sequence

from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.queries import Qualifier, Where, parse
from mesocosm.servers.codehost.store.search import SCOPE
from mesocosm.services.service import Row

REPOSITORY_QUALIFIERS = (
    *SCOPE,
    *("language", "topic", "stars", "forks", "created", "pushed", "is", "archived", "fork", "in"),
    *("help-wanted-issues", "good-first-issues"),
)
USER_QUALIFIERS = ("type", "in", "repos", "followers", "location", "created", "user", "org")

_FORKS = "(SELECT count(*) FROM repositories f WHERE f.parent_id = repositories.id)"
_OPEN = "(SELECT count(*) FROM issues WHERE repository_id = repositories.id AND state = 'open')"
_OWNED = "(SELECT count(*) FROM repositories r WHERE r.owner_id = accounts.id AND NOT r.private)"
_WITH_LABEL = (
    "(SELECT count(*) FROM issues JOIN issue_labels ON issue_labels.issue_id = issues.id"
    " JOIN labels ON labels.id = label_id WHERE labels.name = '{}' AND issues.state = 'open'"
    " AND issues.repository_id = repositories.id)"
)
_LABELS = {"help-wanted-issues": "help wanted", "good-first-issues": "good first issue"}
_REPOSITORY_COLUMNS = f"repositories.*, accounts.login AS owner, {_FORKS} AS forks, {_OPEN} AS open_issues"
_TOPIC = "instr(' ' || lower(repositories.topics) || ' ', ' ' || lower({}) || ' ') > 0"
_KINDS = {"user": "User", "org": "Organization", "organization": "Organization"}


class AccountSearch(StorePart):
    """Searches of repositories, and of people and organisations."""

    def search_repositories(
        self,
        query: str,
        sort: str | None,
        order: str | None,
        page: int | None,
        per_page: int | None,
    ) -> tuple[Sequence[Row], int]:
        """Repositories by name, description and topics; forks only when asked for."""
        limit, offset = self.store.searching.result_window(page, per_page)
        parsed, where = parse(query, REPOSITORY_QUALIFIERS), self.store.searching.seen()
        self.store.searching.limit_scope(where, parsed)
        within = self.store.searching.within(parsed)
        columns = [name for name in ("name", "description", "topics") if not within or name in within]
        self.store.searching.words_within(
            where, parsed, [f"repositories.{name}" for name in columns or ["name"]]
        )
        if not parsed.values("fork"):
            where.add("repositories.parent_id IS NULL")
        for qualifier in parsed.qualifiers:
            self._repository_condition(where, qualifier)
        direction = "ASC" if order == "asc" else "DESC"
        exact = where.name(" ".join(parsed.words))
        # The parameter must be part of the counting statement too.
        where.add(f"{exact} IS NOT NULL")
        ordering = {
            "stars": f"repositories.stars {direction}",
            "forks": f"forks {direction}",
            "updated": f"repositories.updated_at {direction}",
            "help-wanted-issues": f"{_WITH_LABEL.format('help wanted')} {direction}",
        }.get(sort or "", f"repositories.name = {exact} DESC, repositories.stars DESC")
        source = "repositories JOIN accounts ON accounts.id = repositories.owner_id"
        return self.store.searching.run(
            where, source, _REPOSITORY_COLUMNS, f"{ordering}, repositories.id", limit, offset
        )

    def search_users(
        self,
        query: str,
        sort: str | None,
        order: str | None,
        page: int | None,
        per_page: int | None,
    ) -> tuple[Sequence[Row], int]:
        """People and organisations by login, name and e-mail address."""
        limit, offset = self.store.searching.result_window(page, per_page)
        parsed, where = parse(query, USER_QUALIFIERS), Where()
        where.add("{} IS NOT NULL", self.me["id"])
        within = self.store.searching.within(parsed)
        columns = [name for name in ("login", "name", "email") if not within or name in within]
        self.store.searching.words_within(
            where, parsed, [f"accounts.{name}" for name in columns or ["login"]]
        )
        for qualifier in parsed.qualifiers:
            self._user_condition(where, qualifier)
        direction = "ASC" if order == "asc" else "DESC"
        ordering = {
            "followers": f"accounts.followers {direction}",
            "repositories": f"{_OWNED} {direction}",
            "joined": f"accounts.created_at {direction}",
        }.get(sort or "", "accounts.followers DESC")
        return self.store.searching.run(
            where, "accounts", "accounts.*", f"{ordering}, accounts.id", limit, offset
        )

    def _repository_condition(self, where: Where, qualifier: Qualifier) -> None:
        name, value, negated = qualifier.name, qualifier.value, qualifier.negated
        if name == "language":
            where.add("lower(repositories.language) = lower({})", value, negated=negated)
        elif name == "topic":
            where.add(_TOPIC, value, negated=negated)
        elif name == "stars":
            where.number("repositories.stars", qualifier)
        elif name == "forks":
            where.number(_FORKS, qualifier)
        elif name in ("created", "pushed"):
            where.time(f"repositories.{name}_at", qualifier)
        elif name == "is":
            self.store.searching.kind_of_repository(where, qualifier)
        elif name == "archived":
            where.add("repositories.archived", negated=not qualifier.flag)
        elif name == "fork" and value.lower() != "true":
            where.add(f"repositories.parent_id IS {'NOT ' if value.lower() == 'only' else ''}NULL")
        elif name in _LABELS:
            where.number(_WITH_LABEL.format(_LABELS[name]), qualifier)

    def _user_condition(self, where: Where, qualifier: Qualifier) -> None:
        name, value, negated = qualifier.name, qualifier.value, qualifier.negated
        if name == "type":
            where.add("accounts.kind = {}", _KINDS.get(value.lower(), value), negated=negated)
        elif name == "repos":
            where.number(_OWNED, qualifier)
        elif name == "followers":
            where.number("accounts.followers", qualifier)
        elif name == "location":
            where.add("instr(lower(accounts.location), lower({})) > 0", value, negated=negated)
        elif name == "created":
            where.time("accounts.created_at", qualifier)
        elif name in ("user", "org"):
            where.add("accounts.login = {}", value, negated=negated)
