"""The real git program against an episode: clone, fetch, pull and push over HTTP."""

from __future__ import annotations

import http.client
import random
import struct
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from githost import FILES, PULL_NUMBER, Git, Tools, fill, needs_git
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from later import Later
from patience import PATIENCE
from rest.hosted import HostedWorld

if TYPE_CHECKING:
    from github import Github

pygithub = Later("github")
EpisodeOf = Callable[..., HostedWorld]

pytestmark = needs_git


@pytest.fixture
def hosted(episode_of: EpisodeOf) -> HostedWorld:
    return episode_of(["codehost"], fill)


@pytest.fixture
def git(hosted: HostedWorld, tmp_path: Path) -> Git:
    return Git(tmp_path, hosted)


@pytest.fixture
def tools(hosted: HostedWorld) -> Tools:
    return Tools(hosted)


@pytest.fixture
def hub(hosted: HostedWorld) -> Iterator[Github]:
    url = hosted.api("codehost") + "/api/v3"
    with pygithub.Github(
        base_url=url, auth=pygithub.Auth.Token(hosted.id), seconds_between_writes=None
    ) as client:
        yield client


def test_a_clone_has_everything_that_the_tools_show(git: Git, tools: Tools) -> None:
    clone = git.clone()
    for path, content in FILES.items():
        if path != "src/v0.py":
            data = content.encode() if isinstance(content, str) else content
            assert (clone / path).read_bytes() == data
    commits = tools("list_commits")
    assert git.run("log", "--format=%H", at="app").split() == [commit["sha"] for commit in commits]
    branches = git.run("branch", "-r", "--format=%(refname:lstrip=3)", at="app").split()
    assert set(branches) >= {"main", "feature", "guarded"}
    assert git.run("tag", at="app").split() == ["v0.9", "v1.0"]
    assert git.run("fsck", "--strict", at="app") == ""
    assert git.run("rev-parse", "--abbrev-ref", "HEAD", at="app") == "main"


def test_a_branch_is_pushed_merged_through_the_tools_and_pulled(
    git: Git, tools: Tools, hub: Github, hosted: HostedWorld
) -> None:
    git.clone()
    git.run("switch", "-q", "-c", "topic", at="app")
    sha = git.commit({"new/file.txt": "new\n"}, "Add a file")
    git.run("push", "-q", "-u", "origin", "topic", at="app")
    assert tools("get_commit", sha="topic")["author"]["login"] == "bob"
    pull = hub.get_repo("acme/app").create_pull(title="A file", head="topic", base="main", body="Fixes #2")
    assert pull.head.sha == sha
    newer = git.commit({"new/file.txt": "newer\n"}, "Improve it")
    git.run("push", "-q", at="app")
    assert hub.get_repo("acme/app").get_pull(pull.number).head.sha == newer
    merged = tools("merge_pull_request", pullNumber=pull.number)
    git.run("switch", "-q", "main", at="app")
    git.run("pull", "-q", at="app")
    assert git.run("rev-parse", "HEAD", at="app") == merged["sha"]
    assert (git.home / "app/new/file.txt").read_text() == "newer\n"
    assert tools("issue_read", method="get", issue_number=2)["state"] == "closed"
    assert tools("search_code", query="newer")["total_count"] == 1
    names = [entry.tool for entry in hosted.journal()]
    assert "POST /{owner}/{name}/git-receive-pack" in names
    assert "GET /{owner}/{name}/info/refs" in names
    assert hosted.id not in "".join(str(entry.arguments | {"base": ""}) for entry in hosted.journal())
    assert hosted.replay().identical


def test_what_a_tool_commits_is_fetched(git: Git, tools: Tools) -> None:
    git.clone()
    for number in range(3):
        files = [{"path": f"tool-{number}.txt", "content": "by a tool\n"}]
        tools("push_files", branch="main", files=files, message="By a tool")
    git.run("fetch", "-q", at="app")
    assert git.run("rev-list", "--count", "HEAD..origin/main", at="app") == "3"
    git.run("pull", "-q", at="app")
    assert (git.home / "app/tool-2.txt").is_file()


def test_a_pull_request_can_be_fetched_by_its_number(git: Git) -> None:
    git.clone()
    git.run("fetch", "-q", "origin", f"pull/{PULL_NUMBER}/head:review", at="app")
    assert git.run("show", "review:src/v1.py", at="app").endswith("return 42")


