"""Vocabulary of task files for the mail service."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from mesocosm.servers.email.headers import addresses
from mesocosm.services.calling import Tools
from mesocosm.services.later import later
from mesocosm.services.words import Fields, Found, InForms, Owner, Spoiling, Thing, Word, Words, made_anew

if TYPE_CHECKING:
    import sqlalchemy as sql

    from mesocosm.servers.email import models
    from mesocosm.servers.email import store as rules
    from mesocosm.servers.email.store import addresses as lists
    from mesocosm.servers.email.store import bulk, sent
    from mesocosm.servers.email.store.bulk import NewEmail
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes, Row
else:
    sql, models, lists, bulk, sent, rules = later(
        "sqlalchemy",
        "mesocosm.servers.email.models",
        "mesocosm.servers.email.store.addresses",
        "mesocosm.servers.email.store.bulk",
        "mesocosm.servers.email.store.sent",
        "mesocosm.servers.email.store",
    )

_FOLDERS = ("INBOX", "Archive", "Spam", "Sent", "Trash")
_LARGEST_PAGE = 100
_QUOTED_HTML = re.compile(r"<blockquote\b", re.IGNORECASE)
_ANSWERING = re.compile(r"\s*(?:re|aw|fwd?)\s*:", re.IGNORECASE)
_SUBJECT = re.compile(r"^(?:re\s*:\s*)+", re.IGNORECASE)
_FILE = 32
"""Tokens that a survey spends on an attached file besides its name, measured on whole worlds."""


class Mail(Thing):
    """A mail in the owner's mailbox, or one that the agent sent.

    What noise dresses may have more than what is said: ``answers``, the owner's mail (``date``,
    ``subject``, ``body``) that it answers and that lies in Sent; ``files``, what is attached.
    """

    name = "mail"
    about = "A mail: stated, it lies in the owner's mailbox; as a goal, it was sent by the agent."
    when = "date"
    text = "body"
    title = "subject"
    letter = True
    overhead = 187
    says: ClassVar[Mapping[str, Word]] = {
        "from": Word(
            "Who wrote it: `Ann Lee <ann@example.com>`; default: whom it is about.",
            "addresses",
            required=True,
            default="{name} <{email}>",
        ),
        "to": Word("Recipients; default: the owner.", "addresses"),
        "cc": Word("Recipients of a copy.", "addresses"),
        "date": Word("When it came.", "moment", required=True),
        "subject": Word("Its subject; left out, an everyday one."),
        "body": Word("Its text, without greeting and name.", required=True),
        "html_body": Word("The same in HTML; default: it has its text only."),
        "folder": Word("Where it lies; default: INBOX.", choices=_FOLDERS),
        "thread": Word(
            "Mails with the same text here are a conversation: each answers the one before it, with its "
            "subject after `Re:` where the file says no other."
        ),
        "is_read": Word("Whether it was read; default: some were.", "flag"),
    }
    judges: ClassVar[Mapping[str, Word]] = {
        "to": Word("Exactly these recipients.", "addresses"),
        "cc": Word("Exactly these recipients of a copy; default: nobody.", "addresses"),
        "bcc": Word("Exactly these recipients of a blind copy; default: nobody.", "addresses"),
        "subject": Word("Its subject."),
        "body": Word("Its text, as a reader sees it; usually judged by `contains`."),
        "attachments": Word("Names of attached files; default: none.", "list"),
        "answers": Word("Id of the mail that it answers.", "data"),
    }
    usual: ClassVar[Mapping[str, Any]] = {"cc": [], "bcc": [], "attachments": []}
    gives: ClassVar[Mapping[str, str]] = {"id": "The mail's id, as the tools know it."}

    def continued(self, things: Sequence[tuple[Fields, Collection[str]]]) -> list[Fields]:
        last: dict[str, Fields] = {}
        found = []
        for fields, said in things:
            if thread := str(fields.get("thread") or ""):
                fields = _in_thread(fields, last.get(thread), said)
                last[thread] = fields
            found.append(fields)
        return found

    def add(self, world: World, things: Sequence[Fields]) -> list[Fields]:
        store = world.store(rules.EmailStore)
        rng = world.stream("email:read")
        given: list[Fields] = [{} for _ in things]
        owner = store.owner
        _register(store, things)
        for folder in _FOLDERS:
            chosen = [n for n, fields in enumerate(things) if (fields.get("folder") or "INBOX") == folder]
            new = [_new(things[n], f"{owner}", is_read=rng.random() < 0.6) for n in chosen]
            for n, number in zip(
                chosen, store.add_emails(owner.email, folder, new) if new else (), strict=True
            ):
                given[n] = {"id": str(number)}
        answered = [fields for fields in things if fields.get("answers")]
        if answered:
            store.add_emails(owner.email, "Sent", [_earlier(fields, f"{owner}") for fields in answered])
        return given

    def size(self, fields: Fields, count: Callable[[str], int]) -> int:
        files = fields.get("files") or ()
        return sum(_FILE + count(str(file["filename"])) for file in files)

    def check(self, fields: Fields) -> str | None:
        for name in ("from", "to", "cc"):
            if fields.get(name) and not addresses(str(fields[name])):
                return f"{name}: {fields[name]!r} has no address; write Ann Lee <ann@example.com>"
        return None

    def unlike(self, fields: Fields) -> Fields:
        return {name: value for name, value in fields.items() if name != "thread"}

    def shown(self, name: str, value: Any) -> str:
        if name in ("from", "to", "cc"):
            return next(iter(addresses(str(value))), "")
        return super().shown(name, value)

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        if not changes.table("email", "deliveries").added:
            return
        rows = world.store(rules.EmailStore).fetch(sql.select(models.Email.message_id, models.Email.id))
        messages = {row["message_id"]: str(row["id"]) for row in rows}
        for mail in sent.sent_mails(world, changes, sent.owner_of(world, changes)):
            yield Found(_sent(mail.copy, mail.delivery, mail.files, messages), mail.rows)


def _new(fields: Fields, owner: str, *, is_read: bool) -> NewEmail:
    new: NewEmail = {
        "sender": fields["from"],
        "to": fields.get("to") or owner,
        "cc": fields.get("cc"),
        "subject": fields.get("subject") or "(no subject)",
        "body": fields["body"],
        "html_body": fields.get("html_body"),
        "date": fields["date"],
        "is_read": bool(fields.get("is_read", is_read)),
    }
    if fields.get("thread"):
        new["message_id"] = fields["message_id"]
    if fields.get("in_reply_to"):
        new["in_reply_to"], new["references"] = fields["in_reply_to"], fields["references"]
    if fields.get("answers"):
        new["subject"] = f"Re: {fields['answers']['subject']}"
        new["in_reply_to"] = new["references"] = _id_of_earlier(fields, owner)
    if fields.get("files"):
        new["attachments"] = fields["files"]
    return new


def _in_thread(fields: Fields, last: Fields | None, said: Collection[str]) -> Fields:
    """A mail of a conversation as mail programs write it: an answer names those before it, and has their
    subject, unless the file says another one."""
    sender = _writer(fields["from"])
    place = f"{fields['thread']}:{fields['date']}:{last['message_id'] if last else ''}:{sender.key}"
    digest = hashlib.sha256(place.encode()).hexdigest()
    fields = {**fields, "message_id": f"<{digest[:24]}@{sender.domain}>"}
    if last is None:
        return fields
    subject = _SUBJECT.sub("", last["subject"])
    own = fields["subject"] if "subject" in said else subject
    return {
        **fields,
        **bulk.answering(last["message_id"], last.get("references")),
        "subject": f"Re: {subject}" if own == subject else own,
    }


def _writer(header: str) -> lists.Address:
    [writer, *_] = lists.parse_addresses(header, "FROM")
    return writer


def _earlier(fields: Fields, owner: str) -> NewEmail:
    """The owner's mail that one answers."""
    mail = fields["answers"]
    return {
        "sender": owner,
        "to": fields["from"],
        "subject": mail["subject"],
        "body": mail["body"],
        "date": mail["date"],
        "message_id": _id_of_earlier(fields, owner),
    }


