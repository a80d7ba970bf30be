"""Near misses of a shop from which all slow sellers were moved, listed and announced."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

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
from mesocosm.kits.near_misses import of_fate
from mesocosm.kits.outbox import INBOX_MUTANTS, send, sent_to, unsend
from mesocosm.servers.email.models import Attachment, Email
from mesocosm.servers.email.store import EmailStore, NewEmail
from mesocosm.servers.woocommerce.models import Order, Product, ProductCategory
from mesocosm.servers.woocommerce.store import WooCommerceStore
from mesocosm.services.world import World

Apply = Callable[[World, Expected], None]
Change = Callable[[list[list[str]], Expected], None]


# -- shop -----------------------------------------------------------------------------------------------


def _overlook(fate: str) -> Apply:
    """A product that should have been moved is in another category."""

    def apply(world: World, expected: Expected) -> None:
        item, session = of_fate(expected.moved, fate), world.store(WooCommerceStore).session
        other = _other_category(world, expected)
        chosen = ProductCategory.product_id == item.id
        session.execute(update(ProductCategory).where(chosen).values(category_id=other))

    return apply


def _other_category(world: World, expected: Expected) -> int:
    """The category of some product that stays."""
    found = world.store(WooCommerceStore).session.scalar(
        select(ProductCategory.category_id).where(ProductCategory.category_id != expected.category).limit(1)
    )
    if found is None:
        raise Inapplicable
    return found


def _add_only(world: World, expected: Expected) -> None:
    row = {"product_id": expected.moved[0].id, "category_id": _other_category(world, expected)}
    world.store(WooCommerceStore).session.execute(insert(ProductCategory), [row])


def _move_too(fate: str) -> Apply:
    def apply(world: World, expected: Expected) -> None:
        item, session = of_fate(expected.others, fate), world.store(WooCommerceStore).session
        session.execute(delete(ProductCategory).where(ProductCategory.product_id == item.id))
        row = {"product_id": item.id, "category_id": expected.category}
        session.execute(insert(ProductCategory), [row])

    return apply


def _take_out(world: World, expected: Expected) -> None:
    item = of_fate(expected.others, "already_there")
    other, session = _other_category(world, expected), world.store(WooCommerceStore).session
    session.execute(delete(ProductCategory).where(ProductCategory.product_id == item.id))
    session.execute(insert(ProductCategory), [{"product_id": item.id, "category_id": other}])


def _cut_price(world: World, expected: Expected) -> None:
    item = expected.moved[0]
    price = f"{item.promotional // 100}.{item.promotional % 100:02}"
    world.store(WooCommerceStore).session.execute(
        update(Product).where(Product.id == item.id).values(sale_price=price)
    )


def _unpublish(world: World, expected: Expected) -> None:
    item = of_fate(expected.others, "out_of_stock")
    world.store(WooCommerceStore).session.execute(
        update(Product).where(Product.id == item.id).values(status="draft")
    )


def _new_category(world: World, expected: Expected) -> None:
    world.store(WooCommerceStore).terms.add_categories([{"name": "Outlet"}])


def _cancel_order(world: World, expected: Expected) -> None:
    session = world.store(WooCommerceStore).session
    first = session.scalar(select(Order.id).where(Order.status == "processing").limit(1))
    if first is None:
        raise Inapplicable
    session.execute(update(Order).where(Order.id == first).values(status="completed"))


# -- list -----------------------------------------------------------------------------------------------


def _rows(expected: Expected) -> list[list[str]]:
    return [_row(item) for item in expected.moved]


def _row(item: Item) -> list[str]:
    return [item.sku, item.name, _money(item.price), _money(item.promotional), f"{item.discount}%"]


def _money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


def _text(rows: list[list[str]], header: tuple[str, ...] = HEADER) -> bytes:
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in [list(header), *rows]).encode()


def _listing(change: Change) -> Apply:
    """Change the list in the workspace."""

    def apply(world: World, expected: Expected) -> None:
        rows = _rows(expected)
        change(rows, expected)
        world.workspace.write(LIST, _text(rows), world.now)

    return apply


def _discounted(fate: str, discount: int) -> Change:
    """A product of that kind with another discount."""

    def change(rows: list[list[str]], expected: Expected) -> None:
        item = of_fate(expected.moved, fate)
        if item.discount == discount:
            raise Inapplicable
        wrong = item.model_copy(update={"discount": discount})
        rows[expected.moved.index(item)] = _row(wrong)

    return change


def _drop(rows: list[list[str]], expected: Expected) -> None:
    del rows[len(rows) // 2]


def _double(rows: list[list[str]], expected: Expected) -> None:
    rows.insert(0, rows[0])


def _list_too(fate: str) -> Change:
    def change(rows: list[list[str]], expected: Expected) -> None:
        rows.append(_row(of_fate(expected.others, fate).model_copy(update={"discount": 45})))

    return change


def _swap_ties(rows: list[list[str]], expected: Expected) -> None:
    for place, (one, other) in enumerate(pairwise(rows)):
        if one[4] == other[4]:
            rows[place : place + 2] = [other, one]
            return
    raise Inapplicable


def _by_sku(rows: list[list[str]], expected: Expected) -> None:
    if sorted(rows) == rows:
        raise Inapplicable
    rows.sort()


def _largest_first(rows: list[list[str]], expected: Expected) -> None:
    rows.sort(key=lambda row: (-int(row[4][:-1]), row[0]))


def _fractions(rows: list[list[str]], expected: Expected) -> None:
    for row in rows:
        row[4] = f"0.{row[4][:-1]}"


def _sold_for(rows: list[list[str]], expected: Expected) -> None:
    rows[0][2] = rows[0][3]


def _namesake(rows: list[list[str]], expected: Expected) -> None:
    rows[0][1] = rows[0][1].split()[0]


def _file(data: Callable[[Expected], bytes]) -> Apply:
    def apply(world: World, expected: Expected) -> None:
        world.workspace.write(LIST, data(expected), world.now)

    return apply


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


def _not_to(fate: str) -> Apply:
    def apply(world: World, expected: Expected) -> None:
        store = world.store(EmailStore)
        unsend(store, sent_to(store, of_fate(expected.readers, fate).email))

    return apply


def _also_to(fate: str, *, told: bool = False) -> Apply:
    def apply(world: World, expected: Expected) -> None:
        reader = of_fate(expected.readers if told else expected.spared, fate)
        send(world.store(EmailStore), expected.shop_email, _letter(world, expected, reader))

    return apply


def _edit(change: Callable[[Email, Expected], None]) -> Apply:
    """Change the first of the mails."""

    def apply(world: World, expected: Expected) -> None:
        change(sent_to(world.store(EmailStore), expected.readers[0].email), expected)

    return apply


def _set(field: str, value: Callable[[Email, Expected], str]) -> Apply:
    return _edit(lambda mail, expected: setattr(mail, field, value(mail, expected)))


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


def _second(expected: Expected) -> Reader:
    if len(expected.readers) < 2:
        raise Inapplicable
    return expected.readers[1]


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


def _draft(world: World, expected: Expected) -> None:
    letter = _letter(world, expected, expected.readers[0])
    world.store(EmailStore).add_emails(expected.shop_email, "Drafts", [letter])


def _tidy_list(world: World, expected: Expected) -> None:
    lines = world.workspace.read(SUBSCRIBERS).decode().lower()
    world.workspace.write(SUBSCRIBERS, lines.encode(), world.now)


MUTANTS = [
    Mutant("body on one line", "body", _set("body", lambda mail, _: " ".join((mail.body or "").split()))),
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
    Mutant("an order completed", "shop", _cancel_order),
    Mutant("a product not listed", "list_missing", _listing(_drop)),
    Mutant("a product listed twice", "list_extra", _listing(_double)),
    Mutant("listed what was there already", "list_extra", _listing(_list_too("already_there"))),
    Mutant("listed what sold enough", "list_extra", _listing(_list_too("boundary_sales"))),
    Mutant("an old sale's price", "list_values", _listing(_discounted("sale_ended", 50))),
    Mutant("a small sale's price", "list_values", _listing(_discounted("sale_shallow", 10))),
    Mutant("a large sale's price ignored", "list_values", _listing(_discounted("sale_deeper", 15))),
    Mutant("ratios as fractions", "list_values", _listing(_fractions)),
    Mutant("the reduced price twice", "list_values", _listing(_sold_for)),
    Mutant("a name cut short", "list_values", _listing(_namesake)),
    Mutant("ties the wrong way round", "list_order", _listing(_swap_ties)),
    Mutant("sorted by SKU alone", "list_order", _listing(_by_sku)),
    Mutant("largest discount first", "list_order", _listing(_largest_first)),
    Mutant(
        "another header", "list_format", _file(lambda e: _text(_rows(e), ("sku", *HEADER[1:])))
    ),
    Mutant("no header", "list_format", _file(lambda e: _text(_rows(e)).partition(b"\n")[2])),
    Mutant("not text", "list_format", _file(lambda e: b"PK\x03\x04\xff\xfe\x00")),
    *(
        Mutant(f"did not write to {fate}", "recipients_missing", _not_to(fate))
        for fate in ("active", "back_again", "rejoined", "duplicate", "complaint", "other_address")
    ),
    *(
        Mutant(f"wrote to {fate}", "recipients_extra", _also_to(fate))
        for fate in ("unsubscribed", "by_mail")
    ),
    Mutant("two mails to one address", "one_mail_each", _also_to("duplicate", told=True)),
    Mutant("a copy to another", "single_recipient", _set("cc", lambda m, e: _second(e).email)),
    Mutant("a full stop in the subject", "subject", _set("subject", lambda m, e: f"{m.subject}.")),
    Mutant("the name not put in", "body", _set("body", lambda m, e: e.body)),
    Mutant(
        "another one's name",
        "body",
        _set("body", lambda m, e: m.body.replace(e.readers[0].name, _second(e).name)),
    ),
    Mutant(
        "the wrong number",
        "body",
        _set("body", lambda m, e: m.body.replace(f" {len(e.moved)} ", f" {len(e.moved) + 1} ")),
    ),
    Mutant("a sentence more", "body", _set("body", lambda m, e: f"{m.body}\nSee you soon!")),
    Mutant("HTML", "body", _set("html_body", lambda m, e: f"<p>{m.body}</p>")),
    Mutant("nothing attached", "attachment", _attached(None)),
    Mutant("a list without its last line", "attachment", _attached(lambda w, e: _text(_rows(e)[:-1]))),
    Mutant("a second file attached", "attachment", _second_file),
    *INBOX_MUTANTS,
    Mutant("a draft left behind", "mailbox", _draft),
    Mutant("the subscribers tidied up", "files", _tidy_list),
]  # fmt: skip
