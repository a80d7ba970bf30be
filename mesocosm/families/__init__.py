"""Families: task files and their parts, building to a length, proving, describing."""
