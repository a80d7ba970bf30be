"""Context of a route: the store, the request, its repository, and addresses for the answer."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, TypedDict
from urllib.parse import quote

from mesocosm.doors.request import Request
from mesocosm.servers.codehost.rest.api import api, page_headers
from mesocosm.servers.codehost.rest.bodies import body_of
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.services.fields import Fields
from mesocosm.services.schema import Depends
from mesocosm.services.service import Page, Reply, Row

PREFIX = "/api/v3"
"""Path of the API of GitHub Enterprise."""
REPO = f"{PREFIX}/repos/{{owner}}/{{repo}}"
MAX_PER_PAGE, PER_PAGE = 100, 30


class Window(TypedDict):
    """The page of a list that is asked for."""

    page: int
    per_page: int


class Context:
    """One request, and how its answer is addressed and paged.

    Addresses are relative to the URL that the client used, and never stored.
    """

    def __init__(self, store: CodehostStore, request: Request) -> None:
        self.store, self.request = store, request

    # -- addresses --------------------------------------------------------------------------------------

    def api(self, *path: object) -> str:
        """The address of something in the API."""
        return "/".join((self.request.base + PREFIX, *(quote(str(part), safe="/:") for part in path)))

    def web(self, *path: object) -> str:
        """The address of something's page."""
        return "/".join((self.request.base, *(quote(str(part), safe="/:") for part in path)))

    def repo(self, repository: Row, *path: object) -> str:
        """The address of something of a repository in the API."""
        return self.api("repos", repository["owner"], repository["name"], *path)

    def page(self, repository: Row, *path: object) -> str:
        """The address of a page of a repository."""
        return self.web(repository["owner"], repository["name"], *path)

    # -- what was asked for -----------------------------------------------------------------------------

    @property
    def body(self) -> Fields:
        """The JSON object that the request carries; a missing body is an empty one."""
        return body_of(self.request)

    @cached_property
    def window(self) -> Window:
        """The page and its size; what is out of range is set right, as in the product."""
        given = self.request.asked
        page, per_page = (_number(given.get(name, "")) for name in ("page", "per_page"))
        return {
            "page": max(1, min(page or 1, 1_000_000)),
            "per_page": min(per_page or PER_PAGE, MAX_PER_PAGE),
        }

    def accepts(self, media: str) -> bool:
        """True if the client accepts one of the product's own media types (``raw``, ``diff``)."""
        accept = self.request.headers.get("accept", "")
        return any(f"application/vnd.github.{kind}{media}" in accept for kind in ("", "v3.", "VERSION."))

    # -- answers ----------------------------------------------------------------------------------------

    def paged(self, items: Sequence[Any], total: int) -> Page:
        """The page asked for, of so many items in all."""
        return Page(items, **self.window, total=total)

    def paged_object(self, shape: Mapping[str, Any], total: int) -> Reply:
        """An object one of whose lists has several pages of ``total`` items in all."""
        return api.answer(shape, headers=page_headers(self.paged((), total), self.request))

    def cut(self, rows: Sequence[Any]) -> tuple[Sequence[Any], int]:
        """The rows of a whole list that are on the page asked for, and how many there are."""
        begin = (self.window["page"] - 1) * self.window["per_page"]
        return rows[begin : begin + self.window["per_page"]], len(rows)

    def listed(self, rows: Sequence[Any], shown: Callable[[Any], Any] = lambda row: row) -> Page:
        """The page asked for, of a whole list."""
        chosen, total = self.cut(rows)
        return self.paged([shown(row) for row in chosen], total)


class RepositoryContext(Context):
    """A request below a repository, which has been found."""

    def __init__(self, store: CodehostStore, request: Request, repository: Row) -> None:
        super().__init__(store, request)
        self.repository = repository

    def here(self, *path: object) -> str:
        """The address of something of the repository in the API."""
        return self.repo(self.repository, *path)

    def issue(self, number: int) -> Row:
        """An issue or a pull request of the repository."""
        return self.store.issues.issue(self.repository, number)

    def pull(self, number: int) -> Row:
        """A pull request of the repository."""
        return self.store.pulls.pull(self.repository, number)


def _here(store: CodehostStore, request: Request) -> Context:
    return Context(store, request)


def _readable(store: CodehostStore, request: Request, owner: str, repo: str) -> RepositoryContext:
    return RepositoryContext(store, request, store.repositories.repository(owner, repo))


def _writable(store: CodehostStore, request: Request, owner: str, repo: str) -> RepositoryContext:
    return RepositoryContext(store, request, store.repositories.repository(owner, repo, need="write"))


At = Annotated[Context, Depends(_here)]
AtRepo = Annotated[RepositoryContext, Depends(_readable)]
"""At a repository that the signed-in account may read."""
AtWritable = Annotated[RepositoryContext, Depends(_writable)]
"""At a repository to which it may write."""


def node_id(kind: str, identity: object) -> str:
    """The id by which something is known in the product's other API."""
    return base64.b64encode(f"0{len(kind)}:{kind}{identity}".encode()).decode()


def _number(said: Any) -> int:
    """``page[]=1`` says a list, and no number."""
    is_number = isinstance(said, str) and said.isascii() and said.isdecimal() and len(said) < 10
    return int(said) if is_number else 0
