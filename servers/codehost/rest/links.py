"""URLs of the code host's content, relative to the URL that the client used; never stored."""

from __future__ import annotations

import base64
from urllib.parse import quote

from mesocosm.doors.request import Request
from mesocosm.services.service import Row

PREFIX = "/api/v3"
"""Path of the API of GitHub Enterprise."""


class Links:
    """Makes addresses for the answer to one request."""

    def __init__(self, request: Request) -> None:
        self.base = request.base

    def api(self, *path: object) -> str:
        """The address of something in the API."""
        return "/".join((self.base + PREFIX, *(quote(str(part), safe="/:") for part in path)))

    def web(self, *path: object) -> str:
        """The address of something's page."""
        return "/".join((self.base, *(quote(str(part), safe="/:") for part in path)))

    def repo(self, repository: Row, *path: object) -> str:
        """The address of something of a repository in the API."""
        return self.api("repos", repository["owner"], repository["name"], *path)

    def page(self, repository: Row, *path: object) -> str:
        """The address of a page of a repository."""
        return self.web(repository["owner"], repository["name"], *path)


def node_id(kind: str, identity: object) -> str:
    """The id by which something is known in the product's other API."""
    return base64.b64encode(f"0{len(kind)}:{kind}{identity}".encode()).decode()
