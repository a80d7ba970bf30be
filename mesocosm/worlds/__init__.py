"""Worlds: the whole state of one episode, and what of it can be copied, compared and counted."""
