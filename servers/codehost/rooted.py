"""gh can only be configured with a host: its API is at ``https://HOST/api``, git beside it.

The token is the episode's id: ``GH_HOST`` names the server, ``GH_ENTERPRISE_TOKEN`` the episode.
"""

# gh can be given a host and no path (decision 090).

from __future__ import annotations

import re

from mesocosm.doors.rooted import RootedByToken

rooted = RootedByToken(
    service="codehost",
    paths=re.compile(r"/api/(?:v3(?:/.*)?|graphql)|/[^/]+/[^/]+/(?:info/refs|git-(?:upload|receive)-pack)"),
    schemes=("token", "bearer"),
    refused={
        "message": "Bad credentials",
        "documentation_url": "https://docs.github.com/rest",
        "status": "401",
    },
    challenge='Basic realm="GitHub"',
)
