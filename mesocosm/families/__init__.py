"""Families: the task file and what belongs to it, building to a length, proving, describing."""
