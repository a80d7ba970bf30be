"""Running agents: run, grade, replay."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from mesocosm.cli.application import app
from mesocosm.cli.options import (
    AdminToken,
    AsJson,
    Disturb,
    FinalText,
    Length,
    Parameter,
    Seed,
    Structured,
    TaskName,
    Tools,
    Trust,
    With,
    read_parameters,
    read_services,
    read_target,
    trusted,
    trusted_in,
)
from mesocosm.cli.output import err, out, print_json, show_result, spinner
from mesocosm.errors import UsageError

if TYPE_CHECKING:
    from mesocosm.agents.players import Player

Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="For training: reward 0 for errored runs, so that provoking errors does not pay."
    ),
]
EXIT_CODES = {"passed": 0, "failed": 1, "errored": 3}


class AgentChoice(StrEnum):
    """Actor of a run."""

    reference = "reference"
    none = "none"
    command = "command"
    react = "react"
    optimal = "optimal"
    random = "random"
    noisy = "noisy"


class EraChoice(StrEnum):
    """MCP revision of the reference agent: the newest, or the 2025 handshake."""

    auto = "auto"
    legacy = "legacy"


@app.command()
def run(
    task: TaskName,
    length: Length = None,
    seed: Seed = 0,
    agent: Annotated[AgentChoice, typer.Option(help="The agent.")] = AgentChoice.reference,
    agent_command: Annotated[
        str | None,
        typer.Option(
            help="With --agent command: a shell command. It finds its task in $MESOCOSM_PROMPT and "
            "$MESOCOSM_PROMPT_FILE, its MCP servers in $MESOCOSM_MCP_CONFIG (a file) and $MESOCOSM_MCP_URL."
        ),
    ] = None,
    agent_walls: Annotated[
        bool,
        typer.Option(
            help="With --agent command: hide the run's files and Mesocosm's source from the agent. "
            "Without it, trust a result only as far as you trust the agent."
        ),
    ] = True,
    model: Annotated[
        str | None,
        typer.Option(
            help="With --agent react: a model as inspect_ai names it (openai/..., anthropic/..., or "
            "openai-api/PROVIDER/MODEL for any endpoint of chat completions). Its key is taken from the "
            "environment."
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="With --agent react: address of the model's endpoint.")
    ] = None,
    max_failed_rounds: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="With --agent react: consecutive rounds of only failed calls that end the episode as "
            "failed; 0: no limit (default: the task's).",
        ),
    ] = None,
    max_turns: Annotated[
        int | None, typer.Option(min=1, help="With --agent react: maximum answers of the model.")
    ] = None,
    final_text: FinalText = False,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="With --agent react: sampling temperature (default: 0).")
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="With --agent react: strategies for its context, as with `mesocosm eval`: oracle:give=SPH."
        ),
    ] = None,
    p: Annotated[
        float | None,
        typer.Option("--p", help="With --agent noisy: probability of an optimal call (0 to 1)."),
    ] = None,
    player_seed: Annotated[
        int, typer.Option(min=0, help="With --agent random or noisy: seed of the random choices.")
    ] = 0,
    with_: With = None,
    param: Parameter = None,
    tools: Tools = "all",
    structured: Structured = False,
    disturb: Disturb = "",
    to: Annotated[
        Path | None, typer.Option("--out", help="Run directory (default: a new one below runs/).")
    ] = None,
    era: Annotated[
        EraChoice, typer.Option(help="MCP revision that the reference agent speaks.")
    ] = EraChoice.auto,
    server: Annotated[
        str | None,
        typer.Option(help="Use the server at this URL instead of starting one; needs its admin token."),
    ] = None,
    admin_token: AdminToken = None,
    strict: Strict = False,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Build a world, serve it, let an agent act over MCP, and grade the final state."""
    from mesocosm.agents.loop import check_final_text
    from mesocosm.agents.react import React
    from mesocosm.evaluation import runs as evaluation
    from mesocosm.families.disturbances import read_disturb
    from mesocosm.families.family import load_family
    from mesocosm.families.tool_limits import count_tools, too_many
    from mesocosm.hosting.client import connect_sync
    from mesocosm.worlds.limits import STRUCTURED, override

    if structured and server:
        raise UsageError("--structured is an option of the server: mesocosm serve --structured")
    if structured:
        override(STRUCTURED)
    trusted(trust, task)
    family = load_family(task)
    parameters = read_parameters(param)
    target = read_target(length, parameters, family.task.lengths[0])
    talk = {
        "base_url": base_url,
        "max_failed_rounds": max_failed_rounds,
        "max_turns": max_turns,
        "final_text": final_text or None,
        "temperature": temperature,
        "strategy": strategy,
    }
    given: dict[str, Any] = {name: value for name, value in talk.items() if value is not None}
    if given and not model:
        raise UsageError(f"--{next(iter(given)).replace('_', '-')} goes with --agent react and --model")
    react = (
        React(model=model, **{"max_failed_rounds": family.task.limits.failed_rounds, **given})
        if model
        else None
    )
    if final_text:
        check_final_text(family.task.servers)
    player = _player(agent, p, player_seed)
    added = read_services(with_)
    directory = to or evaluation.default_run_directory(family, target, seed, agent.value)
    wanted = evaluation.WantedRun(target, seed, parameters, tools, added, read_disturb(disturb))
    actor = evaluation.Actor(agent.value, agent_command, agent_walls, react, player, era.value)
    offered = family.task.offered(tools) | dict.fromkeys(added)
    if model and (text := too_many(count_tools(offered), model)):
        err.print(f"[yellow]{text}[/]")
    try:
        with spinner() as report:
            if server:
                there = connect_sync(server, token=admin_token or "")
                result = evaluation.run_remote(
                    family, there, wanted, actor, directory, strict=strict, report=report
                )
            else:
                result = evaluation.run_task(family, wanted, actor, directory, strict=strict, report=report)
    except KeyboardInterrupt:
        err.print(f"[yellow]interrupted[/]: {directory} was cut off before it was judged")
        raise typer.Exit(130) from None
    if as_json:
        print_json(result.model_dump())
    else:
        show_result(result, directory)
    raise typer.Exit(EXIT_CODES[result.verdict])


