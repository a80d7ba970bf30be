"""Functions of the welcome: how many customers there are of each case, and a solver that reads."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mesocosm.kits.apportionment import apportion
from mesocosm.kits.paging import found, mail_folders, mails_in_order, query_rows
from mesocosm.services.calling import Tools

_EDGES = {
    "new": ("at_the_start", "retried", "from_elsewhere", "known", "relented"),
    "returning": ("twice", "other_case", "welcomed", "opted_out"),
    "outside": ("just_before",),
    "incomplete": (),
}


def part(case: str, new: int, orders: int, outside: int, incomplete: int, edge_case_rate: float) -> int:
    """Return the number of customers of a case."""
    counts = {
        "new": new,
        # Who returns has two orders.
        "returning": (orders - new) // 2 if orders else max(new, 4 + bool(edge_case_rate)),
        "outside": outside if outside >= 0 else 1 + new // 4 + bool(edge_case_rate),
        "incomplete": incomplete if incomplete >= 0 else 1 + new // 4,
    }
    for plain, edges in _EDGES.items():
        if case in (plain, *edges):
            rate = edge_case_rate if edges else 0
            shares = dict.fromkeys(edges, rate / max(1, len(edges))) | {plain: 1 - rate}
            return apportion(shares, counts[plain])[case]
    raise ValueError(f"no case {case!r}")


def everybody(new: int, orders: int, outside: int, incomplete: int, edge_case_rate: float) -> int:
    """Return the total number of customers."""
    cases = [case for plain, edges in _EDGES.items() for case in (plain, *edges)]
    return sum(part(case, new, orders, outside, incomplete, edge_case_rate) for case in cases)


def recommended_for(amount: float, articles: Sequence[Mapping[str, Any]]) -> str:
    """The product that is recommended to who paid an amount."""
    return str(max((one for one in articles if one["least"] <= amount), key=lambda one: one["least"])["name"])


# -- the solver -----------------------------------------------------------------------------------------

_TABLE = "woocommerce_crm.customers"
_REFUSES = re.compile(
    r"no advertising|not (to )?send me any advertising|I want none|no offers|to hear of|"
    r"(keep me|be kept) off|the box for|(get such mails|be written to)\.|to live without",
    re.IGNORECASE,
)
_RELENTS = re.compile(
    r"changed my mind|are welcome|^(Forget|Ignore) what|back on (the|your) list|too quick to|"
    r"no longer (holds|counts)",
    re.MULTILINE,
)


def solve(tools: Tools, prompt: str) -> None:
    """Read orders, mails and the CRM, enter the new ones and write to them."""
    text = " ".join(prompt.split())
    store = found(r"new customers of the (.+?) store", text)
    start, now = (
        found(r"\(date_created_gmt\) at (\S+) or later", text),
        found(r"sync_date both (\S+?),", text),
    )
    refusing = _refusing(tools)
    known = _known(tools)
    template = tools.call("filesystem", "read_text_file", path="welcome_email_template.md").strip()
    tiers = [
        (float(row["Amount From"]), row["Product"])
        for row in csv.DictReader(
            io.StringIO(tools.call("filesystem", "read_text_file", path="recommendations.csv"))
        )
    ]
    for email, order in _new(tools, store, start).items():
        if email in refusing or known.get(email):
            continue
        _enter(tools, email, order, store, now, update=email in known)
        values = {
            "Store Name": store,
            "First Name": order["billing"]["first_name"],
            "Order ID": str(order["id"]),
            "Order Amount": order["total"],
            "Order Date": order["date_created_gmt"][:10],
            "Recommended Product": max(tier for tier in tiers if tier[0] <= float(order["total"]))[1],
        }
        head, _, body = _filled(template, values).partition("\n\n")
        tools.call("email", "send_email", to=email, subject=head.removeprefix("Subject: "), body=body)
    tools.call("claim_done", "claim_done")


def _refusing(tools: Tools) -> set[str]:
    """The addresses of those who want no advertising, and have not changed their minds."""
    found: set[str] = set()
    for mail in mails_in_order(tools, *mail_folders(tools)):
        sentences = re.sub(r"(?<=[.?!]) ", "\n", mail["body"])
        if _RELENTS.search(sentences):
            found.discard(_address(mail["from"]))
        elif _REFUSES.search(sentences):
            found.add(_address(mail["from"]))
    return found


def _address(sender: str) -> str:
    return found(r"([^\s<>]+@[^\s<>]+)", sender).lower()


def _known(tools: Tools) -> dict[str, bool]:
    """The addresses in the CRM, with whether they were welcomed."""
    query = f"SELECT email, welcome_email_sent FROM {_TABLE} ORDER BY email"
    return {row["email"]: row["welcome_email_sent"] for row in query_rows(tools, query)}


def _new(tools: Tools, store: str, start: str) -> dict[str, dict[str, Any]]:
    """The one completed order of each customer who has no other, if it is not too old."""
    fields = ["id", "status", "date_created_gmt", "customer_id", "billing", "total", "meta_data"]
    completed: dict[str, list[dict[str, Any]]] = {}
    for order in tools.pages("woocommerce", "woo_orders_list", perPage=100, fields=fields):
        if (
            order["status"] == "completed"
            and {one["key"]: one["value"] for one in order["meta_data"]}["store"] == store
        ):
            completed.setdefault(order["billing"]["email"].lower(), []).append(order)
    return {
        email: orders[0]
        for email, orders in completed.items()
        if len(orders) == 1 and orders[0]["date_created_gmt"] >= start.rstrip("Z")
    }


def _enter(tools: Tools, email: str, order: dict[str, Any], store: str, now: str, *, update: bool) -> None:
    placed = f"TIMESTAMP '{order['date_created_gmt']}Z'"
    billing = order["billing"]
    if update:
        query = (
            f"UPDATE {_TABLE} SET first_order_date = {placed}, welcome_email_sent = TRUE,"
            f" welcome_email_date = DATE '{now[:10]}', sync_date = TIMESTAMP '{now}' WHERE email = '{email}'"
        )
    else:
        texts = [email, billing["first_name"], billing["last_name"], billing["phone"]]
        quoted = ", ".join("'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'" for text in texts)
        query = (
            f"INSERT INTO {_TABLE} VALUES ({order['id']}, {order['customer_id'] or 'NULL'}, {quoted},"
            f" TIMESTAMP '{now}', {placed}, TRUE, DATE '{now[:10]}', TIMESTAMP '{now}', 'store: {store}')"
        )
    tools.call("google_cloud", "bigquery_run_query", query=query)


def _filled(template: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template
