"""The ``woocommerce`` package on what merchants' programs ask for besides products and orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import requests
import shop
from patience import PATIENCE
from rest.hosted import HostedWorld
from woocommerce import API


@pytest.fixture
def hosted(episode_of: Callable[..., HostedWorld]) -> HostedWorld:
    return episode_of(["woocommerce"], shop.fill_shop)


@pytest.fixture
def api(hosted: HostedWorld) -> API:
    return API(
        url=hosted.api("woocommerce"),
        consumer_key=hosted.id,
        consumer_secret=hosted.id,
        version="wc/v3",
        timeout=PATIENCE,
    )


def said(answer: requests.Response, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


def test_countries_continents_and_currencies(api: API) -> None:
    assert [one["slug"] for one in said(api.get("data"))] == ["continents", "countries", "currencies"]
    assert said(api.get("data/countries/us"))["states"][4]["code"] == "CA"
    countries = {one["code"]: one["name"] for one in said(api.get("data/countries", params={"per_page": 5}))}
    assert countries["CH"] == "Switzerland"
    assert "CH" in {one["code"] for one in said(api.get("data/continents/eu"))["countries"]}
    assert said(api.get("data/currencies/current"))["code"] == "USD"
    assert said(api.get("data/currencies/eur"))["name"] == "Euro"
    assert said(api.get("data/countries/xx"), 404)["code"] == "woocommerce_rest_data_invalid_location"


def test_ways_of_shipping_statuses_and_downloads(api: API) -> None:
    assert said(api.get("shipping_methods"))[0]["id"] == "flat_rate"
    assert said(api.get("shipping_methods/free_shipping"))["title"] == "Free shipping"
    assert said(api.get("orders/statuses"))[0] == {"slug": "pending", "name": "Pending payment"}
    customer = said(api.get("customers"))[0]["id"]
    assert said(api.get(f"customers/{customer}/downloads")) == []
    assert said(api.get("customers/99999/downloads"), 404)


def test_where_a_zone_lies(api: API) -> None:
    zone = said(api.post("shipping/zones", {"name": "Alps"}), 201)["id"]
    places = [{"code": "CH", "type": "country"}, {"code": "80*", "type": "postcode"}]
    made = said(api.put(f"shipping/zones/{zone}/locations", places))
    assert [{"code": one["code"], "type": one["type"]} for one in made] == places
    assert said(api.get(f"shipping/zones/{zone}/locations")) == made
    assert said(api.put(f"shipping/zones/{zone}/locations", [{"code": "CH", "type": "planet"}]), 400)
    assert said(api.get("shipping/zones/0/locations")) == []


def test_settings_one_by_one(api: API) -> None:
    path = "settings/general/woocommerce_currency"
    assert said(api.get(path))["value"] == "USD"
    assert said(api.put(path, {"value": "EUR"}))["value"] == "EUR"
    assert said(api.put(path, {"value": "shells"}), 400)
    update = [{"id": "woocommerce_calc_taxes", "value": "no"}]
    assert said(api.post("settings/general/batch", {"update": update}))["update"][0]["value"] == "no"
    assert said(api.get("settings/general/no_such"), 404)["code"] == "rest_setting_setting_invalid"


def test_attributes_their_terms_and_shipping_classes(api: API) -> None:
    colour = said(api.post("products/attributes", {"name": "Colour", "has_archives": True}), 201)
    assert (colour["slug"], colour["type"], colour["order_by"]) == ("pa_colour", "select", "menu_order")
    terms = f"products/attributes/{colour['id']}/terms"
    red = said(api.post(terms, {"name": "Red"}), 201)
    made = said(
        api.post(
            f"{terms}/batch", {"create": [{"name": "Blue"}], "update": [{"id": red["id"], "name": "Rose"}]}
        )
    )
    assert [one["name"] for one in (*made["create"], *made["update"])] == ["Blue", "Rose"]
    listed = api.get(terms, params={"orderby": "name", "order": "desc", "per_page": 1})
    assert (listed.headers["X-WP-Total"], [one["name"] for one in said(listed)]) == ("2", ["Rose"])
    assert said(api.post("products/attributes", {"name": "Colour"}), 400)
    assert said(api.post("products/attributes", {"nam": "x"}), 400)
    said(api.delete(f"products/attributes/{colour['id']}", params={"force": True}))
    assert said(api.get(terms), 404)
    heavy = said(api.post("products/shipping_classes", {"name": "Heavy"}), 201)
    changed = said(api.put(f"products/shipping_classes/{heavy['id']}", {"description": "x"}))
    assert (changed["slug"], changed["description"]) == ("heavy", "x")
    assert said(api.delete(f"products/shipping_classes/{heavy['id']}"), 501)


def test_parameters_that_are_not_registered_are_passed_over_and_others_served(api: API) -> None:
    product = said(api.get("products"))[0]["id"]
    said(api.get(f"products/{product}", params={"per_page": 3, "dates_are_gmt": True, "colour": "red"}))
    assert "brand" in said(api.get("products", params={"brand": "3"}), 400)["message"]
    assert said(api.get("products", params={"virtual": True})) == []
    assert said(api.get("products", params={"downloadable": False}))
    order = said(api.get("orders"))[0]
    shown = said(api.get(f"orders/{order['id']}", params={"dp": 4}))
    assert shown["total"] == order["total"] + "00"
    assert said(api.get("orders", params={"created_via": "no_such"})) == []
    assert said(api.post("coupons", {"code": "x", "amount": "1", "colour": "red"}), 400)


def test_the_index_and_what_a_path_takes(api: API) -> None:
    routes = said(api.get(""))["routes"]
    assert routes["/wc/v3/products/attributes"]["methods"] == ["GET", "POST"]
    assert said(api.options("products"))["methods"] == ["GET", "POST"]
    assert said(api.options("no/such"), 404)["code"] == "rest_no_route"


def test_refunds_of_all_orders(api: API) -> None:
    first, second = (
        one["id"] for one in said(api.get("orders", params={"status": "completed,processing"}))[:2]
    )
    made = []
    for order, reason in ((first, "Broken"), (second, "Too late"), (second, "Lost")):
        body = {"amount": "1.00", "reason": reason, "api_refund": False}
        made.append(said(api.post(f"orders/{order}/refunds", body), 201)["id"])
    listed = said(
        api.get("refunds", params={"order": "asc", "orderby": "id", "include": ",".join(map(str, made))})
    )
    assert [(one["id"], one["parent_id"]) for one in listed] == [
        *((made[0], first), (made[1], second), (made[2], second)),
    ]
    page = api.get("refunds", params={"parent": second, "per_page": 1})
    assert (said(page)[0]["id"], page.headers["X-WP-Total"]) == (made[2], "2")
    assert [one["reason"] for one in said(api.get("refunds", params={"search": "broken"}))] == ["Broken"]
    assert said(api.get("refunds", params={"orderby": "amount"}), 400)["code"] == "rest_invalid_param"


def test_a_product_is_duplicated(api: API) -> None:
    body = {
        "name": "Cap",
        "sku": "CAP",
        "type": "variable",
        "attributes": [{"name": "Size", "options": ["S", "L"], "variation": True}],
        "categories": [{"id": said(api.get("products/categories"))[0]["id"]}],
        "meta_data": [{"key": "cut", "value": "wide"}],
    }
    cap = said(api.post("products", body), 201)
    small = {"regular_price": "5.00", "sku": "CAP-S", "attributes": [{"name": "Size", "option": "S"}]}
    said(api.post(f"products/{cap['id']}/variations", small), 201)
    for number in (1, 2):
        copy = said(api.post(f"products/{cap['id']}/duplicate", {}))
        assert copy["id"] != cap["id"]
        assert (copy["name"], copy["status"], copy["sku"]) == ("Cap (Copy)", "draft", f"CAP-{number}")
        assert (copy["categories"], copy["meta_data"][0]["value"]) == (cap["categories"], "wide")
        (variation,) = said(api.get(f"products/{copy['id']}/variations"))
        assert (variation["sku"], variation["regular_price"]) == (f"CAP-S-{number}", "5.00")
    assert (
        said(api.post("products/999999/duplicate", {}), 404)["code"] == "woocommerce_rest_product_invalid_id"
    )


def test_the_index_leads_up_to_that_of_the_site(api: API, hosted: HostedWorld) -> None:
    [up] = said(api.get(""))["_links"]["up"]
    site = said(requests.get(up["href"], auth=(hosted.id, hosted.id), timeout=PATIENCE))
    assert site["namespaces"] == ["wc/v3"]
    # As with the shop itself, what is signed is a list as a text: one of numbers is to be written so.
    first = [one["id"] for one in said(api.get("products"))][:2]
    both = said(api.get("products", params={"include": ",".join(map(str, first))}))
    assert sorted(one["id"] for one in both) == sorted(first)
    assert api.get("products", params={"include": first}).status_code == 401
