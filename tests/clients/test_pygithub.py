"""PyGithub's ordinary day of work: one list of cases, in order, on one repository."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Callable
from typing import Any

from githost import fill
from github import Auth, Github, InputGitAuthor, InputGitTreeElement
from rest.hosted import HostedWorld


def cases(gh: Github) -> dict[str, Callable[[], Any]]:
    """What a program asks for, by name."""
    me: Any = gh.get_user()
    r: Any = gh.get_repo("acme/app")
    made: list[Any] = []

    def main() -> str:
        return str(r.get_branch("main").commit.sha)

    def open_issue() -> None:
        made.append(r.create_issue("pg", body="b", labels=["bug"], assignee="alice"))

    return {
        "me": lambda: me.login,
        "emails": lambda: me.get_emails(),
        "orgs": lambda: [o.login for o in me.get_orgs()],
        "my issues": lambda: list(me.get_issues()),
        "user issues": lambda: list(me.get_user_issues()),
        "notifications": lambda: list(me.get_notifications()),
        "events": lambda: list(gh.get_user("bob").get_events()),
        "gists": lambda: list(me.get_gists()),
        "keys": lambda: list(me.get_keys()),
        "teams": lambda: list(me.get_teams()),
        "organization memberships": lambda: list(me.get_organization_memberships()),
        "org": lambda: gh.get_organization("acme").name,
        "org teams": lambda: [t.name for t in gh.get_organization("acme").get_teams()],
        "team": lambda: gh.get_organization("acme").get_team_by_slug("core").name,
        "team members": lambda: [
            m.login for m in gh.get_organization("acme").get_team_by_slug("core").get_members()
        ],
        "team repos": lambda: list(gh.get_organization("acme").get_team_by_slug("core").get_repos()),
        "org members": lambda: [m.login for m in gh.get_organization("acme").get_members()],
        "org issues": lambda: list(gh.get_organization("acme").get_issues()),
        "org events": lambda: list(gh.get_organization("acme").get_events()),
        "has member": lambda: gh.get_organization("acme").has_in_members(gh.get_user("bob")),
        "membership": lambda: me.get_organization_membership("acme").role,
        "org hooks": lambda: list(gh.get_organization("acme").get_hooks()),
        "branches": lambda: [(b.name, b.protected) for b in r.get_branches()],
        "protection": lambda: r.get_branch("guarded").get_protection().required_pull_request_reviews,
        "tags": lambda: [t.name for t in r.get_tags()],
        "commits": lambda: [c.sha for c in r.get_commits(path="src/v0.py", author="bob")],
        "commit": lambda: [f.patch for f in r.get_commit(main()).files],
        "commit comments": lambda: list(r.get_commit(main()).get_comments()),
        "repo comments": lambda: list(r.get_comments()),
        "combined": lambda: r.get_commit(main()).get_combined_status().state,
        "statuses": lambda: list(r.get_commit(main()).get_statuses()),
        "status": lambda: r.get_commit(main()).create_status("success", "http://x.y", "d", "ci"),
        "check runs": lambda: list(r.get_commit(main()).get_check_runs()),
        "check suites": lambda: list(r.get_commit(main()).get_check_suites()),
        "commit pulls": lambda: list(r.get_commit(main()).get_pulls()),
        "branches where head": lambda: list(r.get_commit(main()).get_branches_where_head()),
        "compare": lambda: r.compare("main", "feature").total_commits,
        "contents": lambda: r.get_contents("README.md").decoded_content,
        "dir": lambda: [c.path for c in r.get_contents("src")],
        "readme": lambda: r.get_readme().content,
        "create file": lambda: r.create_file(
            "pg.txt", "m", "hi", branch="main", author=InputGitAuthor("A", "a@x.y")
        ),
        "update file": lambda: r.update_file("pg.txt", "m", "ho", r.get_contents("pg.txt").sha),
        "delete file": lambda: r.delete_file("pg.txt", "m", r.get_contents("pg.txt").sha),
        "tree": lambda: r.get_git_tree(main(), recursive=True).tree,
        "blob": lambda: r.get_git_blob(r.create_git_blob("x", "utf-8").sha).content,
        "create tree": lambda: (
            r.create_git_tree(
                [InputGitTreeElement("n.txt", "100644", "blob", content="n")], r.get_git_tree(main())
            ).sha
        ),
        "create commit": lambda: (
            r.create_git_commit("m", r.get_git_tree(main()), [r.get_git_commit(main())]).sha
        ),
        "create ref": lambda: r.create_git_ref("refs/heads/pg", main()).ref,
        "refs": lambda: [x.ref for x in r.get_git_refs()],
        "matching": lambda: [x.ref for x in r.get_git_matching_refs("heads")],
        "ref edit": lambda: r.get_git_ref("heads/pg").edit(main(), force=True),
        "rename branch": lambda: r.rename_branch("pg", "pg2"),
        "create tag": lambda: r.create_git_tag("pgt", "m", main(), "commit").sha,
        "tag and release": lambda: r.create_git_tag_and_release("pgr", "m", "n", "b", main(), "commit").id,
        "merge branch": lambda: r.merge("feature", "main", "m"),
        "merge none": lambda: r.merge("main", "main"),
        "languages": lambda: r.get_languages(),
        "contributors": lambda: [c.login for c in r.get_contributors()],
        "collab": lambda: [c.login for c in r.get_collaborators()],
        "perm": lambda: r.get_collaborator_permission("bob"),
        "has collab": lambda: r.has_in_collaborators("bob"),
        "forks": lambda: list(r.get_forks()),
        "topics": lambda: r.get_topics(),
        "replace topics": lambda: r.replace_topics(["x"]),
        "hooks": lambda: list(r.get_hooks()),
        "repo keys": lambda: list(r.get_keys()),
        "deployments": lambda: list(r.get_deployments()),
        "environments": lambda: list(r.get_environments()),
        "workflows": lambda: list(r.get_workflows()),
        "runs": lambda: list(r.get_workflow_runs()),
        "artifacts": lambda: list(r.get_artifacts()),
        "repo teams": lambda: list(r.get_teams()),
        "events2": lambda: list(r.get_events()),
        "issues events": lambda: [e.event for e in r.get_issues_events()],
        "autolinks": lambda: list(r.get_autolinks()),
        "secrets": lambda: list(r.get_secrets()),
        "variables": lambda: list(r.get_variables()),
        "pages": lambda: list(r.get_assignees()),
        "labels": lambda: [x.name for x in r.get_labels()],
        "create label": lambda: r.create_label("pg", "ff0000", "d").name,
        "edit label": lambda: r.get_label("pg").edit("pg2", "00ff00"),
        "delete label": lambda: r.get_label("pg2").delete(),
        "milestones": lambda: list(r.get_milestones(state="all")),
        "create ms": lambda: r.create_milestone("pg", due_on=datetime.date(2025, 3, 1)).due_on,
        "edit ms": lambda: r.get_milestones()[0].edit("pgx", state="closed"),
        "ms labels": lambda: list(r.get_milestone(1).get_labels()),
        "delete ms": lambda: r.get_milestone(1).delete(),
        "issues": lambda: [x.number for x in r.get_issues(state="all", labels=["bug"], sort="comments")],
        "create issue": open_issue,
        "edit issue": lambda: made[0].edit(title="t2", body="x", state="closed", state_reason="not_planned"),
        "reopen": lambda: made[0].edit(state="open"),
        "comment": lambda: made[0].create_comment("c").id,
        "comments": lambda: [c.body for c in made[0].get_comments()],
        "comment edit": lambda: made[0].get_comments()[0].edit("d"),
        "comment react": lambda: made[0].get_comments()[0].create_reaction("+1").content,
        "comment reactions": lambda: list(made[0].get_comments()[0].get_reactions()),
        "comment delete": lambda: made[0].get_comments()[0].delete(),
        "add labels": lambda: made[0].add_to_labels("bug"),
        "set labels": lambda: made[0].set_labels("bug"),
        "remove label": lambda: made[0].remove_from_labels("bug"),
        "delete labels": lambda: made[0].delete_labels(),
        "assign": lambda: made[0].add_to_assignees("bob"),
        "unassign": lambda: made[0].remove_from_assignees("bob"),
        "react": lambda: made[0].create_reaction("heart").id,
        "reactions": lambda: [x.content for x in made[0].get_reactions()],
        "i events": lambda: [e.event for e in made[0].get_events()],
        "timeline": lambda: [e.event for e in made[0].get_timeline()],
        "lock": lambda: made[0].lock("resolved"),
        "unlock": lambda: made[0].unlock(),
        "sub issues": lambda: list(made[0].get_sub_issues()),
        "repo issue comments": lambda: [
            c.body
            for c in r.get_issues_comments(
                sort="updated", since=datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
            )
        ],
        "pulls": lambda: [p.number for p in r.get_pulls(state="all", sort="updated", base="main")],
        "pull": lambda: r.get_pull(8).mergeable,
        "p files": lambda: [f.filename for f in r.get_pull(8).get_files()],
        "p commits": lambda: r.get_pull(8).get_commits().totalCount,
        "p reviews": lambda: [x.state for x in r.get_pull(8).get_reviews()],
        "p review": lambda: r.get_pull(8).create_review(body="b", event="COMMENT").id,
        "p comments": lambda: [c.position for c in r.get_pull(8).get_review_comments()],
        "p comment": lambda: (
            r.get_pull(8)
            .create_review_comment("x", r.get_commit(r.get_pull(8).head.sha), "src/v1.py", line=1)
            .id
        ),
        "p reply": lambda: (
            r.get_pull(8).create_review_comment_reply(r.get_pull(8).get_review_comments()[0].id, "re").id
        ),
        "p issue comment": lambda: r.get_pull(8).create_issue_comment("y").id,
        "p edit": lambda: r.get_pull(8).edit(title="pgt"),
        "p requests": lambda: r.get_pull(8).get_review_requests(),
        "p request": lambda: r.get_pull(8).create_review_request(reviewers=["carol"]),
        "p unrequest": lambda: r.get_pull(8).delete_review_request(reviewers=["carol"]),
        "p labels": lambda: r.get_pull(8).add_to_labels("bug"),
        "p as issue": lambda: r.get_pull(8).as_issue().title,
        "p update": lambda: r.get_pull(8).update_branch(),
        "repo p comments": lambda: [c.body for c in r.get_pulls_comments()],
        "p merged": lambda: r.get_pull(8).is_merged(),
        "create pull": lambda: (
            r.create_pull(base="guarded", head="main", title="x", body="y", draft=True).number
        ),
        "p close": lambda: r.get_pull(8).edit(state="closed"),
        "releases": lambda: [x.title for x in r.get_releases()],
        "latest": lambda: r.get_latest_release().tag_name,
        "release": lambda: r.get_release("v1.0").id,
        "create release": lambda: r.create_git_release("pgx", "n", "b").id,
        "update release": lambda: r.get_release("pgx").update_release("n2", "b2").title,
        "delete release": lambda: r.get_release("pgx").delete_release(),
        "assets": lambda: list(r.get_release("v1.0").get_assets()),
        "s issues": lambda: gh.search_issues("is:open repo:acme/app", sort="created").totalCount,
        "s code": lambda: [c.path for c in gh.search_code("main repo:acme/app")],
        "s repos": lambda: gh.search_repositories("app").totalCount,
        "s users": lambda: gh.search_users("alice").totalCount,
        "s commits": lambda: gh.search_commits("Step repo:acme/app").totalCount,
        "rate": lambda: gh.get_rate_limit(),
        "markdown": lambda: gh.render_markdown("**x**"),
        "by id": lambda: gh.get_repo(r.id).name,
        "user by id": lambda: gh.get_user_by_id(gh.get_user("bob").id).login,
        "gh events": lambda: list(gh.get_events()),
        "fork": lambda: r.create_fork().full_name,
        "org create": lambda: gh.get_organization("acme").create_repo("pgorg").full_name,
        "user repos": lambda: [x.name for x in gh.get_user("carol").get_repos()],
        "named": lambda: gh.get_user("carol").get_repo("public-thing").name,
        "orgs of": lambda: list(gh.get_user("bob").get_orgs()),
    }


def test_every_case_of_a_day_passes(episode_of: Callable[..., HostedWorld]) -> None:
    hosted = episode_of(["codehost"], fill)
    gh = Github(
        base_url=f"{hosted.api('codehost')}/api/v3",
        auth=Auth.Token(hosted.id),
        seconds_between_writes=0,
        seconds_between_requests=0,
        retry=None,
    )
    failed = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of its calls are deprecated, and asked for all the same
        for name, case in cases(gh).items():
            try:
                case()
            except Exception as error:  # noqa: BLE001 - each is told, not the first alone
                failed[name] = f"{type(error).__name__}: {error}"
    assert failed == {}
    assert all(entry.status != "fault" for entry in hosted.journal())
