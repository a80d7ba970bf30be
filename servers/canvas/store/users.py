"""Users: signing in, profiles, visibility, preferences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy import bindparam, delete, insert, select

from mesocosm.errors import Conflict, Denied, Invalid, NotFound
from mesocosm.servers.canvas.models import Enrollment, Preference, SignIn, User, usual
from mesocosm.servers.canvas.store import values
from mesocosm.servers.canvas.store.access import Lister, StorePart, denied
from mesocosm.services.service import Page, Paging, Row

MIN_PASSWORD = 8

_USER = select(*User.__table__.c).where(User.id == bindparam("user"))
_BY_LOGIN = select(User.id, User.password).where(User.login_id == bindparam("login_id"))
_BY_SIS = select(User.id).where(User.sis_user_id == bindparam("sis_user_id"))
_PERSON = select(*(User.__table__.c[name] for name in ("id", "name", "login_id", "primary_email")))
_MY_COURSES = select(Enrollment.course_id).where(
    Enrollment.user_id == bindparam("viewer"), Enrollment.enrollment_state == "active"
)
_EVERYBODY = Lister(
    _PERSON.where(User.account_id == bindparam("account")).order_by(User.sortable_name, User.id)
)
_ACQUAINTED = Lister(
    _PERSON.where(
        User.id.in_(
            select(Enrollment.user_id)
            .where(Enrollment.course_id.in_(_MY_COURSES), Enrollment.enrollment_state == "active")
            .union(select(User.id).where(User.id == bindparam("viewer")))
        )
    ).order_by(User.sortable_name, User.id)
)
_IN_COURSE = Lister(
    _PERSON.where(
        User.id.in_(
            select(Enrollment.user_id).where(
                Enrollment.course_id == bindparam("course"), Enrollment.enrollment_state == "active"
            )
        )
    ).order_by(User.sortable_name, User.id)
)


class Users(StorePart):
    """The people of Canvas."""

    def user(self, user_id: int) -> Row:
        return self.one(_USER, "user", user_id, user=user_id)

    def me(self) -> Row:
        """The signed-in user."""
        return self.user(self.user_id)

    def log_in(self, login_id: str, password: str) -> Row:
        """Sign in with a password."""
        login_id = values.text(login_id.strip(), "login_id")
        rows = self.fetch(_BY_LOGIN, login_id=login_id)
        if not rows or rows[0]["password"] is None or rows[0]["password"] != password:
            raise Denied("Invalid login_id or password")
        user_id = int(rows[0]["id"])
        self.sign_in(user_id)
        self.change(User, user_id, {"last_login": self.stamp})
        return self.user(user_id)

    def log_out(self) -> None:
        """Sign out whoever is signed in."""
        self.session.execute(delete(SignIn))

    def update_profile(self, changes: dict[str, str]) -> Row:
        """Change the signed-in user's profile."""
        user_id = self.user_id
        changed: dict[str, str | None] = {}
        for name, value in changes.items():
            if name == "time_zone":
                changed[name] = values.time_zone(value)
            elif name in ("name", "short_name", "sortable_name"):
                changed[name] = values.title(value, name)
            else:
                changed[name] = values.text(value, name, limit=65_000) or None
        if "name" in changed and "sortable_name" not in changed:
            changed["sortable_name"] = sortable(str(changed["name"]))
        self.change(User, user_id, changed | {"updated_at": self.stamp})
        return self.user(user_id)

    def people(self, paging: Paging, course_id: int | None = None) -> Page:
        """Users by name: of a course, else those who share an active course with the signed-in user.

        An administrator of the root account sees everybody.
        """
        viewer = self.user_id
        if course_id is not None:
            self.reading(course_id)
            return self.listing(_IN_COURSE, paging, course=course_id)
        root = self.user(viewer)["account_id"]
        if self.administers(root):
            return self.listing(_EVERYBODY, paging, account=root)
        return self.listing(_ACQUAINTED, paging, viewer=viewer)

    def create_user(self, account_id: int, user: dict[str, Any], pseudonym: dict[str, Any]) -> Row:
        """Create a user with a login; for administrators of the account."""
        account = self.store.accounts.administered(account_id)
        login_id = values.title(pseudonym["unique_id"], "unique_id")
        if self.fetch(_BY_LOGIN, login_id=login_id):
            message = "ID already in use for this account and authentication provider"
            raise Invalid(message, code="unique_id.taken")
        sis_user_id = pseudonym.get("sis_user_id")
        if sis_user_id is not None:
            sis_user_id = values.title(sis_user_id, "sis_user_id")
            if self.fetch(_BY_SIS, sis_user_id=sis_user_id):
                raise Invalid(f"SIS ID already in use: {sis_user_id}", code="sis_user_id.taken")
        password = pseudonym.get("password")
        if password is not None and len(values.text(password, "password", limit=255)) < MIN_PASSWORD:
            raise Invalid(f"password is too short (minimum is {MIN_PASSWORD} characters)")
        name = values.title(user["name"], "name")
        new: dict[str, Any] = {
            "name": name,
            "login_id": login_id,
            "password": password,
            "sis_user_id": sis_user_id,
            "short_name": values.title(user.get("short_name", name), "short_name"),
            "sortable_name": values.title(user.get("sortable_name", sortable(name)), "sortable_name"),
            "account_id": account["root_account_id"] or account_id,
        }
        if "time_zone" in user:
            new["time_zone"] = values.time_zone(user["time_zone"])
        return self.user(self.add_users([new])[0])

    # -- filling ----------------------------------------------------------------------------------------

    def add_users(self, users: Sequence[Row]) -> list[int]:
        """Add users, to the first root account unless they say otherwise; returns their ids.

        ``name`` and ``login_id`` are required. Without ``primary_email`` a login that is an e-mail address
        serves as one; without ``password`` the user cannot sign in with ``canvas_login`` (``store.sign_in``
        does not need it).
        """
        defaults = {
            "account_id": self.store.accounts.root_account_id,
            "created_at": self.stamp,
        }
        return self.fill(User, [_filled({**defaults, **user}) for user in users])


