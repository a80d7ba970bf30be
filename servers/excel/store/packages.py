"""Workbook files: checking, loading and saving them.

A file may come from anywhere, so it is checked before anything is built from it. Saving is deterministic: the
same workbook at the same moment of the world's clock is the same bytes, on every machine.
"""

from __future__ import annotations

import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import BytesIO
from typing import IO, Any, cast
from xml.parsers import expat

from openpyxl import Workbook, load_workbook
from openpyxl.drawing.spreadsheet_drawing import SpreadsheetDrawing
from openpyxl.packaging.manifest import Manifest
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet._writer import WorksheetWriter
from openpyxl.worksheet.cell_range import CellRange, MultiCellRange
from openpyxl.writer.excel import ExcelWriter
from PIL import Image

from mesocosm.errors import Invalid
from mesocosm.worlds import deadlines

MAX_UNPACKED = 200 * 1024 * 1024
"""Bytes of a workbook's parts, unpacked."""
MAX_PARTS = 10_000
SMALL_UNPACKED = 1024 * 1024
"""Bytes of the parts of a workbook that may be soon read."""
MAX_TAGS = 20_000_000
"""XML tags of all worksheets and strings together: about four million cells."""
MAX_OTHER_TAGS = 1_000_000
"""XML tags of all other parts together."""

MAX_TABLE = 1_000_000
"""Cells of a table, for each of which openpyxl may make an object."""

MAX_RUN = 1_000_000
"""Bytes without a tag in an XML part; a cell holds 32,767 characters."""
MAX_PIXELS = 25_000_000

EPOCH = (1980, 1, 1, 0, 0, 0)
_XML = (".xml", ".rels", ".vml")
_ENCODING = re.compile(rb"^\s*<\?xml[^>]*\bencoding\s*=\s*[\"']([^\"']*)[\"']", re.IGNORECASE)
_DOCTYPE = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_MARKUP = re.compile(rb"[\s\0\xef\xbb\xbf\xff\xfe]*(?:<|\Z)")
"""Beginning of XML; a prefix of it may still become XML."""
_PLACE = re.compile(r"[A-Z]{1,3}[0-9]{1,7}")

