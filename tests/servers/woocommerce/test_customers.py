"""Customers and what they have bought."""

from __future__ import annotations

from typing import Any

import pytest


def ids(customers: list[dict[str, Any]]) -> list[int]:
    return [customer["id"] for customer in customers]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, [2, 3]),
        ({"order": "desc"}, [3, 2]),
        ({"search": "LEE"}, [2]),
        ({"search": "example.org"}, [2, 3]),
        ({"email": "Bob@Example.org"}, [3]),
        ({"role": "administrator"}, [1]),
        ({"role": "all", "orderby": "id"}, [1, 2, 3]),
        ({"orderby": "registered_date", "order": "desc"}, [3, 2]),
        ({"orderby": "include", "include": [3, 2]}, [3, 2]),
        ({"exclude": [2]}, [3]),
    ],
)
def test_customers_can_be_filtered_and_ordered(
    shop: Any, arguments: dict[str, Any], expected: list[int]
) -> None:
    assert ids(shop.call("customers_list", **arguments)) == expected


def test_what_a_customer_spent_is_added_up_from_paid_orders(shop: Any) -> None:
    ann = shop.call("customers_get", customerId=shop.ANN)
    assert (ann["orders_count"], ann["total_spent"], ann["is_paying_customer"]) == (2, "85.00", True)
    shop.call("orders_update", orderId=shop.PENDING_ORDER, orderData={"set_paid": True})
    assert shop.call("customers_get", customerId=shop.ANN)["total_spent"] == "115.00"
    bob = shop.call("customers_get", customerId=shop.BOB, fields=["orders_count", "is_paying_customer"])
    assert bob == {"orders_count": 0, "is_paying_customer": False}


def test_a_customer_is_created_with_a_user_name_and_without_showing_the_password(shop: Any) -> None:
    data = {
        "email": "ann@other.org",
        "password": "s3cret-phrase",
        "billing": {"city": "Rome"},
        "meta_data": [{"key": "vip", "value": "yes"}],
    }
    customer = shop.call("customers_create", customerData=data)
    assert (customer["username"], customer["role"], customer["billing"]["city"]) == (
        "ann-2",
        "customer",
        "Rome",
    )
    assert "s3cret-phrase" not in str(customer)
    assert b"s3cret-phrase" not in shop.state()


def test_a_customer_is_changed_field_by_field(shop: Any) -> None:
    changes = {"first_name": "Anna", "billing": {"city": "Rome"}, "password": "n3w-phrase"}
    customer = shop.call("customers_update", customerId=shop.ANN, customerData=changes)
    assert (customer["first_name"], customer["billing"]["city"]) == ("Anna", "Rome")
    assert customer["billing"]["country"] == "US"
    assert customer["date_modified"] > customer["date_created"]


def test_an_address_registers_once(shop: Any) -> None:
    refusal = shop.refusal("customers_create", customerData={"email": "ANN@example.org"})
    assert refusal.startswith("registration-error-email-exists: ")
    data = {"email": "x@example.org", "username": "Ann"}
    assert "username-exists" in shop.refusal("customers_create", customerData=data)
    changes = {"email": "bob@example.org"}
    assert "invalid_email" in shop.refusal("customers_update", customerId=shop.ANN, customerData=changes)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({}, "Missing parameter(s): email"),
        ({"email": "not-an-email"}, "email must be a valid email address"),
        ({"email": ""}, "email"),
        ({"email": "a@b.org", "billing": {"planet": "Mars"}}, "billing.planet"),
        ({"email": "a@b.org", "billing": {"email": "x"}}, "billing.email"),
        ({"email": "a@b.org", "first_name": "A\0"}, "first_name"),
    ],
)
def test_what_a_customer_cannot_be_is_refused(shop: Any, data: dict[str, Any], reason: str) -> None:
    assert reason in shop.refusal("customers_create", customerData=data)


def test_a_user_name_stays(shop: Any) -> None:
    changes = {"username": "queen"}
    assert "isn't editable" in shop.refusal("customers_update", customerId=shop.ANN, customerData=changes)
    assert "Invalid resource ID" in shop.refusal("customers_get", customerId=99)
    assert "Invalid resource ID" in shop.refusal("customers_update", customerId=99, customerData={})