def _filled(user: dict[str, Any]) -> dict[str, Any]:
    name, login_id = user["name"], user["login_id"]
    created_at = values.stored_time(user["created_at"])
    return {
        **usual(User),
        "short_name": name,
        "sortable_name": sortable(name),
        "primary_email": login_id if values.is_email(login_id) else None,
        **user,
        "created_at": created_at,
        "updated_at": created_at,
    }


def sortable(name: str) -> str:
    """A name with the family name first: ``Kelly, Ronald``."""
    given, _, family = name.strip().rpartition(" ")
    return f"{family}, {given.strip()}" if given else family


# Users' preferences, and data that applications store for them.

MAX_PREFERENCE = 65_536
"""Characters of what is kept under one name."""

_KEPT = select(Preference.value).where(
    Preference.user_id == bindparam("user"), Preference.name == bindparam("name")
)


class Preferences(StorePart):
    """Objects by name: a user's own."""

    def own(self, user_id: int, name: str) -> dict[str, Any]:
        """Return a user's value under a name. Only the user may read it."""
        if user_id != self.store.user_id:
            raise denied()
        rows = self.fetch(_KEPT, user=user_id, name=name)
        return orjson.loads(rows[0]["value"]) if rows else {}

    def keep(self, user_id: int, name: str, value: dict[str, Any]) -> None:
        """Replace what is kept for a user under a name."""
        try:
            written = orjson.dumps(value).decode()
        except orjson.JSONEncodeError:
            raise Invalid("What is kept is nested too deep.") from None
        if len(written) > MAX_PREFERENCE:
            raise Invalid(f"At most {MAX_PREFERENCE:,} characters are kept for a user under one name.")
        mine = (Preference.user_id == user_id, Preference.name == name)
        self.session.execute(delete(Preference).where(*mine))
        if value:
            self.session.execute(insert(Preference), {"user_id": user_id, "name": name, "value": written})

    def custom_data(self, user_id: int, namespace: str, scope: Sequence[str]) -> Any:
        """Return an application's data for a user at a path."""
        found: Any = self.own(user_id, f"custom_data {namespace}")
        for key in ("data", *scope):
            if not isinstance(found, dict) or key not in found:
                raise NotFound("no data for scope")
            found = found[key]
        return found

    def set_custom_data(self, user_id: int, namespace: str, scope: Sequence[str], value: Any) -> bool:
        """Keep a value for an application; returns whether there was none at the place."""
        whole = self.own(user_id, f"custom_data {namespace}")
        at, path = whole, ("data", *scope)
        for key in path[:-1]:
            at = at.setdefault(key, {})
            if not isinstance(at, dict):
                raise Conflict("write conflict for custom_data hash")
        is_new = path[-1] not in at
        at[path[-1]] = value
        self.keep(user_id, f"custom_data {namespace}", whole)
        return is_new

    def remove_custom_data(self, user_id: int, namespace: str, scope: Sequence[str]) -> Any:
        """Delete a value, and the objects that are empty without it; returns the value."""
        value = self.custom_data(user_id, namespace, scope)
        whole = self.own(user_id, f"custom_data {namespace}")
        path = ["data", *scope]
        while path:
            at = whole
            for key in path[:-1]:
                at = at[key]
            del at[path.pop()]
            if at:
                break
        self.keep(user_id, f"custom_data {namespace}", whole)
        return value
