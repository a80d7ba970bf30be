"""Describing an instance: its length, what it consists of, and where its evidence lies."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from mesocosm.errors import UsageError
from mesocosm.families.episode import EpisodeInfo
from mesocosm.families.exposure.figures import draw_curves
from mesocosm.families.exposure.measurement import Exposure, measure_exposure
from mesocosm.families.family import family_of_instance, load_family
from mesocosm.families.figures import kind_of, render
from mesocosm.families.instances import build_instance
from mesocosm.families.length import Survey, take_survey
from mesocosm.families.quantities import parse_length
from mesocosm.services.world import World
from mesocosm.worlds import tokens

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class DescriptionPart(BaseModel):
    """The survey's calls of one tool."""

    service: str
    tool: str
    calls: int
    tokens: int
    adequate: int
    """Tokens of those results that hold evidence."""


class EvidencePlace(BaseModel):
    """One result of the survey that holds evidence."""

    start: int
    """Tokens that come before it in the survey."""
    tokens: int
    service: str
    pieces: int


class Description(BaseModel):
    """Output of ``mesocosm describe --json``."""

    task: str
    seed: int
    target: int | None
    edl: int
    error: float | None
    tokenizer: str
    adequate: int
    """Tokens of the results that hold evidence."""
    evidence_tokens: int
    """Tokens of those of their items that do: mails, documents, rows."""
    calls: int
    evidence: int
    """Pieces of evidence."""
    by_service: dict[str, int]
    parts: list[DescriptionPart]
    places: list[EvidencePlace]
    exposure: Exposure | None = None
    """Present if requested."""
    derivations: list[str] = []
    """Derivation of each fact from what is delivered, in families that know it."""


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
                return _describe(folder, world)
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
        described.derivations = built.expected.derived()
    if exposure:
        described.exposure = measure_exposure(
            family, seed, target=target, parameters=parameters, report=report
        )
    return described


def _describe(folder: Path, name: str) -> Description:
    with World(folder / name, read_only=True) as world:
        world.check_tables()
        episode = folder / "episode.json"
        if episode.is_file():
            family = load_family(EpisodeInfo.model_validate_json(episode.read_bytes()).task)
        else:
            family = family_of_instance(folder, world.manifest.family)
        expected = family.read_expected((folder / "expected.json").read_bytes())
        survey = take_survey(family, world, expected)
        length = world.manifest.length
        target = length.target if length else None
        described = _summarise(family.name, world.manifest.seed, target, survey, len(expected.evidence))
        described.derivations = expected.derived()
        return described


def _summarise(task: str, seed: int, target: int | None, survey: Survey, evidence: int) -> Description:
    parts: dict[tuple[str, str], DescriptionPart] = {}
    places = []
    position = 0
    for result in survey.results:
        new = DescriptionPart(service=result.service, tool=result.tool, calls=0, tokens=0, adequate=0)
        part = parts.setdefault((result.service, result.tool), new)
        part.calls += 1
        part.tokens += result.tokens
        if result.evidence:
            part.adequate += result.tokens
            places.append(
                EvidencePlace(
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
        evidence_tokens=survey.evidence_tokens,
        calls=length.calls,
        evidence=evidence,
        by_service=length.by_service,
        parts=list(parts.values()),
        places=places,
    )


def draw_evidence(described: Description, path: Path) -> None:
    """Draw the survey as a bar from first to last token, with a mark wherever a result holds evidence.

    Where exposure was measured, what filters lose as they skip more is drawn below.
    """
    kind = kind_of(path)
    exposure = described.exposure if described.exposure and described.exposure.curves else None

    def draw(figure: Figure) -> None:
        if not exposure:
            _draw_places(described, figure.add_subplot(), "outside lower center")
            return
        upper, lower = figure.subplots(2, 1, height_ratios=(1, 3))
        _draw_places(described, upper, "outside upper center")
        draw_curves(lower, exposure)

    style = {"svg.fonttype": "none", "font.family": "sans-serif"}
    path.write_bytes(render(draw, kind, size=(9, 5.5 if exposure else 2), style=style))


def _draw_places(
    described: Description, axes: Axes, legend: Literal["outside upper center", "outside lower center"]
) -> None:
    axes.axvspan(0, described.edl, color="#eef0f3")
    least = described.edl / 900
    for number, service in enumerate(described.by_service):
        found = [place for place in described.places if place.service == service]
        marks = [(place.start, max(place.tokens, least)) for place in found]
        axes.broken_barh(marks, (0, 1), color=f"C{number}", label=service)
    axes.set(xlim=(0, described.edl), ylim=(0, 1), yticks=[], xlabel="tokens of the description")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_title(_caption(described), fontsize="medium")
    axes.figure.legend(loc=legend, ncols=6, fontsize="small", frameon=False)


def _caption(described: Description) -> str:
    return (
        f"{described.task}, seed {described.seed}: {described.edl:,} tokens, "
        f"evidence in {described.adequate:,} of them"
    )
