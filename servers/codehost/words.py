"""Vocabulary of task files for the code host."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

from mesocosm.errors import Refusal
from mesocosm.services.calling import Tools
from mesocosm.services.contents import UnreadableContent, text_of
from mesocosm.services.later import later
from mesocosm.services.service import same
from mesocosm.services.words import Fields, Found, Owner, Spoiling, Thing, Word, Words, stamp

if TYPE_CHECKING:
    import sqlalchemy as sql

    from mesocosm.servers.codehost import models
    from mesocosm.servers.codehost import store as rules
    from mesocosm.servers.codehost.store import bulk, objects
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes, Row
else:
    sql, models, rules, bulk, objects = later(
        "sqlalchemy",
        "mesocosm.servers.codehost.models",
        "mesocosm.servers.codehost.store",
        "mesocosm.servers.codehost.store.bulk",
        "mesocosm.servers.codehost.store.objects",
    )

_REPO = Word(
    "Name of the repository, made where there is none; it is the owner's, whom tools call "
    "`{me.email.login()}`.",
    required=True,
)
_AGE = timedelta(days=731, hours=2, minutes=37)
"""Of a repository: older than what is in it."""
_FOLLOWED = timedelta(days=6, hours=3)
"""So long before a repository its people had their accounts."""
_ANSWERED = (0, 0, 1, 1, 2, 3, 5, 8)
"""Days until somebody says more about an issue."""
_LISTED_COMMIT = 240
"""Tokens that a survey spends on a commit that it lists."""
_COMMENT = 117
"""Tokens that a survey spends on a comment besides its text."""
_PLAIN_FILE, _EXECUTABLE, _SYMLINK, _SUBMODULE = 0o100644, 0o100755, 0o120000, 0o160000
_OBJECTS = ("objects", "commits", "commit_parents", "changes")


class FileThing(Thing):
    """A file at the head of the default branch."""

    name = "file"
    about = "A text file of a repository, at the head of its default branch."
    overhead = 90
    text = "content"
    when = "date"
    says: ClassVar[Mapping[str, Word]] = {
        "repo": _REPO,
        "path": Word("Its path in the repository.", required=True),
        "content": Word("Its text.", required=True),
        "date": Word("When it was committed.", "moment", required=True),
        "message": Word("The commit's message."),
        "author": Word(
            "Name of who committed it, where the survey says `commits: true`; default: the owner."
        ),
    }
    gives: ClassVar[Mapping[str, str]] = {"path": "Its path.", "sha": "The commit's SHA."}

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        store = world.store(rules.CodehostStore)
        me = _me(store)
        logins = _logins(store, [str(one["author"]) for one in things if one.get("author")])
        taken: set[tuple[str, str]] = set()
        given: list[Fields] = []
        commits: dict[str, list[tuple[Fields, rules.NewCommit]]] = {}
        for fields in things:
            path = _free(str(fields["repo"]), str(fields["path"]), taken)
            given.append({"path": path})
            commit = rules.NewCommit(
                message=str(fields.get("message") or f"Add {path}"),
                files={path: str(fields["content"]).rstrip("\n") + "\n"},
                author=logins[str(fields["author"])] if fields.get("author") else me,
                date=fields["date"],
            )
            commits.setdefault(str(fields["repo"]), []).append((given[-1], commit))
        for repo in sorted(commits):
            _repository(store, repo)
            made = store.filling.add_commits(me, repo, [commit for _, commit in commits[repo]])
            for (one, _), sha in zip(commits[repo], made, strict=True):
                one["sha"] = sha
        return given

    def trace(self, fields: Fields, given: Fields) -> str | list[str]:
        file = super().trace(fields, given)
        return [str(file), f'"sha":"{given["sha"]}"'] if fields.get("author") else file

    def size(self, fields: Fields, count: Callable[[str], int]) -> int:
        return _LISTED_COMMIT if fields.get("author") else 0


class CommitThing(Thing):
    """A commit of one file."""

    name = "commit"
    about = "A commit by the agent that changes one file. What others committed is a `codehost.file`."
    judges: ClassVar[Mapping[str, Word]] = {
        "repo": Word("Name of the repository."),
        "branch": Word("The branch that it is on; default: the default branch."),
        "message": Word("Its message."),
        "path": Word("Path of the one file that it changes."),
        "content": Word("What that file says then; usually by `lines`."),
    }
    usual: ClassVar[Mapping[str, Any]] = {"branch": "main"}

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        store = world.store(rules.CodehostStore)
        new = {row["id"]: row for row in changes.table("codehost", "commits").added}
        parents: dict[int, list[int]] = {}
        for row in changes.table("codehost", "commit_parents").added:
            parents.setdefault(row["commit_id"], []).append(row["parent_id"])
        for before, after in _moved(changes):
            repo = _repo_name(world, after["repository_id"])
            repository = store.repositories.repository(_me(store), repo)
            head: Any = next((row["id"] for row in new.values() if row["sha"] == after["sha"]), None)
            line: list[int] = []
            while head in new and len(parents.get(head, ())) == 1:
                line.append(head)
                (head,) = parents[head]
            start = store.commits.commit_by_id(head) if head and line else None
            if start is None or (before is not None and start["sha"] != before["sha"]):
                continue  # it was moved elsewhere, which is no commit
            for number in line:
                parent = parents[number][0]
                old = new[parent]["sha"] if parent in new else start["sha"]
                path, content = _changed_file(world, repo, {"base_sha": old, "head_sha": new[number]["sha"]})
                fields = {
                    "repo": repo,
                    "branch": after["name"].removeprefix("refs/heads/"),
                    "message": new[number]["message"],
                    "path": path,
                    "content": content,
                }
                rows = {("refs", (after["repository_id"], after["name"])), ("commits", number)}
                rows |= _files_at(changes, repository["id"], path)
                yield Found(fields, frozenset(rows), frozenset({"sha", "name", "extension", "size"}))


def _moved(changes: Changes) -> Iterator[tuple[Row | None, Row]]:
    """Branches that were made or that have another head: as they were, and as they are."""
    refs = changes.table("codehost", "refs")
    for before, after in [*((None, row) for row in refs.added), *refs.changed]:
        if str(after["name"]).startswith("refs/heads/"):
            yield before, after


def _files_at(changes: Changes, repository: int, path: str) -> set[tuple[str, Any]]:
    files = changes.table("codehost", "files")
    rows = [*files.added, *files.removed, *(after for _, after in files.changed)]
    return {("files", row["id"]) for row in rows if (row["repository_id"], row["path"]) == (repository, path)}


class ReleaseThing(Thing):
    name = "release"
    about = (
        "A release with its tag. The survey reads them where it says `releases: true`. It is no goal: agents "
        "have tools that read releases and none that publishes one."
    )
    when = "published_at"
    text = "body"
    title = "name"
    overhead = 110
    listed = False
    says: ClassVar[Mapping[str, Word]] = {
        "repo": _REPO,
        "tag": Word("Its tag, of which there is one: `v1.4.0`.", required=True),
        "name": Word("Its title; default: the tag."),
        "body": Word("Its notes.", required=True),
        "author": Word("Name of who published it; default: the owner."),
        "prerelease": Word("Whether it is a prerelease; default: it is none.", "flag"),
        "published_at": Word("When it was published.", "moment", required=True),
    }
    gives: ClassVar[Mapping[str, str]] = {"id": "Its id."}

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        store = world.store(rules.CodehostStore)
        me = _me(store)
        logins = _logins(store, [str(one["author"]) for one in things if one.get("author")])
        given: list[Fields] = []
        for fields in things:
            repo, tag = str(fields["repo"]), str(fields["tag"])
            _repository(store, repo)
            store.filling.add_tag(me, repo, tag)
            number = store.releases.add_release(
                me,
                repo,
                tag,
                logins[str(fields["author"])] if fields.get("author") else me,
                title=str(fields.get("name") or ""),
                body=str(fields["body"]),
                prerelease=bool(fields.get("prerelease")),
                created_at=stamp(fields["published_at"]),
            )
            given.append({"id": number})
        return given

    def trace(self, fields: Fields, given: Fields) -> str:
        return f'"id":{given["id"]},"tag_name"'

    def shown(self, name: str, value: Any) -> str:
        return "" if name == "author" else super().shown(name, value)


def _free(repo: str, path: str, taken: set[tuple[str, str]]) -> str:
    stem, dot, suffix = path.rpartition(".")
    number = 2
    while (repo, path) in taken:
        path, number = f"{re.sub(r'-[0-9]+$', '', stem)}-{number}{dot}{suffix}", number + 1
    taken.add((repo, path))
    return path


class IssueThing(Thing):
    name = "issue"
    about = "An issue of a repository of the owner's."
    overhead = 88
    text = "body"
    title = "title"
    when = "created_at"
    writer = "author"
    remarks = "comments"
    listed = False
    identified_by = "number"
    says: ClassVar[Mapping[str, Word]] = {
        "repo": _REPO,
        "title": Word("Its title; left out, an everyday one."),
        "body": Word("Its text.", required=True),
        "author": Word("Name of who opened it; an account is made for each.", required=True),
        "labels": Word("Names of labels.", "list"),
        "state": Word("Whether it is open; default: open.", choices=("open", "closed")),
        "comments": Word("Texts of comments, by its author unless `commenters` says otherwise.", "list"),
        "commenters": Word("Names of who wrote the comments; an empty one is the author.", "list"),
        "created_at": Word("When it was opened.", "moment", required=True),
    }
    judges: ClassVar[Mapping[str, Word]] = {
        "repo": Word("Name of the repository."),
        "number": Word("Which issue, where it was there before: `{bug.issue.number}`.", "data"),
        "title": Word("Its title."),
        "body": Word("Its text."),
        "labels": Word("Exactly these labels.", "list"),
        "assignees": Word("Exactly these logins.", "list"),
        "state": Word("Whether it is open.", choices=("open", "closed")),
        "state_reason": Word("Why it was closed.", choices=("completed", "not_planned", "duplicate")),
        "duplicate_of": Word("Number of the issue that it repeats.", "data"),
        "locked": Word("Whether it is locked; default: it is not.", "flag"),
    }
    usual: ClassVar[Mapping[str, Any]] = {"locked": False}
    gives: ClassVar[Mapping[str, str]] = {"number": "The issue's number.", "author": "Its author's login."}

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        store = world.store(rules.CodehostStore)
        given: list[Fields] = [{} for _ in things]
        logins = _logins(
            store, [name for fields in things for name in (str(fields["author"]), *_commenters(fields))]
        )
        for repo in sorted({str(fields["repo"]) for fields in things}):
            _repository(store, repo)
            chosen = [n for n, fields in enumerate(things) if fields["repo"] == repo]
            clocks = [things[n]["created_at"].timetz() for n in chosen]
            rng = world.stream(f"answers:{repo}")
            new = [_new(things[n], logins, world.now, clocks, rng) for n in chosen]
            for n, number in zip(chosen, store.filling.add_issues(_me(store), repo, new), strict=True):
                given[n] = {"number": number, "author": logins[str(things[n]["author"])]}
        return given

    def size(self, fields: Fields, count: Callable[[str], int]) -> int:
        return sum(_COMMENT + count(str(one)) for one in fields.get("comments") or ())

    def trace(self, fields: Fields, given: Fields) -> str | list[str]:
        body = super().trace(fields, given)
        return [str(body), f"/issues/{given['number']}#issuecomment-"] if fields.get("comments") else body

    def shown(self, name: str, value: Any) -> str:
        return "" if name == "author" else super().shown(name, value)

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in changes.table("codehost", "issues").added:
            if not row["is_pull"]:
                rows = _of_issue(changes, row["id"]) | {("issues", row["id"])}
                yield Found(_seen(world, row), rows)

    def altered(self, world: World, changes: Changes) -> Iterator[Found]:
        before_after = {
            after["id"]: (before, after) for before, after in changes.table("codehost", "issues").changed
        }
        labels, people = (changes.table("codehost", table) for table in ("issue_labels", "assignees"))
        touched = {row["issue_id"] for table in (labels, people) for row in [*table.added, *table.removed]}
        new = {row["id"] for row in changes.table("codehost", "issues").added}
        for number in sorted((touched | set(before_after)) - new):
            before, row = before_after.get(number, ({}, {}))
            columns = {name for name in before if before[name] != row[name]}
            judged = {
                *("title", "body", "state", "state_reason", "duplicate_of", "locked"),
                *("closed_at", "closed_by_id"),
            }
            if columns and columns <= {"updated_at", "comments"} and number not in touched:
                continue  # somebody commented on it: that is the comment's
            session = world.store(rules.CodehostStore).session
            issue = sql.select(models.Issue.__table__).where(models.Issue.id == number)
            found = session.execute(issue).mappings().one()
            rows = _of_issue(changes, number, comments=False) | {("issues", number)}
            now = _seen(world, dict(found))
            then = now | {name: before[name] for name in now if name in before}
            if before:
                then["state_reason"] = _why_closed(before)
            then |= _marks_before(world, changes, number, now)
            yield Found(now, rows, frozenset((columns & judged) | {"updated_at", "comments"}), then)


def _marks_before(world: World, changes: Changes, number: int, now: Fields) -> Fields:
    """The labels and assignees that an issue had."""
    session = world.store(rules.CodehostStore).session
    then: Fields = {}
    for field, table, key, name in (
        ("labels", "issue_labels", "label_id", sql.select(models.Label.id, models.Label.name)),
        ("assignees", "assignees", "account_id", sql.select(models.Account.id, models.Account.login)),
    ):
        names: dict[int, str] = {row[0]: row[1] for row in session.execute(name)}
        difference = changes.table("codehost", table)
        added = {names.get(row[key]) for row in difference.added if row["issue_id"] == number}
        removed = {names.get(row[key], "?") for row in difference.removed if row["issue_id"] == number}
        then[field] = sorted((set(now[field]) - added) | removed)
    return then


def _of_issue(changes: Changes, number: int, *, comments: bool = True) -> frozenset[tuple[str, Any]]:
    rows: set[tuple[str, Any]] = set()
    for table, other in (("issue_labels", "label_id"), ("assignees", "account_id")):
        difference = changes.table("codehost", table)
        for row in [*difference.added, *difference.removed]:
            if row["issue_id"] == number:
                rows.add((table, (row["issue_id"], row[other])))
    used = {other for table, (_, other) in rows if table == "issue_labels"}
    made = changes.table("codehost", "labels").added
    rows |= {("labels", row["id"]) for row in made if row["id"] in used}
    if comments:
        added = changes.table("codehost", "comments").added
        rows |= {("comments", row["id"]) for row in added if row["issue_id"] == number}
    return frozenset(rows)


def _seen(world: World, row: Row) -> Fields:
    session = world.store(rules.CodehostStore).session
    marks = sql.select(models.Label.name).join(
        models.IssueLabel, models.IssueLabel.label_id == models.Label.id
    )
    people = sql.select(models.Account.login).join(
        models.Assignee, models.Assignee.account_id == models.Account.id
    )
    return {
        "repo": _repo_name(world, row["repository_id"]),
        **same(row, "number", "title", "body"),
        "labels": sorted(session.scalars(marks.where(models.IssueLabel.issue_id == row["id"]))),
        "assignees": sorted(session.scalars(people.where(models.Assignee.issue_id == row["id"]))),
        **same(row, "state", "duplicate_of"),
        "state_reason": _why_closed(row),
        "locked": bool(row["locked"]),
    }


def _why_closed(row: Mapping[str, Any]) -> Any:
    """Return why an issue was closed; of an open one nothing, though it says that it was opened again."""
    return row["state_reason"] if row["state"] == "closed" else None


def _repo_name(world: World, number: int) -> str:
    session = world.store(rules.CodehostStore).session
    return str(session.scalar(sql.select(models.Repository.name).where(models.Repository.id == number)))


class CommentThing(Thing):
    """A comment on an issue."""

    name = "comment"
    about = "A comment on an issue, by the agent."
    judges: ClassVar[Mapping[str, Word]] = {
        "repo": Word("Name of the repository."),
        "number": Word("Number of the issue.", "data"),
        "body": Word("Its text."),
    }

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        session = world.store(rules.CodehostStore).session
        for row in changes.table("codehost", "comments").added:
            issue = session.execute(
                sql.select(models.Issue.number, models.Issue.repository_id).where(
                    models.Issue.id == row["issue_id"]
                )
            ).one()
            fields = {
                "repo": _repo_name(world, issue.repository_id),
                "number": issue.number,
                "body": row["body"],
            }
            rows = frozenset({("comments", row["id"]), ("issues", row["issue_id"])})
            yield Found(fields, rows, frozenset({"comments", "updated_at"}))


class PullThing(Thing):
    """A pull request."""

    name = "pull"
    about = "A pull request that the agent opened, with one file of it."
    judges: ClassVar[Mapping[str, Word]] = {
        "repo": Word("Name of the repository."),
        "title": Word("Its title."),
        "body": Word("Its text."),
        "head": Word("Its branch."),
        "base": Word("The branch that it is to go into; default: the default branch."),
        "path": Word("Path of the one file that it changes."),
        "content": Word("What that file says then; usually by `lines`."),
        "labels": Word("Exactly these labels; default: none.", "list"),
        "assignees": Word("Exactly these logins; default: nobody.", "list"),
        "state": Word("Whether it is still open; default: it is.", choices=("open", "closed")),
        "draft": Word("Whether it is a draft; default: it is none.", "flag"),
        "locked": Word("Whether its conversation is locked; default: it is not.", "flag"),
    }
    usual: ClassVar[Mapping[str, Any]] = {
        "labels": [], "assignees": [], "base": "main", "state": "open", "draft": False, "locked": False,
    }  # fmt: skip

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        session = world.store(rules.CodehostStore).session
        issues = {row["id"]: row for row in changes.table("codehost", "issues").added}
        for row in changes.table("codehost", "pull_requests").added:
            issue = issues[row["issue_id"]]
            seen = _seen(world, issue)
            pull = (
                session.execute(
                    sql.select(models.PullRequest.__table__).where(
                        models.PullRequest.issue_id == row["issue_id"]
                    )
                )
                .mappings()
                .one()
            )
            path, content = _changed_file(world, seen["repo"], dict(pull))
            own = ("repo", "title", "body", "labels", "assignees", "state", "locked")
            fields = {name: seen[name] for name in own}
            fields |= {"head": row["head_ref"], "base": row["base_ref"], "draft": bool(row["draft"])}
            fields |= {"path": path, "content": content}
            yield Found(fields, self._rows(changes, issue, row))

    def _rows(self, changes: Changes, issue: Row, pull: Row) -> frozenset[tuple[str, Any]]:
        rows: set[tuple[str, Any]] = {("issues", issue["id"]), ("pull_requests", issue["id"])}
        rows |= _of_issue(changes, issue["id"])
        rows |= {("commits", row["id"]) for row in changes.table("codehost", "commits").added}
        rows |= {("changes", row["id"]) for row in changes.table("codehost", "changes").added if "id" in row}
        names = (f"refs/heads/{pull['head_ref']}", f"refs/pull/{issue['number']}/head")
        rows |= {("refs", (issue["repository_id"], name)) for name in names}
        return frozenset(rows)


def _changed_file(world: World, repo: str, pull: Row) -> tuple[str, Any]:
    """Path and text of the one file that a pull request changes; ``several`` where it is not one: symlinks,
    submodules and files that became executable are changes, too."""
    store = world.store(rules.CodehostStore)
    repository = store.repositories.repository(_me(store), repo)
    before, after = (_tree(store, repository, pull[side]) for side in ("base_sha", "head_sha"))
    paths = [path for path in {**before, **after} if before.get(path) != after.get(path)]
    if len(paths) != 1 or paths[0] not in after:
        return "several" if paths else "none", ""
    if after[paths[0]][0] != before.get(paths[0], (_PLAIN_FILE, ""))[0]:
        return paths[0], UnreadableContent("it is no plain file")
    try:
        data = store.contents.look(repository, paths[0], pull["head_sha"])[2]
    except Refusal as refusal:
        return paths[0], UnreadableContent(refusal.message)
    text = text_of(data) if isinstance(data, bytes) else UnreadableContent("it is no file")
    return paths[0], text.strip() if isinstance(text, str) else text


def _tree(store: rules.CodehostStore, repository: Any, sha: str) -> dict[str, tuple[int, str]]:
    """All that is in a commit but folders: mode and object, by path."""
    found: dict[str, tuple[int, str]] = {}
    page, more = 1, True
    while more:
        _, entries, more = store.contents.walk(repository, sha, recursive=True, prefix=None, page=page)
        found |= {entry.path: (entry.mode, entry.sha) for entry in entries if entry.type != "dir"}
        page += 1
    return found


def _login(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:38] or "x"


def _logins(store: rules.CodehostStore, names: Sequence[str]) -> dict[str, str]:
    """Accounts of people by their names."""
    known = {
        row.name: row.login
        for row in store.session.execute(sql.select(models.Account.name, models.Account.login))
    }
    taken = set(known.values())
    began = store.now - _AGE
    for name in sorted(set(names) - set(known)):
        login, number = _login(name), 2
        while login in taken:
            login, number = f"{_login(name)[:35]}-{number}", number + 1
        store.accounts.create_account(login, name, created_at=began)
        taken.add(login)
        known[name] = login
    return known


def _commenters(fields: Fields) -> list[str]:
    """List the writers of the comments by name; the issue's author where none is given."""
    author, named = str(fields["author"]), [str(name) for name in fields.get("commenters") or ()]
    count = len(fields.get("comments") or ())
    return [name or author for name in (named + [author] * count)[:count]]


