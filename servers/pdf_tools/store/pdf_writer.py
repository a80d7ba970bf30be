"""Making simple PDF files out of text, for generators."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache

from mesocosm.servers.pdf_tools.store.letterheads import FONTS, Letterhead, letter

WIDTH = 95
"""Characters that fit into a line, about; longer lines are wrapped."""
LINES = 60
"""Lines that fit onto a page."""

_SIZE, _LEADING, _LEFT, _TOP = 10, 12, 50, 790


def write_pdf(
    pages: Sequence[str],
    *,
    moment: datetime,
    title: str = "",
    author: str = "",
    creator: str = "Writer",
    head: Letterhead | None = None,
) -> bytes:
    """A PDF file with one page of text for each string; the same arguments give the same bytes.

    The text may hold the characters of Windows-1252 (Western European), and at most 60 lines a page after
    long lines were wrapped. With a ``head``, each page is a letter of 46 lines at most, whose lines are not
    wrapped and may have cells with tabs between them. ``ValueError`` otherwise.
    """
    if not pages:
        raise ValueError("a PDF file needs at least one page")
    date = f"D:{moment.astimezone(UTC):%Y%m%d%H%M%S}Z"
    information = {"Title": title, "Author": author, "Creator": creator, "CreationDate": date}
    entries = b" ".join(b"/" + key.encode() + _text(value) for key, value in information.items() if value)
    first = 5
    kids = " ".join(f"{first + 2 * index} 0 R" for index in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        _font("Helvetica"),
        b"<< " + entries + b" >>",
    ]
    fonts = b"/F1 3 0 R" if head is None else _all_fonts(first + 2 * len(pages))
    for index, page in enumerate(pages):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842]"
            b" /Resources << /Font << %s >> >> /Contents %d 0 R >>" % (fonts, first + 2 * index + 1)
        )
        content = _content(page) if head is None else letter(page, head, _text)
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    objects += [] if head is None else map(_font, FONTS.values())
    return _file(objects)


def _font(name: str) -> bytes:
    return f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>".encode()


def _all_fonts(first: int) -> bytes:
    """The fonts of letters by their names on a page, whose objects begin at a number."""
    return " ".join(f"/{name} {first + place} 0 R" for place, name in enumerate(FONTS)).encode()


def _content(page: str) -> bytes:
    lines = [part for line in page.split("\n") for part in _wrapped(line)]
    if len(lines) > LINES:
        raise ValueError(f"a page holds {LINES} lines, got {len(lines)}")
    shown = b"\n".join(_text(line) + b" Tj T*" for line in lines)
    return b"BT /F1 %d Tf %d TL %d %d Td\n%s\nET" % (_SIZE, _LEADING, _LEFT, _TOP, shown)


@lru_cache(maxsize=1024)
def _wrapped(line: str) -> list[str]:
    """A line as it is wrapped: the files of one world share many, and to wrap one takes long."""
    return textwrap.wrap(line, WIDTH) or [""]


def _text(text: str) -> bytes:
    try:
        data = text.encode("cp1252")
    except UnicodeEncodeError as error:
        raise ValueError(f"not a character of Windows-1252: {text[error.start]!r}") from None
    return b"(" + data.replace(b"\\", rb"\\").replace(b"(", rb"\(").replace(b")", rb"\)") + b")"


def _file(objects: Sequence[bytes]) -> bytes:
    """The objects, numbered from 1, with the table of their positions."""
    data = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    positions = []
    for number, body in enumerate(objects, start=1):
        positions.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % position for position in positions)
    data += b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R >>\n" % (len(objects) + 1)
    data += b"startxref\n%d\n%%%%EOF\n" % table
    return bytes(data)
