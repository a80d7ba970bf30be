"""PDF files that are read: the text of each page is extracted once, and kept for the next call."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import pypdf

from mesocosm.errors import Invalid
from mesocosm.servers.pdf_tools.store.limits import reading
from mesocosm.worlds.workspace import Content

MAX_PAGES = 10_000
MAX_PAGE_TEXT = 1_000_000
"""Characters of one page that are kept."""
CACHE_BYTES = 128 * 1024 * 1024
CACHED = 32

INFORMATION = {
    "Title": "/Title",
    "Author": "/Author",
    "Subject": "/Subject",
    "Creator": "/Creator",
    "Creation date": "/CreationDate",
}


class Document:
    """An open PDF file."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.size = len(data)
        self._texts: dict[int, str] = {}
        if not data[:1024].lstrip().startswith(b"%PDF-"):
            raise Invalid(f"{name} is not a PDF file.")
        with reading(name):
            self.reader = pypdf.PdfReader(BytesIO(data))
            if self.reader.is_encrypted:
                self.reader.decrypt("")
            self.pages = len(self.reader.pages)
        if self.pages > MAX_PAGES:
            raise Invalid(f"{name} has {self.pages:,} pages; at most {MAX_PAGES:,} can be read here.")

    @property
    def cost(self) -> int:
        """Bytes of memory that the document takes, about: pypdf keeps the objects that it has parsed."""
        return 3 * self.size + sum(map(len, self._texts.values()))

    def text(self, page: int) -> str:
        """The text of a page, from 1."""
        if page not in self._texts:
            with reading(self.name):
                text = self.reader.pages[page - 1].extract_text()[:MAX_PAGE_TEXT]
            # A damaged font can yield half of a surrogate pair, which no text may hold.
            self._texts[page] = text.encode("utf-8", "replace").decode().replace("\0", "")
        return self._texts[page]

    def information(self) -> Mapping[str, str]:
        """What the file says about itself."""
        with reading(self.name):
            metadata: Mapping[str, Any] = self.reader.metadata or {}
            values = {shown: metadata.get(key) for shown, key in INFORMATION.items()}
            texts = {shown: str(value)[:1_000] for shown, value in values.items() if value is not None}
        return {shown: text.encode("utf-8", "replace").decode() for shown, text in texts.items()}


class Documents:
    """The documents read last, by the identity of their files."""

    def __init__(self) -> None:
        self._documents: OrderedDict[tuple[int, ...], Document] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, identity: tuple[int, ...]) -> Document | None:
        """The document of that file, if it is here and the file has not changed since."""
        with self._lock:
            if identity in self._documents:
                self._documents.move_to_end(identity)
            return self._documents.get(identity)

    def add(self, content: Content, name: str) -> Document:
        """The document in these bytes; what was not used for longest is forgotten."""
        document = Document(content.data, name)
        with self._lock:
            self._documents[content.identity] = document
            while len(self._documents) > CACHED or (
                len(self._documents) > 1 and sum(d.cost for d in self._documents.values()) > CACHE_BYTES
            ):
                self._documents.popitem(last=False)
        return document