def _new(
    fields: Fields, logins: Mapping[str, str], now: datetime, clocks: Sequence[time], rng: Random
) -> rules.NewIssue:
    """Make an issue whose comments and end lie between its creation and now, at plausible times of day."""
    opened, texts = fields["created_at"], list(fields.get("comments") or ())
    closed = fields.get("state") == "closed"
    moments = [opened]
    for left in range(len(texts) + closed, 0, -1):
        moments.append(_later(moments[-1], now, left, clocks, rng))
    author = logins[str(fields["author"])]
    comments = [
        bulk.NewComment(logins[name], str(text), moment)
        for name, text, moment in zip(_commenters(fields), texts, moments[1:], strict=False)
    ]
    return rules.NewIssue(
        title=str(fields.get("title") or "Untitled")[:250],
        author=author,
        body=str(fields["body"]),
        labels=[str(label) for label in fields.get("labels") or ()],
        state=fields.get("state") or "open",
        comments=comments,
        created_at=opened,
        closed_at=moments[-1] if closed else None,
    )


def _later(moment: datetime, now: datetime, left: int, clocks: Sequence[time], rng: Random) -> datetime:
    """Draw a moment after another, as one of several until now."""
    day = moment.date() + timedelta(days=rng.choice(_ANSWERED))
    found = datetime.combine(day, rng.choice(clocks)) + timedelta(minutes=rng.randrange(15))
    if found <= moment:
        found += timedelta(days=1)
    return found if found < now else moment + (now - moment) / (left + 1)


