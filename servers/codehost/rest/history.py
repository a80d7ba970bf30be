"""Branches, tags, refs, commits and comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from email.utils import format_datetime
from typing import Any

from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.api import api
from mesocosm.servers.codehost.rest.bodies import read
from mesocosm.servers.codehost.rest.context import (
    REPO,
    AtRepo,
    AtWritable,
    RepositoryContext,
    node_id,
)
from mesocosm.servers.codehost.rest.shapes import accounts, git, pulls
from mesocosm.servers.codehost.store.differences import Difference, differences, unified
from mesocosm.servers.codehost.store.values import Unprocessable, moment
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Reply, Row

MAX_FILES = 300
"""Files that a comparison lists."""


def text(content: str, media: str) -> Reply:
    """A diff as its own media type."""
    return Reply(content.encode(), media_type=f"application/vnd.github.{media}; charset=utf-8")


# -- branches and tags --------------------------------------------------------------------------------------


@api.get(f"{REPO}/branches")
def list_branches(at: AtRepo) -> Page:
    """The branches of a repository by name."""
    guarded = at.store.repositories.protected_branches(at.repository["id"])
    rows, total = at.store.commits.branches(at.repository, **at.window)
    items = [
        {
            "name": row["name"],
            "commit": {"sha": row["sha"], "url": at.here("commits", row["sha"])},
            "protected": row["name"] in guarded,
        }
        for row in rows
    ]
    return at.paged(items, total)


@api.get(f"{REPO}/branches/{{branch:path}}/protection")
def get_protection(at: AtRepo, branch: str) -> Json:
    """Return the protection rules of a branch."""
    if at.store.commits.ref(at.repository, f"refs/heads/{branch}") is None:
        raise NotFound("Branch not found")
    approvals = at.store.repositories.protected_branches(at.repository["id"]).get(branch)
    if approvals is None:
        raise NotFound("Branch not protected")
    url = f"{at.here('branches', branch)}/protection"
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
def get_branch(at: AtRepo, branch: str) -> Json:
    """A branch with its newest commit."""
    if at.store.commits.ref(at.repository, f"refs/heads/{branch}") is None:
        raise NotFound("Branch not found")
    approvals = at.store.repositories.protected_branches(at.repository["id"]).get(branch)
    url = at.here("branches", branch)
    checks = {"enforcement_level": "off", "contexts": [], "checks": []}
    return {
        "name": branch,
        "commit": git.commit(at, at.repository, at.store.commits.branch_head(at.repository, branch)),
        "_links": {"self": url, "html": at.page(at.repository, "tree", branch)},
        "protected": approvals is not None,
        "protection": {"enabled": approvals is not None, "required_status_checks": checks},
        "protection_url": f"{url}/protection",
    }


@api.get(f"{REPO}/tags")
def list_tags(at: AtRepo) -> Page:
    """The tags of a repository."""
    rows, total = at.store.commits.tags(at.repository, **at.window)
    items = [
        {
            "name": row["name"],
            "commit": {"sha": row["sha"], "url": at.here("commits", row["sha"])},
            "zipball_url": at.here("zipball/refs/tags", row["name"]),
            "tarball_url": at.here("tarball/refs/tags", row["name"]),
            "node_id": node_id("Ref", f"{at.repository['id']}:refs/tags/{row['name']}"),
        }
        for row in rows
    ]
    return at.paged(items, total)


# -- refs ---------------------------------------------------------------------------------------------------


def _ref(at: RepositoryContext, name: str, sha: str) -> Json:
    kinds = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
    kind = at.store.commits.objects(at.repository).types([sha])[sha]
    return git.ref(at, at.repository, name, sha, kinds[kind])


@api.get(f"{REPO}/git/ref/{{ref:path}}")
def get_ref(at: AtRepo, ref: str) -> Json:
    """A ref by its name without ``refs/``."""
    at.repository, name = at.repository, f"refs/{ref}"
    sha = at.store.commits.ref(at.repository, name)
    if sha is None:
        raise NotFound("Not Found")
    return _ref(at, name, sha)


api.get(f"{REPO}/git/refs/{{ref:path}}")(get_ref)


@api.get(f"{REPO}/git/refs")
def list_refs(at: AtRepo) -> Page:
    return _matching(at, "refs/")


@api.get(f"{REPO}/git/matching-refs/{{ref:path}}")
def list_matching_refs(at: AtRepo, ref: str = "") -> Page:
    """The refs whose names begin so."""
    return _matching(at, f"refs/{ref}")


def _matching(at: RepositoryContext, prefix: str) -> Page:
    rows, total = at.cut(
        [row for row in at.store.commits.refs(at.repository) if row["name"].startswith(prefix)]
    )
    return at.paged([_ref(at, row["name"], row["sha"]) for row in rows], total)


@api.post(f"{REPO}/git/refs", status=201)
def create_ref(at: AtWritable) -> Json:
    """A new branch or tag."""
    body = at.body
    name, sha = read.required(body, "ref"), read.required(body, "sha")
    if at.store.commits.ref(at.repository, name) is not None:
        raise Unprocessable("Reference already exists")
    at.store.pushes.update_ref(at.repository, name, sha)
    return _ref(at, name, sha)


@api.patch(f"{REPO}/git/refs/{{ref:path}}")
def update_ref(at: AtWritable, ref: str) -> Json:
    """Have a branch or tag point somewhere else; without ``force`` only forward."""
    body = at.body
    name, sha = f"refs/{ref}", read.required(body, "sha")
    if at.store.commits.ref(at.repository, name) is None:
        raise Unprocessable("Reference does not exist")
    at.store.pushes.update_ref(at.repository, name, sha, force=read.flag(body, "force"))
    return _ref(at, name, sha)


@api.delete(f"{REPO}/git/refs/{{ref:path}}")
def delete_ref(at: AtWritable, ref: str) -> None:
    """Remove a branch or tag."""
    at.store.pushes.update_ref(at.repository, f"refs/{ref}", None)


# -- commits ------------------------------------------------------------------------------------------------


@api.get(f"{REPO}/commits")
def list_commits(
    at: AtRepo,
    sha: str | None = None,
    path: str | None = None,
    author: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Page:
    """The commits that a branch, tag or commit reaches, newest first, but none before its children."""
    rows, total = at.store.commits.log(
        at.repository, sha, path=path, author=author, since=since, until=until, **at.window
    )
    return at.paged([git.commit(at, at.repository, row) for row in rows], total)


def named_commit(at: RepositoryContext, name: str) -> Row:
    """A commit by any of its names; as in the product, one that there is not cannot be processed."""
    found = at.store.commits.find_commit(at.repository, name)
    if found is None:
        raise Unprocessable(f"No commit found for SHA: {name}")
    return found


@api.get(f"{REPO}/commits/{{ref:path}}")
def get_commit(at: AtRepo, ref: str) -> Any:
    """A commit with the files that it changed."""
    sha = named_commit(at, ref)["sha"]
    row, stats, changes = at.store.commits.commit_details(at.repository, sha, **at.window)
    if at.accepts("sha"):
        return text(sha, "sha")
    if at.accepts("diff"):
        return text(
            unified(at.store.commits.objects(at.repository), [change for change, _ in changes]), "diff"
        )
    if at.accepts("patch"):
        return text(patches(at, [row["id"]]), "patch")
    files = [git.changed_file(at, at.repository, sha, *change) for change in changes]
    shape = git.commit(at, at.repository, row) | {"stats": stats, "files": files}
    return at.paged_object(shape, len(at.store.commits.changes(row["id"])))


@api.get(f"{REPO}/commits/{{ref}}/status")
def get_combined_status(at: AtRepo, ref: str) -> Json:
    """Combine the statuses of a commit."""
    sha = named_commit(at, ref)["sha"]
    rows = at.store.pulls.statuses(at.repository, sha)
    return {
        "state": at.store.pulls.combined_state(rows),
        "sha": sha,
        "total_count": len(rows),
        "statuses": [pulls.status(at, at.repository, row) for row in rows],
        "repository": accounts.repository(at, at.repository),
        "commit_url": at.here("commits", sha),
        "url": at.here("commits", sha, "status"),
    }


@api.get(f"{REPO}/commits/{{ref}}/statuses")
@api.get(f"{REPO}/statuses/{{ref}}")
def list_statuses(at: AtRepo, ref: str) -> Page:
    """The newest status of each context of a commit."""
    return at.listed(
        at.store.pulls.statuses(at.repository, named_commit(at, ref)["sha"]),
        lambda row: pulls.status(at, at.repository, row),
    )


@api.get(f"{REPO}/commits/{{ref}}/check-runs")
def list_check_runs(at: AtRepo, ref: str) -> Reply:
    """The check runs of a commit."""
    rows, total = at.cut(at.store.pulls.check_runs(at.repository, named_commit(at, ref)["sha"]))
    runs = [pulls.check_run(at, at.repository, row) for row in rows]
    return at.paged_object({"total_count": total, "check_runs": runs}, total)


@api.get(f"{REPO}/commits/{{ref}}/branches-where-head")
def list_branches_of_head(at: AtRepo, ref: str) -> Page:
    """The branches that end at a commit."""
    sha, guarded = (
        named_commit(at, ref)["sha"],
        at.store.repositories.protected_branches(at.repository["id"]),
    )
    names = [
        row["name"].removeprefix("refs/heads/")
        for row in at.store.commits.refs(at.repository)
        if row["sha"] == sha and row["name"].startswith("refs/heads/")
    ]
    commit = {"sha": sha, "url": at.here("commits", sha)}
    return at.listed([{"name": name, "commit": commit, "protected": name in guarded} for name in names])


@api.post(f"{REPO}/merges", status=201)
def merge_branch(at: AtRepo) -> Any:
    """Merge a branch into another; 204 if there is nothing to merge."""
    body = at.body
    base, head = read.required(body, "base"), read.required(body, "head")
    row = at.store.pulls.merge_branch(at.repository, base, head, read.text(body, "commit_message"))
    return Reply(b"", 204) if row is None else git.commit(at, at.repository, row)


@api.get(f"{REPO}/compare/{{basehead:path}}")
def compare(at: AtRepo, basehead: str) -> Any:
    """Compare commits: what ``head`` adds to ``base`` in ``base...head``; ``owner:branch`` refers to a
    fork.
    """
    base, head, fork, found = compared(at, basehead)
    if at.accepts("diff"):
        return text(unified(at.store.commits.objects(at.repository), found), "diff")
    if at.accepts("patch"):
        return text(patches(at, at.store.commits.commits_between(base, head)), "patch")
    ahead, behind = at.store.commits.commits_between(base, head), at.store.commits.commits_between(head, base)
    states = {(False, False): "identical", (True, False): "ahead", (False, True): "behind"}
    ids, _ = at.cut(ahead)
    url, page = at.here("compare", basehead), at.page(at.repository, "compare", basehead)
    shape = {
        "url": url,
        "html_url": page,
        "permalink_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "base_commit": git.commit(at, at.repository, base),
        "merge_base_commit": git.commit(at, at.repository, fork),
        "status": states.get((bool(ahead), bool(behind)), "diverged"),
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [git.commit(at, at.repository, row) for row in at.store.commits.commits_by_id(list(ids))],
        "files": [git.changed_file(at, at.repository, head["sha"], item) for item in found[:MAX_FILES]],
    }
    return at.paged_object(shape, len(ahead))


def compared(at: RepositoryContext, basehead: str) -> tuple[Row, Row, Row, list[Difference]]:
    """The two commits of a comparison, the one at which they parted, and what changed since."""
    base_name, dots, head_name = basehead.partition("...")
    if not dots:
        raise NotFound("Not Found")
    base, head = (_compared(at, name) for name in (base_name, head_name))
    bases = at.store.commits.merge_bases(base, head)
    if not bases:
        raise NotFound("Not Found")
    fork = at.store.commits.commit_by_sha(at.repository, bases[0])
    return base, head, fork, differences(at.store.commits.objects(at.repository), fork["tree"], head["tree"])


def _compared(at: RepositoryContext, name: str) -> Row:
    source, branch = at.store.pulls.source(at.repository, name) if ":" in name else (at.repository, name)
    found = at.store.commits.find_commit(source, branch)
    if found is None:
        raise NotFound("Not Found")
    return found


# -- commits as mails, as `git format-patch` writes them and `git am` reads them ----------------------------

MAX_PATCHES = 250
"""Commits of a series of patches, as in the product."""


def patches(at: RepositoryContext, commits: Sequence[int]) -> str:
    """Commits as mails that ``git am`` takes; merges are left out, as by ``git format-patch``."""
    rows = [
        row
        for row in at.store.commits.commits_by_id(list(commits[:MAX_PATCHES]))
        if len(at.store.commits.parents(row["id"])) < 2
    ]
    many = len(rows)
    return "".join(
        line + "\n"
        for number, row in enumerate(rows, 1)
        for line in _mail(at, row, f"[PATCH {number}/{many}]" if many > 1 else "[PATCH]")
    )


def changes(at: RepositoryContext, row: Row) -> Sequence[Difference]:
    """List a commit's changes against its first parent."""
    parents = at.store.commits.parents(row["id"])
    before = at.store.commits.commit_by_sha(at.repository, parents[0]["sha"])["tree"] if parents else None
    return differences(at.store.commits.objects(at.repository), before, row["tree"])


def _mail(at: RepositoryContext, row: Row, mark: str) -> Iterator[str]:
    subject, _, body = row["message"].partition("\n\n")
    yield f"From {row['sha']} Mon Sep 17 00:00:00 2001"
    yield f"From: {row['author_name']} <{row['author_email']}>"
    yield f"Date: {format_datetime(moment(row['authored_at']))}"
    yield f"Subject: {mark} {' '.join(subject.split())}"
    yield ""
    if body.strip():
        yield body.strip("\n")
    yield "---"
    yield ""
    yield unified(at.store.commits.objects(at.repository), changes(at, row)).rstrip("\n")
    yield "-- "
    yield "2.0"
    yield ""
