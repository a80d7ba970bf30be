"""Judges the products that were moved, their list, the mails, and that nothing else was touched."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from sqlalchemy import select

from mesocosm.checkers.filter_low_selling_products.mutants import MUTANTS
from mesocosm.families.verdict import Check, finding
from mesocosm.generators.filter_low_selling_products.expected import HEADER, LIST, Expected, Item
from mesocosm.kits.damage import touched_files, touched_tables
from mesocosm.kits.outbox import Outbox, OutboxLetter
from mesocosm.servers.woocommerce.models import ProductCategory
from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.services.contents import UnreadableContent, csv_lines, file_data, text_of
from mesocosm.services.world import World
from mesocosm.worlds.changes import Changes

__all__ = ["MUTANTS", "check"]

_LINE_END = r"[^\S\n]*\n[^\S\n]*"
_BETWEEN_WORDS = rf"(?:{_LINE_END}|[^\S\n]+)"


def check(world: World, expected: Expected) -> list[Check]:
    """One finding per rule of the prompt."""
    changes = world.changes()
    outbox = Outbox(world, changes, expected.shop_email)
    wanted = {reader.email.lower(): reader.name for reader in expected.readers}
    rows, trouble = _read_list(file_data(world.workspace, LIST))
    nothing = outbox.nothing()
    listed = Counter(row[0] for row in rows)
    skus = {item.sku: item for item in expected.moved}
    order = [row[0] for row in rows if row[0] in skus]
    places = {item.sku: place for place, item in enumerate(expected.moved)}
    categories = _categories(world)
    return [
        finding(
            "moved", [i.sku for i in expected.moved if expected.category not in categories.get(i.id, ())]
        ),
        finding(
            "left_other_categories",
            [i.sku for i in expected.moved if categories.get(i.id, set()) - {expected.category}],
        ),
        finding("not_moved", list(_moved_others(changes, expected))),
        finding("shop", touched_tables(world, changes, "woocommerce", ("product_categories",))),
        finding("list_format", trouble),
        finding("list_missing", [sku for sku in skus if sku not in listed]),
        finding(
            "list_extra",
            [sku for sku, number in listed.items() if sku not in skus or number > 1]
            or ([] if rows else trouble),
        ),
        finding("list_values", list(_wrong_values(rows, skus)) or ([] if rows else trouble)),
        finding(
            "list_order",
            [f"{b} after {a}" for a, b in pairwise(order) if places[b] < places[a]]
            or ([] if rows else trouble),
        ),
        *outbox.recipients(wanted),
        outbox.subjects(expected.subject),
        finding("body", list(_wrong_bodies(outbox.letters, wanted, expected)) or nothing),
        finding("attachment", list(_wrong_files(outbox.letters, expected)) or nothing),
        finding("mailbox", outbox.damage(with_files=True)),
        finding("files", touched_files(changes, made=(LIST,), additions=True)),
    ]


# -- shop -----------------------------------------------------------------------------------------------


_CATEGORIES = select(ProductCategory.product_id, ProductCategory.category_id)


def _categories(world: World) -> dict[int, set[int]]:
    """The categories of every product."""
    found: dict[int, set[int]] = defaultdict(set)
    for row in world.store(WooCommerceStore).fetch(_CATEGORIES):
        found[row["product_id"]].add(row["category_id"])
    return found


def _moved_others(changes: Changes, expected: Expected) -> Iterable[str]:
    """Changes to the categories of products that should have been left where they were."""
    ours = {item.id for item in expected.moved}
    skus = {item.id: item.sku for item in expected.others}
    difference = changes.table("woocommerce", "product_categories")
    for verb, rows in (("put into", difference.added), ("taken out of", difference.removed)):
        for row in rows:
            if row["product_id"] not in ours:
                sku = skus.get(row["product_id"], row["product_id"])
                yield f"{sku} was {verb} category {row['category_id']}"


# -- list -----------------------------------------------------------------------------------------------


def _read_list(data: bytes | UnreadableContent) -> tuple[list[tuple[str, ...]], list[str]]:
    """The rows below the header, and what is wrong with the form of the file."""
    text = data if isinstance(data, UnreadableContent) else text_of(data)
    lines = text if isinstance(text, UnreadableContent) else csv_lines(text)
    if isinstance(lines, UnreadableContent):
        return [], [f"{LIST} is {lines}"]
    rows = [tuple(cell.strip() for cell in line) for line in lines]
    if not rows or rows[0] != HEADER:
        return [], [f"the first line is {list(rows[0]) if rows else 'missing'}"]
    wrong = [
        f"a line of {len(row)} columns: {row[:6]}" if any(row) else "a blank line"
        for row in rows[1:]
        if len(row) != len(HEADER) or not any(row)
    ]
    return [row for row in rows[1:] if len(row) == len(HEADER) and any(row)], wrong or (
        [] if rows[1:] else ["no products"]
    )


def _wrong_values(rows: Sequence[tuple[str, ...]], skus: dict[str, Item]) -> Iterable[str]:
    for sku, name, price, promotional, ratio in rows:
        item = skus.get(sku)
        if item is None:
            continue
        if " ".join(name.split()) != " ".join(item.name.split()):
            yield f"{sku}: name {name!r}"
        if price != _money(item.price):
            yield f"{sku}: original price {price!r}"
        if promotional != _money(item.promotional):
            yield f"{sku}: promotional price {promotional!r}"
        if not re.fullmatch(rf"{item.discount}\s?%", ratio):
            yield f"{sku}: discount ratio {ratio!r}"


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


def _right(data: bytes, expected: Expected) -> bool:
    """True if a file is the correct list."""
    rows, trouble = _read_list(data)
    skus = {item.sku: item for item in expected.moved}
    return not trouble and [row[0] for row in rows] == list(skus) and not list(_wrong_values(rows, skus))


# -- mail -----------------------------------------------------------------------------------------------


def _wrong_bodies(sent: Sequence[OutboxLetter], wanted: dict[str, str], expected: Expected) -> Iterable[str]:
    for letter in sent:
        names = [wanted[address] for address in letter.recipients if address in wanted]
        right = [_as_sent(expected.body.replace("{{name}}", name)) for name in names]
        if letter.html:
            yield f"{', '.join(letter.recipients)}: there is HTML"
        elif names and not any(text.fullmatch(letter.body.strip()) for text in right):
            yield f"{', '.join(letter.recipients)}: {letter.body[:80]!r}"


def _as_sent(text: str) -> re.Pattern[str]:
    """Fits a text as it is sent: a mail program may break lines anywhere, but it joins none."""
    paragraphs = [
        _LINE_END.join(_BETWEEN_WORDS.join(map(re.escape, line.split())) for line in paragraph.split("\n"))
        for paragraph in text.strip().split("\n\n")
    ]
    return re.compile((_LINE_END + r"\n\s*").join(paragraphs))


def _wrong_files(sent: Sequence[OutboxLetter], expected: Expected) -> Iterable[str]:
    judged: dict[bytes, bool] = {}
    for letter in sent:
        to = ", ".join(letter.recipients)
        if [name for name, _ in letter.files] != [LIST]:
            yield f"{to}: attached are {[name for name, _ in letter.files]}"
            continue
        data = letter.files[0][1]
        if data not in judged:
            judged[data] = _right(data, expected)
        if not judged[data]:
            yield f"{to}: the attached list is not right"
