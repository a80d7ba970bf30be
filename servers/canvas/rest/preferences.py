"""Users' preferences, and data that applications store for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from mesocosm.doors.request import Request
from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.canvas.rest.api import UserId, api, user_key
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.services.schema import Json
from mesocosm.services.service import Reply

_COLOR = re.compile("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_ASSET = re.compile("(course|group|user|calendar_event|section)_([0-9]{1,18})")
_MOST_POSITIONS = 2000
_SETTINGS = (
    "manual_mark_as_read",
    "collapse_global_nav",
    "collapse_course_nav",
    "hide_dashcard_color_overlays",
    "release_notes_badge_disabled",
    "comment_library_suggestions_enabled",
    "elementary_dashboard_disabled",
)


@api.get("/users/{user_id}/colors")
def list_colors(store: CanvasStore, user_id: UserId) -> Json:
    """The colours that a user chose."""
    return {"custom_colors": store.preferences.own(user_id, "colors")}


@api.get("/users/{user_id}/colors/{asset}")
def get_color(store: CanvasStore, user_id: UserId, asset: str) -> Json:
    """The colour that a user chose for something."""
    chosen = store.preferences.own(user_id, "colors")
    if asset not in chosen:
        raise NotFound("The specified resource does not exist.")
    return {"hexcode": chosen[asset]}


@api.put("/users/{user_id}/colors/{asset}")
def set_color(store: CanvasStore, user_id: UserId, asset: str, hexcode: str) -> Json:
    """Choose a colour for something, such as ``course_5``."""
    chosen, color = store.preferences.own(user_id, "colors"), _COLOR.fullmatch(hexcode)
    if color is None:
        raise Invalid("Invalid Hexcode Provided")
    _check_asset(store, asset)
    store.preferences.keep(user_id, "colors", chosen | {asset: f"#{color.group(1)}"})
    return {"hexcode": f"#{color.group(1)}"}


def _check_asset(store: CanvasStore, asset: str) -> None:
    kind = _ASSET.fullmatch(asset)
    if kind is None:
        raise NotFound("The specified resource does not exist.")
    if kind.group(1) == "course":
        store.reading(int(kind.group(2)))


@api.get("/users/{user_id}/dashboard_positions")
def list_positions(store: CanvasStore, user_id: UserId) -> Json:
    """Return a user's order of course cards."""
    return {"dashboard_positions": store.preferences.own(user_id, "dashboard_positions")}


@api.put("/users/{user_id}/dashboard_positions")
def set_positions(store: CanvasStore, user_id: UserId, dashboard_positions: dict[str, Any]) -> Json:
    """Put the cards of courses somewhere."""
    kept = store.preferences.own(user_id, "dashboard_positions")
    for asset, position in dashboard_positions.items():
        _check_asset(store, asset)
        if not re.fullmatch("-?[0-9]{1,9}", str(position)):
            raise Invalid(f"Position {str(position)[:60]} is invalid. Position must be an integer")
        kept[asset] = int(position)
    if len(kept) > _MOST_POSITIONS:
        raise Invalid(f"At most {_MOST_POSITIONS} positions.")
    store.preferences.keep(user_id, "dashboard_positions", kept)
    return {"dashboard_positions": kept}


@api.get("/users/{user_id}/settings")
def get_settings(store: CanvasStore, user_id: UserId) -> Json:
    return dict.fromkeys(_SETTINGS, False) | store.preferences.own(user_id, "settings")


@api.put("/users/{user_id}/settings")
def set_settings(store: CanvasStore, request: Request, user_id: UserId) -> Json:
    """Change settings. They have no effect on the API."""
    kept = store.preferences.own(user_id, "settings")
    for name in _SETTINGS:
        if (said := request.values.get(name)) is None:
            continue
        if str(said).lower() not in ("true", "false", "1", "0"):
            raise Invalid(f"{name} must be true or false")
        kept[name] = str(said).lower() in ("true", "1")
    store.preferences.keep(user_id, "settings", kept)
    return dict.fromkeys(_SETTINGS, False) | kept


_DATA = "/users/{user_id}/custom_data"


def _place(store: CanvasStore, request: Request) -> tuple[int, str, list[str]]:
    """Parse the user, application and path of custom data."""
    namespace = request.values.get("ns")
    if not isinstance(namespace, str) or not namespace:
        raise Invalid("invalid ns")
    scope = [part for part in request.params.get("scope", "").split("/") if part]
    return user_key(store, request.params["user_id"]), namespace, scope


@api.get(_DATA)
@api.get(f"{_DATA}/{{scope:path}}")
def get_custom_data(store: CanvasStore, request: Request) -> Json:
    """Return an application's data for a user."""
    return {"data": store.preferences.custom_data(*_place(store, request))}


@api.put(_DATA)
@api.put(f"{_DATA}/{{scope:path}}")
def set_custom_data(store: CanvasStore, request: Request) -> Reply:
    """Keep something for a user."""
    place, value = _place(store, request), _plain(request.values.get("data"))
    if value is None:
        raise Invalid("no custom_data specified")
    is_new = store.preferences.set_custom_data(*place, value)
    return Reply(orjson.dumps({"data": value}), 201 if is_new else 200)


@api.delete(_DATA)
@api.delete(f"{_DATA}/{{scope:path}}")
def delete_custom_data(store: CanvasStore, request: Request) -> Json:
    """Delete what an application keeps for a user."""
    return {"data": store.preferences.remove_custom_data(*_place(store, request))}


def _plain(value: Any) -> Any:
    """The value, all of which is taken notice of."""
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value
