"""Branches, tags, refs, commits and comparisons."""

from __future__ import annotations

from typing import Any

from mesocosm.doors.request import Request
from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.api import accepts, api, cut, paged, paged_object, window_of
from mesocosm.servers.codehost.rest.bodies import body_of, read
from mesocosm.servers.codehost.rest.links import PREFIX, Links, node_id
from mesocosm.servers.codehost.rest.patches import patches
from mesocosm.servers.codehost.rest.shapes import accounts, git, pulls
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.differences import Difference, differences, unified
from mesocosm.servers.codehost.store.refusals import Unprocessable
from mesocosm.services.service import Page, Reply, Row

REPO = f"{PREFIX}/repos/{{owner}}/{{repo}}"
MAX_FILES = 300
"""Files that a comparison lists."""


def text(content: str, media: str) -> Reply:
    """A diff as its own media type."""
    return Reply(content.encode(), media_type=f"application/vnd.github.{media}; charset=utf-8")


# -- branches and tags --------------------------------------------------------------------------------------


@api.get(f"{REPO}/branches")
def list_branches(store: CodehostStore, request: Request, owner: str, repo: str) -> Page:
    """The branches of a repository by name."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    guarded = store.repositories.protected_branches(repository["id"])
    page, per_page = window_of(request)
    rows, total = store.commits.branches(repository, page, per_page)
    items = [
        {
            "name": row["name"],
            "commit": {"sha": row["sha"], "url": links.repo(repository, "commits", row["sha"])},
            "protected": row["name"] in guarded,
        }
        for row in rows
    ]
    return paged(request, items, total)


@api.get(f"{REPO}/branches/{{branch:path}}/protection")
def get_protection(
    store: CodehostStore, request: Request, owner: str, repo: str, branch: str
) -> dict[str, Any]:
    """Return the protection rules of a branch."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    if store.commits.ref(repository, f"refs/heads/{branch}") is None:
        raise NotFound("Branch not found")
    approvals = store.repositories.protected_branches(repository["id"]).get(branch)
    if approvals is None:
        raise NotFound("Branch not protected")
    url = f"{links.repo(repository, 'branches', branch)}/protection"
    reviews = {
        "url": f"{url}/required_pull_request_reviews",
        "dismiss_stale_reviews": False,
        "require_code_owner_reviews": False,
        "require_last_push_approval": False,
        "required_approving_review_count": approvals,
    }
    off = {"enabled": False}
    return {
        "url": url,
        "required_pull_request_reviews": reviews,
        "enforce_admins": {"url": f"{url}/enforce_admins", "enabled": True},
        "required_linear_history": off,
        "allow_force_pushes": off,
        "allow_deletions": off,
        "block_creations": off,
        "required_conversation_resolution": off,
        "lock_branch": off,
        "allow_fork_syncing": off,
    }


@api.get(f"{REPO}/branches/{{branch:path}}")
def get_branch(store: CodehostStore, request: Request, owner: str, repo: str, branch: str) -> dict[str, Any]:
    """A branch with its newest commit."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    if store.commits.ref(repository, f"refs/heads/{branch}") is None:
        raise NotFound("Branch not found")
    approvals = store.repositories.protected_branches(repository["id"]).get(branch)
    url = links.repo(repository, "branches", branch)
    checks = {"enforcement_level": "off", "contexts": [], "checks": []}
    return {
        "name": branch,
        "commit": git.commit(links, store, repository, store.commits.branch_head(repository, branch)),
        "_links": {"self": url, "html": links.page(repository, "tree", branch)},
        "protected": approvals is not None,
        "protection": {"enabled": approvals is not None, "required_status_checks": checks},
        "protection_url": f"{url}/protection",
    }


@api.get(f"{REPO}/tags")
def list_tags(store: CodehostStore, request: Request, owner: str, repo: str) -> Page:
    """The tags of a repository."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    page, per_page = window_of(request)
    rows, total = store.commits.tags(repository, page, per_page)
    items = [
        {
            "name": row["name"],
            "commit": {"sha": row["sha"], "url": links.repo(repository, "commits", row["sha"])},
            "zipball_url": links.repo(repository, "zipball/refs/tags", row["name"]),
            "tarball_url": links.repo(repository, "tarball/refs/tags", row["name"]),
            "node_id": node_id("Ref", f"{repository['id']}:refs/tags/{row['name']}"),
        }
        for row in rows
    ]
    return paged(request, items, total)


# -- refs ---------------------------------------------------------------------------------------------------


def _ref(store: CodehostStore, links: Links, repository: Row, name: str, sha: str) -> dict[str, Any]:
    kinds = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
    kind = store.commits.objects(repository).types([sha])[sha]
    return git.ref(links, repository, name, sha, kinds[kind])