def _me(store: rules.CodehostStore) -> str:
    return str(store.me["login"])


def _repository(store: rules.CodehostStore, repo: str) -> None:
    try:
        store.repositories.repository(_me(store), repo)
    except Refusal:
        me, began = _me(store), store.now - _AGE
        store.filling.create_repository(me, repo, created_at=began)
        store.filling.add_commits(
            me, repo, [rules.NewCommit("Begin", {"README.md": f"# {repo}\n"}, me, began)]
        )


def _open(world: World, owner: Owner, people: Sequence[tuple[str, str]]) -> None:
    store = world.store(rules.CodehostStore)
    login = _login(owner.email.partition("@")[0])
    store.accounts.create_account(login, owner.name, owner.email, created_at=store.now - _AGE - _FOLLOWED)
    store.accounts.sign_in(login)


def _survey(tools: Tools, options: Mapping[str, Any]) -> None:
    me = tools.call("codehost", "get_me")["login"]
    for repo in _repositories(tools, me):
        where = {"owner": me, "repo": repo}
        tree = tools.call("codehost", "get_repository_tree", **where, recursive=True)
        for entry in tree["tree"]:
            if entry["type"] == "blob":
                tools.call("codehost", "get_file_contents", **where, path=entry["path"])
        for tool, option in (("list_commits", "commits"), ("list_releases", "releases")):
            if options.get(option):
                for _ in tools.pages("codehost", tool, **where, perPage=100):
                    pass
        tools.call("codehost", "list_label", **where)
        _read_issues(tools, where)


