"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import orjson
import typer
from typer.core import TyperCommand

from mesocosm.errors import UsageError
from mesocosm.families.quantities import MAX_SEED, parse_length

if TYPE_CHECKING:
    from mesocosm.families.workers.workers import Workers as WorkersThemselves

TaskName = Annotated[
    str, typer.Argument(help="Name of a task (see: mesocosm list tasks), or the path of its YAML.")
]
Length = Annotated[str | None, typer.Option("--length", help="Description length in tokens: 8k, 64000, 1m.")]
Seed = Annotated[int, typer.Option("--seed", min=0, max=MAX_SEED, help="Seed of the instance.")]


PaperName = Literal["lore", "lumina", "agentlongbench", "longproc", "loca"]
"""The paper whose experiment is meant."""
Structured = Annotated[
    bool,
    typer.Option(
        "--structured",
        help="Tools that return an object also have an output schema and structured content.",
    ),
]
Tools = Annotated[
    str,
    typer.Option(
        "--tools",
        help="Offer all tools of the task's services, those that are needed, or some by name: a,b,...",
    ),
]
Disturb = Annotated[
    str,
    typer.Option(
        "--disturb",
        help="Disturb the agent on purpose: light, hard, or probabilities such as "
        "rate_limits=0.1,errors=0.05.",
    ),
]
FinalText = Annotated[
    bool,
    typer.Option(help="Take the model's last message as its answer, instead of offering submit_answer."),
]
Trust = Annotated[bool, typer.Option("--trust", help="Run the Python files beside task files.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
AdminToken = Annotated[
    str | None, typer.Option(envvar="MESOCOSM_ADMIN_TOKEN", help="Token of the control plane.")
]
Parameter = Annotated[
    list[str] | None,
    typer.Option("--param", help="A generator parameter, NAME=VALUE (VALUE as JSON or text); repeatable."),
]
With = Annotated[
    str | None,
    typer.Option("--with", help="Services to add to the task's own, such as oracle,memory_tool."),
]


SuiteLengths = Annotated[str | None, typer.Option("--lengths", help="Lengths (default: each task's own).")]
SuiteSeeds = Annotated[str | None, typer.Option("--seeds", help="Seeds (default: each task's own).")]
SuiteTasks = Annotated[str | None, typer.Option("--tasks", help="Tasks, separated by commas (default: all).")]
SuitePreset = Annotated[
    str | None,
    typer.Option(
        "--preset", help="Another benchmark as released (loca): its tasks, lengths, seeds, numbers."
    ),
]


Workers = Annotated[int | None, typer.Option(min=1, help="Processes (default: one per core).")]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="[ADDRESS]",
        help="Spread the work over a Ray cluster: HOST:PORT, ray://HOST:PORT, or the one this machine is in.",
    ),
]


class SpreadCommand(TyperCommand):
    """A command with ``--ray``, whose value may be left out."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words: list[str] = []
        for word, following in zip(args, [*args[1:], ""], strict=True):
            words.append(word)
            # What follows is an address if it looks like one: other things have no colon.
            if word == "--ray" and (":" not in following or following.startswith("-")) and following != _AUTO:
                words.append(_AUTO)
        return super().parse_args(ctx, words)


_AUTO = "auto"


def workers_for(count: int | None, ray: str | None, most: int | None = None) -> WorkersThemselves:
    """Processes of this machine, or a cluster.

    Args:
        count: Processes, as ``--workers`` says.
        ray: Address of a cluster.
        most: Jobs there will be.
    """
    from mesocosm.families.workers.cluster import RayCluster
    from mesocosm.families.workers.processes import Processes

    if ray is None:
        return Processes(count, most)
    if count is not None:
        raise UsageError("--workers counts processes of this machine; with --ray the cluster has them")
    return RayCluster(ray)


def trusted(trust: bool, *tasks: str | None) -> None:
    """Trust the task files given by ``--trust``; each value may list several, separated by commas."""
    if trust:
        from mesocosm.families.trust import trust as trust_tasks

        trust_tasks(*(name.strip() for names in tasks for name in (names or "").split(",")))


def trusted_in(trust: bool, *folders: Path) -> None:
    """The same for runs, episodes and logs, which name the task files that they were made of."""
    if trust and folders:
        from mesocosm.families.trust import trust_everything

        trust_everything()


def read_parameters(pairs: list[str] | None) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--param {pair!r}: write NAME=VALUE")
        try:
            parameters[name] = orjson.loads(value)
        except orjson.JSONDecodeError:
            parameters[name] = value
    return parameters


def read_target(length: str | None, parameters: dict[str, Any], default: int) -> int | None:
    if length is not None:
        return parse_length(length)
    return None if parameters else default


def read_chances(text: str) -> list[float]:
    """Probabilities, separated by commas."""
    try:
        chances = [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"not probabilities: {text!r}; write for example 0.9,0.99") from None
    if not all(0 <= chance <= 1 for chance in chances):
        raise UsageError(f"not probabilities: {text!r}; they lie between 0 and 1")
    return chances


def read_services(text: str | None) -> list[str]:
    """The services that ``--with`` names; ``UsageError`` for one that there is not."""
    from mesocosm.services.service import load_service

    names = [name.strip() for name in text.split(",")] if text else []
    for name in names:
        load_service(name)
    return names
