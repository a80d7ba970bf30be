"""Webhooks, which deliver nothing to the outside."""

from __future__ import annotations

from mesocosm.servers.woocommerce.models import Webhook
from mesocosm.servers.woocommerce.store.resources import Collection, Filter, ShopResource

WEBHOOKS = ShopResource(
    Webhook,
    gone=("woocommerce_rest_shop_webhook_invalid_id", "Invalid ID."),
    things="Webhooks",
    required=["name", "topic", "delivery_url"],
    by=(Webhook.date_created.desc(), Webhook.id.desc()),
    selects=(),
)
WEBHOOKS.filters = {
    "status": Filter(
        WEBHOOKS.taken("status"),
        lambda status: Webhook.status == status,
        "Only webhooks of this status.",
    )
}


class Webhooks(Collection):
    """Webhooks, which deliver nothing to the outside."""

    resource = WEBHOOKS
