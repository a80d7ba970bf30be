"""``canvasapi`` on what lies around courses: tools, features, standards, outcomes, accounts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import requests
from campus import fill_campus
from canvasapi import Canvas
from canvasapi.exceptions import BadRequest, Forbidden, ResourceDoesNotExist
from patience import PATIENCE
from rest.hosted import HostedWorld

pytestmark = pytest.mark.filterwarnings("ignore:Canvas may respond unexpectedly:UserWarning")


@pytest.fixture
def hosted(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    return episode_of(["canvas"], fill_campus)


@pytest.fixture
def canvas(hosted: HostedWorld) -> Canvas:
    return Canvas(hosted.api("canvas"), hosted.id)


def test_what_a_course_has_none_of_is_an_empty_list(canvas: Canvas) -> None:
    course = canvas.get_course(1)
    for listed in (
        course.get_external_tools(),
        course.get_grading_standards(),
        course.get_content_exports(),
        course.get_content_migrations(),
        course.get_all_outcome_links_in_context(),
    ):
        assert list(listed) == []
    assert course.get_root_outcome_group().title == "ROOT"
    assert [group.id for group in course.get_outcome_groups_in_context()] == [course.id]
    features = list(course.get_features())
    assert features
    assert {feature.feature_flag["state"] for feature in features} == {"off"}
    with pytest.raises(ResourceDoesNotExist):
        list(canvas.get_course(999).get_external_tools())


def test_what_an_account_has(canvas: Canvas) -> None:
    account = canvas.get_account(1)
    assert [term.name for term in account.get_enrollment_terms()] == ["Default Term"]
    assert "TeacherEnrollment" in {role.role for role in account.get_roles()}
    assert list(account.get_external_tools()) == []
    assert list(account.get_grading_standards()) == []
    assert list(canvas.get_course_accounts()) is not None


def test_what_one_has_set_oneself(canvas: Canvas, hosted: HostedWorld) -> None:
    me = canvas.get_current_user()
    assert me.get_colors()["custom_colors"] == {}
    assert list(me.get_content_exports()) == []
    assert [one.name for one in me.get_features()]
    assert me.update_color("course_1", "#aBc")["hexcode"] == "#aBc"
    assert me.get_color("course_1")["hexcode"] == me.get_colors()["custom_colors"]["course_1"] == "#aBc"
    with pytest.raises(BadRequest, match="Hexcode"):
        me.update_color("course_1", "red")
    with pytest.raises(ResourceDoesNotExist):
        me.update_color("course_999", "#123456")
    assert me.update_settings(manual_mark_as_read=True)["manual_mark_as_read"] is True
    api, headers = f"{hosted.api('canvas')}/api/v1/users/self", {"Authorization": f"Bearer {hosted.id}"}

    def data(method: str, scope: str = "", **sent: Any) -> tuple[int, Any]:
        url = f"{api}/custom_data{scope}?ns=org.example"
        answer = requests.request(method, url, headers=headers, json=sent or None, timeout=PATIENCE)
        return answer.status_code, answer.json().get("data")

    assert data("GET")[0] == 404
    assert data("PUT", data={"food": {"soup": "leek"}, "n": 1}) == (201, {"food": {"soup": "leek"}, "n": 1})
    assert data("PUT", "/food/soup", data="fish") == (200, "fish")
    assert data("PUT", "/food/soup/hot", data=True)[0] == 409
    assert data("PUT", "/deep" * 300, data=1)[0] == 400
    assert data("GET", "/food") == (200, {"soup": "fish"})
    assert data("DELETE", "/food/soup") == (200, "fish")
    assert data("GET") == (200, {"n": 1})
    put = requests.put(
        f"{api}/dashboard_positions", {"dashboard_positions[course_1]": 2}, headers=headers, timeout=PATIENCE
    )
    assert put.json() == {"dashboard_positions": {"course_1": 2}}


def test_what_programs_of_students_ask_for(canvas: Canvas, hosted: HostedWorld) -> None:
    me, course = canvas.get_current_user(), canvas.get_course(1)
    channels = list(me.get_communication_channels())
    assert [(one.type, one.user_id) for one in channels] == [("email", me.id)]
    with pytest.raises(Forbidden):
        list(
            canvas.get_user(
                next(one.id for one in course.get_users() if one.id != me.id)
            ).get_communication_channels()
        )
    assert list(canvas.get_appointment_groups()) == list(me.get_bookmarks()) == []
    assert list(canvas.get_course_nicknames()) == []
    headers = {"Authorization": f"Bearer {hosted.id}"}
    api = f"{hosted.api('canvas')}/api/v1"
    whole = requests.get(f"{api}/users/self/activity_stream", headers=headers, timeout=PATIENCE).json()
    there = requests.get(f"{api}/courses/1/activity_stream", headers=headers, timeout=PATIENCE).json()
    assert there == [entry for entry in whole if entry["course_id"] == 1]
    periods = requests.get(f"{api}/courses/1/grading_periods", headers=headers, timeout=PATIENCE).json()
    assert periods == {"grading_periods": []}
    todo = list(canvas.get_todo_items())
    counted = requests.get(f"{api}/users/self/todo_item_count", headers=headers, timeout=PATIENCE).json()
    assert counted["assignments_needing_submitting"] == sum(one.type == "submitting" for one in todo)
