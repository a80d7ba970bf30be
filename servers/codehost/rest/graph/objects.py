"""GraphQL objects: dicts whose values are computed when a query asks for them."""

# Values are computed when a query asks, as a query names a few of many fields (decision 090).

# ruff: noqa: N803 - the names of arguments are the vendor's
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.context import Context, node_id
from mesocosm.servers.codehost.rest.graph.connections import connection, listed, nothing, paged, whole
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.servers.codehost.store.differences import statistics
from mesocosm.services.schema import Json
from mesocosm.services.service import Row

_REACTIONS = {
    "+1": "THUMBS_UP",
    "-1": "THUMBS_DOWN",
    "laugh": "LAUGH",
    "hooray": "HOORAY",
    "confused": "CONFUSED",
    "heart": "HEART",
    "rocket": "ROCKET",
    "eyes": "EYES",
}


def upper(value: str | None) -> str | None:
    """A word as an enumeration writes it."""
    return value.upper() if value else None


def _own(row: Row, *names: str) -> Json:
    """Attributes of a row as the product's other API spells them: ``created_at`` as ``createdAt``."""
    return {_spelled(name): row[name] for name in names}


@cache
def _spelled(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def _numbered(kind: str, number: int, find: Callable[[], Row]) -> Row:
    try:
        return find()
    except NotFound:
        article = "an" if kind[0] in "Ii" else "a"
        raise NotFound(f"Could not resolve to {article} {kind} with the number of {number}.") from None


class Objects:
    """Makes the objects for the answer to one request."""

    def __init__(self, store: CodehostStore, links: Context) -> None:
        self.store, self.links = store, links

    # -- accounts ---------------------------------------------------------------------------------------

    def actor(self, account_id: int | None, login: str | None) -> Json | None:
        """An account in short, of which a query may still ask everything."""
        return self.account(self.store.accounts.account(login)) if account_id and login else None

    def account(self, row: Row) -> Json:
        """A person or an organisation."""
        is_person = row["kind"] == "User"
        return {
            "__typename": row["kind"],
            "id": node_id(row["kind"], row["id"]),
            "databaseId": row["id"],
            **_own(row, "login", "name", "bio", "company", "location", "created_at"),
            "email": row["email"] or "",
            "description": row["bio"],
            "url": self.links.web(row["login"]),
            "avatarUrl": lambda info, size=None: self.links.web("avatars", "u", row["id"]) + "?v=4",
            "isViewer": row["id"] == self.store.me["id"],
            "gists": nothing,
            "organizations": whole(
                lambda: self.store.listing.organizations(row["id"]) if is_person else (),
                lambda one: self.account(self.store.accounts.account(one["login"])),
            ),
            "teams": lambda info, **asked: self._teams(row, **asked),
            "repository": lambda info, name: self.named(row["login"], name),
            "repositories": lambda info, **asked: self._repositories(row, asked),
        }

    def _teams(self, owner: Row, query: str | None = None, **asked: Any) -> Json:
        rows = self.store.accounts.teams(organization_id=owner["id"])
        rows = [one for one in rows if (query or "").lower() in one["name"].lower()]
        descending = (asked.pop("orderBy", None) or {}).get("direction") == "DESC"
        rows.sort(key=lambda one: one["name"].lower(), reverse=descending)
        return connection(listed(rows), lambda one: self._team(one, owner["login"]), **asked)

    def _team(self, row: Row, organization: str) -> Json:
        return {
            "__typename": "Team",
            "id": node_id("Team", row["team_id"]),
            **_own(row, "name", "slug"),
            "organization": lambda info: self.account(self.store.accounts.account(organization)),
        }

    def _repositories(self, owner: Row, asked: Json) -> Json:
        order = asked.get("orderBy") or {"field": "NAME", "direction": "ASC"}
        sorts = {"CREATED_AT": "created", "UPDATED_AT": "updated", "PUSHED_AT": "pushed", "NAME": "full_name"}

        def read(page: int, size: int) -> tuple[Sequence[Row], int]:
            return self.store.listing.repositories(
                owner=owner["login"],
                visibility=(asked.get("privacy") or "all").lower(),
                sort=sorts.get(order["field"], "full_name"),
                direction=order["direction"].lower(),
                page=page,
                per_page=size,
            )

        def show(found: Row) -> Json:
            return self.repository(self.store.repositories.repository_by_id(found["id"]))

        window = {name: asked.get(name) for name in ("first", "after", "last")}
        return connection(read, show, **window) | {"totalDiskUsage": 0}

    # -- repositories -----------------------------------------------------------------------------------

    def named(self, owner: str, name: str) -> Json:
        """A repository by its names."""
        try:
            return self.repository(self.store.repositories.repository(owner, name))
        except NotFound:
            raise NotFound(f"Could not resolve to a Repository with the name '{owner}/{name}'.") from None

    def repository(self, row: Row) -> Json:
        store, links = self.store, self.links
        role = store.repositories.role(row)

        def people(info: Any, query: str | None = None, **page: Any) -> Json:
            page.pop("capabilities", None)
            found = [
                one for one in store.repositories.people(row) if (query or "").lower() in one["login"].lower()
            ]
            return connection(listed(found), lambda one: self.actor(one["id"], one["login"]) or {}, **page)

        def labels(info: Any, query: str | None = None, orderBy: Json | None = None, **page: Any) -> Json:
            found = [
                one
                for one in store.fields.labels(row)
                if not query or query.lower() in f"{one['name']} {one['description']}".lower()
            ]
            if orderBy and orderBy["field"] == "CREATED_AT":
                found.sort(key=lambda one: one["id"])
            if orderBy and orderBy["direction"] == "DESC":
                found.reverse()
            return connection(listed(found), lambda one: self.label(row, one), **page)

        def milestones(info: Any, states: list[str] | None = None, **page: Any) -> Json:
            page = {name: page.get(name) for name in ("first", "after")}
            state = states[0].lower() if states and len(set(states)) == 1 else "all"
            found = store.listing.milestones(row, state)
            return connection(listed(found), lambda one: self.milestone(row, one), **page)

        def refs(info: Any, refPrefix: str, query: str | None = None, **page: Any) -> Json:
            found = [
                one
                for one in store.commits.refs(row)
                if one["name"].startswith(refPrefix) and (query or "").lower() in one["name"].lower()
            ]
            return connection(listed(found), lambda one: self.ref(row, one["name"]) or {}, **page)

        owner = lambda info: self.account(store.accounts.account(row["owner"]))  # noqa: E731
        page_url = links.page(row)
        topics = row["topics"].split()
        return {
            "__typename": "Repository",
            "id": node_id("Repository", row["id"]),
            "databaseId": row["id"],
            **_own(row, "name", "description", "created_at", "updated_at", "pushed_at"),
            "nameWithOwner": f"{row['owner']}/{row['name']}",
            "owner": owner,
            "homepageUrl": row["homepage"],
            "url": page_url,
            "sshUrl": f"{page_url}.git",
            "resourcePath": f"/{row['owner']}/{row['name']}",
            "isPrivate": bool(row["private"]),
            "isFork": row["parent_id"] is not None,
            "isArchived": bool(row["archived"]),
            "isEmpty": lambda info: not store.commits.refs(row),
            **dict.fromkeys(
                ("isTemplate", "isMirror", "isSecurityPolicyEnabled", "isUserConfigurationRepository"), False
            ),
            "isInOrganization": row["owner_kind"] == "Organization",
            "isBlankIssuesEnabled": True,
            "visibility": "PRIVATE" if row["private"] else "PUBLIC",
            "archivedAt": row["updated_at"] if row["archived"] else None,
            "parent": lambda info: self._parent(row),
            "hasIssuesEnabled": True,
            **dict.fromkeys(("hasProjectsEnabled", "hasWikiEnabled", "hasDiscussionsEnabled"), False),
            **dict.fromkeys(("mergeCommitAllowed", "rebaseMergeAllowed", "squashMergeAllowed"), True),
            **dict.fromkeys(("deleteBranchOnMerge", "autoMergeAllowed", "viewerHasStarred"), False),
            "viewerDefaultMergeMethod": "MERGE",
            "viewerDefaultCommitEmail": lambda info: store.me["email"],
            "viewerPossibleCommitEmails": lambda info: [one for one in (store.me["email"],) if one],
            "viewerPermission": role.upper() if role != "none" else None,
            "viewerCanAdminister": role == "admin",
            "viewerSubscription": "UNSUBSCRIBED",
            "stargazerCount": row["stars"],
            "forkCount": lambda info: store.listing.repository_numbers(row["id"])["forks"],
            "stargazers": {"totalCount": row["stars"]},
            "watchers": lambda info, **page: nothing(info) | {"totalCount": row["stars"]},
            "diskUsage": 0,
            "openGraphImageUrl": page_url,
            "usesCustomOpenGraphImage": False,
            "fundingLinks": [],
            "primaryLanguage": _language(row["language"]),
            "languages": lambda info, **page: _languages(row["language"], page),
            "repositoryTopics": lambda info, **page: connection(
                listed(topics),
                lambda name: {
                    "topic": {"id": node_id("Topic", name), "name": name},
                    "url": links.web("topics", name),
                },
                **page,
            ),
            "defaultBranchRef": lambda info: self.ref(row, f"refs/heads/{row['default_branch']}"),
            "ref": lambda info, qualifiedName: self.ref(row, _qualified(qualifiedName)),
            "refs": refs,
            "object": lambda info, expression=None, oid=None: self._object(row, expression or oid),
            "issue": lambda info, number: self.issue(
                _numbered("Issue", number, partial(store.issues.issue, row, number, pull=False))
            ),
            "issueOrPullRequest": lambda info, number: self.either(
                _numbered("issue or pull request", number, partial(store.issues.issue, row, number))
            ),
            "pullRequest": lambda info, number: self.pull(
                row, _numbered("PullRequest", number, partial(store.pulls.pull, row, number))
            ),
            "issues": lambda info, **asked: self._issues(row, asked),
            "pullRequests": lambda info, **asked: self._pulls(row, asked),
            "label": lambda info, name: self.label(row, store.fields.label(row, name)),
            "labels": labels,
            "milestone": lambda info, number: self.milestone(row, store.listing.milestone(row, number)),
            "milestones": milestones,
            "pinnedIssues": whole(
                lambda: store.administering.pinned(row),
                lambda one: {"id": node_id("PinnedIssue", one["id"]), "issue": self.issue(one)},
            ),
            "releases": paged(partial(store.releases.listed, row), lambda one: self.release(row, one)),
            "latestRelease": lambda info: self._latest(row),
            "release": lambda info, tagName: self.release(row, store.releases.release(row, tagName)),
            **dict.fromkeys(
                ("assignableUsers", "mentionableUsers", "collaborators", "suggestedActors"), people
            ),
            **dict.fromkeys(("projects", "projectsV2"), nothing),
            **{name: [] for name in ("issueTemplates", "pullRequestTemplates", "contactLinks")},
            "planFeatures": {"codeowners": False, "draftPullRequests": True},
        }

    def _parent(self, row: Row) -> Json | None:
        found = self.store.repositories.find_repository(row["parent_id"]) if row["parent_id"] else None
        return self.repository(found) if found else None

    def _latest(self, row: Row) -> Json | None:
        try:
            return self.release(row, self.store.releases.latest_release(row))
        except NotFound:
            return None

    def ref(self, repository: Row, name: str) -> Json | None:
        """A branch or a tag."""
        sha = self.store.commits.ref(repository, name)
        if sha is None:
            return None
        prefix, _, short = name.removeprefix("refs/").partition("/")
        approvals = self.store.repositories.protected_branches(repository["id"])
        rule = {"requiresStrictStatusChecks": False, "requiredApprovingReviewCount": approvals.get(short)}
        return {
            "id": node_id("Ref", f"{repository['id']}:{name}"),
            "name": short,
            "prefix": f"refs/{prefix}/",
            "target": lambda info: self._object(repository, name),
            "branchProtectionRule": rule if prefix == "heads" and short in approvals else None,
        }

    def _object(self, repository: Row, expression: str | None) -> Json | None:
        rev, colon, path = (expression or "HEAD").partition(":")
        found = self.store.commits.find_commit(
            repository, None if rev == "HEAD" else rev.removeprefix("refs/heads/")
        )
        if found is None:
            return None
        if not colon:
            return self.commit(repository, found)
        objects = self.store.commits.objects(repository)
        if not path:
            return _tree(objects, found["tree"], "")
        entry = self.store.commits.entry(objects, found["tree"], path.strip("/"))
        if entry is None:
            return None
        mode, sha = entry
        if mode == 0o040000:
            return _tree(objects, sha, path.strip("/") + "/")
        data = objects.data(sha)
        is_binary = b"\0" in data[:8000]
        return _git_object("Blob", sha) | {
            "text": None if is_binary else data.decode(errors="replace"),
            "isBinary": is_binary,
            "isTruncated": False,
            "byteSize": len(data),
        }

    def commit(self, repository: Row, row: Row) -> Json:
        headline, _, rest = row["message"].partition("\n")

        def person(who: str, at: str) -> Json:
            user = lambda info: self.actor(row[f"{who}_id"], row[f"{who}_login"])  # noqa: E731
            return {"name": row[f"{who}_name"], "email": row[f"{who}_email"], "date": row[at], "user": user}

        author = person("author", "authored_at")
        return _git_object("Commit", row["sha"]) | {
            "message": row["message"],
            "messageHeadline": headline,
            "messageBody": rest.strip(),
            "authoredDate": row["authored_at"],
            "committedDate": row["committed_at"],
            "author": author,
            "committer": person("committer", "committed_at"),
            "authors": lambda info, **page: connection(listed([author]), dict, **page),
            "url": self.links.page(repository, "commit", row["sha"]),
            "statusCheckRollup": lambda info: self._rollup(repository, row["sha"]),
            "history": lambda info, path=None, **page: connection(
                lambda number, size: self.store.commits.log(
                    repository, row["sha"], path=path, page=number, per_page=size
                ),
                lambda one: self.commit(repository, one),
                **page,
            ),
        }

    def _rollup(self, repository: Row, sha: str) -> Json | None:
        statuses = self.store.pulls.statuses(repository, sha)
        runs = self.store.pulls.check_runs(repository, sha)
        if not statuses and not runs:
            return None
        required = lambda info, **pull: False  # noqa: E731
        contexts: list[Json] = [
            {
                "__typename": "StatusContext",
                **_own(row, "context", "target_url", "description", "created_at"),
                "state": row["state"].upper(),
                "isRequired": required,
            }
            for row in statuses
        ]
        contexts += [
            {
                "__typename": "CheckRun",
                **_own(row, "name", "started_at", "completed_at"),
                "status": row["status"].upper(),
                "conclusion": upper(row["conclusion"]),
                "detailsUrl": self.links.page(repository, "runs", row["id"]),
                "isRequired": required,
            }
            for row in runs
        ]
        return {
            "state": _state_of(contexts),
            "contexts": lambda info, **page: (
                connection(listed(contexts), dict, **page)
                | {"checkRunCount": len(runs), "statusContextCount": len(statuses)}
            ),
        }

    def label(self, repository: Row, row: Row) -> Json:
        return {
            "__typename": "Label",
            "id": node_id("Label", row["id"]),
            **_own(row, "name", "description", "color"),
            "isDefault": False,
            "createdAt": repository["created_at"],
            "url": self.links.page(repository, "labels", row["name"]),
        }

    def milestone(self, repository: Row, row: Row) -> Json:
        return {
            "__typename": "Milestone",
            "id": node_id("Milestone", row["id"]),
            **_own(row, "number", "title", "description", "due_on", "created_at", "updated_at", "closed_at"),
            "state": row["state"].upper(),
            "closed": row["state"] == "closed",
            "url": self.links.page(repository, "milestone", row["number"]),
        }

    def release(self, repository: Row, row: Row) -> Json:
        return {
            "__typename": "Release",
            "id": node_id("Release", row["id"]),
            "databaseId": row["id"],
            **_own(row, "name", "tag_name", "created_at", "published_at"),
            "description": row["body"],
            "isDraft": bool(row["draft"]),
            "isLatest": lambda info: (self._latest(repository) or {}).get("databaseId") == row["id"],
            "isPrerelease": bool(row["prerelease"]),
            "immutable": False,
            "url": self.links.page(repository, "releases/tag", row["tag_name"]),
            "author": lambda info: self.actor(row["author_id"], row["author"]),
        }

    # -- issues and pull requests -----------------------------------------------------------------------

    def _issues(self, repository: Row, asked: Json) -> Json:
        wanted = asked.get("filterBy") or {}
        states = set(asked.get("states") or wanted.get("states") or ())
        order = asked.get("orderBy") or {"field": "CREATED_AT", "direction": "ASC"}
        fixed = {
            "state": "all" if len(states) != 1 else states.pop().lower(),
            "labels": asked.get("labels") or wanted.get("labels") or (),
            "creator": wanted.get("createdBy"),
            "assignee": wanted.get("assignee"),
            "mentioned": wanted.get("mentioned"),
            "milestone": wanted.get("milestoneNumber") or wanted.get("milestone"),
            "since": wanted.get("since"),
            "sort": order["field"].lower().removesuffix("_at"),
            "direction": order["direction"].lower(),
        }
        page = {name: asked.get(name) for name in ("first", "after", "last")}
        return connection(
            lambda number, size: self.store.listing.issue_page(
                repository, pulls=False, page=number, per_page=size, **fixed
            ),
            self.issue,
            **page,
        )

    def _pulls(self, repository: Row, asked: Json) -> Json:
        states = set(asked.get("states") or ())
        known = {
            frozenset(("OPEN",)): "open",
            frozenset(("MERGED",)): "merged",
            frozenset(("CLOSED", "MERGED")): "closed",
            frozenset(("CLOSED",)): "unmerged",
        }
        order = asked.get("orderBy") or {"field": "CREATED_AT", "direction": "ASC"}
        page = {name: asked.get(name) for name in ("first", "after", "last")}
        return connection(
            lambda number, size: self.store.pulls.listed(
                repository,
                state=known.get(frozenset(states), "all"),
                head=asked.get("headRefName"),
                base=asked.get("baseRefName"),
                sort=order["field"].lower().removesuffix("_at"),
                direction=order["direction"].lower(),
                page=number,
                per_page=size,
            ),
            lambda row: self.pull(repository, row),
            **page,
        )

    def either(self, row: Row) -> Json:
        """An issue, or the pull request that it is."""
        if not row["is_pull"]:
            return self.issue(row)
        home = self.store.repositories.repository_by_id(row["repository_id"])
        return self.pull(home, self.store.pulls.pull(home, row["number"]))

    def _conversation(self, home: Row, row: Row, page_url: str) -> Json:
        """Build the fields shared by issues and pull requests."""
        store = self.store

        assignees = whole(
            lambda: store.issues.assignees_of([row["id"]])[row["id"]],
            lambda one: self.actor(one["id"], one["login"]) or {},
        )

        def milestone(info: Any) -> Json | None:
            found = store.listing.milestones_by_id([home["id"]]) if row["milestone_id"] else {}
            return self.milestone(home, found[row["milestone_id"]]) if found else None

        mine = row["user_id"] == store.me["id"]
        return {
            "databaseId": row["id"],
            "fullDatabaseId": str(row["id"]),
            **_own(row, "number", "title", "body", "created_at", "updated_at", "closed_at"),
            "bodyText": row["body"],
            "url": page_url,
            "resourcePath": page_url.removeprefix(self.links.request.base),
            "author": lambda info: self.actor(row["user_id"], row["user"]),
            "authorAssociation": "OWNER" if row["user_id"] == home["owner_id"] else "CONTRIBUTOR",
            "closed": row["state"] == "closed",
            "locked": bool(row["locked"]),
            "activeLockReason": None,
            "labels": whole(
                lambda: store.issues.labels_of([row["id"]])[row["id"]], lambda one: self.label(home, one)
            ),
            "assignees": assignees,
            "assignedActors": assignees,
            "comments": paged(partial(store.issues.comments, row), lambda one: self.comment(home, row, one)),
            "milestone": milestone,
            "reactionGroups": lambda info: _reaction_groups(
                store.issues.reactions_of("issue", [row["id"]])[row["id"]]
            ),
            "projectCards": nothing,
            "projectItems": nothing,
            "repository": lambda info: self.repository(home),
            "viewerDidAuthor": mine,
            "viewerCanUpdate": lambda info: mine or store.repositories.may(home, "write"),
        }

    def issue(self, row: Row) -> Json:
        store = self.store
        home = store.repositories.repository_by_id(row["repository_id"])
        reason = row["state_reason"]

        def parent(info: Any) -> Json | None:
            found = store.issues.parent_issue(row)
            return self.issue(found) if found else None

        def summary(info: Any) -> Json:
            return _own(store.issues.sub_issue_summary(row), "total", "completed", "percent_completed")

        return self._conversation(home, row, self.links.page(home, "issues", row["number"])) | {
            "__typename": "Issue",
            "id": node_id("Issue", row["id"]),
            "state": row["state"].upper(),
            "stateReason": lambda info, enableDuplicate=None: upper(reason),
            "isPinned": bool(row["pinned"]),
            "issueType": {"id": node_id("IssueType", row["type"]), "name": row["type"]}
            if row["type"]
            else None,
            "parent": parent,
            "subIssues": whole(lambda: store.issues.sub_issues(row), self.issue),
            "subIssuesSummary": summary,
        }

    def pull(self, home: Row, row: Row) -> Json:
        """A pull request of a repository."""
        store = self.store
        kept: dict[str, Any] = {}

        def comparison() -> Any:
            if "found" not in kept:
                kept["found"] = store.pulls.compare(home, row)
            return kept["found"]

        def counts() -> list[tuple[int, int]]:
            if "counts" not in kept:
                objects = store.commits.objects(home)
                kept["counts"] = [statistics(objects, one) for one in comparison().differences]
            return list(kept["counts"])

        def state() -> str:
            if "state" not in kept:
                kept["state"] = store.pulls.mergeable_state(home, row)
            return str(kept["state"])

        def files(info: Any, **page: Any) -> Json:
            pairs = list(zip(comparison().differences, counts(), strict=True))
            return connection(
                listed(pairs),
                lambda pair: {
                    "path": pair[0].path,
                    "additions": pair[1][0],
                    "deletions": pair[1][1],
                    "changeType": pair[0].status.upper(),
                },
                **page,
            )

        def latest(info: Any, **page: Any) -> Json:
            newest = {one["user_id"]: one for one in store.reviews.listed(row, 1, 100)[0]}
            return connection(listed(list(newest.values())), lambda one: self.review(home, row, one), **page)

        mergeable = {"dirty": "CONFLICTING", "unknown": "UNKNOWN"}
        merged = row["merged_at"] is not None
        return self._conversation(home, row, self.links.page(home, "pull", row["number"])) | {
            "__typename": "PullRequest",
            "id": node_id("PullRequest", row["id"]),
            "state": "MERGED" if merged else row["state"].upper(),
            "merged": merged,
            "mergedAt": row["merged_at"],
            "mergedBy": lambda info: self.actor(row["merged_by_id"], row["merged_by"]),
            "isDraft": bool(row["draft"]),
            "isCrossRepository": row["head_repository_id"] != home["id"],
            "maintainerCanModify": bool(row["maintainer_can_modify"]),
            "headRefName": row["head_ref"],
            "headRefOid": row["head_sha"],
            "baseRefName": row["base_ref"],
            "baseRefOid": row["base_sha"],
            "headRef": lambda info: self.ref(
                store.repositories.repository_by_id(row["head_repository_id"]),
                f"refs/heads/{row['head_ref']}",
            ),
            "baseRef": lambda info: self.ref(home, f"refs/heads/{row['base_ref']}"),
            "headRepository": lambda info: self.repository(
                store.repositories.repository_by_id(row["head_repository_id"])
            ),
            "headRepositoryOwner": lambda info: self.account(store.accounts.account(row["head_owner"])),
            "baseRepository": lambda info: self.repository(home),
            "additions": lambda info: sum(added for added, _ in counts()),
            "deletions": lambda info: sum(removed for _, removed in counts()),
            "changedFiles": lambda info: len(comparison().differences),
            "mergeable": lambda info: mergeable.get(state(), "MERGEABLE"),
            "mergeStateStatus": lambda info: state().upper(),
            "mergeCommit": lambda info: self._object(home, row["merge_sha"]) if merged else None,
            "potentialMergeCommit": None,
            "autoMergeRequest": None,
            "isInMergeQueue": False,
            "isMergeQueueEnabled": False,
            "reviewDecision": lambda info: self._decision(home, row),
            "reviews": paged(partial(store.reviews.listed, row), lambda one: self.review(home, row, one)),
            "latestReviews": latest,
            "reviewRequests": whole(
                lambda: store.pulls.requested([row["id"]]),
                lambda one: {"requestedReviewer": self._reviewer(home, one)},
            ),
            "commits": paged(
                partial(store.pulls.pull_commits, home, row), lambda one: {"commit": self.commit(home, one)}
            ),
            "files": files,
            "statusCheckRollup": lambda info: self._rollup(home, row["head_sha"]),
        }

    def _reviewer(self, home: Row, asked: Row) -> Json | None:
        if asked["login"] is not None:
            return self.actor(asked["account_id"], asked["login"])
        return self._team(asked, home["owner"])

    def _decision(self, home: Row, row: Row) -> str | None:
        latest = {
            one["user_id"]: one["state"]
            for one in self.store.reviews.listed(row, 1, 100)[0]
            if one["state"] in ("APPROVED", "CHANGES_REQUESTED", "DISMISSED")
        }
        if "CHANGES_REQUESTED" in latest.values():
            return "CHANGES_REQUESTED"
        needed = self.store.repositories.protected_branches(home["id"]).get(row["base_ref"], 0)
        approvals = list(latest.values()).count("APPROVED")
        if approvals and approvals >= needed:
            return "APPROVED"
        return "REVIEW_REQUIRED" if needed else None

    def review(self, home: Row, pull: Row, row: Row) -> Json:
        """A review of a pull request."""
        return {
            "__typename": "PullRequestReview",
            "id": node_id("PullRequestReview", row["id"]),
            "author": lambda info: self.actor(row["user_id"], row["user"]),
            "authorAssociation": "OWNER" if row["user_id"] == home["owner_id"] else "CONTRIBUTOR",
            **_own(row, "body", "submitted_at", "state"),
            "includesCreatedEdit": False,
            "reactionGroups": [],
            "url": self.links.page(home, "pull", pull["number"]) + f"#pullrequestreview-{row['id']}",
            "commit": lambda info: self._object(home, row["commit_sha"]),
        }

    def comment(self, home: Row, issue: Row, row: Row) -> Json:
        """A comment in a conversation."""
        kind = "pull" if issue["is_pull"] else "issues"
        return {
            "__typename": "IssueComment",
            "id": node_id("IssueComment", row["id"]),
            "databaseId": row["id"],
            "author": lambda info: self.actor(row["user_id"], row["user"]),
            "authorAssociation": "OWNER" if row["user_id"] == home["owner_id"] else "CONTRIBUTOR",
            **_own(row, "body", "created_at", "updated_at"),
            "bodyText": row["body"],
            "includesCreatedEdit": row["updated_at"] != row["created_at"],
            "isMinimized": False,
            "minimizedReason": None,
            "reactionGroups": lambda info: _reaction_groups(
                self.store.issues.reactions_of("comment", [row["id"]])[row["id"]]
            ),
            "url": self.links.page(home, kind, issue["number"]) + f"#issuecomment-{row['id']}",
            "viewerDidAuthor": row["user_id"] == self.store.me["id"],
        }


def _qualified(name: str) -> str:
    return name if name.startswith("refs/") else f"refs/heads/{name}"


def _language(name: str | None) -> Json | None:
    return {"id": node_id("Language", name), "name": name, "color": None} if name else None


def _languages(name: str | None, page: Json) -> Json:
    node = _language(name)
    found = connection(listed([node] if node else []), dict, **page)
    edges = [{"size": 0, "node": node}] if node else []
    return found | {"edges": edges, "totalSize": 0}


def _git_object(kind: str, sha: str) -> Json:
    return {"__typename": kind, "id": node_id(kind, sha), "oid": sha, "abbreviatedOid": sha[:7]}


def _tree(objects: Any, sha: str, prefix: str) -> Json:
    kinds = {0o040000: "tree", 0o160000: "commit"}
    entries = [
        {
            "name": name.decode(),
            "type": kinds.get(mode, "blob"),
            "mode": mode,
            "oid": oid.decode(),
            "path": prefix + name.decode(),
        }
        for name, mode, oid in objects.entries(sha)
    ]
    return _git_object("Tree", sha) | {"entries": entries}


def _reaction_groups(counts: Any) -> list[Json]:
    groups = []
    for name, content in _REACTIONS.items():
        users = {"totalCount": counts.get(name, 0)}
        groups.append({"content": content, "users": users, "reactors": users, "viewerHasReacted": False})
    return groups


def _state_of(contexts: Sequence[Json]) -> str:
    found = {one.get("state") or one["conclusion"] or "PENDING" for one in contexts}
    if found & {"FAILURE", "ERROR", "TIMED_OUT", "CANCELLED", "ACTION_REQUIRED"}:
        return "FAILURE"
    return "PENDING" if "PENDING" in found else "SUCCESS"
