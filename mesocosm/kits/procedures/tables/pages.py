"""Pages: items in one of several layouts, among navigation, forms, advertisements and other lists."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from mesocosm.kits.procedures.tables.subjects import PageSubject, Pool
from mesocosm.kits.prose.names import Names

Item = dict[str, str]
"""Values by the names of the properties; a missing one is empty."""


@dataclass(frozen=True)
class Listing:
    """A heading and the items below it."""

    heading: str
    items: Sequence[Item]


def page(rng: random.Random, subject: PageSubject, listings: Sequence[Listing], main: Listing) -> str:
    """A page that holds these listings, in the order given."""
    layout = rng.choice(_LAYOUTS)
    aside = rng.choice(_LAYOUTS)
    names = [one.name for one in subject.properties]
    order = [names[0], *rng.sample(names[1:], len(names) - 1)]
    site = Names(rng).firm()
    parts = [
        "<!DOCTYPE html>\n<html>\n<head>",
        f"<title>{_safe(subject.name)} | {_safe(site)}</title>",
        "</head>\n<body>",
        _navigation(rng, site),
        _form(rng, subject),
    ]
    for listing in listings:
        write = layout if listing is main else aside
        parts += [f"<section>\n<h2>{_safe(listing.heading)}</h2>", *write(rng, subject, order, listing.items)]
        parts += ["</section>", _promotion(rng)]
    parts += [_footer(rng, site), "</body>\n</html>"]
    return "\n".join(parts)


def _safe(text: str) -> str:
    return escape(text, quote=False)


def _value(rng: random.Random, subject: PageSubject, name: str, text: str) -> str:
    """The markup of a value: lists as lists now and then, long ones over two lines."""
    kind = next(one.kind for one in subject.properties if one.name == name)
    if kind == "list" and text and rng.random() < 0.5:
        return "<ul>" + "".join(f"<li>{_safe(part)}</li>" for part in text.split(", ")) + "</ul>"
    if kind == "text" and ", " in text and rng.random() < 0.3:
        head, _, tail = _safe(text).partition(", ")
        return f"{head},<br/>{tail}"
    return _safe(text)


def _decoy(rng: random.Random, subject: PageSubject, name: str) -> tuple[str, str] | None:
    """Draw a decoy property beside a real one, with its value."""
    one = next(one for one in subject.properties if one.name == name)
    if not one.decoy or rng.random() < 0.4:
        return None
    return one.decoy, one.draw(Pool(rng))


def _grid(rng: random.Random, subject: PageSubject, order: Sequence[str], items: Sequence[Item]) -> list[str]:
    head = "".join(f"<th>{_safe(name)}</th>" for name in order)
    lines = ["<table>", f"<thead><tr>{head}<th></th></tr></thead>", "<tbody>"]
    for item in items:
        cells = "".join(f"<td>{_value(rng, subject, name, item[name])}</td>" for name in order)
        lines.append(f"<tr>{cells}<td><a>Details</a></td></tr>")
    return [*lines, "</tbody>", "</table>"]


def _labelled(
    rng: random.Random,
    subject: PageSubject,
    order: Sequence[str],
    item: Item,
    write: Callable[[str, str], str],
) -> list[str]:
    """Write the properties of an item except its title, with their decoys."""
    lines = []
    for name in order[1:]:
        if item[name]:
            lines.append(write(_safe(name), _value(rng, subject, name, item[name])))
        if decoy := _decoy(rng, subject, name):
            lines.append(write(_safe(decoy[0]), _safe(decoy[1])))
    return lines


def _cards(
    rng: random.Random, subject: PageSubject, order: Sequence[str], items: Sequence[Item]
) -> list[str]:
    lines = ["<div>"]
    for item in items:
        lines += ["<div>\n<div><img/></div>\n<div>", f"<h3><a>{_safe(item[order[0]])}</a></h3>"]
        lines += _labelled(
            rng,
            subject,
            order,
            item,
            lambda name, value: f"<div><strong>{name}: </strong><span>{value}</span></div>",
        )
        lines += ["</div>", '<div role="group"><a>Info<span><i></i></span></a><a>Rate</a></div>\n</div>']
    return [*lines, "</div>"]


def _definitions(
    rng: random.Random, subject: PageSubject, order: Sequence[str], items: Sequence[Item]
) -> list[str]:
    lines = []
    for item in items:
        lines += ["<article>", f"<h3>{_safe(item[order[0]])}</h3>", "<dl>"]
        lines += _labelled(rng, subject, order, item, lambda name, value: f"<dt>{name}</dt><dd>{value}</dd>")
        lines += ["</dl>", "<button>Remember</button>", "</article>"]
    return lines


def _list(rng: random.Random, subject: PageSubject, order: Sequence[str], items: Sequence[Item]) -> list[str]:
    lines = ["<ol>"]
    for item in items:
        lines.append(f"<li><div><h3>{_safe(item[order[0]])}</h3><div>")
        lines += _labelled(
            rng, subject, order, item, lambda name, value: f"<p><em>{name}</em> <span>{value}</span></p>"
        )
        lines.append("</div></div></li>")
    return [*lines, "</ol>"]


_LAYOUTS = (_grid, _cards, _definitions, _list)


# -- what is around --------------------------------------------------------------------------------------


def _navigation(rng: random.Random, site: str) -> str:
    words = (
        "Home",
        "About us",
        "Help",
        "Sign in",
        "Basket",
        "News",
        "Careers",
        "Contact",
        "Sitemap",
        "Offers",
    )
    links = "".join(f"<li><a>{word}</a></li>" for word in rng.sample(words, rng.randint(4, 8)))
    return f"<header><div><a><img/></a><span>{_safe(site)}</span></div><nav><ul>{links}</ul></nav></header>"


def _form(rng: random.Random, subject: PageSubject) -> str:
    fields = []
    for one in subject.properties[1:]:
        if one.kind in ("word", "list"):
            values = dict.fromkeys(one.draw(Pool(rng)).split(", ")[0] for _ in range(4))
            choices = "".join(f"<option>{_safe(value)}</option>" for value in values)
            fields.append(f"<label>{_safe(one.name)}</label><select><option>Any</option>{choices}</select>")
    return f'<form>{"".join(fields)}<input type="text" placeholder="Search"/><button>Search</button></form>'


def _promotion(rng: random.Random) -> str:
    names = Names(rng)
    offers = ("Save up to", "Now with", "Members get", "This week only:")
    text = f"{rng.choice(offers)} {rng.randint(5, 60)} % at {names.firm()}, {names.town()}"
    return f"<div><div><div><a>{_safe(text)}</a></div></div></div>"


def _footer(rng: random.Random, site: str) -> str:
    links = rng.sample(("Imprint", "Privacy", "Terms", "Cookies", "Press", "Partners", "Accessibility"), 4)
    inner = "".join(f"<a>{link}</a>" for link in links)
    return f"<footer><div>{inner}</div><p>&copy; {rng.randint(2019, 2025)} {_safe(site)}</p></footer>"
