"""An organisation with one large repository and some small ones."""

from __future__ import annotations

from typing import Any

from fills.texts import FREQUENT, SELDOM, Call, Texts, moment, pages, words
from mesocosm.servers.codehost.store import (
    CodehostStore,
    NewComment,
    NewCommit,
    NewIssue,
    NewPull,
    NewReview,
)
from mesocosm.services.world import World

ME, ORG, REPO = "alice", "acme", "app"
_HOME = {"owner": ORG, "repo": REPO}
_PER_UNIT = 5000
"""Tokens of eight commits, eight issues with comments and half a pull request."""
_LABELS = ("bug", "enhancement", "question", "help wanted")


def fill(world: World, texts: Texts, size: int) -> list[Call]:
    """Two thirds of everything lie in one repository."""
    store, units = world.store(CodehostStore), max(4, size // _PER_UNIT)
    people = [ME, *(f"dev{number}" for number in range(4 + units // 20))]
    for login in people:
        store.accounts.create_account(login, login.title(), f"{login}@example.com")
    members = dict.fromkeys(people, "member") | {ME: "admin"}
    store.accounts.create_organization(ORG, "Acme", members, default_role="write")
    small = [f"tool-{number}" for number in range(1 + units // 40)]
    for name in (REPO, *small):
        store.filling.create_repository(
            ORG, name, description=texts.title(), language="Python", stars=len(name)
        )
    store.accounts.sign_in(ME)
    shas = _repository(store, texts, people, REPO, units * 2 // 3)
    for name in small:
        _repository(store, texts, people, name, max(1, units // 3 // len(small)))
    return _calls(store, shas, units * 2 // 3, people)


def _repository(store: CodehostStore, texts: Texts, people: list[str], name: str, units: int) -> list[str]:
    commits = units * 8
    shas = store.filling.add_commits(ORG, name, _commits(texts, people, commits))
    for number in range(0, commits, 40):
        store.filling.add_tag(ORG, name, f"v0.{number}", shas[number])
        store.releases.add_release(ORG, name, f"v0.{number}", ME, title=texts.title(), body=texts.text())
    store.filling.add_issues(ORG, name, [_issue(texts, people, n, units * 8) for n in range(units * 8)])
    pulls = max(1, units // 2)
    branches = [
        NewCommit(texts.title(), {f"src/new{n}.py": _code(texts, 0)}, ME, moment(1), f"topic-{n}")
        for n in range(pulls)
    ]
    store.filling.add_commits(ORG, name, branches)
    store.filling.add_pull_requests(ORG, name, [_pull(texts, people, n) for n in range(pulls)])
    return shas


def _commits(texts: Texts, people: list[str], many: int) -> list[NewCommit]:
    commits, files = [], []
    for number in range(many):
        # Every fourth commit brings a file, the others add to one; all note it in one file.
        if number % 4 == 0:
            path = f"src/part{number % 60}/module{number}.py"
            files.append([path, _code(texts, number)])
        else:
            texts.facts(20)
            files[number * 7 % len(files)][1] += _code(texts, number)
        path, content = files[-1] if number % 4 == 0 else files[number * 7 % len(files)]
        changed = {path: content}
        if number % 10 == 0:
            changed["CHANGES.md"] = f"# Changes\n\n{number}: {texts.title()}\n"
        message = f"{texts.title()}\n\n{texts.title()}"
        author, at = people[number % len(people)], moment(number / many * 0.99)
        commits.append(NewCommit(message, changed, author, at))
    return commits


def _code(texts: Texts, number: int) -> str:
    comment = "\n".join(f"# {line}" for line in texts.text().split("\n"))
    texts.facts(20)
    return f"{comment}\ndef function_{number}(value):\n    return value + {number}\n\n\n"


def _issue(texts: Texts, people: list[str], number: int, many: int) -> NewIssue:
    at = moment(number / many)
    talkers = [people[(number + turn) % len(people)] for turn in range(number % 4)]
    texts.facts(150)
    return NewIssue(
        texts.title(),
        people[number % len(people)],
        texts.text(),
        labels=[_LABELS[number % len(_LABELS)]],
        assignees=[people[number * 3 % len(people)]],
        comments=[NewComment(talker, texts.text(), at) for talker in talkers],
        state="closed" if number % 3 == 0 else "open",
        created_at=at,
    )


def _pull(texts: Texts, people: list[str], number: int) -> NewPull:
    texts.facts(300)
    author = people[number % len(people)]
    reviewer = people[(number + 1) % len(people)]
    remark = (f"src/new{number}.py", 1, texts.title())
    return NewPull(
        texts.title(),
        f"topic-{number}",
        author,
        body=texts.text(),
        comments=[NewComment(reviewer, texts.text(), moment(1))],
        reviews=[NewReview(reviewer, "COMMENT", texts.title(), [remark], moment(1))],
        created_at=moment(1),
        closed_by=ME if number % 3 == 0 else None,
        ended_at=moment(1) if number % 3 == 0 else None,
    )


def _calls(store: CodehostStore, shas: list[str], units: int, people: list[str]) -> list[Call]:
    commits, issues, pulls = len(shas), units * 8, max(1, units // 2)
    module, first = "src/part0/module0.py", issues + 1
    old, mid = shas[0], shas[commits // 2]
    return [
        ("get_me", {}),
        *_files(module, mid),
        *[(tool, {**_HOME, **more}) for tool, more in _history(module, old, mid)],
        *pages("list_commits", commits // 30, **_HOME),
        *pages("list_branches", pulls // 30, **_HOME),
        *pages("list_tags", commits // 40 // 30, **_HOME),
        *pages("list_releases", commits // 40 // 30, **_HOME),
        *[("list_issues", {**_HOME, **more}) for more in _ISSUE_FILTERS],
        *[
            ("issue_read", {**_HOME, "method": method, "issue_number": number})
            for method in ("get", "get_comments", "get_sub_issues", "get_labels")
            for number in (2, issues // 2 + 1)
        ],
        ("get_label", {**_HOME, "name": "bug"}),
        ("list_label", _HOME),
        *pages("list_pull_requests", pulls // 30, state="all", **_HOME),
        *[("list_pull_requests", {**_HOME, **more}) for more in _PULL_FILTERS],
        *[
            ("pull_request_read", {**_HOME, "method": method, "pullNumber": number})
            for method in _PULL_METHODS
            for number in (first, first + pulls - 1)
        ],
        ("list_repository_collaborators", _HOME),
        *_searches(people),
    ]


def _files(module: str, mid: str) -> list[Call]:
    return [
        *[("get_file_contents", {**_HOME, "path": path}) for path in ("/", "src/", "src/part0/", module)],
        ("get_file_contents", {**_HOME, "path": module, "sha": mid}),
        ("get_repository_tree", _HOME),
        ("get_repository_tree", {**_HOME, "recursive": True}),
        ("get_repository_tree", {**_HOME, "recursive": True, "path_filter": "src/part0"}),
        ("get_file_blame", {**_HOME, "path": module}),
        ("get_file_blame", {**_HOME, "path": "CHANGES.md"}),
    ]


def _history(module: str, old: str, mid: str) -> list[Call]:
    return [
        *[("list_commits", {"path": path}) for path in ("src", "src/part0", module, "CHANGES.md")],
        ("list_commits", {"author": "dev1"}),
        ("list_commits", {"author": "dev1@example.com", "path": "src/part0"}),
        ("list_commits", {"since": "2024-12-01T00:00:00Z"}),
        ("list_commits", {"until": "2023-06-01T00:00:00Z"}),
        ("list_commits", {"sha": mid}),
        *[("get_commit", {"sha": sha, "detail": "full_patch"}) for sha in (old, mid, "main")],
        ("get_tag", {"tag": "v0.0"}),
        ("get_latest_release", {}),
        ("get_release_by_tag", {"tag": "v0.0"}),
    ]


_ISSUE_FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"perPage": 100},
    {"state": "CLOSED"},
    {"labels": ["bug"]},
    {"state": "OPEN", "orderBy": "COMMENTS", "direction": "DESC"},
    {"orderBy": "UPDATED_AT", "direction": "ASC"},
    {"since": "2024-12-01T00:00:00Z"},
)
_PULL_FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"state": "closed", "sort": "updated"},
    {"head": f"{ORG}:topic-0"},
    {"state": "all", "sort": "popularity", "direction": "desc", "perPage": 100},
)
_PULL_METHODS = (
    *("get", "get_diff", "get_status", "get_files", "get_commits"),
    *("get_review_comments", "get_reviews", "get_comments", "get_check_runs"),
)


def _searches(people: list[str]) -> list[Call]:
    repository = f"repo:{ORG}/{REPO}"
    calls: list[Call] = []
    for tool in ("search_code", "search_commits", "search_issues", "search_pull_requests"):
        calls += words(tool)
        calls += [(tool, {"query": f"{word} {repository}"}) for word in (FREQUENT, SELDOM)]
    calls += [("search_commits", {"query": f"author:{people[1]} {FREQUENT}", "sort": "author-date"})]
    for tool, queries in _QUERIES.items():
        calls += [(tool, {"query": query}) for query in queries]
    calls += [("search_issues", {"query": query, "sort": "comments"}) for query in _QUERIES["search_issues"]]
    return calls


_QUERIES = {
    "search_code": ("function_12", "language:python return", "path:src/part0 value"),
    "search_issues": (
        *("is:open label:bug", "author:dev1", f"assignee:{ME} {FREQUENT}"),
        *("comments:>2", f"{FREQUENT} in:title"),
    ),
    "search_pull_requests": ("is:open", "author:dev1 sort:updated"),
    "search_repositories": ("tool", "org:acme", "language:python stars:>1"),
    "search_users": ("dev", "alice", "type:org acme"),
}
