"""The rules of the PDF tools: text of pages, merging and extracting, searches with pages of matches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from time import monotonic, perf_counter
from typing import Any

import pypdf
from sqlalchemy import bindparam, delete, insert, select, update

from mesocosm.errors import Conflict, Denied, Invalid, NotFound
from mesocosm.servers.pdf_tools.models import Base, Match, Search
from mesocosm.servers.pdf_tools.store.documents import Document, Documents
from mesocosm.servers.pdf_tools.store.limits import SECONDS, reading
from mesocosm.servers.pdf_tools.store.pdf_writer import write_pdf
from mesocosm.services.apart import apart
from mesocosm.services.patterns import BadPattern, Pattern
from mesocosm.services.service import Row, Store
from mesocosm.worlds import deadlines

__all__ = ["PdfToolsStore", "write_pdf"]

MAX_PAGES_READ = 50
MAX_TEXT = 100_000
"""Characters of text that one result may hold."""
MAX_FILES = 500
MAX_MERGED_PAGES = 10_000
MAX_PATTERN = 1_000
MAX_PAGE_SIZE = 50
MAX_MATCHES = 2_000
MAX_MATCH_TEXT = 1_000
CONTEXT = 100
"""Characters shown on each side of a match."""
KEPT_SEARCHES = 100

_DOCUMENTS = Documents()
_apart = apart(lambda _: True)  # what a small file unfolds to is not known before it is read

_SEARCH = select(*Search.__table__.c).where(Search.search_id == bindparam("search_id"))
_MATCHES = (
    select(Match.number, Match.page, Match.text, Match.before, Match.after)
    .where(Match.search == bindparam("search"))
    .order_by(Match.number)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)


class PdfToolsStore(Store):
    """PDF files of the workspace."""

    metadata = Base.metadata

    # -- reading ----------------------------------------------------------------------------------------

    def document(self, path: str) -> Document:
        """The PDF file of that name."""
        if path.lower().startswith(("http://", "https://")):
            raise Denied("There is no network here: only files of the workspace can be read.")
        document = _DOCUMENTS.find(self.workspace.identity(path))
        return document or _DOCUMENTS.add(self.workspace.content(path), path)

    @_apart
    def pages(self, path: str, first: int, last: int) -> tuple[int, Sequence[tuple[int, str]]]:
        """The number of pages, and the text of some: as many as fit into a result, but at least one."""
        document = self.document(path)
        self._check_page(first, "start_page", document)
        self._check_page(last, "end_page", document)
        if last < first:
            raise Invalid(f"end_page ({last}) is before start_page ({first}).")
        if last - first >= MAX_PAGES_READ:
            raise Invalid(f"At most {MAX_PAGES_READ} pages can be read at once, got {last - first + 1}.")
        texts: list[tuple[int, str]] = []
        left = MAX_TEXT
        for page in range(first, last + 1):
            text = document.text(page)
            left -= len(text)
            if left < 0 and texts:
                break
            texts.append((page, text[:MAX_TEXT]))
        return document.pages, texts

    def _check_page(self, page: int, what: str, document: Document) -> None:
        if not 1 <= page <= document.pages:
            raise Invalid(f"{what} must be between 1 and {document.pages}, got {page}.")

    @_apart
    def information(self, path: str) -> tuple[int, Mapping[str, str]]:
        """Return the number of pages and the file's metadata."""
        document = self.document(path)
        return document.pages, document.information()

    # -- writing files ----------------------------------------------------------------------------------

    @_apart
    def merge(self, paths: Sequence[str], output: str) -> int:
        """Put files one after the other into a new one; returns its number of pages."""
        if not 1 <= len(paths) <= MAX_FILES:
            raise Invalid(f"pdf_paths must name 1 to {MAX_FILES} files, got {len(paths)}.")
        documents = [self.document(path) for path in paths]
        total = sum(document.pages for document in documents)
        if total > MAX_MERGED_PAGES:
            raise Invalid(
                f"The files have {total:,} pages together; at most {MAX_MERGED_PAGES:,} can be merged."
            )
        writer = pypdf.PdfWriter()
        for document in documents:
            with reading(document.name):
                writer.append(document.reader, import_outline=False)
        self._save(writer, output)
        return total

    @_apart
    def extract(self, path: str, pages: Sequence[int], output: str) -> int:
        """Write some pages of a file, in the given order, into a new one; returns how many the file has."""
        document = self.document(path)
        if not 1 <= len(pages) <= MAX_MERGED_PAGES:
            raise Invalid(f"page_numbers must hold 1 to {MAX_MERGED_PAGES:,} pages, got {len(pages)}.")
        for page in pages:
            self._check_page(page, "page_numbers", document)
        writer = pypdf.PdfWriter()
        with reading(document.name):
            for page in pages:
                writer.add_page(document.reader.pages[page - 1])
        self._save(writer, output)
        return document.pages

    def _save(self, writer: pypdf.PdfWriter, output: str) -> None:
        if output.lower().startswith(("http://", "https://")):
            raise Invalid("Output path cannot be a URL, must be a local file path")
        if not output.lower().endswith(".pdf"):
            raise Invalid(f"The name of a PDF file must end with .pdf, got {output}.")
        buffer = BytesIO()
        with reading(output):
            writer.write(buffer)
        self.workspace.write(output, buffer.getvalue(), self.now)

    # -- searching --------------------------------------------------------------------------------------

    def search(self, path: str, pattern: str, page_size: int) -> Row | None:
        """Find a regular expression in the text of all pages; the matches are kept to be paged through."""
        if not 1 <= page_size <= MAX_PAGE_SIZE:
            raise Invalid(f"page_size must be between 1 and {MAX_PAGE_SIZE}, got {page_size}.")
        _compiled(pattern)
        rows = self.found(path, pattern)
        if not rows:
            return None
        number = self.session.execute(
            insert(Search)
            .values(
                search_id="",
                path=self.workspace.shown(self.workspace.resolve(path)),
                pattern=pattern,
                page_size=page_size,
                current_page=1,
                total=len(rows),
                accessed_at=self._timestamp(),
            )
            .returning(Search.id)
        ).scalar_one()
        search_id = hashlib.sha256(f"search {number}".encode()).hexdigest()[:8]
        self.session.execute(update(Search).where(Search.id == number).values(search_id=search_id))
        self.session.execute(insert(Match), [row | {"search": number} for row in rows])
        self.session.execute(delete(Search).where(Search.id <= number - KEPT_SEARCHES))
        return self.search_of(search_id)

    @_apart
    def found(self, path: str, pattern: str) -> list[dict[str, Any]]:
        """Return the rows of the table of matches."""
        return _found(_compiled(pattern), self.document(path))

    def search_of(self, search_id: str) -> Row:
        """A search by the id that the agent knows."""
        rows = self.fetch(_SEARCH, search_id=search_id)
        if not rows:
            raise NotFound(f"Search session '{search_id}' not found or expired")
        return rows[0]

    def turn(self, search_id: str, *, by: int = 0, to: int | None = None) -> Row:
        """Go to another page of a search's matches, by a step or to a number."""
        search = self.search_of(search_id)
        last = pages_of(search)
        page = search["current_page"] + by if to is None else to
        if not 1 <= page <= last:
            if to is not None:
                raise Invalid(f"Page number {page} is out of range (1-{last})")
            end = "first" if by < 0 else "last"
            raise Conflict(f"Already on {end} page ({search['current_page']}/{last})")
        self.session.execute(
            update(Search)
            .where(Search.id == search["id"])
            .values(current_page=page, accessed_at=self._timestamp())
        )
        return self.search_of(search_id)

    def matches(self, search: Row) -> Sequence[Row]:
        """The matches on the current page of a search."""
        size = search["page_size"]
        return self.fetch(
            _MATCHES, search=search["id"], limit=size, offset=(search["current_page"] - 1) * size
        )

    def _timestamp(self) -> str:
        return self.now.strftime("%Y-%m-%dT%H:%M:%SZ")


