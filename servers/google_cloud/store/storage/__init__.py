"""The rules of Cloud Storage."""

from mesocosm.servers.google_cloud.store.storage.buckets import Buckets, Condition
from mesocosm.servers.google_cloud.store.storage.object_lists import Listing
from mesocosm.servers.google_cloud.store.storage.objects import NewObject, Objects
from mesocosm.servers.google_cloud.store.storage.signing import Signing
from mesocosm.servers.google_cloud.store.storage.uploads import Uploads

__all__ = ["Condition", "Listing", "NewObject", "Objects", "Signing", "Storage", "Uploads"]


class Storage(Buckets):
    """Buckets; objects and signed URLs are parts of their own."""

    @property
    def objects(self) -> Objects:
        """Objects, which are written, read, copied and deleted whole."""
        return Objects(self.store)

    @property
    def listing(self) -> Listing:
        """Objects, page by page."""
        return Listing(self.store)

    @property
    def signing(self) -> Signing:
        """URLs that open an object for a while."""
        return Signing(self.store)

    @property
    def uploads(self) -> Uploads:
        """Uploads that come in pieces."""
        return Uploads(self.store)
