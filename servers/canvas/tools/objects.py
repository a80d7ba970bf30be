"""The objects of Canvas's REST API, as the tools (and the REST API) give them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from mesocosm.servers.canvas.store import CanvasStore, CourseAccess
from mesocosm.servers.canvas.store.access import Clock
from mesocosm.servers.canvas.store.assignments import ONLINE_TYPES, QUIZ_TYPE
from mesocosm.servers.canvas.store.quizzes import kept_score
from mesocosm.servers.canvas.tools.service import STORAGE_MB, Row, address, number, unguessable
from mesocosm.services.schema import Json
from mesocosm.services.shapes import same


def account_json(account: Row, *, manage: bool) -> Json:
    """An account; quotas and SIS data only for those who manage it."""
    shown: Json = {
        "id": account["id"],
        "name": account["name"],
        "uuid": unguessable("account", account["id"]),
        **same(account, "parent_account_id", "root_account_id", "default_time_zone", "workflow_state"),
    }
    if manage:
        shown |= {
            "default_storage_quota_mb": STORAGE_MB,
            "default_user_storage_quota_mb": 50,
            "default_group_storage_quota_mb": 50,
            "sis_account_id": account["sis_account_id"],
            "integration_id": None,
            "sis_import_id": None,
            "lti_guid": unguessable("lti", account["id"]),
        }
    return shown


def user_json(user: Row) -> Json:
    """A user as an administrator sees one."""
    return {
        **same(user, "id", "name", "created_at", "sortable_name", "short_name", "sis_user_id", "login_id"),
        "email": user["primary_email"],
        "last_login": user["last_login"],
        "time_zone": user["time_zone"],
    }


def profile_json(user: Row) -> Json:
    """A user's own profile."""
    return {
        **same(user, "id", "name", "short_name", "sortable_name", "login_id", "primary_email", "title"),
        "bio": user["bio"],
        "time_zone": user["time_zone"],
        "locale": None,
        "created_at": user["created_at"],
        "updated_at": user["updated_at"],
    }


ROLE_IDS = {
    "StudentEnrollment": 3,
    "TeacherEnrollment": 4,
    "TaEnrollment": 5,
    "DesignerEnrollment": 6,
    "ObserverEnrollment": 7,
}


def courses_json(store: CanvasStore, courses: Sequence[Row]) -> list[Json]:
    """Courses with their teachers and the signed-in user's enrollments."""
    ids = [course["id"] for course in courses]
    teachers, counts = store.courses.teachers_of(ids), store.courses.student_counts(ids)
    mine, root = store.courses.my_enrollments_in(ids), store.accounts.root_account_id
    return [
        course_json(course, root)
        | {
            "teachers": [teacher_json(teacher) for teacher in teachers.get(course["id"], ())],
            "total_students": counts.get(course["id"], 0),
            "enrollments": [_own_enrollment(enrollment) for enrollment in mine.get(course["id"], ())],
        }
        for course in courses
    ]


def course_json(course: Row, root_account_id: int) -> Json:
    """A course."""
    return {
        "id": course["id"],
        "account_id": course["account_id"],
        "uuid": unguessable("course", course["id"]),
        **same(course, "name", "course_code", "workflow_state", "start_at", "end_at", "created_at"),
        "time_zone": course["time_zone"],
        "sis_course_id": course["sis_course_id"],
        "root_account_id": root_account_id,
        "enrollment_term_id": 1,
        "grading_standard_id": None,
        "default_view": "modules",
        "license": "private",
        "is_public": course["is_public"],
        "public_syllabus": False,
        "public_syllabus_to_auth": False,
        "open_enrollment": False,
        "self_enrollment": False,
        "allow_wiki_comments": False,
        "allow_student_forum_attachments": True,
        "restrict_enrollments_to_course_dates": False,
        "apply_assignment_group_weights": False,
        "hide_final_grades": False,
        "storage_quota_mb": STORAGE_MB,
    }


def teacher_json(teacher: Row) -> Json:
    """A teacher, with the address at which students can write."""
    return {
        "id": teacher["id"],
        "display_name": teacher["short_name"],
        "email": teacher["primary_email"],
    }


def _own_enrollment(enrollment: Row) -> Json:
    return {
        "type": enrollment["type"].removesuffix("Enrollment").lower(),
        "role": enrollment["type"],
        "enrollment_state": enrollment["enrollment_state"],
    }


def enrollment_json(enrollment: Row) -> Json:
    """A user's enrollment in a course."""
    shown: Json = {
        **same(enrollment, "id", "user_id", "course_id", "type", "enrollment_state"),
        "role": enrollment["type"],
        "role_id": ROLE_IDS[enrollment["type"]],
        "created_at": enrollment["created_at"],
        "updated_at": enrollment["updated_at"],
    }
    if enrollment["associated_user_id"] is not None:
        shown["associated_user_id"] = enrollment["associated_user_id"]
    return shown