def pages_of(search: Row) -> int:
    """Number of pages of a search's matches."""
    return int(-(-search["total"] // search["page_size"]))


def _compiled(pattern: str) -> Pattern:
    if not pattern or len(pattern) > MAX_PATTERN:
        raise Invalid(f"pattern must have 1 to {MAX_PATTERN:,} characters.")
    try:
        return Pattern(pattern, flags="im")
    except BadPattern as error:
        raise Invalid(f"Invalid regex pattern {pattern!r:.200}: {error}") from None


def _found(expression: Pattern, document: Document) -> list[dict[str, Any]]:
    """Search a document for the table of matches, up to a maximum."""
    until = deadlines.moment()
    deadline = monotonic() + (SECONDS if until is None else min(SECONDS, until - perf_counter()))
    rows: list[dict[str, Any]] = []
    for page, start, end, text in _places(expression, document, deadline):
        rows.append(
            {
                "number": len(rows) + 1,
                "page": page,
                "text": text[start:end][:MAX_MATCH_TEXT],
                "before": text[max(0, start - CONTEXT) : start],
                "after": text[end : end + CONTEXT],
            }
        )
        if len(rows) == MAX_MATCHES:
            break
    return rows


def _places(expression: Pattern, document: Document, deadline: float) -> Iterator[tuple[int, int, int, str]]:
    """Page, start, end and page's text of every match that is not empty."""
    for page in range(1, document.pages + 1):
        _in_time(deadline)
        text = document.text(page)
        try:
            for match in expression.finditer(text):
                _in_time(deadline)
                if match.end() > match.start():
                    yield page, match.start(), match.end(), text
        except BadPattern as error:
            raise Invalid(f"Invalid regex pattern: {error}") from None


def _in_time(deadline: float) -> None:
    deadlines.check()
    if monotonic() > deadline:
        raise Invalid(
            f"The search takes more than {SECONDS:g} seconds; use a simpler pattern or a smaller file."
        )
