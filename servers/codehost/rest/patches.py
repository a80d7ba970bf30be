"""Commits as mails, as ``git format-patch`` writes them and ``git am`` reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from email.utils import format_datetime

from mesocosm.servers.codehost.rest.context import RepositoryContext
from mesocosm.servers.codehost.store.differences import Difference, differences, unified
from mesocosm.servers.codehost.store.values import moment
from mesocosm.services.service import Row

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