def test_a_shallow_clone_can_be_deepened_and_pushed_from(git: Git, tools: Tools) -> None:
    git.clone("--depth", "2")
    assert git.run("rev-list", "--count", "HEAD", at="app") == "2"
    sha = git.commit({"shallow.txt": "s\n"})
    git.run("push", "-q", "origin", "HEAD:from-shallow", at="app")
    assert tools("get_commit", sha="from-shallow")["sha"] == sha
    git.run("fetch", "-q", "--deepen=2", at="app")
    assert git.run("rev-list", "--count", "HEAD", at="app") == "5"
    git.run("fetch", "-q", "--unshallow", at="app")
    assert git.run("rev-list", "--count", "HEAD", at="app") == "8"


def test_notes_are_pushed_and_fetched_and_options_taken(git: Git, tools: Tools) -> None:
    git.clone()
    git.run("notes", "add", "-m", "Seen", "HEAD", at="app")
    git.run("push", "-q", "origin", "refs/notes/commits", at="app")
    git.run("update-ref", "-d", "refs/notes/commits", at="app")
    git.run("fetch", "-q", "origin", "refs/notes/*:refs/notes/*", at="app")
    assert git.run("notes", "show", "HEAD", at="app") == "Seen"
    sha = git.commit({"option.txt": "o\n"})
    git.run("push", "-q", "-o", "ci.skip", "origin", "HEAD:with-option", at="app")
    assert tools("get_commit", sha="with-option")["sha"] == sha
    assert "commits" not in {branch["name"] for branch in tools("list_branches")}


@pytest.mark.parametrize("depth", [1, 2])
def test_a_shallow_clone_is_kept_up_to_date(depth: int, git: Git, tools: Tools, hub: Github) -> None:
    git.clone("--depth", str(depth))
    for number in range(2):
        files = [{"path": f"tool-{number}.txt", "content": "by a tool\n"}]
        tools("push_files", branch="main", files=files, message="By a tool")
        git.run("pull", "-q", at="app")
    assert git.run("rev-list", "--count", "HEAD", at="app") == str(depth + 2)
    hub.get_repo("acme/app").create_file("rest.txt", "By REST", "r\n", branch="main")
    git.run("fetch", "-q", at="app")
    assert git.run("rev-list", "--count", "HEAD..origin/main", at="app") == "1"
    git.run("merge", "-q", "--ff-only", "origin/main", at="app")
    assert git.run("fsck", "--strict", at="app") == ""
    sha = git.commit({"mine.txt": "m\n"})
    git.run("push", "-q", at="app")
    assert tools("get_commit", sha="main")["sha"] == sha


def test_what_forks_off_behind_a_shallow_clone_comes_whole(git: Git, tools: Tools, hub: Github) -> None:
    git.clone("--depth", "1")
    app = hub.get_repo("acme/app")
    app.create_git_ref("refs/heads/early", app.get_git_ref("tags/v0.9").object.sha)
    tools("push_files", branch="early", files=[{"path": "early.txt", "content": "e\n"}], message="Early")
    app.create_pull(base="main", head="early", title="Early").merge()
    git.run("fetch", "-q", "origin", "main", at="app")
    assert git.run("fsck", "--strict", at="app") == ""
    assert git.run("log", "--format=%s", "FETCH_HEAD", at="app").splitlines()[1:] == [
        "Early",
        "Step 7",
        "Begin",
    ]
    git.run("merge", "-q", "--ff-only", "FETCH_HEAD", at="app")
    git.clone("--depth", "1", into="other")
    git.run("fetch", "-q", "--depth", "50", "origin", "early", at="other")
    assert git.run("log", "--format=%s", "FETCH_HEAD", at="other").splitlines() == ["Early", "Begin"]
    git.run("fetch", "-q", "--depth", "3", "origin", "main", at="other")
    git.run("pull", "-q", at="other")
    assert git.run("fsck", "--strict", at="other") == ""
    assert (git.home / "app/early.txt").read_text() == "e\n"


def test_a_partial_clone_is_whole(git: Git) -> None:
    git.run("clone", "-q", "--filter=blob:none", git.url(), "app")
    assert (git.home / "app/README.md").read_text() == FILES["README.md"]
    assert git.run("rev-list", "--objects", "--missing=print", "--all", at="app").count("?") == 0
    git.commit({"mine.txt": "m\n"})
    git.run("push", "-q", at="app")
    git.run("pull", "-q", at="app")


