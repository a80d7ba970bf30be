"""Error responses of the documents API for disturbances."""

from __future__ import annotations

from collections.abc import Mapping

from mesocosm.services.troubles import Kind, Trouble

TROUBLES: Mapping[Kind, Trouble] = {
    "rate_limits": Trouble(
        429, "Too many requests; try again in a second.", code="rate_limited", headers={"Retry-After": "1"}
    ),
    "errors": Trouble(500, "Something went wrong on our side; nothing was done.", code="internal"),
    "timeouts": Trouble(504, "The request took too long and was given up; nothing was done.", code="timeout"),
    "sessions": Trouble(401, "The session has expired; the next request begins another.", code="expired"),
}
