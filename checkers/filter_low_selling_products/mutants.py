"""Near misses of a shop from which all slow sellers were moved, listed and announced."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import delete, insert, select, update

from mesocosm.families.verdict import Inapplicable, Mutant
from mesocosm.generators.filter_low_selling_products.expected import (
    HEADER,
    LIST,
    SUBSCRIBERS,
    Expected,
    Item,
    Reader,
)
from mesocosm.kits.near_misses import first, of_fate, spoilings
from mesocosm.kits.near_tables import Lines, NearTable, as_csv
from mesocosm.kits.outbox import Mailing, send, sent_to
from mesocosm.servers.email.models import Attachment, Email
from mesocosm.servers.email.store import EmailStore, NewEmail
from mesocosm.servers.woocommerce.models import Product, ProductCategory
from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.services.world import World

Apply = Callable[[World, Expected], None]


# -- shop -----------------------------------------------------------------------------------------------


def _put(world: World, item: Item, category: int) -> None:
    """A product is in this category alone."""
    session = world.store(WooCommerceStore).session
    session.execute(delete(ProductCategory).where(ProductCategory.product_id == item.id))
    session.execute(insert(ProductCategory), [{"product_id": item.id, "category_id": category}])


def _other_category(world: World, expected: Expected) -> int:
    """The category of some product that stays."""
    found = select(ProductCategory.category_id).where(ProductCategory.category_id != expected.category)
    return first(world.store(WooCommerceStore).session.scalars(found.limit(1)))


def _overlook(fate: str) -> Apply:
    """A product that should have been moved is in another category."""
    return lambda world, e: _put(world, of_fate(e.moved, fate), _other_category(world, e))


def _move_too(fate: str) -> Apply:
    return lambda world, e: _put(world, of_fate(e.others, fate), e.category)


def _take_out(world: World, expected: Expected) -> None:
    _put(world, of_fate(expected.others, "already_there"), _other_category(world, expected))


def _add_only(world: World, expected: Expected) -> None:
    row = {"product_id": expected.moved[0].id, "category_id": _other_category(world, expected)}
    world.store(WooCommerceStore).session.execute(insert(ProductCategory), [row])


def _change(world: World, item: Item, **values: str) -> None:
    change = update(Product).where(Product.id == item.id).values(**values)
    world.store(WooCommerceStore).session.execute(change)


def _cut_price(world: World, expected: Expected) -> None:
    _change(world, expected.moved[0], sale_price=_money(expected.moved[0].promotional))


def _unpublish(world: World, expected: Expected) -> None:
    _change(world, of_fate(expected.others, "out_of_stock"), status="draft")


def _new_category(world: World, expected: Expected) -> None:
    world.store(WooCommerceStore).categories.fill([{"name": "Outlet"}])


# -- list -----------------------------------------------------------------------------------------------


def _row(item: Item) -> list[str]:
    return [item.sku, item.name, _money(item.price), _money(item.promotional), f"{item.discount}%"]


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


_LIST: NearTable[Expected, Item] = NearTable(LIST, HEADER, lambda expected: expected.moved, _row)


def _discounted(fate: str, discount: int) -> Apply:
    """A product of that kind with another discount."""

    def change(lines: Lines, expected: Expected) -> None:
        item = of_fate(expected.moved, fate)
        if item.discount == discount:
            raise Inapplicable
        wrong = item.model_copy(update={"discount": discount})
        lines[1 + expected.moved.index(item)] = _row(wrong)

    return _LIST.edit(change)


def _list_too(fate: str) -> Apply:
    return _LIST.added(lambda e: of_fate(e.others, fate).model_copy(update={"discount": 45}))


def _by_sku(lines: Lines, expected: Expected) -> None:
    if sorted(lines[1:]) == lines[1:]:
        raise Inapplicable
    lines[1:] = sorted(lines[1:])


def _largest_first(lines: Lines, expected: Expected) -> None:
    lines[1:] = sorted(lines[1:], key=lambda line: (-int(line[4][:-1]), line[0]))


def _sold_for(item: Item, expected: Expected) -> str:
    return _money(item.promotional)


def _tie(one: Item, other: Item) -> bool:
    return one.discount == other.discount


def _fractions(lines: Lines, expected: Expected) -> None:
    for line in lines[1:]:
        line[4] = f"0.{line[4][:-1]}"


def _not_text(world: World, expected: Expected) -> None:
    world.workspace.write(LIST, b"PK\x03\x04\xff\xfe\x00", world.now)


# -- mail -----------------------------------------------------------------------------------------------


def _letter(world: World, expected: Expected, reader: Reader) -> NewEmail:
    return {
        "sender": expected.shop_email,
        "to": reader.email,
        "subject": expected.subject,
        "body": expected.body.replace("{{name}}", reader.name),
        "date": world.now,
        "attachments": [{"filename": LIST, "data": world.workspace.read(LIST)}],
    }


_MAILS: Mailing[Expected] = Mailing(lambda e: e.readers, lambda e: e.spared, _letter)


def _again(world: World, expected: Expected) -> None:
    reader = of_fate(expected.readers, "duplicate")
    send(world.store(EmailStore), expected.shop_email, _letter(world, expected, reader))


def _attached(data: Callable[[World, Expected], bytes] | None) -> Apply:
    """Replace or remove what is attached to the first of the mails."""

    def apply(world: World, expected: Expected) -> None:
        store = world.store(EmailStore)
        chosen = Attachment.email_id == sent_to(store, expected.readers[0].email).id
        if data is None:
            store.session.execute(delete(Attachment).where(chosen))
            return
        content = data(world, expected)
        store.session.execute(update(Attachment).where(chosen).values(data=content, size=len(content)))

    return apply


def _second_file(world: World, expected: Expected) -> None:
    store = world.store(EmailStore)
    store.session.add(
        Attachment(
            email_id=sent_to(store, expected.readers[0].email).id,
            filename=SUBSCRIBERS,
            content_type="text/csv",
            size=5,
            data=b"email",
        )
    )


def _others_name(mail: Email, expected: Expected) -> str:
    one, other = expected.readers[0], first(expected.readers[1:])
    return (mail.body or "").replace(one.name, other.name)


def _wrong_number(mail: Email, expected: Expected) -> str:
    number = len(expected.moved)
    return (mail.body or "").replace(f" {number} ", f" {number + 1} ")


def _shorter(world: World, expected: Expected) -> bytes:
    return as_csv([[*HEADER], *map(_row, expected.moved[:-1])])


def _tidy_list(world: World, expected: Expected) -> None:
    lines = world.workspace.read(SUBSCRIBERS).decode().lower()
    world.workspace.write(SUBSCRIBERS, lines.encode(), world.now)


MUTANTS = [
    Mutant("body on one line", "body", _MAILS.set("body", lambda m, _: " ".join((m.body or "").split()))),
    *(
        Mutant(f"overlooked {fate}", "moved", _overlook(fate))
        for fate in (
            "slow", "one_short", "day_over", "tier_edge", "old_sales", "today_sales", "void_orders",
            "sale_deeper",
        )
    ),
    Mutant("put into clearance besides", "left_other_categories", _add_only),
    *(
        Mutant(f"moved {fate}", "not_moved", _move_too(fate))
        for fate in (
            "popular", "boundary_sales", "boundary_day", "first_day", "young", "draft", "out_of_stock",
        )
    ),
    Mutant("emptied the category first", "not_moved", _take_out),
    Mutant("prices cut", "shop", _cut_price),
    Mutant("a product taken off the shop", "shop", _unpublish),
    Mutant("a category made", "shop", _new_category),
    *spoilings("woocommerce", "shop", "an order put on hold"),
    Mutant("a product not listed", "list_missing", _LIST.edit(lambda lines, _: lines.pop(len(lines) // 2))),
    Mutant("a product listed twice", "list_extra", _LIST.long()),
    *_LIST.oddities("list_format"),
    Mutant("listed what was there already", "list_extra", _list_too("already_there")),
    Mutant("listed what sold enough", "list_extra", _list_too("boundary_sales")),
    Mutant("an old sale's price", "list_values", _discounted("sale_ended", 50)),
    Mutant("a small sale's price", "list_values", _discounted("sale_shallow", 10)),
    Mutant("a large sale's price ignored", "list_values", _discounted("sale_deeper", 15)),
    Mutant("ratios as fractions", "list_values", _LIST.edit(_fractions)),
    Mutant("the reduced price twice", "list_values", _LIST.cell(HEADER[2], _sold_for)),
    Mutant("a name cut short", "list_values", _LIST.cell(HEADER[1], lambda item, _: item.name.split()[0])),
    Mutant("ties the wrong way round", "list_order", _LIST.swapped(_tie)),
    Mutant("sorted by SKU alone", "list_order", _LIST.edit(_by_sku)),
    Mutant("largest discount first", "list_order", _LIST.edit(_largest_first)),
    Mutant("another header", "list_format", _LIST.heading(HEADER[0], "sku")),
    Mutant("no header", "list_format", _LIST.edit(lambda lines, _: lines.pop(0))),
    Mutant("a blank line between two", "list_format", _LIST.edit(lambda lines, _: lines.insert(2, []))),
    Mutant("not text", "list_format", _not_text),
    *(
        Mutant(f"did not write to {fate}", "recipients_missing", _MAILS.overlooked(fate))
        for fate in ("active", "back_again", "rejoined", "duplicate", "complaint", "other_address")
    ),
    *(
        Mutant(f"wrote to {fate}", "recipients_extra", _MAILS.needless(fate))
        for fate in ("unsubscribed", "by_mail")
    ),
    Mutant("two mails to who is listed twice", "one_mail_each", _again),
    *_MAILS.everyday(),
    Mutant("the name not put in", "body", _MAILS.set("body", lambda _, e: e.body)),
    Mutant("another one's name", "body", _MAILS.set("body", _others_name)),
    Mutant("the wrong number", "body", _MAILS.set("body", _wrong_number)),
    Mutant("a sentence more", "body", _MAILS.set("body", lambda m, _: f"{m.body}\nSee you soon!")),
    Mutant("HTML", "body", _MAILS.set("html_body", lambda m, _: f"<p>{m.body}</p>")),
    Mutant("nothing attached", "attachment", _attached(None)),
    Mutant("a list without its last line", "attachment", _attached(_shorter)),
    Mutant("a second file attached", "attachment", _second_file),
    Mutant("the subscribers tidied up", "files", _tidy_list),
]  # fmt: skip
