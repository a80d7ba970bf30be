"""Files, and git's objects one by one."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime
from typing import Any

from dulwich.objects import Blob, ObjectID, Tag

from mesocosm.errors import Conflict, NotFound
from mesocosm.servers.codehost.rest.api import api
from mesocosm.servers.codehost.rest.bodies import read
from mesocosm.servers.codehost.rest.context import REPO, AtRepo, AtWritable, RepositoryContext, node_id
from mesocosm.servers.codehost.rest.shapes import git
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.contents import MAX_RAW, SUBMODULE, By, Entry, valid_path
from mesocosm.servers.codehost.store.history import Signature
from mesocosm.servers.codehost.store.objects import DIRECTORY, write_tree
from mesocosm.servers.codehost.store.values import Unprocessable, clean, moment, parse_time
from mesocosm.services.fields import Fields
from mesocosm.services.schema import Json
from mesocosm.services.service import Reply

MAX_ENTRIES = 10_000
"""Entries of a tree that are listed."""
_TREE, _BLOB, _COMMIT, _TAG = 2, 3, 1, 4
_MODES = {0o100644: _BLOB, 0o100755: _BLOB, 0o120000: _BLOB, DIRECTORY: _TREE, SUBMODULE: _COMMIT}


# -- files --------------------------------------------------------------------------------------------------


@api.get(f"{REPO}/contents")
@api.get(f"{REPO}/contents/{{path:path}}")
def get_content(at: AtRepo, path: str = "", ref: str | None = None) -> Any:
    """A file in base64, or as it is (media type ``raw``); of a directory a list."""
    name = ref or at.repository["default_branch"]
    entry, found = look(at, path, ref)
    if isinstance(found, list):
        return [git.content(at, at.repository, item, name) for item in found]
    if at.accepts("raw"):
        return Reply(found, media_type="application/vnd.github.raw; charset=utf-8")
    if entry.type == "symlink":
        return git.content(at, at.repository, entry, name) | {"target": found.decode("utf-8", "replace")}
    return git.content(at, at.repository, entry, name, found)


def look(at: RepositoryContext, path: str, ref: str | None) -> tuple[Entry, bytes | list[Entry]]:
    """Look up a path; an empty repository has none."""
    try:
        _, entry, found = at.store.contents.look(at.repository, path, ref, MAX_RAW)
    except Conflict as refusal:
        raise NotFound(refusal.message) from None
    return entry, found


@api.get(f"{REPO}/readme")
def get_readme(at: AtRepo, ref: str | None = None) -> Any:
    """The file in the root that introduces the repository."""
    _, entries = look(at, "", ref)
    assert isinstance(entries, list)
    names = [entry.path for entry in entries if entry.type == "file"]
    readme = next((name for name in names if name.lower().partition(".")[0] == "readme"), None)
    if readme is None:
        raise NotFound("Not Found")
    return get_content(at, readme, ref)


@api.put(f"{REPO}/contents/{{path:path}}")
def put_content(at: AtWritable, path: str) -> Reply:
    """Commit one new or changed file; ``sha`` names the version that it replaces."""
    at.request.asked.get("ref")  # some clients send it with everything; the body says the branch
    at.repository, at, body = (
        at.repository,
        at,
        at.body,
    )
    branch = read.text(body, "branch") or at.repository["default_branch"]
    data, message = _decoded(read.required(body, "content")), read.required(body, "message")
    sha = read.text(body, "sha")
    commit, entry = at.store.contents.put_file(
        at.repository, path, data, message, branch, sha, allow_symlink=True, by=_by(at.store, body)
    )
    shape = {
        "content": git.content(at, at.repository, entry, branch),
        "commit": git.git_commit(at, at.repository, commit),
    }
    return api.answer(shape, 200 if sha else 201)


@api.delete(f"{REPO}/contents/{{path:path}}")
def delete_content(at: AtWritable, path: str) -> Json:
    """Commit the removal of a file; ``sha`` names the version that is removed."""
    at.request.asked.get("ref")  # see above
    at.repository, body = at.repository, at.request.values
    branch = read.text(body, "branch") or at.repository["default_branch"]
    message, sha = read.required(body, "message"), read.required(body, "sha")
    entry, _ = look(at, path, f"refs/heads/{branch}")
    if entry.sha != sha.lower():
        raise Conflict(f"{path} does not match {sha}")
    commit = at.store.contents.remove_file(at.repository, path, message, branch, _by(at.store, body))
    return {"content": None, "commit": git.git_commit(at, at.repository, commit)}


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


def _object(at: RepositoryContext, sha: str, kind: int) -> str:
    """The name of an object that there is, of this type."""
    if at.store.commits.objects(at.repository).types([sha.lower()]).get(sha.lower()) != kind:
        raise NotFound("Not Found")
    return sha.lower()


@api.get(f"{REPO}/git/blobs/{{sha}}")
def get_blob(at: AtRepo, sha: str) -> Any:
    """The contents of a file by their name, in base64 or as they are (media type ``raw``)."""
    data = at.store.commits.objects(at.repository).data(_object(at, sha, _BLOB))
    if at.accepts("raw"):
        return Reply(data, media_type="application/vnd.github.raw; charset=utf-8")
    return {
        "sha": sha,
        "node_id": node_id("Blob", f"{at.repository['id']}:{sha}"),
        "size": len(data),
        "url": at.here("git/blobs", sha),
        "content": base64.encodebytes(data).decode(),
        "encoding": "base64",
    }


@api.post(f"{REPO}/git/blobs", status=201)
def create_blob(at: AtWritable) -> Json:
    """Store the contents of a file."""
    body = at.body
    content = read.required(body, "content")
    encoding = read.choice(body, "encoding", "utf-8", "base64")
    blob = Blob.from_string(_decoded(content) if encoding == "base64" else content.encode())
    at.store.pushes.add_objects(at.repository, [blob])
    sha = blob.id.decode()
    return {"sha": sha, "url": at.here("git/blobs", sha)}


@api.get(f"{REPO}/git/trees/{{sha:path}}")
def get_tree(at: AtRepo, sha: str, recursive: str | None = None) -> Json:
    """A tree; ``recursive`` with what is in its folders too."""
    return _tree(at, sha, recursive=recursive is not None)


def _tree(at: RepositoryContext, sha: str, *, recursive: bool = False) -> Json:
    tree, entries, truncated = at.store.contents.walk(
        at.repository, sha, recursive=recursive, prefix=None, many=MAX_ENTRIES
    )
    return {
        "sha": tree,
        "url": at.here("git/trees", tree),
        "tree": [git.tree_entry(at, at.repository, entry) for entry in entries],
        "truncated": truncated,
    }


@api.post(f"{REPO}/git/trees", status=201)
def create_tree(at: AtWritable) -> Json:
    """Store a tree: that of ``base_tree`` with these files set, or removed (``sha`` is null)."""
    body = at.body
    entries, base = read.objects(body, "tree"), read.text(body, "base_tree")
    if not entries:
        raise read.missing(body, "tree")
    changes: dict[str, tuple[int, str] | None] = {}
    for entry in entries:
        changes[valid_path(read.required(entry, "path"))] = _entry(at, entry)
    tree = write_tree(
        at.store.commits.objects(at.repository),
        at.store.commits.tree(at.repository, base) if base else None,
        changes,
    )
    return _tree(at, tree)


def _entry(at: RepositoryContext, entry: Fields) -> tuple[int, str] | None:
    """Mode and object of a file in a new tree."""
    mode, sha, content = read.required(entry, "mode"), read.text(entry, "sha"), read.text(entry, "content")
    modes = {f"{number:06o}": number for number in _MODES}
    if mode not in modes:
        raise Unprocessable(f"tree.mode must be one of {', '.join(modes)}")
    if content is not None and sha is None:
        blob = Blob.from_string(content.encode())
        at.store.pushes.add_objects(at.repository, [blob])
        return modes[mode], blob.id.decode()
    if sha is None:
        if "sha" in entry:
            return None
        raise read.missing(entry, "sha")
    kind = _MODES[modes[mode]]
    known = at.store.commits.objects(at.repository).types([sha.lower()]).get(sha.lower())
    if known != kind and not (kind == _COMMIT and _is_sha(sha)):
        raise Unprocessable(f"tree.sha {sha} is not a valid {'tree' if kind == _TREE else 'blob'}")
    return modes[mode], sha.lower()


def _is_sha(text: str) -> bool:
    return len(text) == 40 and all(digit in "0123456789abcdef" for digit in text.lower())


@api.get(f"{REPO}/git/commits/{{sha}}")
def get_git_commit(at: AtRepo, sha: str) -> Json:
    """A commit as a git object."""
    name = _object(at, sha, _COMMIT)
    return git.git_commit(at, at.repository, at.store.commits.learn_commits(at.repository, name))


@api.post(f"{REPO}/git/commits", status=201)
def create_git_commit(at: AtWritable) -> Json:
    """Store a commit; no branch moves."""
    body = at.body
    message = clean(read.required(body, "message"), "message", blank=False)
    tree = read.required(body, "tree").lower()
    names = [sha.lower() for sha in read.texts(body, "parents") or []]
    if at.store.commits.objects(at.repository).types([tree]).get(tree) != _TREE:
        raise Unprocessable("Tree SHA does not exist")
    known = at.store.commits.objects(at.repository).types(names)
    if any(known.get(name) != _COMMIT for name in names):
        raise Unprocessable("Parent SHA does not exist or is not a commit object")
    author, authored = _person(at.store, body, "author")
    committer, committed = _person(at.store, body, "committer") if "committer" in body else (author, authored)
    commit = at.store.commits.add_commit(
        at.repository,
        tree,
        [at.store.commits.commit_by_sha(at.repository, name) for name in names],
        message,
        author,
        committer,
        authored=authored,
        committed=committed,
    )
    return git.git_commit(at, at.repository, commit)


def _person(store: CodehostStore, body: Fields, name: str) -> tuple[Signature, datetime]:
    """Return the signature and time of a commit or tag; by default the signed-in account, now."""
    given = read.field(body, name, read.kinds.object)
    if given is None:
        return store.contents.signature(store.me), store.now
    date = read.text(given, "date")
    signature = (clean(read.required(given, "name"), "name"), clean(read.required(given, "email"), "email"))
    return signature, moment(parse_time(date, "date")) if date else store.now


@api.get(f"{REPO}/git/tags/{{sha}}")
def get_tag(at: AtRepo, sha: str) -> Json:
    """An annotated tag by the name of its object."""
    return _tag(at, sha)


def _tag(at: RepositoryContext, sha: str) -> Json:
    tag = at.store.commits.objects(at.repository)[ObjectID(_object(at, sha, _TAG).encode())]
    assert isinstance(tag, Tag)
    shape = at.store.commits.annotation(tag)
    target = shape["object"]
    return shape | {
        "sha": sha,
        "node_id": node_id("Tag", f"{at.repository['id']}:{sha}"),
        "url": at.here("git/tags", sha),
        "object": target | {"url": at.here(f"git/{target['type']}s", target["sha"])},
    }


@api.post(f"{REPO}/git/tags", status=201)
def create_tag(at: AtWritable) -> Json:
    """Store an annotated tag of a commit; no ref points at it yet."""
    body = at.body
    name, target = read.required(body, "tag"), read.required(body, "object").lower()
    at.store.commits.check_ref_name(f"refs/tags/{name}")
    if at.store.commits.objects(at.repository).types([target]).get(target) != _COMMIT:
        raise Unprocessable("Object does not exist")
    tagger, date = _person(at.store, body, "tagger")
    sha = at.store.commits.add_annotation(
        at.repository, name, target, clean(read.required(body, "message"), "message"), tagger, date
    )
    return _tag(at, sha)
