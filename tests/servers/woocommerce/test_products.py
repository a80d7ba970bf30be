"""Listing, reading and changing products."""

from __future__ import annotations

from typing import Any

import orjson
import pytest


def ids(products: list[dict[str, Any]]) -> list[int]:
    return [product["id"] for product in products]


def test_products_are_listed_newest_first_and_without_variations(shop: Any) -> None:
    assert ids(shop.call("products_list")) == [shop.STOOL, shop.SHIRT, shop.TABLE, shop.CHAIR]


def test_a_list_says_which_page_comes_next(shop: Any) -> None:
    first, more = shop.blocks("products_list", perPage=3)
    (last,) = shop.blocks("products_list", perPage=3, page=2)
    assert len(orjson.loads(first)) == 3
    assert orjson.loads(more) == {"next_page": 2, "total": 4}
    assert ids(orjson.loads(last)) == [shop.CHAIR]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"search": "OAK soli"}, ["CHAIR"]),
        ({"search": "ak"}, ["CHAIR"]),
        ({"search": "oak table"}, []),
        ({"sku": "CH-1,TA-1"}, ["TABLE", "CHAIR"]),
        ({"category": "16"}, ["STOOL", "TABLE", "CHAIR"]),
        ({"category": "18,17"}, ["STOOL", "SHIRT", "CHAIR"]),
        ({"tag": "1"}, ["CHAIR"]),
        ({"featured": True}, ["TABLE"]),
        ({"onSale": True}, ["SHIRT", "TABLE"]),
        ({"onSale": False}, ["STOOL", "CHAIR"]),
        ({"minPrice": "30", "maxPrice": "250.50"}, ["STOOL", "TABLE", "CHAIR"]),
        ({"maxPrice": "12"}, ["SHIRT"]),
        ({"stockStatus": "outofstock"}, []),
        ({"status": "draft"}, []),
        ({"include": [1, 6], "orderby": "include"}, ["CHAIR", "TABLE"]),
        ({"exclude": [1, 2]}, ["SHIRT", "TABLE"]),
        ({"after": "2024-11-01", "before": "2024-12-01T10:00:00"}, ["SHIRT"]),
        ({"after": "2024-11-01T10:00:00"}, ["STOOL"]),
        ({"orderby": "price", "order": "asc"}, ["SHIRT", "STOOL", "CHAIR", "TABLE"]),
        ({"orderby": "title", "order": "asc"}, ["STOOL", "TABLE", "CHAIR", "SHIRT"]),
        ({"orderby": "slug"}, ["SHIRT", "CHAIR", "TABLE", "STOOL"]),
        ({"orderby": "popularity"}, ["CHAIR", "SHIRT", "TABLE", "STOOL"]),
        ({"orderby": "rating"}, ["CHAIR", "TABLE", "SHIRT", "STOOL"]),
        ({"orderby": "id", "order": "asc"}, ["CHAIR", "STOOL", "SHIRT", "TABLE"]),
    ],
)
def test_products_can_be_filtered_and_ordered(
    shop: Any, arguments: dict[str, Any], expected: list[str]
) -> None:
    assert ids(shop.call("products_list", **arguments)) == [getattr(shop, name) for name in expected]


def test_a_product_has_the_fields_of_the_rest_api(shop: Any) -> None:
    product = shop.call("products_get", productId=shop.CHAIR)
    assert (product["price"], product["on_sale"], product["total_sales"]) == ("49.90", False, 2)
    assert product["date_created"] == product["date_created_gmt"] == "2024-06-01T10:00:00"
    assert product["categories"] == [{"id": shop.SEATS, "name": "Seats", "slug": "seats"}]
    assert product["meta_data"] == [{"id": 1, "key": "supplier", "value": "Acme"}]
    assert product["images"][0]["src"] == "https://shop.example.com/chair.png"
    assert (product["average_rating"], product["rating_count"]) == ("4.00", 1)
    assert product["permalink"].endswith("/product/oak-chair/")


def test_only_the_fields_that_were_asked_for_are_given(shop: Any) -> None:
    assert shop.call("products_list", perPage=1, fields=["id", "price"]) == [
        {"id": shop.STOOL, "price": "30"}
    ]
    said = shop.refusal("products_list", fields=["prize"])
    assert 'no field "prize"' in said
    assert "on_sale, " in said, "fields have their own names, though an argument is called onSale"


def test_a_sale_holds_within_its_dates_only(open_shop: Any) -> None:
    def move(store: Any) -> None:
        store.world.set_now(store.now.replace(day=25, hour=23))

    shop = open_shop(move)
    stool = shop.product(shop.STOOL, "price", "on_sale", "date_on_sale_to")
    assert stool == {"price": "24", "on_sale": True, "date_on_sale_to": "2025-01-25T23:59:59"}


