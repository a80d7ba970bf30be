"""One large mailbox, on a server with others."""

from __future__ import annotations

from fills.texts import COMMON, FREQUENT, RARE, SELDOM, Call, Texts, pages, stamp, words
from mesocosm.servers.email.store import EmailStore, NewEmail
from mesocosm.services.world import World

ME = "ann@mcp.com"
_PER_MAIL = 190
_SHARES = {"INBOX": 0.6, "Sent": 0.15, "Archive": 0.2, "Drafts": 0.02, "Trash": 0.03}


def fill(world: World, texts: Texts, size: int) -> list[Call]:
    """The mailbox."""
    store, mails = world.store(EmailStore), size // _PER_MAIL
    people = [f"person{number}@mcp.com" for number in range(10 + mails // 100)]
    store.create_accounts(
        [{"email": email, "name": email.partition("@")[0], "password": "secret"} for email in (ME, *people)]
    )
    for folder, share in _SHARES.items():
        many = max(4, int(mails * share))
        store.add_emails(ME, folder, [_mail(texts, people, folder, n, many) for n in range(many)])
    store.sign_in(ME)
    return _calls(mails)


def _mail(texts: Texts, people: list[str], folder: str, number: int, many: int) -> NewEmail:
    other = people[number * 7 % len(people)]
    texts.facts(50)
    mail: NewEmail = {
        "sender": ME if folder in ("Sent", "Drafts") else other,
        "to": other if folder in ("Sent", "Drafts") else ME,
        "subject": texts.title(),
        "body": texts.text(),
        "date": stamp(number / many),
        "is_read": number % 3 > 0,
        "is_important": number % 11 == 0,
        "thread": f"{folder}-{number // 5}",
    }
    if number % 40 == 0:
        mail["attachments"] = [{"filename": "notes.txt", "data": b"notes\n" * 100}]
    return mail


def _calls(mails: int) -> list[Call]:
    inbox = int(mails * _SHARES["INBOX"])
    ids = (1, inbox // 2, inbox - 1)
    operators = (
        "from:person3@mcp.com",
        "subject:symposium",
        f"to:{ME} {SELDOM}",
        f"is:unread {FREQUENT}",
        f"has:attachment {COMMON}",
        "is:important",
        "after:2024-12-01",
        f"before:2023-06-01 {RARE}",
        "we",
        '"the room"',
    )
    return [
        ("get_current_user", {}),
        *pages("list_users", (10 + mails // 100) // 20),
        ("check_connection", {}),
        *pages("get_drafts", int(mails * _SHARES["Drafts"]) // 20),
        ("get_folders", {}),
        ("get_mailbox_stats", {}),
        ("get_mailbox_stats", {"folder_name": "INBOX"}),
        ("get_unread_count", {}),
        ("get_unread_count", {"folder_name": "INBOX"}),
        *pages("get_emails", inbox // 20),
        *pages("get_emails", inbox // 50, page_size=50),
        *[("read_email", {"email_id": str(id_)}) for id_ in ids],
        *[("get_email_headers", {"email_id": str(id_)}) for id_ in ids],
        *words("search_emails"),
        *words("search_emails", folder="Archive", page_size=50),
        *[("search_emails", {"query": query}) for query in operators],
        *pages("search_emails", mails // 4 // 20, query=FREQUENT),
    ]
