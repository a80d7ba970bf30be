"""Snowflake's connectors can only be configured with an account, i.e. a host.

The password with which they sign in is the episode's id; from then on their session's token says it:
``Snowflake Token="EPISODE.SESSION"`` at ``/queries/...`` is a request to
``/e/EPISODE/snowflake/SESSION/queries/...``.
"""

from __future__ import annotations

import re

from mesocosm.doors.rooted import Rooted

rooted = Rooted(
    service="snowflake",
    paths=re.compile(
        r"/(?:session(?:/v1/login-request|/heartbeat|/token-request)?|queries/(?:v1/\w+-request|[\w-]+/result)"
        r"|telemetry/send|monitoring/queries/[\w-]+)"
    ),
    login="/session/v1/login-request",
    passwords=("PASSWORD", "TOKEN"),
    keeps=("LOGIN_NAME", "ACCOUNT_NAME", "CLIENT_APP_ID", "CLIENT_APP_VERSION", "SESSION_PARAMETERS"),
    token=re.compile(r'Snowflake Token="([\w-]+)\.(\d+)"'),
    authorization='Snowflake Token="{}"',
    refused={
        "data": {
            "nextAction": "RETRY_LOGIN",
            "authnMethod": "USERNAME_PASSWORD",
            "signInOptions": {},
        },
        "code": "390100",
        "message": "Incorrect username or password was specified. The password is the id of the episode.",
        "success": False,
        "headers": None,
    },
)
