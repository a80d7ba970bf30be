"""Scenes of worlds: check, show, sheet and readings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from mesocosm.cli.application import app
from mesocosm.cli.options import AsJson
from mesocosm.cli.output import out, print_json

if TYPE_CHECKING:
    from mesocosm.kits.organisations.domains import Domain
    from mesocosm.kits.organisations.readings import Agreement
    from mesocosm.kits.organisations.scenes import Scene

group = typer.Typer(
    help="Scenes that tell the events of a world: check them, read them, keep what readers made out."
)
app.add_typer(group, name="scenes")

Folder = Annotated[Path | None, typer.Argument(help="A folder of scenes; default: those that ship.")]
Split = Annotated[str, typer.Option(help="Only this split: train or test.")]
OfDomain = Annotated[str, typer.Option("--domain", help="The domain whose stories the scenes tell.")]


def _scenes(domain: str, folder: Path | None, unsound: bool = False) -> tuple[Domain, Path, list[Scene]]:
    """The domain, the folder, and the scenes in it; refuses any that cannot be cast, unless ``unsound``."""
    from mesocosm.kits.organisations.domains import load_domain
    from mesocosm.kits.organisations.scenes import read_scenes, require_sound

    made = load_domain(domain)
    place = folder or made.scenes
    scenes = read_scenes(place)
    if not unsound:
        require_sound(scenes, made.vocabulary)
    return made, place, scenes


@group.command()
def check(folder: Folder = None, domain: OfDomain = "campus", as_json: AsJson = False) -> None:
    """Check scenes: slots, roles, alternates, coverage, readability. Exit code 1 if something is wrong."""
    from mesocosm.kits.organisations import readings
    from mesocosm.kits.organisations.rehearsal import rehearse
    from mesocosm.kits.organisations.scenes import complaints, sound

    of, place, scenes = _scenes(domain, folder, unsound=True)
    found = [str(one) for one in complaints(scenes, of.vocabulary)]
    castable = sound(scenes, of.vocabulary)
    for scene in castable:
        castings = list(rehearse(of, scene, seeds=4)) or list(rehearse(of, scene, seeds=24))
        if not castings:
            found.append(f"{scene.path}, line {scene.line}: {scene.name}: no story of the simulation fits it")
        for fault in dict.fromkeys(fault for casting in castings for fault in casting.faults()):
            found.append(f"{scene.path}, line {scene.line}: {fault}")
    kept = readings.read_kept(place / "readings.txt")
    agreed = readings.agreement(readings.items(of, castable), kept)
    counts: dict[str, int] = {}
    for scene in scenes:
        counts[f"{scene.split or place.name}: {scene.story}"] = (
            counts.get(f"{scene.split or place.name}: {scene.story}", 0) + 1
        )
    summary = {
        "scenes": len(scenes),
        "by_story": counts,
        "complaints": found,
        "readings": agreed.read,
        "agreement": round(agreed.share, 4),
        "unread": list(agreed.unread),
        "misread": [list(one) for one in agreed.misread],
    }
    if as_json:
        print_json(summary)
    else:
        for line in found:
            out.print(escape(line))
        out.print(f"{len(scenes)} scenes, {len(found)} complaints")
        out.print(_shown(agreed))
    raise typer.Exit(1 if found or not scenes else 0)


@group.command()
def show(
    name: Annotated[str, typer.Argument(help="Name of a scene.")],
    castings: int = 3,
    folder: Annotated[Path | None, typer.Option(help="A folder of scenes; default: those that ship.")] = None,
    domain: OfDomain = "campus",
) -> None:
    """Print a scene as it is delivered, over a few small worlds."""
    from mesocosm.errors import UsageError
    from mesocosm.kits.organisations.rehearsal import rehearse

    of, _, every = _scenes(domain, folder)
    scenes = {scene.name: scene for scene in every}
    if name not in scenes:
        raise UsageError(f"no scene {name!r}; there are {', '.join(sorted(scenes)[:20])} ...")
    for number, casting in enumerate(rehearse(of, scenes[name], seeds=2 * castings)):
        if number == castings:
            break
        out.print(f"[bold]{escape(name)}[/], {casting.level}")
        for letter in casting.letters:
            copied = f", cc {letter.cc.full}" if letter.cc else ""
            head = f"{letter.at:%a %b %d %H:%M}  {letter.sender.full} -> {letter.to.full}{copied}"
            out.print(escape(f"{head} | {letter.subject}"))
            out.print(escape(letter.body), highlight=False)
            out.print()


@group.command()
def sheet(
    folder: Folder = None,
    split: Split = "",
    domain: OfDomain = "campus",
    unread: Annotated[
        bool, typer.Option("--unread", help="Only scenes whose current text has not been read twice.")
    ] = False,
) -> None:
    """Print a sheet for blind readers: castings of all scenes with content, and instructions."""
    from mesocosm.kits.organisations import readings

    of, place, scenes = _scenes(domain, folder)
    found = list(readings.items(of, (scene for scene in scenes if split in ("", scene.split))))
    if unread:
        left = set(readings.agreement(found, readings.read_kept(place / "readings.txt")).unread)
        found = [item for item in found if item.id in left]
    typer.echo(of.explained)
    typer.echo("Answer with a line for each thread: ID | codes\n")
    # In an order that keeps the castings of a scene apart.
    for item in sorted(found, key=lambda item: item.code):
        typer.echo(f"## {item.code}\n{item.text}\n")


@group.command("keep")
def keep_readings(
    answers: Annotated[list[Path], typer.Argument(help="Files of answers, one per reader: `ID | codes`.")],
    folder: Annotated[Path | None, typer.Option(help="A folder of scenes; default: those that ship.")] = None,
    domain: OfDomain = "campus",
) -> None:
    """Store readers' answers beside the scenes, and report where they differ from the intended meaning."""
    from mesocosm.kits.organisations import readings

    of, place, scenes = _scenes(domain, folder)
    found = list(readings.items(of, scenes))
    given = {path.stem: readings.parse_answers(path.read_text(encoding="utf-8")) for path in answers}
    readings.keep(place / "readings.txt", found, given)
    agreed = readings.agreement(found, readings.read_kept(place / "readings.txt"), least=1)
    for name, meant, said in agreed.misread:
        out.print(escape(f"{name}: meant {meant!r}, read {said!r}"))
    out.print(_shown(agreed))


def _shown(agreed: Agreement) -> str:
    """Summarise in a line how far blind readers agree with the intended meaning."""
    return (
        f"{agreed.read} blind readings, of which {agreed.share:.1%} say what was meant; "
        f"{len(agreed.unread)} threads unread"
    )
