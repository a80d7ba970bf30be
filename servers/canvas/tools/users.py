"""Signing in, and users."""

from __future__ import annotations

from typing import Annotated, Any

from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.tools.objects import profile_json
from mesocosm.servers.canvas.tools.service import Row, given, server, standing
from mesocosm.services.schema import Json
from mesocosm.services.service import Paging, paged, same


def _person(user: Row) -> Json:
    return {
        **same(user, "id", "name", "login_id"),
        "email": user["primary_email"],
    }


@server.reads
def canvas_health_check(store: CanvasStore) -> dict[str, Any]:
    """Check that Canvas answers, and see its clock and who is signed in."""
    signed_in = store.signed_in
    user = None if signed_in is None else store.users.user(signed_in)
    shown = None if user is None else {"id": user["id"], "name": user["name"]}
    return {"status": "ok", "timestamp": store.stamp, "user": shown}


@server.writes(idempotent=True)
def canvas_login(store: CanvasStore, login_id: str, password: str) -> dict[str, Any]:
    """Sign in; what the other tools show and may do depends on who is signed in.

    Args:
        login_id: The login, usually an e-mail address.
        password: The password that belongs to it.
    """
    user = store.users.log_in(login_id, password)
    return {"message": "Login successful", "logged_in": True, "user": _person(user)}


@server.writes(idempotent=True)
def canvas_logout(store: CanvasStore) -> dict[str, Any]:
    """Sign out. Afterwards nearly every tool is refused until canvas_login."""
    store.users.log_out()
    return {"message": "Logged out", "logged_in": False}


@server.reads
def canvas_get_current_user(store: CanvasStore) -> dict[str, Any]:
    """Who is signed in: id, name, e-mail and login."""
    signed_in = store.signed_in
    if signed_in is None:
        return {"id": None, "name": None, "login_id": None, "email": None, "logged_in": False}
    return _person(store.users.user(signed_in)) | {"logged_in": True}


@server.reads
def canvas_list_users(
    store: CanvasStore, course_id: int | None = None, *, paging: Annotated[Paging, paged("People")]
) -> dict[str, Any]:
    """List people with their e-mail addresses, by family name: everybody you share a course with.

    Administrators see all users.

    Args:
        course_id: Only the people of this course.
    """
    listing = store.users.people(paging, course_id)
    position = standing(listing)
    return {"users": [_person(user) for user in listing.items], "count": position.pop("total"), **position}


@server.reads
def canvas_get_user_profile(store: CanvasStore) -> dict[str, Any]:
    """Your own profile."""
    return profile_json(store.users.me())


@server.writes(destructive=True, idempotent=True)
def canvas_update_user_profile(
    store: CanvasStore,
    name: str | None = None,
    short_name: str | None = None,
    bio: str | None = None,
    title: str | None = None,
    time_zone: str | None = None,
) -> dict[str, Any]:
    """Change your own profile; what you leave out stays as it is.

    Args:
        name: Full name; the sortable name follows from it.
        short_name: Name shown in discussions and messages.
        bio: A few words about yourself; empty to remove them.
        title: Your title; empty to remove it.
        time_zone: IANA name of a time zone, such as America/Denver.
    """
    fields = given(name=name, short_name=short_name, bio=bio, title=title, time_zone=time_zone)
    return profile_json(store.users.update_profile(fields))