def assignment_json(assignment: Row, *, staff: bool, clock: Clock) -> Json:
    """An assignment; students do not see the description of one that is not open yet."""
    course_id, key = assignment["course_id"], assignment["id"]
    unopened = not staff and assignment["unlock_at"] is not None and clock() < assignment["unlock_at"]
    is_quiz = assignment["quiz_id"] is not None
    shown: Json = {
        "id": key,
        "course_id": course_id,
        "name": assignment["name"],
        "description": None if unopened else assignment["description"],
        **same(assignment, "due_at", "unlock_at", "lock_at"),
        "points_possible": number(assignment["points_possible"]),
        "grading_type": assignment["grading_type"],
        "assignment_group_id": course_id,
        "grading_standard_id": None,
        "created_at": assignment["created_at"],
        "updated_at": assignment["updated_at"],
        "peer_reviews": False,
        "automatic_peer_reviews": False,
        "position": assignment["position"],
        "grade_group_students_individually": False,
        "anonymous_peer_reviews": False,
        "group_category_id": None,
        "post_to_sis": False,
        "moderated_grading": False,
        **same(assignment, "omit_from_final_grade", "submission_types", "allowed_attempts"),
        "is_quiz_assignment": is_quiz,
        "published": assignment["published"],
        "workflow_state": "published" if assignment["published"] else "unpublished",
        "locked_for_user": not staff and locked(assignment, clock),
        "html_url": _address(assignment),
    }
    if is_quiz:
        shown["quiz_id"] = assignment["quiz_id"]
    return shown


def _address(assignment: Row) -> str:
    return f"{address()}/courses/{assignment['course_id']}/assignments/{assignment['id']}"


def locked(work: Row, clock: Clock) -> bool:
    """True if work is not open yet, or closed already."""
    opens, closes = work["unlock_at"], work["lock_at"]
    return (opens is not None and opens > clock()) or (closes is not None and closes <= clock())


def submission_json(store: CanvasStore, submission: Row, assignment: Row) -> Json:
    """A submission with its comments and what was handed in before."""
    shown = bare_submission_json(submission, assignment, lambda: store.stamp)
    if submission["id"] is not None:
        if submission["file_ids"]:
            shown["attachments"] = [
                _attachment(file) for file in store.submissions.attached_files(submission)
            ]
        shown["submission_comments"] = [
            comment_json(comment) for comment in store.submissions.comments(submission)
        ]
        if earlier := store.submissions.earlier_attempts(submission):
            shown["submission_history"] = [attempt_json(attempt, assignment) for attempt in earlier]
    return shown


def bare_submission_json(submission: Row, assignment: Row, clock: Clock) -> Json:
    """A submission alone; whether it is late or missing follows from the due date."""
    owner = submission["user_id"]
    return {
        "id": submission["id"],
        "assignment_id": submission["assignment_id"],
        "user_id": owner,
        **attempt_json(submission, assignment),
        **same(submission, "graded_at", "grader_id", "workflow_state"),
        "grade_matches_current_submission": submission["graded_at"] is None
        or submission["graded_attempt"] == submission["attempt"],
        "published_grade": submission["grade"],
        "published_score": number(submission["score"]),
        "entered_grade": submission["grade"],
        "entered_score": number(submission["score"]),
        "grading_period_id": None,
        "missing": _missing(submission, assignment, clock),
        "preview_url": f"{_address(assignment)}/submissions/{owner}?preview=1",
    }


def attempt_json(attempt: Row, assignment: Row) -> Json:
    """Work that was handed in at one time, and the grade for it."""
    due_at, submitted_at = assignment["due_at"], attempt["submitted_at"]
    late = bool(due_at and submitted_at and submitted_at > due_at)
    return {
        **same(attempt, "attempt", "submission_type", "body", "url"),
        "submitted_at": submitted_at,
        "grade": attempt["grade"],
        "score": number(attempt["score"]),
        "late": late,
        "seconds_late": _seconds_between(due_at, submitted_at) if late else 0,
    }


def _missing(submission: Row, assignment: Row, clock: Clock) -> bool:
    expected = any(kind in (*ONLINE_TYPES, QUIZ_TYPE) for kind in assignment["submission_types"])
    handed_in = submission["submitted_at"] is not None or submission["graded_at"] is not None
    return (
        expected
        and not handed_in
        and assignment["due_at"] is not None
        and bool(assignment["due_at"] < clock())
    )


