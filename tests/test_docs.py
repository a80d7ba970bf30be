"""The documentation says what the code does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from commands import mesocosm
from typer.main import get_command

from mesocosm import __version__ as mesocosm_version
from mesocosm.cli.commands import app

ROOT = Path(__file__).parents[1]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
TEXT = "\n".join(path.read_text() for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def test_the_generated_tables_are_current() -> None:
    checked = subprocess.run(
        [sys.executable, str(ROOT / "docs/generate.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_readme_shows_what_its_first_command_prints(tmp_path: Path) -> None:
    """But for the time that it took."""
    readme = (ROOT / "README.md").read_text()
    command = re.search(r"bin/mesocosm (run .*)", readme)
    shown = re.search(r"What the first one prints:\n\n```text\n(.*?)```", readme, re.DOTALL)
    assert command
    assert shown
    ran = mesocosm(*command[1].split(), cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    printed, said = (re.sub(r"agent time .*", "", text) for text in (ran.stdout, shown[1]))
    assert printed == said


def test_the_tutorial_without_a_key_does_what_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs/tutorial.md").read_text().partition("## With a model")[0]
    small = page.replace("--n 5,20 --seeds 0-2", "--n 5 --seeds 0")
    commands = re.findall(r"^mesocosm (.*)$", small, re.MULTILINE)
    done = [mesocosm(*command.split(), cwd=tmp_path) for command in commands]
    assert [one.returncode for one in done] == [0, 1, 0, 0, 0], [one.stderr for one in done]
    assert "passed  reward 1" in done[0].stdout
    assert (tmp_path / "report/index.html").is_file()
    made = json.loads((tmp_path / "first/made-with.json").read_text())
    assert made["faker"].startswith("40.54")


@pytest.mark.parametrize("command", sorted(get_command(app).commands))  # type: ignore[attr-defined]
def test_every_command_is_documented(command: str) -> None:
    assert re.search(rf"mesocosm {command}\b", TEXT), f"no page shows `mesocosm {command}`"


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))],
    ids=lambda p: p.name,
)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_links_to_headings_lead_to_one() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target, part in re.findall(r"\]\(([^)#:\s]*)#([^)\s]+)\)", page.read_text()):
            there = page.parent / target if target else page
            if there.suffix == ".md":
                headings = re.findall(r"^#+ (.*)$", there.read_text(), re.MULTILINE)
                assert part in map(_anchor, headings), f"{page.name}: {target}#{part}"


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def test_the_tests_that_hold_what_is_promised_exist() -> None:
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", TEXT)
    assert len(named) > 60
    for file, test in named:
        assert f"def {test}(" in (ROOT / "tests" / file).read_text(), f"{file}::{test}"


@pytest.mark.parametrize("page", ["architecture", "glossary"])
def test_the_files_that_a_page_sends_readers_to_exist(page: str) -> None:
    rooms = "mesocosm|servers|generators|checkers|solvers|docs"
    named = re.findall(rf"`((?:{rooms})/[\w/.]*)`", (ROOT / f"docs/{page}.md").read_text())
    assert len(named) > 40
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_glossary_is_short_and_has_each_word_once() -> None:
    rows = re.findall(r"^\| (?!word|---)(.+?) \|", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)
    words = [word for row in rows for word in row.split(", ")]
    assert 40 < len(words) <= 60
    assert len(words) == len(set(words))


def test_the_changelog_announces_every_version_of_a_task() -> None:
    """The last number of a task's row is the version that its file has."""
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", CHANGELOG.partition("## Versions of tasks")[2], re.MULTILINE)
    announced = {task: int(re.findall(r"\d+", cells)[-1]) for task, cells in rows}
    files = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / "tasks").glob("*.yaml")}
    assert announced == {task: file.get("version", 1) for task, file in files.items()}


def test_the_newest_section_of_the_changelog_is_this_version() -> None:
    released = re.findall(r"^## ([\d.]+) \((\d{4}-\d\d-\d\d)\)$", CHANGELOG, re.MULTILINE)
    assert released[0][0] == mesocosm_version
    assert f"version: {mesocosm_version}\n" in (ROOT / "CITATION.cff").read_text()
    assert released == sorted(released, reverse=True)


def test_a_version_of_the_changelog_fits_on_a_screen() -> None:
    for section in CHANGELOG.partition("## Versions of tasks")[0].split("\n## ")[1:]:
        assert len(section.splitlines()) <= 50, section.partition("\n")[0]


def test_each_decision_has_a_number_of_its_own() -> None:
    """The index itself is a generated page."""
    decisions = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
    numbers = [path.name[:3] for path in decisions]
    assert numbers == sorted(set(numbers))
    for path, number in zip(decisions, numbers, strict=True):
        assert re.match(rf"# {number} \S", path.read_text()), path.name


def test_decisions_that_are_named_exist() -> None:
    numbers = {path.name[:3] for path in (ROOT / "docs/decisions").glob("[0-9]*.md")}
    sources = [TEXT, *(path.read_text() for path in (ROOT / "mesocosm").rglob("*.py"))]
    named = {number for text in sources for number in re.findall(r"[dD]ecisions? (\d{3})\b", text)}
    assert named
    assert named <= numbers


def test_docstrings_begin_with_a_verb_or_the_thing() -> None:
    """Those of tools are the vendors' texts."""
    wrong = re.compile(
        r'(?:\A|:\n)\s*r?"""(?:What|Whether|How|Who|Where|Which|Whose|With|When|That|Why)\b.*'
        r'|\n\s*"""(?:What|Whom?|Whose)\b.*'  # of attributes
    )
    files = [path for room in ("mesocosm", "servers") for path in sorted((ROOT / room).rglob("*.py"))]
    own = [path for path in files if "tools" not in path.parts and path.stem != "tools"]
    assert len(own) > 800
    found = {str(path.relative_to(ROOT)): wrong.findall(path.read_text()) for path in own}
    assert {name: begun for name, begun in found.items() if begun} == {}
