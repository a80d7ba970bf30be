"""Files that people attach to their mails: real ones of their type."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Sequence
from xml.sax.saxutils import escape

from mesocosm.servers.pdf_tools.store import write_pdf

SUFFIXES = (".pdf", ".odp", ".odt")
"""Suffixes of files that can be made."""
_NAMESPACES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in (
        ("office", "office"), ("text", "text"), ("draw", "drawing"), ("svg", "svg-compatible"),
        ("presentation", "presentation"), ("manifest", "manifest"),
    )
)  # fmt: skip
_TYPES = {
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".odt": "application/vnd.oasis.opendocument.text",
}
_FRAME = 'svg:x="2cm" svg:y="2cm" svg:width="24cm" svg:height="14cm"'


def attachment(name: str, pages: Sequence[str], moment: dt.datetime) -> bytes:
    """A file with these pages of text, lines ended by newlines, of the type that its name says.

    Raises ``ValueError`` for a name that does not end in one of ``SUFFIXES``.
    """
    suffix = name[name.rfind(".") :]
    if suffix == ".pdf":
        latin = [page.encode("cp1252", "ignore").decode("cp1252") for page in pages]
        return write_pdf(latin, moment=moment, creator="Impress")
    if suffix not in _TYPES:
        raise ValueError(f"no file of the type of {name!r} can be made; known: {', '.join(SUFFIXES)}")
    return _open_document(_TYPES[suffix], _content(suffix, pages), moment)


def _content(suffix: str, pages: Sequence[str]) -> str:
    texts = ["".join(f"<text:p>{escape(line)}</text:p>" for line in page.split("\n")) for page in pages]
    if suffix == ".odt":
        body = f"<office:text>{''.join(texts)}</office:text>"
    else:
        slides = "".join(
            f'<draw:page draw:name="page{number}"><draw:frame {_FRAME}><draw:text-box>{text}</draw:text-box>'
            "</draw:frame></draw:page>"
            for number, text in enumerate(texts, start=1)
        )
        body = f"<office:presentation>{slides}</office:presentation>"
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<office:document-content {_NAMESPACES} office:version="1.3"><office:body>{body}</office:body>'
        "</office:document-content>"
    )


def _open_document(media_type: str, content: str, moment: dt.datetime) -> bytes:
    entry = '<manifest:file-entry manifest:full-path="{}" manifest:media-type="{}"/>'
    manifest = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<manifest:manifest {_NAMESPACES} manifest:version="1.3">{entry.format("/", media_type)}'
        f"{entry.format('content.xml', 'text/xml')}</manifest:manifest>"
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as package:
        # The type comes first and is not compressed: programs look for it at the start of the file.
        for name, text, way in (
            ("mimetype", media_type, zipfile.ZIP_STORED),
            ("content.xml", content, zipfile.ZIP_STORED),
            ("META-INF/manifest.xml", manifest, zipfile.ZIP_DEFLATED),
        ):
            entered = zipfile.ZipInfo(name, moment.timetuple()[:6])
            entered.compress_type = way
            package.writestr(entered, text)
    return file.getvalue()