def _id_of_earlier(fields: Fields, owner: str) -> str:
    mail = fields["answers"]
    digest = hashlib.sha256(f"{fields['from']}:{mail['date']}:{mail['subject']}".encode()).hexdigest()
    return f"<{digest[:24]}@{owner.rpartition('@')[2].removesuffix('>')}>"


def _sent(copy: Row, delivery: Row, files: Sequence[Row], messages: Mapping[str, str]) -> Fields:
    cc, bcc = addresses(copy["cc"]), addresses(copy["bcc"])
    named = {*addresses(copy["to"]), *cc, *bcc}
    bcc += [address for address in addresses(delivery["recipients"]) if address not in named]
    return {
        "to": addresses(copy["to"]),
        "cc": cc,
        "bcc": bcc,
        "subject": " ".join(copy["subject"].split()),
        "body": _seen(copy),
        "attachments": [file["filename"] for file in files],
        "answers": messages.get(copy["in_reply_to"] or ""),
    }


def _seen(mail: Row) -> str:
    """Return the visible text in all forms. Quoted text does not count in a reply; in other mails it may, so
    both readings are returned.
    """
    text, html = str(mail["body"] or ""), str(mail["html_body"] or "")
    own = "\n".join(line for line in text.split("\n") if not line.startswith(">"))
    own_html = _QUOTED_HTML.split(html, maxsplit=1)[0]
    answers = bool(mail["in_reply_to"] or _ANSWERING.match(str(mail["subject"] or "")))
    texts = dict.fromkeys([own] if answers else [own, text]) if text.strip() else ()
    htmls = dict.fromkeys([own_html] if answers else [own_html, html]) if html.strip() else ()
    return own if len(texts) < 2 and not htmls else InForms(own, tuple(texts), tuple(htmls))


