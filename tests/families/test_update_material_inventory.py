"""Materials of a furniture maker."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest
from trials import call, failures

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import Instance, build_instance
from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.tasks.update_material_inventory import consumed, needs, producible

FAMILY = load_family("update_material_inventory")
DONE = 1, {"target": 8_000}
BOOK = "Material Inventory Management"
HALF = Decimal("0.005")


def facts_of(instance: Instance, fact: str) -> list[dict[str, Any]]:
    """What was drawn of the entities that count, with their kinds."""
    expected: Any = instance.expected
    return [
        {**one["drawn"], "kind": one["kind"]}
        for one in expected.truth["entities"]
        if one["fact"] == fact and not one["ident"].startswith("b")
    ]


def read(value: Any) -> Any:
    """A day or a moment as it was kept."""
    match value:
        case {"$date": text}:
            return dt.date.fromisoformat(text)
        case {"$moment": text}:
            return dt.datetime.fromisoformat(text)
        case dict():
            return {name: read(inner) for name, inner in value.items()}
    return value


@pytest.fixture(scope="module", params=["8k", "64k"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Instance:
    size = FAMILY.task.growth.size_for(8_000 if request.param == "8k" else 64_000)
    folder = tmp_path_factory.mktemp("built")
    return build_instance(FAMILY, 2, folder / "x", parameters={"num_orders": size})


def test_every_boundary_occurs_at_every_length(built: Instance) -> None:
    bills = [read(one["bill"]) for one in facts_of(built, "part")]
    parts = [
        {
            "bill": bill,
            "quantity": bill["quantity"],
            "later": bill["revised"] if bill["kind"] in ("revised", "due") else None,
            "instead": bill["substitute"] if bill["kind"] == "substituted" else None,
        }
        for bill in bills
    ]
    orders = [{"what": read(one["what"])} for one in facts_of(built, "order")]
    expected: Any = built.expected
    today = dt.datetime.fromisoformat(expected.truth["now"]["$moment"]).date()
    assert today in {part["bill"]["since"] for part in parts if part["bill"]["kind"] == "due"}
    assert min(part["bill"]["ahead"] for part in parts if part["bill"]["kind"] == "ahead") > today
    starts = {
        dt.datetime.combine(bill["since"], dt.time(), dt.UTC) for bill in bills if bill["kind"] == "revised"
    }
    paid = {one["what"]["paid"] for one in orders}
    second = dt.timedelta(seconds=1)
    assert starts & paid
    assert {start - second for start in starts} & paid

    used = consumed(orders, parts)
    goods = [one["goods"] for one in facts_of(built, "material")]
    left = {one["code"]: Decimal(str(one["stock"])) - used[one["code"]] for one in goods}
    each = needs(parts, today)
    most = producible(each, left)
    rests = [left[code] - most[sku] * need for sku, of in each.items() for code, need in of.items()]
    assert Decimal(0) in rests, "enough for exactly so many"
    assert any(0 < rest <= 1 for rest in rests)
    # What is left of a material lacks one step to one piece more.
    assert any(
        0 < (most[sku] + 1) * need - left[code] <= (1 if need == int(need) else HALF)
        for sku, of in each.items()
        for code, need in of.items()
    )
    assert any(used[code] and amount % Decimal("0.01") == HALF for code, amount in left.items())


def test_quantities_are_reckoned_exactly() -> None:
    day = dt.date(2025, 3, 1)
    bill = {"sku": "F-1", "code": "M-1", "since": day, "until": day}
    part = {"bill": bill, "quantity": 0.1, "later": 0.3, "instead": None}
    assert needs([part], day - dt.timedelta(days=1)) == {"F-1": {"M-1": Decimal("0.1")}}
    assert needs([part], day) == {"F-1": {"M-1": Decimal("0.3")}}
    assert producible(needs([part], day), {"M-1": Decimal("0.9")}) == {"F-1": 3}
    assert producible(needs([part], day), {"M-1": Decimal("0.895")}) == {"F-1": 2}
    other = {**part, "instead": "M-2"}
    assert needs([other], day) == {"F-1": {"M-2": Decimal("0.3")}}
    assert needs([other], day + dt.timedelta(days=1)) == {"F-1": {"M-1": Decimal("0.3")}}


@pytest.fixture
def fork(done: Episode, tmp_path: Path) -> Iterator[Episode]:
    episode = done.fork(tmp_path / "fork")
    yield episode
    episode.close()


def book_of(episode: Episode) -> str:
    listed = orjson.loads(call(episode, "google_sheet", "list_spreadsheets"))
    return str(next(one["id"] for one in listed if one["title"] == BOOK))


def lines_of(episode: Episode, sheet: str = "Material_Inventory") -> list[list[str]]:
    place = {"spreadsheet_id": book_of(episode), "sheet": sheet}
    found = orjson.loads(call(episode, "google_sheet", "get_sheet_data", **place))
    lines: list[list[str]] = found["valueRanges"][0]["values"]
    return lines


def put(episode: Episode, cell: str, value: Any, sheet: str = "Material_Inventory") -> None:
    place = {"spreadsheet_id": book_of(episode), "sheet": sheet, "range": cell}
    call(episode, "google_sheet", "update_cells", **place, data=[[value]])


def test_the_solved_world_passes_and_so_do_other_ways_to_it(fork: Episode) -> None:
    assert failures(fork) == set()
    lines = lines_of(fork)
    for number, line in enumerate(lines[1:], 2):  # the same once more, typed as a text
        put(fork, f"D{number}", line[3])
    product = orjson.loads(call(fork, "woocommerce", "woo_products_list"))[0]
    for stock in (3, product["stock_quantity"]):  # changed, and set right again
        arguments = {"productId": product["id"], "productData": {"stock_quantity": stock}}
        call(fork, "woocommerce", "woo_products_update", **arguments)
    put(fork, "H30", "a remark")
    put(fork, "H30", "")
    assert failures(fork) == set()


def test_a_balance_that_is_a_text_is_found(fork: Episode) -> None:
    put(fork, "D2", f"'{lines_of(fork)[1][3]}")
    assert failures(fork) == {"numbers_stay_numbers"}


@pytest.mark.parametrize(
    ("cell", "value", "sheet", "finding"),
    [
        ("D2", 0.01, "Material_Inventory", "materials_rows_cells"),
        ("E2", 1, "Material_Inventory", "materials_rows_cells"),
        ("B3", "Something", "Material_Inventory", "materials_rows_cells"),
        ("G1", "Updated", "Material_Inventory", "materials_rows_columns"),
        ("A40", "M-999", "Material_Inventory", "materials_rows_extra"),
        ("C2", 1, "BOM", "google_sheet_sheet_change_extra"),
        ("A40", 4711, "Handled", "google_sheet_sheet_change_extra"),
    ],
)
def test_another_cell_is_found(fork: Episode, cell: str, value: Any, sheet: str, finding: str) -> None:
    put(fork, cell, value, sheet)
    assert finding in failures(fork)


def test_a_format_a_sheet_and_a_product_that_are_others_are_found(fork: Episode, tmp_path: Path) -> None:
    book_id = book_of(fork)
    with fork.world.editing() as world:
        store = world.store(SheetStore)
        book = store.sheets.book(book_id, "writer")
        sheet = next(one for one in store.sheets.all(book) if one.title == "Material_Inventory")
        where = {"sheetId": sheet.sheet_id, "startRowIndex": 1, "endRowIndex": 3, "startColumnIndex": 3}
        look = {"userEnteredFormat": {"numberFormat": {"type": "NUMBER", "pattern": "0.0"}}}
        request = {"range": where | {"endColumnIndex": 4}, "cell": look, "fields": "userEnteredFormat"}
        store.batches.apply(book, [{"repeatCell": request}])
    assert failures(fork) == {"formats_unchanged"}
    with fork.world.editing() as world:
        world.store(SheetStore).batches.apply(
            book, [{"updateDimensionProperties": {
                "range": {"sheetId": sheet.sheet_id, "dimension": "ROWS", "startIndex": 1, "endIndex": 2},
                "properties": {"hiddenByUser": True}, "fields": "hiddenByUser"}}],
        )  # fmt: skip
    assert failures(fork) == {"formats_unchanged", "materials_rows_columns"}
    call(fork, "google_sheet", "create_sheet", spreadsheet_id=book_id, title="Log")
    product = orjson.loads(call(fork, "woocommerce", "woo_products_list"))[-1]
    changed = {"stock_quantity": product["stock_quantity"] + 1, "name": "Stool"}
    call(fork, "woocommerce", "woo_products_update", productId=product["id"], productData=changed)
    listed = call(fork, "woocommerce", "woo_orders_list", perPage=1)
    order = orjson.loads(listed.partition("\n")[0])[0]["id"]
    call(fork, "woocommerce", "woo_orders_update", orderId=order, orderData={"customer_note": "Please ring."})
    assert {"formats_unchanged", "woocommerce_unchanged", "stock_otherwise"} <= failures(fork)
