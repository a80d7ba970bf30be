"""The rules of Cloud Storage."""

from mesocosm.servers.google_cloud.store.part import PartOf
from mesocosm.servers.google_cloud.store.storage.buckets import Buckets, Condition
from mesocosm.servers.google_cloud.store.storage.object_lists import Listing
from mesocosm.servers.google_cloud.store.storage.objects import NewObject, Objects
from mesocosm.servers.google_cloud.store.storage.signing import Signing
from mesocosm.servers.google_cloud.store.storage.uploads import Uploads

__all__ = ["Condition", "Listing", "NewObject", "Objects", "Signing", "Storage", "Uploads"]


class Storage(Buckets):
    """Buckets; objects and signed URLs are parts of their own."""

    objects = PartOf(Objects)
    listing = PartOf(Listing)
    signing = PartOf(Signing)
    uploads = PartOf(Uploads)
