"""The service itself, and the parameter types that its tools share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.services.schema import About, Depends, Extra, Number
from mesocosm.services.service import Page, Row, Service

server = Service(
    "codehost",
    CodehostStore,
    instructions=(
        "A code host: repositories of git objects, branches and commits, issues, pull requests with reviews,"
        " releases and search, acting as the signed-in account. Most tools take the owner (a user or an"
        " organisation) and the name of a repository."
    ),
)

Order = Literal["asc", "desc"]
PageNumber = Annotated[int, Extra(type="number", minimum=1), About("Page number, from 1.")]
PageSize = Annotated[int, Extra(type="number", minimum=1, maximum=100)]
LineNumber = Annotated[int, Extra(type="number", minimum=1)]

Owner = Annotated[str, About("Owner of the repository.")]
Repo = Annotated[str, About("Name of the repository.")]
FilePath = Annotated[str, About("Path of the file.")]
CommitMessage = Annotated[str, About("Commit message.")]
CommitBranch = Annotated[str, About("Branch to commit to.")]
TagName = Annotated[str, About("Name of the tag, such as v1.2.0.")]
LabelName = Annotated[str, About("Name of the label.")]
Cursor = Annotated[str, About("The endCursor of the previous page.")]
PullNumber = Annotated[Number, About("Number of the pull request.")]
Direction = Annotated[Order, About("In which direction to sort (default desc).")]


# -- parameters that are worked out of others ---------------------------------------------------------------


def _readable(store: CodehostStore, owner: Owner, repo: Repo) -> Row:
    return store.repositories.repository(owner, repo)


def _writable(store: CodehostStore, owner: Owner, repo: Repo) -> Row:
    return store.repositories.repository(owner, repo, need="write")


Readable = Annotated[Row, Depends(_readable)]
"""A repository that the signed-in account may read."""
Writable = Annotated[Row, Depends(_writable)]
"""One to which it may write."""


class PageRequest(NamedTuple):
    """The page of a list that is asked for, and its length; ``None`` is the product's usual one."""

    page: int | None
    per_page: int | None

    def of(self, items: Sequence[Any], total: int) -> Page:
        """The page, of so many items in all."""
        return Page(items, self.page or 1, self.per_page or 30, total)


def paged(things: str) -> Depends:
    """The parameters ``page`` and ``perPage`` of a list of these things."""

    def paging(store: CodehostStore, page: int | None = None, perPage: int | None = None) -> PageRequest:  # noqa: N803
        return PageRequest(page, perPage)

    size = Annotated[PageSize, About(f"{things} per page, 1 to 100 (default 30).")]
    paging.__annotations__ |= {"page": PageNumber | None, "perPage": size | None}
    return Depends(paging)


Results = Annotated[PageRequest, paged("Results")]
