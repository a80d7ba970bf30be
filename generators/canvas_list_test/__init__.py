"""A student's lists of quizzes and assignments that are still to be done and compulsory for this student.

The facts are spread over quizzes, assignments, submissions, announcements and syllabi on Canvas, and the
student's own results, which are kept in memory.
"""

from mesocosm.generators.canvas_list_test.expected import Expected
from mesocosm.generators.canvas_list_test.filling import generate
from mesocosm.generators.canvas_list_test.params import Params
from mesocosm.generators.canvas_list_test.surveying import survey

__all__ = ["Expected", "Params", "generate", "survey"]
