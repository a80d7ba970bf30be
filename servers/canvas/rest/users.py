"""Users and their profiles."""

from __future__ import annotations

from typing import Any, TypedDict

from mesocosm.servers.canvas.rest.api import AccountId, Paged, UserId, api
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.access import ADDRESS, denied
from mesocosm.servers.canvas.tools.accounts import PseudonymFields
from mesocosm.servers.canvas.tools.objects import profile_json, user_json
from mesocosm.servers.canvas.tools.service import Row, unguessable
from mesocosm.services.schema import Json
from mesocosm.services.service import Page

_AVATAR = f"{ADDRESS}/images/messages/avatar-50.png"


class UserFields(TypedDict, total=False):
    """Fields of a user from a client."""

    name: str
    short_name: str
    sortable_name: str
    time_zone: str
    bio: str
    title: str


def user_view(user: Row, *, full: bool) -> Json:
    """A user; logins, addresses and SIS ids are shown to oneself and to administrators."""
    shown = user_json(user)
    if not full:
        return {name: shown[name] for name in ("id", "name", "created_at", "sortable_name", "short_name")}
    return shown | {
        "integration_id": None,
        "avatar_url": _AVATAR,
        "locale": None,
        "effective_locale": "en",
        "bio": user["bio"],
        "title": user["title"],
    }


def _seen(store: CanvasStore, user: Row) -> Json:
    full = user["id"] == store.user_id or store.administers(user["account_id"])
    shown = user_view(user, full=full)
    if user["id"] == store.user_id:
        shown["permissions"] = {
            "can_update_name": True,
            "can_update_avatar": False,
            "limit_parent_app_web_access": False,
        }
    return shown


@api.get("/users/{user_id}")
def get_user(store: CanvasStore, user_id: UserId) -> dict[str, Any]:
    """A user: oneself, or somebody of a shared course."""
    return _seen(store, store.roster.acquaintance(user_id))


@api.get("/users/{user_id}/profile")
def get_profile(store: CanvasStore, user_id: UserId) -> dict[str, Any]:
    """A user's profile."""
    user = store.roster.acquaintance(user_id)
    return profile_view(user, full="login_id" in _seen(store, user))


def profile_view(user: Row, *, full: bool) -> Json:
    """A profile; what concerns signing in is shown to oneself and to administrators."""
    shown = profile_json(user)
    hidden = () if full else ("login_id", "primary_email", "created_at", "updated_at")
    profile = {name: value for name, value in shown.items() if name not in hidden}
    profile |= {"avatar_url": _AVATAR, "pronouns": None}
    if full:
        feed = unguessable("feed of user", user["id"])
        profile["calendar"] = {"ics": f"{ADDRESS}/feeds/calendars/user_{feed}.ics"}
        profile["lti_user_id"] = unguessable("lti of user", user["id"])
        profile["sis_user_id"] = user["sis_user_id"]
    return profile


@api.put("/users/{user_id}")
def update_user(store: CanvasStore, user_id: UserId, user: UserFields) -> dict[str, Any]:
    """Change oneself; an administrator's changes to others are not kept here, so they are refused."""
    if user_id != store.user_id:
        raise denied()
    fields: dict[str, str] = {name: str(value) for name, value in user.items()}
    return _seen(store, store.users.update_profile(fields))


@api.get("/accounts/{account_id}/users")
def list_account_users(
    store: CanvasStore,
    paging: Paged,
    account_id: AccountId,
    search_term: str | None = None,
    sort: str | None = None,
    order: str = "asc",
) -> Page:
    listing = store.accounts.account_users(
        account_id,
        paging,
        sort=sort if sort in ("username", "email", "sis_id", "last_login") else None,
        order=order,
        search_term=search_term,
    )
    return listing.of(lambda user: user_view(user, full=True))


@api.post("/accounts/{account_id}/users")
def create_user(
    store: CanvasStore, account_id: AccountId, pseudonym: PseudonymFields, user: UserFields | None = None
) -> dict[str, Any]:
    """Create a user with a login; without a name, the login is it."""
    fields = {"name": pseudonym["unique_id"], **(user or {})}
    made = store.users.create_user(account_id, fields, dict(pseudonym))
    return user_view(made, full=True)
