"""Uploads that come in pieces (the product calls them resumable)."""

from __future__ import annotations

from typing import Any

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.google_cloud.models import Upload
from mesocosm.servers.google_cloud.store.part import StorePart

MOST = 64 * 2**20
"""Bytes of an object."""


class Uploads(StorePart):
    """Uploads that have begun and are not yet complete."""

    def begin(self, purpose: str, request: dict[str, Any]) -> str:
        """The id of a new upload."""
        upload = Upload(purpose=purpose, request=request, data=b"")
        self.added(upload)
        return f"upload-{upload.number:08d}"

    def upload(self, id_: str, purpose: str) -> Upload:
        """An upload that has begun."""
        number = id_.removeprefix("upload-")
        found = self.session.get(Upload, int(number)) if number.isascii() and number.isdigit() else None
        if found is None or found.purpose != purpose:
            raise NotFound("The upload is unknown, or complete.", code="notFound")
        return found

    def add(self, upload: Upload, start: int, data: bytes) -> int:
        """Put a piece behind those that came; how many bytes there are then."""
        if start != len(upload.data):
            raise Invalid(
                f"The piece begins at byte {start}, but {len(upload.data)} bytes have come.", code="invalid"
            )
        if start + len(data) > MOST:
            raise Invalid(f"An object may have {MOST:,} bytes here.", code="uploadTooLarge")
        upload.data += data
        self.session.flush()
        return len(upload.data)

    def finish(self, upload: Upload) -> bytes:
        """All bytes of an upload, which is forgotten."""
        data = upload.data
        self.removed(upload)
        return data
