"""Joins documents, orders, answers and the calendar, and arranges every pickup."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

from mesocosm.kits.paging import events, listed_documents, listed_mails, read_whole
from mesocosm.services.calling import Tools

_DAY = r"([A-Z][a-z]+ \d{1,2}, \d{4})"
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_RETURNED = re.compile(
    r"sent it back|handed it in|returned (?:the item|the thing|it) |[Yy]ou have had it|carried it to |"
    r"went back by|took it from me|is no longer (?:with us|in our house|here);|I did not wait|"
    r"it has (?:been returned|been sent back|gone back|been handed in)|It left (?:this house|our flat|us) by|"
    r"has already (?:delivered|driven|taken) it to"
)
_KEPT = re.compile(
    r"still have (?:the item|the thing|it)|is still here|it stands in|it never left|yours is still|"
    r"still (?:keep|hold) it|it (?:stands|waits|is waiting) here|that it was gone|"
    r"would not (?:take|accept|have) it|it has not left|keep yours for|have it again"
)


@dataclass
class Rules:
    """Rules from the documents."""

    zone: ZoneInfo
    weekdays: range
    begin: dt.date
    opens: dt.time
    closes: dt.time
    length: dt.timedelta
    recalled: dict[str, tuple[dt.date, dt.date]]
    """First and last day by SKU."""
    settled: set[int]


@dataclass
class Case:
    """Orders that count of one customer, and what the customer wrote."""

    email: str
    orders: list[int] = field(default_factory=list)
    returned: bool = False
    day: dt.date | None = None


def solve(tools: Tools, prompt: str) -> None:
    """Read everything, decide, act, and declare the task done."""
    recall = _found(r"recall (R-\d+)\.", prompt)[1]
    rules = _rules(list(_documents(tools)), recall)
    cases = _cases(tools, rules)
    _take_in_answers(tools, cases)
    calendars = tools.call("calendar", "list_calendars")["items"]
    calendar = next(one["id"] for one in calendars if one["summary"] == "Pickups")
    free = _free_slots(rules, list(_taken(tools, calendar, rules)))
    waiting: list[dt.datetime] = []
    for case in sorted(cases, key=lambda case: min(case.orders)):
        if case.returned:
            continue
        day = case.day or rules.begin
        slot = next((slot for slot in waiting if slot.date() >= day), None)
        while slot is None:
            waiting.append(next(free))
            slot = waiting[-1] if waiting[-1].date() >= day else None
        waiting.remove(slot)
        _arrange(tools, calendar, case, slot, rules.length)
    tools.call("claim_done", "claim_done")


def _found(pattern: str, text: str) -> re.Match[str]:
    found = re.search(pattern, " ".join(text.split()))
    assert found, pattern
    return found


# -- documents ------------------------------------------------------------------------------------------


def _documents(tools: Tools) -> Iterator[tuple[str, str]]:
    for document in listed_documents(tools):
        if "recall" in document["title"].lower():
            yield document["title"], read_whole(tools, document["id"])


def _rules(documents: list[tuple[str, str]], recall: str) -> Rules:
    policy = next(text for title, text in documents if title == "How we carry out a recall")
    days = _found(r"made from (\w+) to (\w+), beginning on " + _DAY, policy)
    times = _found(
        r"starts at (\d\d:\d\d) and the last one ends at (\d\d:\d\d); each takes (\d+) min", policy
    )
    newest, notice = 0, ""
    settled: set[int] = set()
    for title, text in documents:
        if not title.startswith(f"Recall {recall}:"):
            continue
        if "settled" in title:
            settled |= {int(number) for number in re.findall(r"^#(\d+):", text, re.MULTILINE)}
        elif re.search(r"^Status: approved$", text, re.MULTILINE):
            revision = int(_found(r"revision (\d+)", text)[1])
            newest, notice = max((newest, notice), (revision, text))
    recalled = {}
    for line in notice.splitlines():
        span = re.findall(_DAY, line)
        if len(span) == 2 and (sku := re.search(r"SKU ([\w-]+)", line)):
            recalled[sku[1]] = (_date(span[0]), _date(span[1]))
    return Rules(
        zone=ZoneInfo(_found(r"time zone ([\w/]+)\)", policy)[1]),
        weekdays=range(_WEEKDAYS.index(days[1]), _WEEKDAYS.index(days[2]) + 1),
        begin=_date(days[3]),
        opens=dt.time.fromisoformat(times[1]),
        closes=dt.time.fromisoformat(times[2]),
        length=dt.timedelta(minutes=int(times[3])),
        recalled=recalled,
        settled=settled,
    )


def _date(text: str) -> dt.date:
    return dt.datetime.strptime(text, "%B %d, %Y").date()  # noqa: DTZ007 - a day has no zone


# -- shop -----------------------------------------------------------------------------------------------


def _cases(tools: Tools, rules: Rules) -> list[Case]:
    cases: dict[object, Case] = {}
    for order in _affected(tools, rules):
        number, customer = order["id"], order["customer_id"]
        if customer:
            if customer not in cases:
                account = tools.call(
                    "woocommerce", "woo_customers_get", customerId=customer, fields=["email"]
                )
                cases[customer] = Case(account["email"])
            cases[customer].orders.append(number)
        else:
            cases["guest", number] = Case(order["billing"]["email"], [number])
    return list(cases.values())


def _affected(tools: Tools, rules: Rules) -> Iterator[dict[str, Any]]:
    seen: set[int] = set()
    for sku, (first, last) in sorted(rules.recalled.items()):
        (product,) = tools.pages("woocommerce", "woo_products_list", sku=sku, fields=["id"])
        orders = tools.pages(
            "woocommerce", "woo_orders_list", product=product["id"], perPage=100,
            fields=["id", "status", "date_created_gmt", "customer_id", "billing"],
        )  # fmt: skip
        for order in orders:
            moment = dt.datetime.fromisoformat(order["date_created_gmt"]).replace(tzinfo=dt.UTC)
            day = moment.astimezone(rules.zone).date()
            dead = order["status"] in ("cancelled", "failed", "refunded")
            if first <= day <= last and not dead and order["id"] not in rules.settled | seen:
                seen.add(order["id"])
                yield order


# -- answers --------------------------------------------------------------------------------------------


def _take_in_answers(tools: Tools, cases: list[Case]) -> None:
    by_address: dict[str, list[Case]] = {}
    for case in cases:
        by_address.setdefault(case.email, []).append(case)
    for entry in sorted(listed_mails(tools), key=lambda mail: (mail["date"], int(mail["id"]))):
        address = re.sub(r".*<|>.*", "", entry["from"])
        if address not in by_address:
            continue
        body = " ".join(tools.call("email", "read_email", email_id=entry["id"])["body"].split())
        said = what_became_of_it(body)
        for case in by_address[address]:
            if isinstance(said, dt.date):
                case.returned, case.day = False, said
            elif said:
                case.returned = said == "returned"


def what_became_of_it(text: str) -> dt.date | str | None:
    """The day from which somebody can be visited, else whether the item is ``returned`` or ``kept``."""
    if day := re.search(_DAY, text):
        return _date(day[1])
    if _KEPT.search(text):
        return "kept"
    return "returned" if _RETURNED.search(text) else None


# -- calendar -------------------------------------------------------------------------------------------


def _taken(tools: Tools, calendar: str, rules: Rules) -> Iterator[tuple[dt.datetime, dt.datetime]]:
    since = f"{rules.begin - dt.timedelta(days=1)}T00:00:00Z"
    until = f"{rules.begin + dt.timedelta(days=1000)}T00:00:00Z"
    for event in events(tools, calendarId=calendar, timeMin=since, timeMax=until):
        if event.get("transparency") != "transparent":
            yield _moment(event["start"], rules.zone), _moment(event["end"], rules.zone)


def _moment(point: dict[str, str], zone: ZoneInfo) -> dt.datetime:
    if "date" in point:
        return dt.datetime.fromisoformat(point["date"]).replace(tzinfo=zone)
    return dt.datetime.fromisoformat(point["dateTime"])


def _free_slots(rules: Rules, taken: list[tuple[dt.datetime, dt.datetime]]) -> Iterator[dt.datetime]:
    day = rules.begin
    while True:
        start = dt.datetime.combine(day, rules.opens, rules.zone)
        while start + rules.length <= dt.datetime.combine(day, rules.closes, rules.zone):
            busy = any(begin < start + rules.length and start < end for begin, end in taken)
            if day.weekday() in rules.weekdays and not busy:
                yield start
            start += rules.length
        day += dt.timedelta(days=1)


# -- acting ---------------------------------------------------------------------------------------------


def _arrange(tools: Tools, calendar: str, case: Case, slot: dt.datetime, length: dt.timedelta) -> None:
    title = f"Recall pickup #{min(case.orders)}"
    local = f"{slot:%Y-%m-%d %H:%M}"
    tools.call(
        "calendar", "create_event", calendarId=calendar, summary=title,
        start={"dateTime": slot.isoformat()}, end={"dateTime": (slot + length).isoformat()},
    )  # fmt: skip
    orders = ", ".join(f"#{number}" for number in sorted(case.orders))
    body = f"Our van will pick up your item at {local}. This is about: {orders}.\n"
    tools.call("email", "send_email", to=case.email, subject=title, body=body)
    for number in case.orders:
        tools.call("woocommerce", "woo_orders_notes_create", orderId=number, note=f"Recall pickup {local}")
