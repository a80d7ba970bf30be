"""Letting scripted players act on the worlds of LUMINA, many times: for calibration and for datasets."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel

from mesocosm.agents.players import Player
from mesocosm.errors import UsageError
from mesocosm.evaluation.runs import RunResult, grade_run
from mesocosm.evaluation.samples import sized
from mesocosm.families.episode import Episode
from mesocosm.families.family import Family, load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.workers.workers import Workers
from mesocosm.services.calling import Direct
from mesocosm.services.service import load_service
from mesocosm.services.world import World
from mesocosm.worlds.workspace import replace_file


def play(family: Family, instance: Path, folder: Path, player: Player) -> Episode:
    """Let a player act on a fresh episode of an instance."""
    episode = Episode.create(folder, instance, family)
    player.play(Direct(episode.world), lambda what: what(episode))
    return episode


def calibrate(
    task: str,
    horizons: Sequence[int],
    chances: Sequence[float],
    episodes: int,
    workers: Workers,
    report: Callable[[str], None] = lambda _: None,
) -> Iterator[RunResult]:
    """Results of noisy players, as often as asked for at each horizon and probability."""
    jobs = [(task, horizon, number, tuple(chances)) for horizon in horizons for number in range(episodes)]
    for (_, horizon, number, _), results in zip(jobs, workers.ordered(_played, jobs), strict=True):
        report(f"{task}, horizon {horizon}: episode {number + 1} of {episodes}")
        yield from results


def _played(job: tuple[str, int, int, tuple[float, ...]]) -> list[RunResult]:
    """Play one instance at all error probabilities."""
    task, horizon, number, chances = job
    family, results = load_family(task), []
    with tempfile.TemporaryDirectory(prefix="mesocosm-play-") as name:
        folder = Path(name)
        built = build_instance(family, number, folder / "instance", parameters=sized(task, horizon))
        for chance in chances:
            player = Player(chance, number)
            episode = play(family, built.path, folder / f"{chance}", player)
            results.append(grade_run(episode, agent=player.label))
            episode.close()
    return results


# -- datasets ----------------------------------------------------------------------------------------------


class TrajectoryStep(BaseModel):
    """One call of a trajectory."""

    tool: str
    arguments: dict[str, Any]
    ok: bool
    result: str
    optimal: bool
    """True if it was among the best that could be made then."""
    reward: float


class Trajectory(BaseModel):
    """Steps of a scripted player."""

    player: str
    reward: float
    """1 where it passed, else 0: that of the last step, unless steps are rewarded."""
    step_accuracy: float | None
    steps: list[TrajectoryStep]


class TrajectoryRecord(BaseModel):
    """One line of a dataset."""

    id: str
    task: str
    version: int
    seed: int
    parameters: dict[str, Any]
    horizon: int
    prompt: str
    tools: list[dict[str, Any]]
    """As MCP servers list them."""
    world: dict[str, Any]
    """All there is to the world: what is needed to simulate it. Agents must not see it."""
    trajectories: list[Trajectory]


def make_record(
    task: str, horizon: int, seed: int, chances: Sequence[float], dense: bool
) -> TrajectoryRecord:
    """One instance, with a trajectory of a player for each probability.

    ``dense``: every optimal step is worth its share of 1, and the end what the episode is worth besides;
    otherwise the end alone is worth something.
    """
    family = load_family(task)
    with tempfile.TemporaryDirectory(prefix="mesocosm-play-") as name:
        folder = Path(name)
        built = build_instance(family, seed, folder / "instance", parameters=sized(task, horizon))
        trajectories = []
        for chance in chances:
            player = Player(chance, seed)
            episode = play(family, built.path, folder / f"{chance}", player)
            trajectories.append(_trajectory(episode, player, dense))
            episode.close()
        with World(built.path / "world", read_only=True) as world:
            parameters, whole = world.manifest.parameters, _whole(world, task)
        offered = load_service(task).select(family.task.servers[task]).tools.values()
        return TrajectoryRecord(
            id=f"{task}-h{built.expected.measures['horizon']}-s{seed}",
            task=task,
            version=family.task.version,
            seed=seed,
            parameters=parameters,
            horizon=built.expected.measures["horizon"],
            prompt=built.prompt,
            tools=[tool.listing for tool in offered],
            world={**built.expected.model_dump(mode="json", exclude={"public", "evidence"}), **whole},
            trajectories=trajectories,
        )


def _whole(world: World, task: str) -> dict[str, Any]:
    """Return the parts of a world that the prompt does not reveal."""
    if task != "treeworld":
        return {}
    tree: list[Any] = []
    offset: int | None = 0
    while offset is not None:
        page = orjson.loads(world.calls.peek(task, "read_tree", {"offset": offset}).text)
        tree += page["nodes"]
        offset = page["next_offset"]
    return {"tree": tree}


def _trajectory(episode: Episode, player: Player, dense: bool) -> Trajectory:
    journal = episode.history()
    judged = episode.oracle.judge(journal) or []
    reward = grade_run(episode).reward or 0.0
    steps = [
        TrajectoryStep(
            tool=made.tool,
            arguments=made.arguments,
            ok=made.ok,
            result=made.result,
            optimal=optimal,
            reward=optimal / len(judged) if dense else 0.0,
        )
        for made, optimal in zip(journal, judged, strict=True)
    ]
    if steps:
        steps[-1].reward += reward
    accuracy = sum(judged) / len(judged) if judged else None
    return Trajectory(player=player.label, reward=reward, step_accuracy=accuracy, steps=steps)


def write_dataset(
    tasks: Sequence[str],
    horizons: Sequence[int],
    seeds: Sequence[int],
    chances: Sequence[float],
    dense: bool,
    path: Path,
    workers: Workers,
) -> Iterator[int]:
    """Write the instances of all tasks, horizons and seeds, in that order; yields the bytes of each line.

    The file appears when it is complete.
    """
    if path.exists():
        raise UsageError(f"{path} exists already")
    for task in tasks:
        for horizon in horizons:
            sized(task, horizon)
    jobs = [
        (task, horizon, seed)
        for task in tasks
        for horizon in dict.fromkeys(horizons)
        for seed in dict.fromkeys(seeds)
    ]
    lines = []
    for line in workers.ordered(partial(_line, tuple(chances), dense), jobs):
        lines.append(line)
        yield len(line)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, b"".join(lines))


def _line(chances: tuple[float, ...], dense: bool, job: tuple[str, int, int]) -> bytes:
    record = make_record(*job, chances, dense)
    return orjson.dumps(record.model_dump(mode="json"), option=orjson.OPT_APPEND_NEWLINE)
