"""Tools about accounts, repositories and releases."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.tools import shapes
from mesocosm.servers.codehost.tools.server import PageRequest, Readable, TagName, paged, server
from mesocosm.services.service import Page

ReleaseField = Literal[
    "id", "tag_name", "name", "body", "html_url", "published_at", "prerelease", "draft", "author"
]


@server.reads
def get_me(store: CodehostStore) -> dict[str, Any]:
    """Show the account that you act as: login, id, profile, and how many repositories it owns."""
    me = store.me
    return shapes.profile(me, store.accounts.repository_counts(me["id"]))


@server.writes
def create_repository(
    store: CodehostStore,
    name: str,
    description: str | None = None,
    organization: str | None = None,
    private: bool = True,
    autoInit: bool | None = None,  # noqa: N803 - the product's spelling
) -> dict[str, Any]:
    """Create a repository in your account or in an organisation that you belong to.

    Args:
        name: Name of the new repository: ASCII letters, digits, and the characters . - _
        description: What the repository is for.
        organization: Login of the organisation that is to own it; your own account if left out.
        private: Whether only those with access see it; set false for a public repository.
        autoInit: Whether to commit a README.md, so that the default branch exists.
    """
    repository = store.fields.start_repository(
        name, description, organization, private=private, with_readme=bool(autoInit)
    )
    return shapes.created(repository["id"], shapes.web(repository))


@server.writes
def fork_repository(
    store: CodehostStore, repository: Readable, organization: str | None = None
) -> dict[str, Any]:
    """Fork a repository to your account, or to an organisation that you belong to.

    Args:
        owner: Owner of the repository to fork.
        repo: Name of the repository to fork.
        organization: Login of the organisation that is to own the fork; your own account if left out.
    """
    fork = store.repositories.fork_repository(repository, organization)
    return shapes.created(fork["id"], shapes.web(fork))


@server.reads
def list_repository_collaborators(
    store: CodehostStore,
    repository: Readable,
    affiliation: Literal["outside", "direct", "all"] | None = None,
    *,
    paging: Annotated[PageRequest, paged("People")],
) -> Page:
    """List who has access to a repository, with their roles (read, triage, write, maintain, admin).

    Args:
        affiliation: outside: not members of the organisation; direct: given access personally; all (default).
    """
    people, total = store.repositories.collaborators(repository, affiliation or "all", *paging)
    items = [{"login": row["login"], "id": row["id"], "role_name": row["role"]} for row in people]
    return paging.of(items, total)


@server.reads
def list_releases(
    store: CodehostStore,
    repository: Readable,
    fields: list[ReleaseField] | None = None,
    *,
    paging: Annotated[PageRequest, paged("Releases")],
) -> Page:
    """List the releases of a repository, newest first.

    Args:
        fields: Return only these fields of each release; leaving out body shortens the answer most.
    """
    rows, total = store.releases.listed(repository, *paging)
    items = shapes.picked((shapes.release(repository, row) for row in rows), fields)
    return paging.of(items, total)


@server.reads
def get_latest_release(store: CodehostStore, repository: Readable) -> dict[str, Any]:
    """Show the newest release of a repository that is neither a draft nor a prerelease."""
    return shapes.full_release(repository, store.releases.latest_release(repository))


@server.reads
def get_release_by_tag(store: CodehostStore, repository: Readable, tag: TagName) -> dict[str, Any]:
    """Show the release of a tag."""
    return shapes.full_release(repository, store.releases.release(repository, tag))
