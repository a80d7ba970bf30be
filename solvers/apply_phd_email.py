"""Reads all replies, memory and documents, puts together what is asked for, and sends it."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field

from mesocosm.kits.paging import found, mail_folders, mails_in_order
from mesocosm.services.calling import Tools

_FILE = re.compile(r"[\w\[\]-]*\[[A-Z]+\][\w\[\]-]*\.pdf")
_ITEMS = {
    "cv": r"CV|curriculum vitae",
    "statement": r"statement of purpose",
    "english": r"English test certificate",
    "summary": r"first page (?:\(no more\) )?of your research proposal|research proposal's first page",
    "proposal": r"(?:complete|all pages of your) research proposal",
    "bachelor": r"Bachelor's (?:transcript|degree)",
    "master": r"Master's (?:transcript|degree)",
    "first": r"first referee",
    "second": r"second referee",
    "oldest": r"oldest first",
    "newest": r"newest first",
}
_ITEM = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _ITEMS.items()))
_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATE = re.compile(rf"\d{{4}}-\d\d-\d\d|\d{{1,2}} {_MONTH} \d{{4}}|{_MONTH} \d{{1,2}}, \d{{4}}")
_ADDRESS = re.compile(r"[\w.+-]+@[\w.-]+\w")
_AUTOMATIC = re.compile(r"automatic reply|answer is automatic|out of office", re.IGNORECASE)
_ADDED = re.compile(
    r"in addition|besides what|add to it|on top of|please add|beside the first|also send|keep what I listed|"
    r"to be added",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"if a (?:place|position) (?:ever|one day)|(?:if|when|once) there is a \w+ (?:one day|again)|"
    r"should there be a|(?:once|when|if) I can take|a later (?:call|round|application)|"
    r"in another (?:year|round)|our next (?:call|round) comes|for another year|again about a|"
    r"you would be asked for|not open (?:yet|so far)|the next time",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"no place for a thesis|PhD is out of the question|instead of a doctorate|, not a thesis|"
    r"places are taken, so|no money for a PhD|doctorate is not possible|for the PhD I cannot|"
    r"only thing that is free with us|"
    r"theses are closed|better than a PhD|this is what I mean here",
    re.IGNORECASE,
)
_NO = re.compile(
    r"cannot take on|no (?:vacancy|place|desk) in my group|no open position|do not supervise any more|"
    r"group is full|nothing can come of this|somebody else has got the place|no place is left|"
    r"sorry to say no|look elsewhere|has to be a no|please send nothing|"
    r"did not let me have a place|do without new people",
    re.IGNORECASE,
)


@dataclass
class Wish:
    """A professor's request, as far as it was read."""

    address: str
    files: list[tuple[str, list[str]]] = field(default_factory=list)
    deadline: dt.date | None = None
    other: bool = False
    """True if it is not about a PhD."""


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
    own = found(r"your mailbox, (\S+@[\w.-]+\w)", text)
    wishes: dict[str, Wish] = {}
    for mail in mails_in_order(tools, *mail_folders(tools)):
        sender = found(r"<(.+?)>", mail["from"])
        if sender != own:
            _heed(mail["body"], wishes.setdefault(sender, Wish(sender)))
    tools.call("filesystem", "create_directory", path="outbox")
    for index, wish in enumerate(wishes.values(), start=1):
        if wish.other or not wish.files or wish.deadline is None or wish.deadline < today:
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


def _heed(body: str, wish: Wish) -> None:
    """Take in what a mail says about what its sender wants."""
    if _AUTOMATIC.search(body):
        return
    wish.other = wish.other or _OTHER.search(body) is not None
    names = list(_FILE.finditer(body))
    files = [
        (name[0], [str(item.lastgroup) for item in _ITEM.finditer(_sentence(body, name.end()))])
        for name in names
    ]
    before = body[max(0, names[0].start() - 110) : names[0].start()] if names else ""
    if _LATER.search(before):
        files = []
    if files and _ADDED.search(before):
        wish.files += files
    elif files:
        wish.files = files
    elif _NO.search(body):
        wish.files = []
    if date := _DATE.search(body):
        wish.deadline = _date(date[0])
    if address := _ADDRESS.search(body):
        wish.address = address[0]


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
