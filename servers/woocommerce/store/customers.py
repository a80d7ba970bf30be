"""Customers and what they have bought."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from sqlalchemy import bindparam, func, or_, select, update

from mesocosm.servers.woocommerce.models import Customer, Order
from mesocosm.servers.woocommerce.models.defaults import EMPTY_ADDRESS
from mesocosm.servers.woocommerce.refusals import denied, invalid, missing, not_found
from mesocosm.servers.woocommerce.store.selection import chosen, included_order
from mesocosm.servers.woocommerce.store.shop import STAFF, Part, Record, Row
from mesocosm.servers.woocommerce.values import (
    checked,
    choice,
    date,
    email,
    email_or_nothing,
    fields,
    free_slug,
    line,
    meta_data,
    slug_of,
    text,
    title,
    window,
)
from mesocosm.services.values import Check, Checks

PAID = ("processing", "completed")
"""Statuses of orders whose money counts as spent."""

_ADDRESS: Checks = dict.fromkeys(EMPTY_ADDRESS, line)
billing_address: Check = fields({**_ADDRESS, "email": email_or_nothing, "phone": line})
shipping_address: Check = fields({**_ADDRESS, "phone": line})
EMPTY_BILLING = {**EMPTY_ADDRESS, "email": "", "phone": ""}
EMPTY_SHIPPING = {**EMPTY_ADDRESS, "phone": ""}

_CHECKS: Checks = {
    "email": email,
    "first_name": line,
    "last_name": line,
    "username": title,
    "password": lambda value, name: text(value, name, 4_096),
    "billing": billing_address,
    "shipping": shipping_address,
    "meta_data": meta_data,
}
_HISTORY_CHECKS: Checks = {"date_created": date, "role": choice("customer", *STAFF)}
READ_ONLY = frozenset(
    [
        "id",
        "date_created",
        "date_created_gmt",
        "date_modified",
        "date_modified_gmt",
        "role",
        "is_paying_customer",
        "avatar_url",
        "orders_count",
        "total_spent",
        "_links",
    ]
)
_COLUMNS = select(*(column for column in Customer.__table__.c if column.key != "password"))
_BY_ID = _COLUMNS.where(Customer.id == bindparam("id"))
_BY_IDS = _COLUMNS.where(Customer.id.in_(bindparam("ids", expanding=True)))
_KEYS = select(Customer.id, Customer.email, Customer.username)
_KEYS_AMONG = _KEYS.where(
    (Customer.email == bindparam("email")) | (Customer.username == bindparam("username"))
)
_USERNAMES_FROM = select(Customer.username).where(Customer.username.startswith(bindparam("start")))
_BOUGHT = (
    select(
        Order.customer_id,
        func.count().label("orders_count"),
        func.coalesce(func.sum(Order.total).filter(Order.status.in_(PAID)), 0).label("total_spent"),
        func.count().filter(Order.status.in_(PAID)).label("paid_orders"),
    )
    .where(Order.customer_id.in_(bindparam("ids", expanding=True)), Order.status != "trash")
    .group_by(Order.customer_id)
)
_ORDERINGS = {
    "id": Customer.id,
    "name": Customer.display_name,
    "registered_date": Customer.date_created,
}


class NewCustomer(TypedDict, total=False):
    """A customer for ``add_customers``; only ``email`` is required."""

    email: str
    first_name: str
    last_name: str
    username: str
    role: str
    billing: dict[str, str]
    shipping: dict[str, str]
    meta_data: list[dict[str, Any]]
    date_created: str


@dataclass(frozen=True)
class CustomerFilter:
    """What a listing of customers asks for; ``None`` asks for nothing."""

    search: str | None = None
    email: str | None = None
    role: str = "customer"
    include: Sequence[int] | None = None
    exclude: Sequence[int] | None = None
    after: str | None = None
    before: str | None = None


class Customers(Part):
    """Customers and what they have bought.

    A record of a customer is its row (without the password) with ``orders_count``, ``total_spent`` (cents),
    ``is_paying_customer`` and ``meta_data``.
    """

    # -- reading ----------------------------------------------------------------------------------------

    def customer(self, customer_id: int) -> Row:
        """One customer."""
        self.authorise("view")
        return self._customer_records([self.customer_row(customer_id)])[0]

    def customer_row(self, customer_id: int) -> Record:
        """The row of a customer that exists."""
        rows = self.fetch(_BY_ID, id=customer_id)
        if not rows:
            raise not_found("woocommerce_rest_invalid_id", "Invalid resource ID.")
        return rows[0]

    def listed(
        self,
        wanted: CustomerFilter,
        *,
        page: int | None = None,
        per_page: int | None = None,
        orderby: str | None = None,
        order: str | None = None,
    ) -> tuple[list[Row], int]:
        """One page of the customers that a filter describes, and how many there are."""
        self.authorise("view")
        page, per_page = window(page, per_page)
        conditions = _conditions(wanted)
        if orderby == "include":
            ordering = [included_order(Customer, wanted.include)]
        else:
            column = _ORDERINGS[orderby or "name"]
            ordering = [column.desc(), Customer.id.desc()] if order == "desc" else [column.asc(), Customer.id]
        statement = _COLUMNS.where(*conditions).order_by(*ordering)
        rows = self.fetch(statement.limit(per_page).offset((page - 1) * per_page))
        return self._customer_records(rows), self.count(Customer, *conditions)

    def _customer_records(self, rows: Sequence[Record]) -> list[Row]:
        ids = [row["id"] for row in rows]
        bought = {row["customer_id"]: row for row in self.fetch(_BOUGHT, ids=ids)}
        meta = self.meta_of("customer", ids)
        return [
            dict(row)
            | {
                "orders_count": bought[row["id"]]["orders_count"] if row["id"] in bought else 0,
                "total_spent": bought[row["id"]]["total_spent"] if row["id"] in bought else 0,
                "is_paying_customer": row["id"] in bought and bought[row["id"]]["paid_orders"] > 0,
                "meta_data": meta.get(row["id"], []),
            }
            for row in rows
        ]

    # -- writing ----------------------------------------------------------------------------------------

    def create_customer(self, data: Mapping[str, Any]) -> Row:
        """A new customer."""
        self.authorise("create")
        values = checked(data, _CHECKS, READ_ONLY)
        if "email" not in values:
            raise missing("email")
        wanted = values.get("username", "")
        for row in self.fetch(_KEYS_AMONG, email=values["email"], username=wanted):
            raise _taken(row, values["email"])
        start = _username(values["email"])
        taken = {row["username"].lower() for row in self.fetch(_USERNAMES_FROM, start=start)}
        customer_id = self.next_id(Customer)
        self.add(Customer, [self._customer_row(values, customer_id, taken)])
        self.add_meta("customer", {customer_id: values.get("meta_data", [])})
        return self.customer(customer_id)

    def add_customers(self, customers: Iterable[NewCustomer]) -> list[int]:
        """Many customers at once; returns their ids. ``role`` may also be that of staff."""
        existing = self.fetch(_KEYS)
        emails = {row["email"].lower() for row in existing}
        usernames = {row["username"].lower() for row in existing}
        first = self.next_id(Customer)
        rows: list[Row] = []
        meta: dict[int, list[Row]] = {}
        for entry in customers:
            values = checked(entry, {**_CHECKS, **_HISTORY_CHECKS}, ())
            if "email" not in values:
                raise missing("email")
            if values["email"].lower() in emails:
                raise email_exists()
            if values.get("username", "").lower() in usernames:
                raise username_exists()
            row = self._customer_row(values, first + len(rows), usernames)
            emails.add(row["email"].lower())
            usernames.add(row["username"].lower())
            meta[row["id"]] = values.get("meta_data", [])
            rows.append(row)
        self.add(Customer, rows)
        self.add_meta("customer", meta)
        return [row["id"] for row in rows]

    def _customer_row(self, values: Row, customer_id: int, usernames: set[str]) -> Row:
        username = values.get("username") or free_slug(_username(values["email"]), usernames)
        created = values.get("date_created", self.today)
        first, last = values.get("first_name", ""), values.get("last_name", "")
        return {
            "id": customer_id,
            "email": values["email"],
            "username": username,
            "password": _hashed(customer_id, values["password"]) if values.get("password") else "",
            "first_name": first,
            "last_name": last,
            "display_name": f"{first} {last}".strip() or username,
            "role": values.get("role", "customer"),
            "billing": EMPTY_BILLING | values.get("billing", {}),
            "shipping": EMPTY_SHIPPING | values.get("shipping", {}),
            "date_created": created,
            "date_modified": created,
        }

    def update_customer(self, customer_id: int, data: Mapping[str, Any]) -> Row:
        """Change a customer; addresses are changed field by field."""
        actor = self.authorise("edit")
        before = self.customer_row(customer_id)
        if before["role"] == "administrator" and actor["role"] != "administrator":
            raise denied("woocommerce_rest_cannot_edit", "Sorry, you are not allowed to edit this resource.")
        values = checked(data, _CHECKS, READ_ONLY)
        self._check_unique(before, values)
        if not values:
            return self.customer(customer_id)
        meta = values.pop("meta_data", [])
        for address in ("billing", "shipping"):
            if address in values:
                values[address] = before[address] | values[address]
        if values.get("password"):
            values["password"] = _hashed(customer_id, values["password"])
        values["date_modified"] = self.today
        self.run(update(Customer).where(Customer.id == customer_id).values(values))
        self.change_meta("customer", customer_id, meta)
        return self.customer(customer_id)

    def _check_unique(self, before: Record, values: Row) -> None:
        if values.pop("username", before["username"]) != before["username"]:
            raise invalid("woocommerce_rest_customer_invalid_argument", "Username isn't editable.")
        wanted = values.get("email", before["email"])
        for row in self.fetch(_KEYS_AMONG, email=wanted, username=""):
            if row["id"] != before["id"]:
                raise invalid("woocommerce_rest_customer_invalid_email", "Email address is invalid.")

    def customer_rows(self, ids: Iterable[int]) -> dict[int, Record]:
        """The rows of those of these customers that exist, by id."""
        return {row["id"]: row for row in self.fetch(_BY_IDS, ids=list(ids))}


def _conditions(wanted: CustomerFilter) -> list[Any]:
    found = [] if wanted.role == "all" else [Customer.role == wanted.role]
    if wanted.email:
        found.append(Customer.email == email(wanted.email, "email"))
    if wanted.search:
        search = text(wanted.search, "search")
        columns = (Customer.display_name, Customer.username, Customer.email)
        found.append(or_(*(column.icontains(search, autoescape=True) for column in columns)))
    return found + chosen(Customer, wanted)


def _username(address: str) -> str:
    return slug_of(address.partition("@")[0]) or "customer"


def _hashed(customer_id: int, password: str) -> str:
    return hashlib.sha256(f"{customer_id}:{password}".encode()).hexdigest()


def _taken(row: Record, address: str) -> Exception:
    return email_exists() if row["email"].lower() == address.lower() else username_exists()


def email_exists() -> Exception:
    """What the product says to an address that somebody has registered with."""
    return invalid(
        "registration-error-email-exists",
        "An account is already registered with your email address. Please log in or use a different one.",
    )


def username_exists() -> Exception:
    """What the product says to a user name that somebody has."""
    return invalid(
        "registration-error-username-exists",
        "An account is already registered with that username. Please choose another.",
    )
