"""The service itself, and the parameter types that its tools share."""

from __future__ import annotations

from typing import Annotated, Literal

from mesocosm.servers.codehost.store import CodehostStore
from mesocosm.services.schema import About, Extra, Number
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

Order = Literal["asc", "desc"]
PageNumber = Annotated[int, Extra(type="number", minimum=1), About("Page number, from 1.")]
PageSize = Annotated[
    int, Extra(type="number", minimum=1, maximum=100), About("Results per page, 1 to 100 (default 30).")
]
LineNumber = Annotated[int, Extra(type="number", minimum=1)]

Owner = Annotated[str, About("Owner of the repository.")]
Repo = Annotated[str, About("Name of the repository.")]
FilePath = Annotated[str, About("Path of the file.")]
CommitMessage = Annotated[str, About("Commit message.")]
PullNumber = Annotated[Number, About("Number of the pull request.")]
Direction = Annotated[Order, About("In which direction to sort (default desc).")]