def _player(agent: AgentChoice, p: float | None, seed: int) -> Player | None:
    """The scripted player that was asked for."""
    from mesocosm.agents.players import Player

    if (agent is AgentChoice.noisy) != (p is not None):
        raise UsageError("--agent noisy goes with --p PROBABILITY, and only with it")
    if agent is AgentChoice.noisy and p is not None:
        return Player(p, seed)
    if agent in (AgentChoice.optimal, AgentChoice.random):
        return Player(1.0 if agent is AgentChoice.optimal else 0.0, seed)
    return None


@app.command()
def grade(
    run: Annotated[
        Path,
        typer.Argument(help="A run directory, the directory of an episode, or a log of `mesocosm eval`."),
    ],
    strict: Strict = False,
    write: Annotated[bool, typer.Option("--write", help="With a log: put the new verdicts into it.")] = False,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Judge the final state of a run again, or of every sample of a log (or a folder of logs)."""
    from mesocosm.evaluation.regrade import logs_in

    trusted_in(trust, run)
    if logs := logs_in(run):
        _grade_logs(logs, write, as_json)
        return
    if write:
        raise UsageError(f"--write goes with a log of `mesocosm eval`, and {run} is none")
    from mesocosm.evaluation.runs import FAULT_FILE, RunResult, grade_run
    from mesocosm.families.episode import Episode

    folder = run / "episode" if (run / "episode").is_dir() else run
    episode = Episode(folder)
    episode.world.check_tables()
    before = run / "run.json"
    try:
        earlier = RunResult.model_validate_json(before.read_bytes()) if before.is_file() else None
    except ValueError as error:
        raise UsageError(f"{before} is damaged: {error}") from None
    kept = run / FAULT_FILE
    result = grade_run(
        episode,
        fault=kept.read_text(encoding="utf-8") if kept.is_file() else None,
        agent=earlier.agent if earlier else "",
        seconds=earlier.seconds if earlier else None,
        conversation=earlier.conversation if earlier else None,
        strict=strict,
        confined=earlier.agent_confined if earlier else None,
    )
    episode.close()
    if as_json:
        print_json(result.model_dump())
    else:
        show_result(result, run)
    raise typer.Exit(EXIT_CODES[result.verdict])


def _grade_logs(logs: list[Path], write: bool, as_json: bool) -> None:
    from mesocosm.evaluation.regrade import regrade

    found = [one for log in logs for one in regrade(log, write=write)]
    if as_json:
        print_json([{**one.model_dump(), "changed": one.changed} for one in found])
    else:
        for one in found:
            mark = "[yellow]changed[/]" if one.changed else "[green]same[/]"
            out.print(f"{mark}  {one.sample} {one.epoch}: {one.before} -> {one.now}  {escape(one.missed)}")
        out.print(
            f"{len(found)} samples judged again, {sum(one.changed for one in found)} with another verdict"
        )
    raise typer.Exit(1 if any(one.changed for one in found) else 0)


@app.command()
def replay(
    run: Annotated[Path, typer.Argument(help="A run directory, or the directory of an episode.")],
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Repeat the calls of a run on a fresh copy of its world; results and databases must be the same."""
    from mesocosm.evaluation.replay import replay_episode

    trusted_in(trust, run)
    report = replay_episode(run / "episode" if (run / "episode").is_dir() else run)
    if as_json:
        print_json(report.model_dump())
    else:
        out.print(
            f"{report.calls} calls made again: "
            + ("[green]identical[/]" if report.identical else "[red]different[/]")
        )
        for difference in report.differences:
            out.print(f"  {escape(difference)}")
    raise typer.Exit(0 if report.identical else 1)


class OracleQuery(StrEnum):
    """Questions to an oracle."""

    state = "state"
    plan = "plan"


@app.command()
def oracle(
    run: Annotated[Path, typer.Argument(help="A run directory, or the directory of an episode.")],
    show: Annotated[
        OracleQuery, typer.Option(help="The known state, or the best next steps.")
    ] = OracleQuery.state,
    after: Annotated[
        int | None,
        typer.Option(min=0, help="After this many calls of the agent (default: all)."),
    ] = None,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Show what can be known at a step of an episode, or the best next steps. Not for agents."""
    from mesocosm.evaluation.replay import episode_after

    trusted_in(trust, run)
    with episode_after(run / "episode" if (run / "episode").is_dir() else run, after) as episode:
        asked, world, history = episode.oracle, episode.world, episode.history()
        if show is OracleQuery.state:
            state = asked.state(world, history)
            if as_json:
                print_json(state.model_dump())
            else:
                out.print(escape(state.text))
            return
        plan = asked.plan(world, history)
        if as_json:
            print_json([subtask.model_dump() for subtask in plan])
            return
        for subtask in plan:
            out.print(escape(subtask.goal))
