"""Tables of the code host, all in ``codehost.db``: the git objects too.

Times are ISO-8601 UTC text (``2025-01-15T09:00:00Z``): fixed width, so text order is time order. Logins,
repository names and label names compare without regard to case, as the product does.
"""

from __future__ import annotations

from sqlalchemy import DDL, ForeignKey, Index, LargeBinary, Text, UniqueConstraint, event
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

Name = Text(collation="NOCASE")
"""Text that is compared without regard to the case of ASCII letters."""


class Base(DeclarativeBase):
    """The tables of ``codehost.db``."""

    type_annotation_map = {str: Text}  # noqa: RUF012 - how SQLAlchemy takes it


# -- people, organisations and teams ------------------------------------------------------------------------


class Account(Base):
    """A person or an organisation: whoever can own a repository."""

    __tablename__ = "accounts"
    __table_args__ = (
        UniqueConstraint("login"),
        # Whose commit it is, is known by the address that the commit carries.
        Index("accounts_by_email", "email", unique=True),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    login: Mapped[str] = mapped_column(Name)
    kind: Mapped[str] = mapped_column(default="User")
    """``User`` or ``Organization``."""
    name: Mapped[str]
    email: Mapped[str | None] = mapped_column(Name)
    company: Mapped[str | None]
    blog: Mapped[str | None]
    location: Mapped[str | None]
    bio: Mapped[str | None]
    followers: Mapped[int] = mapped_column(default=0)
    following: Mapped[int] = mapped_column(default=0)
    default_role: Mapped[str] = mapped_column(default="read")
    """Of an organisation: what its members may do in each of its repositories."""
    created_at: Mapped[str]
    updated_at: Mapped[str]


class SignIn(Base):
    """Signed-in account: one row, or none."""

    __tablename__ = "sign_in"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))


class Member(Base):
    """Somebody's membership of an organisation."""

    __tablename__ = "members"
    __table_args__ = (Index("members_by_account", "account_id"),)

    organization_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    role: Mapped[str] = mapped_column(default="member")
    """``member`` or ``admin``."""


