"""Finds the slow sellers from products and orders, moves them, and mails their list to the subscribers."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from mesocosm.kits.paging import found, mail_folders, mails_in_order
from mesocosm.services.calling import Tools

LIST = "clearance_list.csv"
_LINES = 500
_BATCH = 100
_LEAVES = re.compile(
    r"take (me|my address|this address) off|remove (me|my address|this address) from|no longer (want|wish)|"
    r"stop (sending|mailing) me|like to (cancel|unsubscribe)|do not send me|not come to this|strike me out|"
    r"leave me out|cross me off|does not (reach me|come) again|(end|stop) my subscription|count me out|"
    r"I am unsubscribing|forget this address",
    re.IGNORECASE,
)
_RETURNS = re.compile(
    r"(me|this address) back on|like to (get|receive) .* again|please (send|mail) me .* again|"
    r"(add me|sign me up) again|please (enter me|add my address)|sign me up|after all|"
    r"(count me in|put me down) again|renew my subscription|this address (anew|again)|as I used to",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!]) (?=[A-ZÀ-Þ])")


@dataclass(frozen=True)
class Entry:
    """A line of the list."""

    product: int
    sku: str
    name: str
    price: Decimal
    promotional: Decimal

    @property
    def ratio(self) -> int:
        """Discount in percent, which is whole."""
        return int(100 - 100 * self.promotional / self.price)


def solve(tools: Tools, prompt: str) -> None:
    """Read everything, decide, move, write, send, and declare the task done."""
    text = " ".join(prompt.split())
    now = found(r"It is now \w+, (\w+ \d+, \d{4}, \d\d:\d\d) UTC", text)
    today = dt.datetime.strptime(f"{now} +0000", "%B %d, %Y, %H:%M %z").date()
    shelf_days = int(found(r"more than (\d+) days", text))
    min_sales = int(found(r"fewer than (\d+) pieces", text))
    category = _clearance(tools)
    sold = _sold(tools, today)
    entries = []
    for product in _products(tools):
        days = (today - dt.date.fromisoformat(product["date_created"][:10])).days
        if (
            product["status"] == "publish"
            and product["stock_status"] == "instock"
            and all(one["id"] != category for one in product["categories"])
            and days > shelf_days
            and sold[product["id"]] < min_sales
        ):
            entries.append(_entry(product, days))
    entries.sort(key=lambda entry: (entry.ratio, entry.sku))
    for start in range(0, len(entries), _BATCH):
        batch = entries[start : start + _BATCH]
        updates = [{"id": entry.product, "categories": [{"id": category}]} for entry in batch]
        done = tools.call("woocommerce", "woo_products_batch_update", update=updates)
        assert not any("error" in one for one in done["update"]), done
    tools.call("filesystem", "write_file", path=LIST, content=_csv(entries))
    _write_to_all(tools, entries)
    tools.call("claim_done", "claim_done")


def _clearance(tools: Tools) -> int:
    categories = tools.pages("woocommerce", "woo_products_categories_list", perPage=100)
    (category,) = [one["id"] for one in categories if one["name"] == "Clearance"]
    return int(category)


def _sold(tools: Tools, today: dt.date) -> Counter[int]:
    """Pieces sold of every product in the thirty whole days before today."""
    sold: Counter[int] = Counter()
    orders = tools.pages(
        "woocommerce", "woo_orders_list", perPage=100,
        dateAfter=f"{today - dt.timedelta(days=31)}T00:00:00",
        fields=["id", "status", "date_created", "line_items"],
    )  # fmt: skip
    for order in orders:
        day = dt.date.fromisoformat(order["date_created"][:10])
        if order["status"] in ("processing", "completed") and 1 <= (today - day).days <= 30:
            for line in order["line_items"]:
                sold[line["product_id"]] += line["quantity"]
    return sold


def _products(tools: Tools) -> Iterator[dict[str, Any]]:
    fields = [
        "id", "name", "sku", "status", "date_created", "regular_price", "sale_price", "on_sale",
        "stock_status", "categories",
    ]  # fmt: skip
    yield from tools.pages("woocommerce", "woo_products_list", perPage=100, fields=fields)


def _entry(product: dict[str, Any], days: int) -> Entry:
    price = Decimal(product["regular_price"])
    percent = 15 if days <= 180 else 30 if days <= 365 else 45
    promotional = price * (100 - percent) / 100
    if product["on_sale"]:
        promotional = min(promotional, Decimal(product["sale_price"]))
    return Entry(product["id"], product["sku"], product["name"], price, promotional)


def _csv(entries: list[Entry]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("SKU", "Product Name", "Original Price", "Promotional Price", "Discount Ratio"))
    for entry in entries:
        writer.writerow(
            (entry.sku, entry.name, f"{entry.price:.2f}", f"{entry.promotional:.2f}", f"{entry.ratio}%")
        )
    return file.getvalue()


def _write_to_all(tools: Tools, entries: list[Entry]) -> None:
    template = tools.call("filesystem", "read_text_file", path="email_template.txt")
    head, _, body = template.partition("\n\n")
    subject = head.removeprefix("Subject:").strip()
    body = body.strip().replace("{{count}}", str(len(entries)))
    body = body.replace("{{highest}}", str(max(entry.ratio for entry in entries)))
    for address, name in _subscribers(tools).items():
        text = body.replace("{{name}}", name)
        tools.call("email", "send_email", to=address, subject=subject, body=text, attachments=[LIST])


def _subscribers(tools: Tools) -> dict[str, str]:
    """Names of those to be written to, by address."""
    names: dict[str, str] = {}
    subscribed: dict[str, bool] = {}
    for address, name, status in _list(tools):
        names[address.lower()] = name
        subscribed[address.lower()] = status == "subscribed"
    for mail in mails_in_order(tools, *mail_folders(tools)):
        sender = found(r"([^\s<>]+@[^\s<>]+)", mail["from"]).lower()
        if sender not in subscribed:
            continue
        for sentence in (part for line in mail["body"].splitlines() for part in _SENTENCE.split(line)):
            if "newsletter" not in sentence:
                continue
            if _RETURNS.search(sentence):
                subscribed[sender] = True
            elif _LEAVES.search(sentence):
                subscribed[sender] = False
    return {address: name for address, name in names.items() if subscribed[address]}


def _list(tools: Tools) -> Iterator[list[str]]:
    offset = 0
    while True:
        text = tools.call("filesystem", "read_text_file", path="subscribers.csv", offset=offset, head=_LINES)
        rows = [row for row in csv.reader(io.StringIO(text)) if row]
        yield from (row for row in rows if "@" in row[0])
        if len(rows) < _LINES:
            return
        offset += _LINES