def _repositories(tools: Tools, me: str) -> list[str]:
    found = tools.call("codehost", "search_repositories", query=f"user:{me}", perPage=100)
    return [item["name"] for item in found["items"]]


def _read_issues(tools: Tools, where: Mapping[str, str]) -> None:
    after: str | None = ""
    while after is not None:
        more = {"after": after} if after else {}
        listed = tools.call("codehost", "list_issues", **where, perPage=100, **more)
        for issue in listed["issues"]:
            if issue.get("comments"):
                tools.call(
                    "codehost", "issue_read", method="get_comments", issue_number=issue["number"], **where
                )
        page = listed["pageInfo"]
        after = page["endCursor"] if page["hasNextPage"] else None


def _spoil(**values: Any) -> Any:
    def apply(world: World) -> bool:
        store = world.store(rules.CodehostStore)
        first = store.session.scalar(
            sql.select(models.Issue.id)
            .where(models.Issue.is_pull.is_(False))
            .order_by(models.Issue.id)
            .limit(1)
        )
        if first is not None:
            store.session.execute(sql.update(models.Issue).where(models.Issue.id == first).values(**values))
        return first is not None

    return apply


def _opened(world: World) -> bool:
    store = world.store(rules.CodehostStore)
    repo = store.session.scalar(sql.select(models.Repository.name).order_by(models.Repository.id).limit(1))
    if repo is None:
        return False
    store.filling.add_issues(
        _me(store), repo, [rules.NewIssue("Something else", _me(store), "Something else.")]
    )
    return True