@api.get(f"{REPO}/git/ref/{{ref:path}}")
def get_ref(store: CodehostStore, request: Request, owner: str, repo: str, ref: str) -> dict[str, Any]:
    """A ref by its name without ``refs/``."""
    repository, name = store.repositories.repository(owner, repo), f"refs/{ref}"
    sha = store.commits.ref(repository, name)
    if sha is None:
        raise NotFound("Not Found")
    return _ref(store, Links(request), repository, name, sha)


api.get(f"{REPO}/git/refs/{{ref:path}}")(get_ref)


@api.get(f"{REPO}/git/refs")
def list_refs(store: CodehostStore, request: Request, owner: str, repo: str) -> Page:
    return _matching(store, request, store.repositories.repository(owner, repo), "refs/")


@api.get(f"{REPO}/git/matching-refs/{{ref:path}}")
def list_matching_refs(store: CodehostStore, request: Request, owner: str, repo: str, ref: str = "") -> Page:
    """The refs whose names begin so."""
    return _matching(store, request, store.repositories.repository(owner, repo), f"refs/{ref}")


def _matching(store: CodehostStore, request: Request, repository: Row, prefix: str) -> Page:
    links = Links(request)
    rows, total = cut(
        request, [row for row in store.commits.refs(repository) if row["name"].startswith(prefix)]
    )
    return paged(request, [_ref(store, links, repository, row["name"], row["sha"]) for row in rows], total)


@api.post(f"{REPO}/git/refs", status=201)
def create_ref(store: CodehostStore, request: Request, owner: str, repo: str) -> dict[str, Any]:
    """A new branch or tag."""
    repository, body = store.repositories.repository(owner, repo, need="write"), body_of(request)
    name, sha = read.required(body, "ref"), read.required(body, "sha")
    if store.commits.ref(repository, name) is not None:
        raise Unprocessable("Reference already exists")
    store.pushes.update_ref(repository, name, sha)
    return _ref(store, Links(request), repository, name, sha)


@api.patch(f"{REPO}/git/refs/{{ref:path}}")
def update_ref(store: CodehostStore, request: Request, owner: str, repo: str, ref: str) -> dict[str, Any]:
    """Have a branch or tag point somewhere else; without ``force`` only forward."""
    repository, body = store.repositories.repository(owner, repo, need="write"), body_of(request)
    name, sha = f"refs/{ref}", read.required(body, "sha")
    if store.commits.ref(repository, name) is None:
        raise Unprocessable("Reference does not exist")
    store.pushes.update_ref(repository, name, sha, force=read.flag(body, "force"))
    return _ref(store, Links(request), repository, name, sha)


@api.delete(f"{REPO}/git/refs/{{ref:path}}")
def delete_ref(store: CodehostStore, owner: str, repo: str, ref: str) -> None:
    """Remove a branch or tag."""
    store.pushes.update_ref(store.repositories.repository(owner, repo, need="write"), f"refs/{ref}", None)


# -- commits ------------------------------------------------------------------------------------------------


@api.get(f"{REPO}/commits")
def list_commits(
    store: CodehostStore,
    request: Request,
    owner: str,
    repo: str,
    sha: str | None = None,
    path: str | None = None,
    author: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Page:
    """The commits that a branch, tag or commit reaches, newest first, but none before its children."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    page, per_page = window_of(request)
    rows, total = store.commits.log(
        repository, sha, path=path, author=author, since=since, until=until, page=page, per_page=per_page
    )
    return paged(request, [git.commit(links, store, repository, row) for row in rows], total)


def named_commit(store: CodehostStore, repository: Row, name: str) -> Row:
    """A commit by any of its names; as in the product, one that there is not cannot be processed."""
    found = store.commits.find_commit(repository, name)
    if found is None:
        raise Unprocessable(f"No commit found for SHA: {name}")
    return found


@api.get(f"{REPO}/commits/{{ref:path}}")
def get_commit(store: CodehostStore, request: Request, owner: str, repo: str, ref: str) -> Any:
    """A commit with the files that it changed."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    page, per_page = window_of(request)
    sha = named_commit(store, repository, ref)["sha"]
    row, stats, changes = store.commits.commit_details(repository, sha, page, per_page)
    if accepts(request, "sha"):
        return text(sha, "sha")
    if accepts(request, "diff"):
        return text(unified(store.commits.objects(repository), [change for change, _ in changes]), "diff")
    if accepts(request, "patch"):
        return text(patches(store, repository, [row["id"]]), "patch")
    files = [git.changed_file(links, store, repository, sha, *change) for change in changes]
    shape = git.commit(links, store, repository, row) | {"stats": stats, "files": files}
    return paged_object(request, shape, len(store.commits.changes(row["id"])))


@api.get(f"{REPO}/commits/{{ref}}/status")
def get_combined_status(
    store: CodehostStore, request: Request, owner: str, repo: str, ref: str
) -> dict[str, Any]:
    """Combine the statuses of a commit."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    sha = named_commit(store, repository, ref)["sha"]
    rows = store.pulls.statuses(repository, sha)
    states = {row["state"] for row in rows}
    bad = "failure" if states & {"error", "failure"} else None
    return {
        "state": bad or ("success" if states == {"success"} else "pending"),
        "sha": sha,
        "total_count": len(rows),
        "statuses": [pulls.status(links, repository, row) for row in rows],
        "repository": accounts.repository(links, store, repository),
        "commit_url": links.repo(repository, "commits", sha),
        "url": links.repo(repository, "commits", sha, "status"),
    }


@api.get(f"{REPO}/commits/{{ref}}/statuses")
@api.get(f"{REPO}/statuses/{{ref}}")
def list_statuses(store: CodehostStore, request: Request, owner: str, repo: str, ref: str) -> Page:
    """The newest status of each context of a commit."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    rows, total = cut(request, store.pulls.statuses(repository, named_commit(store, repository, ref)["sha"]))
    return paged(request, [pulls.status(links, repository, row) for row in rows], total)


@api.get(f"{REPO}/commits/{{ref}}/check-runs")
def list_check_runs(store: CodehostStore, request: Request, owner: str, repo: str, ref: str) -> Reply:
    """The check runs of a commit."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    rows, total = cut(
        request, store.pulls.check_runs(repository, named_commit(store, repository, ref)["sha"])
    )
    runs = [pulls.check_run(links, repository, row) for row in rows]
    return paged_object(request, {"total_count": total, "check_runs": runs}, total)


@api.get(f"{REPO}/commits/{{ref}}/branches-where-head")
def list_branches_of_head(store: CodehostStore, request: Request, owner: str, repo: str, ref: str) -> Page:
    """The branches that end at a commit."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    sha, guarded = (
        named_commit(store, repository, ref)["sha"],
        store.repositories.protected_branches(repository["id"]),
    )
    names = [
        row["name"].removeprefix("refs/heads/")
        for row in store.commits.refs(repository)
        if row["sha"] == sha and row["name"].startswith("refs/heads/")
    ]
    commit = {"sha": sha, "url": links.repo(repository, "commits", sha)}
    rows, total = cut(
        request, [{"name": name, "commit": commit, "protected": name in guarded} for name in names]
    )
    return paged(request, rows, total)


