"""Vocabulary of task files for the document store."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from mesocosm.services.calling import Tools
from mesocosm.services.later import later
from mesocosm.services.words import Fields, Found, Owner, Spoiling, Thing, Word, Words, only_stamped, stamp

if TYPE_CHECKING:
    import sqlalchemy as sql

    from mesocosm.servers.documents import models
    from mesocosm.servers.documents import store as rules
    from mesocosm.services import service
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes, Row
else:
    sql, models, rules, service = later(
        "sqlalchemy",
        "mesocosm.servers.documents.models",
        "mesocosm.servers.documents.store",
        "mesocosm.services.service",
    )

_SPACE = "Team"
_SAVED = frozenset({"version", "updated_at", "updated_by"})
_FOLLOWING = frozenset({"version", "characters", "updated_at", "updated_by", "plain"})


class DocumentThing(Thing):
    """A text document."""

    name = "document"
    about = "A document that the owner can see; as a goal, one that the agent wrote or changed."
    when = "updated_at"
    text = "content"
    title = "title"
    overhead = 56
    identified_by = "id"
    says: ClassVar[Mapping[str, Word]] = {
        "title": Word("Its title; left out, an everyday one."),
        "content": Word("Its text.", required=True),
        "updated_at": Word("When it was last changed.", "moment", required=True),
        "folder": Word("A path of folders in the space, such as `Plans/2025`; default: none."),
        "author": Word("Address of who wrote it and owns it; default: the owner's."),
    }
    judges: ClassVar[Mapping[str, Word]] = {
        "id": Word("Which document, where it was there before: `{rule.document.id}`.", "data"),
        "title": Word("Its title."),
        "content": Word("Its text."),
    }
    gives: ClassVar[Mapping[str, str]] = {"id": "The document's id."}

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        store = world.store(rules.DocumentsStore)
        given: list[Fields] = [{} for _ in things]
        space = _space(store)
        _let_in(store, space, {str(fields["author"]) for fields in things if fields.get("author")})
        paths = sorted({str(fields.get("folder") or "") for fields in things})
        made = store.filling.add_folders(space, [path for path in paths if path])
        places = dict(zip([path for path in paths if path], made, strict=True)) | {"": space}
        for path in paths:
            numbers = [n for n, fields in enumerate(things) if (fields.get("folder") or "") == path]
            ids = store.filling.add_documents(places[path], [_new(things[n]) for n in numbers])
            for number, file_id in zip(numbers, ids, strict=True):
                given[number] = {"id": file_id}
        return given

    def shown(self, name: str, value: Any) -> str:
        return "" if name == "author" else super().shown(name, value)

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in changes.table("documents", "documents").added:
            yield Found(_seen(row), frozenset({("documents", row["number"])}))

    def altered(self, world: World, changes: Changes) -> Iterator[Found]:
        for before, after in changes.table("documents", "documents").changed:
            versions = changes.table("documents", "versions").added
            rows = {("documents", after["number"])}
            rows |= {("versions", row["number"]) for row in versions if row["document"] == after["number"]}
            columns = {name for name in ("title", "content") if before[name] != after[name]}
            if after["trashed_at"] == before["trashed_at"]:
                yield Found(_seen(after), frozenset(rows), _FOLLOWING | columns, _seen(before))


def _seen(row: Row) -> Fields:
    return {"id": row["id"], "title": row["title"], "content": row["content"]}


class CommentThing(Thing):
    name = "comment"
    about = "A comment on a document; as a goal, the agent's. The survey reads them by `comments: true`."
    when = "created_at"
    text = "text"
    writer = "author"
    overhead = 92
    listed = False
    says: ClassVar[Mapping[str, Word]] = {
        "document": Word("The document's id: `{rule.document.id}`.", "data", required=True),
        "text": Word("What it says.", required=True),
        "author": Word("Address of who wrote it; default: the owner's."),
        "quote": Word("The passage of the document that it is about."),
        "created_at": Word("When it was written.", "moment", required=True),
    }
    judges: ClassVar[Mapping[str, Word]] = {
        "document": Word("The document's id: `{rule.document.id}`.", "data"),
        "text": Word("What it says."),
        "reply_to": Word(
            "Id of the comment that it replies to: `{question.remark.id}`; default: none.", "data"
        ),
    }
    usual: ClassVar[Mapping[str, Any]] = {"reply_to": None}
    gives: ClassVar[Mapping[str, str]] = {"id": "The comment's id."}

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        store = world.store(rules.DocumentsStore)
        mine = store.filling.place(_space(store)).owner
        _let_in(store, _space(store), {str(one["author"]) for one in things if one.get("author")})
        given: list[Fields] = []
        for fields in things:
            comment: Any = {
                "author": fields.get("author") or mine,
                "text": fields["text"],
                "created_at": stamp(fields["created_at"]),
            }
            if fields.get("quote"):
                comment["quote"] = fields["quote"]
            given += [{"id": one} for one in store.filling.add_comments(fields["document"], [comment])]
        return given

    def trace(self, fields: Fields, given: Fields) -> str:
        return str(given["id"])

    def shown(self, name: str, value: Any) -> str:
        return "" if name == "document" else super().shown(name, value)

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        session = world.store(rules.DocumentsStore).session
        for row in changes.table("documents", "comments").added:
            if row["deleted"]:
                continue
            of, thread = models.Document, models.Comment
            fields = {
                "document": session.scalar(sql.select(of.id).where(of.number == row["document"])),
                "text": row["text"],
                "reply_to": session.scalar(sql.select(thread.id).where(thread.number == row["thread"])),
            }
            yield Found(fields, frozenset({("comments", row["number"])}))


def _new(fields: Fields) -> Any:
    moment = stamp(fields["updated_at"])
    title = fields.get("title") or "Untitled"
    new = {"title": title, "content": fields["content"], "created_at": moment, "updated_at": moment}
    return new | ({"owner": fields["author"]} if fields.get("author") else {})


def _let_in(store: rules.DocumentsStore, space: str, authors: Collection[str]) -> None:
    """Give the authors write access to the space."""
    mine = str(store.filling.place(space).owner)
    for author in sorted(set(authors) - {mine}):
        store.sharing.give(space, author, "editor")


def _space(store: rules.DocumentsStore) -> str:
    spaces = {row["name"]: row["id"] for row in store.items.spaces(service.Paging(1, 100)).rows}
    return str(spaces.get(_SPACE) or store.items.create_space(_SPACE))


def _open(world: World, owner: Owner, people: Sequence[tuple[str, str]]) -> None:
    store = world.store(rules.DocumentsStore)
    for name, email in [(owner.name, owner.email), *people]:
        store.items.create_user(email, name)
    store.sign_in(owner.email)
    store.items.create_space(_SPACE)


def _survey(tools: Tools, options: Mapping[str, Any]) -> None:
    page: int | None = 1
    while page:
        listed = tools.call("documents", "list_recent_documents", page=page, per_page=100)
        for entry in listed["documents"]:
            _read(tools, entry["id"])
            if options.get("comments"):
                _read_comments(tools, entry["id"])
        page = listed["next_page"]


def _read(tools: Tools, file_id: str) -> None:
    """All stretches of a document."""
    offset: int | None = 0
    while offset is not None:
        more = {"offset": offset} if offset else {}
        blocks = tools.read("documents", "read_document", {"file_id": file_id, "limit": 100_000, **more})
        offset = None
        if len(blocks) > 1 and '"next_offset"' in blocks[1]:
            import orjson

            offset = orjson.loads(blocks[1])["next_offset"]


def _read_comments(tools: Tools, file_id: str) -> None:
    page: int | None = 1
    while page:
        listed = tools.call("documents", "list_comments", file_id=file_id, page=page, per_page=100)
        for comment in listed["comments"]:
            if comment["reply_count"] > len(comment["replies"]):
                tools.call("documents", "list_replies", comment_id=comment["id"], per_page=100)
        page = listed["next_page"]


def _remarked(world: World) -> bool:
    """The owner writes a comment on the first document."""
    store = world.store(rules.DocumentsStore)
    first = store.session.scalar(sql.select(models.Document.id).order_by(models.Document.number).limit(1))
    if first is not None:
        store.comments.add_comment(first, "Something.")
    return first is not None


def _spoil(**values: Any) -> Any:
    def apply(world: World) -> bool:
        store = world.store(rules.DocumentsStore)
        first = store.session.scalar(
            sql.select(models.Document.number).order_by(models.Document.number).limit(1)
        )
        if first is not None:
            store.session.execute(
                sql.update(models.Document).where(models.Document.number == first).values(**values)
            )
        return first is not None

    return apply


def _saved_unchanged(world: World, changes: Changes) -> set[tuple[str, Any]]:
    """Return documents saved without change, and the versions created on the way."""
    same = set(only_stamped(changes.table("documents", "documents"), "number", _SAVED))
    versions = changes.table("documents", "versions").added
    kept = {("versions", row["number"]) for row in versions if row["document"] in same}
    return kept | {("documents", number) for number in same}


words = Words(
    service="documents",
    things={"document": DocumentThing(), "comment": CommentThing()},
    survey_options={"comments": "Whether to read the comments on documents: true."},
    survey=_survey,
    open=_open,
    excuses=_saved_unchanged,
    spoilings=(
        Spoiling("a document rewritten", _spoil(content="Something else.")),
        Spoiling("a comment on another document", _remarked, frozenset({"documents_comment_extra"})),
        Spoiling("a document renamed", _spoil(title="Something else")),
        Spoiling("a document put into the trash", _spoil(trashed_at="2025-01-01T00:00:00Z")),
    ),
)
