"""What an agent sees of the code host: the tools by topic, and the shapes of what they return."""

from mesocosm.servers.codehost.tools import (  # noqa: F401 - importing them registers the tools
    files,
    history,
    issues,
    pulls,
    repositories,
    reviews,
    searches,
)
from mesocosm.servers.codehost.tools.server import server

__all__ = ["server"]
