"""Searching code, commits, issues, pull requests, repositories and people."""

from __future__ import annotations

from typing import Any

from mesocosm.servers.codehost.store import NewCommit


def paths(host: Any, query: str, **more: Any) -> list[str]:
    return sorted(item["path"] for item in host.call("search_code", query=query, **more)["items"])


def found(host: Any, query: str, tool: str = "search_issues", **more: Any) -> list[int]:
    return [item["number"] for item in host.call(tool, query=query, **more)["items"]]


def test_code_is_found_by_whole_words_and_phrases(host: Any) -> None:
    assert paths(host, "MAIN") == ["src/main.py", "src/v0.py"]
    assert paths(host, "def main") == ["src/v0.py"]
    assert paths(host, '"return 2"') == ["src/v0.py"]
    assert paths(host, "v0.main()") == ["src/main.py"]
    assert paths(host, "mai") == []


def test_code_search_knows_its_qualifiers(host: Any) -> None:
    assert paths(host, "main language:python path:src filename:v0.py") == ["src/v0.py"]
    assert paths(host, "here extension:md repo:acme/app") == ["docs/guide/intro.md"]
    assert paths(host, "main NOT import") == ["src/v0.py"]
    assert paths(host, "hello OR import") == ["README.md", "src/main.py"]
    assert paths(host, "guide in:path") == ["docs/guide/intro.md"]
    assert paths(host, "main size:>25") == ["src/main.py"]
    assert paths(host, "filename:README.md user:acme") == ["README.md"]


def test_code_search_shows_where_the_words_stand(host: Any) -> None:
    (item,) = host.call("search_code", query='"return 2"')["items"]
    (match,) = item["text_matches"]
    start, end = match["matches"][0]["indices"]
    assert match["fragment"][start:end] == match["matches"][0]["text"] == "return 2"
    assert host.call("search_code", query="hello", fields=["path"])["items"] == [{"path": "README.md"}]


def test_code_search_follows_the_head_of_the_default_branch(host: Any) -> None:
    assert paths(host, "40") == []
    host.call("merge_pull_request", pullNumber=3)
    assert paths(host, "40") == ["src/v1.py"]
    host.put("src/v1.py", "nothing\n")
    assert paths(host, "40") == []
    host.call("delete_file", path="src/v1.py", message="m", branch="main")
    assert paths(host, "nothing") == []


def test_forks_are_not_found_by_code_search(host: Any) -> None:
    host.call("fork_repository")
    assert host.call("search_code", query="hello")["total_count"] == 1


def test_private_things_are_found_only_by_those_who_may_read_them(host: Any) -> None:
    host.call("issue_write", method="create", repo="secret", title="Treasure")
    assert paths(host, "treasure") == ["plan.txt"]
    host.sign_in("carol")
    assert paths(host, "treasure") == []
    assert found(host, "treasure") == []
    assert host.call("search_commits", query="hide")["total_count"] == 0
    assert host.call("search_repositories", query="secret")["total_count"] == 0
    assert "cannot be searched" in host.refused("search_code", query="x repo:acme/secret")
    assert "Not Found" in host.refused("get_file_contents", repo="secret", path="plan.txt")


def test_searches_are_refused_when_they_make_no_sense(host: Any) -> None:
    assert "needs at least one search term" in host.refused("search_code", query="language:go")
    assert "query is missing" in host.refused("search_issues", query=" ")
    assert "longer than 256" in host.refused("search_code", query="x" * 257)
    assert "not 'indexed'" in host.refused("search_code", query="x", sort="best")
    assert "cannot be searched" in host.refused("search_issues", query="repo:acme/nope x")
    assert "cannot be searched" in host.refused("search_commits", query="user:nope x")
    assert "should compare with a number" in host.refused("search_issues", query="comments:>many")
    assert "ISO 8601" in host.refused("search_issues", query="created:>yesterday")
    assert "is not one of" in host.refused("search_issues", query="is:purple")
    assert "true or false" in host.refused("search_pull_requests", query="draft:maybe")
    assert "first 1000" in host.refused("search_issues", query="x", page=11, perPage=100)


def test_punctuation_and_operators_are_never_an_error(host: Any) -> None:
    for query in (
        '"',
        '""',
        "(",
        "a AND",
        "NOT",
        "OR",
        "-",
        "*",
        "^",
        "{title} : x",
        "a:b:c",
        "'; DROP",
        ":v0",
        "%",
    ):
        host.call("search_issues", query=query)
        host.call("search_commits", query=query)
        host.call("search_users", query=query)


def test_results_are_paged_in_a_stable_order(host: Any) -> None:
    with host.world.editing():
        files = {f"n{number}.txt": "same words here" for number in range(5)}
        host.store.filling.add_commits("acme", "app", [NewCommit("Same", files, "alice")])
    pages = [host.call("search_code", query="same", perPage=2, page=page) for page in (1, 2, 3)]
    seen = [item["path"] for page in pages for item in page["items"]]
    assert (sorted(seen), pages[0]["total_count"]) == (sorted(files), 5)


