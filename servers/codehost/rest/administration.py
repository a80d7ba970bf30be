"""Settings of repositories, releases, locks, events, statuses, archives: what owners' programs ask for."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from datetime import datetime
from typing import Literal

from mesocosm.doors.request import Request
from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.accounts import settings
from mesocosm.servers.codehost.rest.api import api, cut, paged
from mesocosm.servers.codehost.rest.bodies import body_of, read
from mesocosm.servers.codehost.rest.history import REPO
from mesocosm.servers.codehost.rest.issues import ISSUE
from mesocosm.servers.codehost.rest.links import Links, node_id
from mesocosm.servers.codehost.rest.releases import whole_release
from mesocosm.servers.codehost.rest.shapes.accounts import full_repository, user
from mesocosm.servers.codehost.rest.shapes.issues import comments, issues
from mesocosm.servers.codehost.rest.shapes.pulls import status
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.administration import STATES
from mesocosm.servers.codehost.store.refusals import Unprocessable
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Reply, Row

MAX_ARCHIVE = 64 * 2**20
"""Bytes of the files of an archive."""


# -- repositories -------------------------------------------------------------------------------------------


@api.patch(REPO)
def update_repository(store: CodehostStore, request: Request, owner: str, repo: str) -> Json:
    """A repository with some settings changed."""
    repository, body = store.repositories.repository(owner, repo), body_of(request)
    changes: Json = {}
    if (renamed := read.text(body, "name")) is not None:
        changes["name"] = renamed
    for name in ("description", "homepage"):
        if name in body:
            changes[name] = read.text(body, name)
    for name in ("private", "archived"):
        if (flag := read.changed_flag(body, name)) is not None:
            changes[name] = flag
    if visibility := read.choice(body, "visibility", "public", "private"):
        changes["private"] = visibility == "private"
    if branch := read.text(body, "default_branch"):
        changes["default_branch"] = branch
    settings(body)
    return full_repository(Links(request), store, store.administering.change_repository(repository, changes))


@api.delete(REPO)
def delete_repository(store: CodehostStore, owner: str, repo: str) -> None:
    store.administering.remove_repository(store.repositories.repository(owner, repo))


@api.put(f"{REPO}/topics")
def set_topics(store: CodehostStore, request: Request, owner: str, repo: str) -> Json:
    """The topics of a repository, replaced."""
    repository = store.repositories.repository(owner, repo)
    names = read.texts(body_of(request), "names") or []
    store.administering.set_topics(repository, names)
    return {"names": [name.lower() for name in names]}


@api.get(f"{REPO}/languages")
def list_languages(store: CodehostStore, owner: str, repo: str) -> Json:
    """Bytes of each language."""
    return store.administering.languages(store.repositories.repository(owner, repo))


@api.get(f"{REPO}/contributors")
def list_contributors(store: CodehostStore, request: Request, owner: str, repo: str) -> Page:
    """List authors of commits on the default branch, by number of commits."""
    request.asked.get("anon")
    links = Links(request)
    found = store.administering.contributors(store.repositories.repository(owner, repo))
    rows, total = cut(request, found)
    people = [user(links, account, login) | {"contributions": count} for account, login, count in rows]
    return paged(request, people, total)


# -- archives -----------------------------------------------------------------------------------------------


@api.get(f"{REPO}/tarball")
@api.get(f"{REPO}/tarball/{{ref:path}}")
def get_tarball(store: CodehostStore, request: Request, owner: str, repo: str) -> Reply:
    """The files of a commit as a tar, packed with gzip."""
    folder, moment, files = _files(store, request, owner, repo)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, mode, data in files:
            entry = tarfile.TarInfo(f"{folder}/{path}")
            entry.size, entry.mode, entry.mtime = len(data), mode, int(moment.timestamp())
            archive.addfile(entry, io.BytesIO(data))
    return _archive(gzip.compress(packed.getvalue(), mtime=0), f"{folder}.tar.gz", "application/x-gzip")


@api.get(f"{REPO}/zipball")
@api.get(f"{REPO}/zipball/{{ref:path}}")
def get_zipball(store: CodehostStore, request: Request, owner: str, repo: str) -> Reply:
    """The files of a commit as a zip."""
    folder, moment, files = _files(store, request, owner, repo)
    packed = io.BytesIO()
    when = (max(moment.year, 1980), moment.month, moment.day, moment.hour, moment.minute, moment.second)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, mode, data in files:
            entry = zipfile.ZipInfo(f"{folder}/{path}", when)
            entry.external_attr = mode << 16
            archive.writestr(entry, data)
    return _archive(packed.getvalue(), f"{folder}.zip", "application/zip")


def _files(
    store: CodehostStore, request: Request, owner: str, repo: str
) -> tuple[str, datetime, list[tuple[str, int, bytes]]]:
    repository = store.repositories.repository(owner, repo)
    commit = store.commits.find_commit(repository, request.params.get("ref"))
    if commit is None:
        raise NotFound("Not Found")
    objects = store.commits.objects(repository)
    _, entries, more = store.contents.walk(
        repository, commit["sha"], recursive=True, prefix=None, many=100_000
    )
    files = [one for one in entries if one.type == "file"]
    if more or sum(one.size or 0 for one in files) > MAX_ARCHIVE:
        raise Unprocessable(f"An archive has at most {MAX_ARCHIVE // 2**20} MB here: clone the repository.")
    moment = datetime.fromisoformat(commit["committed_at"])
    folder = f"{repository['owner']}-{repository['name']}-{commit['sha'][:7]}"
    return folder, moment, [(one.path, one.mode & 0o777 or 0o644, objects.data(one.sha)) for one in files]


def _archive(data: bytes, name: str, media_type: str) -> Reply:
    return Reply(data, 200, {"Content-Disposition": f"attachment; filename={name}"}, media_type)


# -- issues -------------------------------------------------------------------------------------------------


@api.get(f"{REPO}/issues/comments")
def list_all_comments(
    store: CodehostStore,
    request: Request,
    owner: str,
    repo: str,
    sort: Literal["created", "updated"] = "created",
    direction: Literal["asc", "desc"] | None = None,
    since: str | None = None,
) -> Page:
    """The comments of all conversations of a repository."""
    repository = store.repositories.repository(owner, repo)
    found = store.listing.all_comments(repository, sort, direction or "asc", since)
    rows, total = cut(request, found)
    links = Links(request)
    shown = [comments(links, store, repository, row["number"], [row])[0] for row in rows]
    return paged(request, shown, total)


@api.put(f"{ISSUE}/lock")
def lock_issue(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> None:
    """Restrict comments to those with write access."""
    read.choice(body_of(request), "lock_reason", "off-topic", "too heated", "resolved", "spam")
    store.administering.lock(store.repositories.repository(owner, repo), number, locked=True)


@api.delete(f"{ISSUE}/lock")
def unlock_issue(store: CodehostStore, owner: str, repo: str, number: int) -> None:
    """Open comments to everybody again."""
    store.administering.lock(store.repositories.repository(owner, repo), number, locked=False)


def _events(links: Links, repository: Row, issue: Row, pull: Row | None) -> list[Json]:
    """List an issue's events with a known time: closed, merged."""
    found = []
    done = [("merged", pull["merged_at"], pull["merge_sha"])] if pull and pull["merged_at"] else []
    if issue["closed_at"]:
        done.append(("closed", issue["closed_at"], None))
    for number, (event, at, commit) in enumerate(done):
        identity = issue["id"] * 10 + number
        by = user(links, issue["closed_by_id"], issue["closed_by"]) if issue["closed_by"] else None
        found.append(
            {
                "id": identity,
                "node_id": node_id(f"{event.capitalize()}Event", identity),
                "url": links.repo(repository, "issues/events", identity),
                "actor": by,
                "event": event,
                "commit_id": commit,
                "commit_url": links.repo(repository, "commits", commit) if commit else None,
                "created_at": at,
                "performed_via_github_app": None,
                **({"state_reason": issue["state_reason"]} if event == "closed" else {}),
            }
        )
    return found


