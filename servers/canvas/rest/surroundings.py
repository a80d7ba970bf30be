"""Routes around courses that clients ask for, answered as an institution without any of it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mesocosm.doors.request import Request
from mesocosm.errors import NotFound
from mesocosm.servers.canvas.rest.api import AccountId, Paged, UserId, account_key, api, reading, user_key
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.access import denied
from mesocosm.servers.canvas.tools.accounts import account_json
from mesocosm.services.schema import Json
from mesocosm.services.service import Page

_OF_COURSES = (
    *("external_tools", "grading_standards", "content_exports", "content_migrations", "outcome_group_links"),
    *("features/enabled", "custom_gradebook_columns", "blackout_dates", "live_assessments", "collaborations"),
    *("conferences", "course_pacing", "outcome_imports", "assignment_overrides", "feeds"),
    *("media_objects", "media_attachments", "blueprint_subscriptions", "lti_resource_links"),
)
_FIELDS = {
    "outcome_results": "outcome_results",
    "outcome_rollups": "rollups",
    "grading_periods": "grading_periods",
    "grading_period_sets": "grading_period_sets",
}
"""Empty, too, but as the field of an object."""
_OF_ACCOUNTS = (
    *("external_tools", "grading_standards", "content_migrations", "outcome_group_links", "features/enabled"),
    *("account_notifications", "authentication_providers", "groups", "group_categories", "sis_imports"),
    *("outcome_imports", "scopes"),
)
"""Lists that are empty: nothing of the kind can be made here."""
_ROLES = (
    "StudentEnrollment",
    "TeacherEnrollment",
    "TaEnrollment",
    "DesignerEnrollment",
    "ObserverEnrollment",
)
_FEATURES = ("new_gradebook", "quizzes_next", "rce_enhancements")


def _of_course(store: CanvasStore, request: Request) -> Json:
    course = reading(store, request.params["course_id"]).course["id"]
    return {"context_id": course, "context_type": "Course", "path": f"courses/{course}"}


def _of_account(store: CanvasStore, request: Request) -> Json:
    account = store.accounts.account(account_key(store, request.params["account_id"]))
    return {"context_id": account["id"], "context_type": "Account", "path": f"accounts/{account['id']}"}


_PLACES: Mapping[str, tuple[Callable[[CanvasStore, Request], Json], tuple[str, ...]]] = {
    "/courses/{course_id}": (_of_course, _OF_COURSES),
    "/accounts/{account_id}": (_of_account, _OF_ACCOUNTS),
}


def _serve(prefix: str, place: Callable[[CanvasStore, Request], Json], names: tuple[str, ...]) -> None:
    def nothing(store: CanvasStore, request: Request, paging: Paged) -> Page:
        """Return an empty list."""
        place(store, request)
        return Page([], *paging, 0)

    def counting(field: str) -> Callable[[CanvasStore, Request], Json]:
        def nothing_inside(store: CanvasStore, request: Request) -> Json:
            """Return an object with an empty list."""
            place(store, request)
            list(request.asked)
            return {field: []}

        return nothing_inside

    for name in names:
        api.get(f"{prefix}/{name}")(nothing)
    for name, field in _FIELDS.items():
        api.get(f"{prefix}/{name}")(counting(field))

    _serve_features(prefix, place)

    @api.get(f"{prefix}/root_outcome_group")
    def get_root_group(store: CanvasStore, request: Request) -> Json:
        """The group in which all outcomes are: none."""
        return _root_group(place(store, request))

    @api.get(f"{prefix}/outcome_groups")
    def list_outcome_groups(store: CanvasStore, request: Request, paging: Paged) -> Page:
        """The groups of outcomes: the root alone."""
        return Page([_root_group(place(store, request))], *paging, 1)


def _serve_features(prefix: str, place: Callable[[CanvasStore, Request], Json]) -> None:
    @api.get(f"{prefix}/features")
    def list_features(store: CanvasStore, request: Request, paging: Paged) -> Page:
        """Features, all of which are off."""
        where = place(store, request)
        shown = [_feature(where, name) for name in _FEATURES]
        return Page(shown, *paging, len(shown))

    @api.get(f"{prefix}/features/flags/{{feature}}")
    def get_flag(store: CanvasStore, request: Request) -> Json:
        """Return the state of a feature."""
        where = place(store, request)
        if request.params["feature"] not in _FEATURES:
            raise NotFound("The specified resource does not exist.")
        flag: Json = _feature(where, request.params["feature"])["feature_flag"]
        return flag


def _of_user(store: CanvasStore, request: Request) -> Json:
    user = store.roster.acquaintance(user_key(store, request.params["user_id"]))["id"]
    return {"context_id": user, "context_type": "User", "path": f"users/{user}"}


_serve_features("/users/{user_id}", _of_user)
for _prefix, _place in _PLACES.items():
    _serve(_prefix, *_place)


def _feature(where: Json, name: str) -> Json:
    flag = {
        "context_id": where["context_id"],
        "context_type": where["context_type"],
        "feature": name,
        "state": "off",
        "locked": True,
    }
    return {
        "feature": name,
        "name": name,
        "display_name": name.replace("_", " ").capitalize(),
        "applies_to": where["context_type"],
        "type": "setting",
        "feature_flag": flag,
    }


def _root_group(where: Json) -> Json:
    url = f"/api/v1/{where['path']}/outcome_groups/{where['context_id']}"
    return {
        "id": where["context_id"],
        "title": "ROOT",
        "url": url,
        "subgroups_url": f"{url}/subgroups",
        "outcomes_url": f"{url}/outcomes",
        "can_edit": False,
        "import_url": f"{url}/import",
        "context_id": where["context_id"],
        "context_type": where["context_type"],
        "description": None,
        "vendor_guid": None,
    }


@api.get("/accounts/{account_id}/terms")
def list_terms(store: CanvasStore, request: Request, account_id: AccountId) -> Json:
    """The terms of an account: all courses are in one."""
    store.accounts.account(account_id)
    term = {"id": 1, "name": "Default Term", "start_at": None, "end_at": None, "workflow_state": "active"}
    return {"enrollment_terms": [term]}


@api.get("/accounts/{account_id}/roles")
def list_roles(store: CanvasStore, paging: Paged, account_id: AccountId) -> Page:
    """The roles that an account knows: Canvas's own."""
    account = store.accounts.account(account_id)
    shown = [
        {
            "id": number,
            "role": name,
            "label": name.removesuffix("Enrollment"),
            "base_role_type": name,
            "account": {"id": account["id"], "name": account["name"]},
            "workflow_state": "built_in",
            "is_account_role": False,
            "permissions": {},
        }
        for number, name in enumerate(_ROLES, 1)
    ]
    return Page(shown, *paging, len(shown))


