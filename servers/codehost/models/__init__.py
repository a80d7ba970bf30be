"""Tables of the code host, all in ``codehost.db``: the git objects too.

Times are ISO-8601 UTC text (``2025-01-15T09:00:00Z``): fixed width, so text order is time order. Logins,
repository names and label names compare without regard to case, as the product does.
"""

from mesocosm.servers.codehost.models.accounts import Account, Member, SignIn, Team, TeamMember
from mesocosm.servers.codehost.models.declarative import Base
from mesocosm.servers.codehost.models.git import Change, Commit, CommitParent, File, History, Object, Ref
from mesocosm.servers.codehost.models.issues import (
    Assignee,
    Comment,
    FieldValue,
    Issue,
    IssueField,
    IssueLabel,
    Label,
    Milestone,
    Reaction,
    SubIssue,
)
from mesocosm.servers.codehost.models.pulls import (
    CheckRun,
    PullRequest,
    Review,
    ReviewComment,
    ReviewRequest,
    ReviewThread,
    Status,
)
from mesocosm.servers.codehost.models.repositories import (
    Collaborator,
    Protection,
    Release,
    ReleaseAsset,
    Repository,
)
from mesocosm.servers.codehost.models.search import add_search_indexes

__all__ = [
    "Account",
    "Assignee",
    "Base",
    "Change",
    "CheckRun",
    "Collaborator",
    "Comment",
    "Commit",
    "CommitParent",
    "FieldValue",
    "File",
    "History",
    "Issue",
    "IssueField",
    "IssueLabel",
    "Label",
    "Member",
    "Milestone",
    "Object",
    "Protection",
    "PullRequest",
    "Reaction",
    "Ref",
    "Release",
    "ReleaseAsset",
    "Repository",
    "Review",
    "ReviewComment",
    "ReviewRequest",
    "ReviewThread",
    "SignIn",
    "Status",
    "SubIssue",
    "Team",
    "TeamMember",
]

add_search_indexes(Base.metadata)