def test_a_variable_product_costs_what_its_cheapest_variation_costs(shop: Any) -> None:
    shirt = shop.product(shop.SHIRT, "price", "on_sale", "stock_status", "variations")
    assert shirt["variations"] == [shop.RED, shop.BLUE]
    assert (shirt["price"], shirt["on_sale"], shirt["stock_status"]) == ("12", True, "instock")


def test_variations_are_listed_with_their_own_price_and_stock(shop: Any) -> None:
    red, blue = shop.call("products_variations_list", productId=shop.SHIRT)
    assert (red["sku"], red["price"], red["stock_quantity"], red["name"]) == ("TS-R", "15", 1, "Red")
    assert (blue["price"], blue["on_sale"], blue["stock_status"]) == ("12", True, "outofstock")
    assert blue["attributes"] == [{"id": 0, "name": "Color", "option": "Blue"}]
    assert "Invalid ID" in shop.refusal("products_variations_list", productId=shop.RED)


def test_a_new_product_gets_defaults_and_a_free_slug(shop: Any) -> None:
    product = shop.call("products_create", productData={"name": "Oak Chair", "regular_price": "9.5"})
    assert (product["slug"], product["price"], product["status"]) == ("oak-chair-2", "9.5", "publish")
    assert product["categories"][0]["name"] == "Uncategorized"
    assert (product["stock_quantity"], product["stock_status"]) == (None, "instock")
    assert product["date_created"].startswith("2025-01-15T09:00:")


def test_managed_stock_decides_the_stock_status(shop: Any) -> None:
    def made(**stock: Any) -> tuple[Any, ...]:
        data = {"name": "X", "manage_stock": True, "stock_status": "instock", **stock}
        product = shop.call("products_create", productData=data)
        return product["stock_status"], product["stock_quantity"], product["backordered"]

    assert made() == ("outofstock", 0, False)
    assert made(stock_quantity=-2, backorders="notify") == ("onbackorder", -2, True)
    assert made(stock_quantity=1) == ("instock", 1, False)


def test_stock_that_is_not_managed_is_not_counted(shop: Any) -> None:
    product = shop.call("products_update", productId=shop.CHAIR, productData={"manage_stock": False})
    assert (product["stock_quantity"], product["low_stock_amount"]) == (None, None)


def test_a_product_is_changed_field_by_field(shop: Any) -> None:
    changes = {
        "sale_price": "39.9",
        "categories": [{"id": shop.CLOTHES}],
        "tags": [],
        "meta_data": [{"key": "supplier", "value": "Best"}, {"key": "shelf", "value": 4}],
    }
    product = shop.call("products_update", productId=shop.CHAIR, productData=changes)
    assert (product["price"], product["on_sale"], product["name"]) == ("39.9", True, "Oak chair")
    assert ([c["id"] for c in product["categories"]], product["tags"]) == ([shop.CLOTHES], [])
    assert [(m["key"], m["value"]) for m in product["meta_data"]] == [("supplier", "Best"), ("shelf", 4)]
    assert product["date_modified"] > product["date_created"]


def test_clearing_the_sale_price_ends_the_sale(shop: Any) -> None:
    product = shop.call("products_update", productId=shop.TABLE, productData={"sale_price": ""})
    assert (product["price"], product["on_sale"]) == ("300", False)


def test_a_product_that_was_read_can_be_sent_back_unchanged(shop: Any) -> None:
    before = shop.call("products_get", productId=shop.TABLE)
    shop.call("products_update", productId=shop.TABLE, productData=before)
    after = shop.call("products_get", productId=shop.TABLE)
    assert {**after, "date_modified": "", "date_modified_gmt": ""} == {
        **before,
        "date_modified": "",
        "date_modified_gmt": "",
    }


def test_images_keep_their_ids_when_named_by_them(shop: Any) -> None:
    images = [{"src": "https://x.example/new.png"}, {"id": 1, "alt": "Chair"}]
    product = shop.call("products_update", productId=shop.CHAIR, productData={"images": images})
    assert [(image["id"], image["alt"]) for image in product["images"]] == [(2, ""), (1, "Chair")]


def test_search_finds_the_new_text_of_a_product_and_not_the_old(shop: Any) -> None:
    shop.call("products_update", productId=shop.CHAIR, productData={"description": "Walnut wood"})
    assert ids(shop.call("products_list", search="walnut")) == [shop.CHAIR]
    assert shop.call("products_list", search="solid") == []


