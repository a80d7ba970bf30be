"""Functions of the stock alert: how many products there are of each case, and a solver that reads."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any

from mesocosm.kits.apportionment import apportion
from mesocosm.kits.paging import found, mail_folders, mails_in_order, spreadsheet, spreadsheet_rows
from mesocosm.services.calling import Tools

_SHORT = ("one_below", "sold_out", "raised", "not_lowered")
_ENOUGH = ("equal", "one_above", "lowered", "not_raised", "talked_of", "draft", "unmanaged")


def part(case: str, short: int, enough: int, edge_case_rate: float) -> int:
    """Return the number of products of a case, given the numbers that are short and not short."""
    for plain, edges, count in (("low", _SHORT, short), ("normal", _ENOUGH, enough or short * 3 // 2 + 1)):
        if case in (plain, *edges):
            shares = dict.fromkeys(edges, edge_case_rate / len(edges)) | {plain: 1 - edge_case_rate}
            return apportion(shares, count)[case]
    raise ValueError(f"no case {case!r}")


def in_force(mails: Sequence[str]) -> int:
    """Return which of a product's mails sets its threshold, counted from 1; 0 if none does."""
    return max((number for number, sort in enumerate(mails, 1) if sort == "binding"), default=0)


def aside_about(sort: str, sku: str, units: int) -> str:
    """A sentence with a figure that is no threshold, or none; the SKU is empty where the mail has none."""
    of_it = f" of {sku}" if sku else ""
    return {
        "carton": f" A carton{of_it} has {units} pieces.",
        "sales": f" We sell {units} pieces{of_it} a week.",
        "days": f" The next delivery{of_it} takes {units} days.",
    }.get(sort, "")


def emptied(lines: list[list[Any]], count: int) -> list[list[Any]]:
    """Lines of a sheet, with empty ones below in place of those that were there."""
    return [*lines, *([""] * len(lines[0]) for _ in range(count - len(lines)))]


# -- the solver -----------------------------------------------------------------------------------------

_TALK = re.compile(
    r"would \d+ be|thinking of|considering|would like|has been proposed|draft of|might need|would be",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"what I (wrote|sent)|(ignore|forget) the|is (withdrawn|void|no good)|too (quick|rash)|take back|"
    r"(strike|disregard) my",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"^A carton|^We sell|^The next delivery")
_SENTENCE = re.compile(r"(?<=[.?!]) ")
_FIELDS = ["id", "name", "sku", "status", "manage_stock", "stock_quantity", "meta_data"]
_SHEET = "Stock Alert"
_COLUMNS = [
    "Product ID", "Product Name", "SKU", "Current Stock", "Safety Threshold", "Supplier Name",
    "Supplier ID", "Supplier Contact",
]  # fmt: skip


def solve(tools: Tools, prompt: str) -> None:
    """Read shop, mails and register, write the sheet and the mails."""
    warehouse = found(r"after the (.+?) warehouse", prompt)
    day = found(r"It is \w+, (\w+ \d+, \d{4}),", prompt)
    today = dt.datetime.strptime(f"{day} +0000", "%B %d, %Y %z").date()
    planned = _planned(tools)
    suppliers = _suppliers(tools, spreadsheet(tools, "Suppliers"), today)
    rows = []
    for product in tools.pages("woocommerce", "woo_products_list", perPage=100, fields=_FIELDS):
        meta = {one["key"]: one["value"] for one in product["meta_data"]}
        if meta["warehouse"] != warehouse or product["status"] != "publish" or not product["manage_stock"]:
            continue
        threshold = planned.get(product["sku"]) or int(meta["stock_threshold"])
        if product["stock_quantity"] < threshold:
            mine = [product["id"], product["name"], product["sku"], product["stock_quantity"], threshold]
            rows.append([*mine, meta["supplier"], *suppliers[meta["supplier"]]])
    rows.sort(key=lambda row: row[0])
    _write(tools, spreadsheet(tools, f"WooCommerce {_SHEET}"), rows)
    _mail(tools, rows)
    tools.call("claim_done", "claim_done")


def _planned(tools: Tools) -> dict[str, int]:
    """Thresholds by the mails of planners, of the SKUs that have one."""
    said: dict[str, list[int | None]] = {}
    opened: dict[str, str] = {}
    for mail in mails_in_order(tools, *mail_folders(tools)):
        for sentence in _SENTENCE.split(" ".join(mail["body"].split())):
            sku, plan = re.search(r"\bWS-\d+", sentence), re.search(r"\bP-\d{5}\b", sentence)
            if sku and plan:
                opened[plan[0]] = sku[0]
            elif (sku or plan) and not _ASIDE.search(sentence):
                about = sku[0] if sku else opened[plan[0]] if plan else ""
                figures = said.setdefault(about, [])
                if _BACK.search(sentence):
                    figures[-1] = None
                else:
                    figure = re.search(r"(?<!\S)\d+\b", sentence)
                    assert figure, sentence
                    figures.append(None if _TALK.search(sentence) else int(figure[0]))
    last = {sku: [one for one in figures if one is not None] for sku, figures in said.items()}
    return {sku: figures[-1] for sku, figures in last.items() if figures}


def _suppliers(tools: Tools, book: str, today: dt.date) -> dict[str, tuple[str, str]]:
    """Id and contact of each supplier, as they are today."""
    rows = spreadsheet_rows(tools, book, "Register")
    known = [one for one in rows if dt.date.fromisoformat(one["Valid From"]) <= today]
    known.sort(key=lambda one: one["Valid From"])
    return {one["Supplier Name"]: (one["Supplier ID"], one["Supplier Contact"]) for one in known}


def _write(tools: Tools, book: str, rows: list[list[Any]]) -> None:
    old = list(spreadsheet_rows(tools, book, _SHEET))
    lines = emptied([_COLUMNS, *rows], 1 + len(old))
    tools.call("google_sheet", "update_cells", spreadsheet_id=book, sheet=_SHEET, range="A1", data=lines)


def _mail(tools: Tools, rows: list[list[Any]]) -> None:
    manager = tools.call("filesystem", "read_text_file", path="purchasing_manager_email.txt").strip()
    template = tools.call("filesystem", "read_text_file", path="stock_alert_email_template.md").strip()
    head, _, body = template.partition("\n\n")
    for row in rows:
        subject, text = head.removeprefix("Subject: "), body
        for name, value in zip(_COLUMNS, row, strict=True):
            subject, text = (part.replace(f"{{{name}}}", str(value)) for part in (subject, text))
        tools.call("email", "send_email", to=manager, subject=subject, body=text)
