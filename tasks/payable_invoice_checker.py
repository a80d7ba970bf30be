"""Invoices of `payable_invoice_checker`: what for, as six companies write them, and a solver that reads."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from random import Random
from typing import Any

from faker import Faker

from mesocosm.kits.paging import found, mails_in_order
from mesocosm.services.calling import Tools

_GOODS = (
    ("pump seals, 40 mm", 4, 19), ("grease cartridges, 400 g", 3, 9), ("pallet wrap, 23 micron", 6, 14),
    ("hydraulic hoses, 2 m", 18, 60), ("work gloves, size 9", 2, 7), ("label rolls, thermal", 5, 16),
    ("drive belts, type B", 11, 48), ("filter mats, class M5", 9, 33), ("cable drums, 25 m", 28, 75),
    ("hand lamps, rechargeable", 21, 64), ("ball bearings 6204", 2, 11), ("cleaning rags, 10 kg", 12, 26),
    ("steel brackets, galvanised", 1, 8), ("safety goggles", 4, 18), ("paint, grey, 5 l", 24, 66),
    ("copper pipes, 3 m", 14, 39), ("cartons, double wall", 1, 4), ("office paper, 2,500 sheets", 13, 27),
    ("castors, braked", 7, 23), ("solvent, 10 l", 19, 44),
)  # fmt: skip

_TEXTS = (
    "INVOICE\n\nBill to: {unit}\nInvoice no.\t{number}\nYour order\t{order}\nDate\t{date:%d %B %Y}\n\n"
    "Qty\tDescription\tUnit price\tAmount\n{items}\n\nTotal (EUR)\t{total}\n{paid}\n\n"
    "Payable within 30 days. Pallets are charged at 35.00 EUR and credited when they come back.",
    "TAX INVOICE {number}\n\n{unit}\nattn. accounts payable\n\n"
    "Issued on {date:%Y-%m-%d} for order {order}.\n\n"
    "Quantity\tArticle\tEUR each\tEUR\n{items}\n\nAmount of this invoice: EUR {total}\n{paid}\n\n"
    "All prices include VAT. Reminders are charged at EUR 12.00.",
    "INVOICE\n\nCustomer: {unit}\nDocument {number} of {date:%B %d, %Y}\n"
    "Order reference {order}\n\n"
    "Pcs.\tGoods\tPrice\tSum\n{items}\n\nSum total in EUR\t{total}\n{paid}\n\nThank you for buying from us.",
    "{number}\n\nTo {unit}\nFor the goods of your order {order}, invoiced on {date:%d-%b-%Y}:\n\n"
    "Pieces\tDescription\tEach\tTotal\n{items}\n\nWe charge in all EUR {total}.\n{paid}\n\n"
    "Goods remain ours until they are paid for. Next year our prices rise by 3.50 %.",
    "BILL {number}\n\nSold to\t{unit}\nPurchase order\t{order}\nBill date\t{date:%Y-%m-%d}\n\n"
    "Count\tItem\tRate\tValue\n{items}\n\nBill total, EUR\t{total}\n{paid}\n\n"
    "Orders above EUR 500.00 are delivered free of charge.",
    "SALES INVOICE\n\nInvoice: {number}    Order: {order}\nDate: {date:%d %b %Y}\nFor: {unit}\n\n"
    "Units\tProduct\tPer unit\tLine\n{items}\n\nGrand total: {total} EUR\n{paid}\n\n"
    "The prices above are list prices less a discount of 2.00 %.",
)
"""An invoice of each layout."""
_PAID = (
    "Paid to date\t{} EUR",
    "{{Received so far: EUR|Your payments until now: EUR}} {}",
    "{{Already paid in EUR|Payments received in EUR}}\t{}",
    "You have paid us EUR {}{{ in advance|, for which we thank you|}}.",
    "Paid on account, EUR\t{}",
    "{{With the order we received|Your down payment was}} {} EUR.",
)
_NOTHING = "{{We have not received any payment|No payment has been received|Nothing has been paid so far}}."
_NOTE = (
    "CREDIT NOTE {credit_number}\n\n{unit}\n{date:%d %B %Y}\n\n"
    "{{For goods returned|For a delivery that fell short|For damage in transit}}, "
    "we credit you EUR {credit:,.2f}\non our invoice\t{number}\n"
    "{{Please set it off against what you owe|It is not paid out}}."
)
_NUMBERS = (
    "INV-{year}-{serial}", "{serial}/{short}", "RG{year}{serial}", "A-{serial}", "{year}.{serial}",
    "FA{short}-{serial}",
    "{serial}-EX",
)  # fmt: skip


def draw_address(supplier: Any, rng: Random) -> str:
    """Draw a British company's address in one line."""
    faker = Faker("en_GB")
    faker.seed_instance(rng.getrandbits(64))
    return f"{rng.randint(1, 240)} {faker.street_name()}, {faker.city()} {faker.postcode()}"


