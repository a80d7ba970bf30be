"""Reports, computed from the orders."""

from __future__ import annotations

from typing import Any

import pytest


def total_of(totals: list[dict[str, Any]], slug: str) -> int:
    return next(total["total"] for total in totals if total["slug"] == slug)


def test_sales_of_a_week_are_given_by_day(shop: Any) -> None:
    (report,) = shop.call("reports_sales", period="week")
    assert (report["total_sales"], report["total_orders"], report["total_items"]) == ("85.00", 1, 2)
    assert (report["net_sales"], report["total_shipping"], report["average_sales"]) == (
        "80.00",
        "5.00",
        "11.43",
    )
    assert report["totals_grouped_by"] == "day"
    assert list(report["totals"]) == [f"2025-01-{day:02}" for day in range(9, 16)]
    assert report["totals"]["2025-01-10"]["sales"] == "85.00"


def test_refunds_are_taken_off_sales(shop: Any) -> None:
    shop.call("orders_refunds_create", orderId=shop.OLD_ORDER, amount="25")
    (report,) = shop.call("reports_sales", period="month")
    assert (report["total_sales"], report["total_refunds"]) == ("60.00", "25.00")
    shop.call("orders_refunds_create", orderId=shop.OLD_ORDER, amount="60")
    (report,) = shop.call("reports_sales", period="month")
    assert (report["total_sales"], report["net_sales"], report["total_orders"]) == ("0.00", "0.00", 0)


@pytest.mark.parametrize(
    ("arguments", "orders"),
    [
        ({}, 0),
        ({"period": "week"}, 1),
        ({"period": "month"}, 1),
        ({"period": "last_month"}, 1),
        ({"period": "year"}, 1),
        ({"dateMin": "2024-12-20", "dateMax": "2025-01-10"}, 2),
        ({"dateMin": "2024-12-21", "dateMax": "2025-01-09"}, 0),
        ({"dateMin": "2024-01-01"}, 2),
        ({"dateMax": "2024-12-31"}, 1),
    ],
)
def test_sales_reports_cover_the_time_that_was_asked_for(
    shop: Any, arguments: dict[str, Any], orders: int
) -> None:
    (report,) = shop.call("reports_sales", **arguments)
    assert report["total_orders"] == sum(total["orders"] for total in report["totals"].values()) == orders


def test_long_reports_are_given_by_month(shop: Any) -> None:
    (report,) = shop.call("reports_sales", dateMin="2024-02-01", dateMax="2025-01-15")
    assert report["totals_grouped_by"] == "month"
    assert next(iter(report["totals"])) == "2024-02"
    assert len(report["totals"]) == 12
    assert report["totals"]["2024-12"]["customers"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"dateMin": "yesterday"},
        {"dateMin": "2025-02-30"},
        {"dateMin": "0001-01-01"},
        {"dateMin": "1901-01-01"},
        {"dateMin": "2025-01-10", "dateMax": "2025-01-09"},
        {"dateMax": "9999-12-31"},
    ],
)
def test_a_report_on_no_possible_time_is_refused(shop: Any, arguments: dict[str, Any]) -> None:
    assert "rest_invalid_param" in shop.refusal("reports_sales", **arguments)


def test_top_sellers_are_ranked_by_pieces(shop: Any) -> None:
    assert shop.call("reports_top_sellers", dateMin="2024-01-01") == [
        {"name": "Oak chair", "product_id": shop.CHAIR, "quantity": 2},
        {"name": "T-shirt", "product_id": shop.SHIRT, "quantity": 1},
    ]
    assert shop.call("reports_top_sellers") == []
    assert len(shop.call("reports_top_sellers", dateMin="2024-01-01", perPage=1, page=2)) == 1


def test_the_products_report_has_revenue_and_orders(shop: Any) -> None:
    chair, shirt = shop.call("reports_products")
    assert (chair["items_sold"], chair["net_revenue"], chair["orders_count"]) == (2, "80.00", 1)
    assert chair["extended_info"]["sku"] == "CH-1"
    assert (shirt["product_id"], shirt["net_revenue"]) == (shop.SHIRT, "15.00")
    assert len(shop.call("reports_products", period="week")) == 1


def test_orders_are_counted_by_status(shop: Any) -> None:
    totals = shop.call("reports_orders")
    assert {total["slug"]: total["total"] for total in totals if total["total"]} == {
        "pending": 1,
        "processing": 1,
        "completed": 1,
    }
    assert total_of(shop.call("reports_orders", period="last_month"), "processing") == 1
    assert total_of(shop.call("reports_orders", period="week"), "processing") == 0


def test_customers_are_counted_by_whether_they_paid(shop: Any) -> None:
    totals = shop.call("reports_customers")
    assert (total_of(totals, "paying"), total_of(totals, "non_paying")) == (1, 1)
    totals = shop.call("reports_customers", period="month")
    assert (total_of(totals, "paying"), total_of(totals, "non_paying")) == (0, 1)


def test_stock_is_reported_scarcest_first(shop: Any) -> None:
    report = shop.call("reports_stock")
    assert [row["id"] for row in report] == [
        shop.BLUE,
        shop.RED,
        shop.STOOL,
        shop.CHAIR,
        shop.SHIRT,
        shop.TABLE,
    ]
    assert report[0]["stock_status"] == "outofstock"


def test_low_stock_is_measured_by_the_product_or_the_shop(shop: Any) -> None:
    low = shop.call("reports_low_stock")
    assert [(row["id"], row["low_stock_threshold"]) for row in low] == [(shop.RED, 2), (shop.STOOL, 2)]
    assert low[0]["last_order_date"] == "2024-12-20T12:00:00"
    shop.call("products_update", productId=shop.CHAIR, productData={"stock_quantity": 3})
    assert shop.CHAIR in [row["id"] for row in shop.call("reports_low_stock")]
