"""PDF files that are read: the text of each page is extracted once, and kept for the next call."""

from __future__ import annotations

import gc
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from typing import Any

import pypdf
from pypdf.generic import EncodedStreamObject

from mesocosm.errors import Invalid
from mesocosm.servers.pdf_tools.store.limits import reading
from mesocosm.worlds.workspace import FileContent

MAX_PAGES = 10_000
MAX_PAGE_TEXT = 1_000_000
"""Characters of one page that are kept."""
CACHE_BYTES = 128 * 1024 * 1024
CACHED = 32
KEPT_UNPACKED = 4 * 1024 * 1024
"""Bytes of unpacked streams up to which those of a file are kept."""
KEPT_TEXT = 64 * 1024 * 1024
"""Bytes of memory for what was read of files that may come again."""

INFORMATION = {
    "Title": "/Title",
    "Author": "/Author",
    "Subject": "/Subject",
    "Creator": "/Creator",
    "Creation date": "/CreationDate",
}


@dataclass
class _Read:
    """Parsed content of a file, shared by all files with the same bytes."""

    pages: int
    texts: dict[int, str] = field(default_factory=dict)
    information: dict[str, str] | None = None

    @property
    def cost(self) -> int:
        """Bytes of memory, about."""
        return 500 + sum(map(len, self.texts.values()))


class _AllRead:
    """Cache of parsed files by digest: worlds that are built, solved and judged in turn have the same
    files.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, tuple[_Read, int]] = OrderedDict()
        self._cost = 0
        self._lock = threading.Lock()

    def find(self, key: bytes) -> _Read | None:
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def keep(self, key: bytes, read: _Read) -> None:
        with self._lock:
            _, before = self._kept.pop(key, (read, 0))
            self._kept[key] = read, read.cost
            self._cost += read.cost - before
            while self._cost > KEPT_TEXT:
                _, (_, cost) = self._kept.popitem(last=False)
                self._cost -= cost


_ALL_READ = _AllRead()


class Document:
    """A PDF file. It is opened when something is asked that was not read before of a file of these bytes."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.size = len(data)
        self._data = data
        self._key = hashlib.blake2b(data, digest_size=16).digest()
        if not data[:1024].lstrip().startswith(b"%PDF-"):
            raise Invalid(f"{name} is not a PDF file.")
        self._read = _ALL_READ.find(self._key) or self._opened()
        if self.pages > MAX_PAGES:
            raise Invalid(f"{name} has {self.pages:,} pages; at most {MAX_PAGES:,} can be read here.")

    def _opened(self) -> _Read:
        with reading(self.name):
            return _Read(len(self.reader.pages))

    @cached_property
    def reader(self) -> pypdf.PdfReader:
        """The file, taken apart; to be asked for while ``reading``."""
        reader = pypdf.PdfReader(BytesIO(self._data))
        if reader.is_encrypted:
            reader.decrypt("")
        return reader

    @property
    def pages(self) -> int:
        return self._read.pages

    @property
    def cost(self) -> int:
        """Bytes of memory that the document takes, about: pypdf keeps the objects that it has parsed."""
        return 4 * self.size + sum(map(len, self._read.texts.values()))

    def text(self, page: int) -> str:
        """The text of a page, from 1."""
        if page not in self._read.texts:
            with reading(self.name):
                try:
                    text = self.reader.pages[page - 1].extract_text()[:MAX_PAGE_TEXT]
                finally:  # also when it takes too long here
                    self._let_go()
            # A damaged font can yield half of a surrogate pair, which no text may hold.
            self._read.texts[page] = text.encode("utf-8", "replace").decode().replace("\0", "")
            _ALL_READ.keep(self._key, self._read)
        return self._read.texts[page]

    def _let_go(self) -> None:
        """Forget unpacked streams, where they are large: pypdf keeps them, and a few packed bytes may be many
        megabytes."""
        objects = self.reader.resolved_objects.values()
        streams = [one for one in objects if isinstance(one, EncodedStreamObject)]
        unpacked = [one.decoded_self for one in streams if one.decoded_self is not None]
        if sum(len(one.get_data()) for one in unpacked) > KEPT_UNPACKED:
            for stream in streams:
                stream.decoded_self = None

    def information(self) -> Mapping[str, str]:
        """Metadata of the file."""
        if self._read.information is None:
            with reading(self.name):
                metadata: Mapping[str, Any] = self.reader.metadata or {}
                values = {shown: metadata.get(key) for shown, key in INFORMATION.items()}
                texts = {shown: str(value)[:1_000] for shown, value in values.items() if value is not None}
            said = {shown: text.encode("utf-8", "replace").decode() for shown, text in texts.items()}
            self._read.information = said
            _ALL_READ.keep(self._key, self._read)
        return self._read.information


class Documents:
    """The documents read last, by the identity of their files."""

    def __init__(self) -> None:
        self._documents: OrderedDict[tuple[int, ...], Document] = OrderedDict()
        self._added = 0
        self._lock = threading.Lock()

    def find(self, identity: tuple[int, ...]) -> Document | None:
        """The document of that file, if it is here and the file has not changed since."""
        with self._lock:
            if identity in self._documents:
                self._documents.move_to_end(identity)
            return self._documents.get(identity)

    def add(self, content: FileContent, name: str) -> Document:
        """The document in these bytes; what was not used for longest is forgotten."""
        document = Document(content.data, name)
        with self._lock:
            self._added += 1
            if self._added % CACHED == 0:
                # What pypdf takes apart refers to itself: where nobody looks for garbage, as while worlds are
                # built, it would stay for ever.
                gc.collect(0)
            self._documents[content.identity] = document
            while len(self._documents) > CACHED or (
                len(self._documents) > 1 and sum(d.cost for d in self._documents.values()) > CACHE_BYTES
            ):
                self._documents.popitem(last=False)
        return document
