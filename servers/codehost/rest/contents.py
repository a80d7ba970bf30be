"""Files, and git's objects one by one."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime
from typing import Any

from dulwich.objects import Blob, ObjectID, Tag

from mesocosm.doors.request import Request
from mesocosm.errors import Conflict, NotFound
from mesocosm.servers.codehost.rest.api import accepts, api
from mesocosm.servers.codehost.rest.bodies import body_of, read
from mesocosm.servers.codehost.rest.history import REPO
from mesocosm.servers.codehost.rest.links import Links, node_id
from mesocosm.servers.codehost.rest.shapes import git
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.contents import MAX_RAW, SUBMODULE, By, Entry, valid_path
from mesocosm.servers.codehost.store.history import Signature
from mesocosm.servers.codehost.store.objects import DIRECTORY, write_tree
from mesocosm.servers.codehost.store.refusals import Unprocessable
from mesocosm.servers.codehost.store.values import clean, moment, parse_time
from mesocosm.services.fields import Fields
from mesocosm.services.service import Reply, Row

MAX_ENTRIES = 10_000
"""Entries of a tree that are listed."""
_TREE, _BLOB, _COMMIT, _TAG = 2, 3, 1, 4
_MODES = {0o100644: _BLOB, 0o100755: _BLOB, 0o120000: _BLOB, DIRECTORY: _TREE, SUBMODULE: _COMMIT}


# -- files --------------------------------------------------------------------------------------------------


@api.get(f"{REPO}/contents")
@api.get(f"{REPO}/contents/{{path:path}}")
def get_content(
    store: CodehostStore,
    request: Request,
    owner: str,
    repo: str,
    path: str = "",
    ref: str | None = None,
) -> Any:
    """A file in base64, or as it is (media type ``raw``); of a directory a list."""
    repository, links = store.repositories.repository(owner, repo), Links(request)
    name = ref or repository["default_branch"]
    entry, found = look(store, repository, path, ref)
    if isinstance(found, list):
        return [git.content(links, repository, item, name) for item in found]
    if accepts(request, "raw"):
        return Reply(found, media_type="application/vnd.github.raw; charset=utf-8")
    if entry.type == "symlink":
        return git.content(links, repository, entry, name) | {"target": found.decode("utf-8", "replace")}
    return git.content(links, repository, entry, name, found)


def look(
    store: CodehostStore, repository: Row, path: str, ref: str | None
) -> tuple[Entry, bytes | list[Entry]]:
    """Look up a path; an empty repository has none."""
    try:
        _, entry, found = store.contents.look(repository, path, ref, MAX_RAW)
    except Conflict as refusal:
        raise NotFound(refusal.message) from None
    return entry, found


@api.get(f"{REPO}/readme")
def get_readme(store: CodehostStore, request: Request, owner: str, repo: str, ref: str | None = None) -> Any:
    """The file in the root that introduces the repository."""
    _, entries = look(store, store.repositories.repository(owner, repo), "", ref)
    assert isinstance(entries, list)
    names = [entry.path for entry in entries if entry.type == "file"]
    readme = next((name for name in names if name.lower().partition(".")[0] == "readme"), None)
    if readme is None:
        raise NotFound("Not Found")
    return get_content(store, request, owner, repo, readme, ref)


@api.put(f"{REPO}/contents/{{path:path}}")
def put_content(store: CodehostStore, request: Request, owner: str, repo: str, path: str) -> Reply:
    """Commit one new or changed file; ``sha`` names the version that it replaces."""
    request.asked.get("ref")  # some clients send it with everything; the body says the branch
    repository, links, body = (
        store.repositories.repository(owner, repo, need="write"),
        Links(request),
        body_of(request),
    )
    branch = read.text(body, "branch") or repository["default_branch"]
    data, message = _decoded(read.required(body, "content")), read.required(body, "message")
    sha = read.text(body, "sha")
    commit, entry = store.contents.put_file(
        repository, path, data, message, branch, sha, allow_symlink=True, by=_by(store, body)
    )
    shape = {
        "content": git.content(links, repository, entry, branch),
        "commit": git.git_commit(links, store, repository, commit),
    }
    return api.answer(shape, 200 if sha else 201)


@api.delete(f"{REPO}/contents/{{path:path}}")
def delete_content(
    store: CodehostStore, request: Request, owner: str, repo: str, path: str
) -> dict[str, Any]:
    """Commit the removal of a file; ``sha`` names the version that is removed."""
    request.asked.get("ref")  # see above
    repository, body = store.repositories.repository(owner, repo, need="write"), request.values
    branch = read.text(body, "branch") or repository["default_branch"]
    message, sha = read.required(body, "message"), read.required(body, "sha")
    entry, _ = look(store, repository, path, f"refs/heads/{branch}")
    if entry.sha != sha.lower():
        raise Conflict(f"{path} does not match {sha}")
    commit = store.contents.remove_file(repository, path, message, branch, _by(store, body))
    return {"content": None, "commit": git.git_commit(Links(request), store, repository, commit)}


def _by(store: CodehostStore, body: Fields) -> By:
    """Return author and committer of a change. As in the product, the author stands in for a missing
    committer.
    """
    committer = _person(store, body, "committer" if "committer" in body or "author" not in body else "author")
    return By(_person(store, body, "author") if "author" in body else committer, committer)


def _decoded(content: str) -> bytes:
    try:
        return base64.b64decode("".join(content.split()), validate=True)
    except (binascii.Error, ValueError):
        raise Unprocessable("content is not valid Base64") from None


# -- git's objects ------------------------------------------------------------------------------------------


def _object(store: CodehostStore, repository: Row, sha: str, kind: int) -> str:
    """The name of an object that there is, of this type."""
    if store.commits.objects(repository).types([sha.lower()]).get(sha.lower()) != kind:
        raise NotFound("Not Found")
    return sha.lower()


@api.get(f"{REPO}/git/blobs/{{sha}}")
def get_blob(store: CodehostStore, request: Request, owner: str, repo: str, sha: str) -> Any:
    """The contents of a file by their name, in base64 or as they are (media type ``raw``)."""
    repository = store.repositories.repository(owner, repo)
    data = store.commits.objects(repository).data(_object(store, repository, sha, _BLOB))
    if accepts(request, "raw"):
        return Reply(data, media_type="application/vnd.github.raw; charset=utf-8")
    return {
        "sha": sha,
        "node_id": node_id("Blob", f"{repository['id']}:{sha}"),
        "size": len(data),
        "url": Links(request).repo(repository, "git/blobs", sha),
        "content": base64.encodebytes(data).decode(),
        "encoding": "base64",
    }


@api.post(f"{REPO}/git/blobs", status=201)
def create_blob(store: CodehostStore, request: Request, owner: str, repo: str) -> dict[str, Any]:
    """Store the contents of a file."""
    repository, body = store.repositories.repository(owner, repo, need="write"), body_of(request)
    content = read.required(body, "content")
    encoding = read.choice(body, "encoding", "utf-8", "base64")
    blob = Blob.from_string(_decoded(content) if encoding == "base64" else content.encode())
    store.pushes.add_objects(repository, [blob])
    sha = blob.id.decode()
    return {"sha": sha, "url": Links(request).repo(repository, "git/blobs", sha)}


@api.get(f"{REPO}/git/trees/{{sha:path}}")
def get_tree(
    store: CodehostStore,
    request: Request,
    owner: str,
    repo: str,
    sha: str,
    recursive: str | None = None,
) -> dict[str, Any]:
    """A tree; ``recursive`` with what is in its folders too."""
    return _tree(
        store, request, store.repositories.repository(owner, repo), sha, recursive=recursive is not None
    )


def _tree(
    store: CodehostStore, request: Request, repository: Row, sha: str, *, recursive: bool = False
) -> dict[str, Any]:
    links = Links(request)
    tree, entries, truncated = store.contents.walk(
        repository, sha, recursive=recursive, prefix=None, many=MAX_ENTRIES
    )
    return {
        "sha": tree,
        "url": links.repo(repository, "git/trees", tree),
        "tree": [git.tree_entry(links, repository, entry) for entry in entries],
        "truncated": truncated,
    }


@api.post(f"{REPO}/git/trees", status=201)
def create_tree(store: CodehostStore, request: Request, owner: str, repo: str) -> dict[str, Any]:
    """Store a tree: that of ``base_tree`` with these files set, or removed (``sha`` is null)."""
    repository, body = store.repositories.repository(owner, repo, need="write"), body_of(request)
    entries, base = read.objects(body, "tree"), read.text(body, "base_tree")
    if not entries:
        raise read.missing(body, "tree")
    changes: dict[str, tuple[int, str] | None] = {}
    for entry in entries:
        changes[valid_path(read.required(entry, "path"))] = _entry(store, repository, entry)
    tree = write_tree(
        store.commits.objects(repository), store.commits.tree(repository, base) if base else None, changes
    )
    return _tree(store, request, repository, tree)


def _entry(store: CodehostStore, repository: Row, entry: Fields) -> tuple[int, str] | None:
    """Mode and object of a file in a new tree."""
    mode, sha, content = read.required(entry, "mode"), read.text(entry, "sha"), read.text(entry, "content")
    modes = {f"{number:06o}": number for number in _MODES}
    if mode not in modes:
        raise Unprocessable(f"tree.mode must be one of {', '.join(modes)}")
    if content is not None and sha is None:
        blob = Blob.from_string(content.encode())
        store.pushes.add_objects(repository, [blob])
        return modes[mode], blob.id.decode()
    if sha is None:
        if "sha" in entry:
            return None
        raise read.missing(entry, "sha")
    kind = _MODES[modes[mode]]
    known = store.commits.objects(repository).types([sha.lower()]).get(sha.lower())
    if known != kind and not (kind == _COMMIT and _is_sha(sha)):
        raise Unprocessable(f"tree.sha {sha} is not a valid {'tree' if kind == _TREE else 'blob'}")
    return modes[mode], sha.lower()


def _is_sha(text: str) -> bool:
    return len(text) == 40 and all(digit in "0123456789abcdef" for digit in text.lower())


@api.get(f"{REPO}/git/commits/{{sha}}")
def get_git_commit(store: CodehostStore, request: Request, owner: str, repo: str, sha: str) -> dict[str, Any]:
    """A commit as a git object."""
    repository = store.repositories.repository(owner, repo)
    name = _object(store, repository, sha, _COMMIT)
    return git.git_commit(Links(request), store, repository, store.commits.learn_commits(repository, name))


@api.post(f"{REPO}/git/commits", status=201)
def create_git_commit(store: CodehostStore, request: Request, owner: str, repo: str) -> dict[str, Any]:
    """Store a commit; no branch moves."""
    repository, body = store.repositories.repository(owner, repo, need="write"), body_of(request)
    message = clean(read.required(body, "message"), "message", blank=False)
    tree = read.required(body, "tree").lower()
    names = [sha.lower() for sha in read.texts(body, "parents") or []]
    if store.commits.objects(repository).types([tree]).get(tree) != _TREE:
        raise Unprocessable("Tree SHA does not exist")
    known = store.commits.objects(repository).types(names)
    if any(known.get(name) != _COMMIT for name in names):
        raise Unprocessable("Parent SHA does not exist or is not a commit object")
    author, authored = _person(store, body, "author")
    committer, committed = _person(store, body, "committer") if "committer" in body else (author, authored)
    commit = store.commits.add_commit(
        repository,
        tree,
        [store.commits.commit_by_sha(repository, name) for name in names],
        message,
        author,
        committer,
        authored=authored,
        committed=committed,
    )
    return git.git_commit(Links(request), store, repository, commit)


def _person(store: CodehostStore, body: Fields, name: str) -> tuple[Signature, datetime]:
    """Return the signature and time of a commit or tag; by default the signed-in account, now."""
    given = read.field(body, name, read.kinds.object)
    if given is None:
        return store.contents.signature(store.me), store.now
    date = read.text(given, "date")
    signature = (clean(read.required(given, "name"), "name"), clean(read.required(given, "email"), "email"))
    return signature, moment(parse_time(date, "date")) if date else store.now


@api.get(f"{REPO}/git/tags/{{sha}}")
def get_tag(store: CodehostStore, request: Request, owner: str, repo: str, sha: str) -> dict[str, Any]:
    """An annotated tag by the name of its object."""
    return _tag(store, Links(request), store.repositories.repository(owner, repo), sha)


def _tag(store: CodehostStore, links: Links, repository: Row, sha: str) -> dict[str, Any]:
    tag = store.commits.objects(repository)[ObjectID(_object(store, repository, sha, _TAG).encode())]
    assert isinstance(tag, Tag)
    shape = store.commits.annotation(tag)
    target = shape["object"]
    return shape | {
        "sha": sha,
        "node_id": node_id("Tag", f"{repository['id']}:{sha}"),
        "url": links.repo(repository, "git/tags", sha),
        "object": target | {"url": links.repo(repository, f"git/{target['type']}s", target["sha"])},
    }


@api.post(f"{REPO}/git/tags", status=201)
def create_tag(store: CodehostStore, request: Request, owner: str, repo: str) -> dict[str, Any]:
    """Store an annotated tag of a commit; no ref points at it yet."""
    repository, body = store.repositories.repository(owner, repo, need="write"), body_of(request)
    name, target = read.required(body, "tag"), read.required(body, "object").lower()
    store.commits.check_ref_name(f"refs/tags/{name}")
    if store.commits.objects(repository).types([target]).get(target) != _COMMIT:
        raise Unprocessable("Object does not exist")
    tagger, date = _person(store, body, "tagger")
    sha = store.commits.add_annotation(
        repository, name, target, clean(read.required(body, "message"), "message"), tagger, date
    )
    return _tag(store, Links(request), repository, sha)
