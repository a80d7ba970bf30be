"""What an agent sees of the email service."""

from mesocosm.servers.email.tools import accounts, archive, drafts, filing, folders, reading, sending
from mesocosm.servers.email.tools.service import server

__all__ = ["accounts", "archive", "drafts", "filing", "folders", "reading", "sending", "server"]