@pytest.mark.parametrize("option", ["--shallow-since=2024-12-02", "--shallow-exclude=v0.9"])
def test_other_boundaries_of_shallow_clones_are_refused(option: str, git: Git) -> None:
    said = git.run("clone", option, git.url(), "app", ok=False)
    assert f"Server does not support {option.partition('=')[0]}" in said


def test_an_empty_repository_is_cloned_and_filled(git: Git, tools: Tools) -> None:
    git.clone(repository="alice/empty", into="empty")
    git.run("switch", "-q", "-c", "trunk", at="empty")
    sha = git.commit({"a.txt": "a\n"}, "First", at="empty")
    git.run("push", "-q", "-u", "origin", "trunk", at="empty")
    assert tools("list_commits", owner="alice", repo="empty")[0]["sha"] == sha
    git.clone(repository="alice/empty", into="again")
    assert git.run("rev-parse", "--abbrev-ref", "HEAD", at="again") == "trunk"


def test_branches_and_tags_come_and_go(git: Git, tools: Tools) -> None:
    git.clone()
    git.run("push", "-q", "origin", "HEAD:refs/heads/short-lived", at="app")
    git.run("tag", "-a", "v2", "-m", "Second", at="app")
    git.run("tag", "light", at="app")
    git.run("push", "-q", "origin", "v2", "light", at="app")
    assert tools("get_tag", tag="v2")["message"].strip() == "Second"
    git.run("push", "-q", "origin", "--delete", "short-lived", "light", at="app")
    assert "short-lived" not in {branch["name"] for branch in tools("list_branches")}
    assert [tag["name"] for tag in tools("list_tags")] == ["v2", "v1.0", "v0.9"]


def test_pushing_a_merge_marks_the_pull_request_merged(git: Git, tools: Tools) -> None:
    git.clone()
    git.run("merge", "-q", "--no-ff", "-m", "Merge by hand", "origin/feature", at="app")
    git.run("push", "-q", at="app")
    pull = tools("pull_request_read", method="get", pullNumber=PULL_NUMBER)
    assert (pull["state"], pull["merged"]) == ("closed", True)
    assert pull["merge_commit_sha"] == git.run("rev-parse", "HEAD", at="app")


def test_deleting_the_branch_of_a_pull_request_closes_it(git: Git, tools: Tools) -> None:
    git.clone()
    git.run("push", "-q", "origin", "--delete", "feature", at="app")
    pull = tools("pull_request_read", method="get", pullNumber=PULL_NUMBER)
    assert (pull["state"], pull["merged"]) == ("closed", False)
    assert tools("pull_request_read", method="get_files", pullNumber=PULL_NUMBER)


def test_no_commit_is_listed_before_its_children(git: Git, tools: Tools, hub: Github) -> None:
    git.clone()
    tools("push_files", branch="main", files=[{"path": "tool.txt", "content": "t\n"}], message="By a tool")
    git.run("switch", "-q", "-c", "side", "v0.9", at="app")
    git.commit({"side.txt": "s\n"}, "Side")
    git.run("switch", "-q", "main", at="app")
    git.run("pull", "-q", at="app")
    git.run("merge", "-q", "-m", "Merge", "side", at="app")
    git.commit({"last.txt": "l\n"}, "Last")
    git.run("push", "-q", at="app")
    app = hub.get_repo("acme/app")
    head = app.get_branch("main").commit
    assert (
        head.commit.committer.date
        < app.get_commit(git.run("rev-parse", "HEAD~2", at="app")).commit.committer.date
    )
    assert app.get_commits()[0].sha == head.sha
    assert [commit["sha"] for commit in tools("list_commits", perPage=1)] == [head.sha]
    listed = [commit["sha"] for page in (1, 2, 3) for commit in tools("list_commits", perPage=4, page=page)]
    history = [line.split() for line in git.run("rev-list", "--parents", "HEAD", at="app").splitlines()]
    assert sorted(listed) == sorted(child for child, *_ in history)
    for child, *parents in history:
        assert all(listed.index(child) < listed.index(parent) for parent in parents)


def test_a_commit_pushed_to_the_default_branch_closes_issues(git: Git, tools: Tools) -> None:
    git.clone()
    git.commit({"fix.txt": "f\n"}, "Repair it\n\nFixes #3")
    git.run("push", "-q", at="app")
    assert tools("issue_read", method="get", issue_number=3)["state"] == "closed"


# -- refusals ---------------------------------------------------------------------------------------------


def refused(git: Git, *arguments: str) -> str:
    """What git says when a push fails; it must leave no trace."""
    before = git.hosted.tables("codehost")
    said = git.run("push", *arguments, at="app", ok=False)
    assert git.hosted.tables("codehost") == before
    return said