def subjects(host: Any, query: str, **more: Any) -> list[str]:
    items = host.call("search_commits", query=query, **more)["items"]
    return [item["commit"]["message"].partition("\n")[0] for item in items]


def test_commits_are_found_by_message_people_and_dates(host: Any) -> None:
    assert subjects(host, "crash repo:acme/app") == ["Return two"]
    assert subjects(host, "author:bob repo:acme/app") == ["Return two"]
    assert subjects(host, "author-name:zed") == ["Greet"]
    assert subjects(host, "author-email:zed@example.org") == ["Greet"]
    assert subjects(
        host, "repo:acme/app committer-date:2024-12-01..2024-12-02", order="asc", sort="author-date"
    ) == [
        "Initial commit",
        "Return two",
    ]
    assert subjects(host, f"hash:{host.head()[:8]}") == ["Greet"]
    assert subjects(host, "merge:true") == []


def test_commits_of_other_branches_are_not_found(host: Any) -> None:
    assert subjects(host, "v1 repo:acme/app") == []
    host.call("merge_pull_request", pullNumber=3)
    assert sorted(subjects(host, "v1 repo:acme/app"))[0] == "Add v1"
    assert subjects(host, "merge:true") == ["Merge pull request #3 from acme/feature"]


ISSUE_QUERIES = {
    "crash": [1],
    "crashing": [1],
    "zebra": [1],
    "zebra in:title": [],
    "crash in:title,body": [1],
    "is:open": [1],
    "state:closed": [2],
    "label:bug label:weird": [1],
    "label:bug,question": [1],
    "-label:bug": [2],
    "no:label": [2],
    "author:carol": [2],
    "-author:carol": [1],
    "assignee:@me": [1],
    "no:assignee": [2],
    "commenter:alice": [1],
    "involves:bob": [1],
    "milestone:m1": [1],
    "created:<2024-12-07": [1],
    "created:2024-12-07..*": [2],
    "closed:>=2024-12-08": [2],
    "comments:>0": [1],
    "reason:completed": [2],
    "repo:acme/app docs": [2],
    "user:acme is:issue sort:created-asc": [1, 2],
    "NOT crash": [2],
    "docs OR crash sort:created-desc": [2, 1],
    "is:public archived:false type:issue sort:updated": [2, 1],
}


def test_issues_are_found_by_words_and_qualifiers(host: Any) -> None:
    answers = {query: found(host, query, "search_issues") for query in ISSUE_QUERIES}
    assert answers == ISSUE_QUERIES


def test_an_issue_search_is_limited_to_a_repository(host: Any) -> None:
    assert found(host, "crash OR docs", owner="acme", repo="secret") == []
    assert found(host, "crash", owner="acme", repo="app", fields=["number"]) == [1]
    item = host.call("search_issues", query="crash")["items"][0]
    assert (item["labels"][0]["name"], item["assignee"]["login"]) == ("bug", "alice")
    assert item["repository_url"].endswith("/repos/acme/app")


PULL_QUERIES = {
    "v1": [3],
    "is:open": [3],
    "is:merged": [],
    "head:feature base:main": [3],
    "-head:feature": [],
    "draft:false": [3],
    "reviewed-by:alice": [3],
    "review:approved": [],
    "review:required": [3],
    "author:bob created:2024-12-09": [3],
}


def test_pull_requests_are_found_apart_from_issues(host: Any) -> None:
    answers = {query: found(host, query, "search_pull_requests") for query in PULL_QUERIES}
    assert answers == PULL_QUERIES


def test_a_changed_issue_is_found_by_its_new_words(host: Any) -> None:
    host.call("issue_write", method="update", issue_number=1, title="Freeze", body="It hangs")
    assert (found(host, "crash"), found(host, "freeze hangs")) == ([], [1])
    host.call("add_issue_comment", issue_number=2, body="About penguins")
    assert found(host, "penguin") == [2]


def test_repositories_are_found(host: Any) -> None:
    found = host.call("search_repositories", query="app language:python topic:web stars:>4")
    (item,) = found["items"]
    assert (item["full_name"], item["stargazers_count"], item["open_issues_count"]) == ("acme/app", 5, 2)
    assert "clone_url" in host.call("search_repositories", query="app", minimal_output=False)["items"][0]
    host.call("fork_repository")
    assert host.call("search_repositories", query="app fork:true")["total_count"] == 2
    assert host.call("search_repositories", query="app")["total_count"] == 1
    ranked = host.call("search_repositories", query="org:acme", sort="stars")["items"]
    assert [repository["name"] for repository in ranked] == ["app", "secret"]
    assert "cannot be searched" in host.refused("search_repositories", query="org:nope")


def test_people_are_found(host: Any) -> None:
    assert [item["login"] for item in host.call("search_users", query="ali type:user")["items"]] == ["alice"]
    assert [item["login"] for item in host.call("search_users", query="type:org")["items"]] == ["acme"]
    assert host.call("search_users", query="roe in:name", perPage=2)["total_count"] == 3
    assert "query is missing" in host.refused("search_users", query="")
