"""What Google Sheets says when it is disturbed: https://cloud.google.com/apis/design/errors"""

from __future__ import annotations

from collections.abc import Mapping

from mesocosm.services.troubles import Kind, Trouble

_LIMITED = (
    "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute per user' of "
    "service 'sheets.googleapis.com' for consumer 'project_number:1003'."
)
_CREDENTIALS = (
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other "
    "valid authentication credential."
)

TROUBLES: Mapping[Kind, Trouble] = {
    "rate_limits": Trouble(
        429,
        _LIMITED,
        code="RESOURCE_EXHAUSTED",
        told=f"Google Sheets API error 429 RESOURCE_EXHAUSTED: {_LIMITED}",
    ),
    "errors": Trouble(
        503,
        "The service is currently unavailable.",
        code="backendError",
        told="Google Sheets API error 503 UNAVAILABLE: The service is currently unavailable.",
    ),
    "timeouts": Trouble(
        504,
        "Deadline exceeded",
        code="deadlineExceeded",
        told="Google Sheets API error 504 DEADLINE_EXCEEDED: Deadline exceeded",
    ),
    "sessions": Trouble(
        401,
        _CREDENTIALS,
        code="authError",
        told=f"Google Sheets API error 401 UNAUTHENTICATED: {_CREDENTIALS} The token was refreshed.",
    ),
}
