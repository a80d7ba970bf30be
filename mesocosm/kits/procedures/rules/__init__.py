"""Prompts of the procedures: one Markdown file each, with a paragraph a line."""

from __future__ import annotations

from functools import cache
from importlib import resources
from string import Template


@cache
def text_of(name: str, **values: str) -> str:
    """The rules of a procedure, with ``${...}`` replaced."""
    text = (resources.files(__name__) / f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute(values).strip() if values else text.strip()
