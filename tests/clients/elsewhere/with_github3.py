"""A day's work with github3.py: prints how many cases passed, and what the others said."""

import json
import os
import sys
import warnings

import github3

warnings.simplefilter("ignore")
url, token = sys.argv[1:]
gh = github3.enterprise_login(token=token, url=url)
gh.session.base_url = url + "/api/v3"
cases = []
made = []


def case(function):
    cases.append(function)
    return function


def repository():
    return gh.repository("acme", "app")


def issue_made():
    return repository().issue(made[0])


def pull_eight():
    return repository().pull_request(8)


@case
def me():
    return gh.me().login


@case
def user():
    return gh.user("bob").name


@case
def emails():
    return list(gh.emails())


@case
def repos():
    return [r.full_name for r in gh.repositories()]


@case
def repo():
    return repository().description


@case
def org():
    return gh.organization("acme").name


@case
def orgs():
    return list(gh.organizations())


@case
def org_repos():
    return [r.name for r in gh.organization("acme").repositories()]


@case
def org_members():
    return [r.login for r in gh.organization("acme").members()]


@case
def org_teams():
    return [r.name for r in gh.organization("acme").teams()]


@case
def branches():
    return [b.name for b in repository().branches()]


@case
def branch():
    return repository().branch("main").commit.sha


@case
def tags():
    return [t.name for t in repository().tags()]


@case
def commits():
    return [c.sha for c in repository().commits()]


@case
def commit_comments():
    return list(repository().comments())


@case
def commit_status():
    return repository().commit("main").status().state


@case
def commit_statuses():
    return list(repository().commit("main").statuses())


@case
def create_status():
    return repository().create_status(repository().commit("main").sha, "success", context="x").state


@case
def commit_check_runs():
    return list(repository().commit("main").check_runs())


@case
def commit_check_suites():
    return list(repository().commit("main").check_suites())


@case
def compare():
    return repository().compare_commits("main", "feature").ahead_by


@case
def contents():
    return repository().file_contents("README.md").decoded


@case
def dir_():
    return repository().directory_contents("src")


@case
def readme():
    return repository().readme().decoded


@case
def create_file():
    return repository().create_file("g3.txt", "m", b"hi", branch="main")["content"].sha


@case
def update_file():
    return repository().file_contents("g3.txt").update("m2", b"hi2")["commit"].sha


@case
def delete_file():
    return repository().file_contents("g3.txt").delete("m3")


@case
def refs():
    return [r.ref for r in repository().refs()]


@case
def ref():
    return repository().ref("heads/main").object.sha


@case
def create_ref():
    return repository().create_ref("refs/heads/g3", repository().commit("main").sha).ref


@case
def delete_ref():
    return repository().ref("heads/g3").delete()


@case
def git_commit():
    return repository().git_commit(repository().commit("main").sha).message


@case
def languages():
    return dict(repository().languages())


@case
def contributors():
    return [c.login for c in repository().contributors()]


@case
def collaborators():
    return [c.login for c in repository().collaborators()]


@case
def forks():
    return list(repository().forks())


@case
def topics():
    return repository().topics().names


@case
def replace_topics():
    return repository().replace_topics(["a"]).names


@case
def labels():
    return [label.name for label in repository().labels()]


@case
def create_label():
    return repository().create_label("g3", "ff0000").name


@case
def update_label():
    return repository().label("g3").update("g4", "00ff00")


@case
def delete_label():
    return repository().label("g4").delete()


@case
def milestones():
    return list(repository().milestones())


@case
def create_milestone():
    return repository().create_milestone("g3", due_on="2025-02-01T00:00:00Z").due_on


@case
def update_milestone():
    m = next(iter(repository().milestones()))
    return m.update(title="g5", state="closed")


@case
def issues():
    return [i.title for i in repository().issues(state="all")]


@case
def create_issue():
    issue = repository().create_issue("g3", "body", labels=["bug"], assignees=["alice"])
    made.append(issue.number)
    return issue.body_html, issue.body_text


@case
def issue():
    return issue_made().title


@case
def edit_issue():
    return issue_made().edit(title="g4", body="x", state="open")


@case
def issue_comment():
    return issue_made().create_comment("hello").body_html


@case
def issue_comments():
    return [c.body for c in issue_made().comments()]


