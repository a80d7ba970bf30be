"""The survey: everything that an agent would need to read."""

from __future__ import annotations

from mesocosm.families.family import Expected
from mesocosm.generators.canvas_arrange_exam.expected import SHEET, WORKBOOK
from mesocosm.kits.paging import mails
from mesocosm.services.calling import Tools

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
