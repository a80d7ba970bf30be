"""Three users, a shared space with a few documents; Ada is signed in."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image, ImageDraw

from mesocosm.servers.documents.store import DocumentsStore
from mesocosm.services.world import World

ADA, BOB, CY = "ada@example.org", "bob@example.org", "cy@example.org"


def picture() -> bytes:
    """A small image that looks different from every side."""
    image = Image.new("RGB", (60, 40), "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle((3, 3, 20, 12), fill="red")
    draw.ellipse((35, 20, 50, 35), fill="blue")
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()


class Documents:
    """The tools of a documents world, called by name."""

    def __init__(self, tools: Any) -> None:
        self.tools = tools

    def __call__(self, tool: str, /, **arguments: Any) -> Any:
        return self.tools.call("documents", tool, **arguments)

    def blocks(self, tool: str, /, **arguments: Any) -> list[Any]:
        """All blocks of a result: texts, and images as bytes-like base64."""
        content: list[Any] = self.tools.result("documents", tool, arguments).content
        return content

    def sign_in(self, email: str) -> None:
        """Act for another user."""
        with self.tools.world.editing() as world:
            world.store(DocumentsStore).sign_in(email)

    def state(self) -> bytes:
        """The bytes of the database."""
        return bytes((self.tools.world.path / "documents.db").read_bytes())


def fill(world: World) -> None:
    """Users, a space of Bob's in which Ada is an editor, and one of Cy's that she cannot see."""
    store = world.store(DocumentsStore)
    for email, name in ((ADA, "Ada"), (BOB, "Bob"), (CY, "Cy")):
        store.items.create_user(email, name)
    store.sign_in(ADA)
    store.items.create_space("Research", "Papers and plans", owner=BOB, space_id="research")
    store.sharing.give("research", ADA, "editor")
    plans, papers = store.filling.add_folders("research", ["Plans/2025", "Papers"])
    store.filling.add_documents(
        plans,
        [
            {"title": "Roadmap", "file_id": "roadmap", "content": "Ship the loom.\nTest the loom.\nRest.\n"},
            {
                "title": "Minutes",
                "file_id": "v4%-7",
                "content": "Read the document v3%X.",
                "type": "markdown",
            },
        ],
    )
    html = "<h1>Weaving</h1><p>All <b>deadlines</b> moved.</p><script>var loom = 1</script>"
    store.filling.add_documents(
        papers, [{"title": "Site", "file_id": "site", "content": html, "type": "html"}]
    )
    store.filling.add_images(
        papers, [{"title": "Shapes", "file_id": "shapes", "data": picture(), "content": "Count."}]
    )
    hidden = store.items.create_space("Hidden", owner=CY, space_id="hidden")
    store.filling.add_documents(hidden, [{"title": "Secret loom", "file_id": "secret", "content": "loom"}])


@pytest.fixture
def documents(open_tools: Callable[..., Any]) -> Documents:
    return Documents(open_tools(fill, "documents"))


@pytest.fixture
def folder(documents: Documents) -> Callable[[str], str]:
    """The id of a folder of the space Research, by name."""

    def find(name: str) -> str:
        items = documents("list_folder", folder_id="research")["items"]
        return next(str(item["id"]) for item in items if item["name"] == name)

    return find
