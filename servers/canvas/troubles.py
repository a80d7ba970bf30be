"""What Canvas says when it is disturbed: https://canvas.instructure.com/doc/api/file.throttling.html"""

from __future__ import annotations

from collections.abc import Mapping

from mesocosm.services.troubles import Kind, Trouble

TROUBLES: Mapping[Kind, Trouble] = {
    "rate_limits": Trouble(
        403,
        "403 Forbidden (Rate Limit Exceeded)",
        headers={"X-Rate-Limit-Remaining": "0.0", "X-Request-Cost": "1.0"},
        told="Canvas API error: 403 Forbidden (Rate Limit Exceeded)",
    ),
    "errors": Trouble(
        500,
        "An error occurred.",
        code="internal_server_error",
        told='Canvas API error: 500 Internal Server Error {"errors":[{"message":"An error occurred.",'
        '"error_code":"internal_server_error"}]}',
    ),
    "timeouts": Trouble(504, "Gateway Time-out", told="Canvas API error: 504 Gateway Time-out"),
    "sessions": Trouble(
        401,
        "Expired access token.",
        headers={"WWW-Authenticate": 'Bearer realm="canvas-lms"'},
        told="Canvas API error: 401 Unauthorized: Expired access token; a new one was requested.",
    ),
}
