"""What an agent sees of the documents service; importing a topic registers its tools."""

from mesocosm.servers.documents.tools import comments, documents, images, items, sharing, versions
from mesocosm.servers.documents.tools.service import server

__all__ = ["comments", "documents", "images", "items", "server", "sharing", "versions"]
