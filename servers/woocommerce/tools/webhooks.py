"""Tools for webhooks."""

from __future__ import annotations

from mesocosm.servers.woocommerce.store.webhooks import WEBHOOKS
from mesocosm.servers.woocommerce.tools.resources import ResourceTools

_tools = ResourceTools("woo_webhooks", "webhook", WEBHOOKS, lambda store: store.webhooks)
_tools.list("List webhooks, newest first. Their secrets are not shown.", "Webhooks")
_tools.create_of(
    "Create a webhook and return it.",
    name="Name of the webhook.",
    topic="The event to be told of.",
    delivery_url="Web address to deliver to.",
    status=("Whether it delivers.", "active"),
    secret="Key for the signature of deliveries; it is never shown again.",
)
