"""Tools for webhooks."""
# ruff: noqa: N803 - the parameters are named as the vendor names them

from __future__ import annotations

from typing import Any, Literal

from mesocosm.servers.woocommerce.store import WooCommerceStore, window
from mesocosm.servers.woocommerce.tools.service import server
from mesocosm.servers.woocommerce.tools.shapes import Record, dates
from mesocosm.services.service import Page
from mesocosm.services.shapes import same

Status = Literal["active", "paused", "disabled"]
Topic = Literal[
    "coupon.created",
    "coupon.updated",
    "coupon.deleted",
    "customer.created",
    "customer.updated",
    "customer.deleted",
    "order.created",
    "order.updated",
    "order.deleted",
    "product.created",
    "product.updated",
    "product.deleted",
]


@server.reads
def woo_webhooks_list(
    store: WooCommerceStore,
    perPage: int | None = None,
    page: int | None = None,
    status: Status | None = None,
) -> Page:
    """List webhooks, newest first. Their secrets are not shown.

    Args:
        perPage: Webhooks per page, 1 to 100; 10 by default.
        page: Page number, from 1.
        status: Only webhooks of this status.
    """
    rows, total = store.configuration.webhooks(status=status, page=page, per_page=perPage)
    return Page([webhook_shape(row) for row in rows], *window(page, perPage), total)


@server.writes
def woo_webhooks_create(
    store: WooCommerceStore,
    name: str,
    topic: Topic,
    delivery_url: str,
    status: Status = "active",
    secret: str | None = None,
) -> dict[str, Any]:
    """Create a webhook and return it.

    Args:
        name: Name of the webhook.
        topic: The event to be told of.
        delivery_url: Web address to deliver to.
        status: Whether it delivers.
        secret: Key for the signature of deliveries; it is never shown again.
    """
    row = store.configuration.create_webhook(
        name=name, topic=topic, delivery_url=delivery_url, status=status, secret=secret
    )
    return webhook_shape(row)


def webhook_shape(row: Record) -> dict[str, Any]:
    """A webhook as the product shows it."""
    resource, _, event = row["topic"].partition(".")
    return {
        **same(row, "id", "name", "status", "topic"),
        "resource": resource,
        "event": event,
        "hooks": [f"woocommerce_{event}_{resource}"],
        "delivery_url": row["delivery_url"],
        **dates(row, "date_created", "date_modified"),
    }
