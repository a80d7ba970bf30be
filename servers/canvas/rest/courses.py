"""Courses, their sections, settings and people."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypedDict

from mesocosm.errors import Invalid
from mesocosm.servers.canvas.rest.api import (
    AccountId,
    Paged,
    Reading,
    UserId,
    api,
    course_key,
    reading,
    user_key,
)
from mesocosm.servers.canvas.rest.enrollments import enrollments_view
from mesocosm.servers.canvas.store import CanvasStore, CourseAccess
from mesocosm.servers.canvas.store.access import ADDRESS, ENROLLMENT_TYPES, missing
from mesocosm.servers.canvas.tools.objects import courses_json, user_json
from mesocosm.servers.canvas.tools.service import Row, unguessable
from mesocosm.services.schema import Json
from mesocosm.services.service import Page, Paging

_ONLY_ASKED = ("teachers", "total_students")


class CourseFields(TypedDict, total=False):
    """Fields of a course from a client."""

    name: str
    course_code: str
    start_at: str
    end_at: str
    syllabus_body: str
    is_public: bool
    time_zone: str
    event: str


def courses_view(store: CanvasStore, courses: Sequence[Row], include: Collection[str] = ()) -> list[Json]:
    """Courses as the REST API gives them: what is asked for by ``include[]`` is in them, the rest is not."""
    shown = [_course(course, include) for course in courses_json(store, courses)]
    if "total_scores" in include:
        _add_scores(store, shown)
    for course, row in zip(shown, courses, strict=True):
        if "syllabus_body" in include:
            course["syllabus_body"] = store.access(row["id"]).course["syllabus_body"]
        if "sections" in include:
            course["sections"] = [{"id": row["id"], "name": row["name"], "start_at": None, "end_at": None}]
        if "term" in include:
            course["term"] = {"id": 1, "name": "Default Term", "start_at": None, "end_at": None}
        if "account" in include:
            account = store.accounts.account(row["account_id"])
            course["account"] = {name: account[name] for name in ("id", "name", "workflow_state")}
    return shown


def _course(course: Json, include: Collection[str]) -> Json:
    shown = {name: value for name, value in course.items() if name not in _ONLY_ASKED or name in include}
    feed = unguessable("feed", course["id"])
    return shown | {
        "calendar": {"ics": f"{ADDRESS}/feeds/calendars/course_{feed}.ics"},
        "blueprint": False,
        "template": False,
        "locale": None,
        "integration_id": None,
        "sis_import_id": None,
        "friendly_name": None,
    }


def _add_scores(store: CanvasStore, courses: list[Json]) -> None:
    """Put the user's own scores into the enrollments as a student."""
    keys = [{"course_id": course["id"], "user_id": store.user_id} for course in courses]
    scores = store.submissions.scores(keys)
    for course in courses:
        standing = scores[course["id"], store.user_id]
        for enrollment in course["enrollments"]:
            if enrollment["type"] == "student":
                enrollment |= {
                    "computed_current_score": standing.current,
                    "computed_final_score": standing.final,
                    "computed_current_grade": None,
                    "computed_final_grade": None,
                }


@api.get("/courses")
def list_courses(
    store: CanvasStore,
    paging: Paged,
    enrollment_type: str | None = None,
    enrollment_role: str | None = None,
    enrollment_state: str | None = None,
    state: list[str] | None = None,
    include: list[str] | None = None,
) -> Page:
    """The signed-in user's courses."""
    kind = f"{enrollment_type.title()}Enrollment" if enrollment_type else enrollment_role
    listing = store.roster.my_courses_of(paging, kind=kind, enrollment_state=enrollment_state, states=state)
    return listing.holding(courses_view(store, listing.items, include or ()))


@api.get("/users/{user_id}/courses")
def list_user_courses(
    store: CanvasStore,
    paging: Paged,
    user_id: str,
    enrollment_state: str | None = None,
    state: list[str] | None = None,
    include: list[str] | None = None,
) -> Page:
    """A user's courses: one's own."""
    if user_key(store, user_id) != store.user_id:
        raise missing("user", user_id)
    return list_courses(store, paging, enrollment_state=enrollment_state, state=state, include=include)


