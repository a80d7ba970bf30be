"""A student's lists of quizzes and assignments that are still to be done and compulsory for this student.

The facts are spread over quizzes, assignments, submissions, announcements and syllabi on Canvas, and the
student's own results, which are kept in memory.
"""

from __future__ import annotations

from mesocosm.generators.canvas_list_test.expected import ASSIGNMENT_FILE, QUIZ_FILE, Expected
from mesocosm.generators.canvas_list_test.filling import generate
from mesocosm.generators.canvas_list_test.params import Params
from mesocosm.services.calling import Tools

__all__ = ["Expected", "Params", "generate", "survey"]

_PER_PAGE = 20


def survey(tools: Tools, expected: Expected) -> None:
    """Read the files, the memory, the courses with all their lists, and the submissions that decide."""
    tools.call("filesystem", "list_directory", path=".")
    for name in (QUIZ_FILE, ASSIGNMENT_FILE):
        tools.call("filesystem", "read_text_file", path=name)
    page: int | None = 1
    while page:
        page = tools.call("memory", "read_graph", page=page).get("next_page")
    for course in list(tools.pages("canvas", "canvas_list_courses", per_page=_PER_PAGE)):
        if all(part["type"] != "student" for part in course["enrollments"]):
            continue
        tools.call("canvas", "canvas_get_syllabus", course_id=course["id"])
        for tool in ("announcements", "quizzes", "assignments"):
            for _ in tools.pages("canvas", f"canvas_list_{tool}", course_id=course["id"], per_page=_PER_PAGE):
                pass
    for course_id, assignment_id in expected.looked_up:
        tools.call("canvas", "canvas_get_submission", course_id=course_id, assignment_id=assignment_id)
