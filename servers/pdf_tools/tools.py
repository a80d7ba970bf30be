"""What an agent sees of the PDF tools."""

from __future__ import annotations

from typing import Annotated

from mesocosm.servers.pdf_tools.store import MAX_MATCHES, PdfToolsStore, pages_of
from mesocosm.services.schema import About
from mesocosm.services.service import Row, Service

server = Service(
    "pdf_tools",
    PdfToolsStore,
    instructions="PDF files in the workspace. Paths may be absolute (/workspace/...) or relative to it.",
)
SearchId = Annotated[str, About("The ID that search_pdf_content returned.")]


@server.reads(long=True)
def read_pdf_pages(store: PdfToolsStore, pdf_file_path: str, start_page: int = 1, end_page: int = 1) -> str:
    """Read the text of some pages of a PDF file, at most 50 at once.

    Args:
        pdf_file_path: The file.
        start_page: The first page, from 1.
        end_page: The last page.
    """
    total, texts = store.pages(pdf_file_path, start_page, end_page)
    last = texts[-1][0]
    head = f"PDF total pages: {total}"
    parts = [f"=== Page {page} ===\n{text}" for page, text in texts if text.strip()]
    if not parts and last == end_page:
        return f"{head}\nSpecified page range ({start_page}-{end_page}) has no extractable text content."
    result = f"{head}\nExtracted page range: {start_page}-{last}\n\n" + "\n\n".join(parts)
    if last < end_page:
        result += f"\n\n[The rest does not fit into one result; continue with start_page {last + 1}.]"
    return result


@server.reads
def get_pdf_info(store: PdfToolsStore, pdf_file_path: str) -> str:
    """Show how many pages a PDF file has, and its title, author, creator and creation date.

    Args:
        pdf_file_path: The file.
    """
    total, information = store.information(pdf_file_path)
    lines = ["PDF file information:", f"Total pages: {total}"]
    if information:
        shown = ("Title", "Author", "Creator", "Creation date")
        lines += [f"{key}: {information.get(key, 'Unknown')}" for key in shown]
    return "\n".join(lines)


@server.writes(destructive=True, idempotent=True)
def merge_pdfs(store: PdfToolsStore, pdf_paths: list[str], output_path: str) -> str:
    """Put several PDF files one after the other into a new file, replacing an existing one.

    Args:
        pdf_paths: The files, in this order.
        output_path: The file to write, ending with .pdf.
    """
    total = store.merge(pdf_paths, output_path)
    return f"Successfully merged {len(pdf_paths)} PDFs into '{output_path}'\nTotal pages: {total}"


@server.writes(destructive=True, idempotent=True)
def extract_pdf_pages(
    store: PdfToolsStore, source_path: str, page_numbers: list[int], output_path: str
) -> str:
    """Write some pages of a PDF file into a new file, replacing an existing one.

    Args:
        source_path: The file to take pages from.
        page_numbers: The pages, from 1, in the order in which they shall stand.
        output_path: The file to write, ending with .pdf.
    """
    total = store.extract(source_path, page_numbers, output_path)
    return (
        f"Successfully extracted {len(page_numbers)} pages from '{source_path}' to '{output_path}'\n"
        f"Extracted pages: {page_numbers}\nSource PDF total pages: {total}"
    )


@server.writes
def search_pdf_content(store: PdfToolsStore, pdf_file_path: str, pattern: str, page_size: int = 10) -> str:
    """Search the text of a PDF file and show the first page of matches, with a search ID to see the others.

    Args:
        pdf_file_path: The file.
        pattern: A regular expression (RE2, so without lookaround); upper and lower case are the same.
        page_size: Matches per page, 1 to 50.
    """
    search = store.search(pdf_file_path, pattern, page_size)
    if search is None:
        return f"No matches found for pattern: {pattern}"
    return _matches(store, search)


@server.writes
def search_pdf_next_page(store: PdfToolsStore, search_id: SearchId) -> str:
    """Show the next page of a search's matches."""
    return _matches(store, store.turn(search_id, by=1))


@server.writes
def search_pdf_prev_page(store: PdfToolsStore, search_id: SearchId) -> str:
    """Show the previous page of a search's matches."""
    return _matches(store, store.turn(search_id, by=-1))


@server.writes(idempotent=True)
def search_pdf_go_page(store: PdfToolsStore, search_id: SearchId, page_number: int) -> str:
    """Show a certain page of a search's matches.

    Args:
        page_number: The page, from 1.
    """
    return _matches(store, store.turn(search_id, to=page_number))


@server.reads
def search_pdf_info(store: PdfToolsStore, search_id: SearchId) -> str:
    """Show what a search was for, how much it found and which page of matches is the current one."""
    search = store.search_of(search_id)
    return "\n".join(
        [
            "Search Session Information:",
            f"Search ID: {search_id}",
            f"PDF Path: {search['path']}",
            f"Pattern: {search['pattern']}",
            f"Total matches: {_total(search)}",
            f"Current page: {search['current_page']}/{pages_of(search)}",
            f"Results per page: {search['page_size']}",
            f"Last accessed: {search['accessed_at']}",
        ]
    )


def _matches(store: PdfToolsStore, search: Row) -> str:
    """The current page of a search."""
    pages = pages_of(search)
    lines = [
        f"Search ID: {search['search_id']}",
        f"Pattern: {search['pattern']}",
        f"Total matches: {_total(search)}",
        f"Page: {search['current_page']}/{pages}",
        f"Results per page: {search['page_size']}",
    ]
    for match in store.matches(search):
        lines += [
            "",
            f"Match {match['number']}:",
            f"  Page: {match['page']}",
            f'  Text: "{match["text"]}"',
            f"  Context: ...{match['before']}[{match['text']}]{match['after']}...",
        ]
    if pages > 1:
        lines += [
            "",
            "Use search_pdf_next_page, search_pdf_prev_page, or search_pdf_go_page"
            f" with search_id '{search['search_id']}' to navigate.",
        ]
    return "\n".join(lines)


def _total(search: Row) -> str:
    total = search["total"]
    return f"{total} (the search stopped there)" if total == MAX_MATCHES else str(total)
