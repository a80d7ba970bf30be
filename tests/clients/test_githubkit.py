"""githubkit, whose models are strict: every answer has all fields that GitHub documents, of their types."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from githost import PULL_NUMBER, fill
from rest.hosted import HostedWorld

githubkit = pytest.importorskip("githubkit", exc_type=ImportError)
R = {"owner": "acme", "repo": "app"}


@pytest.fixture(scope="module")
def gh(episode_of: Callable[..., HostedWorld]) -> Any:
    hosted = episode_of(["codehost"], fill)
    token = githubkit.TokenAuthStrategy(hosted.id)
    return githubkit.GitHub(token, base_url=hosted.api("codehost") + "/api/v3/")


@pytest.fixture(scope="module")
def made(gh: Any) -> SimpleNamespace:
    """What the cases ask for."""
    number = gh.rest.issues.create(**R, title="t", body="b", labels=["bug"]).json()["number"]
    gh.rest.issues.create_comment(**R, issue_number=number, body="c")
    return SimpleNamespace(
        sha=gh.rest.repos.get_commit(**R, ref="main").json()["sha"],
        number=number,
        milestone=gh.rest.issues.create_milestone(**R, title="ms").json()["number"],
        release=gh.rest.repos.create_release(**R, tag_name="v77").json()["id"],
    )


CASES: dict[str, Callable[[Any, Any], Any]] = {
    "user": lambda gh, made: gh.rest.users.get_authenticated(),
    "user_by": lambda gh, made: gh.rest.users.get_by_username("alice"),
    "repo": lambda gh, made: gh.rest.repos.get(**R),
    "repos mine": lambda gh, made: gh.rest.repos.list_for_authenticated_user(),
    "repos org": lambda gh, made: gh.rest.repos.list_for_org("acme"),
    "branches": lambda gh, made: gh.rest.repos.list_branches(**R),
    "branch": lambda gh, made: gh.rest.repos.get_branch(**R, branch="main"),
    "tags": lambda gh, made: gh.rest.repos.list_tags(**R),
    "commits": lambda gh, made: gh.rest.repos.list_commits(**R),
    "commit": lambda gh, made: gh.rest.repos.get_commit(**R, ref=made.sha),
    "compare": lambda gh, made: gh.rest.repos.compare_commits(**R, basehead="main...feature"),
    "contents": lambda gh, made: gh.rest.repos.get_content(**R, path="README.md"),
    "dir": lambda gh, made: gh.rest.repos.get_content(**R, path="src"),
    "readme": lambda gh, made: gh.rest.repos.get_readme(**R),
    "topics": lambda gh, made: gh.rest.repos.get_all_topics(**R),
    "languages": lambda gh, made: gh.rest.repos.list_languages(**R),
    "contributors": lambda gh, made: gh.rest.repos.list_contributors(**R),
    "collabs": lambda gh, made: gh.rest.repos.list_collaborators(**R),
    "perm": lambda gh, made: gh.rest.repos.get_collaborator_permission_level(**R, username="alice"),
    "forks": lambda gh, made: gh.rest.repos.list_forks(**R),
    "releases": lambda gh, made: gh.rest.repos.list_releases(**R),
    "release": lambda gh, made: gh.rest.repos.get_release(**R, release_id=made.release),
    "latest": lambda gh, made: gh.rest.repos.get_latest_release(**R),
    "statuses": lambda gh, made: gh.rest.repos.list_commit_statuses_for_ref(**R, ref=made.sha),
    "status": lambda gh, made: gh.rest.repos.get_combined_status_for_ref(**R, ref=made.sha),
    "create status": lambda gh, made: gh.rest.repos.create_commit_status(**R, sha=made.sha, state="success"),
    "checks": lambda gh, made: gh.rest.checks.list_for_ref(**R, ref=made.sha),
    "issues": lambda gh, made: gh.rest.issues.list_for_repo(**R),
    "issue": lambda gh, made: gh.rest.issues.get(**R, issue_number=made.number),
    "comments": lambda gh, made: gh.rest.issues.list_comments(**R, issue_number=made.number),
    "comments repo": lambda gh, made: gh.rest.issues.list_comments_for_repo(**R),
    "events": lambda gh, made: gh.rest.issues.list_events(**R, issue_number=made.number),
    "timeline": lambda gh, made: gh.rest.issues.list_events_for_timeline(**R, issue_number=made.number),
    "labels": lambda gh, made: gh.rest.issues.list_labels_for_repo(**R),
    "label": lambda gh, made: gh.rest.issues.get_label(**R, name="bug"),
    "issue labels": lambda gh, made: gh.rest.issues.list_labels_on_issue(**R, issue_number=made.number),
    "milestones": lambda gh, made: gh.rest.issues.list_milestones(**R),
    "milestone": lambda gh, made: gh.rest.issues.get_milestone(**R, milestone_number=made.milestone),
    "assignees": lambda gh, made: gh.rest.issues.list_assignees(**R),
    "reactions": lambda gh, made: gh.rest.reactions.list_for_issue(**R, issue_number=made.number),
    "react": lambda gh, made: gh.rest.reactions.create_for_issue(
        **R, issue_number=made.number, content="heart"
    ),
    "pulls": lambda gh, made: gh.rest.pulls.list(**R),
    "pull": lambda gh, made: gh.rest.pulls.get(**R, pull_number=PULL_NUMBER),
    "pull files": lambda gh, made: gh.rest.pulls.list_files(**R, pull_number=PULL_NUMBER),
    "pull commits": lambda gh, made: gh.rest.pulls.list_commits(**R, pull_number=PULL_NUMBER),
    "reviews": lambda gh, made: gh.rest.pulls.list_reviews(**R, pull_number=PULL_NUMBER),
    "review comments": lambda gh, made: gh.rest.pulls.list_review_comments(**R, pull_number=PULL_NUMBER),
    "requested": lambda gh, made: gh.rest.pulls.list_requested_reviewers(**R, pull_number=PULL_NUMBER),
    "tree": lambda gh, made: gh.rest.git.get_tree(**R, tree_sha=made.sha, recursive="1"),
    "blob": lambda gh, made: gh.rest.git.create_blob(**R, content="x"),
    "ref": lambda gh, made: gh.rest.git.get_ref(**R, ref="heads/main"),
    "refs": lambda gh, made: gh.rest.git.list_matching_refs(**R, ref="heads"),
    "gitcommit": lambda gh, made: gh.rest.git.get_commit(**R, commit_sha=made.sha),
    "search issues": lambda gh, made: gh.rest.search.issues_and_pull_requests(q="repo:acme/app is:issue"),
    "search code": lambda gh, made: gh.rest.search.code(q="main repo:acme/app"),
    "search repos": lambda gh, made: gh.rest.search.repos(q="app"),
    "search users": lambda gh, made: gh.rest.search.users(q="alice"),
    "search commits": lambda gh, made: gh.rest.search.commits(q="Step repo:acme/app"),
    "rate": lambda gh, made: gh.rest.rate_limit.get(),
    "meta root": lambda gh, made: gh.rest.meta.root(),
    "orgs": lambda gh, made: gh.rest.orgs.list_for_authenticated_user(),
    "org": lambda gh, made: gh.rest.orgs.get("acme"),
    "members": lambda gh, made: gh.rest.orgs.list_members("acme"),
    "put": lambda gh, made: gh.rest.repos.create_or_update_file_contents(
        **R, path="z.txt", message="m", content="eA==", branch="main"
    ),
    "patch": lambda gh, made: gh.rest.repos.update(**R, description="d", homepage=""),
    "fork": lambda gh, made: gh.rest.repos.create_fork(**R),
    "new": lambda gh, made: gh.rest.repos.create_for_authenticated_user(name="nn", homepage=""),
    "update issue": lambda gh, made: gh.rest.issues.update(**R, issue_number=made.number, state="closed"),
    "lock": lambda gh, made: gh.rest.issues.lock(**R, issue_number=made.number),
    "runs": lambda gh, made: gh.rest.actions.list_workflow_runs_for_repo(**R),
}


@pytest.mark.parametrize("case", CASES)
def test_an_answer_is_what_the_models_say(gh: Any, made: SimpleNamespace, case: str) -> None:
    answer = CASES[case](gh, made)
    assert answer.status_code < 300
    assert answer.status_code == 204 or answer.parsed_data is not None