@api.get("/users/self/favorites/courses")
def list_favorite_courses(store: CanvasStore, paging: Paged) -> Page:
    """The courses on the dashboard: without favourites, all current ones."""
    listing = store.courses.my_courses(paging)
    return listing.holding(courses_view(store, listing.items))


@api.get("/courses/{course_id}")
def get_course(store: CanvasStore, access: Reading, include: list[str] | None = None) -> dict[str, Any]:
    return courses_view(store, [access.course], include or ())[0]


@api.get("/accounts/{account_id}/courses/{course_id}")
def get_account_course(
    store: CanvasStore, account_id: AccountId, course_id: str, include: list[str] | None = None
) -> dict[str, Any]:
    store.accounts.administered(account_id)
    return courses_view(store, [reading(store, course_id).course], include or ())[0]


@api.post("/accounts/{account_id}/courses")
def create_course(
    store: CanvasStore,
    account_id: AccountId,
    course: CourseFields | None = None,
    offer: bool = False,
) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": "Unnamed Course", **(course or {})}
    fields.pop("event", None)
    created = store.courses.create_course(account_id, fields, offer=offer)
    return courses_view(store, [created])[0]


@api.put("/courses/{course_id}")
def update_course(
    store: CanvasStore, course_id: str, course: CourseFields | None = None, offer: bool = False
) -> dict[str, Any]:
    """Change a course, publish it, take that back, conclude or delete it."""
    fields: dict[str, Any] = dict(course or {})
    event = fields.pop("event", "offer" if offer else None)
    if event not in (None, "claim", "offer", "conclude", "delete"):
        raise Invalid(f"Invalid event: {event[:40]!r}", code="event.inclusion")
    return courses_view(store, [store.courses.update_course(course_key(store, course_id), fields, event)])[0]


@api.delete("/courses/{course_id}")
def end_course(store: CanvasStore, course_id: str, event: str = "") -> dict[str, Any]:
    """Conclude or delete a course."""
    if event not in ("conclude", "delete"):
        raise Invalid("Only delete and conclude are allowed events", code="event.inclusion")
    store.courses.update_course(course_key(store, course_id), {}, event)
    return {event: True}


@api.get("/courses/{course_id}/settings")
def get_settings(store: CanvasStore, course_id: str) -> dict[str, Any]:
    """Return the settings of a course, the same for all."""
    reading(store, course_id)
    return {
        "allow_student_discussion_topics": True,
        "allow_student_forum_attachments": True,
        "allow_student_discussion_editing": True,
        "allow_student_discussion_reporting": False,
        "filter_speed_grader_by_student_group": False,
        "grading_standard_enabled": False,
        "grading_standard_id": None,
        "grade_passback_setting": None,
        "allow_student_organized_groups": True,
        "hide_final_grades": False,
        "hide_distribution_graphs": False,
        "hide_sections_on_course_users_page": False,
        "lock_all_announcements": False,
        "usage_rights_required": False,
        "restrict_student_past_view": False,
        "restrict_student_future_view": False,
        "show_announcements_on_home_page": False,
        "home_page_announcement_limit": None,
        "syllabus_course_summary": True,
        "default_due_time": "23:59:59",
    }


_TABS = ("announcements", "assignments", "discussions", "grades", "people", "pages", "files", "syllabus")


@api.get("/courses/{course_id}/tabs")
def list_tabs(store: CanvasStore, access: Reading) -> list[dict[str, Any]]:
    """The course's navigation."""
    key = access.course["id"]
    names = ["home", *_TABS, "quizzes", "modules"]
    return [
        {
            "id": name,
            "html_url": f"/courses/{key}" + ("" if name == "home" else f"/{name}"),
            "full_url": f"{ADDRESS}/courses/{key}" + ("" if name == "home" else f"/{name}"),
            "position": position,
            "visibility": "public",
            "label": name.title(),
            "type": "internal",
        }
        for position, name in enumerate(names, 1)
    ]


# -- people -----------------------------------------------------------------------------------------------


