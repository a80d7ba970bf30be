"""Pages of the mail service: mailboxes with folders, mails in their threads, attachments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sql

from mesocosm.servers.email.headers import addresses
from mesocosm.servers.email.models import Attachment, Delivery, Email, Folder, SignIn
from mesocosm.servers.email.store import EmailStore
from mesocosm.services.views import (
    Asked,
    Cell,
    Fields,
    Item,
    Link,
    Message,
    Page,
    Row,
    Table,
    View,
    found_in,
)

view = View()
_FLAGS = {
    "is_important": "important",
    "is_answered": "answered",
    "is_draft": "draft",
    "is_deleted": "deleted",
}


def _places(store: EmailStore) -> list[Link]:
    """Folders with how much is in them; those of the owner first."""
    owner = store.session.scalar(sql.select(SignIn.email))
    counted = dict(
        store.session.execute(sql.select(Email.folder_id, sql.func.count()).group_by(Email.folder_id)).all()
    )
    shown = store.session.execute(
        sql.select(Folder.id, Folder.account, Folder.name)
        .where((Folder.account == owner) | Folder.id.in_(sql.select(Email.folder_id).distinct()))
        .order_by(Folder.account != owner, Folder.account, Folder.id)
    )
    return [
        Link(name if account == owner else f"{name} of {account}", f"folder/{id_}", counted.get(id_, 0))
        for id_, account, name in shown
    ]


@view.page("")
def mailbox(store: EmailStore, asked: Asked) -> Page:
    """The folder that the owner sees first."""
    places = _places(store)
    if not places:
        return Page("Mail", [Table(["Account"], [])])
    first = next((one for one in places if one.text == "INBOX"), places[0])
    return _folder(store, asked, first.path.partition("/")[2], places)


@view.page("folder/{id}")
def folder(store: EmailStore, asked: Asked, id: str) -> Page:
    """The mails of a folder, the latest first."""
    return _folder(store, asked, id, _places(store))


def _folder(store: EmailStore, asked: Asked, id: str, places: Sequence[Link]) -> Page:
    found = found_in(store, Folder, id, "folder")
    total = store.session.scalar(
        sql.select(sql.func.count()).select_from(Email).where(Email.folder_id == found.id)
    )
    mails = store.session.scalars(
        sql.select(Email)
        .where(Email.folder_id == found.id)
        .order_by(Email.date.desc(), Email.id.desc())
        .offset(asked.start)
        .limit(asked.size)
    ).all()
    own = found.name in ("Sent", "Drafts")
    rows = [
        Row(
            [
                _name(mail.to if own else mail.sender),
                Link(mail.subject or "(no subject)", f"mail/{mail.id}"),
                _beginning(mail.body),
                _moment(mail.date),
                ", ".join(_notes(mail)),
            ],
            path=f"mail/{mail.id}",
            ref=f"emails:{mail.id}",
            strong=not mail.is_read,
        )
        for mail in mails
    ]
    head = ["To" if own else "From", "Subject", "", "Date", ""]
    return Page(
        f"{found.name} of {found.account}",
        [Table(head, rows, total, empty="No mail.")],
        places=places,
    )


@view.page("mail/{id}")
def mail(store: EmailStore, asked: Asked, id: str) -> Page:
    """A mail with all of its thread, in order of time."""
    found = found_in(store, Email, id, "mail")
    thread = _thread(store, found)
    place = store.session.get(Folder, found.folder_id)
    up = Link(place.name, f"folder/{place.id}") if place else Link("Mail", "")
    return Page(
        found.subject or "(no subject)",
        [_message(store, one) for one in thread],
        places=_places(store),
        up=up,
    )


@view.page("file/{id}")
def file(store: EmailStore, asked: Asked, id: str) -> Page:
    """A file that is attached to a mail."""
    from mesocosm.services.previews import preview

    found = found_in(store, Attachment, id, "file")
    about: dict[str, Cell] = {"Type": found.content_type, "Bytes": found.size}
    return Page(
        found.filename,
        [Fields(about), *preview(found.filename, found.data, asked)],
        places=_places(store),
        up=Link("The mail", f"mail/{found.email_id}"),
    )


@view.page("log")
def log(store: EmailStore, asked: Asked) -> Page:
    """Page of the delivery log."""
    rows = store.session.scalars(
        sql.select(Delivery).order_by(Delivery.id).offset(asked.start).limit(asked.size)
    )
    total = store.session.scalar(sql.select(sql.func.count()).select_from(Delivery))
    shown = [
        Row(
            [one.id, one.sender, one.recipients, Link("mail", f"mail/{one.email_id}")],
            ref=f"deliveries:{one.id}",
        )
        for one in rows
    ]
    return Page("Mails that were sent", [Table(["", "From", "To", ""], shown, total)], places=_places(store))


@view.items
def items(store: EmailStore) -> Iterator[Item]:
    """All mails."""
    columns = (Email.id, Email.subject, Email.body, Email.date, Email.sender, Email.to, Email.cc)
    found = store.session.execute(sql.select(*columns).order_by(Email.date, Email.id))
    for id_, subject, body, date, sender, to, cc in found:
        yield Item(
            "mail",
            subject,
            body,
            f"mail/{id_}",
            f"emails:{id_}",
            date,
            (*addresses(sender), *addresses(to), *addresses(cc)),
        )


def _thread(store: EmailStore, found: Email) -> Sequence[Email]:
    """The mails of the account that answer each other: by their references."""
    known = {found.message_id, *(found.references or "").split(), found.in_reply_to or found.message_id}
    account = sql.select(Folder.account).where(Folder.id == found.folder_id).scalar_subquery()
    mine = sql.select(Folder.id).where(Folder.account == account)
    related = sql.select(Email).where(
        Email.folder_id.in_(mine),
        sql.or_(
            Email.message_id.in_(known),
            Email.in_reply_to.in_(known),
            Email.references.contains(found.message_id),
        ),
    )
    return store.session.scalars(related.order_by(Email.date, Email.id)).unique().all()


def _message(store: EmailStore, mail: Email) -> Message:
    files = store.session.execute(
        sql.select(Attachment.id, Attachment.filename).where(Attachment.email_id == mail.id)
    ).all()
    copies = [f"cc {mail.cc}" if mail.cc else "", f"bcc {mail.bcc}" if mail.bcc else ""]
    return Message(
        sender=mail.sender,
        to=", ".join(filter(None, [mail.to, *copies])),
        when=_moment(mail.date),
        title=mail.subject,
        text=mail.body,
        source=mail.html_body or "",
        ref=f"emails:{mail.id}",
        notes=_notes(mail),
        files=[Link(name, f"file/{id_}") for id_, name in files],
    )


def _notes(mail: Email) -> list[str]:
    flags = [word for name, word in _FLAGS.items() if getattr(mail, name)]
    return flags if mail.is_read else ["unread", *flags]


def _name(header: str) -> str:
    return header.partition("<")[0].strip(' "') or header


def _beginning(body: str) -> str:
    return " ".join(body[:300].split())[:110]


def _moment(date: Any) -> str:
    return str(date)[:16].replace("T", " ")
