"""The rules of the email service: accounts, folders, messages, delivery."""

from mesocosm.servers.email.store.accounts import DEFAULT_FOLDERS, NewAccount
from mesocosm.servers.email.store.archive import Archive
from mesocosm.servers.email.store.bulk import NewEmail
from mesocosm.servers.email.store.drafts import Drafts
from mesocosm.servers.email.store.limits import moment, timestamp
from mesocosm.servers.email.store.message_actions import STATUSES
from mesocosm.servers.email.store.messages import File
from mesocosm.servers.email.store.search import Searching
from mesocosm.servers.email.store.sending import Letter, Sending
from mesocosm.servers.email.store.sync import CHANGEABLE, FLAGS, FolderState, Mirroring

__all__ = [
    "CHANGEABLE",
    "DEFAULT_FOLDERS",
    "FLAGS",
    "STATUSES",
    "EmailStore",
    "File",
    "FolderState",
    "Letter",
    "NewAccount",
    "NewEmail",
    "moment",
    "timestamp",
]


class EmailStore(Archive, Mirroring, Searching, Sending, Drafts):
    """Mailboxes of the accounts of one server, seen by the account that is signed in."""
