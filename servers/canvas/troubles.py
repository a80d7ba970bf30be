"""Canvas's error responses for disturbances: https://canvas.instructure.com/doc/api/file.throttling.html"""

from __future__ import annotations

import random
from collections.abc import Mapping

from sqlalchemy import select

from mesocosm.servers.canvas.models import Participant, SignIn, User
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.services.troubles import Kind, Touched, Trouble

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
        code="expired",
        headers={"WWW-Authenticate": 'Bearer realm="canvas-lms"'},
        told="Canvas API error: 401 Unauthorized: Expired access token; a new one was requested.",
    ),
}


_UNREAD = (
    select(Participant.conversation_id, Participant.user_id)
    .where(Participant.workflow_state == "unread", Participant.user_id.in_(select(SignIn.user_id)))
    .order_by(Participant.conversation_id)
)
_OTHERS = select(User.id).where(User.id.not_in(select(SignIn.user_id))).order_by(User.id)


def touch(store: CanvasStore, dice: random.Random) -> Touched | None:
    """The user reads a message on the telephone; where all are read, somebody else signs in."""
    if unread := store.session.execute(_UNREAD).all():
        conversation, user = dice.choice(unread)
        key = {"conversation_id": conversation, "user_id": user}
        return Touched("conversation_participants", key, {"workflow_state": "read"})
    if not (others := store.session.scalars(_OTHERS).all()):
        return None
    return Touched("users", {"id": dice.choice(others)}, {"last_login": f"{store.now:%Y-%m-%dT%H:%M:%SZ}"})
