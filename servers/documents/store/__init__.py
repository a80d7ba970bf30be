"""The rules of the documents service, by topic; each topic builds on those before it."""

from mesocosm.servers.documents.store.filling import NewComment, NewDocument, NewImage
from mesocosm.servers.documents.store.sharing import SharingStore


class DocumentsStore(SharingStore):
    """One document store, seen by the user who is signed in."""


__all__ = ["DocumentsStore", "NewComment", "NewDocument", "NewImage"]
