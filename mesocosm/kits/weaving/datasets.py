"""Datasets: instances as JSON lines, for use without this program's servers.

One line is one ``WovenRecord``. It is drawn with the same dice as the world of the same task, parameters and
seed, so it holds the same documents, the same prompt and the same answer.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel

from mesocosm.errors import UsageError
from mesocosm.families.family import Family, family_names, known_as, load_family
from mesocosm.families.workers.workers import Workers
from mesocosm.kits.weaving.composition import Composition, Distorted, File
from mesocosm.services.service import load_service
from mesocosm.worlds.randomness import Dice

STANDARD = "standard"


class TreePicture(BaseModel):
    """The picture that belongs to a file."""

    media_type: str
    data: str
    """Base64."""
    upright: str | None = None
    """The picture before it was distorted, if it was, in base64: tools that undo that start from it, as those
    of the document store do, and lose nothing."""
    steps: list[list[int | float | str]] = []
    """How it was distorted, as the tools of the document store do it: ``["rotate", degrees]`` (against the
    clock), ``["flip", direction]``, ``["stretch", factor of the width, of the height]`` or
    ``["shear", factor]`` (each row goes to the right by its depth times the factor)."""


class WovenRecord(BaseModel):
    """One line of a dataset."""

    id: str
    """Unique within a dataset."""
    task: str
    """``mesocosm build TASK`` makes the world of this instance."""
    version: int
    """Of the task: instances of different versions are not comparable."""
    domain: str
    variant: str
    seed: int
    parameters: dict[str, Any]
    """All parameters of the generator, defaults included."""
    N: int
    """Number of operations lead to the answer."""
    height: int
    """The longest chain of dependencies."""
    prompt: str
    tools: list[dict[str, Any]]
    """The tools that the prompt speaks of, as their MCP servers list them."""
    files: dict[str, str]
    """Identifier to text: what reading it returns."""
    images: dict[str, TreePicture]
    """Identifier to the picture that reading it returns beside the text."""
    answer: str


def domain_of(family: Family) -> tuple[str, str]:
    """Domain and variant of a task that has a composition: ``lore_documents_hard`` is documents, hard."""
    _, _, domain = family.task.family.partition("_")
    variant = family.name.removeprefix(family.task.family).strip("_")
    return domain, variant or STANDARD


def find_task(benchmark: str, domain: str, variant: str) -> Family:
    """The task of a benchmark's domain and variant; ``UsageError`` names those there are."""
    families = [load_family(name) for name in family_names() if name.startswith(f"{benchmark}_")]
    for family in families:
        if domain_of(family) == (domain, variant) and family.hook("compose"):
            return family
    known = ", ".join(f"{domain} ({variant})" for domain, variant in sorted(map(domain_of, families)))
    raise UsageError(f"{benchmark} has no {variant} variant of the domain {domain!r}; there are {known}")


def make_record(family: Family, seed: int, parameters: Mapping[str, Any]) -> WovenRecord:
    params = family.params(**parameters)
    compose = family.hook("compose")
    assert compose is not None, f"{family.name} cannot be made without a world"
    made: Composition = compose(Dice(family.name, seed), params)
    domain, variant = domain_of(family)
    return WovenRecord(
        id=f"{family.name}-n{made.operations}-s{seed}",
        task=family.name,
        version=family.task.version,
        domain=domain,
        variant=variant,
        seed=seed,
        parameters=params.model_dump(mode="json"),
        N=made.operations,
        height=made.height,
        prompt=family.task.render_prompt(made.public),
        tools=_tools(family.path),
        files={file.id: file.text for file in made.files},
        images={file.id: _picture(file, file.image) for file in made.files if file.image is not None},
        answer=made.answer,
    )


def _picture(file: File, shown: bytes) -> TreePicture:
    picture = TreePicture(media_type=file.media_type, data=base64.b64encode(shown).decode())
    if not isinstance(file.draw, Distorted) or not file.draw.steps:
        return picture
    picture.upright = base64.b64encode(file.draw.upright()).decode()
    picture.steps = [list(step) for step in file.draw.steps]
    return picture


def write_dataset(
    family: Family,
    operations: Sequence[int],
    seeds: Sequence[int],
    parameters: Mapping[str, Any],
    path: Path,
    workers: Workers,
) -> Iterator[int]:
    """Write the instances of all these N and seeds, in that order; yields the bytes of each line.

    The file appears when it is complete. What cannot be made is refused before anything is.
    """
    if "operations" in parameters:
        raise UsageError("--n sets the number of operations, not --param operations=...")
    jobs = [(n, seed) for n in dict.fromkeys(operations) for seed in dict.fromkeys(seeds)]
    for n in dict.fromkeys(operations):
        family.params(**parameters, operations=n)
    line_of = partial(_line, known_as(family), dict(parameters))
    with file_in_the_making(path) as draft, draft.open("wb") as file:
        for line in workers.ordered(line_of, jobs):
            file.write(line)
            yield len(line)


def _line(task: str, parameters: Mapping[str, Any], job: tuple[int, int]) -> bytes:
    operations, seed = job
    record = make_record(load_family(task), seed, {**parameters, "operations": operations})
    return orjson.dumps(record.model_dump(mode="json"), option=orjson.OPT_APPEND_NEWLINE)


@contextmanager
def file_in_the_making(path: Path) -> Iterator[Path]:
    """A file beside ``path`` that takes its name in the end, or is gone."""
    if path.exists():
        raise UsageError(f"{path} exists already")
    draft = path.with_name(f".{path.name}.writing")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        draft.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        draft.unlink(missing_ok=True)


@cache
def _tools(task: Path) -> list[dict[str, Any]]:
    servers = load_family(str(task)).task.servers
    return [
        tool.listing
        for name, offered in servers.items()
        for tool in load_service(name).select(offered).tools.values()
    ]
