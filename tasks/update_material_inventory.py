"""A furniture maker's bills of material: what orders use up, and what is still enough for how many pieces."""

from __future__ import annotations

import datetime as dt
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from weakref import WeakKeyDictionary

from mesocosm.errors import UsageError
from mesocosm.families.verdict import Check, finding
from mesocosm.kits.paging import found, spreadsheet, spreadsheet_rows
from mesocosm.services.world import World

MODELS = ("Avon", "Corvara", "Dover", "Fjell", "Lucca", "Marlow", "Skagen", "Tessin")
PIECES = ("Dining Table", "Bookcase", "Bench", "Desk", "Sideboard", "Armchair", "Wardrobe", "Bed Frame")
STOFFS = {
    "pcs": ("Screws 4x40", "Screws 4x50", "Dowels 8 mm", "Dowels 10 mm", "Cam locks", "Connecting bolts",
            "Threaded inserts", "Angle brackets", "Corner braces", "Barrel nuts", "Pocket screws",
            "Wood biscuits", "Housing screws", "Mending plates"),
    "m2": ("Oak board 27 mm", "Plywood 12 mm", "Chipboard 19 mm", "Ash board 26 mm", "Walnut board 25 mm",
           "Larch board 24 mm", "Beech board 20 mm", "Fibreboard 16 mm", "Maple board 22 mm",
           "Pine board 28 mm", "Birch board 18 mm", "Spruce board 21 mm"),
    "m": ("Edge band 22 mm", "Edge band 42 mm", "Veneer edging", "Oak strip", "Pine batten", "Ash strip",
          "Beech moulding", "Walnut edging", "Birch strip", "Maple edging", "Larch batten", "Spruce batten"),
    "L": ("Clear varnish", "Hard wax oil", "Linseed oil", "White lacquer", "Wood stain", "Shellac",
          "Matt lacquer", "Satin varnish", "Danish oil", "Teak oil", "Tung oil", "Grey glaze"),
}  # fmt: skip
"""Groups of materials: structure, main material, edges, coating. One may replace another of its unit."""
STEPS = {"pcs": Decimal(1), "m2": Decimal("0.05"), "m": Decimal("0.05"), "L": Decimal("0.005")}
RANGES = {"pcs": (2, 20), "m2": (10, 100), "m": (10, 100), "L": (10, 100)}
"""Quantities for a piece, in steps of the unit."""
CENT = Decimal("0.01")
DAY = dt.timedelta(days=1)
WINDOW = 24
"""Days before now in which orders were placed."""