def draw_items(invoice: Any, rng: Random) -> list[dict[str, Any]]:
    """Two to five lines of an invoice; a supplier has one price for an article."""
    chosen = rng.sample(_GOODS, 2 + invoice["lines"])
    bank = invoice["supplier"]["bank"]
    return [
        {
            "count": rng.randint(2, 24),
            "what": what,
            "price": Random(f"{bank} {what}").randint(least * 100, most * 100) / 100,
        }
        for what, least, most in chosen
    ]


def draw_amount(invoice: Any, rng: Random) -> float:
    """Draw the total."""
    return float(_together(invoice["items"]))


def _together(items: Sequence[Mapping[str, Any]]) -> Decimal:
    return sum((item["count"] * Decimal(repr(item["price"])) for item in items), Decimal())


def _days(thing: Any, field: str) -> int:
    """Days from a hundred days ago until a day of an invoice: what is numbered later has a higher number."""
    return int((thing[field] - thing["since"].date()).days)


def draw_order(thing: Any, rng: Random) -> int:
    """The number of an order; those of records without a document end with a naught."""
    ending = rng.randint(1, 9) if thing.fact == "invoice" else 0
    return 400_000 + 2_000 * _days(thing, "ordered_on") + 10 * rng.randrange(200) + ending


def draw_serial(thing: Any, rng: Random) -> int:
    """Draw the serial part of a number. An order's ends in 0, an invoice's does not."""
    ending = rng.randint(1, 9) if thing.fact == "invoice" else 0
    return 1_000 + 1_700 * (_days(thing, "issued") - 39) + 10 * rng.randrange(170) + ending


def draw_transfer(invoice: Any, rng: Random) -> int:
    """The number of the first transfer on an invoice: an odd one."""
    return 10_000 + 1_400 * (_days(invoice, "sent") - 39) + 2 * rng.randrange(700) + 1


def draw_second_transfer(invoice: Any, rng: Random) -> int:
    """The number of the second: an even one."""
    return 10_000 + 1_400 * (_days(invoice, "sent_again") - 39) + 2 * rng.randrange(700)


def draw_scan(invoice: Any, rng: Random) -> int:
    """The number of the file of an invoice: none that a credit note may have."""
    return next(number for number in _scans(rng) if not _is_for_notes(number))


def draw_second_scan(invoice: Any, rng: Random) -> int:
    """The number of the file of a credit note."""
    return next(number for number in _scans(rng) if _is_for_notes(number))


def _scans(rng: Random) -> Iterator[int]:
    while True:
        yield rng.randint(1_000, 99_999)


def _is_for_notes(number: int) -> bool:
    """True for a pseudorandom tenth of all numbers."""
    return Random(f"scan {number}").random() < 0.1


def draw_number(invoice: Any, rng: Random) -> str:
    """The number of an invoice, as its supplier writes them."""
    year = invoice["issued"].year
    form = _NUMBERS[invoice["supplier"]["index"] % len(_NUMBERS)]
    return form.format(year=year, short=year % 100, serial=invoice["serial"])


