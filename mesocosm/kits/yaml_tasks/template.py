"""The file that new tasks start from."""

from __future__ import annotations

from importlib.resources import files

SCHEMA = "mesocosm.schema.json"
"""The schema beside it, which its first line names."""


def starting_file() -> str:
    """A small task that works, with comments."""
    return files("mesocosm.kits.yaml_tasks").joinpath("start.yaml").read_text(encoding="utf-8")