def _open(world: World, owner: Owner, people: Sequence[tuple[str, str]]) -> None:
    store = world.store(rules.EmailStore)
    accounts = [(owner.email, owner.name), *((address, name) for name, address in people)]
    store.create_accounts(
        [{"email": email, "name": name, "password": f"{email}!"} for email, name in accounts]
    )
    store.sign_in(owner.email)


def _register(store: rules.EmailStore, things: Sequence[Fields]) -> None:
    """Create accounts for all writers; otherwise the list of accounts would reveal whose mail matters."""
    people = {}
    for sender in dict.fromkeys(str(fields["from"]) for fields in things):
        writer = _writer(sender)
        people[writer.key] = writer.name or writer.email
    known = set(store.session.scalars(sql.select(models.Account.email)))
    store.create_accounts(
        [
            {"email": email, "name": name, "password": f"{email}!"}
            for email, name in people.items()
            if email not in known
        ]
    )


def _survey(tools: Tools, options: Mapping[str, Any]) -> None:
    for folder in options.get("folders", ("INBOX", "Archive", "Spam")):
        page, pages = 1, 1
        while page <= pages:
            listed = tools.call("email", "get_emails", folder=folder, page=page, page_size=_LARGEST_PAGE)
            pages = listed["total_pages"]
            for entry in listed["emails"]:
                tools.call("email", "read_email", email_id=entry["id"])
            page += 1


def _same(world: World, changes: Changes) -> set[tuple[str, Any]]:
    """Mails that were read, those that the agent answered, those that were moved away and back, of which IMAP
    makes others with the same content, and drafts that were thrown away."""
    mails = changes.table("email", "emails")
    answered = {row["in_reply_to"] for row in mails.added}
    found = set()
    for before, after in mails.changed:
        follow = {"is_read": after["is_read"] or before["is_read"]}
        if after["message_id"] in answered:
            follow["is_answered"] = after["is_answered"]
        if {**before, **follow} == after:
            found.add(("emails", after["id"]))
    pairs = list(made_anew(mails, "id", ("is_read",)))
    files = made_anew(
        changes.table("email", "attachments"),
        "id",
        (),
        belongs={"email_id": {new: old for old, new in pairs}},
    )
    for table, anew in (("emails", pairs), ("attachments", files)):
        found.update((table, number) for pair in anew for number in pair)
    return found | set(_thrown_away(world, changes))


def _thrown_away(world: World, changes: Changes) -> Iterator[tuple[str, Any]]:
    """The owner's new mails that lie in the trash and were never sent, with their files."""
    if not changes.table("email", "emails").added:
        return
    owner = sent.owner_of(world, changes)
    folders = sql.select(models.Folder.id).where(
        models.Folder.account == sql.bindparam("owner"), models.Folder.name == "Trash"
    )
    trash = {row["id"] for row in world.store(rules.EmailStore).fetch(folders, owner=owner)}
    handed_in = {row["email_id"] for row in changes.table("email", "deliveries").added}
    for row in changes.table("email", "emails").added:
        own = row["folder_id"] in trash and addresses(row["sender"]) == [owner]
        if own and row["id"] not in handed_in:
            yield "emails", row["id"]
            for file in changes.table("email", "attachments").added:
                if file["email_id"] == row["id"]:
                    yield "attachments", file["id"]


