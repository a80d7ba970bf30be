"""Tax rates, tax classes and the taxes of orders."""

from __future__ import annotations

from typing import Any

import pytest

CALIFORNIA = {"billing": {"country": "US", "state": "CA"}}


@pytest.fixture
def taxed(open_shop: Any) -> Any:
    """A shop that calculates taxes: 10 % in the US, 7.5 % in California, 2 % on top of that."""

    def enable(store: Any) -> None:
        store.change_setting("woocommerce_calc_taxes", "yes")
        store.taxes.create({"country": "US", "rate": "10"})
        store.taxes.create({"country": "US", "state": "CA", "rate": "7.5", "name": "State"})
        store.taxes.create(
            {"country": "", "rate": "2", "name": "Levy", "priority": 2, "compound": True, "shipping": False}
        )

    return open_shop(enable)


def test_a_tax_rate_is_created_listed_and_read(shop: Any) -> None:
    rate = shop.call("tax_rates_create", country="us", rate="7.25", state="ca", name="State", priority=2)
    assert (rate["country"], rate["state"], rate["rate"], rate["class"]) == ("US", "CA", "7.2500", "standard")
    reduced = shop.call("tax_rates_create", country="US", rate="1", **{"class": "reduced-rate"})
    assert [r["id"] for r in shop.call("tax_rates_list")] == [reduced["id"], rate["id"]]
    assert shop.call("tax_rates_list", taxClass="reduced-rate") == [reduced]
    assert shop.call("tax_rates_get", rateId=rate["id"]) == rate


def test_there_are_three_tax_classes(shop: Any) -> None:
    assert [c["slug"] for c in shop.call("tax_classes_list")] == ["standard", "reduced-rate", "zero-rate"]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"rate": "ten"}, "rate"),
        ({"rate": "-5"}, "rate"),
        ({"rate": "5000"}, "rate"),
        ({"country": "Mars"}, "country"),
        ({"class": "luxury"}, "tax_class"),
        ({"priority": 0}, "priority"),
    ],
)
def test_what_a_tax_rate_cannot_be_is_refused(shop: Any, arguments: dict[str, Any], field: str) -> None:
    assert field in shop.refusal("tax_rates_create", **{"country": "US", "rate": "5", **arguments})


def test_the_most_specific_rate_of_each_priority_applies(taxed: Any) -> None:
    data = {
        "line_items": [{"product_id": taxed.STOOL, "quantity": 2}],
        "shipping_lines": [{"method_id": "flat_rate", "total": "10"}],
        **CALIFORNIA,
    }
    order = taxed.call("orders_create", orderData=data)
    (line,) = order["line_items"]
    assert (line["total"], line["total_tax"]) == ("60.00", "5.79")
    assert line["taxes"] == [
        {"id": 2, "total": "4.50", "subtotal": "4.50"},
        {"id": 3, "total": "1.29", "subtotal": "1.29"},
    ]
    assert (order["cart_tax"], order["shipping_tax"], order["total_tax"]) == ("5.79", "0.75", "6.54")
    assert order["total"] == "76.54"
    assert [tax["rate_code"] for tax in order["tax_lines"]] == ["US-CA-STATE-1", "LEVY-2"]


def test_the_place_decides_the_tax(taxed: Any) -> None:
    lines = [{"product_id": taxed.STOOL, "quantity": 1}]
    abroad = {"line_items": lines, "billing": {"country": "FR"}}
    assert taxed.call("orders_create", orderData=abroad)["total_tax"] == "0.60"
    texas = {"line_items": lines, "shipping": {"country": "US", "state": "TX"}, **CALIFORNIA}
    assert taxed.call("orders_create", orderData=texas)["total_tax"] == "3.66"


def test_goods_that_are_not_taxed_are_not(taxed: Any) -> None:
    taxed.call("products_update", productId=taxed.STOOL, productData={"tax_status": "none"})
    data = {"line_items": [{"product_id": taxed.STOOL}], **CALIFORNIA}
    assert taxed.call("orders_create", orderData=data)["total_tax"] == "0.00"


def test_a_discount_lowers_the_tax(taxed: Any) -> None:
    data = {"line_items": [{"product_id": taxed.STOOL}], "coupon_lines": [{"code": "ten"}], **CALIFORNIA}
    order = taxed.call("orders_create", orderData=data)
    assert (order["discount_total"], order["discount_tax"]) == ("3.00", "0.29")
    assert order["coupon_lines"][0]["discount_tax"] == "0.29"
    assert order["line_items"][0]["total_tax"] == "2.61"


def test_prices_may_include_the_tax(open_shop: Any) -> None:
    def enable(store: Any) -> None:
        store.change_setting("woocommerce_calc_taxes", "yes")
        store.change_setting("woocommerce_prices_include_tax", "yes")
        store.taxes.create({"country": "US", "rate": "20"})

    shop = open_shop(enable)
    order = shop.call("orders_create", orderData={"line_items": [{"product_id": shop.STOOL}], **CALIFORNIA})
    assert (order["line_items"][0]["total"], order["total_tax"], order["total"]) == ("25.00", "5.00", "30.00")


def test_a_refund_of_pieces_gives_their_tax_back(taxed: Any) -> None:
    data = {"line_items": [{"product_id": taxed.STOOL, "quantity": 2}], "set_paid": True, **CALIFORNIA}
    order = taxed.call("orders_create", orderData=data)
    item = {"id": order["line_items"][0]["id"], "quantity": 1}
    refund = taxed.call("orders_refunds_create", orderId=order["id"], lineItems=[item])
    assert refund["amount"] == "32.89"
    assert refund["line_items"][0]["total_tax"] == "-2.89"
