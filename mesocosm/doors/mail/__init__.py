"""IMAP and SMTP: one port each for all episodes, of which the sign-in names one."""

MAIL_SERVICE = "email"
"""The service that the mail protocols reach."""