def document_of(invoice: Any) -> str:
    """The text of an invoice in its supplier's layout."""
    layout = invoice["supplier"]["layout"]
    items = "\n".join(
        f"{one['count']}\t{one['what']}\t{one['price']:,.2f}\t{_together([one]):,.2f}"
        for one in invoice["items"]
    )
    paid = _PAID[layout] if invoice["paid"] else _NOTHING
    return _TEXTS[layout].format(
        unit=invoice["addressee"],
        number=invoice["number"],
        order=invoice["order"],
        date=invoice["issued"],
        items=items,
        total=f"{invoice['amount']:,.2f}",
        paid=paid.format(f"{invoice['paid']:,.2f}"),
    )


def credit_note_of(invoice: Any) -> str:
    """The text of a credit note for an invoice."""
    names = ("credit_number", "credit", "number")
    fields = {name: invoice[name] for name in names}
    return _NOTE.format(unit=invoice["addressee"], date=invoice["credited_on"], **fields)


# -- solving ----------------------------------------------------------------------------------------------

_SCHEMA = "PURCHASE_INVOICE.PUBLIC"
_CELL = re.compile(r"^(?:- |  )(\w+): (.*)$")
_AMOUNT = r"(?:EUR )?([\d,]+\.\d\d)"
_TOTAL = re.compile(
    r"^(?:Total \(EUR\)|Amount of this invoice:|Sum total in EUR|We charge in all|Bill total, EUR|"
    rf"Grand total:) {_AMOUNT}",
    re.MULTILINE,
)
_PAYMENT = re.compile(
    r"^(?:Paid to date|Received so far:|Your payments until now:|Already paid in EUR|"
    r"Payments received in EUR|"
    rf"You have paid us|Paid on account, EUR|With the order we received|"
    rf"Your down payment was) {_AMOUNT}",
    re.MULTILINE,
)
_DAY = re.compile(
    r"\d{4}-\d\d-\d\d|\d\d? [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d\d, \d{4}|\d\d-[A-Z][a-z]{2}-\d{4}", re.MULTILINE
)
_OVER = re.compile(
    r"looks? after|handed|passed|is with|belongs to|responsible for|has taken order|"
    r"your (?:contact|buyer) is"
)
_NOT_OVER = re.compile(r"wonder|thinking about|Would it|Might it|There is a wish|Some here wish")


def _rows(tools: Tools, table: str) -> list[dict[str, str]]:
    """All rows of a table, page by page."""
    rows: list[dict[str, str]] = []
    more = True
    while more:
        query = f"SELECT * FROM {_SCHEMA}.{table} ORDER BY 1, 2 LIMIT 200 OFFSET {len(rows)}"
        text = str(tools.call("snowflake", "read_query", query=query))
        before = len(rows)
        for line in text.partition("\ndata:")[2].splitlines():
            if match := _CELL.match(line):
                if line.startswith("- "):
                    rows.append({})
                rows[-1][match[1]] = _unquoted(match[2])
        more = len(rows) > before
    return rows


def _unquoted(text: str) -> str:
    quote = text[:1]
    return text[1:-1].replace(quote * 2, quote) if quote in ("'", '"') and text.endswith(quote) else text


def _cents(text: str) -> int:
    return int(Decimal(text.replace(",", "")) * 100)


def _day(text: str) -> str:
    day = _DAY.search(text)
    assert day, text
    for form in ("%Y-%m-%d", "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%d-%b-%Y"):
        try:
            return dt.datetime.strptime(day[0], form).replace(tzinfo=dt.UTC).date().isoformat()
        except ValueError:
            continue
    raise ValueError(day[0])


def _documents(tools: Tools) -> Iterator[tuple[str, str]]:
    """The names of the PDF files with their text."""
    page, more = 1, True
    while more:
        listed = str(tools.call("filesystem", "search_files", path="files", pattern="*.pdf", page=page))
        page += 1
        more = f"the next are on page {page}" in listed
        for path in (line for line in listed.splitlines() if line.endswith(".pdf")):
            text = tools.call("pdf_tools", "read_pdf_pages", pdf_file_path=path)
            yield path.rpartition("/")[2], str(text).partition("===\n")[2]