class Team(Base):
    """A team of an organisation."""

    __tablename__ = "teams"
    __table_args__ = (UniqueConstraint("organization_id", "slug"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    organization_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    slug: Mapped[str] = mapped_column(Name)
    name: Mapped[str]


class TeamMember(Base):
    """Somebody's membership of a team."""

    __tablename__ = "team_members"

    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)


# -- git objects and refs, and what is derived from them to be listed and searched quickly ------------------


class Object(Base):
    """A git object of a network of forks. Objects are added, never changed or removed."""

    __tablename__ = "objects"

    network: Mapped[int] = mapped_column(primary_key=True)
    sha: Mapped[str] = mapped_column(primary_key=True)
    type: Mapped[int]
    """Git's number of the type: 1 commit, 2 tree, 3 blob, 4 tag."""
    size: Mapped[int]
    # Not deflated: zlib's output differs between its builds, and a world is the same bytes everywhere.
    data: Mapped[bytes] = mapped_column(LargeBinary)


class Ref(Base):
    """A branch, a tag or the head of a pull request, by its full name (``refs/heads/main``)."""

    __tablename__ = "refs"

    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    sha: Mapped[str]


class Commit(Base):
    """Commit object. A parent always has the smaller id."""

    __tablename__ = "commits"
    __table_args__ = (UniqueConstraint("network", "sha"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    network: Mapped[int]
    sha: Mapped[str]
    tree: Mapped[str]
    author_name: Mapped[str]
    author_email: Mapped[str] = mapped_column(Name)
    author_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    authored_at: Mapped[str]
    committer_name: Mapped[str]
    committer_email: Mapped[str] = mapped_column(Name)
    committer_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    committed_at: Mapped[str]
    corrected_at: Mapped[str]
    """The newest ``committed_at`` of the commit and its ancestors: never before that of a parent."""
    message: Mapped[str]


class CommitParent(Base):
    """An edge of the commit graph."""

    __tablename__ = "commit_parents"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012 - how SQLAlchemy takes it

    commit_id: Mapped[int] = mapped_column(ForeignKey("commits.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    parent_id: Mapped[int] = mapped_column(ForeignKey("commits.id"))


class Change(Base):
    """A file that a commit changed, compared with its first parent."""

    __tablename__ = "changes"
    __table_args__ = (
        Index("changes_by_path", "path", "commit_id", "own"),
        Index("changes_by_previous_path", "previous_path", "commit_id", "own"),
        {"sqlite_with_rowid": False},
    )

    commit_id: Mapped[int] = mapped_column(ForeignKey("commits.id"), primary_key=True)
    path: Mapped[str] = mapped_column(primary_key=True)
    previous_path: Mapped[str | None]
    status: Mapped[str]
    """``added``, ``modified``, ``removed`` or ``renamed``."""
    old_sha: Mapped[str | None]
    new_sha: Mapped[str | None]
    old_mode: Mapped[int | None]
    new_mode: Mapped[int | None]
    additions: Mapped[int]
    deletions: Mapped[int]
    own: Mapped[bool]
    """Of a merge: whether the file is as in none of the parents."""


class History(Base):
    """A commit that the default branch of a repository contains."""

    __tablename__ = "history"
    __table_args__ = (Index("history_by_commit", "commit_id"), {"sqlite_with_rowid": False})

    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"), primary_key=True)
    commit_id: Mapped[int] = mapped_column(ForeignKey("commits.id"), primary_key=True)


class File(Base):
    """A file at the head of a repository's default branch. Rows are added and removed, never changed."""

    __tablename__ = "files"
    __table_args__ = (UniqueConstraint("repository_id", "path"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"))
    network: Mapped[int]
    path: Mapped[str]
    name: Mapped[str] = mapped_column(Name)
    extension: Mapped[str] = mapped_column(Name)
    mode: Mapped[int]
    sha: Mapped[str]
    size: Mapped[int]
    searchable: Mapped[bool]
    """True if it is text and short enough for search."""


# -- issues (a pull request is one, too, with a row in `pull_requests`) -------------------------------------


class Issue(Base):
    """An issue or the conversation of a pull request."""

    __tablename__ = "issues"
    __table_args__ = (
        UniqueConstraint("repository_id", "number"),
        Index("issues_by_creation", "repository_id", "is_pull", "created_at", "id"),
        Index("issues_by_update", "repository_id", "is_pull", "updated_at", "id"),
        Index("issues_by_state", "repository_id", "is_pull", "state", "created_at", "id"),
        Index("issues_by_author", "user_id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"))
    number: Mapped[int]
    is_pull: Mapped[bool] = mapped_column(default=False)
    title: Mapped[str]
    body: Mapped[str]
    state: Mapped[str] = mapped_column(default="open")
    """``open`` or ``closed``."""
    state_reason: Mapped[str | None]
    """``completed``, ``not_planned``, ``duplicate`` or ``reopened``."""
    duplicate_of: Mapped[int | None]
    """Number of the issue that this one repeats."""
    user_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    locked: Mapped[bool] = mapped_column(default=False)
    pinned: Mapped[bool] = mapped_column(default=False)
    type: Mapped[str | None]
    milestone_id: Mapped[int | None] = mapped_column(ForeignKey("milestones.id"))
    comments: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[str]
    updated_at: Mapped[str]
    closed_at: Mapped[str | None]
    closed_by_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))


class Comment(Base):
    """A comment in the conversation of an issue or a pull request."""

    __tablename__ = "comments"
    __table_args__ = (Index("comments_by_issue", "issue_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    issue_id: Mapped[int] = mapped_column(ForeignKey("issues.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    body: Mapped[str]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class Reaction(Base):
    """An emoji that somebody put to an issue or to a comment."""

    __tablename__ = "reactions"
    __table_args__ = (
        UniqueConstraint("subject", "subject_id", "content", "user_id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    subject: Mapped[str]
    """``issue``, ``comment`` or ``review_comment``."""
    subject_id: Mapped[int]
    user_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    content: Mapped[str]
    created_at: Mapped[str]


class Label(Base):
    """A label of a repository."""

    __tablename__ = "labels"
    __table_args__ = (UniqueConstraint("repository_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"))
    name: Mapped[str] = mapped_column(Name)
    color: Mapped[str]
    description: Mapped[str] = mapped_column(default="")


class IssueLabel(Base):
    __tablename__ = "issue_labels"
    __table_args__ = (Index("issue_labels_by_label", "label_id", "issue_id"), {"sqlite_with_rowid": False})

    issue_id: Mapped[int] = mapped_column(ForeignKey("issues.id"), primary_key=True)
    label_id: Mapped[int] = mapped_column(ForeignKey("labels.id", ondelete="CASCADE"), primary_key=True)


class Assignee(Base):
    """Assignee of an issue."""

    __tablename__ = "assignees"
    __table_args__ = (Index("assignees_by_account", "account_id", "issue_id"), {"sqlite_with_rowid": False})

    issue_id: Mapped[int] = mapped_column(ForeignKey("issues.id"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)


class Milestone(Base):
    """A milestone of a repository."""

    __tablename__ = "milestones"
    __table_args__ = (UniqueConstraint("repository_id", "number"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"))
    number: Mapped[int]
    title: Mapped[str] = mapped_column(Name)
    description: Mapped[str] = mapped_column(default="")
    state: Mapped[str] = mapped_column(default="open")
    due_on: Mapped[str | None]
    creator_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    created_at: Mapped[str]
    updated_at: Mapped[str]
    closed_at: Mapped[str | None]


class SubIssue(Base):
    """An issue that is part of another one."""

    __tablename__ = "sub_issues"
    __table_args__ = (Index("sub_issues_by_parent", "parent_id", "position"),)

    child_id: Mapped[int] = mapped_column(ForeignKey("issues.id"), primary_key=True)
    parent_id: Mapped[int] = mapped_column(ForeignKey("issues.id"))
    position: Mapped[int]


class IssueField(Base):
    """A field that an owner has added to the issues of all its repositories."""

    __tablename__ = "issue_fields"
    __table_args__ = (UniqueConstraint("owner_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    owner_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[str] = mapped_column(Name)
    data_type: Mapped[str]
    """``text``, ``number``, ``date`` or ``single_select``."""
    options: Mapped[str] = mapped_column(default="[]")
    """The options of a single-select field: a JSON array."""


class FieldValue(Base):
    """The value of such a field."""

    __tablename__ = "field_values"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012 - how SQLAlchemy takes it

    issue_id: Mapped[int] = mapped_column(ForeignKey("issues.id"), primary_key=True)
    field_id: Mapped[int] = mapped_column(ForeignKey("issue_fields.id"), primary_key=True)
    value: Mapped[str]


# -- pull requests, reviews, and the checks of their commits ------------------------------------------------


class PullRequest(Base):
    """Pull request's data beyond that of an issue."""

    __tablename__ = "pull_requests"
    __table_args__ = (Index("pull_requests_by_head", "head_repository_id", "head_ref"),)

    issue_id: Mapped[int] = mapped_column(ForeignKey("issues.id"), primary_key=True)
    head_repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"))
    head_ref: Mapped[str]
    """Name of the branch, without ``refs/heads/``; likewise ``base_ref``."""
    head_sha: Mapped[str]
    base_ref: Mapped[str]
    base_sha: Mapped[str]
    """Tip of the base branch when the pull request was opened, or, once it is closed, when that happened."""
    draft: Mapped[bool] = mapped_column(default=False)
    maintainer_can_modify: Mapped[bool] = mapped_column(default=False)
    merged_at: Mapped[str | None]
    merged_by_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    merge_sha: Mapped[str | None]


class ReviewRequest(Base):
    """Requested reviewer, a user or a team."""

    __tablename__ = "review_requests"
    __table_args__ = (Index("review_requests_by_pull", "pull_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    pull_id: Mapped[int] = mapped_column(ForeignKey("pull_requests.issue_id"))
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    team_id: Mapped[int | None] = mapped_column(ForeignKey("teams.id"))


class Review(Base):
    """A review; while it is pending only its author sees it."""

    __tablename__ = "reviews"
    __table_args__ = (Index("reviews_by_pull", "pull_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    pull_id: Mapped[int] = mapped_column(ForeignKey("pull_requests.issue_id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    state: Mapped[str]
    """``PENDING``, ``APPROVED``, ``CHANGES_REQUESTED``, ``COMMENTED`` or ``DISMISSED``."""
    body: Mapped[str]
    commit_sha: Mapped[str]
    submitted_at: Mapped[str | None]


class ReviewThread(Base):
    """A conversation about a line of the diff."""

    __tablename__ = "review_threads"
    __table_args__ = (Index("review_threads_by_pull", "pull_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    pull_id: Mapped[int] = mapped_column(ForeignKey("pull_requests.issue_id"))
    path: Mapped[str]
    line: Mapped[int]
    side: Mapped[str] = mapped_column(default="RIGHT")
    blob_sha: Mapped[str]
    """The version of the file that the line was counted in."""
    resolved: Mapped[bool] = mapped_column(default=False)


class ReviewComment(Base):
    """A comment in such a conversation."""

    __tablename__ = "review_comments"
    __table_args__ = (Index("review_comments_by_thread", "thread_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    thread_id: Mapped[int] = mapped_column(ForeignKey("review_threads.id"))
    review_id: Mapped[int] = mapped_column(ForeignKey("reviews.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    body: Mapped[str]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class Status(Base):
    """A commit status, as external services report it."""

    __tablename__ = "statuses"
    __table_args__ = (
        Index("statuses_by_commit", "repository_id", "sha", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"))
    sha: Mapped[str]
    context: Mapped[str]
    state: Mapped[str]
    """``error``, ``failure``, ``pending`` or ``success``."""
    description: Mapped[str] = mapped_column(default="")
    target_url: Mapped[str | None]
    created_at: Mapped[str]


class CheckRun(Base):
    """A run of a check on a commit."""

    __tablename__ = "check_runs"
    __table_args__ = (
        UniqueConstraint("repository_id", "sha", "name"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"))
    sha: Mapped[str]
    name: Mapped[str]
    status: Mapped[str]
    """``queued``, ``in_progress`` or ``completed``."""
    conclusion: Mapped[str | None]
    started_at: Mapped[str]
    completed_at: Mapped[str | None]


# -- repositories, access to them, and their releases -------------------------------------------------------


class Repository(Base):
    __tablename__ = "repositories"
    __table_args__ = (
        UniqueConstraint("owner_id", "name"),
        Index("repositories_by_name", "name"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    owner_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[str] = mapped_column(Name)
    description: Mapped[str | None]
    homepage: Mapped[str | None]
    language: Mapped[str | None]
    topics: Mapped[str] = mapped_column(default="")
    """Separated by spaces."""
    private: Mapped[bool]
    archived: Mapped[bool] = mapped_column(default=False)
    default_branch: Mapped[str] = mapped_column(default="main")
    network: Mapped[int]
    """The repository that this one descends from by forking, or itself: forks share git objects."""
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("repositories.id"))
    stars: Mapped[int] = mapped_column(default=0)
    last_number: Mapped[int] = mapped_column(default=0)
    """Number of the newest issue or pull request."""
    created_at: Mapped[str]
    updated_at: Mapped[str]
    pushed_at: Mapped[str]


class Collaborator(Base):
    """Role in a repository, granted to one account."""

    __tablename__ = "collaborators"
    __table_args__ = (Index("collaborators_by_account", "account_id"),)

    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    role: Mapped[str]
    """``read``, ``triage``, ``write``, ``maintain`` or ``admin``."""


class Protection(Base):
    """A branch that changes through pull requests only."""

    __tablename__ = "protections"

    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"), primary_key=True)
    branch: Mapped[str] = mapped_column(primary_key=True)
    required_approvals: Mapped[int] = mapped_column(default=0)


class Release(Base):
    """A release: a tag with notes."""

    __tablename__ = "releases"
    __table_args__ = (
        UniqueConstraint("repository_id", "tag_name"),
        Index("releases_by_date", "repository_id", "created_at", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"))
    tag_name: Mapped[str]
    target: Mapped[str]
    name: Mapped[str]
    body: Mapped[str]
    draft: Mapped[bool] = mapped_column(default=False)
    prerelease: Mapped[bool] = mapped_column(default=False)
    author_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    created_at: Mapped[str]
    published_at: Mapped[str | None]


class ReleaseAsset(Base):
    """A file of a release."""

    __tablename__ = "release_assets"
    __table_args__ = (UniqueConstraint("release_id", "name"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(primary_key=True)
    release_id: Mapped[int] = mapped_column(ForeignKey("releases.id"))
    name: Mapped[str]
    label: Mapped[str | None]
    content_type: Mapped[str]
    data: Mapped[bytes] = mapped_column(LargeBinary)
    uploader_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    created_at: Mapped[str]
    updated_at: Mapped[str]


# -- full-text indexes (SQLite FTS5) and the triggers that keep them equal to the tables --------------------

_STATEMENTS = (
    # Code: the words of paths and contents at the head of default branches. The contents are not copied,
    # the view finds them among the git objects.
    """CREATE VIEW code_content AS
       SELECT files.id AS id, files.path AS path, CAST(objects.data AS TEXT) AS content
       FROM files JOIN objects ON objects.network = files.network AND objects.sha = files.sha
       WHERE files.searchable""",
    """CREATE VIRTUAL TABLE code_search USING fts5(
       path, content, content='code_content', content_rowid='id', tokenize='unicode61')""",
    """CREATE TRIGGER files_added AFTER INSERT ON files WHEN new.searchable BEGIN
       INSERT INTO code_search (rowid, path, content)
       SELECT id, path, content FROM code_content WHERE id = new.id; END""",
    """CREATE TRIGGER files_removed BEFORE DELETE ON files WHEN old.searchable BEGIN
       INSERT INTO code_search (code_search, rowid, path, content)
       SELECT 'delete', id, path, content FROM code_content WHERE id = old.id; END""",
    """CREATE VIRTUAL TABLE commit_search USING fts5(
       message, content='commits', content_rowid='id', tokenize='porter unicode61')""",
    """CREATE TRIGGER commits_added AFTER INSERT ON commits BEGIN
       INSERT INTO commit_search (rowid, message) VALUES (new.id, new.message); END""",
    """CREATE VIRTUAL TABLE issue_search USING fts5(
       title, body, content='issues', content_rowid='id', tokenize='porter unicode61')""",
    """CREATE TRIGGER issues_added AFTER INSERT ON issues BEGIN
       INSERT INTO issue_search (rowid, title, body) VALUES (new.id, new.title, new.body); END""",
    """CREATE TRIGGER issues_changed AFTER UPDATE OF title, body ON issues BEGIN
       INSERT INTO issue_search (issue_search, rowid, title, body)
       VALUES ('delete', old.id, old.title, old.body);
       INSERT INTO issue_search (rowid, title, body) VALUES (new.id, new.title, new.body); END""",
    """CREATE VIRTUAL TABLE comment_search USING fts5(
       body, content='comments', content_rowid='id', tokenize='porter unicode61')""",
    """CREATE TRIGGER comments_added AFTER INSERT ON comments BEGIN
       INSERT INTO comment_search (rowid, body) VALUES (new.id, new.body); END""",
    # Ids of the product's kind: nobody can take an issue's id for its number.
    """INSERT INTO sqlite_sequence (name, seq) VALUES
       ('accounts', 583000), ('repositories', 81240000), ('issues', 2140000000), ('comments', 1870000000),
       ('labels', 528000000), ('reviews', 1590000000), ('review_comments', 1230000000),
       ('releases', 98000000), ('check_runs', 30560000000), ('reactions', 240000000)""",
)
for _statement in _STATEMENTS:
    event.listen(Base.metadata, "after_create", DDL(_statement))  # type: ignore[no-untyped-call]
