"""Labels of bug reports: who writes what in its worlds."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from trials import call

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance

TEAM = re.compile(r"[Tt]eam-[a-z]+")


@pytest.fixture(scope="module")
def episode(tmp_path_factory: pytest.TempPathFactory) -> Episode:
    folder, family = tmp_path_factory.mktemp("bug_triage"), load_family("bug_triage")
    instance = build_instance(family, 3, folder / "instance", target=32_000)
    return Episode.create(folder / "episode", instance.path, family)


def documents(episode: Episode) -> list[dict[str, Any]]:
    listed = json.loads(call(episode, "documents", "list_recent_documents", per_page=100))["documents"]
    for one in listed:
        one["text"] = str(call(episode, "documents", "read_document", file_id=one["id"]))
    return list(listed)


def comments(episode: Episode) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each issue with each comment on it."""
    me = json.loads(call(episode, "codehost", "get_me"))["login"]
    query = f"user:{me}"
    (repo,) = json.loads(call(episode, "codehost", "search_repositories", query=query))["items"]
    where = {"owner": me, "repo": repo["name"]}
    for issue in json.loads(call(episode, "codehost", "list_issues", **where, perPage=100))["issues"]:
        read = {"method": "get_comments", "issue_number": issue["number"], **where}
        found = json.loads(call(episode, "codehost", "issue_read", **read)) if issue["comments"] else []
        yield from ((issue, comment) for comment in found)


def test_documents_are_by_several_people(episode: Episode) -> None:
    told = [one for one in documents(episode) if TEAM.search(one["text"])]
    everyday = [one for one in documents(episode) if not TEAM.search(one["text"])]
    for group in (told, everyday):
        owners = Counter(one["owner"] for one in group)
        assert len(owners) >= 4
        assert max(owners.values()) < 0.6 * len(group)
    assert len({one["owner"] for one in told} | {one["owner"] for one in everyday}) <= 7


def test_others_comment_too_and_only_who_reported_corrects(episode: Episode) -> None:
    by = Counter[bool]()
    for issue, comment in comments(episode):
        own = issue["user"]["login"] == comment["user"]["login"]
        by[own] += 1
        if re.search(
            r"no longer|innocent| is fine|causes it|wrong part|wherever|where I wrote", comment["body"]
        ):
            assert own, comment["body"]
    assert by[True] > by[False] > 0
