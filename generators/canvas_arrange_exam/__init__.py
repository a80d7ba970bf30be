"""A student's exam schedule: which finals are still to be sat, when, where and under whose eyes.

The facts are spread over announcements and syllabi of the courses on Canvas, conversations and e-mails.
"""

from __future__ import annotations

from mesocosm.generators.canvas_arrange_exam.expected import SHEET, WORKBOOK, Expected
from mesocosm.generators.canvas_arrange_exam.filling import generate
from mesocosm.generators.canvas_arrange_exam.params import Params
from mesocosm.kits.paging import mails
from mesocosm.services.calling import Tools

__all__ = ["Expected", "Params", "generate", "survey"]

_PER_PAGE = 100


def survey(tools: Tools, expected: Expected) -> None:
    """Read the workbook, the courses with announcements and syllabi, the conversations and the mails."""
    tools.call("filesystem", "list_directory", path=".")
    tools.call("excel", "read_data_from_excel", filepath=WORKBOOK, sheet_name=SHEET)
    tools.call("memory", "read_graph")
    for course in list(tools.pages("canvas", "canvas_list_courses", per_page=_PER_PAGE)):
        tools.call("canvas", "canvas_get_syllabus", course_id=course["id"])
        for _ in tools.pages(
            "canvas", "canvas_list_announcements", course_id=course["id"], per_page=_PER_PAGE
        ):
            pass
    for talk in list(tools.pages("canvas", "canvas_list_conversations", per_page=_PER_PAGE)):
        tools.call("canvas", "canvas_get_conversation", conversation_id=talk["id"])
    for _ in mails(tools):
        pass
