"""Commits, branches, trees and files."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from mesocosm.servers.codehost.rest.context import Context, node_id
from mesocosm.servers.codehost.rest.shapes.accounts import user
from mesocosm.servers.codehost.store.contents import MAX_FILE, Entry
from mesocosm.servers.codehost.store.differences import Difference, hunks, statistics
from mesocosm.services.schema import Json
from mesocosm.services.service import Row, same

_UNSIGNED = {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}


def signature(row: Row, who: str) -> Json:
    """Format the signature of a commit: name, address and time."""
    date = row["authored_at" if who == "author" else "committed_at"]
    return {"name": row[f"{who}_name"], "email": row[f"{who}_email"], "date": date}


def git_commit(at: Context, repo: Row, row: Row) -> Json:
    """A commit as a git object."""
    return {
        "sha": row["sha"],
        "node_id": node_id("Commit", f"{repo['id']}:{row['sha']}"),
        "url": at.repo(repo, "git/commits", row["sha"]),
        "html_url": at.page(repo, "commit", row["sha"]),
        "author": signature(row, "author"),
        "committer": signature(row, "committer"),
        "message": row["message"],
        "tree": {"sha": row["tree"], "url": at.repo(repo, "git/trees", row["tree"])},
        "parents": parents(at, repo, row, "git/commits"),
        "verification": _UNSIGNED,
    }


def parents(at: Context, repo: Row, row: Row, where: str = "commits") -> list[Json]:
    """The parents of a commit."""
    return [
        {
            "sha": parent["sha"],
            "url": at.repo(repo, where, parent["sha"]),
            "html_url": at.page(repo, "commit", parent["sha"]),
        }
        for parent in at.store.commits.parents(row["id"])
    ]


def commit(at: Context, repo: Row, row: Row) -> Json:
    """A commit without its files."""
    people = {
        who: user(at, row[f"{who}_id"], row[f"{who}_login"]) if row[f"{who}_id"] is not None else None
        for who in ("author", "committer")
    }
    url = at.repo(repo, "commits", row["sha"])
    return {
        "sha": row["sha"],
        "node_id": node_id("Commit", f"{repo['id']}:{row['sha']}"),
        "url": url,
        "html_url": at.page(repo, "commit", row["sha"]),
        "comments_url": f"{url}/comments",
        "commit": {
            "url": at.repo(repo, "git/commits", row["sha"]),
            "author": signature(row, "author"),
            "committer": signature(row, "committer"),
            "message": row["message"],
            "tree": {"sha": row["tree"], "url": at.repo(repo, "git/trees", row["tree"])},
            "comment_count": 0,
            "verification": _UNSIGNED,
        },
        **people,
        "parents": parents(at, repo, row),
    }


def changed_file(at: Context, repo: Row, ref: str, item: Difference, counts: Any = None) -> Json:
    """A file that a commit or a pull request changes; ``counts`` if its numbers of lines are known."""
    objects = at.store.commits.objects(repo)
    additions, deletions = counts or statistics(objects, item)
    patch = hunks(objects, item)
    shape = {
        "sha": item.new_sha or item.old_sha,
        "filename": item.path,
        "status": item.status,
        "additions": additions,
        "deletions": deletions,
        "changes": additions + deletions,
        "blob_url": at.page(repo, "blob", ref, item.path),
        "raw_url": at.page(repo, "raw", ref, item.path),
        "contents_url": at.repo(repo, "contents", item.path) + f"?ref={ref}",
    }
    shape |= {"patch": patch} if patch else {}
    return shape | ({"previous_filename": item.previous_path} if item.previous_path else {})


def content(at: Context, repo: Row, item: Entry, ref: str, data: bytes | None = None) -> Json:
    """A file or directory as a listing shows it; ``data`` is what is in the file, if that is wanted.

    Of a large file only the media type ``raw`` has the contents.
    """
    folder = item.type == "dir"
    url = at.repo(repo, "contents", item.path) + f"?ref={ref}"
    git = at.repo(repo, "git/trees" if folder else "git/blobs", item.sha)
    page = at.page(repo, "tree" if folder else "blob", ref, item.path)
    shape: Json = {
        "type": item.type,
        "size": item.size or 0,
        "name": item.name,
        "path": item.path,
        "sha": item.sha,
        "url": url,
        "git_url": git,
        "html_url": page,
        "download_url": None if folder else at.page(repo, "raw", ref, item.path),
        "_links": {"self": url, "git": git, "html": page},
    }
    if data is not None and len(data) > MAX_FILE:
        shape |= {"content": "", "encoding": "none"}
    elif data is not None:
        shape |= {"content": base64.encodebytes(data).decode(), "encoding": "base64"}
    return shape


def tree_entry(at: Context, repo: Row, item: Entry) -> Json:
    """A file or directory as a tree shows it."""
    kind = {"dir": "tree", "submodule": "commit"}.get(item.type, "blob")
    shape: Json = {"path": item.path, "mode": f"{item.mode:06o}", "type": kind, "sha": item.sha}
    if item.size is not None:
        shape |= {"size": item.size}
    return shape | ({"url": at.repo(repo, f"git/{kind}s", item.sha)} if kind != "commit" else {})


def ref(at: Context, repo: Row, name: str, sha: str, kind: str) -> Json:
    """A ref by its full name, and what it points at."""
    return {
        "ref": name,
        "node_id": node_id("Ref", f"{repo['id']}:{name}"),
        "url": at.repo(repo, "git", name),
        "object": {"sha": sha, "type": kind, "url": at.repo(repo, f"git/{kind}s", sha)},
    }


def asset(at: Context, repo: Row, row: Row) -> Json:
    """A file of a release."""
    return {
        "url": at.repo(repo, "releases/assets", row["id"]),
        "id": row["id"],
        "node_id": node_id("ReleaseAsset", row["id"]),
        **same(row, "name", "content_type", "size", "created_at", "updated_at"),
        "label": row["label"] or "",
        "state": "uploaded",
        "digest": None,
        "download_count": 0,
        "browser_download_url": at.page(repo, "releases/download", row["tag_name"], row["name"]),
        "uploader": user(at, row["uploader_id"], row["uploader"]),
    }


def release(at: Context, repo: Row, row: Row, assets: Sequence[Row]) -> Json:
    """A release with its files."""
    url = at.repo(repo, "releases", row["id"])
    return {
        "id": row["id"],
        "node_id": node_id("Release", row["id"]),
        "url": url,
        "html_url": at.page(repo, "releases/tag", row["tag_name"]),
        "assets_url": f"{url}/assets",
        "upload_url": f"{url}/assets{{?name,label}}",
        "tarball_url": at.repo(repo, "tarball", row["tag_name"]),
        "zipball_url": at.repo(repo, "zipball", row["tag_name"]),
        "tag_name": row["tag_name"],
        "target_commitish": row["target"],
        **same(row, "name", "body"),
        "draft": bool(row["draft"]),
        "prerelease": bool(row["prerelease"]),
        **same(row, "created_at", "published_at"),
        "author": user(at, row["author_id"], row["author"]),
        "assets": [asset(at, repo, one) for one in assets],
    }
