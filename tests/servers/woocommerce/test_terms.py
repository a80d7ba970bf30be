"""Categories and tags."""

from __future__ import annotations

from typing import Any


def names(terms: list[dict[str, Any]]) -> list[str]:
    return [term["name"] for term in terms]


def test_categories_are_listed_by_name_with_their_published_products(shop: Any) -> None:
    categories = shop.call("products_categories_list")
    assert names(categories) == ["Clothes", "Furniture", "Seats", "Uncategorized"]
    assert [category["count"] for category in categories] == [1, 1, 2, 0]
    shop.call("products_update", productId=shop.STOOL, productData={"status": "draft"})
    assert shop.call("products_categories_list", search="seat")[0]["count"] == 1


def test_categories_can_be_filtered(shop: Any) -> None:
    assert names(shop.call("products_categories_list", parent=shop.FURNITURE)) == ["Seats"]
    assert names(shop.call("products_categories_list", search="FUR")) == ["Furniture"]
    assert "Uncategorized" not in names(shop.call("products_categories_list", hideEmpty=True))


def test_a_category_is_created_below_another(shop: Any) -> None:
    data = {
        "name": "Arm chairs",
        "parent": shop.SEATS,
        "menuOrder": 2,
        "image": {"src": "https://x.org/a.png"},
    }
    category = shop.call("products_categories_create", categoryData=data)
    assert (category["slug"], category["parent"], category["count"]) == ("arm-chairs", shop.SEATS, 0)
    assert (category["menu_order"], category["image"]["src"]) == (2, "https://x.org/a.png")


def test_a_category_name_is_free_below_another_parent_only(shop: Any) -> None:
    assert shop.refusal("products_categories_create", categoryData={"name": "clothes"}).startswith(
        "term_exists"
    )
    below = {"name": "Clothes", "parent": shop.FURNITURE}
    assert shop.call("products_categories_create", categoryData=below)["slug"] == "clothes-2"


def test_what_a_category_cannot_be_is_refused(shop: Any) -> None:
    refusal = shop.refusal("products_categories_create", categoryData={"name": "X", "parent": 99})
    assert refusal == "woocommerce_rest_term_invalid: Parent term does not exist."
    assert "name" in shop.refusal("products_categories_create", categoryData={"name": "  "})


def test_tags_are_listed_with_their_products(shop: Any) -> None:
    assert shop.call("products_tags_list") == [
        {"id": shop.OAK, "name": "Oak", "slug": "oak", "description": "", "count": 1}
    ]
    assert shop.call("products_tags_list", search="pine") == []
    shop.call("products_update", productId=shop.CHAIR, productData={"tags": []})
    assert shop.call("products_tags_list", hideEmpty=True) == []
