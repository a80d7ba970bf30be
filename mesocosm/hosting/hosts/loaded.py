"""Everything that a host may need: what is forked from a process that has imported this serves at once."""

from __future__ import annotations

import mesocosm.hosting.server  # noqa: F401
from mesocosm.doors.gateway import load_api
from mesocosm.services.content import service_names
from mesocosm.services.service import load_resources, load_service

for name in service_names():
    load_service(name)
    load_api(name)
    load_resources(name)
