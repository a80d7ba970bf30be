"""Searching code and commits."""

from __future__ import annotations

from collections.abc import Sequence

from mesocosm.servers.codehost.store.part import StorePart
from mesocosm.servers.codehost.store.queries import Qualifier, Query, Where, parse
from mesocosm.servers.codehost.store.search import ACCOUNT, SCOPE, like
from mesocosm.servers.codehost.store.values import Unprocessable
from mesocosm.services.service import Row

LANGUAGES = {
    "c": ("c", "h"),
    "c#": ("cs",),
    "c++": ("cpp", "cc", "cxx", "hpp", "hh"),
    "css": ("css",),
    "go": ("go",),
    "html": ("html", "htm"),
    "java": ("java",),
    "javascript": ("js", "mjs", "cjs", "jsx"),
    "json": ("json",),
    "markdown": ("md", "markdown"),
    "php": ("php",),
    "python": ("py", "pyi"),
    "ruby": ("rb",),
    "rust": ("rs",),
    "shell": ("sh", "bash"),
    "sql": ("sql",),
    "text": ("txt",),
    "toml": ("toml",),
    "typescript": ("ts", "tsx"),
    "yaml": ("yml", "yaml"),
}
"""The files of each language by their extensions."""
_ALIASES = {
    "golang": "go",
    "js": "javascript",
    "ts": "typescript",
    "py": "python",
    "cpp": "c++",
    "csharp": "c#",
}
CODE_QUALIFIERS = (*SCOPE, "language", "path", "filename", "extension", "in", "size", "is", "fork")
COMMIT_QUALIFIERS = (
    *SCOPE,
    *("author", "committer", "author-name", "committer-name", "author-email", "committer-email"),
    *("author-date", "committer-date", "merge", "hash", "tree", "parent", "is"),
)
_CODE_COLUMNS = (
    "files.id, files.path, files.name, files.sha, files.network, files.searchable,"
    " repositories.name AS repository, accounts.login AS owner"
)
# CROSS JOIN keeps SQLite from asking the full-text index about one file after the other.
_FILES = "files CROSS JOIN repositories ON repositories.id = files.repository_id"
_FOUND_FILES = (
    f"code_search CROSS JOIN {_FILES.replace('files CROSS', 'files ON files.id = code_search.rowid CROSS')}"
)
_COMMITS = (
    "commits CROSS JOIN history ON history.commit_id = commits.id"
    " CROSS JOIN repositories ON repositories.id = history.repository_id"
)
_FOUND_COMMITS = (
    "commit_search CROSS JOIN commits ON commits.id = commit_search.rowid"
    " CROSS JOIN history ON history.commit_id = commits.id"
    " CROSS JOIN repositories ON repositories.id = history.repository_id"
)
_PARENT = (
    "EXISTS (SELECT 1 FROM commit_parents p JOIN commits c ON c.id = p.parent_id"
    " WHERE p.commit_id = commits.id AND c.sha >= {} AND c.sha < {})"
)
_SEVERAL_PARENTS = "(SELECT count(*) FROM commit_parents WHERE commit_id = commits.id) > 1"


