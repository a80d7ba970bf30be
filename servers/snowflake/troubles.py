"""Snowflake's error responses for disturbances, most with HTTP status 200:
https://docs.snowflake.com/en/user-guide/python-connector-api#errors
"""

from __future__ import annotations

from collections.abc import Mapping

from mesocosm.services.troubles import Kind, Trouble

_INTERNAL = (
    "SQL execution internal error: Processing aborted by error 300002:3430120; incident 4471902. Retry the "
    "statement."
)
_TIMEOUT = "Statement reached its statement or warehouse timeout of 30 second(s) and was canceled."
_EXPIRED = "Your session has expired. Please login again."

TROUBLES: Mapping[Kind, Trouble] = {
    "rate_limits": Trouble(
        429,
        "Too many requests; retry later.",
        code="390429",
        headers={"Retry-After": "1"},
        told="390429: Too many requests; retry later.",
    ),
    "errors": Trouble(200, _INTERNAL, code="000603", told=f"000603 (XX000): {_INTERNAL}"),
    "timeouts": Trouble(200, _TIMEOUT, code="000630", told=f"000630 (57014): {_TIMEOUT}"),
    "sessions": Trouble(
        200, _EXPIRED, code="390112", told=f"390112 (08001): {_EXPIRED} A new session was begun."
    ),
}
