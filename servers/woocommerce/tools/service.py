"""The service that the tools of all topics register with."""

from __future__ import annotations

from typing import Annotated, Literal

from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.services.schema import About
from mesocosm.services.service import Service

server = Service(
    "woocommerce",
    WooCommerceStore,
    instructions=(
        "A WooCommerce shop through its REST API (v3): products, orders, customers, coupons, reports, "
        "shipping, taxes and settings. Lists come in pages of 10 unless perPage (1 to 100) says otherwise; "
        "a second block of the result names the next page while there is one. Prices are decimal strings, "
        "times are UTC."
    ),
)


Period = Literal["week", "month", "last_month", "year"]
PageNumber = Annotated[int, About("Page number, from 1.")]
FieldNames = Annotated[list[str], About("Give only these fields.")]
ProductId = Annotated[int, About("ID of the product.")]
ZoneId = Annotated[int, About("ID of the zone.")]
Force = Annotated[bool, About("Delete for good instead of moving to the trash.")]
Order = Annotated[Literal["asc", "desc"], About("Direction; desc by default.")]
OrderId = Annotated[int, About("ID of the order.")]
ProductsPerPage = Annotated[int, About("Products per page, 1 to 100; 10 by default.")]
ReportPeriod = Annotated[
    Period,
    About("week is the last 7 days with today, month the present month so far, year the present year."),
]
FirstDay = Annotated[str, About("First day, such as 2025-01-01; used without a period.")]
LastDay = Annotated[str, About("Last day, which is included.")]
