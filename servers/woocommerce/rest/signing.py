"""API keys: the ways in which WooCommerce lets a client present them.

The consumer key and the consumer secret are both the episode's id. Over HTTP the client signs each request
with them (OAuth 1.0a, one-legged); over HTTPS it may send them as they are.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Iterable, Mapping
from urllib.parse import quote, unquote

from mesocosm.doors.request import Request
from mesocosm.doors.rest import basic_credentials

CREDENTIALS = ("oauth_", "consumer_key", "consumer_secret")
"""Beginnings of the query parameters that carry keys and signatures."""
_DIGESTS = {"HMAC-SHA1": "sha1", "HMAC-SHA256": "sha256"}


def authenticate(request: Request, headers: Mapping[str, str], token: str) -> bool:
    """True if a request carries the episode's key."""
    # Of a parameter that comes twice the last counts, as PHP has it.
    query = dict(request.pairs)
    if "oauth_signature" in query:
        return _is_signed(request, query, token)
    given = basic_credentials(headers) or (query.get("consumer_key"), query.get("consumer_secret"))
    return given == (token, token)


def _is_signed(request: Request, query: Mapping[str, str], token: str) -> bool:
    digest = _DIGESTS.get(query.get("oauth_signature_method", ""))
    if digest is None or query.get("oauth_consumer_key") != token:
        return False
    parameters = [(name, value) for name, value in query.items() if name != "oauth_signature"]
    url = request.url.partition("?")[0]
    # Clients differ in whether they escape the slashes of a value.
    return any(
        hmac.compare_digest(
            _signature(
                f"{token}&", f"{request.method}&{quote(url, '')}&{_normalised(parameters, safe)}", digest
            ),
            query["oauth_signature"],
        )
        for safe in ("", "/")
    )


def _normalised(parameters: Iterable[tuple[str, str]], safe: str) -> str:
    def escaped(text: str) -> str:
        return quote(unquote(text), safe=safe).replace("%", "%25")

    ordered = sorted(parameters, key=lambda pair: pair[0].partition("[")[0])
    return "%26".join(f"{escaped(name)}%3D{escaped(value)}" for name, value in ordered)


def _signature(secret: str, text: str, digest: str) -> str:
    return base64.b64encode(hmac.new(secret.encode(), text.encode(), digest).digest()).decode()
