"""Pages of the document store: spaces, folders, documents with pictures, versions and comments."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sql

from mesocosm.servers.documents.models import Comment, Document, Folder, Picture, Space, Version
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.services import views
from mesocosm.services.previews import text_page
from mesocosm.services.views import (
    Asked,
    Block,
    Cell,
    Fields,
    Item,
    Link,
    Message,
    Page,
    Row,
    Table,
    View,
    found_in,
)

view = View()


def _places(store: DocumentsStore) -> list[Link]:
    counted = store.session.execute(
        sql.select(Space.number, Space.name, sql.func.count(Document.number))
        .outerjoin(Document, Document.space == Space.number)
        .group_by(Space.number)
        .order_by(Space.number)
    )
    return [Link(name, f"space/{number}", count) for number, name, count in counted]


@view.page("")
def spaces(store: DocumentsStore, asked: Asked) -> Page:
    found = store.session.scalars(sql.select(Space).order_by(Space.number))
    rows = [
        Row(
            [
                Link(one.name, f"space/{one.number}"),
                one.owner,
                "personal" if one.personal else "shared",
                one.description,
            ],
            ref=f"spaces:{one.number}",
        )
        for one in found
    ]
    return Page("Documents", [Table(["Space", "Owner", "", "Description"], rows)], _places(store))


@view.page("space/{number}")
def space(store: DocumentsStore, asked: Asked, number: str) -> Page:
    """Page of a space's top level."""
    found = found_in(store, Space, number, "space")
    return Page(found.name, _held(store, asked, found.number, None), _places(store), Link("All spaces", ""))


@view.page("folder/{number}")
def folder(store: DocumentsStore, asked: Asked, number: str) -> Page:
    found = found_in(store, Folder, number, "folder")
    up = Link("Up", f"folder/{found.parent}" if found.parent else f"space/{found.space}")
    return Page(found.name, _held(store, asked, found.space, found.number), _places(store), up)


def _held(store: DocumentsStore, asked: Asked, space: int, folder: int | None) -> list[Block]:
    inner = store.session.scalars(
        sql.select(Folder)
        .where(Folder.space == space, Folder.parent == folder)
        .order_by(Folder.name, Folder.number)
    ).all()
    mine = (Document.space == space, Document.folder == folder)
    columns = (
        Document.number,
        Document.title,
        Document.type,
        Document.owner,
        Document.updated_at,
        Document.trashed_at,
    )
    documents = store.session.execute(
        sql.select(*columns)
        .where(*mine)
        .order_by(Document.title, Document.number)
        .offset(asked.start)
        .limit(asked.size)
    )
    rows = [
        Row(
            [
                Link(one.title, f"document/{one.number}"),
                one.type,
                one.owner,
                one.updated_at[:16].replace("T", " "),
                "in the trash" if one.trashed_at else "",
            ],
            ref=f"documents:{one.number}",
        )
        for one in documents
    ]
    total = store.session.scalar(sql.select(sql.func.count()).select_from(Document).where(*mine))
    folders = [
        Row(
            [
                Link(f"{one.name}/", f"folder/{one.number}"),
                one.owner,
                "in the trash" if one.trashed_at else "",
            ],
            ref=f"folders:{one.number}",
        )
        for one in inner
    ]
    listed = Table(["Document", "Type", "Owner", "Changed", ""], rows, total)
    return [Table(["Folder", "Owner", ""], folders), listed] if folders else [listed]


@view.page("document/{number}")
def document(store: DocumentsStore, asked: Asked, number: str) -> Page:
    """A document with its comments and versions."""
    found = found_in(store, Document, number, "document")
    facts: dict[str, Cell] = {
        "Type": found.type,
        "Owner": found.owner,
        "Changed": f"{found.updated_at[:16].replace('T', ' ')} by {found.updated_by}",
        "Version": found.version,
        "In the trash since": found.trashed_at,
        "Shown as": found.transform,
    }
    blocks: list[Block] = [Fields(facts, ref=f"documents:{found.number}")]
    picture = store.session.get(Picture, found.picture) if found.picture else None
    if picture is not None:
        blocks.append(views.Picture(picture.data, picture.media_type, found.title))
    if found.type == "html":
        blocks.append(Message(found.owner, found.content, source=found.content))
    elif found.content:
        blocks.append(text_page(found.content, asked, code=found.title.endswith(".py")))
    comments = store.session.scalars(
        sql.select(Comment)
        .where(Comment.document == found.number)
        .order_by(sql.func.coalesce(Comment.thread, Comment.number), Comment.number)
    )
    blocks += [
        Message(
            one.author,
            one.text,
            one.created_at[:16].replace("T", " "),
            title=f"On “{one.quote}”" if one.quote else "",
            ref=f"comments:{one.number}",
            notes=[
                word
                for word, on in (
                    ("answer", one.thread),
                    ("resolved", one.resolved_at),
                    ("deleted", one.deleted),
                )
                if on
            ],
        )
        for one in comments
    ]
    versions = store.session.scalars(
        sql.select(Version).where(Version.document == found.number).order_by(Version.version.desc())
    )
    earlier = [
        Row(
            [
                Link(str(one.version), f"version/{one.number}"),
                one.created_by,
                one.created_at[:16].replace("T", " "),
                one.characters,
            ],
            ref=f"versions:{one.number}",
        )
        for one in versions
    ]
    if earlier:
        blocks.append(Table(["Version", "By", "At", "Characters"], earlier, title="Earlier versions"))
    up = Link("Up", f"folder/{found.folder}" if found.folder else f"space/{found.space}")
    return Page(found.title, blocks, _places(store), up)


@view.page("version/{number}")
def version(store: DocumentsStore, asked: Asked, number: str) -> Page:
    """Page of a document's earlier version."""
    found = found_in(store, Version, number, "version")
    up = Link("The document", f"document/{found.document}")
    return Page(f"Version {found.version}", [text_page(found.content, asked)], _places(store), up)


@view.items
def items(store: DocumentsStore) -> Iterator[Item]:
    """All documents and comments."""
    columns = (Document.number, Document.title, Document.content, Document.updated_at, Document.owner)
    for one in store.session.execute(sql.select(*columns).order_by(Document.number)):
        yield Item(
            "document",
            one.title,
            one.content,
            f"document/{one.number}",
            f"documents:{one.number}",
            one.updated_at,
            (one.owner,),
        )
    for said in store.session.scalars(sql.select(Comment).order_by(Comment.number)):
        yield Item(
            "comment",
            said.quote or "",
            said.text,
            f"document/{said.document}",
            f"comments:{said.number}",
            said.created_at,
            (said.author,),
        )