@api.get("/courses/{course_id}/users")
def list_course_users(
    store: CanvasStore,
    access: Reading,
    paging: Paged,
    search_term: str | None = None,
    sort: str | None = None,
    order: str = "asc",
    enrollment_type: list[str] | None = None,
    enrollment_role: str | None = None,
    enrollment_state: list[str] | None = None,
    user_ids: list[int] | None = None,
    include: list[str] | None = None,
) -> Page:
    """The people of a course."""
    types = [kind for name in enrollment_type or () for kind in _types(name)]
    listing = store.roster.course_users(
        access,
        paging,
        types=types or ([enrollment_role] if enrollment_role else None),
        states=enrollment_state,
        search_term=search_term,
        user_ids=user_ids,
        sort=sort,
        order=order,
    )
    return listing.holding(members_view(store, access, listing.items, include or ()))


api.get("/courses/{course_id}/search_users")(list_course_users)


@api.get("/courses/{course_id}/students")
def list_students(store: CanvasStore, access: Reading, paging: Paged) -> Page:
    return list_course_users(store, access, paging, enrollment_type=["student"])


@api.get("/courses/{course_id}/users/{user_id}")
def get_course_user(
    store: CanvasStore, access: Reading, user_id: UserId, include: list[str] | None = None
) -> dict[str, Any]:
    """One of the people of a course."""
    user = store.roster.course_user(access, user_id)
    return members_view(store, access, [user], include or ())[0]


_STAFF_ONLY = ("sis_user_id", "login_id", "last_login", "time_zone", "email")


def members_view(
    store: CanvasStore, access: CourseAccess, users: Sequence[Row], include: Collection[str] = ()
) -> list[Json]:
    """People of a course; logins and SIS ids are for its staff."""
    hidden = set() if access.staff else set(_STAFF_ONLY)
    if "email" in include:
        hidden.discard("email")
    elif "email" not in hidden:
        hidden.add("email")
    asked = "enrollments" in include
    enrollments = store.roster.enrollments_of(access, [user["id"] for user in users]) if asked else {}
    shown = []
    for user in users:
        person = {name: value for name, value in user_json(user).items() if name not in hidden}
        if asked:
            person["enrollments"] = enrollments_view(store, enrollments[user["id"]])
        if "avatar_url" in include:
            person["avatar_url"] = f"{ADDRESS}/images/messages/avatar-50.png"
        if "bio" in include:
            person["bio"] = user["bio"]
        shown.append(person)
    return shown


def _types(name: str) -> list[str]:
    """``student`` and its like as types of enrollment."""
    kind = f"{name.title()}Enrollment"
    if kind not in ENROLLMENT_TYPES:
        raise Invalid(f"Invalid enrollment_type: {name[:40]!r}", code="enrollment_type.inclusion")
    return [kind]


# -- sections: every course has one, which bears its id and name ------------------------------------------


@api.get("/courses/{course_id}/sections")
def list_sections(
    store: CanvasStore, access: Reading, include: list[str] | None = None
) -> list[dict[str, Any]]:
    return [section_view(store, access, include or ())]


@api.get("/courses/{course_id}/sections/{section_id:int}")
def get_course_section(store: CanvasStore, access: Reading, section_id: int) -> dict[str, Any]:
    if section_id != access.course["id"]:
        raise missing("section", section_id)
    return section_view(store, access)


@api.get("/sections/{section_id}")
def get_section(store: CanvasStore, section_id: str) -> dict[str, Any]:
    return section_view(store, reading(store, section_id))


def section_view(store: CanvasStore, access: CourseAccess, include: Collection[str] = ()) -> Json:
    course = access.course
    shown: Json = {
        "id": course["id"],
        "name": course["name"],
        "course_id": course["id"],
        "nonxlist_course_id": None,
        "sis_section_id": None,
        "sis_course_id": course["sis_course_id"],
        "integration_id": None,
        "start_at": None,
        "end_at": None,
        "restrict_enrollments_to_section_dates": False,
        "created_at": course["created_at"],
    }
    if "total_students" in include:
        shown["total_students"] = store.courses.student_counts([course["id"]]).get(course["id"], 0)
    if "students" in include:
        listing = store.roster.course_users(access, Paging(1, 100), types=["StudentEnrollment"])
        shown["students"] = members_view(store, access, listing.items)
    return shown