def _committed(world: World) -> bool:
    store = world.store(rules.CodehostStore)
    repo = store.session.scalar(sql.select(models.Repository.name).order_by(models.Repository.id).limit(1))
    if repo is None:
        return False
    store.filling.add_commits(
        _me(store), repo, [rules.NewCommit("Tidy up", {"NOTES.md": "Something.\n"}, _me(store))]
    )
    return True


def _grafted(mode: int) -> Any:
    """The branch of the last pull request has something more that is no plain file: a symlink, a submodule,
    or a file that became executable."""

    def apply(world: World) -> bool:
        store = world.store(rules.CodehostStore)
        pull = store.session.execute(
            sql.select(models.PullRequest.head_ref, models.Issue.repository_id)
            .join(models.Issue, models.Issue.id == models.PullRequest.issue_id)
            .order_by(models.Issue.id.desc())
        ).first()
        if pull is None:
            return False
        repository = store.repositories.repository(_me(store), _repo_name(world, pull.repository_id))
        head = store.commits.branch_head(repository, pull.head_ref)
        readme = store.contents.look(repository, "README.md", pull.head_ref)[1].sha
        path, sha = ("README.md", readme) if mode == _EXECUTABLE else ("latest", readme)
        change = {path: (mode, head["sha"] if mode == _SUBMODULE else sha)}
        tree = objects.write_tree(store.commits.objects(repository), head["tree"], change)
        me = store.contents.signature(store.me)
        made = store.commits.add_commit(
            repository, tree, [head], "Tidy up", me, authored=store.now, committed=store.now
        )
        store.commits.move_branch(repository, pull.head_ref, made)
        return True

    return apply


