"""Describing an instance: its length, what it consists of, and where its evidence lies."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from mesocosm.errors import UsageError
from mesocosm.families.building import build_instance
from mesocosm.families.exposure import Exposure, measure_exposure
from mesocosm.families.family import load_family
from mesocosm.families.length import Survey, take_survey
from mesocosm.families.quantities import parse_length
from mesocosm.worlds import tokens
from mesocosm.worlds.world import World


class Part(BaseModel):
    """The survey's calls of one tool."""

    service: str
    tool: str
    calls: int
    tokens: int
    adequate: int
    """Tokens of those results that hold evidence."""


class Place(BaseModel):
    """One result of the survey that holds evidence."""

    start: int
    """Tokens that come before it in the survey."""
    tokens: int
    service: str
    pieces: int


class Description(BaseModel):
    """What ``mesocosm describe --json`` prints."""

    task: str
    seed: int
    target: int | None
    edl: int
    error: float | None
    tokenizer: str
    adequate: int
    calls: int
    evidence: int
    by_service: dict[str, int]
    parts: list[Part]
    places: list[Place]
    exposure: Exposure | None = None
    """Where it was asked for."""


def describe_instance(
    what: str,
    *,
    length: str | None,
    seed: int,
    parameters: Mapping[str, Any],
    exposure: bool = False,
    report: Callable[[str], None] = lambda _: None,
) -> Description:
    """Describe an instance on disk (its directory, or a run's), or one that is built and thrown away.

    With ``exposure`` it must be one that is built: a filter is trained on others like it.
    """
    path = Path(what)
    if path.is_dir():
        if exposure:
            raise UsageError("exposure is measured of a task at a length, not of an instance on disk")
        for folder, world in ((path / "episode", "base"), (path, "base"), (path, "world")):
            if (folder / world / "world.json").is_file() and (folder / "expected.json").is_file():
                report("reading the world")
                return _describe(folder / world, folder / "expected.json")
        raise UsageError(f"{path} holds no instance, episode or run")
    family = load_family(what)
    target = parse_length(length) if length else None if parameters else family.task.lengths[0]
    with tempfile.TemporaryDirectory(prefix="mesocosm-describe-") as folder_name:
        built = build_instance(
            family,
            seed,
            Path(folder_name) / "instance",
            target=target,
            parameters=parameters,
            progress=report,
        )
        described = _summarise(family.name, seed, target, built.survey, len(built.expected.evidence))
    if exposure:
        described.exposure = measure_exposure(
            family, seed, target=target, parameters=parameters, report=report
        )
    return described


def _describe(path: Path, expected_path: Path) -> Description:
    with World(path, read_only=True) as world:
        family = load_family(world.manifest.family)
        expected = family.read_expected(expected_path.read_bytes())
        survey = take_survey(family, world, expected)
        length = world.manifest.length
        target = length.target if length else None
        return _summarise(family.name, world.manifest.seed, target, survey, len(expected.evidence))


def _summarise(task: str, seed: int, target: int | None, survey: Survey, evidence: int) -> Description:
    parts: dict[tuple[str, str], Part] = {}
    places = []
    position = 0
    for result in survey.results:
        new = Part(service=result.service, tool=result.tool, calls=0, tokens=0, adequate=0)
        part = parts.setdefault((result.service, result.tool), new)
        part.calls += 1
        part.tokens += result.tokens
        if result.evidence:
            part.adequate += result.tokens
            places.append(
                Place(
                    start=position, tokens=result.tokens, service=result.service, pieces=len(result.evidence)
                )
            )
        position += result.tokens
    length = survey.length(target)
    return Description(
        task=task,
        seed=seed,
        target=target,
        edl=length.measured,
        error=round(length.measured / target - 1, 5) if target else None,
        tokenizer=tokens.TOKENIZER,
        adequate=length.adequate,
        calls=length.calls,
        evidence=evidence,
        by_service=length.by_service,
        parts=list(parts.values()),
        places=places,
    )


_COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5")
_WIDTH, _HEIGHT, _MARGIN = 900, 150, 20


def draw_evidence(described: Description, path: Path) -> None:
    """Draw the survey as a bar from first to last token, with a mark wherever a result holds evidence."""
    if path.suffix == ".svg":
        path.write_text(_svg(described), encoding="utf-8")
    elif path.suffix == ".png":
        _write_png(described, path)
    else:
        raise UsageError(f"cannot draw {path.name}: the file's name has to end in .svg or .png")


def _marks(described: Description) -> list[tuple[float, float, str]]:
    """(left, width, colour) of each mark, in pixels."""
    services = list(described.by_service)
    scale = (_WIDTH - 2 * _MARGIN) / max(described.edl, 1)
    return [
        (
            _MARGIN + place.start * scale,
            max(place.tokens * scale, 1.0),
            _COLOURS[services.index(place.service) % len(_COLOURS)],
        )
        for place in described.places
    ]


def _caption(described: Description) -> str:
    return (
        f"{described.task}, seed {described.seed}: {described.edl:,} tokens, "
        f"evidence in {described.adequate:,} of them"
    )


def _svg(described: Description) -> str:
    bar_width = _WIDTH - 2 * _MARGIN
    shapes = [
        f'<rect x="{_MARGIN}" y="50" width="{bar_width}" height="40" fill="#eef0f3"/>',
        *(
            f'<rect x="{left:.2f}" y="50" width="{width:.2f}" height="40" fill="{colour}"/>'
            for left, width, colour in _marks(described)
        ),
        f'<text x="{_MARGIN}" y="30" font-size="15">{_caption(described)}</text>',
    ]
    for index, service in enumerate(described.by_service):
        x = _MARGIN + index * 110
        shapes.append(
            f'<rect x="{x}" y="110" width="12" height="12" fill="{_COLOURS[index % len(_COLOURS)]}"/>'
        )
        shapes.append(f'<text x="{x + 18}" y="121" font-size="13">{service}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>{"".join(shapes)}</svg>\n'
    )


def _write_png(described: Description, path: Path) -> None:
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (_WIDTH, _HEIGHT), "white")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((_MARGIN, 50, _WIDTH - _MARGIN, 90), fill="#eef0f3")
    for left, width, colour in _marks(described):
        draw.rectangle((left, 50, left + width, 90), fill=colour)
    draw.text((_MARGIN, 20), _caption(described), fill="black")
    for index, service in enumerate(described.by_service):
        x = _MARGIN + index * 110
        draw.rectangle((x, 110, x + 12, 122), fill=_COLOURS[index % len(_COLOURS)])
        draw.text((x + 18, 110), service, fill="black")
    picture.save(path)
