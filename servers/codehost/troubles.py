"""What GitHub says when it is disturbed:
https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api"""

from __future__ import annotations

from collections.abc import Mapping

from mesocosm.services.troubles import Kind, Trouble

_LIMITED = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach "
    "out to GitHub Support for help, please include the request ID."
)

TROUBLES: Mapping[Kind, Trouble] = {
    "rate_limits": Trouble(
        403,
        _LIMITED,
        headers={"Retry-After": "1", "X-RateLimit-Remaining": "0"},
        told=f"403 {_LIMITED} []",
    ),
    "errors": Trouble(502, "Server Error", told="502 Server Error []"),
    "timeouts": Trouble(
        504,
        "We couldn't respond to your request in time. Sorry about that. Please try resubmitting your "
        "request.",
        told="504 We couldn't respond to your request in time. Please try resubmitting your request.",
    ),
    "sessions": Trouble(401, "Bad credentials", told="401 Bad credentials []; the token was renewed."),
}