def _counted(world: World, changes: Changes) -> set[tuple[str, Any]]:
    """Repositories and issues of which only the counters and times differ, as when a change is taken back:
    an issue that was closed and opened again says so."""
    follow = {"last_number", "updated_at", "pushed_at"}
    opened = {"closed_at", "closed_by_id", "state_reason"}
    return {
        (table, after["id"])
        for table in ("repositories", "issues")
        for before, after in changes.table("codehost", table).changed
        if {name for name in before if before[name] != after[name]}
        <= (follow | opened if after.get("state") == "open" else follow)
    }


_ISSUES = frozenset({"codehost_issue_extra", "codehost_issue_change_extra"})

words = Words(
    service="codehost",
    things={
        "file": FileThing(),
        "commit": CommitThing(),
        "release": ReleaseThing(),
        "issue": IssueThing(),
        "comment": CommentThing(),
        "pull": PullThing(),
    },
    survey_options={
        "commits": "Whether to read who committed what, and when: true.",
        "releases": "Whether to read the releases: true.",
    },
    survey=_survey,
    open=_open,
    excuses=_counted,
    unseen=(*_OBJECTS, "history", "statuses", "check_runs"),
    spoilings=(
        Spoiling("an issue renamed", _spoil(title="Something else"), _ISSUES),
        Spoiling("an issue locked", _spoil(locked=True), _ISSUES),
        Spoiling("an issue opened", _opened, _ISSUES),
        Spoiling("a commit on the default branch", _committed, frozenset({"codehost_commit_extra"})),
        Spoiling("a symlink in a pull request", _grafted(_SYMLINK)),
        Spoiling("a submodule in a pull request", _grafted(_SUBMODULE)),
        Spoiling("a file made executable in a pull request", _grafted(_EXECUTABLE)),
    ),
)