def test_a_push_that_is_no_fast_forward_is_refused_until_it_is_forced(git: Git, tools: Tools) -> None:
    git.clone()
    files = [{"path": "other.txt", "content": "by a tool\n"}]
    tools("push_files", branch="main", files=files, message="Meanwhile")
    sha = git.commit({"mine.txt": "mine\n"})
    assert "fetch first" in refused(git, "origin", "main")
    stale = git.run("rev-parse", "origin/main", at="app")
    assert "stale info" in refused(git, f"--force-with-lease=main:{stale}", "origin", "main")
    git.run("push", "-q", "--force", "origin", "main", at="app")
    assert tools("list_commits", perPage=1)[0]["sha"] == sha


def test_a_protected_branch_takes_no_push(git: Git) -> None:
    git.clone()
    git.commit({"mine.txt": "mine\n"})
    assert "through a pull request" in refused(git, "origin", "HEAD:guarded")
    assert "through a pull request" in refused(git, "--force", "origin", "HEAD:guarded")
    assert "through a pull request" in refused(git, "origin", "--delete", "guarded")


def test_of_several_refs_the_good_ones_are_updated_unless_all_must_be(git: Git, tools: Tools) -> None:
    git.clone()
    sha = git.commit({"mine.txt": "mine\n"})
    refused(git, "--atomic", "origin", "HEAD:guarded", "HEAD:fine")
    git.run("push", "origin", "HEAD:guarded", "HEAD:fine", at="app", ok=False)
    heads = {branch["name"]: branch["sha"] for branch in tools("list_branches")}
    assert heads["fine"] == sha
    assert heads["guarded"] != sha


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("HEAD:refs/pull/99/head", "only refs/heads/, refs/tags/ and refs/notes/"),
        (":main", "default branch"),
        ("HEAD:refs/heads/feature/below", "there is a branch feature"),
        ("HEAD^{tree}:refs/tags/tree", "not a commit"),
    ],
)
def test_refs_that_cannot_be_are_refused(target: str, reason: str, git: Git) -> None:
    git.clone()
    assert reason in refused(git, "origin", target)


def test_nobody_pushes_where_they_may_not_write(git: Git) -> None:
    git.clone(repository="carol/public-thing")
    git.commit({"mine.txt": "mine\n"})
    said = refused(git, "origin", "main")
    assert "Must have write access to carol/public-thing" in said
    assert "403" in said


@pytest.mark.parametrize("repository", ["carol/diary", "acme/none", "nobody/app"])
def test_what_one_may_not_read_does_not_exist(repository: str, git: Git) -> None:
    assert "not found" in git.run("clone", git.url(repository), "x", ok=False)


def test_a_wrong_or_missing_token_fails(git: Git, hosted: HostedWorld) -> None:
    assert "Authentication failed" in git.run("clone", git.url(token="0" * 32), "x", ok=False)
    plain = f"{hosted.api('codehost')}/acme/app.git"
    assert "terminal prompts disabled" in git.run("clone", plain, "x", ok=False)
    assert hosted.journal() == []


def test_git_asks_its_credential_helper(git: Git, hosted: HostedWorld) -> None:
    helper = f"credential.helper=!f() {{ echo username=x; echo password={hosted.id}; }}; f"
    git.run("-c", helper, "clone", "-q", f"{hosted.api('codehost')}/acme/app", "app")
    assert (git.home / "app/README.md").is_file()


# -- what is no git ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def target(episode_of: EpisodeOf) -> HostedWorld:
    return episode_of(["codehost"], fill)


