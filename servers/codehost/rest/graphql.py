"""GitHub's GraphQL API, over the same rules: what gh, Octokit and the GitHub MCP server ask for.

The schema is text, and the objects are dicts whose values are computed when a query asks for them;
graphql-core parses, validates and walks.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from graphql import (
    ExecutionResult,
    GraphQLError,
    GraphQLSchema,
    OperationType,
    OverlappingFieldsCanBeMergedRule,
    build_schema,
    execute_sync,
    get_operation_ast,
    parse,
    specified_rules,
    validate,
)

from mesocosm.doors.request import Request
from mesocosm.errors import Denied, Invalid, NotFound, Refusal
from mesocosm.servers.codehost.rest.api import RATE, Answered, api
from mesocosm.servers.codehost.rest.bodies import body_of, read
from mesocosm.servers.codehost.rest.context import Context
from mesocosm.servers.codehost.rest.graph.connections import connection, node_of
from mesocosm.servers.codehost.rest.graph.mutations import MUTATIONS
from mesocosm.servers.codehost.rest.graph.objects import Objects
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.services.schema import Json
from mesocosm.services.service import Reply
from mesocosm.worlds import deadlines

_RULES = [rule for rule in specified_rules if rule is not OverlappingFieldsCanBeMergedRule]
"""The product takes one name for fields of different types in different objects, and so do its clients."""
MAX_TOKENS = 20_000
"""Words of a query."""
_PACE = 200_000
"""Characters of a query that are read and checked in a second, in which nobody else works."""


@cache
def _schema() -> GraphQLSchema:
    text = Path(__file__).with_name("graph") / "schema.graphql"
    return build_schema(text.read_text(encoding="utf-8"))


@api.post("/api/graphql")
def post_graphql(store: CodehostStore, request: Request) -> Reply:
    """The answer to a query, or to a mutation, which is done as a whole or not at all."""
    body = body_of(request)
    source, name = read.required(body, "query"), read.text(body, "operationName")
    variables = _plain(body.get("variables")) or {}
    if not isinstance(variables, dict):
        raise Invalid("The variables must be an object.")
    errors: list[GraphQLError] = []
    data: Any = None
    deadlines.expect(len(source) / _PACE)
    try:
        document = parse(source, max_tokens=MAX_TOKENS)
        errors = validate(_schema(), document, _RULES)
    except GraphQLError as error:
        errors = [error]
    if not errors:
        operation = get_operation_ast(document, name)
        objects = Objects(store, Context(store, request))
        is_mutation = operation is not None and operation.operation is OperationType.MUTATION
        root = _mutations(objects) if is_mutation else _queries(objects)
        result = execute_sync(_schema(), document, root, variable_values=variables, operation_name=name)
        assert isinstance(result, ExecutionResult)
        errors, data = list(result.errors or ()), result.data
        reply = _reply(data, errors)
        if errors and is_mutation:
            raise Answered("; ".join(error.message for error in errors), reply)
        return reply
    return _reply(None, errors)


def _reply(data: Any, errors: list[GraphQLError]) -> Reply:
    shown: Json = {"data": data} if data is not None or not errors else {}
    if errors:
        shown["errors"] = [_error(error) for error in errors]
    return Reply(orjson.dumps(shown))


def _error(error: GraphQLError) -> Json:
    cause = error.original_error
    while isinstance(cause, GraphQLError):  # of a variable, whose value is not of its type
        cause = cause.original_error
    if cause is not None and not isinstance(cause, Refusal):
        raise cause  # a fault of ours, or a deadline
    shown: Json = {"message": error.message}
    if cause is not None:
        kinds = ((NotFound, "NOT_FOUND"), (Denied, "FORBIDDEN"))
        shown["type"] = next((kind for one, kind in kinds if isinstance(cause, one)), "UNPROCESSABLE")
    if error.path:
        shown["path"] = error.path
    if error.locations:
        shown["locations"] = [{"line": one.line, "column": one.column} for one in error.locations]
    return shown


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _mutations(objects: Objects) -> Json:
    def resolver(name: str) -> Any:
        return lambda info, input: (
            MUTATIONS[name](objects, input) | {"clientMutationId": input.get("clientMutationId")}
        )

    return {name: resolver(name) for name in MUTATIONS}


def _queries(objects: Objects) -> Json:
    store = objects.store

    def account(login: str, *kinds: str) -> Json:
        try:
            row = store.accounts.account(login)
        except NotFound:
            row = None
        if row is None or row["kind"] not in kinds:
            raise NotFound(f"Could not resolve to a {kinds[0]} with the login of '{login}'.")
        return objects.account(row)

    return {
        "viewer": lambda info: objects.account(store.me),
        "user": lambda info, login: account(login, "User"),
        "organization": lambda info, login: account(login, "Organization"),
        "repositoryOwner": lambda info, login: account(login, "User", "Organization"),
        "repository": lambda info, owner, name, followRenames=None: objects.named(owner, name),  # noqa: N803
        "node": lambda info, id: _node(objects, id),
        "nodes": lambda info, ids: [_node(objects, one) for one in ids],
        "search": lambda info, **asked: _search(objects, asked),
        "rateLimit": lambda info, dryRun=None: {  # noqa: N803
            "limit": RATE["limit"],
            "remaining": RATE["remaining"],
            "used": 0,
            "cost": 1,
            "resetAt": "2100-01-01T00:00:00Z",
        },
    }


def _node(objects: Objects, identity: str) -> Json:
    kind, number = node_of(identity)
    store = objects.store
    if number.isdecimal():
        if kind in ("User", "Organization"):
            return objects.account(store.accounts.account_by_id(int(number)))
        if kind == "Repository" and (found := store.repositories.find_repository(int(number))):
            return objects.repository(found)
        if kind in ("Issue", "PullRequest"):
            row = store.issues.issue_by_id(int(number))
            if store.repositories.find_repository(row["repository_id"]):
                return objects.either(row)
    raise NotFound(f"Could not resolve to a node with the global id of '{identity[:60]}'")


def _search(objects: Objects, asked: Json) -> Json:
    store, query, kind = objects.store, asked["query"], asked["type"]
    window = {name: asked.get(name) for name in ("first", "after", "last")}
    counts = dict.fromkeys(("issueCount", "repositoryCount", "userCount"), 0)
    if kind == "REPOSITORY":
        found = connection(
            lambda page, size: store.account_search.search_repositories(query, None, None, page, size),
            lambda row: objects.repository(store.repositories.repository_by_id(row["id"])),
            **window,
        )
        return found | counts | {"repositoryCount": found["totalCount"]}
    if kind == "USER":
        found = connection(
            lambda page, size: store.account_search.search_users(query, None, None, page, size),
            lambda row: objects.account(store.accounts.account(row["login"])),
            **window,
        )
        return found | counts | {"userCount": found["totalCount"]}
    found = connection(
        lambda page, size: store.issue_search.search_issues(
            query, pulls=None, owner=None, repo=None, sort=None, order=None, page=page, per_page=size
        ),
        objects.either,
        **window,
    )
    return found | counts | {"issueCount": found["totalCount"]}
