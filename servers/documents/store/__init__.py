"""The rules of the documents service: one part for each topic."""

from mesocosm.servers.documents.models import Base
from mesocosm.servers.documents.store.access import Access
from mesocosm.servers.documents.store.bulk import Filling, NewComment, NewDocument, NewImage
from mesocosm.servers.documents.store.comments import Comments
from mesocosm.servers.documents.store.items import Items
from mesocosm.servers.documents.store.reading import Reading
from mesocosm.servers.documents.store.search import Search
from mesocosm.servers.documents.store.sharing import Sharing
from mesocosm.servers.documents.store.writing import Writing
from mesocosm.services.service import Store, Topic

__all__ = ["DocumentsStore", "NewComment", "NewDocument", "NewImage"]


class DocumentsStore(Access, Store):
    """One document store, seen by the user who is signed in."""

    metadata = Base.metadata

    items = Topic(Items)
    reading = Topic(Reading)
    filling = Topic(Filling)
    writing = Topic(Writing)
    searching = Topic(Search)
    comments = Topic(Comments)
    sharing = Topic(Sharing)
