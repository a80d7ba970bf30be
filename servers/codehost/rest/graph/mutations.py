"""GraphQL mutations: the store's operations, by node ids."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mesocosm.errors import NotFound
from mesocosm.servers.codehost.rest.graph.connections import node_of
from mesocosm.servers.codehost.rest.graph.objects import Objects
from mesocosm.servers.codehost.store.values import Unprocessable
from mesocosm.services.schema import Json
from mesocosm.services.service import Row


def _unknown(node: str) -> NotFound:
    return NotFound(f"Could not resolve to a node with the global id of '{node[:60]}'")


def _id(node: str, *kinds: str) -> int:
    kind, identity = node_of(node)
    if kind not in kinds or not identity.isdecimal():
        raise _unknown(node)
    return int(identity)


def _home(objects: Objects, number: int, node: str) -> Row:
    """The repository that a node is or lies in; one that may not be read is unknown."""
    found = objects.store.repositories.find_repository(number)
    if found is None:
        raise _unknown(node)
    return found


def _repository(objects: Objects, node: str) -> Row:
    return _home(objects, _id(node, "Repository"), node)


def _conversation(objects: Objects, node: str, *kinds: str) -> tuple[Row, Row]:
    """The issue or pull request of a node, and its repository."""
    row = objects.store.issues.issue_by_id(_id(node, *(kinds or ("Issue", "PullRequest"))))
    return _home(objects, row["repository_id"], node), row


def _logins(objects: Objects, nodes: list[str] | None) -> list[str] | None:
    if nodes is None:
        return None
    return [objects.store.accounts.account_by_id(_id(node, "User"))["login"] for node in nodes]


def _labels(objects: Objects, home: Row, nodes: list[str] | None) -> list[str] | None:
    if nodes is None:
        return None
    names = {row["id"]: row["name"] for row in objects.store.fields.labels(home)}
    ids = [_id(node, "Label") for node in nodes]
    for number, node in zip(ids, nodes, strict=True):
        if number not in names:
            raise _unknown(node)
    return [names[number] for number in ids]


def _milestone(objects: Objects, home: Row, given: Json) -> int | None:
    """The number of a milestone; 0 takes it away, ``None`` leaves it."""
    if "milestoneId" not in given:
        return None
    if not given["milestoneId"]:
        return 0
    found = objects.store.listing.milestones_by_id([home["id"]])
    number = _id(given["milestoneId"], "Milestone")
    if number not in found:
        raise _unknown(given["milestoneId"])
    return int(found[number]["number"])


def _without_projects(given: Json) -> None:
    for name in ("projectIds", "projectV2Ids"):
        if given.get(name):
            raise Unprocessable(f"{name} is not supported here: there are no projects.")


def create_repository(objects: Objects, given: Json) -> Json:
    """A new, empty repository."""
    owner = objects.store.me
    if given.get("ownerId"):
        owner = objects.store.accounts.account_by_id(_id(given["ownerId"], "User", "Organization"))
    for name, usual in (("hasIssuesEnabled", True), ("template", False), ("teamId", None)):
        if given.get(name) not in (None, usual):
            raise Unprocessable(f"{name} is not supported here.")
    store = objects.store
    made = store.fields.start_repository(
        given["name"],
        given.get("description"),
        None if owner["id"] == store.me["id"] else owner["login"],
        private=given["visibility"] != "PUBLIC",
        with_readme=False,
    )
    if given.get("homepageUrl"):
        store.administering.change_repository(made, {"homepage": given["homepageUrl"]})
    return {"repository": lambda info: objects.repository(store.repositories.repository_by_id(made["id"]))}


def create_issue(objects: Objects, given: Json) -> Json:
    """A new issue."""
    _without_projects(given)
    home = _repository(objects, given["repositoryId"])
    row = objects.store.issues.open_issue(
        home,
        given["title"],
        given.get("body"),
        labels=_labels(objects, home, given.get("labelIds")),
        assignees=_logins(objects, given.get("assigneeIds")),
        milestone=_milestone(objects, home, given),
    )
    return {"issue": lambda info: objects.issue(row)}


def update_issue(objects: Objects, given: Json) -> Json:
    """A changed issue."""
    _without_projects(given)
    home, row = _conversation(objects, given["id"], "Issue")
    changed = objects.store.issues.change_issue(
        home,
        row["number"],
        title=given.get("title"),
        body=given.get("body"),
        labels=_labels(objects, home, given.get("labelIds")),
        assignees=_logins(objects, given.get("assigneeIds")),
        milestone=_milestone(objects, home, given),
        state=(given.get("state") or "").lower() or None,
    )
    return {"issue": lambda info: objects.issue(changed)}


def close_issue(objects: Objects, given: Json) -> Json:
    home, row = _conversation(objects, given["issueId"], "Issue")
    duplicate = given.get("duplicateIssueId")
    number = _conversation(objects, duplicate, "Issue")[1]["number"] if duplicate else None
    reason = (given.get("stateReason") or "completed").lower()
    changed = objects.store.issues.change_issue(
        home, row["number"], state="closed", state_reason=reason, duplicate_of=number
    )
    return {"issue": lambda info: objects.issue(changed)}


def reopen_issue(objects: Objects, given: Json) -> Json:
    """An issue that is open again."""
    home, row = _conversation(objects, given["issueId"], "Issue")
    changed = objects.store.issues.change_issue(home, row["number"], state="open")
    return {"issue": lambda info: objects.issue(changed)}


def add_comment(objects: Objects, given: Json) -> Json:
    """A new comment."""
    home, row = _conversation(objects, given["subjectId"])
    comment = objects.store.issues.add_comment(home, row["number"], given["body"])
    edge = {"node": lambda info: objects.comment(home, row, comment), "cursor": str(comment["id"])}
    return {"commentEdge": edge, "subject": lambda info: objects.either(row)}


def _comment_home(objects: Objects, node: str) -> tuple[Row, Row, int]:
    number = _id(node, "IssueComment")
    issue = objects.store.listing.issue_of_comment(number)
    return _home(objects, issue["repository_id"], node), issue, number


def update_comment(objects: Objects, given: Json) -> Json:
    """A changed comment."""
    home, issue, number = _comment_home(objects, given["id"])
    changed = objects.store.taking_back.change_comment(home, number, given["body"])
    return {"issueComment": lambda info: objects.comment(home, issue, changed)}


def delete_comment(objects: Objects, given: Json) -> Json:
    """Nothing of a comment that was deleted."""
    home, _, number = _comment_home(objects, given["id"])
    objects.store.taking_back.remove_comment(home, number)
    return {}


def _relabel(objects: Objects, given: Json, change: Callable[[list[str], list[str]], list[str]]) -> Json:
    home, row = _conversation(objects, given["labelableId"])
    there = [one["name"] for one in objects.store.issues.labels_of([row["id"]])[row["id"]]]
    names = change(there, _labels(objects, home, given["labelIds"]) or [])
    changed = objects.store.issues.change_issue(home, row["number"], labels=names)
    return {"labelable": lambda info: objects.either(changed)}


def _reassign(objects: Objects, node: str, change: Callable[[list[str]], list[str]]) -> Json:
    home, row = _conversation(objects, node)
    there = [one["login"] for one in objects.store.issues.assignees_of([row["id"]])[row["id"]]]
    changed = objects.store.issues.change_issue(home, row["number"], assignees=change(there))
    return {"assignable": lambda info: objects.either(changed)}


def add_assignees(objects: Objects, given: Json) -> Json:
    """Something with further assignees."""
    more = _logins(objects, given["assigneeIds"]) or []
    return _reassign(objects, given["assignableId"], lambda there: list(dict.fromkeys([*there, *more])))


def remove_assignees(objects: Objects, given: Json) -> Json:
    """Something with fewer assignees."""
    less = _logins(objects, given["assigneeIds"]) or []
    return _reassign(objects, given["assignableId"], lambda there: [one for one in there if one not in less])


def replace_actors(objects: Objects, given: Json) -> Json:
    """Something with these assignees."""
    wanted = (_logins(objects, given.get("actorIds")) or []) + (given.get("actorLogins") or [])
    return _reassign(objects, given["assignableId"], lambda there: wanted)


# -- pull requests ------------------------------------------------------------------------------------------


def _shown(objects: Objects, home: Row, number: int) -> Json:
    return {"pullRequest": lambda info: objects.pull(home, objects.store.pulls.pull(home, number))}


def create_pull(objects: Objects, given: Json) -> Json:
    """A new pull request."""
    home = _repository(objects, given["repositoryId"])
    head = given["headRefName"]
    if given.get("headRepositoryId"):
        source = _repository(objects, given["headRepositoryId"])
        head = f"{source['owner']}:{source['name']}:{head}" if source["id"] != home["id"] else head
    row = objects.store.pulls.open_pull(
        home,
        given["title"],
        head,
        given["baseRefName"],
        given.get("body") or "",
        draft=bool(given.get("draft")),
        maintainer_can_modify=bool(given.get("maintainerCanModify")),
    )
    return _shown(objects, home, row["number"])


def update_pull(objects: Objects, given: Json) -> Json:
    """A changed pull request."""
    _without_projects(given)
    home, row = _conversation(objects, given["pullRequestId"], "PullRequest")
    objects.store.pulls.change_pull(
        home,
        row["number"],
        title=given.get("title"),
        body=given.get("body"),
        base=given.get("baseRefName"),
        state=(given.get("state") or "").lower() or None,
        maintainer_can_modify=given.get("maintainerCanModify"),
    )
    labels, people = _labels(objects, home, given.get("labelIds")), _logins(objects, given.get("assigneeIds"))
    milestone = _milestone(objects, home, given)
    if (labels, people, milestone) != (None, None, None):
        objects.store.issues.change_issue(
            home, row["number"], labels=labels, assignees=people, milestone=milestone
        )
    return _shown(objects, home, row["number"])


def _change_pull(**changes: Any) -> Callable[[Objects, Json], Json]:
    def change(objects: Objects, given: Json) -> Json:
        home, row = _conversation(objects, given["pullRequestId"], "PullRequest")
        objects.store.pulls.change_pull(home, row["number"], **changes)
        return _shown(objects, home, row["number"])

    return change


def merge_pull(objects: Objects, given: Json) -> Json:
    """A merged pull request."""
    home, row = _conversation(objects, given["pullRequestId"], "PullRequest")
    expected = given.get("expectedHeadOid")
    if expected and expected.lower() != objects.store.pulls.pull(home, row["number"])["head_sha"]:
        raise Unprocessable("Head branch was modified. Review and try the merge again.")
    objects.store.pulls.merge_pull(
        home,
        row["number"],
        (given.get("mergeMethod") or "MERGE").lower(),
        given.get("commitHeadline"),
        given.get("commitBody"),
    )
    return _shown(objects, home, row["number"])


def request_reviews(objects: Objects, given: Json) -> Json:
    """A pull request with people who are asked to review."""
    home, row = _conversation(objects, given["pullRequestId"], "PullRequest")
    people = _logins(objects, given.get("userIds")) or []
    owner = objects.store.accounts.account(home["owner"])
    slugs = {one["team_id"]: one["slug"] for one in objects.store.accounts.teams(organization_id=owner["id"])}
    teams = []
    for node in given.get("teamIds") or ():
        if (team := _id(node, "Team")) not in slugs:
            raise _unknown(node)
        teams.append(f"{home['owner']}/{slugs[team]}")
    objects.store.pulls.change_pull(home, row["number"], reviewers=[*people, *teams])
    return _shown(objects, home, row["number"])


def _lock(objects: Objects, given: Json, *, locked: bool) -> Json:
    home, row = _conversation(objects, given["lockableId"])
    objects.store.administering.lock(home, row["number"], locked=locked)
    changed = objects.store.issues.issue(home, row["number"])
    return {"lockedRecord" if locked else "unlockedRecord": lambda info: objects.either(changed)}


def _archive(objects: Objects, given: Json, *, archived: bool) -> Json:
    home = _repository(objects, given["repositoryId"])
    changed = objects.store.administering.change_repository(home, {"archived": archived})
    return {"repository": lambda info: objects.repository(changed)}


def _pin(objects: Objects, given: Json, *, pinned: bool) -> Json:
    home, row = _conversation(objects, given["issueId"], "Issue")
    objects.store.administering.pin(home, row["number"], pinned=pinned)
    return {"issue": lambda info: objects.issue(objects.store.issues.issue(home, row["number"]))}


def delete_issue(objects: Objects, given: Json) -> Json:
    """The repository of an issue that was deleted."""
    home, row = _conversation(objects, given["issueId"], "Issue")
    objects.store.administering.remove_issue(home, row["number"])
    return {"repository": lambda info: objects.repository(home)}


def transfer_issue(objects: Objects, given: Json) -> Json:
    """Refuses: what refers to an issue does so by its number, which would be another one."""
    _conversation(objects, given["issueId"], "Issue")
    _repository(objects, given["repositoryId"])
    raise Unprocessable("Transferring issues is not supported here.")


def merge_later(objects: Objects, given: Json) -> Json:
    """Refuses, as the product does where the setting of the repository is off."""
    _conversation(objects, given["pullRequestId"], "PullRequest")
    raise Unprocessable("Pull request Auto merge is not allowed for this repository")


def add_review(objects: Objects, given: Json) -> Json:
    """A new review."""
    home, row = _conversation(objects, given["pullRequestId"], "PullRequest")
    pull = objects.store.reviews.start_review(
        home, row["number"], given.get("event"), given.get("body"), given.get("commitOID")
    )
    reviews, total = objects.store.reviews.listed(pull, 1, 100)
    if total > len(reviews):
        reviews, _ = objects.store.reviews.listed(pull, -(-total // 100), 100)
    return {"pullRequestReview": lambda info: objects.review(home, pull, reviews[-1])}


MUTATIONS: dict[str, Callable[[Objects, Json], Json]] = {
    "createRepository": create_repository,
    "archiveRepository": partial(_archive, archived=True),
    "unarchiveRepository": partial(_archive, archived=False),
    "createIssue": create_issue,
    "updateIssue": update_issue,
    "closeIssue": close_issue,
    "reopenIssue": reopen_issue,
    "deleteIssue": delete_issue,
    "transferIssue": transfer_issue,
    "pinIssue": partial(_pin, pinned=True),
    "unpinIssue": partial(_pin, pinned=False),
    "lockLockable": partial(_lock, locked=True),
    "unlockLockable": partial(_lock, locked=False),
    "addComment": add_comment,
    "updateIssueComment": update_comment,
    "deleteIssueComment": delete_comment,
    "addLabelsToLabelable": lambda objects, given: _relabel(
        objects, given, lambda there, more: list(dict.fromkeys([*there, *more]))
    ),
    "removeLabelsFromLabelable": lambda objects, given: _relabel(
        objects, given, lambda there, less: [one for one in there if one not in less]
    ),
    "addAssigneesToAssignable": add_assignees,
    "removeAssigneesFromAssignable": remove_assignees,
    "replaceActorsForAssignable": replace_actors,
    "createPullRequest": create_pull,
    "updatePullRequest": update_pull,
    "closePullRequest": _change_pull(state="closed"),
    "reopenPullRequest": _change_pull(state="open"),
    "markPullRequestReadyForReview": _change_pull(draft=False),
    "convertPullRequestToDraft": _change_pull(draft=True),
    "mergePullRequest": merge_pull,
    "enablePullRequestAutoMerge": merge_later,
    "disablePullRequestAutoMerge": merge_later,
    "requestReviews": request_reviews,
    "addPullRequestReview": add_review,
}
"""Functions of the mutations, by name."""
