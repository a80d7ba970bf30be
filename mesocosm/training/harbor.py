"""Harbor: a folder for each instance, with a container of its own for the world and a hidden verifier.

::

    <task>-<length>-s<seed>/
      task.toml                  what Harbor wants to know; the episode's MCP endpoint
      instruction.md             what the agent is asked
      environment/Dockerfile     where the agent is: nothing of Mesocosm
      environment/docker-compose.yaml, environment/world/  beside it: the server, and what asks it to judge
      tests/Dockerfile, tests/test.sh  a container of its own, which hands the verdict on
      solution/solve.sh          makes the calls of the reference solver

Only the server's container has the answer, and the token of the control plane. The agent reaches its tools.
When its container is stopped, the server writes its verdict, which Harbor brings to the verifier's container.
"""

from __future__ import annotations

import io
import json
import secrets
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

import mesocosm
from mesocosm.doors.mcp import McpTools, world_server
from mesocosm.errors import UsageError
from mesocosm.families import grading
from mesocosm.families.canaries import canary
from mesocosm.families.episode import Episode
from mesocosm.families.family import Family
from mesocosm.families.instances import build_instance
from mesocosm.families.quantities import show_length
from mesocosm.families.task import Offer
from mesocosm.hosting.pool import EpisodePool
from mesocosm.services.service import combined_names

SERVER = "http://mesocosm:8321"
"""Where the agent finds the server."""
VERDICT = "verdict"
"""The folder of the server's container in which it writes its verdict."""
_USER = 10001
"""The server's account in the image."""

_templates = jinja2.Environment(
    loader=jinja2.PackageLoader("mesocosm.training", "harbor_templates"),
    keep_trailing_newline=True,
    undefined=jinja2.StrictUndefined,
    autoescape=False,  # these are shell, TOML and YAML; values are quoted as JSON
)
_templates.filters["quoted"] = json.dumps


@dataclass(frozen=True)
class Images:
    """The containers that the folders are made for."""

    server: str = "mesocosm"
    agent: str = "python:3.12-slim"


def write_tasks(
    family: Family,
    lengths: Sequence[int],
    seeds: Sequence[int],
    to: Path,
    *,
    parameters: Mapping[str, Any],
    tools: Offer = "needed",
    images: Images | None = None,
) -> Iterator[Path]:
    """Write a folder for each length and seed, below one that may be there; yields those that are done.

    Raises ``UsageError`` for one that is there already, and where the reference solver does not pass.
    """
    names = {(length, seed): _name(family, length, seed) for length in lengths for seed in seeds}
    if there := [name for name in names.values() if (to / name).exists()]:
        raise UsageError(f"{to / there[0]} exists already")
    for (length, seed), name in names.items():
        with tempfile.TemporaryDirectory(prefix="mesocosm-harbor-") as scratch:
            made = _Made(family, Path(scratch), length, seed, parameters, tools)
            yield made.write(to / name, images or Images())


def _name(family: Family, length: int, seed: int) -> str:
    return f"{family.name.replace('_', '-')}-{show_length(length).lower()}-s{seed}"


class _Made:
    """An instance, and an episode on it as its server will have it."""

    def __init__(
        self,
        family: Family,
        scratch: Path,
        length: int,
        seed: int,
        parameters: Mapping[str, Any],
        tools: Offer,
    ) -> None:
        self._family, self._scratch, self._seed = family, scratch, seed
        instance = build_instance(family, seed, scratch / "instance", target=length, parameters=parameters)
        pool = EpisodePool(scratch / "state")
        self._id = pool.adopt(instance.path, family, tools)
        self._episode = Episode(pool.path(self._id), family)
        pool.close()
        (scratch / VERDICT).mkdir()

    def write(self, path: Path, images: Images) -> Path:
        """Write the folder, completely or not at all."""
        draft = path.with_name(f".{path.name}.writing")
        values = self._values(images)
        for name in _templates.list_templates():
            target = draft / name.removesuffix(".j2")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_templates.get_template(name).render(values), encoding="utf-8")
            if target.suffix == ".sh":
                target.chmod(0o755)
        (draft / "environment" / "world" / "state.tar").write_bytes(self._state())
        draft.rename(path)
        return path

    def _values(self, images: Images) -> dict[str, Any]:
        task, info = self._family.task, self._episode.info
        return {
            "name": _name(self._family, info.target or info.edl, self._seed),
            "task": self._family.name,
            "title": task.title,
            "version": task.version,
            "seed": self._seed,
            "edl": info.edl,
            "seconds": task.limits.seconds,
            "prompt": self._episode.prompt,
            "id": self._id,
            "server": SERVER,
            "token": secrets.token_urlsafe(32),
            "images": images,
            "calls": self._solution(),
            "mesocosm": mesocosm.__version__,
            "canary": canary([f"{self._family.name} {info.target or info.edl} {self._seed}"]),
        }

    def _solution(self) -> list[str]:
        """The calls of the reference solver, each as a line of JSON."""
        solved = self._episode.fork(self._scratch / "solved")
        with McpTools(world_server(solved.world)) as tools:
            self._family.solve(tools, solved.prompt, solved.expected())
        names = combined_names(solved.world.all_services)
        calls = [
            json.dumps({"name": names[entry.service, entry.tool], "arguments": entry.arguments})
            for entry in solved.world.journal.entries()
            if entry.parent is None
        ]
        verdict = grading.grade(solved)
        solved.close()
        if verdict.verdict != "passed":
            raise UsageError(f"{self._family.path}: seed {self._seed}: the reference solver does not pass")
        return calls

    def _state(self) -> bytes:
        """Return the archive for the server's image: the state, and a folder for the verdict."""
        self._episode.close()
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            inside = [self._scratch / VERDICT, self._scratch / "state"]
            for path in [*inside, *sorted((self._scratch / "state").rglob("*"))]:
                if path.name != "in-use":
                    tar.add(path, path.relative_to(self._scratch), recursive=False, filter=_owned)
        return packed.getvalue()


def _owned(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = _USER
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry
