"""Signing in, users, accounts and reports."""

from __future__ import annotations


def test_the_health_check_names_the_user_and_no_secret(campus):
    health = campus("health_check")

    assert health == {
        "status": "ok",
        "timestamp": "2025-01-15T09:00:00Z",
        "user": {"id": 4, "name": "Student Person"},
    }


def test_login_lets_another_person_act(campus):
    answer = campus("login", login_id="Teacher@UNI.edu", password="teacher-secret")

    assert answer["user"]["id"] == 2
    assert "secret" not in str(answer)
    assert campus("get_current_user")["name"] == "Teacher Person"


def test_after_logout_nobody_is_signed_in(campus):
    campus("logout")

    assert campus("get_current_user")["logged_in"] is False
    assert campus("health_check")["user"] is None


def test_students_see_the_people_of_their_courses_with_their_addresses(campus):
    users = campus("list_users", per_page=2)

    assert [user["email"] for user in users["users"]] == ["classmate@uni.edu", "observer@uni.edu"]
    assert (users["count"], users["next_page"]) == (5, 2)


def test_the_people_of_one_course_can_be_listed(campus):
    assert campus("list_users", course_id=2)["users"][0]["id"] == 4


def test_administrators_see_everybody(campus):
    assert campus.as_("admin")("list_users")["count"] == 7


def test_the_profile_has_no_password(campus):
    profile = campus("get_user_profile")

    assert profile["login_id"] == "student@uni.edu"
    assert "password" not in profile


def test_a_profile_can_be_changed(campus):
    profile = campus("update_user_profile", name="Ann Lee", bio="Hi", time_zone="Asia/Shanghai")

    assert (profile["name"], profile["sortable_name"]) == ("Ann Lee", "Lee, Ann")
    assert campus("get_user_profile") == profile


def test_an_account_shows_its_quotas_to_administrators_only(campus):
    as_student = campus("get_account", account_id=1)
    as_admin = campus.as_("admin")("get_account", account_id=1)

    assert as_student["name"] == as_admin["name"] == "Brookfield University"
    assert "default_storage_quota_mb" in as_admin
    assert "default_storage_quota_mb" not in as_student


def test_sub_accounts_are_listed(campus):
    [account] = campus.as_("admin")("list_sub_accounts", account_id=1)

    assert (account["name"], account["parent_account_id"], account["root_account_id"]) == ("Sciences", 1, 1)


def test_account_courses_can_be_filtered_sorted_and_searched(campus):
    campus.as_("admin")

    def names(**filters):
        return [course["name"] for course in campus("list_account_courses", account_id=1, **filters)]

    assert names(sort="course_name", order="desc") == ["Ended", "Draft", "Chemistry", "Biology"]
    assert names(published=False) == ["Draft"]
    assert names(completed=True) == ["Ended"]
    assert names(search_term="chem") == ["Chemistry"]
    assert names(search_term="%%") == []
    assert names(with_enrollments=False) == []


def test_a_sub_account_has_its_own_courses_and_users(campus):
    campus.as_("admin")

    assert [c["id"] for c in campus("list_account_courses", account_id=2)] == [2]
    assert [u["id"] for u in campus("list_account_users", account_id=2)] == [4]


def test_account_users_can_be_sorted_and_searched(campus):
    campus.as_("admin")

    by_email = campus("list_account_users", account_id=1, sort="email", order="desc", per_page=1)
    found = campus("list_account_users", account_id=1, search_term="CLASSM")

    assert by_email[0]["email"] == "teacher@uni.edu"
    assert [user["id"] for user in found] == [5]


def test_an_administrator_creates_a_user_who_can_sign_in(campus):
    pseudonym = {"unique_id": "new@uni.edu", "password": "long enough"}

    user = campus.as_("admin")("create_user", account_id=1, user={"name": "New One"}, pseudonym=pseudonym)

    assert (user["id"], user["email"], user["sortable_name"]) == (8, "new@uni.edu", "One, New")
    assert "long enough" not in str(user)
    assert campus("login", login_id="new@uni.edu", password="long enough")["user"]["id"] == 8


def test_a_report_is_made_from_the_data_and_remembered(campus):
    campus.as_("admin")

    report = campus("create_account_report", account_id=1, report="unpublished_courses_csv")
    listed = {row["report"]: row["last_run"] for row in campus("get_account_reports", account_id=1)}

    assert report["preview"].splitlines()[1:] == ["3,,DRAFT-1,Draft,,,unpublished"]
    assert (report["status"], report["current_line"]) == ("complete", 1)
    assert listed["unpublished_courses_csv"]["id"] == report["id"]
    assert listed["grade_export_csv"] is None


def test_every_report_can_be_made(campus):
    campus.as_("admin")
    made = {}
    for row in campus("get_account_reports", account_id=1):
        parameters = {"users": True} if row["report"] == "provisioning_csv" else {}
        answer = campus("create_account_report", account_id=1, report=row["report"], parameters=parameters)
        made[row["report"]] = answer["current_line"]

    assert made["provisioning_csv"] == made["last_user_access_csv"] == 7
    assert made["grade_export_csv"] == 5
