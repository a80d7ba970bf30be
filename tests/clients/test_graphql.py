"""GitHub's GraphQL API as Octokit and gh send to it: queries, mutations, refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from githost import fill
from patience import PATIENCE
from rest.hosted import HostedWorld


class GraphQL:
    """A client that posts queries."""

    def __init__(self, hosted: HostedWorld, client: httpx2.Client) -> None:
        self.hosted, self._client = hosted, client

    def raw(self, query: str, **variables: Any) -> dict[str, Any]:
        answer = self.post(query, variables)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def post(self, query: str, variables: Any) -> httpx2.Response:
        return self._client.post("/api/graphql", json={"query": query, "variables": variables})

    def __call__(self, query: str, **variables: Any) -> Any:
        found = self.raw(query, **variables)
        assert "errors" not in found, found
        return found["data"]


@pytest.fixture
def graphql(episode_of: Callable[..., HostedWorld]) -> Iterator[GraphQL]:
    hosted = episode_of(["codehost"], fill)
    headers = {"Authorization": f"bearer {hosted.id}"}
    with httpx2.Client(base_url=hosted.api("codehost"), headers=headers, timeout=PATIENCE) as client:
        yield GraphQL(hosted, client)


REPO = 'repository(owner: "acme", name: "app")'


def test_lists_are_walked_by_cursors(graphql: GraphQL) -> None:
    query = (
        "query($after: String) { " + REPO + " { issues(first: 2, after: $after, orderBy:"
        " {field: CREATED_AT, direction: DESC}) { totalCount nodes { number }"
        " pageInfo { hasNextPage endCursor } } } }"
    )
    seen, after, more = [], None, True
    while more:
        page = graphql(query, after=after)["repository"]["issues"]
        seen += [one["number"] for one in page["nodes"]]
        more, after = page["pageInfo"]["hasNextPage"], page["pageInfo"]["endCursor"]
    assert len(seen) == len(set(seen)) == page["totalCount"]
    assert seen == sorted(seen, reverse=True)
    last = graphql("{" + REPO + "{ issues(last: 1) { nodes { number } } } }")
    assert last["repository"]["issues"]["nodes"] == [{"number": max(seen)}]


def test_what_is_read_here_is_what_the_tools_read(graphql: GraphQL) -> None:
    shown = graphql(
        "{"
        + REPO
        + '{ object(expression: "main:README.md") { ... on Blob { text } } pullRequest(number: 8) {'
        " additions files(first: 9) { nodes { path additions } }"
        " commits(last: 1) { nodes { commit { oid } } }"
        " baseRef { target { ... on Commit { history(first: 2) { nodes { messageHeadline } } } } } } } }"
    )["repository"]
    with graphql.hosted.tools() as tools:
        read = tools.call(
            "codehost", "pull_request_read", method="get", owner="acme", repo="app", pullNumber=8
        )
        files = tools.call(
            "codehost", "pull_request_read", method="get_files", owner="acme", repo="app", pullNumber=8
        )
    assert shown["pullRequest"]["additions"] == read["additions"]
    assert [one["path"] for one in shown["pullRequest"]["files"]["nodes"]] == [
        one["filename"] for one in files
    ]
    assert shown["object"]["text"].startswith("#")


def test_a_mutation_is_done_as_a_whole_or_not_at_all(graphql: GraphQL) -> None:
    repository = graphql("{" + REPO + '{ id label(name: "bug") { id } } }')["repository"]
    create = (
        "mutation($input: CreateIssueInput!) { createIssue(input: $input)"
        " { issue { id number labels(first: 5) { nodes { name } } } } }"
    )
    given = {"repositoryId": repository["id"], "title": "Slow", "labelIds": [repository["label"]["id"]]}
    made = graphql(create, input=given)["createIssue"]["issue"]
    assert made["labels"]["nodes"] == [{"name": "bug"}]
    before = graphql.hosted.tables("codehost")
    two = (
        'mutation($id: ID!) { a: addComment(input: {subjectId: $id, body: "x"}) { clientMutationId }'
        ' b: closeIssue(input: {issueId: "bm8="}) { clientMutationId } }'
    )
    assert graphql.raw(two, id=made["id"])["errors"][0]["path"] == ["b"]
    assert graphql.hosted.tables("codehost") == before


@pytest.mark.parametrize(
    ("query", "message", "kind"),
    [
        ('{repository(owner: "acme", name: "no") { id }}', "Could not resolve to a Repository", "NOT_FOUND"),
        (
            "{" + REPO + "{ issue(number: 999) { id } } }",
            "Could not resolve to an Issue with the number of 999",
            "NOT_FOUND",
        ),
        ("{" + REPO + "{ colour } }", "Cannot query field 'colour'", None),
        ("{" + REPO + "{ issues(first: 101) { totalCount } } }", "limit of 100", "UNPROCESSABLE"),
        ("{ viewer { login", "Syntax Error", None),
    ],
)
def test_a_refusal_says_what_is_wrong(graphql: GraphQL, query: str, message: str, kind: str | None) -> None:
    error = graphql.raw(query)["errors"][0]
    assert message in error["message"]
    assert error.get("type") == kind


def test_a_client_learns_the_schema(graphql: GraphQL) -> None:
    fields = graphql('{ __type(name: "PullRequest") { fields(includeDeprecated: true) { name } } }')[
        "__type"
    ]["fields"]
    assert {"reviewDecision", "statusCheckRollup"} <= {one["name"] for one in fields}
    assert all(entry.status != "fault" for entry in graphql.hosted.journal())


@pytest.mark.parametrize("variables", [{"o": {"a": 1}}, 5, "x", [1], {"o": None}])
def test_variables_of_another_type_are_refused(graphql: GraphQL, variables: Any) -> None:
    query = 'query($o: String!) { repository(owner: $o, name: "app") { name } }'
    answer = graphql.post(query, variables)
    assert "variable" in answer.text.lower()
    assert not [one for one in graphql.hosted.journal() if one.status == "fault"]
