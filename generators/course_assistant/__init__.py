"""A teaching assistant's reminders: which enrolled students have not handed in their presentation in time.

The roster is a workbook; presentations, excuses, extensions and changes to the roster came by mail.
"""

from mesocosm.generators.course_assistant.expected import Expected
from mesocosm.generators.course_assistant.filling import generate, survey
from mesocosm.generators.course_assistant.params import Params

__all__ = ["Expected", "Params", "generate", "survey"]
