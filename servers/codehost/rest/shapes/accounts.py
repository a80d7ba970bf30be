"""Accounts and repositories."""

from __future__ import annotations

from typing import Any

from mesocosm.servers.codehost.rest.context import Context, node_id
from mesocosm.servers.codehost.store.accounts import ROLES
from mesocosm.services.schema import Json
from mesocosm.services.service import Row, same

_OF_USER = ("followers", "subscriptions", "organizations", "repos", "received_events")
_OF_REPOSITORY = {
    "archive_url": "{archive_format}{/ref}",
    "assignees_url": "assignees{/user}",
    "blobs_url": "git/blobs{/sha}",
    "branches_url": "branches{/branch}",
    "collaborators_url": "collaborators{/collaborator}",
    "comments_url": "comments{/number}",
    "commits_url": "commits{/sha}",
    "compare_url": "compare/{base}...{head}",
    "contents_url": "contents/{+path}",
    "contributors_url": "contributors",
    "deployments_url": "deployments",
    "downloads_url": "downloads",
    "events_url": "events",
    "forks_url": "forks",
    "git_commits_url": "git/commits{/sha}",
    "git_refs_url": "git/refs{/sha}",
    "git_tags_url": "git/tags{/sha}",
    "hooks_url": "hooks",
    "issue_comment_url": "issues/comments{/number}",
    "issue_events_url": "issues/events{/number}",
    "issues_url": "issues{/number}",
    "keys_url": "keys{/key_id}",
    "labels_url": "labels{/name}",
    "languages_url": "languages",
    "merges_url": "merges",
    "milestones_url": "milestones{/number}",
    "notifications_url": "notifications{?since,all,participating}",
    "pulls_url": "pulls{/number}",
    "releases_url": "releases{/id}",
    "stargazers_url": "stargazers",
    "statuses_url": "statuses/{sha}",
    "subscribers_url": "subscribers",
    "subscription_url": "subscription",
    "tags_url": "tags",
    "teams_url": "teams",
    "trees_url": "git/trees{/sha}",
}


def user(at: Context, account_id: int, login: str, kind: str = "User") -> Json:
    """An account, in short."""
    url = at.api("users", login)
    return {
        "login": login,
        "id": account_id,
        "node_id": node_id(kind, account_id),
        "avatar_url": at.web("avatars", "u", account_id) + "?v=4",
        "gravatar_id": "",
        "url": url,
        "html_url": at.web(login),
        **{f"{name}_url": f"{url}/{name.replace('organizations', 'orgs')}" for name in _OF_USER},
        "following_url": f"{url}/following{{/other_user}}",
        "gists_url": f"{url}/gists{{/gist_id}}",
        "starred_url": f"{url}/starred{{/owner}}{{/repo}}",
        "events_url": f"{url}/events{{/privacy}}",
        "type": kind,
        "user_view_type": "public",
        "site_admin": False,
    }


def profile(at: Context, account: Row) -> Json:
    """Format an account with its profile."""
    counts = at.store.accounts.repository_counts(account["id"])
    shape = user(at, account["id"], account["login"], account["kind"]) | {
        **same(account, "name", "company"),
        "blog": account["blog"] or "",
        **same(account, "location", "email"),
        "hireable": None,
        "bio": account["bio"],
        "twitter_username": None,
        "public_repos": counts["public_repos"],
        "public_gists": 0,
        **same(account, "followers", "following", "created_at", "updated_at"),
    }
    if account["id"] == at.store.me["id"]:
        private = counts["private_repos"]
        shape |= {"total_private_repos": private, "owned_private_repos": private, "private_gists": 0}
        shape |= {"disk_usage": 0, "collaborators": 0, "two_factor_authentication": True}
    return shape


def organization(at: Context, account: Row) -> Json:
    """An organisation."""
    url = at.api("orgs", account["login"])
    return profile(at, account) | {
        "url": url,
        "node_id": node_id("Organization", account["id"]),
        "description": account["bio"] or "",
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events",
        "hooks_url": f"{url}/hooks",
        "issues_url": f"{url}/issues",
        "has_organization_projects": False,
        "has_repository_projects": False,
        "archived_at": None,
        "members_url": f"{url}/members{{/member}}",
        "public_members_url": f"{url}/public_members{{/member}}",
        "default_repository_permission": account["default_role"],
    }


def repository(at: Context, row: Row) -> Json:
    """A repository as lists show it."""
    url, page, numbers = at.repo(row), at.page(row), at.store.listing.repository_numbers(row["id"])
    level = ROLES.index(at.store.repositories.role(row))
    return {
        "id": row["id"],
        "node_id": node_id("Repository", row["id"]),
        "name": row["name"],
        "full_name": f"{row['owner']}/{row['name']}",
        "private": bool(row["private"]),
        "owner": user(at, row["owner_id"], row["owner"], row["owner_kind"]),
        "html_url": page,
        "description": row["description"],
        "fork": row["parent_id"] is not None,
        "url": url,
        **{name: f"{url}/{path}" for name, path in _OF_REPOSITORY.items()},
        "clone_url": f"{page}.git",
        "git_url": f"{page}.git",
        "ssh_url": f"{page}.git",
        "svn_url": page,
        "mirror_url": None,
        "homepage": row["homepage"],
        "size": 0,
        "stargazers_count": row["stars"],
        "watchers_count": row["stars"],
        "watchers": row["stars"],
        "language": row["language"],
        "has_issues": True,
        "has_projects": False,
        "has_downloads": False,
        "has_wiki": False,
        "has_pages": False,
        "has_discussions": False,
        "forks_count": numbers["forks"],
        "forks": numbers["forks"],
        "archived": bool(row["archived"]),
        "disabled": False,
        "open_issues_count": numbers["open_issues"],
        "open_issues": numbers["open_issues"],
        "license": None,
        "allow_forking": True,
        "is_template": False,
        "topics": row["topics"].split(),
        "visibility": "private" if row["private"] else "public",
        **same(row, "default_branch", "created_at", "updated_at", "pushed_at"),
        "permissions": {
            name: level >= ROLES.index(role)
            for name, role in (
                ("admin", "admin"),
                ("maintain", "maintain"),
                ("push", "write"),
                ("triage", "triage"),
                ("pull", "read"),
            )
        },
    }


def full_repository(at: Context, row: Row) -> Json:
    """A repository by itself: with where it was forked from, and how its pull requests may be merged."""
    shape = repository(at, row) | {
        "allow_squash_merge": True,
        "allow_merge_commit": True,
        "allow_rebase_merge": True,
        "allow_auto_merge": False,
        "delete_branch_on_merge": False,
        "subscribers_count": row["stars"],
        "network_count": at.store.listing.repository_numbers(row["network"])["forks"],
    }
    if row["owner_kind"] == "Organization":
        shape["organization"] = shape["owner"]
    for name, other in (("parent", row["parent_id"]), ("source", row["network"])):
        if (
            row["parent_id"] is not None
            and at.store.repositories.role(found := at.store.repositories.repository_by_id(other)) != "none"
        ):
            shape[name] = repository(at, found)
    return shape


def repositories(at: Context, rows: Any) -> list[Json]:
    """Repositories of which each row has the ``id``."""
    return [repository(at, at.store.repositories.repository_by_id(row["id"])) for row in rows]
