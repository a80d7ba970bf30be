"""The survey: everything that an agent would need to read."""

from __future__ import annotations

import datetime as dt

from mesocosm.families.family import Expected
from mesocosm.generators.set_conf_cr_ddl.expected import INFO_FILE
from mesocosm.generators.set_conf_cr_ddl.expected import Expected as Truth
from mesocosm.kits.moments import utc_stamp
from mesocosm.kits.paging import events, mails
from mesocosm.services.calling import Tools


def survey(tools: Tools, expected: Expected) -> None:
    """Read the file, the mails, and the events from two months ago to a year ahead."""
    assert isinstance(expected, Truth)
    tools.call("filesystem", "list_directory", path=".")
    tools.call("filesystem", "read_text_file", path=INFO_FILE)
    since, until = expected.now - dt.timedelta(days=60), expected.now + dt.timedelta(days=365)
    for _ in events(tools, timeMin=utc_stamp(since), timeMax=utc_stamp(until)):
        pass
    for _ in mails(tools):
        pass