PARSE_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    InvalidFileException,
    LookupError,
    OSError,
    expat.ExpatError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""Exceptions of zipfile, expat, lxml or openpyxl for a damaged or hostile file."""


def save_workbook(workbook: Workbook, moment: datetime) -> bytes:
    """The workbook as the bytes of an ``.xlsx`` file, modified at ``moment``.

    What the machine's clock put into a new workbook is replaced by the moment. The parts are stored without
    compression, because compressed bytes differ between builds of zlib.
    """
    properties = workbook.properties
    properties.modified = moment.astimezone(UTC).replace(tzinfo=None, microsecond=0)
    if properties.created is None or properties.created.microsecond:
        properties.created = properties.modified
    for sheet in workbook.worksheets:
        sheet.merged_cells = _Ordered(sheet.merged_cells.ranges)
    package = _Package()
    quieten()
    _Writer(workbook, cast(zipfile.ZipFile, package)).save()
    return package.data


class _Writer(ExcelWriter):
    """Writes until the time of the call is up."""

    _archive: Any

    def write_worksheet(self, ws: Any) -> None:
        """As openpyxl does."""
        ws._drawing = SpreadsheetDrawing()
        ws._drawing.charts, ws._drawing.images = ws._charts, ws._images
        writer: Any = _SheetWriter(ws, out=BytesIO())  # no file: where this is done none is opened
        try:
            writer.write()
        finally:
            writer.close()
        ws._rels = writer._rels
        self._archive.writestr(ws.path[1:], writer.out.getvalue())
        self.manifest.append(ws)


class _SheetWriter(WorksheetWriter):
    def write_row(self, xf: Any, row: Any, row_idx: int) -> None:
        deadlines.check()
        super().write_row(xf, row, row_idx)


class PatientBytes(BytesIO):
    """Bytes that are read until the time of the call is up."""

    def read(self, size: int | None = -1, /) -> bytes:
        deadlines.check()
        return super().read(size)


class PatientPart:
    """A part that is read until the time of the call is up: a few packed bytes may be megabytes unpacked."""

    def __init__(self, part: IO[bytes]) -> None:
        self._part = part

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        deadlines.check()
        return self._part.read(size)


class _Ordered(MultiCellRange):
    """Ranges that are gone through in their order on the sheet; openpyxl keeps them in a set."""

    def __iter__(self) -> Iterator[CellRange]:
        return iter(self.sorted())


class _Package:
    """Takes the parts from openpyxl in place of a ``ZipFile`` and writes them in a fixed order."""

    def __init__(self) -> None:
        self._parts: dict[str, bytes] = {}
        self.data = b""

    def writestr(self, name: str, data: str | bytes) -> None:
        self._parts[name] = data.encode() if isinstance(data, str) else data

    def namelist(self) -> list[str]:
        return sorted(self._parts)

    def close(self) -> None:
        buffer = BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
            # The list of content types comes first: programs tell by it what kind of file this is.
            for name in sorted(self._parts, key=lambda name: (name != Manifest.path, name)):
                information = zipfile.ZipInfo(name, EPOCH)
                information.external_attr = 0o600 << 16
                information.create_system = 3
                archive.writestr(information, self._parts[name])
        self.data = buffer.getvalue()


def new_workbook(moment: datetime, sheet_name: str = "Sheet1") -> Workbook:
    """A workbook with one empty sheet."""
    workbook = Workbook()
    workbook.properties.created = moment.astimezone(UTC).replace(tzinfo=None, microsecond=0)
    sheet = workbook.active
    assert sheet is not None
    sheet.title = sheet_name
    return workbook


def load(data: bytes, name: str, *, macros: bool = False) -> Workbook:
    """The workbook in these bytes, whose package has been checked."""
    quieten()
    with damaged_as_invalid(name):
        workbook = load_workbook(PatientBytes(data), keep_vba=macros, rich_text=True)
        for sheet in workbook.worksheets:
            for table in sheet.tables.values():
                area = CellRange(table.ref)
                if area.size["rows"] * area.size["columns"] > MAX_TABLE:
                    raise Invalid(f"{name} is too large: the table '{table.displayName}' is.")
    return workbook


@contextmanager
def damaged_as_invalid(name: str) -> Iterator[None]:
    """Refuse a file that cannot be read, without the details of the libraries."""
    try:
        yield
    except PARSE_ERRORS:
        raise Invalid(f"{name} is not a valid Excel workbook, or it is damaged.") from None


def quieten() -> None:
    """Keep openpyxl's remarks about features that it drops off the console, for good.

    Not with ``catch_warnings``, which would have to be held under a lock while a large file is loaded.
    """
    warnings.filterwarnings("ignore", module=r"openpyxl\.")


def is_small(data: bytes) -> bool:
    """True if a workbook declares little content, and nothing but XML. It cannot hold more than it declares.

    Pictures are read in C by libraries with a long record of holes, so never where others' calls are served.
    """
    try:
        parts = zipfile.ZipFile(BytesIO(data)).infolist()
    except PARSE_ERRORS:
        return True  # no workbook, which is soon told
    return sum(part.file_size for part in parts) <= SMALL_UNPACKED and all(
        part.filename.lower().endswith(_XML) for part in parts
    )


def check_package(data: bytes, name: str) -> int:
    """Refuse what is no workbook, or would take too much to read; returns its number of XML tags."""
    with damaged_as_invalid(name):
        archive = zipfile.ZipFile(PatientBytes(data))
        parts = archive.infolist()
        if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED:
            raise Invalid(f"{name} is too large: its parts may have {MAX_UNPACKED:,} bytes unpacked.")
        tags = other = 0
        for part in parts:
            if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or part.flag_bits & 1:
                raise Invalid(f"{name} is encrypted or packed in an unknown way.")
            content = _unpacked(archive, part, name)
            if _is_xml(part, content):
                count = _check_xml(content, name)
                big = "worksheets/" in part.filename or part.filename.endswith("sharedStrings.xml")
                tags, other = tags + count * big, other + count * (not big)
            else:
                _check_picture(content, name)
        if tags > MAX_TAGS or other > MAX_OTHER_TAGS:
            raise Invalid(f"{name} is too large: it has more cells than can be read here.")
    return tags


def _check_xml(part: bytearray, name: str) -> int:
    """Refuse entities, the encodings in which they could hide, and comments on whole ranges.

    openpyxl makes a cell for every place in such a range. Returns the number of tags.
    """
    encoding = _ENCODING.match(part[:203].removeprefix(b"\xef\xbb\xbf"))
    strange = encoding and encoding[1].lower() not in (b"utf-8", b"us-ascii", b"ascii")
    tags, has_entities, has_comments = 0, False, False
    for start in range(0, len(part), MAX_RUN):
        deadlines.check()
        end = start + MAX_RUN
        tags += part.count(b"<", start, end)
        # A word may begin here and end in the next piece.
        has_entities |= _DOCTYPE.search(part, start, end + 20) is not None
        has_comments |= part.find(b"commentList", start, end + 20) >= 0
    if strange or b"\0" in part[:8] or bytes(part[:2]) in (b"\xff\xfe", b"\xfe\xff") or has_entities:
        raise Invalid(
            f"{name} is not a valid Excel workbook: it declares XML entities or a strange encoding."
        )
    if has_comments:
        parser = expat.ParserCreate()
        parser.StartElementHandler = _check_comment
        parser.Parse(part, True)
    return tags


def _unpacked(archive: zipfile.ZipFile, part: zipfile.ZipInfo, name: str) -> bytearray:
    """The bytes of a part; refused early if XML in it holds a text that is longer than any cell or formula,
    which openpyxl would keep several times."""
    data = bytearray()
    with archive.open(part) as stream:
        while chunk := stream.read(MAX_RUN):
            deadlines.check()
            data += chunk
            if len(chunk) == MAX_RUN and b"<" not in chunk and _is_xml(part, data):
                raise Invalid(f"{name} is not a valid Excel workbook: it holds a text of more than 1 MB.")
    return data


def _is_xml(part: zipfile.ZipInfo, data: bytearray) -> bool:
    """Whatever it is called: the list of content types may call anything a sheet."""
    return part.filename.lower().endswith(_XML) or bool(_MARKUP.match(data, 0, MAX_RUN))


def _check_picture(content: bytearray, name: str) -> None:
    """Refuse a picture that is large when it is unpacked, as openpyxl does to save it in its own way."""
    try:
        with Image.open(BytesIO(content)) as picture:
            width, height = picture.size
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        width, height = MAX_PIXELS, 2
    except (OSError, *PARSE_ERRORS):
        return  # no picture
    if width * height > MAX_PIXELS:
        raise Invalid(f"{name} is too large: a picture in it has more than {MAX_PIXELS:,} pixels.")


def _check_comment(tag: str, attributes: dict[str, str]) -> None:
    if tag.rpartition(":")[2] == "comment" and not _PLACE.fullmatch(attributes.get("ref", "")):
        raise ValueError("a comment that is not on a cell")
