"""Customers and what they have bought."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import bindparam, func, select, update

from mesocosm.servers.woocommerce.models import Customer, Order
from mesocosm.servers.woocommerce.models.customers import EMPTY_BILLING, EMPTY_SHIPPING, STAFF
from mesocosm.servers.woocommerce.refusals import denied, invalid
from mesocosm.servers.woocommerce.store.resources import Collection, Filter, ShopResource, searched
from mesocosm.servers.woocommerce.store.shop import Record, Row
from mesocosm.servers.woocommerce.values import email, free_slug, slug_of

PAID = ("processing", "completed")
"""Statuses of orders whose money counts as spent."""

_BY_IDS = select(Customer.__table__).where(Customer.id.in_(bindparam("ids", expanding=True)))
_KEYS = select(Customer.id, Customer.email, Customer.username)
_KEYS_AMONG = _KEYS.where(
    (Customer.email == bindparam("email"))
    | (Customer.username == bindparam("username"))
    | Customer.username.startswith(bindparam("start"))
)
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
CUSTOMERS = ShopResource(
    Customer,
    things="Customers",
    required=["email"],
    orders={
        "id": Customer.id,
        "include": None,
        "name": Customer.display_name,
        "registered_date": Customer.date_created,
    },
    order=("name", "asc"),
    filters={
        "search": searched(
            "Text that must occur in the name, user name or email address.",
            Customer.display_name,
            Customer.username,
            Customer.email,
        ),
        "email": Filter(
            str, lambda address: Customer.email == email(address, "email"), "Exact email address."
        ),
        "role": Filter(
            Literal["all", "customer", "administrator", "shop_manager"],
            lambda role: None if role == "all" else Customer.role == role,
            "Only users of this role; customer by default, so that staff is left out.",
            usual="customer",
        ),
    },
    selects=("include", "exclude"),
    meta="customer",
)


class Customers(Collection):
    """Customers and what they have bought.

    A record of a customer is its row (without the password) with ``orders_count``, ``total_spent`` (cents),
    ``is_paying_customer`` and ``meta_data``.
    """

    resource = CUSTOMERS

    def _records(self, rows: Sequence[Record]) -> list[Row]:
        bought = {row["customer_id"]: row for row in self.fetch(_BOUGHT, ids=[row["id"] for row in rows])}
        return [
            {name: value for name, value in record.items() if name != "password"}
            | _spent(bought.get(record["id"]))
            for record in super()._records(rows)
        ]

    def change(self, id_: int, data: Mapping[str, Any]) -> Row:
        """Change a customer; addresses are changed field by field."""
        self._check_rank(self.row(id_)["role"])
        return super().change(id_, data)

    def _check_rank(self, role: str) -> None:
        if self.authorise("edit")["role"] != "administrator" and role == "administrator":
            raise denied("woocommerce_rest_cannot_edit", "Sorry, you are not allowed to edit this resource.")

    def _settled(self, row: Row, before: Record | None) -> Row:
        addresses = before or {"billing": EMPTY_BILLING, "shipping": EMPTY_SHIPPING}
        for address in ("billing", "shipping"):
            row[address] = addresses[address] | row[address]
        if row["password"] and row["password"] != (before and before["password"]):
            row["password"] = hashlib.sha256(f"{row['id']}:{row['password']}".encode()).hexdigest()
        return row

    def _check(self, rows: Sequence[Row], before: Record | None = None) -> None:
        if before:
            self._check_changed(rows[0], before)
            return
        known = self.fetch(_KEYS) if len(rows) > 1 else [one for row in rows for one in self._like(row)]
        emails = {row["email"].lower() for row in known}
        usernames = {row["username"].lower() for row in known}
        for row in rows:
            if row["email"].lower() in emails:
                raise email_exists()
            if row["username"].lower() in usernames:
                raise username_exists()
            row["username"] = row["username"] or free_slug(_username(row["email"]), usernames)
            names = f"{row['first_name']} {row['last_name']}".strip()
            row["display_name"] = names or row["username"]
            emails.add(row["email"].lower())
            usernames.add(row["username"].lower())

    def _check_changed(self, row: Row, before: Record) -> None:
        if row["username"] != before["username"]:
            raise invalid("woocommerce_rest_customer_invalid_argument", "Username isn't editable.")
        if any(
            one["id"] != row["id"] and one["email"].lower() == row["email"].lower() for one in self._like(row)
        ):
            raise invalid("woocommerce_rest_customer_invalid_email", "Email address is invalid.")

    def _like(self, row: Row) -> Sequence[Record]:
        """Those whose address or user name a new or changed one may not have, or have in part."""
        return self.fetch(
            _KEYS_AMONG, email=row["email"], username=row["username"], start=_username(row["email"])
        )

    def _remove(self, record: Record) -> None:
        """Orders of a customer who is deleted become a guest's."""
        if record["role"] in STAFF:
            told = "Sorry, you are not allowed to delete this resource."
            raise denied("woocommerce_rest_cannot_delete", told)
        self.run(update(Order).where(Order.customer_id == record["id"]).values(customer_id=0))
        super()._remove(record)

    def customer_rows(self, ids: Iterable[int]) -> dict[int, Record]:
        """The rows of those of these customers that exist, by id."""
        return {row["id"]: row for row in self.fetch(_BY_IDS, ids=list(ids))}


def _spent(bought: Record | None) -> Row:
    if bought is None:
        return {"orders_count": 0, "total_spent": 0, "is_paying_customer": False}
    return {name: bought[name] for name in ("orders_count", "total_spent")} | {
        "is_paying_customer": bought["paid_orders"] > 0
    }


def _username(address: str) -> str:
    return slug_of(address.partition("@")[0]) or "customer"


def email_exists() -> Exception:
    """Make the error for an address that is registered already."""
    return invalid(
        "registration-error-email-exists",
        "An account is already registered with your email address. Please log in or use a different one.",
    )


def username_exists() -> Exception:
    """Make the error for a user name that is taken."""
    return invalid(
        "registration-error-username-exists",
        "An account is already registered with that username. Please choose another.",
    )
