"""GitHub's error responses for disturbances:
https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from sqlalchemy import select

from mesocosm.servers.codehost.models import Repository
from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.services.troubles import Kind, Touched, Trouble, began

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


def touch(store: CodehostStore, dice: random.Random) -> Touched | None:
    """Somebody stars a repository."""
    there = select(Repository.id, Repository.stars).where(Repository.created_at <= began(store))
    repositories = store.session.execute(there.order_by(Repository.id)).all()
    if not repositories:
        return None
    number, stars = dice.choice(repositories)
    return Touched("repositories", {"id": number}, {"stars": stars + 1})
