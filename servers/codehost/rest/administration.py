"""Settings of repositories, releases, locks, events, statuses, archives: what owners' programs ask for."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from datetime import datetime
from functools import partial
from typing import Literal

from mesocosm.doors.request import Request
from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.accounts import settings
from mesocosm.servers.codehost.rest.api import api
from mesocosm.servers.codehost.rest.bodies import body_of, read
from mesocosm.servers.codehost.rest.context import REPO, AtRepo, RepositoryContext, node_id
from mesocosm.servers.codehost.rest.issues import ISSUE
from mesocosm.servers.codehost.rest.releases import whole_release
from mesocosm.servers.codehost.rest.shapes.accounts import full_repository, user
from mesocosm.servers.codehost.rest.shapes.issues import comments, issues
from mesocosm.servers.codehost.rest.shapes.pulls import status
from mesocosm.servers.codehost.store.administration import STATES
from mesocosm.servers.codehost.store.values import Unprocessable, pages
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Reply, Row

MAX_ARCHIVE = 64 * 2**20
"""Bytes of the files of an archive."""


# -- repositories -------------------------------------------------------------------------------------------


@api.patch(REPO)
def update_repository(at: AtRepo) -> Json:
    """A repository with some settings changed."""
    body = at.body
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
    return full_repository(at, at.store.administering.change_repository(at.repository, changes))


@api.delete(REPO)
def delete_repository(at: AtRepo) -> None:
    at.store.administering.remove_repository(at.repository)


@api.put(f"{REPO}/topics")
def set_topics(at: AtRepo) -> Json:
    """The topics of a repository, replaced."""
    names = read.texts(at.body, "names") or []
    at.store.administering.set_topics(at.repository, names)
    return {"names": [name.lower() for name in names]}


@api.get(f"{REPO}/languages")
def list_languages(at: AtRepo) -> Json:
    """Bytes of each language."""
    return at.store.administering.languages(at.repository)


@api.get(f"{REPO}/contributors")
def list_contributors(at: AtRepo) -> Page:
    """List authors of commits on the default branch, by number of commits."""
    at.request.asked.get("anon")
    found = at.store.administering.contributors(at.repository)
    return at.listed(found, lambda one: user(at, one[0], one[1]) | {"contributions": one[2]})


# -- archives -----------------------------------------------------------------------------------------------


@api.get(f"{REPO}/tarball")
@api.get(f"{REPO}/tarball/{{ref:path}}")
def get_tarball(at: AtRepo) -> Reply:
    """The files of a commit as a tar, packed with gzip."""
    folder, moment, files = _files(at)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, mode, data in files:
            entry = tarfile.TarInfo(f"{folder}/{path}")
            entry.size, entry.mode, entry.mtime = len(data), mode, int(moment.timestamp())
            archive.addfile(entry, io.BytesIO(data))
    return _archive(gzip.compress(packed.getvalue(), mtime=0), f"{folder}.tar.gz", "application/x-gzip")


@api.get(f"{REPO}/zipball")
@api.get(f"{REPO}/zipball/{{ref:path}}")
def get_zipball(at: AtRepo) -> Reply:
    """The files of a commit as a zip."""
    folder, moment, files = _files(at)
    packed = io.BytesIO()
    when = (max(moment.year, 1980), moment.month, moment.day, moment.hour, moment.minute, moment.second)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, mode, data in files:
            entry = zipfile.ZipInfo(f"{folder}/{path}", when)
            entry.external_attr = mode << 16
            archive.writestr(entry, data)
    return _archive(packed.getvalue(), f"{folder}.zip", "application/zip")


def _files(at: RepositoryContext) -> tuple[str, datetime, list[tuple[str, int, bytes]]]:
    commit = at.store.commits.find_commit(at.repository, at.request.params.get("ref"))
    if commit is None:
        raise NotFound("Not Found")
    objects = at.store.commits.objects(at.repository)
    _, entries, more = at.store.contents.walk(
        at.repository, commit["sha"], recursive=True, prefix=None, many=100_000
    )
    files = [one for one in entries if one.type == "file"]
    if more or sum(one.size or 0 for one in files) > MAX_ARCHIVE:
        raise Unprocessable(f"An archive has at most {MAX_ARCHIVE // 2**20} MB here: clone the repository.")
    moment = datetime.fromisoformat(commit["committed_at"])
    folder = f"{at.repository['owner']}-{at.repository['name']}-{commit['sha'][:7]}"
    return folder, moment, [(one.path, one.mode & 0o777 or 0o644, objects.data(one.sha)) for one in files]


def _archive(data: bytes, name: str, media_type: str) -> Reply:
    return Reply(data, 200, {"Content-Disposition": f"attachment; filename={name}"}, media_type)


# -- issues -------------------------------------------------------------------------------------------------


@api.get(f"{REPO}/issues/comments")
def list_all_comments(
    at: AtRepo,
    sort: Literal["created", "updated"] = "created",
    direction: Literal["asc", "desc"] | None = None,
    since: str | None = None,
) -> Page:
    """The comments of all conversations of a repository."""
    found = at.store.listing.all_comments(at.repository, sort, direction or "asc", since)
    return at.listed(found, lambda row: comments(at, at.repository, row["number"], [row])[0])


@api.put(f"{ISSUE}/lock")
def lock_issue(at: AtRepo, number: int) -> None:
    """Restrict comments to those with write access."""
    read.choice(at.body, "lock_reason", "off-topic", "too heated", "resolved", "spam")
    at.store.administering.lock(at.repository, number, locked=True)


@api.delete(f"{ISSUE}/lock")
def unlock_issue(at: AtRepo, number: int) -> None:
    """Open comments to everybody again."""
    at.store.administering.lock(at.repository, number, locked=False)


def _events(at: RepositoryContext, issue: Row, pull: Row | None) -> list[Json]:
    """List an issue's events with a known time: closed, merged."""
    found = []
    done = [("merged", pull["merged_at"], pull["merge_sha"])] if pull and pull["merged_at"] else []
    if issue["closed_at"]:
        done.append(("closed", issue["closed_at"], None))
    for number, (event, time, commit) in enumerate(done):
        identity = issue["id"] * 10 + number
        by = user(at, issue["closed_by_id"], issue["closed_by"]) if issue["closed_by"] else None
        found.append(
            {
                "id": identity,
                "node_id": node_id(f"{event.capitalize()}Event", identity),
                "url": at.here("issues/events", identity),
                "actor": by,
                "event": event,
                "commit_id": commit,
                "commit_url": at.here("commits", commit) if commit else None,
                "created_at": time,
                "performed_via_github_app": None,
                **({"state_reason": issue["state_reason"]} if event == "closed" else {}),
            }
        )
    return found


