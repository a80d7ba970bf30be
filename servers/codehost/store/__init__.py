"""The rules of the code host: one part for each topic."""

from __future__ import annotations

from functools import cached_property

from mesocosm.servers.codehost.models import Base
from mesocosm.servers.codehost.store.accounts import Accounts
from mesocosm.servers.codehost.store.administering import Administering
from mesocosm.servers.codehost.store.contents import Contents
from mesocosm.servers.codehost.store.fields import Fields
from mesocosm.servers.codehost.store.filling import (
    Filling,
    NewComment,
    NewCommit,
    NewIssue,
    NewPull,
    NewReview,
)
from mesocosm.servers.codehost.store.history import Commits
from mesocosm.servers.codehost.store.issues import Issues
from mesocosm.servers.codehost.store.listing import Listing
from mesocosm.servers.codehost.store.part import View
from mesocosm.servers.codehost.store.pulls import Pulls
from mesocosm.servers.codehost.store.pushing import Pushes
from mesocosm.servers.codehost.store.releases import Releases
from mesocosm.servers.codehost.store.repositories import Repositories
from mesocosm.servers.codehost.store.reviews import Reviews
from mesocosm.servers.codehost.store.search_accounts import AccountSearch
from mesocosm.servers.codehost.store.search_code import CodeSearch
from mesocosm.servers.codehost.store.search_issues import IssueSearch
from mesocosm.servers.codehost.store.searching import Searching
from mesocosm.servers.codehost.store.taking_back import TakingBack
from mesocosm.services.service import Store


class CodehostStore(View, Store):
    """Repositories of real git objects, issues, pull requests and search, seen by the signed-in account."""

    metadata = Base.metadata

    @cached_property
    def accounts(self) -> Accounts:
        """Who there is, and who is signed in."""
        return Accounts(self)

    @cached_property
    def repositories(self) -> Repositories:
        """Repositories, and who may do what in them."""
        return Repositories(self)

    @cached_property
    def commits(self) -> Commits:
        """Git's side of a repository."""
        return Commits(self)

    @cached_property
    def contents(self) -> Contents:
        """The files of a repository."""
        return Contents(self)

    @cached_property
    def fields(self) -> Fields:
        """What issues can be marked with."""
        return Fields(self)

    @cached_property
    def issues(self) -> Issues:
        """Issues, and the conversations of pull requests."""
        return Issues(self)

    @cached_property
    def pulls(self) -> Pulls:
        """Pull requests."""
        return Pulls(self)

    @cached_property
    def reviews(self) -> Reviews:
        """Reviews."""
        return Reviews(self)

    @cached_property
    def pushes(self) -> Pushes:
        """Pushing."""
        return Pushes(self)

    @cached_property
    def releases(self) -> Releases:
        """Releases; drafts are for those who can write."""
        return Releases(self)

    @cached_property
    def searching(self) -> Searching:
        """The parts of searches."""
        return Searching(self)

    @cached_property
    def code_search(self) -> CodeSearch:
        """Searches of what is in git; forks are left out, as in the product."""
        return CodeSearch(self)

    @cached_property
    def issue_search(self) -> IssueSearch:
        """Searches of issues and pull requests."""
        return IssueSearch(self)

    @cached_property
    def account_search(self) -> AccountSearch:
        """Searches of repositories, and of people and organisations."""
        return AccountSearch(self)

    @cached_property
    def listing(self) -> Listing:
        """Lists that only the REST API gives, or gives in its own way."""
        return Listing(self)

    @cached_property
    def taking_back(self) -> TakingBack:
        """Changing and removing what was said, which only the REST API does."""
        return TakingBack(self)

    @cached_property
    def administering(self) -> Administering:
        """Settings, releases, locks and statuses, which only the REST API changes."""
        return Administering(self)

    @cached_property
    def filling(self) -> Filling:
        """Bulk methods for generators."""
        return Filling(self)


__all__ = ["CodehostStore", "NewComment", "NewCommit", "NewIssue", "NewPull", "NewReview"]
