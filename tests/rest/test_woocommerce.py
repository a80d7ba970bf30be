"""The public WooCommerce SDK, unmodified, against an episode."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import shop
from patience import PATIENCE
from rest.hosted import HostedWorld
from woocommerce import API

from mesocosm.services.calling import ToolError
from mesocosm.services.service import load_operations, load_service


@pytest.fixture(scope="module")
def reading(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    """A shop that the tests only read."""
    return episode_of(["woocommerce"], shop.fill_shop)


@pytest.fixture
def hosted(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    """A shop for one test."""
    return episode_of(["woocommerce"], shop.fill_shop)


def client(hosted: HostedWorld, token: str | None = None) -> API:
    key = token or hosted.id
    return API(
        url=hosted.api("woocommerce"),
        consumer_key=key,
        consumer_secret=key,
        version="wc/v3",
        timeout=PATIENCE,
    )


def got(api: API, path: str, **params: Any) -> Any:
    return ok(api.get(path, params=params))


def ok(response: Any, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    return response.json()


def refused(response: Any, status: int, code: str) -> Any:
    body = response.json()
    assert (response.status_code, body["code"], body["data"]["status"]) == (status, code, status), body
    return body


# -- reading ----------------------------------------------------------------------------------------------


def test_a_new_line_without_what_makes_it_one_is_passed_over(hosted: HostedWorld) -> None:
    api = client(hosted)
    data = {
        "line_items": [{"product_id": shop.TABLE}, {"product_id": None, "quantity": 3}],
        "shipping_lines": [{"method_id": "flat_rate", "total": "7.5"}, {"method_id": None, "total": "1"}],
        "fee_lines": [{"name": None, "total": "1.25"}],
    }
    order = ok(api.post("orders", data), 201)
    found = [len(order[lines]) for lines in ("line_items", "shipping_lines", "fee_lines")]
    assert (found, order["shipping_total"]) == ([1, 1, 0], "7.50")


def test_lists_are_walked_page_by_page_by_their_headers(reading: HostedWorld) -> None:
    api = client(reading)
    names, path, params = [], "products", {"per_page": 2, "orderby": "id", "order": "asc"}
    response = api.get(path, params=params)
    assert (response.headers["X-WP-Total"], response.headers["X-WP-TotalPages"]) == ("4", "2")
    names += [product["name"] for product in response.json()]
    following = response.links["next"]["url"]
    assert "oauth_" not in following
    page = api.get(path, params=params | {"page": 2})
    names += [product["name"] for product in page.json()]
    assert "next" not in page.links
    assert names == ["Oak chair", "Bar stool", "T-shirt", "Dining table"]


@pytest.mark.parametrize(
    ("params", "names"),
    [
        ({"search": "oak"}, ["Oak chair"]),
        ({"sku": "ST-1"}, ["Bar stool"]),
        ({"type": "variable"}, ["T-shirt"]),
        ({"slug": "oak-chair"}, ["Oak chair"]),
        ({"on_sale": "true", "type": "simple"}, ["Dining table"]),
        ({"category": shop.CLOTHES}, ["T-shirt"]),
        ({"min_price": "100"}, ["Dining table"]),
        ({"include[]": shop.TABLE}, ["Dining table"]),
        ({"after": "2024-11-30T00:00:00"}, ["Bar stool"]),
        ({"featured": "true", "_fields": "name"}, ["Dining table"]),
        ({"page": 9}, []),
        ({"parent": shop.SHIRT}, []),
        ({"parent_exclude": "0"}, []),
        ({"tax_class": "standard", "sku": "CH-1"}, ["Oak chair"]),
    ],
)
def test_products_are_filtered(reading: HostedWorld, params: Any, names: list[str]) -> None:
    assert [product["name"] for product in got(client(reading), "products", **params)] == names


def test_what_is_no_name_of_a_field_is_refused(reading: HostedWorld) -> None:
    for said in ("customers?_fields[0][a]=1", "customers?_fields[]=x", "orders?dp=\N{SUPERSCRIPT TWO}"):
        response = client(reading).get(said)
        assert response.status_code == 400, said


@pytest.mark.parametrize(
    "path",
    [
        "products",
        f"products/{shop.SHIRT}/variations",
        "products/categories",
        "products/tags",
        "products/reviews",
        "orders",
        f"orders/{shop.OLD_ORDER}/refunds",
        "customers",
        "coupons",
        "taxes",
    ],
)
def test_an_offset_is_where_a_list_begins(reading: HostedWorld, path: str) -> None:
    api = client(reading)
    everything = api.get(path, params={"per_page": 100})
    for offset in range(len(everything.json()) + 1):
        response = api.get(path, params={"per_page": 2, "offset": offset})
        assert response.json() == everything.json()[offset : offset + 2]
        assert response.headers["X-WP-Total"] == everything.headers["X-WP-Total"]
        assert "next" not in response.links
    for wrong in (-1, "first", 2**70):
        refused(api.get(path, params={"offset": wrong}), 400, "rest_invalid_param")


def test_a_link_has_each_parameter_once(reading: HostedWorld) -> None:
    response = client(reading).get("products", params={"per_page": 1, "type": "simple", "page": 2})
    for relation in ("prev", "next"):
        query = response.links[relation]["url"].partition("?")[2].split("&")
        assert sorted(part.partition("=")[0] for part in query) == ["page", "per_page", "type"]


def test_products_are_ordered(hosted: HostedWorld) -> None:
    api = client(hosted)
    ok(api.put(f"products/{shop.CHAIR}", {"menu_order": 2}))
    assert got(api, "products", orderby="modified")[0]["id"] == shop.CHAIR
    assert got(api, "products", orderby="menu_order", order="asc")[-1]["id"] == shop.CHAIR
    ok(api.put(f"orders/{shop.GUEST_ORDER}", {"customer_note": "Ring twice"}))
    assert got(api, "orders", orderby="modified")[0]["id"] == shop.GUEST_ORDER


@pytest.mark.parametrize(
    ("path", "params", "ids"),
    [
        (f"products/{shop.SHIRT}/variations", {"orderby": "id", "order": "desc"}, [shop.BLUE, shop.RED]),
        (f"products/{shop.SHIRT}/variations", {"include": "5"}, [shop.BLUE]),
        (
            "products/categories",
            {"orderby": "id", "order": "desc", "per_page": 2},
            [shop.CLOTHES, shop.SEATS],
        ),
        ("products/categories", {"orderby": "count", "order": "desc", "per_page": 1}, [shop.SEATS]),
        ("products/categories", {"slug": "seats"}, [shop.SEATS]),
        ("products/categories", {"orderby": "include", "include": "18,16"}, [shop.CLOTHES, shop.FURNITURE]),
        ("products/tags", {"exclude": str(shop.OAK)}, []),
        ("products/tags", {"slug": "oak", "orderby": "slug"}, [shop.OAK]),
        ("products/reviews", {"after": "2030-01-01T00:00:00"}, []),
        ("products/reviews", {"orderby": "id", "order": "asc"}, [1]),
        ("coupons", {"before": "2000-01-01T00:00:00"}, []),
        ("coupons", {"orderby": "title", "order": "asc", "include": "1"}, [shop.TEN_PERCENT]),
    ],
)
def test_other_lists_are_filtered_and_ordered(
    reading: HostedWorld, path: str, params: Any, ids: list[int]
) -> None:
    assert [one["id"] for one in got(client(reading), path, **params)] == ids


def test_what_belongs_to_the_catalogue_is_read(reading: HostedWorld) -> None:
    api = client(reading)
    chair = got(api, f"products/{shop.CHAIR}")
    assert (chair["sku"], chair["price"], chair["date_created_gmt"]) == (
        "CH-1",
        "49.90",
        "2024-06-01T10:00:00",
    )
    assert chair["meta_data"][0]["key"] == "supplier"
    variations = got(api, f"products/{shop.SHIRT}/variations")
    assert got(api, f"products/{shop.SHIRT}/variations/{shop.RED}") in variations
    assert got(api, f"products/categories/{shop.SEATS}")["parent"] == shop.FURNITURE
    assert [tag["name"] for tag in got(api, "products/tags")] == ["Oak"]
    (review,) = got(api, "products/reviews", product=shop.CHAIR)
    assert got(api, f"products/reviews/{review['id']}") == review


def test_sales_are_read(reading: HostedWorld) -> None:
    api = client(reading)
    assert [order["id"] for order in got(api, "orders", customer=shop.ANN, status="completed")] == [
        shop.OLD_ORDER
    ]
    assert [order["id"] for order in got(api, "orders", search="guest@example.org")] == [shop.GUEST_ORDER]
    assert got(api, f"orders/{shop.OLD_ORDER}")["total"] == "85.00"
    assert got(api, "customers", email="ann@example.org")[0]["id"] == shop.ANN
    assert got(api, f"customers/{shop.ANN}")["orders_count"] == 2
    assert got(api, "coupons", code="ten")[0]["id"] == shop.TEN_PERCENT


def test_reports_are_read(reading: HostedWorld) -> None:
    api = client(reading)
    slugs = [report["slug"] for report in got(api, "reports")]
    for slug in slugs:
        assert got(api, f"reports/{slug}") is not None
    (sales,) = got(api, "reports/sales", date_min="2025-01-10", date_max="2025-01-10")
    assert sales["total_sales"] == "85.00"
    totals = {row["slug"]: row["total"] for row in got(api, "reports/orders/totals")}
    assert (totals["completed"], totals["pending"]) == (1, 1)
    assert {"slug": "variable", "name": "Variable product", "total": 1} in got(api, "reports/products/totals")
    assert {"slug": "percent", "name": "Percentage discount", "total": 1} in got(
        api, "reports/coupons/totals"
    )
    ratings = {row["slug"]: row["total"] for row in got(api, "reports/reviews/totals")}
    assert ratings["rated_4_out_of_5"] == 1


# -- writing ----------------------------------------------------------------------------------------------


def test_products_and_variations_are_created_changed_and_deleted(hosted: HostedWorld) -> None:
    api = client(hosted)
    made = ok(
        api.post("products", {"name": "Scarf", "type": "variable", "categories": [{"id": shop.CLOTHES}]}), 201
    )
    path = f"products/{made['id']}/variations"
    data = {"regular_price": "9.50", "attributes": [{"name": "Color", "option": "Grün"}], "sku": "SC-G"}
    variation = ok(api.post(path, data), 201)
    assert (variation["price"], variation["attributes"][0]["option"]) == ("9.50", "Grün")
    changed = ok(api.put(f"{path}/{variation['id']}", {"regular_price": "11", "stock_status": "outofstock"}))
    assert (changed["price"], got(api, f"products/{made['id']}")["stock_status"]) == ("11", "outofstock")
    assert ok(api.delete(f"{path}/{variation['id']}", params={"force": True}))["id"] == variation["id"]
    assert got(api, path) == []
    assert ok(api.put(f"products/{made['id']}", {"name": "Shawl"}))["name"] == "Shawl"
    assert ok(api.delete(f"products/{made['id']}"))["status"] == "trash"
    refused(api.delete(f"products/{made['id']}"), 410, "woocommerce_rest_already_trashed")
    ok(api.delete(f"products/{made['id']}", params={"force": True}))
    refused(api.get(f"products/{made['id']}"), 404, "woocommerce_rest_product_invalid_id")


def test_a_batch_reports_each_result(hosted: HostedWorld) -> None:
    body = {"create": [{"name": "Lamp"}], "update": [{"id": shop.TABLE, "featured": False}], "delete": [999]}
    result = ok(client(hosted).post("products/batch", body))
    assert result["create"][0]["name"] == "Lamp"
    assert result["update"][0]["featured"] is False
    assert result["delete"][0]["error"]["code"] == "woocommerce_rest_product_invalid_id"


@pytest.mark.parametrize(
    ("path", "new", "change", "gone"),
    [
        (
            f"products/{shop.SHIRT}/variations",
            {"regular_price": "3", "sku": "N"},
            {"regular_price": "4"},
            "woocommerce_rest_product_variation_invalid_id",
        ),
        (
            "customers",
            {"email": "cy@example.org"},
            {"first_name": "Cy"},
            "woocommerce_rest_invalid_id",
        ),
        ("coupons", {"code": "new"}, {"amount": "6.00"}, "woocommerce_rest_shop_coupon_invalid_id"),
        ("products/categories", {"name": "New"}, {"name": "Newer"}, "woocommerce_rest_term_invalid"),
        ("products/tags", {"name": "New"}, {"name": "Newer"}, "woocommerce_rest_term_invalid"),
        (
            "products/reviews",
            {
                "product_id": shop.STOOL,
                "review": "Low.",
                "reviewer": "Ann",
                "reviewer_email": "a@example.org",
            },
            {"rating": 2},
            "woocommerce_rest_review_invalid_id",
        ),
        ("orders", {"status": "on-hold"}, {"status": "completed"}, "woocommerce_rest_shop_order_invalid_id"),
    ],
)
def test_every_kind_of_object_has_batches(
    hosted: HostedWorld, path: str, new: Any, change: Any, gone: str
) -> None:
    api = client(hosted)
    made = ok(api.post(f"{path}/batch", {"create": [new]}))["create"][0]
    assert new.items() <= made.items()
    changes = [{"id": made["id"], **change}, {"id": 999, **change}]
    updated, missing = ok(api.post(f"{path}/batch", {"update": changes}))["update"]
    assert change.items() <= updated.items()
    assert (missing["id"], missing["error"]["code"]) == (999, gone)
    assert ok(api.post(f"{path}/batch", {"delete": [made["id"]]}))["delete"][0]["id"] == made["id"]
    refused(api.get(f"{path}/{made['id']}"), 404, gone)


@pytest.mark.parametrize(
    "path",
    [
        f"products/{shop.SHIRT}",
        f"products/{shop.SHIRT}/variations/{shop.RED}",
        f"products/{shop.SHIRT}/variations/{shop.BLUE}",
        f"products/categories/{shop.SEATS}",
        f"products/tags/{shop.OAK}",
        "products/reviews/1",
        f"orders/{shop.OLD_ORDER}",
        f"customers/{shop.ANN}",
        f"coupons/{shop.TEN_PERCENT}",
        "payment_gateways/bacs",
    ],
)
def test_what_was_read_can_be_sent_back(hosted: HostedWorld, path: str) -> None:
    api = client(hosted)
    before = got(api, path)
    for send in (api.put, api.post):
        ok(send(path, before))
        refused = send(path, before | {"made_up": [1]})
        assert (refused.status_code, refused.json()["code"]) == (400, "rest_invalid_param")
        assert list(refused.json()["data"]["params"]) == ["made_up"]
        after = got(api, path)
        assert {k: v for k, v in after.items() if "date_modified" not in k} == {
            k: v for k, v in before.items() if "date_modified" not in k
        }


def test_a_variation_of_shared_stock_can_be_sent_back(hosted: HostedWorld) -> None:
    api = client(hosted)
    ok(api.post(f"products/{shop.SHIRT}", {"manage_stock": True, "stock_quantity": 7}))
    path = f"products/{shop.SHIRT}/variations/{shop.BLUE}"
    before = got(api, path)
    assert (before["manage_stock"], before["stock_quantity"]) == ("parent", 7)
    assert ok(api.put(path, before | {"regular_price": "17"}))["manage_stock"] == "parent"


def test_numbers_may_be_written_as_text(hosted: HostedWorld) -> None:
    api = client(hosted)
    chair = ok(api.put(f"products/{shop.CHAIR}", {"stock_quantity": "5", "featured": "true"}))
    assert (chair["stock_quantity"], chair["featured"]) == (5, True)
    order = ok(api.post("orders", {"line_items": [{"product_id": str(shop.CHAIR), "quantity": "2"}]}), 201)
    assert order["line_items"][0]["quantity"] == 2
    for wrong in ("5.5", "many", ""):
        refused(
            api.post("orders", {"line_items": [{"product_id": shop.CHAIR, "quantity": wrong}]}),
            400,
            "rest_invalid_param",
        )


def test_a_coupon_takes_from_the_cart_unless_told_otherwise(hosted: HostedWorld) -> None:
    coupon = ok(client(hosted).post("coupons", {"code": "x", "amount": "10"}), 201)
    assert (coupon["discount_type"], coupon["amount"]) == ("fixed_cart", "10.00")


def test_taxes_are_kept_by_class(hosted: HostedWorld) -> None:
    api = client(hosted)
    made = ok(api.post("taxes", {"country": "US", "rate": "7.5", "class": "reduced-rate"}), 201)
    assert (made["class"], got(api, "taxes", **{"class": "reduced-rate"})) == ("reduced-rate", [made])
    assert got(api, "taxes", **{"class": "zero-rate"}) == []


def test_options_of_a_gateway_are_set(hosted: HostedWorld) -> None:
    api = client(hosted)
    changed = ok(api.post("payment_gateways/bacs", {"settings": {"title": "Transfer"}, "order": "4"}))
    assert (changed["title"], changed["order"]) == ("Transfer", 4)
    assert got(api, "payment_gateways/bacs") == changed


def test_ratings_follow_the_reviews_that_are_written(hosted: HostedWorld) -> None:
    api = client(hosted)

    def rating() -> tuple[str, int]:
        chair = got(api, f"products/{shop.CHAIR}")
        return chair["average_rating"], chair["rating_count"]

    data = {
        "product_id": shop.CHAIR,
        "review": "Wobbly.",
        "reviewer": "Ann",
        "reviewer_email": "a@example.org",
    }
    made = ok(api.post("products/reviews", data | {"rating": 1}), 201)
    assert (made["status"], rating()) == ("approved", ("2.50", 2))
    path = f"products/reviews/{made['id']}"
    ok(api.put(path, {"rating": 2}))
    assert rating() == ("3.00", 2)
    ok(api.put(path, {"product_id": shop.STOOL}))
    assert (rating(), got(api, f"products/{shop.STOOL}")["average_rating"]) == (("4.00", 1), "2.00")
    assert ok(api.delete(path))["status"] == "trash"
    assert got(api, f"products/{shop.STOOL}")["average_rating"] == "0.00"
    refused(api.delete(path), 410, "woocommerce_rest_already_trashed")
    assert ok(api.delete(path, params={"force": True}))["previous"]["id"] == made["id"]
    refused(api.get(path), 404, "woocommerce_rest_review_invalid_id")


def test_an_order_is_taken_noted_refunded_and_deleted(hosted: HostedWorld) -> None:
    api = client(hosted)
    lines = [{"product_id": shop.CHAIR, "quantity": 2}]
    order = ok(api.post("orders", {"line_items": lines, "set_paid": True, "customer_id": shop.BOB}), 201)
    assert (order["status"], order["total"]) == ("processing", "99.80")
    path = f"orders/{order['id']}"
    note = ok(api.post(f"{path}/notes", {"note": "Gift wrap", "customer_note": True}), 201)
    assert got(api, f"{path}/notes/{note['id']}") == note
    assert note in got(api, f"{path}/notes", type="customer")
    refused(api.delete(f"{path}/notes/{note['id']}"), 501, "woocommerce_rest_trash_not_supported")
    ok(api.delete(f"{path}/notes/{note['id']}", params={"force": True}))
    refund = ok(api.post(f"{path}/refunds", {"amount": "9.80", "api_refund": False}), 201)
    assert got(api, f"{path}/refunds") == [refund]
    assert got(api, f"{path}/refunds/{refund['id']}")["amount"] == "9.80"
    ok(api.delete(f"{path}/refunds/{refund['id']}", params={"force": True}))
    assert ok(api.put(path, {"status": "completed"}))["date_completed"]
    assert ok(api.delete(path, params={"force": True}))["id"] == order["id"]
    refused(api.get(path), 404, "woocommerce_rest_shop_order_invalid_id")


def test_customers_coupons_and_terms_are_created_changed_and_deleted(hosted: HostedWorld) -> None:
    api = client(hosted)
    customer = ok(api.post("customers", {"email": "cy@example.org", "first_name": "Cy"}), 201)
    assert ok(api.put(f"customers/{customer['id']}", {"last_name": "Poe"}))["last_name"] == "Poe"
    ok(api.delete(f"customers/{customer['id']}", params={"force": True}))
    refused(api.get(f"customers/{customer['id']}"), 404, "woocommerce_rest_invalid_id")
    coupon = ok(api.post("coupons", {"code": "five", "amount": "5", "discount_type": "fixed_cart"}), 201)
    assert ok(api.put(f"coupons/{coupon['id']}", {"amount": "6"}))["amount"] == "6.00"
    ok(api.delete(f"coupons/{coupon['id']}", params={"force": True}))
    for kind in ("categories", "tags"):
        term = ok(api.post(f"products/{kind}", {"name": "Sale"}), 201)
        path = f"products/{kind}/{term['id']}"
        assert ok(api.put(path, {"name": "Summer sale"}))["name"] == "Summer sale"
        assert got(api, path)["slug"] == "sale"
        ok(api.delete(path, params={"force": True}))
        refused(api.get(path), 404, "woocommerce_rest_term_invalid")


def test_products_of_a_deleted_category_go_to_the_default_one(hosted: HostedWorld) -> None:
    api = client(hosted)
    ok(api.delete(f"products/categories/{shop.FURNITURE}", params={"force": True}))
    assert [c["name"] for c in got(api, f"products/{shop.TABLE}")["categories"]] == ["Uncategorized"]
    assert got(api, f"products/categories/{shop.SEATS}")["parent"] == 0


# -- the two doors ------------------------------------------------------------------------------------------


def test_what_one_door_changes_the_other_sees(hosted: HostedWorld) -> None:
    api = client(hosted)
    ok(api.put(f"products/{shop.CHAIR}", {"regular_price": "55"}))
    with hosted.tools() as tools:
        assert tools.call("woocommerce", "woo_products_get", productId=shop.CHAIR)["price"] == "55"
        tools.call(
            "woocommerce", "woo_products_update", productId=shop.CHAIR, productData={"regular_price": "56"}
        )
    assert got(api, f"products/{shop.CHAIR}")["price"] == "56"
    calls = [(entry.tool, entry.status) for entry in hosted.journal()]
    assert ("PUT /wp-json/wc/v3/products/{productId}", "ok") in calls
    assert all("oauth_" not in str(entry.arguments) for entry in hosted.journal())
    assert hosted.replay().identical


def test_every_group_of_tools_has_routes() -> None:
    """The tools of each topic are there under the vendor's paths."""
    below = (name.partition("/wp-json/wc/v3")[2] for name in load_operations("woocommerce"))
    paths = {path.strip("/").split("/")[0] for path in below}
    topics = {name.split("_")[1] for name in load_service("woocommerce").tools}
    renamed = {"tax": "taxes", "payment": "payment_gateways", "system": "system_status"}
    assert {renamed.get(topic, topic) for topic in topics} == paths - {
        "",
        "{path:path}",
        "data",
        "shipping_methods",
        "refunds",
    }


