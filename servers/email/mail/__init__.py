"""What clients of the mail protocols may ask of a mailbox; knows nothing of sockets."""

from mesocosm.servers.email.mail import imap, submission
from mesocosm.servers.email.mail.registry import operations

__all__ = ["imap", "operations", "submission"]
