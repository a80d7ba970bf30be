"""Tools about files and directories."""

from __future__ import annotations

import base64
from typing import Annotated, Any, Literal, TypedDict

from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.differences import is_binary
from mesocosm.servers.codehost.tools import shapes
from mesocosm.servers.codehost.tools.server import (
    CommitBranch,
    CommitMessage,
    FilePath,
    PageNumber,
    Readable,
    Writable,
    server,
)
from mesocosm.services.schema import Extra
from mesocosm.services.service import Image

FileField = Literal["type", "name", "path", "size", "sha", "url", "git_url", "html_url", "download_url"]
IMAGES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}


class PushedFile(TypedDict):
    """A file and its contents."""

    path: str
    content: str


@server.reads(long=True)
def get_file_contents(
    store: CodehostStore,
    repository: Readable,
    path: str = "/",
    ref: str | None = None,
    sha: str | None = None,
    fields: list[FileField] | None = None,
) -> Any:
    """Read a file, or list a directory, of a repository.

    A file comes as two texts: one line with the SHA of this version (needed to update the file), then the
    contents; binary files as base64, pictures as images. A directory comes as a list of up to 1,000 entries.

    Args:
        path: Path of the file or directory; / is the root.
        ref: Branch, tag, commit SHA, or a full name such as refs/tags/v1 or refs/pull/7/head.
        sha: Commit SHA, used instead of ref.
        fields: Of a directory, return only these fields of each entry.
    """
    commit, entry, found = store.contents.look(repository, path, sha or ref)
    if isinstance(found, list):
        name = sha or ref or repository["default_branch"]
        return shapes.picked((shapes.entry(repository, item, name) for item in found), fields)
    if entry.type == "submodule":
        return shapes.entry(repository, entry, commit["sha"])
    if (kind := IMAGES.get(entry.name.rpartition(".")[2].lower())) and is_binary(found):
        return f"successfully downloaded binary file (SHA: {entry.sha})", Image(found, kind)
    try:
        return f"successfully downloaded text file (SHA: {entry.sha})", found.decode()
    except UnicodeDecodeError:
        data = base64.b64encode(found).decode()
        return f"successfully downloaded binary file (SHA: {entry.sha}), in base64", data


@server.reads
def get_repository_tree(
    store: CodehostStore,
    repository: Readable,
    tree_sha: str | None = None,
    recursive: bool = False,
    path_filter: str | None = None,
    page: PageNumber | None = None,
) -> dict[str, Any]:
    """List the files and directories of a repository as a git tree.

    A page has up to 1,000 entries; truncated says that there are more, on the next page.

    Args:
        tree_sha: Branch, tag, commit SHA or tree SHA; the default branch if left out.
        recursive: Whether to list what is in the directories too.
        path_filter: Only paths that begin so, such as src/ for the directory src.
    """
    tree, entries, truncated = store.contents.walk(
        repository, tree_sha, recursive=recursive, prefix=path_filter, page=page
    )
    return {
        "sha": tree,
        "truncated": truncated,
        "count": len(entries),
        "tree": [shapes.tree_entry(entry) for entry in entries],
    }


@server.writes
def create_or_update_file(
    store: CodehostStore,
    repository: Writable,
    path: FilePath,
    content: str,
    message: CommitMessage,
    branch: CommitBranch,
    sha: str | None = None,
    allow_symlink_write: bool = False,
) -> dict[str, Any]:
    """Commit one new or changed file.

    Args:
        content: The whole new contents, as plain text.
        sha: SHA of the version that is replaced, as get_file_contents tells it; leave it out for a new file.
        allow_symlink_write: Whether a symbolic link at the path may be given another target.
    """
    commit, entry = store.contents.put_file(
        repository, path, content, message, branch, sha, allow_symlink=allow_symlink_write
    )
    return {
        "content": {
            "name": entry.name,
            "path": entry.path,
            "sha": entry.sha,
            "size": entry.size,
            "html_url": shapes.web(repository, "blob", branch, entry.path),
        },
        "commit": shapes.file_commit(repository, commit),
    }


@server.writes
def push_files(
    store: CodehostStore,
    repository: Writable,
    branch: str,
    files: list[Annotated[PushedFile, Extra(additionalProperties=False)]],
    message: CommitMessage,
) -> dict[str, Any]:
    """Commit several new or changed files at once; files that exist are replaced.

    Args:
        branch: Branch to commit to; one that is not there is created from the default branch.
        files: The files, each with its path and its whole contents as plain text.
    """
    commit = store.contents.push(
        repository, branch, [(file["path"], file["content"]) for file in files], message
    )
    return {"ref": f"refs/heads/{branch}", "object": {"type": "commit", "sha": commit["sha"]}}


@server.writes(destructive=True)
def delete_file(
    store: CodehostStore,
    repository: Writable,
    path: FilePath,
    message: CommitMessage,
    branch: CommitBranch,
) -> dict[str, Any]:
    """Commit the removal of a file."""
    commit = store.contents.remove_file(repository, path, message, branch)
    return {"commit": shapes.file_commit(repository, commit), "content": None}