# -- refusals -----------------------------------------------------------------------------------------------


def test_a_wrong_key_opens_nothing(reading: HostedWorld, hosted: HostedWorld) -> None:
    before = len(reading.journal())
    for token in ("ck_wrong", hosted.id):
        refused(client(reading, token).get("products"), 401, "woocommerce_rest_authentication_error")
    assert len(reading.journal()) == before


@pytest.mark.parametrize(
    ("method", "path", "data", "status", "code"),
    [
        ("get", "products/999", None, 404, "woocommerce_rest_product_invalid_id"),
        ("get", "products?per_page=500", None, 400, "rest_invalid_param"),
        ("get", "products?orderby=magic", None, 400, "rest_invalid_param"),
        ("get", "nothing", None, 404, "rest_no_route"),
        ("get", "products/attributes/1", None, 404, "woocommerce_rest_taxonomy_invalid"),
        ("get", "products/abc/variations/4", None, 404, "rest_no_route"),
        ("put", "products", {}, 404, "rest_no_route"),
        ("post", "orders/1/notes/1", {}, 404, "rest_no_route"),
        ("post", "products/1/variations/4", {}, 404, "woocommerce_rest_product_variation_invalid_id"),
        ("get", "products?attribute=pa_color&attribute_term=3", None, 400, "rest_invalid_param"),
        ("get", "settings/secret", None, 404, "rest_setting_setting_group_invalid"),
        ("put", "system_status/tools/zip", {}, 404, "woocommerce_rest_system_status_tool_invalid_id"),
        ("post", "products/categories", {}, 400, "rest_missing_callback_param"),
        ("post", "products/tags", {}, 400, "rest_missing_callback_param"),
        ("post", "products/reviews", {"product_id": 1}, 400, "rest_missing_callback_param"),
        ("post", "coupons", {"amount": "5"}, 400, "rest_missing_callback_param"),
        ("post", "orders/1/notes", {}, 400, "rest_missing_callback_param"),
        ("post", "orders", {"coupon_lines": [{}]}, 400, "woocommerce_rest_invalid_coupon"),
        ("post", "products", {"name": "X", "sku": "CH-1"}, 400, "product_invalid_sku"),
        ("post", "products", {"regular_price": []}, 400, "rest_invalid_param"),
        ("post", "orders", {"line_items": [{"product_id": 999}]}, 404, "woocommerce_rest_product_invalid_id"),
        ("post", "customers", {}, 400, "rest_missing_callback_param"),
        ("post", "products", ["not", "an", "object"], 400, "rest_invalid_param"),
        ("put", "orders/1", {"status": "lost"}, 400, "rest_invalid_param"),
    ],
)
def test_a_refused_request_says_why_and_leaves_no_trace(
    hosted: HostedWorld, method: str, path: str, data: Any, status: int, code: str
) -> None:
    before = hosted.tables("woocommerce")
    api = client(hosted)
    response = api.get(path) if method == "get" else getattr(api, method)(path, data)
    body = response.json()
    assert (response.status_code, body["data"]["status"]) == (status, status), body
    assert body["code"] == code, body
    assert body["message"]
    # A tool calls its arguments by other names.
    assert not re.search(r"Data|[a-z]Id\b|Argument", body["message"]), body
    assert hosted.tables("woocommerce") == before
    assert all(entry.status != "fault" for entry in hosted.journal())