def _happened(
    store: CodehostStore, request: Request, owner: str, repo: str, number: int
) -> tuple[Row, Row, list[Json]]:
    repository = store.repositories.repository(owner, repo)
    issue = store.issues.issue(repository, number)
    pull = store.pulls.pull(repository, number) if issue["is_pull"] else None
    return repository, issue, _events(Links(request), repository, issue, pull)


@api.get(f"{ISSUE}/events")
def list_events(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> Page:
    """List an issue's events: closed or merged. Others are not kept."""
    rows, total = cut(request, _happened(store, request, owner, repo, number)[2])
    return paged(request, rows, total)


def _all_events(store: CodehostStore, request: Request, owner: str, repo: str) -> list[Json]:
    """The events of all issues and pull requests of a repository, newest first."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    found: list[Json] = []
    page, total = 1, 1
    while (page - 1) * 100 < total:
        rows, total = store.listing.issue_page(repository, state="closed", page=page, per_page=100)
        for issue, shown in zip(rows, issues(links, store, rows), strict=True):
            pull = store.pulls.pull(repository, issue["number"]) if issue["is_pull"] else None
            found += [one | {"issue": shown} for one in _events(links, repository, issue, pull)]
        page += 1
    return sorted(found, key=lambda one: (one["created_at"], one["id"]), reverse=True)


@api.get(f"{REPO}/issues/events")
def list_all_events(store: CodehostStore, request: Request, owner: str, repo: str) -> Page:
    """List the closed and merged events of a repository, newest first."""
    rows, total = cut(request, _all_events(store, request, owner, repo))
    return paged(request, rows, total)


@api.get(f"{REPO}/issues/events/{{id:int}}")
def get_event(store: CodehostStore, request: Request, owner: str, repo: str, id: int) -> Json:
    found = next((one for one in _all_events(store, request, owner, repo) if one["id"] == id), None)
    if found is None:
        raise NotFound("Not Found")
    return found


@api.get(f"{ISSUE}/timeline")
def list_timeline(store: CodehostStore, request: Request, owner: str, repo: str, number: int) -> Page:
    """The comments of an issue and when it was closed or merged, in order."""
    repository, issue, events = _happened(store, request, owner, repo, number)
    found: list[Json] = []
    page, total = 1, 1
    while (page - 1) * 100 < total:
        rows, total = store.issues.comments(issue, page, 100)
        found += [
            one | {"event": "commented", "actor": one["user"]}
            for one in comments(Links(request), store, repository, number, rows)
        ]
        page += 1
    ordered = sorted((*found, *events), key=lambda one: one["created_at"])
    shown, count = cut(request, ordered)
    return paged(request, shown, count)


# -- statuses -----------------------------------------------------------------------------------------------


@api.post(f"{REPO}/statuses/{{sha}}", status=201)
def create_status(store: CodehostStore, request: Request, owner: str, repo: str, sha: str) -> Json:
    """Create a commit status for an external service."""
    repository, body = store.repositories.repository(owner, repo), body_of(request)
    read.required(body, "state")
    row = store.administering.add_status(
        repository,
        sha,
        str(read.choice(body, "state", *STATES)),
        read.text(body, "context") or "default",
        read.text(body, "description") or "",
        read.text(body, "target_url"),
    )
    return status(Links(request), repository, row) | {
        "creator": user(Links(request), store.me["id"], store.me["login"])
    }


# -- releases -----------------------------------------------------------------------------------------------

_RELEASE = f"{REPO}/releases/{{id:int}}"


def _release_of(request: Request) -> Json:
    body = body_of(request)
    said: Json = {}
    for name, kept in (
        ("tag_name", "tag_name"),
        ("target_commitish", "target"),
        ("name", "name"),
        ("body", "body"),
    ):
        if name in body:
            said[kept] = read.text(body, name) or ""
    for name in ("draft", "prerelease"):
        if (flag := read.changed_flag(body, name)) is not None:
            said[name] = flag
    read.without_effect(body, "generate_release_notes", False)
    read.without_effect(body, "discussion_category_name", "")
    # Which release is the latest follows from their dates.
    read.choice(body, "make_latest", "true", "false", "legacy")
    return said


@api.post(f"{REPO}/releases", status=201)
def create_release(store: CodehostStore, request: Request, owner: str, repo: str) -> Json:
    """A new release."""
    repository = store.repositories.repository(owner, repo)
    read.required(body_of(request), "tag_name")
    made = store.administering.create_release(repository, _release_of(request))
    return whole_release(store, request, repository, made)


@api.patch(_RELEASE)
def update_release(store: CodehostStore, request: Request, owner: str, repo: str, id: int) -> Json:
    """A changed release."""
    repository = store.repositories.repository(owner, repo)
    changed = store.administering.change_release(repository, id, _release_of(request))
    return whole_release(store, request, repository, changed)


@api.delete(_RELEASE)
def delete_release(store: CodehostStore, owner: str, repo: str, id: int) -> None:
    """Delete a release; its tag stays."""
    store.administering.remove_release(store.repositories.repository(owner, repo), id)