def test_a_deleted_product_goes_to_the_trash_first(shop: Any) -> None:
    assert shop.call("products_delete", productId=shop.SHIRT)["status"] == "trash"
    assert shop.SHIRT not in ids(shop.call("products_list"))
    assert shop.product(shop.SHIRT, "status") == "trash"
    assert "already been deleted" in shop.refusal("products_delete", productId=shop.SHIRT)


def test_a_product_comes_back_from_the_trash_with_its_variations(shop: Any) -> None:
    shop.call("products_delete", productId=shop.SHIRT)
    product = shop.call("products_update", productId=shop.SHIRT, productData={"status": "publish"})
    assert (product["variations"], product["price"]) == ([shop.RED, shop.BLUE], "12")


def test_a_product_deleted_by_force_is_gone_with_its_variations(shop: Any) -> None:
    shop.call("products_delete", productId=shop.SHIRT, force=True)
    assert "woocommerce_rest_product_invalid_id" in shop.refusal("products_get", productId=shop.SHIRT)
    assert "woocommerce_rest_product_invalid_id" in shop.refusal("products_get", productId=shop.RED)


def test_a_sku_belongs_to_one_product(shop: Any) -> None:
    refusal = shop.refusal("products_create", productData={"name": "X", "sku": "CH-1"})
    assert refusal == "product_invalid_sku: Invalid or duplicated SKU."
    assert "SKU" in shop.refusal("products_update", productId=shop.TABLE, productData={"sku": "TS-R"})
    shop.call("products_delete", productId=shop.CHAIR)
    assert shop.call("products_create", productData={"name": "X", "sku": "CH-1"})["sku"] == "CH-1"


def test_a_product_whose_variations_lost_their_skus_stays_in_the_trash(shop: Any) -> None:
    shop.call("products_delete", productId=shop.SHIRT)
    taken = shop.call("products_create", productData={"name": "X", "sku": "TS-R"})
    back = {"productId": shop.SHIRT, "productData": {"status": "publish"}}
    assert shop.refusal("products_update", **back) == "product_invalid_sku: Invalid or duplicated SKU."
    assert shop.product(shop.SHIRT, "status") == shop.product(shop.RED, "status") == "trash"
    shop.call("products_delete", productId=taken["id"])
    own = {"productId": shop.SHIRT, "productData": {"status": "publish", "sku": "TS-R"}}
    assert "duplicated SKU" in shop.refusal("products_update", **own)
    assert shop.call("products_update", **back)["variations"] == [shop.RED, shop.BLUE]


def test_variations_are_not_changed_as_products(shop: Any) -> None:
    refusal = shop.refusal("products_update", productId=shop.RED, productData={"regular_price": "1"})
    assert "variations/<id> endpoint" in refusal
    assert "variations/<id> endpoint" in shop.refusal("products_delete", productId=shop.RED)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"regular_price": "N/A"}, "regular_price"),
        ({"sale_price": "-1"}, "sale_price"),
        ({"status": "bogus"}, "status"),
        ({"type": "book"}, "type"),
        ({"stock_quantity": "ten"}, "stock_quantity"),
        ({"stock_quantity": True}, "stock_quantity"),
        ({"manage_stock": "yes"}, "manage_stock"),
        ({"categories": [{"id": 99}]}, "categories"),
        ({"categories": [{"name": "Seats"}]}, "id"),
        ({"tags": [{"id": 7}]}, "tags"),
        ({"images": [{"alt": "x"}]}, "images"),
        ({"images": [{"src": "file:///etc/passwd"}]}, "images"),
        ({"date_on_sale_from": "soon"}, "date_on_sale_from"),
        ({"tax_class": "luxury"}, "tax_class"),
        ({"name": "a\0b"}, "name"),
        ({"prize": "5"}, "prize"),
        ({"meta_data": [{"value": "x"}]}, "meta_data"),
    ],
)
def test_what_a_product_cannot_have_is_refused(shop: Any, data: dict[str, Any], field: str) -> None:
    refusal = shop.refusal("products_update", productId=shop.CHAIR, productData=data)
    assert refusal.startswith(("rest_invalid_param: ", f"Argument 'productData.{field}' must be "))
    assert field in refusal


def test_reviews_are_listed_newest_first_and_by_status(shop: Any) -> None:
    (review,) = shop.call("products_reviews_list", productId=shop.CHAIR)
    assert (review["rating"], review["reviewer"], review["status"]) == (4, "Bob Ray", "approved")
    assert shop.call("products_reviews_list", status="hold") == []
    assert shop.call("products_reviews_list", productId=shop.TABLE) == []
