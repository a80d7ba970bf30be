"""Vocabulary of task files for PDF files in the workspace."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from mesocosm.errors import Refusal
from mesocosm.services.calling import Tools
from mesocosm.services.contents import UnreadableContent
from mesocosm.services.later import later
from mesocosm.services.words import Fields, Found, Spoiling, Thing, Word, Words

if TYPE_CHECKING:
    from mesocosm.servers.pdf_tools import store as rules
    from mesocosm.servers.pdf_tools.store import letterheads, pdf_writer
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes
else:
    rules, pdf_writer, letterheads = later(
        "mesocosm.servers.pdf_tools.store",
        "mesocosm.servers.pdf_tools.store.pdf_writer",
        "mesocosm.servers.pdf_tools.store.letterheads",
    )

_WIDTH = 88
"""Characters of a line: below the width at which the writer of PDF files would wrap it."""
_AT_ONCE = 20
"""Pages that are read at once."""


class PdfDocument(Thing):
    """A PDF file."""

    name = "document"
    about = "A PDF file in the workspace; a text longer than a page has several pages."
    when = "date"
    text = "text"
    title = "title"
    listed = False
    serial = "path"
    overhead = 120
    says: ClassVar[Mapping[str, Word]] = {
        "path": Word("Its path in the workspace, such as `scans/{number}.pdf`.", required=True),
        "text": Word("Its text.", required=True),
        "title": Word("Its title among its properties; left out, an everyday one."),
        "author": Word("Its author among its properties."),
        "creator": Word("The program or device that made it, among its properties; default: Writer."),
        "date": Word("When it was made.", "moment", required=True),
        "letterhead": Word("A company's head: its name, then small lines below each other."),
        "layout": Word("Which of six layouts the head has, 0 to 5.", "number"),
    }
    judges: ClassVar[Mapping[str, Word]] = {
        "path": Word("Its path.", required=True),
        "text": Word("The text of all its pages; usually judged by `contains`."),
        "pages": Word("How many pages it has.", "number"),
    }
    gives: ClassVar[Mapping[str, str]] = {"path": "Its path."}

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        taken = {name for name, _ in world.workspace.files()}
        given = []
        for number, fields in enumerate(things):
            path = str(fields["path"])
            if path in taken:
                path = f"{path.removesuffix('.pdf')}-{number}.pdf"
            taken.add(path)
            given.append({"path": path})
        world.workspace.fill_dated(
            (one["path"], _written(fields), fields["date"]) for one, fields in zip(given, things, strict=True)
        )
        return given

    def check(self, fields: Fields) -> str | None:
        return None if str(fields["path"]).endswith(".pdf") else f"{fields['path']!r} does not end in .pdf"

    def trace(self, fields: Fields, given: Fields) -> str:
        lines = "\n".join(_pages(fields)).split("\n")
        # Of a letter, a line of its table: sentences are the same in many. Cells have blanks between.
        cells = [line for line in lines if "\t" in line and any(map(str.isdigit, line))]
        return max(cells or lines, key=len).replace("\t", " ")

    def shown(self, name: str, value: Any) -> str:
        return "" if name == "path" else super().shown(name, value)  # other services list files

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        store = world.store(rules.PdfToolsStore)
        for name in [*changes.files_added, *changes.files_changed]:
            if not name.lower().endswith(".pdf"):
                continue
            fields: Fields
            try:
                document = store.document(name)
                texts = [document.text(page) for page in range(1, document.pages + 1)]
                fields = {"text": "\n".join(texts), "pages": len(texts)}
            except Refusal as refusal:
                fields = dict.fromkeys(("text", "pages"), UnreadableContent(refusal.message))
            yield Found({"path": name, **fields}, frozenset({("file", name)}))

    altered = made


def _written(fields: Fields) -> bytes:
    """The bytes of a document."""
    return pdf_writer.write_pdf(
        _pages(fields),
        moment=fields["date"],
        title=_plain(fields.get("title")),
        author=_plain(fields.get("author")),
        creator=_plain(fields.get("creator")) or "Writer",
        head=_head(fields),
    )


def _plain(text: Any) -> str:
    """Reduce a text to the characters of the files' encoding."""
    return str(text or "").encode("cp1252", "replace").decode("cp1252")


def _head(fields: Fields) -> letterheads.Letterhead | None:
    lines = [line for line in _plain(fields.get("letterhead")).split("\n") if line]
    return letterheads.Letterhead(lines, int(fields.get("layout") or 0)) if lines else None


def _pages(fields: Fields) -> list[str]:
    most = letterheads.LINES if fields.get("letterhead") else pdf_writer.LINES
    lines = []
    for line in _plain(fields["text"]).split("\n"):
        # Cells of a table stand beside one another: such a line is not broken.
        lines += [line] if "\t" in line else textwrap.wrap(line, _WIDTH) or [""]
    return ["\n".join(lines[start : start + most]) for start in range(0, len(lines), most)]


def _survey(tools: Tools, options: Mapping[str, Any]) -> None:
    for path in options.get("files", ()) if not options.get("listing") else _listed(tools):
        read = tools.call("pdf_tools", "read_pdf_pages", pdf_file_path=path)  # which says how many there are
        pages = int(read.partition("total pages: ")[2].split()[0])
        for start in range(2, pages + 1, _AT_ONCE):
            last = min(pages, start + _AT_ONCE - 1)
            tools.call("pdf_tools", "read_pdf_pages", pdf_file_path=path, start_page=start, end_page=last)


def _listed(tools: Tools) -> Iterator[str]:
    """All PDF files, by the service that lists files."""
    page, more = 1, True
    while more:
        found = tools.call("filesystem", "search_files", path=".", pattern="**/*.pdf", page=page).splitlines()
        page += 1
        more = any(f"the next are on page {page}" in line for line in found[-2:])
        yield from (line for line in found if line.endswith(".pdf"))


def _replaced(world: World) -> bool:
    first = next((name for name, _ in world.workspace.files() if name.endswith(".pdf")), None)
    if first is not None:
        world.workspace.write(first, pdf_writer.write_pdf(["Something else."], moment=world.now))
    return first is not None


words = Words(
    service="pdf_tools",
    things={"document": PdfDocument()},
    survey=_survey,
    unseen=("searches", "matches"),
    spoilings=(Spoiling("a PDF file replaced", _replaced, frozenset({"files_unchanged"})),),
    survey_options={
        "files": "The files to read, where the task has no `filesystem` to list them; default: those of the "
        "evidence."
    },
    files_listed_by="filesystem",
)
