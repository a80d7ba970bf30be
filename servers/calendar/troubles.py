"""What Google Calendar says when it is disturbed: https://cloud.google.com/apis/design/errors"""

from __future__ import annotations

from collections.abc import Mapping

from mesocosm.services.troubles import Kind, Trouble

_LIMITED = (
    "Rate Limit Exceeded: the quota of queries per minute and user is used up; retry with exponential "
    "backoff."
)
_CREDENTIALS = (
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other "
    "valid authentication credential."
)

TROUBLES: Mapping[Kind, Trouble] = {
    "rate_limits": Trouble(
        403,
        _LIMITED,
        code="rateLimitExceeded",
        told=f"Google Calendar API error 403 RESOURCE_EXHAUSTED: {_LIMITED}",
    ),
    "errors": Trouble(
        503,
        "The service is currently unavailable.",
        code="backendError",
        told="Google Calendar API error 503 UNAVAILABLE: The service is currently unavailable.",
    ),
    "timeouts": Trouble(
        504,
        "Deadline exceeded",
        code="deadlineExceeded",
        told="Google Calendar API error 504 DEADLINE_EXCEEDED: Deadline exceeded",
    ),
    "sessions": Trouble(
        401,
        _CREDENTIALS,
        code="authError",
        told=f"Google Calendar API error 401 UNAUTHENTICATED: {_CREDENTIALS} The token was refreshed.",
    ),
}