def post(hosted: HostedWorld, service: str, body: bytes) -> tuple[int, bytes]:
    """The answer to a request that no git program made."""
    parts = urlsplit(hosted.api("codehost"))
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
    try:
        credentials = b64encode(f"x:{hosted.id}".encode()).decode()
        headers = {
            "Authorization": f"Basic {credentials}",
            "Content-Type": f"application/x-{service}-request",
        }
        connection.request("POST", f"{parts.path}/acme/app.git/{service}", body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def line(text: bytes) -> bytes:
    return b"%04x" % (len(text) + 4) + text


def push_of(pack: bytes, sha: str = "1" * 40) -> bytes:
    command = f"{'0' * 40} {sha} refs/heads/odd\0report-status".encode()
    return line(command) + b"0000" + pack


def pack_of(*objects: tuple[int, bytes]) -> bytes:
    """A pack of deflated objects of up to 2,047 bytes, whatever they say."""
    from hashlib import sha1

    pack = b"PACK" + struct.pack(">II", 2, len(objects))
    for kind, data in objects:
        first, rest = len(data) & 15, len(data) >> 4
        head = bytes([128 | kind << 4 | first, rest]) if rest else bytes([kind << 4 | first])
        pack += head + zlib.compress(data)
    return pack + sha1(pack, usedforsecurity=False).digest()


_OBJECTS = st.tuples(
    st.sampled_from([1, 2, 3, 4, 6, 7]),
    st.binary(max_size=60)
    | st.sampled_from(
        [
            b"tree " + b"4" * 40 + b"\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nm",
            b"100644 a\0" + b"\1" * 20,
            b"40000 .git\0" + b"\1" * 20,
            b"object " + b"2" * 40 + b"\ntype commit\ntag t\ntagger A <a> 1 +0000\n\nm",
        ]
    ),
)
_PACKS = st.one_of(
    st.binary(max_size=200),
    st.builds(lambda rest: b"PACK\0\0\0\2" + rest, st.binary(max_size=100)),
    st.lists(_OBJECTS, max_size=4).map(lambda objects: pack_of(*objects)),
)
_LINES = st.lists(
    st.one_of(
        st.just(b"0000"),
        st.binary(max_size=30),
        st.sampled_from(
            [b"want " + b"1" * 40, b"deepen x", b"shallow y", b"have " + b"2" * 40, b"done\n"]
        ).map(line),
        st.text("0123456789abcdef \0wanthve", max_size=90).map(lambda text: line(text.encode())),
    ),
    max_size=5,
).map(b"".join)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.one_of(_PACKS.map(push_of), _LINES))
def test_a_malformed_push_changes_nothing_and_is_no_fault(target: HostedWorld, body: bytes) -> None:
    before = target.tables("codehost")
    status, answer = post(target, "git-receive-pack", body)
    assert status in (200, 400), answer
    assert not answer or b"unpack ok\n" not in answer or b"ng refs/heads/odd" in answer
    assert target.tables("codehost") == before


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=_LINES)
def test_a_malformed_fetch_is_no_fault(target: HostedWorld, body: bytes) -> None:
    status, answer = post(target, "git-upload-pack", body)
    assert status in (200, 400), answer


def test_the_server_is_healthy_after_all_that(target: HostedWorld, tmp_path: Path) -> None:
    Git(tmp_path, target).clone()
    assert {entry.status for entry in target.journal()} <= {"ok", "refused"}


def size_of(number: int) -> bytes:
    """A number as packs and deltas write it: seven bits a byte."""
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


@pytest.mark.parametrize(
    ("kind", "size", "data"),
    [
        (3, 2**40, bytes(10)),
        (7, 12, size_of(10) + size_of(2**40) + b"\x90\x0a"),
    ],
    ids=["a large object", "a delta that makes one"],
)
def test_a_pack_that_swells_is_refused(kind: int, size: int, data: bytes, target: HostedWorld) -> None:
    head = bytes([128 | kind << 4 | size & 15]) + size_of(size >> 4)
    base = bytes(20) if kind == 7 else b""
    pack = b"PACK" + struct.pack(">II", 2, 1) + head + base + zlib.compress(data.ljust(12))
    assert b"larger than" in post(target, "git-receive-pack", push_of(pack))[1]


def test_a_tree_that_holds_up_whoever_takes_it_apart_is_refused(target: HostedWorld) -> None:
    from hashlib import sha1

    tree = b"".join(b"100644 %040d\0" % n + bytes(20) for n in range(40_000))
    head = bytes([128 | 2 << 4 | len(tree) & 15]) + size_of(len(tree) >> 4)
    pack = b"PACK" + struct.pack(">II", 2, 1) + head + zlib.compress(tree)
    pack += sha1(pack, usedforsecurity=False).digest()
    assert b"is too large" in post(target, "git-receive-pack", push_of(pack))[1]


def test_a_large_push_is_written_down_as_it_came(hosted: HostedWorld) -> None:
    pack = b"PACK" + random.Random(0).randbytes(3_000_001)
    status, answer = post(hosted, "git-receive-pack", push_of(pack))
    assert (status, b"unpack" in answer) == (200, True)
    assert b64decode(hosted.journal()[-1].arguments["body"]["base64"]) == push_of(pack)
    assert hosted.replay().identical
