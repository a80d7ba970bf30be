"""GitHub's REST API (below ``/api/v3``, as a GitHub of one's own has it) and git over HTTP."""

from mesocosm.servers.codehost.rest import (  # noqa: F401 - importing them registers the routes
    absent,
    accounts,
    administration,
    contents,
    graphql,
    history,
    issues,
    labels,
    pages,
    pulls,
    releases,
    searches,
    smart_http,
    teams,
)
from mesocosm.servers.codehost.rest.api import api

operations = api.operations

__all__ = ["api", "operations"]
