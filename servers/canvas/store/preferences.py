"""Users' preferences, and data that applications store for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy import bindparam, delete, insert, select

from mesocosm.errors import Conflict, Invalid, NotFound
from mesocosm.servers.canvas.models import Preference
from mesocosm.servers.canvas.store.access import StorePart, denied

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
