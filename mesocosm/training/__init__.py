"""Environments of other people's trainers over episodes of a server, and files for their tools."""
