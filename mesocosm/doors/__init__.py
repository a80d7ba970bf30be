"""Doors: how calls come into a world (MCP, the vendors' REST, mail, stdio)."""
