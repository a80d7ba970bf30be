"""Operations of the mail protocols on a mailbox, independent of sockets."""

from mesocosm.servers.email.mail import imap, submission
from mesocosm.servers.email.mail.registry import operations

__all__ = ["imap", "operations", "submission"]