class CodeSearch(StorePart):
    """Searches of what is in git; forks are left out, as in the product."""

    def search_code(
        self,
        query: str,
        sort: str | None,
        order: str | None,
        page: int | None,
        per_page: int | None,
    ) -> tuple[Sequence[Row], int, Query]:
        """Files at the head of default branches, how many there are, and the query as understood."""
        limit, offset = self.store.searching.result_window(page, per_page)
        if sort not in (None, "", "indexed"):
            raise Unprocessable(f"Validation Failed: sort {sort!r} is not 'indexed'.")
        parsed, where = parse(query, CODE_QUALIFIERS), self.store.searching.seen()
        if not parsed.words and not parsed.values("filename", "path", "extension"):
            raise Unprocessable("Validation Failed: a code search needs at least one search term.")
        match, mismatch = parsed.match(), parsed.mismatch()
        if match is not None:
            within = self.store.searching.within(parsed)
            columns = "path" if within == {"path"} else "path content" if "path" in within else "content"
            where.add("code_search MATCH {}", f"{{{columns}}} : ({match})")
        elif mismatch is not None:
            where.add("files.id NOT IN (SELECT rowid FROM code_search WHERE code_search MATCH {})", mismatch)
        self.store.searching.limit_scope(where, parsed)
        for qualifier in parsed.qualifiers:
            self._code_condition(where, qualifier)
        ordering = f"files.id {'ASC' if order == 'asc' else 'DESC'}"
        if match is not None and sort != "indexed":
            ordering = "code_search.rank, files.id"
        source = _FOUND_FILES if match is not None else _FILES
        source += " JOIN accounts ON accounts.id = repositories.owner_id"
        rows, total = self.store.searching.run(where, source, _CODE_COLUMNS, ordering, limit, offset)
        return rows, total, parsed

    def search_commits(
        self,
        query: str,
        sort: str | None,
        order: str | None,
        page: int | None,
        per_page: int | None,
    ) -> tuple[list[tuple[Row, Row]], int]:
        """Commits of default branches, each with its repository, and how many there are."""
        limit, offset = self.store.searching.result_window(page, per_page)
        parsed, where = parse(query, COMMIT_QUALIFIERS), self.store.searching.seen()
        match, mismatch = parsed.match(), parsed.mismatch()
        if match is not None:
            where.add("commit_search MATCH {}", match)
        elif mismatch is not None:
            where.add(
                "commits.id NOT IN (SELECT rowid FROM commit_search WHERE commit_search MATCH {})", mismatch
            )
        self.store.searching.limit_scope(where, parsed)
        for qualifier in parsed.qualifiers:
            self._commit_condition(where, qualifier)
        if not parsed.values("repo"):
            where.add("repositories.parent_id IS NULL")
        direction = "ASC" if order == "asc" else "DESC"
        column = {"author-date": "authored_at", "committer-date": "committed_at"}.get(sort or "")
        ordering = f"commits.{column or 'committed_at'} {direction}, commits.id {direction}"
        if match is not None and column is None:
            ordering = "commit_search.rank, commits.id DESC"
        source = _FOUND_COMMITS if match is not None else _COMMITS
        rows, total = self.store.searching.run(
            where, source, "commits.id, repositories.id AS repository_id", ordering, limit, offset
        )
        ids = list(dict.fromkeys(row["id"] for row in rows))
        commits = {row["id"]: row for row in self.store.commits.commits_by_id(ids)}
        homes = {
            row["repository_id"]: self.store.repositories.repository_by_id(row["repository_id"])
            for row in rows
        }
        return [(commits[row["id"]], homes[row["repository_id"]]) for row in rows], total

    def _code_condition(self, where: Where, qualifier: Qualifier) -> None:
        name, value, negated = qualifier.name, qualifier.value, qualifier.negated
        if name == "language":
            language = _ALIASES.get(value.lower(), value.lower())
            extensions = LANGUAGES.get(language, (language,))
            marks = ", ".join("{}" for _ in extensions)
            where.add(f"files.extension IN ({marks})", *extensions, negated=negated)
        elif name == "extension":
            where.add("files.extension = {}", value.removeprefix("."), negated=negated)
        elif name == "filename":
            where.add("files.name = {}", value, negated=negated)
        elif name == "path":
            path = value.strip("/")
            below = "files.path = {} OR files.path LIKE {} ESCAPE '\\'"
            if path:
                where.add(below, path, f"{like(path)}/%", negated=negated)
            else:
                where.add("files.path NOT LIKE '%/%'", negated=negated)
        elif name == "size":
            where.number("files.size", qualifier)
        elif name == "is":
            self.store.searching.kind_of_repository(where, qualifier)
        elif name == "fork" and value.lower() == "only":
            where.add("0")

    def _commit_condition(self, where: Where, qualifier: Qualifier) -> None:
        name, value, negated = qualifier.name, qualifier.value, qualifier.negated
        column = f"commits.{name.replace('-', '_')}"
        if name in ("author", "committer"):
            where.add(f"{column}_id = {ACCOUNT}", self.store.searching.login_of(value), negated=negated)
        elif name in ("author-name", "committer-name"):
            where.add(f"instr(lower({column}), lower({{}})) > 0", value, negated=negated)
        elif name in ("author-email", "committer-email"):
            where.add(f"{column} = {{}}", value, negated=negated)
        elif name in ("author-date", "committer-date"):
            where.time(f"commits.{'authored' if name == 'author-date' else 'committed'}_at", qualifier)
        elif name == "merge":
            where.add(_SEVERAL_PARENTS, negated=not qualifier.flag)
        elif name in ("hash", "tree"):
            column = f"commits.{'sha' if name == 'hash' else 'tree'}"
            first, last = value.lower(), value.lower() + "g"
            where.add(f"{column} >= {{}} AND {column} < {{}}", first, last, negated=negated)
        elif name == "parent":
            where.add(_PARENT, value.lower(), value.lower() + "g", negated=negated)
        elif name == "is":
            self.store.searching.kind_of_repository(where, qualifier)
