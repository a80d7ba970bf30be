"""Reads all replies, memory and documents, puts together what is asked for, and sends it."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from typing import Any

from mesocosm.kits.paging import found, mail_folders, mails_in_order
from mesocosm.services.calling import Tools

_FILE = re.compile(r"[\w\[\]-]*\[[A-Z]+\][\w\[\]-]*\.pdf")
_ITEMS = {
    "cv": r"CV|curriculum vitae",
    "statement": r"statement of purpose",
    "english": r"English test certificate",
    "summary": r"first page (?:\(no more\) )?of your research proposal",
    "proposal": r"(?:complete|all pages of your) research proposal",
    "bachelor": r"Bachelor's (?:transcript|degree)",
    "master": r"Master's (?:transcript|degree)",
    "first": r"first referee",
    "second": r"second referee",
    "oldest": r"oldest first",
    "newest": r"newest first",
}
_ITEM = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _ITEMS.items()))
_DEADLINE = re.compile(
    r"(?:deadline is|need it by|deadline:)\s+(\d{4}-\d\d-\d\d|\w+ \d+, \d{4}|\d+ \w+ \d{4})", re.IGNORECASE
)
_ASSISTANT = re.compile(r"my assistant [^,]+, (\S+@[\w.-]+\w)|\((\S+@\S+)\) collects everything")
_REFUSAL = re.compile(
    r"cannot take on new students|no vacancy in my group|I have no open position|do not supervise any more|"
    r"My group is full|do not send anything any more|no longer need your material"
)


@dataclass
class Wish:
    """What a professor wants, as far as it was read."""

    address: str
    files: list[tuple[str, list[str]]] = field(default_factory=list)
    deadline: dt.date | None = None


@dataclass
class Papers:
    """The documents that count, by kind: path, number of pages and date."""

    chosen: dict[str, tuple[str, int, dt.date]] = field(default_factory=dict)
    awards: list[tuple[dt.date, str]] = field(default_factory=list)


def solve(tools: Tools, prompt: str) -> None:
    """Read everything, decide, make the files, write, and declare the task done."""
    text = " ".join(prompt.split())
    name = found(r"You are (.+?) and look for", text)
    today = _date(found(r"Today is \w+, (\w+ \d+, \d{4})", text))
    year = found(r"applicant number of the (\d{4}) round", text)
    facts = tools.call("memory", "open_nodes", names=[name])["entities"][0]["observations"]
    known = dict(fact.split(": ", 1) for fact in facts)
    last, number = (
        known["Last name on forms and in file names"],
        known[f"Applicant number of the {year} round"],
    )
    papers = _papers(tools, name, {known["First referee"]: "first", known["Second referee"]: "second"})
    wishes: dict[str, Wish] = {}
    for mail in mails_in_order(tools, *mail_folders(tools)):
        sender = found(r"<(.+?)>", mail["from"])
        _heed(mail, wishes.setdefault(sender, Wish(sender)))
    tools.call("filesystem", "create_directory", path="outbox")
    for index, wish in enumerate(wishes.values(), start=1):
        if not wish.files or wish.deadline is None or wish.deadline < today:
            continue
        paths = []
        for pattern, items in wish.files:
            file = pattern.replace("[LASTNAME]", last).replace("[APPLICANTNO]", number)
            paths.append(f"outbox/{index}/{file}")
            _make(tools, paths[-1], items, papers)
        tools.call(
            "email", "send_email", to=wish.address, subject=f"submit_material {number}",
            body="Thank you; you find my material attached.", attachments=paths,
        )  # fmt: skip
    tools.call("claim_done", "claim_done")


def _date(text: str) -> dt.date:
    for form in ("%Y-%m-%d", "%B %d, %Y", "%d %B %Y"):
        try:
            return dt.datetime.strptime(text, form).replace(tzinfo=dt.UTC).date()
        except ValueError:
            continue
    raise ValueError(text)


def _heed(mail: dict[str, Any], wish: Wish) -> None:
    """Take in what a mail says about what its sender wants."""
    body = mail["body"]
    if "PhD" not in mail["subject"] or mail["subject"].startswith("Automatic reply"):
        return
    if _REFUSAL.search(body):
        wish.files = []
        return
    files = [
        (found[0], [str(item.lastgroup) for item in _ITEM.finditer(_sentence(body, found.end()))])
        for found in _FILE.finditer(body)
    ]
    if re.search(r"In addition to my first list|Besides what I asked for", body):
        wish.files += files
    elif files:
        wish.files = files
    if found := _DEADLINE.search(body):
        wish.deadline = _date(found[1])
    if found := _ASSISTANT.search(body):
        wish.address = found[1] or found[2]


def _sentence(text: str, start: int) -> str:
    """The rest of the sentence."""
    return re.split(r"\.(?:\s|$)", text[start:], maxsplit=1)[0]


def _papers(tools: Tools, name: str, referees: dict[str, str]) -> Papers:
    papers = Papers()
    for line in tools.call("filesystem", "list_directory", path="materials").splitlines():
        path = f"materials/{line.removeprefix('[FILE] ')}"
        read = tools.call("pdf_tools", "read_pdf_pages", pdf_file_path=path, start_page=1, end_page=1)
        pages = int(found(r"PDF total pages: (\d+)", read))
        text = " ".join(read.split("===\n", 1)[1].split())
        if name not in text or "DRAFT" in text:
            continue
        dated = re.search(r"(?:version of|test of|Awarded on) (\w+ \d+, \d{4})", text)
        date = _date(dated[1]) if dated else dt.date.min
        if text.startswith("Award certificate"):
            papers.awards.append((date, path))
            continue
        kind = _kind(text, referees)
        if kind not in papers.chosen or papers.chosen[kind][2] < date:
            papers.chosen[kind] = path, pages, date
    papers.awards.sort()
    return papers


def _kind(text: str, referees: dict[str, str]) -> str:
    if text.startswith("Letter of recommendation"):
        return next(kind for referee, kind in referees.items() if f"Written by {referee}" in text)
    for start, kind in (
        ("Curriculum vitae", "cv"),
        ("Statement of purpose", "statement"),
        ("English test", "english"),
        ("Research proposal", "proposal"),
        ("Bachelor's", "bachelor"),
        ("Master's", "master"),
    ):
        if text.startswith(start):
            return kind
    return "other"


def _make(tools: Tools, output: str, items: list[str], papers: Papers) -> None:
    """Put together the pages of one file."""
    sources: list[str] = []
    for item in items:
        if item in ("oldest", "newest"):
            ordered = [path for _, path in papers.awards]
            sources += ordered if item == "oldest" else ordered[::-1]
        elif item == "summary":
            sources.append("outbox/parts/summary.pdf")
            tools.call(
                "pdf_tools", "extract_pdf_pages", source_path=papers.chosen["proposal"][0], page_numbers=[1],
                output_path=sources[-1],
            )  # fmt: skip
        else:
            sources.append(papers.chosen[item][0])
    tools.call("pdf_tools", "merge_pdfs", pdf_paths=sources, output_path=output)