@api.post(f"{REPO}/merges", status=201)
def merge_branch(store: CodehostStore, request: Request, owner: str, repo: str) -> Any:
    """Merge a branch into another; 204 if there is nothing to merge."""
    repository, body = store.repositories.repository(owner, repo), body_of(request)
    base, head = read.required(body, "base"), read.required(body, "head")
    row = store.pulls.merge_branch(repository, base, head, read.text(body, "commit_message"))
    return Reply(b"", 204) if row is None else git.commit(Links(request), store, repository, row)


@api.get(f"{REPO}/compare/{{basehead:path}}")
def compare(store: CodehostStore, request: Request, owner: str, repo: str, basehead: str) -> Any:
    """Compare commits: what ``head`` adds to ``base`` in ``base...head``; ``owner:branch`` refers to a
    fork.
    """
    repository, links = store.repositories.repository(owner, repo), Links(request)
    base, head, fork, found = compared(store, repository, basehead)
    if accepts(request, "diff"):
        return text(unified(store.commits.objects(repository), found), "diff")
    if accepts(request, "patch"):
        return text(patches(store, repository, store.commits.commits_between(base, head)), "patch")
    ahead, behind = store.commits.commits_between(base, head), store.commits.commits_between(head, base)
    states = {(False, False): "identical", (True, False): "ahead", (False, True): "behind"}
    ids, _ = cut(request, ahead)
    url, page = links.repo(repository, "compare", basehead), links.page(repository, "compare", basehead)
    shape = {
        "url": url,
        "html_url": page,
        "permalink_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "base_commit": git.commit(links, store, repository, base),
        "merge_base_commit": git.commit(links, store, repository, fork),
        "status": states.get((bool(ahead), bool(behind)), "diverged"),
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [
            git.commit(links, store, repository, row) for row in store.commits.commits_by_id(list(ids))
        ],
        "files": [
            git.changed_file(links, store, repository, head["sha"], item) for item in found[:MAX_FILES]
        ],
    }
    return paged_object(request, shape, len(ahead))


def compared(store: CodehostStore, repository: Row, basehead: str) -> tuple[Row, Row, Row, list[Difference]]:
    """The two commits of a comparison, the one at which they parted, and what changed since."""
    base_name, dots, head_name = basehead.partition("...")
    if not dots:
        raise NotFound("Not Found")
    base, head = (_compared(store, repository, name) for name in (base_name, head_name))
    bases = store.commits.merge_bases(base, head)
    if not bases:
        raise NotFound("Not Found")
    fork = store.commits.commit_by_sha(repository, bases[0])
    return base, head, fork, differences(store.commits.objects(repository), fork["tree"], head["tree"])


def _compared(store: CodehostStore, repository: Row, name: str) -> Row:
    source, branch = store.pulls.source(repository, name) if ":" in name else (repository, name)
    found = store.commits.find_commit(source, branch)
    if found is None:
        raise NotFound("Not Found")
    return found
