"""Kits: what families are made with (people, mailboxes, prose, dependency trees, judging)."""