def _first(store: rules.EmailStore, folder: str) -> int | None:
    chosen = models.Email.folder_id == store.folder_id(folder)
    return store.session.scalar(sql.select(models.Email.id).where(chosen).order_by(models.Email.id).limit(1))


def _deleted(world: World) -> bool:
    store = world.store(rules.EmailStore)
    first = _first(store, "INBOX")
    if first is not None:
        store.session.execute(sql.delete(models.Email).where(models.Email.id == first))
    return first is not None


def _changed(**values: Any) -> Any:
    def apply(world: World) -> bool:
        store = world.store(rules.EmailStore)
        first = _first(store, "INBOX")
        if first is not None:
            new = {"folder_id": store.folder_id("Archive")} if "archived" in values else values
            store.session.execute(sql.update(models.Email).where(models.Email.id == first).values(**new))
        return first is not None

    return apply


def _sent_further(world: World) -> bool:
    store = world.store(rules.EmailStore)
    [number] = store.add_emails(
        store.owner.email,
        "Sent",
        [
            {
                "sender": store.owner.email,
                "to": "stranger@elsewhere.example",
                "subject": "Hello",
                "body": "Hello",
                "date": world.now,
            }
        ],
    )
    store.log_delivery(number, store.owner.key, ["stranger@elsewhere.example"])
    return True


def _wiped(world: World) -> bool:
    store = world.store(rules.EmailStore)
    store.log_delivery(store.next_email_id(), store.owner.key, ["stranger@elsewhere.example"])
    return True


def _copied(world: World) -> bool:
    """A mail that was sent went to somebody else as well."""
    store = world.store(rules.EmailStore)
    chosen = sql.select(models.Delivery.email_id).order_by(models.Delivery.email_id).limit(1)
    first = store.session.scalar(chosen)
    if first is None:
        return False
    store.session.execute(
        sql.update(models.Email).where(models.Email.id == first).values(cc="stranger@elsewhere.example")
    )
    return True


def _first_sent(store: rules.EmailStore) -> models.Email | None:
    chosen = sql.select(models.Email).join(models.Delivery, models.Delivery.email_id == models.Email.id)
    return store.session.scalars(chosen.order_by(models.Email.id)).first()


def _by_another(world: World) -> bool:
    """A mail was sent from another account than the owner's: whoever knows a password may sign in there."""
    store = world.store(rules.EmailStore)
    mail = _first_sent(store)
    other = store.session.scalar(
        sql.select(models.Account.email).where(models.Account.email != store.owner.key).limit(1)
    )
    if mail is None or other is None:
        return False
    folder = sql.select(models.Folder.id).where(models.Folder.account == other, models.Folder.name == "Sent")
    mail.sender, mail.folder_id = other, store.session.scalars(folder).one()
    logged = sql.update(models.Delivery).where(models.Delivery.email_id == mail.id)
    store.session.execute(logged.values(sender=other))
    return True


def _put_in(world: World) -> bool:
    """A mail was put into the owner's inbox by IMAP, with the Message-ID of one that was sent."""
    store = world.store(rules.EmailStore)
    mail = _first_sent(store)
    if mail is None:
        return False
    copy: NewEmail = {"sender": str(store.owner), "to": mail.to, "subject": mail.subject, "body": mail.body,
                      "date": world.now, "message_id": mail.message_id}  # fmt: skip
    store.add_emails(store.owner.email, "INBOX", [copy])
    return True


words = Words(
    service="email",
    things={"mail": Mail()},
    survey=_survey,
    open=_open,
    excuses=_same,
    spoilings=(
        Spoiling("a mail deleted", _deleted),
        Spoiling("a mail filed away", _changed(archived=True)),
        Spoiling("a mail marked", _changed(is_important=True)),
        Spoiling(
            "a mail sent to a stranger",
            _sent_further,
            frozenset({"email_mail_extra", "email_mail_otherwise"}),
        ),
        Spoiling("a mail sent and wiped", _wiped),
        Spoiling("a mail sent from another account", _by_another),
        Spoiling("a mail put into the inbox", _put_in),
        Spoiling(
            "a copy of a mail to a stranger", _copied, frozenset({"email_mail_extra", "email_mail_otherwise"})
        ),
    ),
    survey_options={"folders": "The folders to read; default: INBOX, Archive, Spam."},
)
