"""Tools for customers."""
# ruff: noqa: N803 - the parameters are named as the vendor names them

from __future__ import annotations

from typing import Any, Literal, TypedDict

from mesocosm.servers.woocommerce.store import CustomerFilter, WooCommerceStore, window
from mesocosm.servers.woocommerce.tools import shapes
from mesocosm.servers.woocommerce.tools.service import FieldNames, PageNumber, server
from mesocosm.services.schema import Cell, Words
from mesocosm.services.service import Page


class Address(TypedDict, total=False):
    """A postal address."""

    first_name: str
    last_name: str
    company: str
    address_1: str
    address_2: str
    city: str
    state: str
    postcode: str
    country: str
    phone: str


class BillingAddress(Address, total=False):
    """Where an invoice goes."""

    email: str


class MetaData(TypedDict, total=False):
    """A custom field."""

    key: str
    value: str


class MetaChange(TypedDict, total=False):
    """A custom field to set; null removes it."""

    key: str
    value: Cell


class CustomerDetails(TypedDict, total=False):
    """What may be said of a customer, new or not."""

    email: str
    first_name: str
    last_name: str
    username: str
    password: str
    billing: BillingAddress
    shipping: Address


class CustomerData(CustomerDetails, total=False):
    """What may be said of a new customer."""

    meta_data: list[MetaData]


class CustomerChanges(CustomerDetails, total=False):
    """What may be said of one that is there."""

    meta_data: list[MetaChange]


@server.reads
def woo_customers_list(
    store: WooCommerceStore,
    perPage: int | None = None,
    page: PageNumber | None = None,
    search: Words | None = None,
    email: str | None = None,
    role: Literal["all", "customer", "administrator", "shop_manager"] | None = None,
    orderby: Literal["id", "include", "name", "registered_date"] | None = None,
    order: Literal["asc", "desc"] | None = None,
    include: list[int] | None = None,
    exclude: list[int] | None = None,
    fields: list[str] | None = None,
) -> Page:
    """List customers by name, with the number of their orders and what they spent.

    Args:
        perPage: Customers per page, 1 to 100; 10 by default.
        search: Text that must occur in the name, user name or email address.
        email: Exact email address.
        role: Only users of this role; customer by default, so that staff is left out.
        orderby: What to order by; name by default.
        order: Direction; asc by default.
        include: Only customers with these IDs.
        exclude: No customers with these IDs.
        fields: Give only these fields of each customer, such as ["id", "email"].
    """
    wanted = CustomerFilter(search, email, role or "customer", include, exclude)
    records, total = store.customers.listed(wanted, page=page, per_page=perPage, orderby=orderby, order=order)
    return Page([shapes.only(shapes.customer(r), fields) for r in records], *window(page, perPage), total)


@server.reads
def woo_customers_get(
    store: WooCommerceStore, customerId: int, fields: FieldNames | None = None
) -> dict[str, Any]:
    """Get one customer with addresses, custom fields, number of orders and total spent.

    Args:
        customerId: ID of the customer.
    """
    return shapes.only(shapes.customer(store.customers.customer(customerId)), fields)


@server.writes
def woo_customers_create(store: WooCommerceStore, customerData: CustomerData) -> dict[str, Any]:
    """Create a customer and return it.

    Args:
        customerData: The email address, and if wanted names, username, password, addresses, meta_data.
    """
    return shapes.customer(store.customers.create_customer(customerData))


@server.writes(idempotent=True)
def woo_customers_update(
    store: WooCommerceStore, customerId: int, customerData: CustomerChanges
) -> dict[str, Any]:
    """Change a customer and return it.

    Args:
        customerId: ID of the customer.
        customerData: The fields to change, as for woo_customers_create except the username; addresses are
            changed field by field, meta_data by key.
    """
    return shapes.customer(store.customers.update_customer(customerId, customerData))