def products_for(orders: int) -> int:
    """Return the number of products of a shop with this many new orders."""
    return max(3, min(24, 3 + orders // 40))


def materials_for(products: int) -> int:
    """Return the number of materials of this many products."""
    return min(48, 2 * products + 3)


class Works:
    """Products' materials, and orders, of an instance."""

    def __init__(self, entity: Any) -> None:
        truth = entity.truth
        self.rng = rng = truth.stream("works")
        self.truth = truth
        self.today = truth.now.date()
        count = len(truth.sets["product"])
        names = [f"{model} {piece}" for model in MODELS for piece in PIECES]
        self.products = rng.sample(names, count)
        self.skus = [f"F-{number}" for number in sorted(rng.sample(range(1100, 9900), count))]
        materials = len(truth.sets["material"])
        if materials < count + len(truth.sets["part"]) // count:
            raise UsageError(
                f"num_materials={materials}: it takes as many as num_products and materials_per_product"
            )
        units = [("pcs", "L", "m2", "m")[place % 4] for place in range(materials)]
        pools = {unit: rng.sample(pool, len(pool)) for unit, pool in STOFFS.items()}
        self.materials = [
            (unit, pools[unit][place // 4 % len(pools[unit])]) for place, unit in enumerate(units)
        ]
        self.codes = [f"M-{number}" for number in sorted(rng.sample(range(100, 999), materials))]
        self.parts = self._plan_parts([one.case for one in truth.sets["part"]])
        self.special = {
            kind: [part for part in self.parts if part["kind"] == kind] for kind in ("revised", "substituted")
        }
        self._met: set[str] = set()
        """Kinds of which there is one that meets its edge to the second."""
        self.orders = [self.order(one.case, rng) for one in truth.sets["order"]]
        self._stock: dict[str, Decimal] | None = None

    def _plan_parts(self, kinds: Sequence[str]) -> list[dict[str, Any]]:
        """Each product has a material of its own, which is what it runs out of first, and others; it is made
        of some board."""
        rng, products = self.rng, len(self.products)
        each = [len(kinds) // products] * products
        for place in range(0, products - 1, 2):  # one more here, one less there
            if each[place] > 1 and rng.random() < 0.6:
                each[place], each[place + 1] = each[place] - 1, each[place + 1] + 1
        shared = range(products, len(self.codes))
        parts: list[dict[str, Any]] = []
        for place, number in enumerate(each):
            others = self._others(place, shared, number - 1)
            chosen = [place, *others]
            parts += [self._part(place, one, chosen) for one in chosen]
        found = [{**part, "kind": kind} for part, kind in zip(parts, kinds, strict=True)]
        for part in found:
            if part["kind"] == "due":
                part["since"] = self.today
        return found

    def _others(self, own: int, shared: Sequence[int], count: int) -> list[int]:
        boards = [one for one in shared if self.materials[one][0] == "m2"]
        if not count or not boards or self.materials[own][0] == "m2":
            found: list[int] = self.rng.sample(shared, count)
            return found
        board = self.rng.choice(boards)
        return [board, *self.rng.sample([one for one in shared if one != board], count - 1)]

    def _part(self, product: int, material: int, used: Sequence[int]) -> dict[str, Any]:
        rng, unit = self.rng, self.materials[material][0]
        least, most = RANGES[unit]
        number = rng.randint(least, most)
        near = range(max(least, number // 2), min(most, number * 2) + 1)  # nobody triples what a piece needs
        other = rng.choice([one for one in near if one != number])
        quantity, revised = STEPS[unit] * number, STEPS[unit] * other
        alike = [one for one, (other, _) in enumerate(self.materials) if other == unit and one != material]
        free = [one for one in alike if one not in used] or alike or [material]
        since = self.today - dt.timedelta(days=rng.randint(6, WINDOW - 8))
        return {
            "sku": self.skus[product],
            "code": self.codes[material],
            "quantity": _number(quantity),
            "revised": _number(revised),
            "since": since,
            "ahead": self.today + dt.timedelta(days=rng.choice((1, 1, 2, 7, 19))),
            "substitute": self.codes[rng.choice(free)],
            "until": since + dt.timedelta(days=rng.randint(2, 5)),
        }

    # -- orders -----------------------------------------------------------------------------------------

    def order(self, kind: str, rng: random.Random) -> dict[str, Any]:
        """Draw the times of an order and its payment, and its items."""
        skus = rng.sample(self.skus, min(len(self.skus), rng.choice((1, 1, 2, 2, 3))))
        start = dt.datetime.combine(self.today, dt.time(), dt.UTC) - dt.timedelta(days=WINDOW)
        placed = start + dt.timedelta(
            days=rng.randrange(WINDOW - 3), seconds=rng.randrange(6 * 3600, 24 * 3600)
        )
        paid = placed + dt.timedelta(
            minutes=rng.choice((0, 1, 2, 5, 60, 400, 1500)), seconds=rng.randrange(60)
        )
        if rng.random() < 0.4:  # so that the end of a day is no sign of an edge
            paid = dt.datetime.combine(paid.date(), dt.time(), dt.UTC) + DAY + self._beside(rng)
            placed = min(placed, paid)
        parts = self.special["substituted" if kind in ("last_day", "day_after") else "revised"]
        if kind != "plain" and parts:
            part = rng.choice(parts)
            skus = [part["sku"], *(sku for sku in skus if sku != part["sku"])]
            edge = dt.datetime.combine(part["since"], dt.time(), dt.UTC)
            ending = dt.datetime.combine(part["until"] + DAY, dt.time(), dt.UTC)
            minutes = dt.timedelta(minutes=rng.randint(20, 600), seconds=rng.randrange(60))
            before, after = (
                self._beside(rng, exactly=kind, later=False),
                self._beside(rng, exactly=kind, later=True),
            )
            placed, paid = {
                "paid_later": (edge - minutes, edge + minutes),
                "first_moment": (edge - minutes, edge + after),
                "moment_before": (edge - minutes, edge + before),
                "last_day": (ending - minutes, ending + before),
                "day_after": (ending - minutes, ending + after),
            }[kind]
            placed = min(placed, paid)
        lines = [[sku, rng.choice((1, 1, 1, 2, 2, 3))] for sku in skus]
        return {"placed": placed, "paid": paid, "lines": lines}

    def _beside(
        self, rng: random.Random, *, exactly: str | None = None, later: bool | None = None
    ) -> dt.timedelta:
        """Draw a distance from the day's boundary; the first of each kind is the last or first second."""
        later = rng.random() < 0.5 if later is None else later
        first = exactly is not None and exactly not in self._met
        if exactly and later == (exactly in ("first_moment", "day_after")):
            self._met.add(exactly)
        seconds = 0 if first else rng.randrange(3600)
        return dt.timedelta(seconds=seconds if later else -1 - seconds)

    # -- stock ------------------------------------------------------------------------------------------

    def stock(self, code: str) -> Decimal:
        """Of a material, before the orders: so much that what is left meets a bound or lies beside it."""
        if self._stock is None:
            self._stock = self._plan_stock()
        return self._stock[code]

    def _plan_stock(self) -> dict[str, Decimal]:
        rng = self.rng
        parts = self.truth.sets["part"]
        used = consumed(self.truth.sets["order"], parts)
        today = needs(parts, self.today)
        pieces = {sku: rng.randint(9, 60) for sku in self.skus}
        left: dict[str, Decimal] = {}
        for sku in self.skus:
            for place, (code, quantity) in enumerate(today[sku].items()):
                room = quantity * (pieces[sku] + (0 if place == 0 else rng.randint(1, 40)))
                left[code] = max(left.get(code, Decimal(0)), room)
        for place, code in enumerate(self.codes):
            step = Decimal(1) if self.materials[place][0] == "pcs" else Decimal("0.005")
            unused = Decimal(rng.randint(12, 150))  # of what no product needs today
            if place < len(
                self.skus
            ):  # the one a product runs out of: exactly enough, a little less, a little more
                left[code] = left.get(code, unused) + (0, -1, 1)[place % 3] * step
            else:
                left[code] = left.get(code, unused) + step * rng.randint(0, 9)
                if self.materials[place][0] == "L":  # half a hundredth, to be rounded
                    left[code] = left[code].quantize(CENT, ROUND_HALF_UP) + step
        return {code: left[code] + used[code] for code in self.codes}


_WORKS: WeakKeyDictionary[Any, Works] = WeakKeyDictionary()


def _works(entity: Any) -> Works:
    if entity.truth not in _WORKS:
        _WORKS[entity.truth] = Works(entity)
    return _WORKS[entity.truth]


def _number(amount: Decimal) -> float | int:
    return int(amount) if amount == int(amount) else float(amount)


def draw_product(product: Any, rng: random.Random) -> dict[str, Any]:
    """Name, SKU, and how many could be made of the stock before the orders."""
    works, place = _works(product), int(product.ident)
    stock = {code: works.stock(code) for code in works.codes}
    sku = works.skus[place]
    before = producible(needs(works.truth.sets["part"], works.today), stock)[sku]
    return {"name": works.products[place], "sku": sku, "before": before}


def draw_material(material: Any, rng: random.Random) -> dict[str, Any]:
    """Code, name, unit, stock, and what of it should be there at least."""
    works, place = _works(material), int(material.ident)
    unit, name = works.materials[place]
    code = works.codes[place]
    stock = works.stock(code)
    least = max(1, int(stock * rng.randint(4, 30)) // 100)
    return {"code": code, "name": name, "unit": unit, "stock": _number(stock), "least": least}


def draw_part(part: Any, rng: random.Random) -> dict[str, Any]:
    """Draw how much of a material a product needs, and its possible changes."""
    return _works(part).parts[int(part.ident)]


def draw_order(order: Any, rng: random.Random) -> dict[str, Any]:
    """Draw the times of placing and payment, and the items."""
    works = _works(order)
    return works.order(order.case, rng) if order.background else works.orders[int(order.ident)]


def items_of(order: Any) -> list[dict[str, int]]:
    """The lines of an order as the shop wants them."""
    ids = {product["sku"]: product["item"]["id"] for product in order.truth.sets["product"]}
    return [{"product_id": ids[sku], "quantity": pieces} for sku, pieces in order["what"]["lines"]]


def check(world: World, fact: Callable[[str], Any]) -> Iterator[Check]:
    """A balance is a number: a text that reads like one cannot be reckoned with. Formats stay as they are."""
    changes = world.changes()
    cells = changes.table("google_sheet", "cells")
    texts = [now["text"] for before, now in cells.changed if (before["kind"], now["kind"]) == ("n", "s")]
    yield finding("numbers_stay_numbers", [f"{text} is a text" for text in texts])
    formats = [now for before, now in cells.changed if before["format"] != now["format"]]
    formats += [cell for cell in (*cells.added, *cells.removed) if cell["format"] is not None]
    wrong = [f"the cell in row {cell['row'] + 1}, column {cell['col'] + 1}" for cell in formats]
    for table, what in (("lines", "sizes of rows or columns"), ("merges", "merged cells")):
        wrong += [what] if changes.table("google_sheet", table) else []
    sheets = changes.table("google_sheet", "sheets").changed
    wrong += [f"sheet {now['title']}" for before, now in sheets if before["properties"] != now["properties"]]
    yield finding("formats_unchanged", wrong)


# -- what follows ---------------------------------------------------------------------------------------

Needs = dict[str, dict[str, Decimal]]


def needs(parts: Sequence[Mapping[str, Any]], day: dt.date) -> Needs:
    """By SKU, what a piece needs of each material on a day."""
    found: Needs = {}
    for part in parts:
        quantity, code = part["quantity"], part["bill"]["code"]
        if part["later"] is not None and day >= part["bill"]["since"]:
            quantity = part["later"]
        if part["instead"] is not None and part["bill"]["since"] <= day <= part["bill"]["until"]:
            code = part["instead"]
        one = found.setdefault(part["bill"]["sku"], {})
        one[code] = one.get(code, Decimal(0)) + Decimal(str(quantity))
    return found


def consumed(orders: Sequence[Mapping[str, Any]], parts: Sequence[Mapping[str, Any]]) -> dict[str, Decimal]:
    """Add up the materials that orders use."""
    days: dict[dt.date, dict[str, int]] = {}
    for order in orders:
        pieces = days.setdefault(order["what"]["paid"].date(), {})
        for sku, number in order["what"]["lines"]:
            pieces[sku] = pieces.get(sku, 0) + number
    used: dict[str, Decimal] = defaultdict(Decimal)
    for day, pieces in days.items():
        each = needs(parts, day)
        for sku, number in pieces.items():
            for code, quantity in each.get(sku, {}).items():
                used[code] += number * quantity
    return used


def producible(each: Needs, left: Mapping[str, Decimal]) -> dict[str, int]:
    """Return how many pieces of each product the materials allow."""
    return {
        sku: max(0, min(int(left[code] // quantity) for code, quantity in of.items()))
        for sku, of in each.items()
    }


def ledger(
    order: Sequence[Mapping[str, Any]],
    part: Sequence[Mapping[str, Any]],
    material: Sequence[Mapping[str, Any]],
    now: dt.datetime,
) -> dict[str, Any]:
    """Compute the stock of each material as displayed, and what it allows."""
    used = consumed(order, part)
    stock = {one["goods"]["code"]: one["goods"]["stock"] for one in material}
    left = {code: Decimal(str(amount)) - used[code] for code, amount in stock.items()}
    written = {
        code: _number(amount.quantize(CENT, ROUND_HALF_UP)) if used[code] else stock[code]
        for code, amount in left.items()
    }
    return {"left": written, "most": producible(needs(part, now.date()), left)}


# -- solving: from the prompt and the tools alone -------------------------------------------------------


class _Bills:
    """The bills of material as the sheets tell them."""

    def __init__(self, tools: Any, book: str) -> None:
        self.base = list(spreadsheet_rows(tools, book, "BOM"))
        self.changes = [
            row for row in spreadsheet_rows(tools, book, "BOM changes") if row["State"] == "approved"
        ]
        self.substitutions = list(spreadsheet_rows(tools, book, "Substitutions"))

    def need(self, sku: str, day: str) -> Iterator[tuple[str, Decimal]]:
        """Materials and quantities of a piece on a day (YYYY-MM-DD)."""
        for row in self.base:
            if row["SKU"] == sku:
                same = [
                    one for one in self.changes if (one["SKU"], one["Material"]) == (sku, row["Material"])
                ]
                newer = sorted(
                    (one["Valid from"], one["Quantity"]) for one in same if one["Valid from"] <= day
                )
                code = row["Material"]
                for one in self.substitutions:
                    if (one["SKU"], one["Material"]) == (sku, code) and one["From"] <= day <= one["Until"]:
                        code = one["Substitute"]
                        break
                yield code, Decimal(newer[-1][1] if newer else row["Quantity"])


def solve(tools: Any, prompt: str) -> None:
    """Read sheets and orders, deduct what the new paid ones use, and set what can still be made."""
    book = spreadsheet(tools, "Material Inventory Management")
    today = found(r"today is (\d{4}-\d\d-\d\d)", prompt)
    bills = _Bills(tools, book)
    handled = {row["Order"] for row in spreadsheet_rows(tools, book, "Handled")}
    used: dict[str, Decimal] = defaultdict(Decimal)
    for order in tools.pages("woocommerce", "woo_orders_list", perPage=100, status=["processing"]):
        if order["date_paid_gmt"] and str(order["id"]) not in handled:
            for line in order["line_items"]:
                for code, quantity in bills.need(line["sku"], order["date_paid_gmt"][:10]):
                    used[code] += quantity * line["quantity"]
    left: dict[str, Decimal] = {}
    for number, row in enumerate(list(spreadsheet_rows(tools, book, "Material_Inventory")), 2):
        code = row["Material"]
        left[code] = Decimal(row["Stock"]) - used[code]
        if used[code]:
            cell = {"spreadsheet_id": book, "sheet": "Material_Inventory", "range": f"D{number}"}
            amount = float(left[code].quantize(CENT, ROUND_HALF_UP))
            tools.call("google_sheet", "update_cells", **cell, data=[[amount]])
    for product in list(tools.pages("woocommerce", "woo_products_list", perPage=100)):
        of = list(bills.need(product["sku"], today))
        whole: dict[str, Decimal] = defaultdict(Decimal)
        for code, quantity in of:
            whole[code] += quantity
        most = max(0, min(int(left[code] // quantity) for code, quantity in whole.items()))
        if product["stock_quantity"] != most:
            data = {"stock_quantity": most}
            tools.call("woocommerce", "woo_products_update", productId=product["id"], productData=data)
    tools.call("claim_done", "claim_done")