def _seconds_between(start: str, end: str) -> int:
    return int((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds())


def _attachment(file: Row) -> Json:
    return {
        "id": file["id"],
        "display_name": file["display_name"],
        "content-type": file["content_type"],
        "size": file["size"],
    }


def comment_json(comment: Row) -> Json:
    """A remark on a submission."""
    return same(comment, "id", "author_id", "author_name", "comment", "created_at")


def rubric_json(rubric: Row) -> Json:
    """A rubric; the ids of its criteria and ratings follow from their order."""
    criteria = [
        {
            "id": f"_{rubric['id']}_{n}",
            **criterion,
            "points": number(criterion["points"]),
            "ratings": [
                {"id": f"_{rubric['id']}_{n}_{m}", **rating, "points": number(rating["points"])}
                for m, rating in enumerate(criterion["ratings"], 1)
            ],
        }
        for n, criterion in enumerate(rubric["criteria"], 1)
    ]
    return {
        "id": rubric["id"],
        "context_id": rubric["course_id"],
        "context_type": "Course",
        "title": rubric["title"],
        "description": rubric["description"],
        "points_possible": number(sum(criterion["points"] for criterion in rubric["criteria"])),
        "free_form_criterion_comments": rubric["free_form_criterion_comments"],
        "hide_score_total": rubric["hide_score_total"],
        "criteria": criteria,
    }


def _page(quiz: Row) -> str:
    return f"{address()}/courses/{quiz['course_id']}/quizzes/{quiz['id']}"


def quiz_json(quiz: Row, access: CourseAccess) -> Json:
    """A quiz without its questions; the access code is for the course's staff."""
    shown: Json = {
        **same(quiz, "id", "course_id", "title", "description", "quiz_type", "time_limit", "due_at"),
        **same(quiz, "unlock_at", "lock_at", "published", "question_count"),
        "points_possible": number(quiz["points_possible"]),
        **same(quiz, "allowed_attempts", "scoring_policy", "shuffle_answers", "show_correct_answers"),
        "assignment_id": quiz["assignment_id"],
        "has_access_code": quiz["access_code"] is not None,
        "locked_for_user": not access.staff and locked(quiz, access.clock),
        "html_url": _page(quiz),
    }
    return shown | ({"access_code": quiz["access_code"]} if access.staff else {})


def question_json(question: Row, *, staff: bool) -> Json:
    """A question; which answers are right is for the course's staff."""
    hidden = () if staff else ("answer_weight", "answer_comments")
    answers = [{k: v for k, v in answer.items() if k not in hidden} for answer in question["answers"]]
    return {
        **same(question, "id", "quiz_id", "position", "question_name", "question_text", "question_type"),
        "points_possible": number(question["points_possible"]),
        # The answers of these are the key itself, not a choice.
        "answers": answers if staff or question["question_type"] not in _UNLISTED else [],
    }


_UNLISTED = (
    "calculated_question",
    "essay_question",
    "fill_in_multiple_blanks_question",
    "matching_question",
    "numerical_question",
    "short_answer_question",
)


def quiz_submission_json(attempt: Row, attempts: Sequence[Row], quiz: Row) -> Json:
    """An attempt at a quiz."""
    scores = [other["score"] for other in attempts if other["score"] is not None]
    allowed = quiz["allowed_attempts"]
    return {
        **same(attempt, "id", "quiz_id", "user_id", "attempt", "started_at", "end_at", "finished_at"),
        "workflow_state": attempt["workflow_state"],
        "score": number(attempt["score"]),
        "kept_score": number(kept_score(quiz["scoring_policy"], scores)),
        "quiz_points_possible": number(quiz["points_possible"]),
        "attempts_left": -1 if allowed < 0 else allowed - len(attempts),
        "html_url": f"{_page(quiz)}/submissions/{attempt['id']}",
    }


def modules_json(store: CanvasStore, access: CourseAccess, modules: Sequence[Row]) -> list[Json]:
    """Modules with the number of their items and the user's progress."""
    counts = store.modules.item_counts(access, [module["id"] for module in modules])
    states = store.modules.states(access, modules)
    return [_module(module, counts.get(module["id"], 0), states[module["id"]]) for module in modules]


def _module(module: Row, items: int, state: str) -> Json:
    course_id, key = module["course_id"], module["id"]
    return {
        "id": key,
        "course_id": course_id,
        **same(module, "name", "position", "unlock_at", "require_sequential_progress"),
        "prerequisite_module_ids": module["prerequisite_module_ids"],
        "published": module["published"],
        "items_count": items,
        "items_url": f"{address()}/api/v1/courses/{course_id}/modules/{key}/items",
        "state": state,
    }


def module_item_json(item: Row, course_id: int) -> Json:
    """An item of a module."""
    shown: Json = {
        **same(item, "id", "module_id", "title", "type", "content_id"),
        "html_url": f"{address()}/courses/{course_id}/modules/items/{item['id']}",
        "url": _item_url(item, course_id),
        **same(item, "position", "indent", "published"),
        "completed": bool(item["completed"]),
    }
    if item["page_url"] is not None:
        shown["page_url"] = item["page_url"]
    if item["external_url"] is not None:
        shown["external_url"] = item["external_url"]
    return shown


_ITEM_PATHS = {
    "Assignment": "assignments",
    "Quiz": "quizzes",
    "File": "files",
    "Page": "pages",
    "Discussion": "discussion_topics",
}


def _item_url(item: Row, course_id: int) -> str | None:
    if item["type"] not in _ITEM_PATHS:
        return None
    target = item["page_url"] or item["content_id"]
    return f"{address()}/api/v1/courses/{course_id}/{_ITEM_PATHS[item['type']]}/{target}"


def page_json(page: Row) -> Json:
    """A page without its body."""
    return {
        "page_id": page["id"],
        **same(page, "url", "title", "published", "front_page"),
        "editing_roles": "teachers",
        "created_at": page["created_at"],
        "updated_at": page["updated_at"],
        "html_url": f"{address()}/courses/{page['course_id']}/pages/{page['url']}",
    }


def full_page_json(page: Row) -> Json:
    """A page with its body and its last editor."""
    editor = page["last_edited_by"]
    shown_editor = None if editor is None else {"id": editor, "display_name": page["editor_name"]}
    return page_json(page) | {"last_edited_by": shown_editor, "body": page["body"]}


def folder_json(folder: Row) -> Json:
    """A folder of a course's files."""
    return {
        "id": folder["id"],
        "context_type": "Course",
        "context_id": folder["course_id"],
        **same(folder, "parent_folder_id", "name", "full_name", "hidden", "created_at", "updated_at"),
        "files_url": f"{address()}/api/v1/folders/{folder['id']}/files",
    }


def file_json(file: Row) -> Json:
    """The record of a file."""
    return {
        **same(file, "id", "folder_id", "display_name"),
        "filename": file["display_name"].replace(" ", "+"),
        "content-type": file["content_type"],
        "size": file["size"],
        "url": f"{address()}/files/{file['id']}/download?download_frd=1",
        **same(file, "hidden", "locked", "created_at", "updated_at"),
    }


def announcement_json(topic: Row) -> Json:
    """An announcement."""
    page = f"{address()}/courses/{topic['course_id']}/discussion_topics/{topic['id']}"
    return {
        **same(topic, "id", "course_id", "title", "message", "posted_at"),
        "author": {"id": topic["user_id"], "display_name": topic["author_name"]},
        "url": page,
        "html_url": page,
    }


def topic_json(topic: Row) -> Json:
    """A discussion."""
    return announcement_json(topic) | {
        "last_reply_at": topic["last_reply_at"],
        "discussion_subentry_count": topic["entries"],
        "require_initial_post": topic["require_initial_post"],
        "discussion_type": "threaded",
        **same(topic, "is_announcement", "published", "pinned", "locked"),
    }


def entry_json(entry: Row) -> Json:
    """A post in a discussion."""
    return {
        **same(entry, "id", "topic_id", "user_id", "user_name", "parent_id", "message", "created_at"),
        "updated_at": entry["updated_at"],
    }


def conversations_json(store: CanvasStore, conversations: Sequence[Row]) -> list[Json]:
    """Conversations with their participants, without their messages."""
    people = store.conversations.participants([conversation["id"] for conversation in conversations])
    return [_conversation(conversation, people[conversation["id"]]) for conversation in conversations]


def _conversation(conversation: Row, people: Iterable[Row]) -> Json:
    return {
        **same(conversation, "id", "subject", "workflow_state"),
        "last_message": conversation["last_message"][:100],
        **same(conversation, "last_message_at", "message_count", "private", "starred"),
        "context_code": f"course_{conversation['course_id']}" if conversation["course_id"] else None,
        "participants": [{"id": p["id"], "name": p["short_name"], "full_name": p["name"]} for p in people],
    }


def message_json(message: Row) -> Json:
    """A message of a conversation."""
    return same(message, "id", "created_at", "body", "author_id")


def event_json(event: Row) -> Json:
    """An event of a calendar."""
    course_id = event["course_id"]
    return {
        **same(event, "id", "title", "description", "start_at", "end_at", "all_day", "location_name"),
        "context_code": f"course_{course_id}" if course_id else f"user_{event['user_id']}",
        "workflow_state": "active",
        "html_url": f"{address()}/calendar?event_id={event['id']}",
    }
