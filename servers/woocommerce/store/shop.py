"""Base of the shop's rules: actor, settings, ids, custom fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import (
    CursorResult,
    Executable,
    FromClause,
    Select,
    Table,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    select,
    table,
    text,
    update,
)

from mesocosm.errors import UsageError
from mesocosm.servers.woocommerce.models import Base, Customer, Meta, Setting, SignIn
from mesocosm.servers.woocommerce.models.customers import STAFF
from mesocosm.servers.woocommerce.refusals import denied, unauthorized
from mesocosm.servers.woocommerce.values import timestamp
from mesocosm.services.service import Rules

if TYPE_CHECKING:
    from mesocosm.servers.woocommerce.store import WooCommerceStore

Row = dict[str, Any]
Record = Mapping[str, Any]
Action = Literal["view", "create", "edit", "delete"]
Owner = Literal["product", "order", "customer", "coupon"]


_ACTOR = select(SignIn.permissions, Customer.id, Customer.role, Customer.display_name).join(
    Customer, Customer.id == SignIn.customer_id
)
_CUSTOMER_BY_EMAIL = select(Customer.id).where(Customer.email == bindparam("email"))
_SETTING = select(Setting.value).where(Setting.id == bindparam("id"))
_META = (
    select(Meta.id, Meta.owner_id, Meta.key, Meta.value)
    .where(Meta.owner == bindparam("owner"), Meta.owner_id.in_(bindparam("ids", expanding=True)))
    .order_by(Meta.owner_id, Meta.id)
)
_SEQUENCE: Select[Any] = (
    select(literal_column("seq")).select_from(table("sqlite_sequence")).where(text("name = :name"))
)

_REFUSALS: Mapping[Action, str] = {
    "view": "Sorry, you cannot view this resource.",
    "create": "Sorry, you are not allowed to create resources.",
    "edit": "Sorry, you are not allowed to edit this resource.",
    "delete": "Sorry, you are not allowed to delete this resource.",
}


class Shop(Rules):
    """Base of the store and its parts: actor, settings, ids, custom fields."""

    # -- who acts ---------------------------------------------------------------------------------------

    def sign_in(self, email: str, permissions: Literal["read", "write", "read_write"] = "read_write") -> None:
        """Let the tools act with an API key of this user; a new shop's is its administrator's.

        Only keys of an administrator or a shop manager may see or change anything.
        """
        rows = self.fetch(_CUSTOMER_BY_EMAIL, email=email)
        if not rows:
            raise UsageError(f"the shop has no user {email}")
        self.run(update(SignIn).values(customer_id=rows[0]["id"], permissions=permissions))

    @property
    def actor(self) -> Record:
        """The owner of the API key that the tools use."""
        return self.fetch(_ACTOR)[0]

    def authorise(self, action: Action) -> Record:
        """Refuse what the key does not permit; returns its owner."""
        actor = self.actor
        if actor["permissions"] == "read" and action != "view":
            raise unauthorized("The API key provided does not have write permissions.")
        if actor["permissions"] == "write" and action == "view":
            raise unauthorized("The API key provided does not have read permissions.")
        if actor["role"] not in STAFF:
            raise denied(f"woocommerce_rest_cannot_{action}", _REFUSALS[action])
        return actor

    # -- settings ---------------------------------------------------------------------------------------

    def setting(self, option: str) -> str:
        """The value of one option of the shop."""
        return str(self.fetch(_SETTING, id=option)[0]["value"])

    def change_setting(self, option: str, value: str) -> None:
        """Set an option, for generators: the tools only read them.

        Those with consequences: ``woocommerce_calc_taxes``, ``woocommerce_prices_include_tax``,
        ``woocommerce_tax_based_on``, ``woocommerce_default_country``, ``woocommerce_currency``,
        ``woocommerce_manage_stock``, ``woocommerce_notify_low_stock_amount``, ``woocommerce_enable_coupons``.
        """
        if not self.run(update(Setting).where(Setting.id == option).values(value=value)).rowcount:
            raise UsageError(f"the shop has no setting {option!r}")

    # -- writing ----------------------------------------------------------------------------------------

    def run(self, statement: Executable, rows: Sequence[Row] | Row | None = None) -> CursorResult[Any]:
        """Execute a statement that writes."""
        return self.session.connection().execute(statement, rows)

    def add(self, kind: type[Base], rows: Sequence[Row]) -> None:
        """Insert rows that have the same keys."""
        if rows:
            self.run(insert(kind), rows)

    def insert_one(self, kind: type[Base], row: Row) -> int:
        """Insert a row and return its id."""
        key = self.run(insert(kind).values(row)).inserted_primary_key
        assert key is not None
        return int(key[0])

    def change_many(self, kind: type[Base], values: Mapping[str, Any], rows: Sequence[Row]) -> None:
        """Change one row for each of ``rows``, by its ``b_id``; ``values`` binds the others of its keys."""
        target = kind.__table__
        assert isinstance(target, Table)
        if rows:
            self.run(update(target).where(target.c.id == bindparam("b_id")).values(values), rows)

    def next_id(self, kind: type[Base]) -> int:
        """The id that the next row of a table gets."""
        rows = self.fetch(_SEQUENCE, name=kind.__tablename__)
        return int(rows[0]["seq"]) + 1 if rows else 1

    def count(self, source: FromClause | type[Base], *conditions: Any) -> int:
        """Count the rows that meet the conditions."""
        statement = select(func.count().label("n")).select_from(source).where(*conditions)
        return int(self.fetch(statement)[0]["n"])

    @property
    def today(self) -> str:
        """The world's clock as the tables keep it."""
        return timestamp(self.now)

    # -- custom fields ----------------------------------------------------------------------------------

    def meta_of(self, owner: Owner, ids: Iterable[int]) -> dict[int, list[Row]]:
        """The custom fields of some objects, by id."""
        found: dict[int, list[Row]] = {}
        for row in self.fetch(_META, owner=owner, ids=list(ids)):
            entry = {"id": row["id"], "key": row["key"], "value": row["value"]}
            found.setdefault(row["owner_id"], []).append(entry)
        return found

    def add_meta(self, owner: Owner, entries: Mapping[int, Sequence[Row]]) -> None:
        """Write the custom fields of objects that have none yet."""
        rows = [
            {"owner": owner, "owner_id": owner_id, "key": entry.get("key", ""), "value": entry.get("value")}
            for owner_id, of_one in entries.items()
            for entry in of_one
        ]
        self.add(Meta, rows)

    def change_meta(self, owner: Owner, owner_id: int, entries: Sequence[Row]) -> None:
        """Set custom fields by id or key; a value of ``null`` removes one, a new key adds one."""
        existing = self.meta_of(owner, [owner_id]).get(owner_id, []) if entries else []
        for entry in entries:
            same = [old for old in existing if _is_same(old, entry)]
            if not same:
                self.add_meta(owner, {owner_id: [entry]})
            elif entry.get("value") is None:
                self.run(delete(Meta).where(Meta.id == same[0]["id"]))
            else:
                values = {"key": entry.get("key") or same[0]["key"], "value": entry["value"]}
                self.run(update(Meta).where(Meta.id == same[0]["id"]).values(values))

    def remove_meta(self, owner: Owner, owner_id: int) -> None:
        """Forget all custom fields of an object that is deleted."""
        self.run(delete(Meta).where(Meta.owner == owner, Meta.owner_id == owner_id))


class StorePart(Shop):
    """One topic of the store; the others are reached through ``store``."""

    def __init__(self, store: WooCommerceStore) -> None:
        super().__init__(store.world, store.session)
        self.store = store


def _is_same(old: Row, entry: Row) -> bool:
    return bool(old["id"] == entry["id"] if entry.get("id") else old["key"] == entry.get("key"))