@api.get("/manageable_accounts")
@api.get("/course_accounts")
@api.get("/course_creation_accounts")
def list_manageable(store: CanvasStore, paging: Paged) -> Page:
    """The accounts in which one may make courses: those that one administers."""
    listing = store.accounts.my_accounts(paging)
    return Page([account_json(row, manage=True) for row in listing.items], *paging, listing.total)


# -- oneself ------------------------------------------------------------------------------------------------


@api.get("/users/{user_id}/communication_channels")
def list_channels(store: CanvasStore, paging: Paged, user_id: UserId) -> Page:
    """List a user's communication channels: mail only."""
    user = store.roster.acquaintance(user_id)
    if user["id"] != store.user_id:
        raise denied()
    channel = {
        "id": user["id"],
        "user_id": user["id"],
        "type": "email",
        "address": user["primary_email"],
        "position": 1,
        "workflow_state": "active",
    }
    return Page([channel] if user["primary_email"] else [], *paging, int(bool(user["primary_email"])))


_EVERYWHERE = {
    "/conferences": "conferences",
    "/account_calendars": "account_calendars",
    "/epub_exports": "courses",
    "/polls": "polls",
}


def _list_nowhere(field: str) -> Callable[[CanvasStore, Request], Json]:
    def nothing_inside(store: CanvasStore, request: Request) -> Json:
        """Return an object with an empty list."""
        list(request.asked)
        return {field: []}

    return nothing_inside


for _path, _field in _EVERYWHERE.items():
    api.get(_path)(_list_nowhere(_field))


@api.get("/appointment_groups")
@api.get("/users/self/favorites/groups")
@api.get("/users/self/bookmarks")
@api.get("/users/self/course_nicknames")
@api.get("/users/self/history")
def list_none_of_mine(store: CanvasStore, request: Request, paging: Paged) -> Page:
    """Return an empty list for the signed-in user."""
    list(request.asked)
    return Page([], *paging, 0)


@api.get("/users/{user_id}/eportfolios")
@api.get("/users/{user_id}/page_views")
@api.get("/users/{user_id}/content_exports")
@api.get("/users/{user_id}/content_migrations")
@api.get("/users/{user_id}/observees")
@api.get("/users/{user_id}/features/enabled")
def list_nothing(store: CanvasStore, paging: Paged, user_id: UserId) -> Page:
    """Return an empty list for a user."""
    store.roster.acquaintance(user_id)
    return Page([], *paging, 0)