@case
def edit_comment():
    return next(iter(issue_made().comments())).edit("bye")


@case
def delete_comment():
    return next(iter(issue_made().comments())).delete()


@case
def add_labels():
    return [label.name for label in issue_made().add_labels("bug")]


@case
def remove_label():
    return issue_made().remove_label("bug")


@case
def replace_labels():
    return issue_made().replace_labels(["bug"])


@case
def issue_events():
    return [e.event for e in issue_made().events()]


@case
def assignees():
    return issue_made().add_assignees(["bob"])


@case
def lock():
    return issue_made().lock()


@case
def unlock():
    return issue_made().unlock()


@case
def close():
    return issue_made().close()


@case
def reopen():
    return issue_made().reopen()


@case
def repo_issue_events():
    return [e.event for e in repository().issue_events()]


@case
def repo_events():
    return list(repository().events())


@case
def repo_assignees():
    return [e.login for e in repository().assignees()]


@case
def pulls():
    return [p.number for p in repository().pull_requests(state="all")]


@case
def pull():
    return repository().pull_request(8).title


@case
def pull_files():
    return [f.filename for f in pull_eight().files()]


@case
def pull_commits():
    return [c.sha for c in pull_eight().commits()]


@case
def pull_reviews():
    return [c.state for c in pull_eight().reviews()]


@case
def create_review():
    return pull_eight().create_review("fine", event="COMMENT").state


@case
def review_comments():
    return list(pull_eight().review_comments())


@case
def create_review_comment():
    return pull_eight().create_review_comment("x", pull_eight().head.sha, "src/v1.py", 1).body


@case
def pull_issue():
    return pull_eight().issue().title


@case
def pull_issue_comments():
    return list(pull_eight().issue_comments())


@case
def pull_update():
    return pull_eight().update(title="G3")


@case
def pull_diff():
    return pull_eight().diff()


@case
def pull_patch():
    return pull_eight().patch()


@case
def review_requests():
    return pull_eight().review_requests().users


@case
def is_merged():
    return pull_eight().is_merged()


@case
def pull_close():
    return pull_eight().close()


@case
def pull_reopen():
    return pull_eight().reopen()


@case
def merge():
    return pull_eight().merge("done")


@case
def releases():
    return [r.name for r in repository().releases()]


@case
def latest():
    return repository().latest_release().tag_name


@case
def create_release():
    return repository().create_release("g3-1", name="x", body="y").id


@case
def release_tag():
    return repository().release_from_tag("g3-1").assets


@case
def release_edit():
    return repository().release_from_tag("g3-1").edit(name="z")


@case
def release_del():
    return repository().release_from_tag("g3-1").delete()


@case
def archive():
    return repository().archive("tarball", os.devnull)


@case
def search_issues():
    return [x.issue.title for x in gh.search_issues("repo:acme/app is:issue")]


@case
def search_code():
    return [x.path for x in gh.search_code("main repo:acme/app")]


@case
def search_repos():
    return [x.repository.name for x in gh.search_repositories("app")]


@case
def search_users():
    return [x.user.login for x in gh.search_users("alice")]


@case
def search_commits():
    return [x.sha for x in gh.search_commits("Step repo:acme/app")]


@case
def rate():
    return gh.rate_limit()["resources"]["core"]


@case
def meta():
    return gh.octocat()


@case
def my_issues():
    return [i.title for i in gh.issues()]


@case
def user_issues():
    return [i.title for i in gh.user_issues()]


@case
def edit_repo():
    return repository().edit("app", description="new")


@case
def create_repo():
    return gh.create_repository("fresh", auto_init=True).full_name


@case
def delete_repo():
    return gh.repository("alice", "fresh").delete()


@case
def fork():
    return repository().create_fork().full_name


@case
def hooks():
    return list(repository().hooks())


@case
def keys():
    return list(repository().keys())


@case
def notifications():
    return list(gh.notifications())


@case
def markdown():
    return gh.markdown("**x**")


@case
def projects():
    return list(repository().projects())


@case
def deployments():
    return list(repository().deployments())


failed = {}
for function in cases:
    try:
        function()
    except Exception as error:  # noqa: BLE001 - each is told, not the first alone
        failed[function.__name__] = f"{type(error).__name__}: {error}"
print(json.dumps({"cases": len(cases), "failed": failed}))