@pytest.mark.parametrize(
    ("method", "path", "data", "parameter", "why"),
    [
        ("get", "products", {"per_page": 500}, "per_page", "per_page must be between"),
        ("get", "customers", {"per_page": "x"}, "per_page", "per_page must be integer"),
        ("post", "products", {"name": 5}, "name", "name is not of type string."),
        ("post", "products", {"images": [{"alt": "A"}]}, "images[0].src", "An image needs a src."),
        ("post", "coupons", {"code": "x", "usage_limit": -1}, "usage_limit", "usage_limit must be between"),
        ("put", "products/1", {"dimensions": {"width": "w"}}, "dimensions.width", "dimensions.width must be"),
    ],
)
def test_an_error_names_the_parameter(
    reading: HostedWorld, method: str, path: str, data: Any, parameter: str, why: str
) -> None:
    api = client(reading)
    response = api.get(path, params=data) if method == "get" else getattr(api, method)(path, data)
    body = refused(response, 400, "rest_invalid_param")
    (found,) = body["data"]["params"].items()
    assert (found[0], found[1][: len(why)]) == (parameter, why)


def test_the_tools_stay_strict(hosted: HostedWorld) -> None:
    with hosted.tools() as tools:
        for data, reason in (({"made_up": 1}, "made_up"), ({"stock_quantity": "five"}, "must be integer")):
            with pytest.raises(ToolError, match=reason):
                tools.call("woocommerce", "woo_products_update", productId=shop.CHAIR, productData=data)


def test_a_key_of_somebody_who_is_no_staff_is_denied(episode_of: Callable[..., HostedWorld]) -> None:
    def fill(world: Any) -> None:
        shop.fill_shop(world)
        world.store(load_service("woocommerce").store).sign_in("ann@example.org")

    response = client(episode_of(["woocommerce"], fill)).get("products")
    refused(response, 403, "woocommerce_rest_cannot_view")