def _happened(at: RepositoryContext, number: int) -> tuple[Row, list[Json]]:
    issue = at.issue(number)
    pull = at.pull(number) if issue["is_pull"] else None
    return issue, _events(at, issue, pull)


@api.get(f"{ISSUE}/events")
def list_events(at: AtRepo, number: int) -> Page:
    """List an issue's events: closed or merged. Others are not kept."""
    return at.listed(_happened(at, number)[1])


def _all_events(at: RepositoryContext) -> list[Json]:
    """The events of all issues and pull requests of a repository, newest first."""
    closed = partial(at.store.listing.issue_page, at.repository, state="closed", per_page=100)
    found: list[Json] = []
    for rows in pages(lambda page: closed(page=page)):
        for issue, shown in zip(rows, issues(at, rows), strict=True):
            pull = at.pull(issue["number"]) if issue["is_pull"] else None
            found += [one | {"issue": shown} for one in _events(at, issue, pull)]
    return sorted(found, key=lambda one: (one["created_at"], one["id"]), reverse=True)


@api.get(f"{REPO}/issues/events")
def list_all_events(at: AtRepo) -> Page:
    """List the closed and merged events of a repository, newest first."""
    return at.listed(_all_events(at))


@api.get(f"{REPO}/issues/events/{{id:int}}")
def get_event(at: AtRepo, id: int) -> Json:
    found = next((one for one in _all_events(at) if one["id"] == id), None)
    if found is None:
        raise NotFound("Not Found")
    return found


@api.get(f"{ISSUE}/timeline")
def list_timeline(at: AtRepo, number: int) -> Page:
    """The comments of an issue and when it was closed or merged, in order."""
    issue, events = _happened(at, number)
    found = [
        one | {"event": "commented", "actor": one["user"]}
        for rows in pages(lambda page: at.store.issues.comments(issue, page, 100))
        for one in comments(at, at.repository, number, rows)
    ]
    return at.listed(sorted((*found, *events), key=lambda one: one["created_at"]))


# -- statuses -----------------------------------------------------------------------------------------------


@api.post(f"{REPO}/statuses/{{sha}}", status=201)
def create_status(at: AtRepo, sha: str) -> Json:
    """Create a commit status for an external service."""
    body = at.body
    read.required(body, "state")
    row = at.store.administering.add_status(
        at.repository,
        sha,
        str(read.choice(body, "state", *STATES)),
        read.text(body, "context") or "default",
        read.text(body, "description") or "",
        read.text(body, "target_url"),
    )
    return status(at, at.repository, row) | {"creator": user(at, at.store.me["id"], at.store.me["login"])}


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
def create_release(at: AtRepo) -> Json:
    """A new release."""
    read.required(at.body, "tag_name")
    made = at.store.administering.create_release(at.repository, _release_of(at.request))
    return whole_release(at, made)


@api.patch(_RELEASE)
def update_release(at: AtRepo, id: int) -> Json:
    """A changed release."""
    changed = at.store.administering.change_release(at.repository, id, _release_of(at.request))
    return whole_release(at, changed)


@api.delete(_RELEASE)
def delete_release(at: AtRepo, id: int) -> None:
    """Delete a release; its tag stays."""
    at.store.administering.remove_release(at.repository, id)
