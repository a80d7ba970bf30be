"""Signed URLs: whoever has one may make one kind of request for one object until it expires.

They are those of the product (V4) with an HMAC key, which belongs to the service account of the project. The
product's own host is signed, whatever the address is under which the episode is served.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urlencode

from mesocosm.errors import Denied, Invalid
from mesocosm.servers.google_cloud.store.part import StorePart, quoted

HOST = "storage.googleapis.com"
_ALGORITHM = "GOOG4-HMAC-SHA256"
_METHODS = ("GET", "HEAD", "PUT", "POST", "DELETE")
_WEEK = 7 * 24 * 60
_FORM = "%Y%m%dT%H%M%SZ"


class Signing(StorePart):
    """URLs with a signature of the project's HMAC key."""

    @property
    def access_id(self) -> str:
        """The public half of the key."""
        return "GOOG1E" + hashlib.sha256(f"access id of {self.project.id}".encode()).hexdigest()[:55].upper()

    def url(self, bucket: str, name: str, minutes: int = 60, method: str = "GET") -> str:
        """The URL with which an object can be read, written or deleted for so many minutes."""
        self.store.storage.bucket(bucket)
        if method.upper() not in _METHODS:
            raise Invalid(
                f"Invalid method {quoted(method)}; it may be {', '.join(_METHODS)}.", code="invalid"
            )
        if not 1 <= minutes <= _WEEK:
            raise Invalid(
                f"Invalid expiration of {minutes} minutes: a signed URL lasts 1 to {_WEEK} minutes (7 days).",
                code="invalid",
            )
        if not name:
            raise Invalid("The name of an object is missing.", code="required")
        stamp = self.now.astimezone(UTC).strftime(_FORM)
        query = [
            ("X-Goog-Algorithm", _ALGORITHM),
            ("X-Goog-Credential", f"{self.access_id}/{_scope(stamp)}"),
            ("X-Goog-Date", stamp),
            ("X-Goog-Expires", str(minutes * 60)),
            ("X-Goog-SignedHeaders", "host"),
        ]
        path = f"/{bucket}/{quote(name, safe='/~')}"
        signature = self._signature(method.upper(), path, query)
        return f"https://{HOST}{path}?{_canonical(query)}&X-Goog-Signature={signature}"

    def check(self, method: str, path: str, query: Sequence[tuple[str, str]]) -> None:
        """Raises ``Denied`` unless the query of a request signs it, and has not expired.

        Args:
            method: The HTTP method.
            path: ``/bucket/object``, percent-encoded.
            query: Names and values of the whole query.
        """
        said = dict(query)
        others = [(name, value) for name, value in query if name != "X-Goog-Signature"]
        given = said.get("X-Goog-Signature", "")
        expected = self._signature(method, path, others)
        if said.get("X-Goog-Algorithm") != _ALGORITHM or not hmac.compare_digest(
            given.encode(), expected.encode()
        ):
            raise Denied(
                "The request signature we calculated does not match the signature you provided. Check your"
                " Google secret key and signing method.",
                code="SignatureDoesNotMatch",
            )
        begun = datetime.strptime(said["X-Goog-Date"], _FORM).replace(tzinfo=UTC)
        if self.now > begun + timedelta(seconds=int(said["X-Goog-Expires"])):
            raise Invalid("The provided token has expired: the signed URL is too old.", code="ExpiredToken")

    def _signature(self, method: str, path: str, query: Sequence[tuple[str, str]]) -> str:
        stamp = dict(query).get("X-Goog-Date", "")
        request = "\n".join((method, path, _canonical(query), f"host:{HOST}\n", "host", "UNSIGNED-PAYLOAD"))
        digest = hashlib.sha256(request.encode()).hexdigest()
        text = "\n".join((_ALGORITHM, stamp, _scope(stamp), digest))
        key = b"GOOG4" + self._secret()
        for step in (stamp[:8], "auto", "storage", "goog4_request"):
            key = hmac.new(key, step.encode(), hashlib.sha256).digest()
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()

    def _secret(self) -> bytes:
        # Of the world's seed: a URL that was signed in one world opens nothing in another.
        return hashlib.sha256(self.store.world.stream("signed urls").randbytes(32)).digest()


def _scope(stamp: str) -> str:
    return f"{stamp[:8]}/auto/storage/goog4_request"


def _canonical(query: Sequence[tuple[str, str]]) -> str:
    return urlencode(sorted(query), quote_via=quote, safe="~")
