"""Spaces of documents, one of them with most of them and one long document."""

from __future__ import annotations

from fills.texts import FREQUENT, Call, Texts, pages, stamp, words
from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.servers.documents.store.bulk import NewComment, NewDocument
from mesocosm.services.world import World

ME, BOB = "ada@example.org", "bob@example.org"
_PER_DOCUMENT = 1050
_TYPES = ("text", "markdown", "html")


def fill(world: World, texts: Texts, size: int) -> list[Call]:
    """The spaces: half of the documents lie in one folder."""
    store, many = world.store(DocumentsStore), size // _PER_DOCUMENT
    for email in (ME, BOB, *(f"user{number}@example.org" for number in range(5 + many // 100))):
        store.items.create_user(email, email.partition("@")[0])
    store.sign_in(ME)
    space = store.items.create_space("Research", owner=BOB, space_id="research")
    store.sharing.give("research", ME, "editor")
    folders = store.filling.add_folders(space, [f"Area {n % 7}/Topic {n}" for n in range(6 + many // 50)])
    ids = store.filling.add_documents(folders[0], [_document(texts, n, many) for n in range(many // 2)])
    step = many // 2 // len(folders) + 1
    for at, folder in enumerate(folders[1:], 1):
        ids += store.filling.add_documents(
            folder, [_document(texts, at * step + n, many) for n in range(step)]
        )
    long = "\n\n".join(texts.text() for _ in range(many // 4))
    store.filling.add_documents(space, [{"title": "Everything", "file_id": "everything", "content": long}])
    for id_ in ids[:: max(1, len(ids) // 50)]:
        store.filling.add_comments(id_, [_comment(texts) for _ in range(3)])
    store.filling.add_comments("everything", [_comment(texts) for _ in range(many // 10)])
    return _calls(store, folders, ids, len(long), many)


def _document(texts: Texts, number: int, many: int) -> NewDocument:
    type_ = _TYPES[number % 3]
    paragraphs = [texts.text() for _ in range(6)]
    if type_ == "html":
        paragraphs = [f"<p>{paragraph}</p>" for paragraph in paragraphs]
    texts.facts(80)
    return {
        "title": texts.title(),
        "content": "\n\n".join(paragraphs),
        "type": type_,
        "created_at": stamp(number % many / many),
        "owner": BOB if number % 4 else ME,
    }


def _comment(texts: Texts) -> NewComment:
    texts.facts(60)
    replies: list[NewComment] = [{"author": BOB, "text": texts.title()} for _ in range(2)]
    return {"author": ME, "text": texts.text(), "replies": replies}


def _calls(
    store: DocumentsStore, folders: list[str], ids: list[str], characters: int, many: int
) -> list[Call]:
    some = (ids[0], ids[len(ids) // 2], ids[-1], "everything")
    reply: NewComment = {"author": BOB, "text": "Yes."}
    thread = store.filling.add_comments(
        "everything", [{"author": ME, "text": "Is it so?", "replies": [reply]}]
    )
    return [
        ("get_current_user", {}),
        *pages("list_users", (7 + many // 100) // 20),
        ("list_spaces", {}),
        ("list_folder", {}),
        ("list_folder", {"folder_id": "research"}),
        *pages("list_folder", many // 2 // 50, folder_id=folders[0]),
        ("list_folder", {"folder_id": folders[-1]}),
        ("list_trash", {}),
        *[("get_document", {"file_id": id_}) for id_ in some],
        *[("read_document", {"file_id": id_}) for id_ in some],
        *[
            ("read_document", {"file_id": "everything", "offset": characters * share // 10})
            for share in (5, 9)
        ],
        ("read_document", {"file_id": "everything", "unit": "lines", "offset": many // 4, "limit": 50}),
        *[("list_comments", {"file_id": id_}) for id_ in some],
        ("list_replies", {"comment_id": thread[0]}),
        *[("list_permissions", {"item_id": id_}) for id_ in ("research", ids[0])],
        *[("list_versions", {"file_id": id_}) for id_ in some],
        *[("read_version", {"file_id": id_, "version": 1}) for id_ in some],
        *pages("list_recent_documents", many // 50),
        ("list_recent_documents", {"type": "html"}),
        ("list_recent_documents", {"updated_after": "2024-12-01T00:00:00Z"}),
        *words("search_documents"),
        *words("search_documents", folder_id=folders[0]),
        *words("search_documents", type="html"),
        *pages("search_documents", many // 2 // 20, query=FREQUENT),
    ]
