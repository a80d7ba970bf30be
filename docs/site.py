"""Builds the site: ``python docs/site.py [--out site]``.

Warnings are errors, and so is what a page would load from another host. The pages are those of this folder as
they are, the changelog and CONTRIBUTING.md, and two that follow from the code: the commands and the Python
interface. Links to files that are in no page become text.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

import mesocosm
from mesocosm.cli.commands import app

DOCS = Path(__file__).parent
ROOT = DOCS.parent
BROUGHT = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
"""Pages that lie beside this folder."""
PYTHON = {
    "The client": "mesocosm.hosting.client",
    "What an episode can do, in both twins of the client": "mesocosm.hosting.client.requests.EpisodeSteps",
    "Answers of the client": "mesocosm.hosting.client.shapes",
    "Environments: Gymnasium": "mesocosm.training.gymnasium",
    "Environments: TRL": "mesocosm.training.trl",
    "Environments: OpenEnv": "mesocosm.training.openenv",
    "Environments: verifiers": "mesocosm.training.verifiers",
    "Services of your own": "mesocosm.services.service",
    "Views of services": "mesocosm.services.views",
    "Families of your own": "mesocosm.families.family",
    "Findings": "mesocosm.families.verdict",
    "Strategies of your own": "mesocosm.agents.strategies",
}
"""Modules that a program or a package of somebody else's uses."""
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")
_LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video)\b[^>]*?\bsrc=["']?(?:https?:)?//[^"' >]+"""
    r"""|<link\b[^>]*?\brel=["']?(?:stylesheet|preload|icon|preconnect)[^>]*?href=["']?https?://[^"' >]+"""
)


def main() -> None:
    """Build it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="keep the site in this folder, which must not be there")
    out = parser.parse_args().out
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gather(folder)
        built = subprocess.run(
            [Path(sys.executable).with_name("zensical"), "build", "--strict"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        said = re.sub(r"\x1b\[[0-9;]*m", "", built.stdout + built.stderr)
        if built.returncode:
            sys.exit(said)
        if foreign := sorted(set(loaded_from_elsewhere(folder / "site"))):
            sys.exit("loaded from another host:\n" + "\n".join(foreign))
        pages = len(list((folder / "site").rglob("*.html")))
        if out:
            shutil.copytree(folder / "site", out)
        print(f"{pages} pages")


def gather(folder: Path) -> None:
    """Put the pages, what is written from the code, and the settings into a folder."""
    pages = folder / "pages"
    shutil.copytree(DOCS, pages, ignore=shutil.ignore_patterns("*.py", "*.toml", "decisions", "__pycache__"))
    shutil.copytree(DOCS / "examples", pages / "examples", dirs_exist_ok=True)
    for name, page in BROUGHT.items():
        shutil.copy(ROOT / name, pages / page)
    places = {ROOT / name: pages / page for name, page in BROUGHT.items()}
    places |= {DOCS / path.relative_to(pages): path for path in pages.rglob("*") if path.is_file()}
    for source, page in places.items():
        if page.suffix == ".md":
            page.write_text(linked(page.read_text(), source, page, places))
    reference = pages / "reference"
    reference.mkdir()
    (reference / "commands.md").write_text(commands_page())
    (reference / "python.md").write_text(python_page())
    (folder / "source").mkdir()
    (folder / "source" / "mesocosm").symlink_to(Path(mesocosm.__file__).parent)
    shutil.copy(DOCS / "zensical.toml", folder)


def linked(text: str, source: Path, page: Path, places: dict[Path, Path]) -> str:
    """A page's text with links that lead to pages of the site, or, where there is none, to nothing."""

    def lead(found: re.Match[str]) -> str:
        picture, words, target, part = found.groups()
        there = places.get((source.parent / target).resolve())
        if there is None:
            return words
        return f"{picture}[{words}]({os.path.relpath(there, page.parent)}{part or ''})"

    return _LINK.sub(lead, text)


def loaded_from_elsewhere(site: Path) -> Iterator[str]:
    """Yield what a page makes a browser load from another host."""
    for page in site.rglob("*.html"):
        for found in _LOADED.findall(page.read_text()):
            yield f"{page.relative_to(site)}: {found[:200]}"


def commands_page() -> str:
    """Every command with its arguments and options, as ``--help`` has them."""
    lines = ["# Commands", "", "What `mesocosm COMMAND --help` says. Written from the program.", ""]
    lines += [line for name, command in _commands(get_command(app)) for line in _command(name, command)]
    return "\n".join(lines) + "\n"


def _commands(command: Any, name: str = "mesocosm") -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
        return
    for part, one in sorted(command.commands.items()):
        yield from _commands(one, f"{name} {part}")


def _command(name: str, command: Any) -> Iterator[str]:
    yield f"## `{name}`"
    yield ""
    yield _plain(command.help or "")
    yield ""
    shown = [one for one in command.params if not getattr(one, "hidden", False) and one.name != "help"]
    if not shown:
        return
    yield "| argument or option | default | what it is |"
    yield "| --- | --- | --- |"
    for one in shown:
        names = (
            [*one.opts, *one.secondary_opts]
            if one.param_type_name == "option"
            else [(one.name or "").upper()]
        )
        default = one.default if isinstance(one.default, str | int | float) else None
        usual = "" if default in (None, "", False) else f"`{default}`"
        about = _plain(getattr(one, "help", None) or "").replace("|", "\\|")
        yield f"| {', '.join(f'`{each}`' for each in names)} | {usual} | {about} |"
    yield ""


def _plain(text: str) -> str:
    """Without the mark-up of terminals."""
    return re.sub(r"\[/?[a-z ]+\]|\x0c|\x08", "", text).strip()


def python_page() -> str:
    """Reference of the Python interface, from docstrings."""
    lines = ["# Python", "", "`import mesocosm`: `connect` and `connect_sync` are those of the client.", ""]
    for title, module in PYTHON.items():
        lines += [f"## {title}", "", f"::: {module}", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
