"""Reference data: countries, currencies, shipping methods, statuses, and the API's index."""

from __future__ import annotations

from typing import Any

import orjson

from mesocosm.doors.request import Request
from mesocosm.doors.rest import Api
from mesocosm.errors import UnreadableBody
from mesocosm.servers.woocommerce.models.shop import SHIPPING_METHODS
from mesocosm.servers.woocommerce.refusals import not_found
from mesocosm.servers.woocommerce.rest.service import NAMESPACE, api
from mesocosm.servers.woocommerce.store import WooCommerceStore, places
from mesocosm.servers.woocommerce.store.orders import STATUS_NAMES
from mesocosm.servers.woocommerce.tools.configuration import setting_shape
from mesocosm.services.schema import Json


def _href(request: Request, path: str) -> str:
    return f"{request.base}{api.prefix}/{NAMESPACE}{path}"


def _links(request: Request, one: str, all_: str) -> Json:
    return {"self": [{"href": _href(request, one)}], "collection": [{"href": _href(request, all_)}]}


# -- data ---------------------------------------------------------------------------------------------------


@api.get("/data")
def list_data(store: WooCommerceStore, request: Request) -> list[Json]:
    """List the kinds of data."""
    store.authorise("view")
    kinds = {
        "continents": "List of supported continents, countries, and states.",
        "countries": "List of supported states in a given country.",
        "currencies": "List of supported currencies.",
    }
    return [
        {"slug": slug, "description": text, "_links": {"self": [{"href": _href(request, f"/data/{slug}")}]}}
        for slug, text in kinds.items()
    ]


def _country(request: Request, code: str) -> Json:
    links = _links(request, f"/data/countries/{code.lower()}", "/data/countries")
    return {"code": code, "name": places.countries()[code], "states": places.states(code), "_links": links}


@api.get("/data/countries")
def list_countries(store: WooCommerceStore, request: Request) -> list[Json]:
    """All countries, by name."""
    store.authorise("view")
    return [_country(request, code) for code in places.countries()]


@api.get("/data/countries/{location}")
def get_country(store: WooCommerceStore, request: Request, location: str) -> Json:
    store.authorise("view")
    if location.upper() not in places.countries():
        raise not_found(
            "woocommerce_rest_data_invalid_location", "There are no locations matching these parameters."
        )
    return _country(request, location.upper())


def _continent(request: Request, code: str) -> Json:
    inside = [
        {"code": one, "name": places.countries()[one], "states": places.states(one)}
        for one in places.continents()[code]
    ]
    links = _links(request, f"/data/continents/{code.lower()}", "/data/continents")
    return {"code": code, "name": places.CONTINENTS[code], "countries": inside, "_links": links}


@api.get("/data/continents")
def list_continents(store: WooCommerceStore, request: Request) -> list[Json]:
    """All continents with their countries."""
    store.authorise("view")
    return [_continent(request, code) for code in places.CONTINENTS]


@api.get("/data/continents/{location}")
def get_continent(store: WooCommerceStore, request: Request, location: str) -> Json:
    store.authorise("view")
    if location.upper() not in places.CONTINENTS:
        raise not_found(
            "woocommerce_rest_data_invalid_location", "There are no locations matching these parameters."
        )
    return _continent(request, location.upper())


def _currency(request: Request, code: str) -> Json:
    name, symbol = places.currencies()[code]
    shown = "".join(
        one if one.isascii() and (one.isalnum() or one == ".") else f"&#{ord(one)};" for one in symbol
    )
    links = _links(request, f"/data/currencies/{code.lower()}", "/data/currencies")
    return {"code": code, "name": name, "symbol": shown, "_links": links}


@api.get("/data/currencies")
def list_currencies(store: WooCommerceStore, request: Request) -> list[Json]:
    store.authorise("view")
    return [_currency(request, code) for code in places.currencies()]


@api.get("/data/currencies/{currency}")
def get_currency(store: WooCommerceStore, request: Request, currency: str) -> Json:
    """One currency; ``current`` is the shop's."""
    store.authorise("view")
    code = store.setting("woocommerce_currency") if currency == "current" else currency.upper()
    if code not in places.currencies():
        raise not_found(
            "woocommerce_rest_data_invalid_currency", "There are no currencies matching these parameters."
        )
    return _currency(request, code)


# -- choices ------------------------------------------------------------------------------------------------


def _shipping_method(id_: str) -> Json:
    title, description, _ = SHIPPING_METHODS[id_]
    return {"id": id_, "title": title, "description": description}


@api.get("/shipping_methods")
def list_shipping_methods(store: WooCommerceStore) -> list[Json]:
    """The ways of shipping that zones can offer."""
    store.authorise("view")
    return [_shipping_method(id_) for id_ in SHIPPING_METHODS]


@api.get("/shipping_methods/{methodId}")
def get_shipping_method(store: WooCommerceStore, methodId: str) -> Json:  # noqa: N803 - as other ids that are words
    """One way of shipping."""
    store.authorise("view")
    if methodId not in SHIPPING_METHODS:
        raise not_found("woocommerce_rest_shipping_method_invalid", "Resource does not exist.")
    return _shipping_method(methodId)


