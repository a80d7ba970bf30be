"""Error responses of WordPress with WooCommerce for disturbances:
https://developer.woocommerce.com/docs/apis/store-api/rate-limiting
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from sqlalchemy import select

from mesocosm.servers.woocommerce.models import Product
from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.services.troubles import Kind, Touched, Trouble

_CRITICAL = (
    "<p>There has been a critical error on this website.</p><p><a "
    'href="https://wordpress.org/documentation/article/faq-troubleshooting/">Learn more about '
    "troubleshooting WordPress.</a></p>"
)
_LIMITED = "Too many requests. Please wait 2 seconds before trying again."

TROUBLES: Mapping[Kind, Trouble] = {
    "rate_limits": Trouble(
        429,
        _LIMITED,
        code="rate_limit_exceeded",
        headers={"RateLimit-Limit": "25", "RateLimit-Remaining": "0", "RateLimit-Retry-After": "2"},
        told=f"WooCommerce API error: 429 rate_limit_exceeded: {_LIMITED}",
    ),
    "errors": Trouble(
        500,
        _CRITICAL,
        code="internal_server_error",
        told=f"WooCommerce API error: 500 internal_server_error: {_CRITICAL}",
    ),
    "timeouts": Trouble(
        504,
        "The upstream server did not answer in time.",
        code="gateway_timeout",
        told="WooCommerce API error: timeout of 30000ms exceeded",
    ),
    "sessions": Trouble(
        401,
        "Sorry, you cannot list resources.",
        code="woocommerce_rest_cannot_view",
        told="WooCommerce API error: 401 woocommerce_rest_cannot_view: the signature has expired; a new one "
        "is made with the next request.",
    ),
}


def touch(store: WooCommerceStore, dice: random.Random) -> Touched | None:
    """Another manager of the shop sorts a product elsewhere in its menu."""
    products = store.session.execute(select(Product.id, Product.menu_order).order_by(Product.id)).all()
    if not products:
        return None
    number, place = dice.choice(products)
    return Touched("products", {"id": number}, {"menu_order": place + 1})
