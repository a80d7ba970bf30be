"""A student's exam schedule: which finals are still to be sat, when, where and under whose eyes.

The facts are spread over announcements and syllabi of the courses on Canvas, conversations and e-mails.
"""

from mesocosm.generators.canvas_arrange_exam.expected import Expected
from mesocosm.generators.canvas_arrange_exam.filling import generate
from mesocosm.generators.canvas_arrange_exam.params import Params
from mesocosm.generators.canvas_arrange_exam.surveying import survey

__all__ = ["Expected", "Params", "generate", "survey"]