@api.get("/orders/statuses")
def list_statuses(store: WooCommerceStore) -> list[Json]:
    """The statuses that orders can have."""
    store.authorise("view")
    return [{"slug": slug, "name": name} for slug, name in STATUS_NAMES.items()]


@api.get("/customers/{id}/downloads")
def list_downloads(store: WooCommerceStore, id: int) -> list[Json]:
    """List a customer's downloads: none, as this shop delivers no files."""
    store.customers.one(id)
    return []


@api.get("/products/brands")
def list_brands(store: WooCommerceStore) -> list[Json]:
    """The brands of products: this shop keeps none."""
    store.authorise("view")
    return []


@api.get("/shipping/zones/{zone_id}/locations")
def list_locations(store: WooCommerceStore, request: Request, zone_id: int) -> list[Json]:
    return _locations(request, zone_id, store.zones.zone_locations(zone_id))


@api.put("/shipping/zones/{zone_id}/locations", raw=True)
def update_locations(store: WooCommerceStore, request: Request, zone_id: int) -> list[Json]:
    """Replace the locations of a zone: a list of codes and types."""
    try:
        given = orjson.loads(request.body or b"[]")
    except orjson.JSONDecodeError as error:
        raise UnreadableBody(f"The body is not JSON: {error}") from None
    return _locations(request, zone_id, store.zones.set_zone_locations(zone_id, given))


def _locations(request: Request, zone_id: int, rows: list[Json]) -> list[Json]:
    path = f"/shipping/zones/{zone_id}"
    links = _links(request, f"{path}/locations", f"{path}/locations")
    links["describes"] = [{"href": _href(request, path)}]
    del links["self"]
    return [{**row, "_links": links} for row in rows]


# -- single settings ----------------------------------------------------------------------------------------


@api.get("/settings/{groupId}/{settingId}")
def get_setting(store: WooCommerceStore, groupId: str, settingId: str) -> Json:  # noqa: N803
    return setting_shape(store.configuration.one_setting(groupId, settingId))


@api.put("/settings/{groupId}/{settingId}")
def update_setting(store: WooCommerceStore, request: Request, groupId: str, settingId: str) -> Json:  # noqa: N803
    """A changed setting."""
    return setting_shape(store.configuration.set_setting(groupId, settingId, request.values.get("value")))


@api.post("/settings/{groupId}/batch")
def batch_settings(store: WooCommerceStore, groupId: str, update: list[dict[str, Any]]) -> Json:  # noqa: N803
    """Several changed settings."""
    changed = [
        store.configuration.set_setting(groupId, str(one.get("id")), one.get("value")) for one in update
    ]
    return {"update": [setting_shape(row) for row in changed]}


# -- the API itself -----------------------------------------------------------------------------------------


def _described(path: str, methods: list[str]) -> Json:
    found: Json = {"namespace": NAMESPACE, "methods": methods, "endpoints": []}
    for method in methods:
        route = next(one for one in api.routes if one.method == method and one.pattern.fullmatch(path))
        properties = route.signature.schema["properties"]
        required = route.signature.schema["required"]
        arguments = {
            name: {"required": name in required} | {key: one[key] for key in ("type", "enum") if key in one}
            for name, one in properties.items()
        }
        found["endpoints"].append({"methods": [method], "args": arguments})
    return found


@api.get("")
@api.get("/")
def index(store: WooCommerceStore, request: Request) -> Json:
    """The routes of the API."""
    store.authorise("view")
    routes: dict[str, Json] = {}
    for route in api.routes:
        name = route.template.removeprefix(api.prefix)
        if not name.startswith(f"/{NAMESPACE}"):
            continue
        one = routes.setdefault(name, {"namespace": NAMESPACE, "methods": [], "endpoints": []})
        if route.method not in one["methods"] and route.method != "OPTIONS":
            one["methods"].append(route.method)
            one["endpoints"].append({"methods": [route.method], "args": {}})
    links = {"up": [{"href": f"{request.base}/wp-json/"}]}
    return {"namespace": NAMESPACE, "routes": routes, "_links": links}


def site_index(store: WooCommerceStore, request: Request) -> Json:
    """The site, and the APIs that it has."""
    store.authorise("view")
    return {
        "name": "",
        "description": "",
        "url": request.base,
        "home": request.base,
        "gmt_offset": "0",
        "timezone_string": "UTC",
        "namespaces": [NAMESPACE],
        "authentication": [],
        "routes": {f"/{NAMESPACE}": {"namespace": NAMESPACE, "methods": ["GET"], "endpoints": []}},
    }


for _path in ("", "/"):
    Api.route(api, "GET", _path)(site_index)


@api.route("OPTIONS", "/{path:path}", writes=False)
def options(store: WooCommerceStore, request: Request, path: str) -> Json:
    """Describe the parameters of a path."""
    store.authorise("view")
    methods = [method for method in api.methods(f"{api.prefix}/{NAMESPACE}/{path}") if method != "OPTIONS"]
    if not methods:
        raise not_found("rest_no_route", "No route was found matching the URL and request method.")
    return _described(f"{api.prefix}/{NAMESPACE}/{path}", methods)
