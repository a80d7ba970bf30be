"""An applicant's replies from professors: who asks for application material, and what exactly is to be sent.

The material is a folder of PDF files; requests, corrections and refusals came by mail; who the applicant is
stands in the memory.
"""

from mesocosm.generators.apply_phd_email.expected import Expected
from mesocosm.generators.apply_phd_email.filling import generate, survey
from mesocosm.generators.apply_phd_email.params import Params

__all__ = ["Expected", "Params", "generate", "survey"]
