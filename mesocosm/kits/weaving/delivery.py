"""Reading the documents of a woven task through its tools."""

from __future__ import annotations

from mesocosm.services.calling import Tools, decode
from mesocosm.services.service import Image


def read_whole(tools: Tools, file_id: str) -> str:
    """The text of a document; where it is long, in stretches of whole lines, so that no identifier is cut."""
    return read_pictured(tools, file_id)[0]


def read_pictured(tools: Tools, file_id: str) -> tuple[str, Image | None]:
    """The text of a document in the same way, and its image if it has one."""
    stretches: list[str] = []
    image: Image | None = None
    offset: int | None = 0
    while offset is not None:
        arguments = {"file_id": file_id, "offset": offset, "unit": "lines"}
        blocks = tools.look("documents", "read_document", arguments)
        texts = [block for block in blocks if isinstance(block, str)]
        image = next((block for block in blocks if isinstance(block, Image)), None)
        stretches.append(texts[0])
        offset = decode(texts[1])["next_offset"] if len(texts) > 1 else None
    return "\n".join(stretches), image
