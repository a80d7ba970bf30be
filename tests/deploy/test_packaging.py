"""An installed wheel works as a checkout does, also beside a user's own packages named like our folders."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The contents of the wheel, as an installation lays them out."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "-w", str(folder), str(ROOT)], check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of the user's own with packages named like our folders."""
    for name in ("servers", "tasks", "generators", "checkers", "solvers"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('the package of the user')\n")
    return tmp_path


def run(installed: Path, project: Path, *words: str) -> str:
    # -P keeps the checkout out; the installation comes first, as site-packages would.
    environment = {**os.environ, "PYTHONPATH": f"{installed}:{project}"}
    command = [sys.executable, "-m", "mesocosm", *words]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_the_content_folders_inside_the_package(installed: Path) -> None:
    assert {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")} == {"mesocosm"}
    for name in ("servers/email/tools.py", "tasks/canvas_arrange_exam.yaml", "kits/prose/data/common.txt"):
        assert (installed / "mesocosm" / name).exists(), name


def test_an_installation_runs_beside_packages_of_the_users_own(installed: Path, project: Path) -> None:
    code = "import mesocosm; print(mesocosm.__file__)"
    environment = {**os.environ, "PYTHONPATH": f"{installed}:{project}"}
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=project, env=environment, capture_output=True, text=True, check=True
    )
    assert shown.stdout.startswith(str(installed))
    tasks = {task["name"] for task in json.loads(run(installed, project, "list", "tasks", "--json"))}
    assert tasks == {path.stem for path in (ROOT / "tasks").glob("*.yaml")}


def test_an_installation_runs_a_task(installed: Path, project: Path) -> None:
    result = json.loads(run(installed, project, "run", "canvas_arrange_exam", "--length", "8k", "--json"))
    assert result["verdict"] == "passed"


def needed(package: str, extra: str | None = None) -> set[str]:
    """What a distribution needs, and what that needs."""
    found: set[str] = set()
    left = [(package, extra)]
    while left:
        name, wanted = left.pop()
        try:
            lines = requires(name) or []
        except PackageNotFoundError:
            continue  # not on this system
        for line in lines:
            of = re.search(r"extra == ['\"]([\w-]+)['\"]", line)
            other, _, extras = re.split(r"[^\w.,\[-]", line, maxsplit=1)[0].partition("[")
            other = other.lower().replace("_", "-")
            if (of is None or of[1] == wanted) and other not in found:
                found.add(other)
                left += [(other, one) for one in extras.split(",")]
    return found


WITHOUT = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from importlib.abc import MetaPathFinder
from importlib import metadata

class Absent(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in modules:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

def found(name, of=metadata.distribution):
    if name.lower().replace("_", "-") in packages:
        raise metadata.PackageNotFoundError(name)
    return of(name)

modules, packages = (set(sys.argv.pop(1).split(",")) for _ in range(2))
sys.meta_path.insert(0, Absent())
metadata.distribution = found
from mesocosm.__main__ import main
from mesocosm.families.family import family_names, load_family
for name in family_names():
    load_family(name)
ended = []
for words in json.loads(sys.argv[1]):
    sys.argv[1:] = words
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        try:
            main()
            status = 0
        except SystemExit as end:
            status = end.code or 0
    ended.append([status, out.getvalue(), err.getvalue()])
print(json.dumps(ended))
"""


def test_without_extras_there_is_all_but_what_says_which_it_needs(tmp_path: Path) -> None:
    base = needed("mesocosm")
    absent = needed("mesocosm", "dev") - base
    assert {"numpy", "pyarrow", "matplotlib", "duckdb", "sqlglot"} <= absent
    modules = {
        module
        for module, names in packages_distributions().items()
        if all(name.lower().replace("_", "-") in absent for name in names)
    }
    given = [",".join(sorted(one)) for one in (modules - {"mypy_extensions"}, absent)]

    lacking = {"ab_testing": "warehouses", "gridworld": "lumina", "nhl_b2b_analysis": "sheets"}
    tasks = [
        ["run", task, "--length", "8k", "--agent", "reference"] for task in ("canvas_arrange_exam", *lacking)
    ]
    command = [sys.executable, "-c", WITHOUT, *given, json.dumps([*tasks, ["list", "tools"]])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ran, *refused, listed = json.loads(done.stdout)
    assert ran[1].startswith("passed"), ran
    assert listed[0] == 0, listed
    for extra, (status, _, said) in zip(lacking.values(), refused, strict=True):
        assert status == 2
        assert said.endswith(f"needs the extra `{extra}`: pip install 'mesocosm[{extra}]'\n")


def test_what_images_install_is_locked_and_is_what_the_program_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    dockerfile = (ROOT / "Dockerfile").read_text()
    for line in (ROOT / "deploy/locks/images").read_text().splitlines():
        image, *extras = line.split()
        assert f"RUN locked {image} " in dockerfile
        text = (ROOT / f"deploy/locks/{image}.txt").read_text()
        assert "://" not in text
        locked: dict[str, list[str]] = {}
        for block in text.replace("\\\n", " ").splitlines():
            assert "--hash=sha256:" in block
            pinned = Requirement(block.partition("--hash")[0])
            locked.setdefault(canonicalize_name(pinned.name), []).append(str(pinned.specifier).strip("="))
        asked = [*project["dependencies"], *chain(*(project["optional-dependencies"][one] for one in extras))]
        for one in map(Requirement, asked):
            versions = locked[canonicalize_name(one.name)]
            assert all(one.specifier.contains(version) for version in versions), f"{one}: run .ci/lock"
