"""Knowledge of the family's checker."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from mesocosm.families import family

LIST = "clearance_list.csv"
HEADER = ("SKU", "Product Name", "Original Price", "Promotional Price", "Discount Ratio")
SUBSCRIBERS = "subscribers.csv"
TEMPLATE = "email_template.txt"


class Item(BaseModel):
    """A product of the shop."""

    model_config = ConfigDict(frozen=True)

    id: int
    sku: str
    name: str
    fate: str
    """Its kind, one of ``params.FATES``."""
    price: int
    """Regular price in cents."""
    discount: int
    """Discount in whole percent if it goes to clearance, else 0."""

    @property
    def promotional(self) -> int:
        """Promotional price in cents: prices are such that this is exact."""
        return self.price * (100 - self.discount) // 100


class Reader(BaseModel):
    """Somebody on the list of subscribers."""

    model_config = ConfigDict(frozen=True)

    name: str
    email: str
    fate: str
    """The fate of the subscription, one of ``params.READER_FATES``."""


class Expected(family.Expected):
    """Products for clearance, and subscribers to be told."""

    shop_email: str
    """Address of the account that sends."""
    category: int
    """Id of the clearance category."""
    moved: list[Item]
    """In the order of the list."""
    others: list[Item]
    """The rest of the catalogue."""
    readers: list[Reader]
    """To be written to."""
    spared: list[Reader]
    """On the list of subscribers too, but not to be written to."""
    subject: str
    body: str
    """The template with all but the name filled in, which stands as ``{{name}}``."""
