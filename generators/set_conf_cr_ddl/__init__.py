"""Camera-ready deadlines: which papers of a research group still need a reminder in the calendar, and when.

The submissions are listed in a file; what became of them, and which deadline is valid, stands in the mailbox.
"""

from __future__ import annotations

import datetime as dt

from mesocosm.generators.set_conf_cr_ddl.expected import INFO_FILE, Expected
from mesocosm.generators.set_conf_cr_ddl.filling import generate
from mesocosm.generators.set_conf_cr_ddl.params import Params
from mesocosm.kits.moments import utc_stamp
from mesocosm.kits.paging import events, mails
from mesocosm.services.calling import Tools

__all__ = ["Expected", "Params", "generate", "survey"]


def survey(tools: Tools, expected: Expected) -> None:
    """Read the file, the mails, and the events from two months ago to a year ahead."""
    tools.call("filesystem", "list_directory", path=".")
    tools.call("filesystem", "read_text_file", path=INFO_FILE)
    since, until = expected.now - dt.timedelta(days=60), expected.now + dt.timedelta(days=365)
    for _ in events(tools, timeMin=utc_stamp(since), timeMax=utc_stamp(until)):
        pass
    for _ in mails(tools):
        pass