def _handed_over(tools: Tools, names: Mapping[str, str]) -> dict[str, str]:
    """By order: the address of the buyer whom a mail hands it to."""
    handed = {}
    for mail in mails_in_order(tools):
        body = " ".join(mail["body"].split())
        for sentence in re.findall(r"[^.?!;]*\bPO-\d{6}\b[^?!]*?[.?!](?= |$)", body) or ():
            whole = sentence
            named = [name for name in names if name in whole]
            order = re.search(r"PO-\d{6}", whole)
            if order and named and _OVER.search(whole) and not _NOT_OVER.search(whole):
                handed[order[0]] = names[named[0]]
    return handed


def solve(tools: Tools, prompt: str) -> None:
    """Read everything, and enter, ask and remind."""
    ours = found(r"addressed to (.+? Ltd) concern you", prompt)
    names = {row["NAME"]: row["EMAIL"] for row in _rows(tools, "BUYERS")}
    orders = {row["ORDER_NUMBER"]: row for row in _rows(tools, "PURCHASE_ORDERS")}
    known = {row["INVOICE_ID"] for row in _rows(tools, "INVOICES")}
    transfers = _rows(tools, "TRANSFERS")
    buyers = _handed_over(tools, names)
    documents = [
        (name, text) for name, text in _documents(tools) if ours in text.splitlines() or f" {ours}\n" in text
    ]
    notes = [text for _, text in documents if text.splitlines()[3].startswith("CREDIT NOTE")]
    outstanding: dict[str, list[str]] = {}
    for name, text in sorted(documents):
        if text in notes:
            continue
        order = orders[found(r"\b(PO-\d{6})\b", text)]
        number = _number(text)
        if number in known:
            continue
        buyer = buyers.get(order["ORDER_NUMBER"], order["PURCHASER_EMAIL"])
        total_match, payment = _TOTAL.search(text), _PAYMENT.search(text)
        assert total_match
        total = _cents(total_match[1])
        if total != _cents(order["ORDER_AMOUNT"]):
            line = f"Invoice {total / 100:.2f}, order {_cents(order['ORDER_AMOUNT']) / 100:.2f}"
            tools.call("email", "send_email", to=buyer, subject=f"Question about {number}", body=line)
            continue
        named = re.compile(rf"(?<![\w/.-]){re.escape(number)}(?![\w/-])")
        paid = _cents(payment[1]) if payment else 0
        paid += sum(_cents(row["AMOUNT"]) for row in transfers if named.search(row["REMITTANCE"]))
        paid += sum(_cents(found(rf"credit you {_AMOUNT}", note)) for note in notes if named.search(note))
        firm = order["SUPPLIER_NAME"].replace("'", "''")
        values = f"'{number}', '{firm}', {total / 100:.2f}, '{buyer}', '{_day(text)}'"
        _write(tools, f"INSERT INTO {_SCHEMA}.INVOICES VALUES ({values})")
        _write(
            tools,
            f"INSERT INTO {_SCHEMA}.INVOICE_PAYMENTS"
            f" VALUES ('{number}', {paid / 100:.2f}, {int(paid < total)})",
        )
        if paid < total:
            outstanding.setdefault(buyer, []).append(name)
    for buyer, files in sorted(outstanding.items()):
        tools.call(
            "email", "send_email", to=buyer, subject="Process Outstanding Invoices", body="\n".join(files)
        )
    comment = "0=Paid, 1=Outstanding"
    _write(tools, f"COMMENT ON COLUMN {_SCHEMA}.INVOICE_PAYMENTS.OUTSTANDING_FLAG IS '{comment}'")
    tools.call("claim_done", "claim_done")


def _number(text: str) -> str:
    """The number of an invoice: what stands where its layout has it."""
    forms = (
        r"^Invoice no\. (\S+)$", r"^TAX INVOICE (\S+)$", r"^Document (\S+) of ", r"^BILL (\S+)$",
        r"^Invoice: (\S+) +Order:",
        r"^(\S*\d\S*)$",
    )  # fmt: skip
    for form in forms:
        if match := re.search(form, text, re.MULTILINE):
            return match[1]
    raise ValueError(f"no number in {text[:200]!r}")


def _write(tools: Tools, query: str) -> None:
    tools.call("snowflake", "write_query", query=query)
