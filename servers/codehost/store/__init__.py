"""The rules of the code host: one part for each topic."""

from __future__ import annotations

from mesocosm.servers.codehost.models import Base
from mesocosm.servers.codehost.store.accounts import Accounts
from mesocosm.servers.codehost.store.administration import Administering
from mesocosm.servers.codehost.store.bulk import (
    Filling,
    NewComment,
    NewCommit,
    NewIssue,
    NewPull,
    NewReview,
)
from mesocosm.servers.codehost.store.contents import Contents
from mesocosm.servers.codehost.store.edits import Edits
from mesocosm.servers.codehost.store.fields import Fields
from mesocosm.servers.codehost.store.history import Commits
from mesocosm.servers.codehost.store.issues import Issues
from mesocosm.servers.codehost.store.lists import Listing
from mesocosm.servers.codehost.store.part import View
from mesocosm.servers.codehost.store.pulls import Pulls
from mesocosm.servers.codehost.store.pushes import Pushes
from mesocosm.servers.codehost.store.releases import Assets, Releases
from mesocosm.servers.codehost.store.repositories import Repositories
from mesocosm.servers.codehost.store.reviews import Reviews
from mesocosm.servers.codehost.store.search import Searching
from mesocosm.servers.codehost.store.search_accounts import AccountSearch
from mesocosm.servers.codehost.store.search_code import CodeSearch
from mesocosm.servers.codehost.store.search_issues import IssueSearch
from mesocosm.services.service import Store, Topic


class CodehostStore(View, Store):
    """Repositories of real git objects, issues, pull requests and search, seen by the signed-in account."""

    metadata = Base.metadata

    accounts = Topic(Accounts)
    repositories = Topic(Repositories)
    commits = Topic(Commits)
    contents = Topic(Contents)
    fields = Topic(Fields)
    issues = Topic(Issues)
    pulls = Topic(Pulls)
    reviews = Topic(Reviews)
    pushes = Topic(Pushes)
    releases = Topic(Releases)
    assets = Topic(Assets)
    searching = Topic(Searching)
    code_search = Topic(CodeSearch)
    issue_search = Topic(IssueSearch)
    account_search = Topic(AccountSearch)
    listing = Topic(Listing)
    taking_back = Topic(Edits)
    administering = Topic(Administering)
    filling = Topic(Filling)


__all__ = ["CodehostStore", "NewComment", "NewCommit", "NewIssue", "NewPull", "NewReview"]
