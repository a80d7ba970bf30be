"""Worlds: the files of one episode, and what of them can be copied, compared and counted."""
