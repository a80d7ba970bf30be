"""The service itself, and the parameter types that its tools share."""

from __future__ import annotations

from typing import Annotated

from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.services.schema import Extra
from mesocosm.services.service import Service

server = Service(
    "codehost",
    CodehostStore,
    instructions=(
        "A code host: repositories of git objects, branches and commits, issues, pull requests with reviews,"
        " releases and search, acting as the signed-in account. Most tools take the owner (a user or an"
        " organisation) and the name of a repository."
    ),
)

PageNumber = Annotated[int, Extra(type="number", minimum=1)]
PageSize = Annotated[int, Extra(type="number", minimum=1, maximum=100)]
LineNumber = Annotated[int, Extra(type="number", minimum=1)]
