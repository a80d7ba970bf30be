"""Evaluating models: eval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from mesocosm.cli.application import app
from mesocosm.cli.options import (
    AsJson,
    Disturb,
    FinalText,
    PaperName,
    Parameter,
    Ray,
    SpreadCommand,
    Structured,
    Tools,
    Trust,
    read_parameters,
    read_services,
    trusted,
)
from mesocosm.cli.output import err, out, print_json
from mesocosm.errors import UsageError

if TYPE_CHECKING:
    from mesocosm.evaluation.evaluation import Evaluation


_NAMED = 8
"""Samples that are named where an evaluation was interrupted."""


@app.command(name="eval", cls=SpreadCommand)
def evaluate(
    tasks: Annotated[
        str,
        typer.Argument(
            help="Tasks or data sets of questions, separated by commas; `all`: every task. With "
            "--paper: some of its tasks (default: all)."
        ),
    ] = "",
    paper: Annotated[
        PaperName | None,
        typer.Option(
            help="Run a paper's experiment with its settings; other options override them. `report "
            "--paper` draws its figures."
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            envvar="MESOCOSM_MODEL",
            help="A model as inspect_ai names it, or scripted/NAME; repeat it to compare several.",
        ),
    ] = None,
    length: Annotated[
        str | None, typer.Option("--length", help="Description lengths: 64k or 8k,32k (default: the task's).")
    ] = None,
    n: Annotated[
        str | None,
        typer.Option(
            "--n",
            help="Sizes: operations of dependency trees, calls of an optimal policy in the worlds of LUMINA: "
            "20, 1-350, 10-100:10.",
        ),
    ] = None,
    seeds: Annotated[str | None, typer.Option("--seeds", help="Seeds: 0-4 (default: the task's).")] = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            help="Context strategies, NAME:KEY=VALUE+NAME (see: mesocosm list strategies); repeat the option "
            "to compare several."
        ),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(help="Context window in tokens: 16k, 200k; `none`: never trimmed (default: 128k)."),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Tokens of an answer (default: 32768, or a quarter of the window); 0, with --window none: "
            "no limit.",
        ),
    ] = None,
    max_calls: Annotated[
        int | None,
        typer.Option(
            min=1, help="Maximum tool calls of an episode (default: three times what it takes, at least 500)."
        ),
    ] = None,
    max_turns: Annotated[int | None, typer.Option(min=1, help="Maximum answers of the model.")] = None,
    max_failed_rounds: Annotated[
        int | None,
        typer.Option(
            min=0, help="Consecutive rounds of only failed calls that end an episode (default: the task's)."
        ),
    ] = None,
    final_text: FinalText = False,
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence", help="Ask the model after the end how confident it is (for calibration)."
        ),
    ] = False,
    baselines: Annotated[
        bool,
        typer.Option(
            "--baselines",
            help="Also run baselines on the same instances: doing nothing, the perfect player and, "
            "where possible, random calls; they cost nothing.",
        ),
    ] = False,
    with_: Annotated[
        str | None,
        typer.Option("--with", help="Services to add to every task, such as memory_tool,python_execute."),
    ] = None,
    tools: Tools = "all",
    structured: Structured = False,
    disturb: Disturb = "",
    agent: Annotated[
        str,
        typer.Option(
            help="react, reference, none, command, auto (react with a model, else reference), or an agent "
            "of inspect_ai as module::function or file.py::function."
        ),
    ] = "react",
    agent_command: Annotated[
        str | None, typer.Option(help="With --agent command: a shell command, as with `mesocosm run`.")
    ] = None,
    param: Parameter = None,
    epochs: Annotated[int, typer.Option(min=1, help="Runs of each instance.")] = 1,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="Sampling temperature (default: 1).")
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Address of the model's endpoint.")] = None,
    server: Annotated[
        str | None,
        typer.Option(
            help="Use the server at this URL (token in MESOCOSM_ADMIN_TOKEN) instead of starting one."
        ),
    ] = None,
    log_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the logs (default: a new one below evals/); an existing one is resumed."
        ),
    ] = None,
    max_connections: Annotated[
        int | None, typer.Option(min=1, help="Maximum concurrent requests to a model.")
    ] = None,
    max_samples: Annotated[int | None, typer.Option(min=1, help="Maximum concurrent samples.")] = None,
    retry_on_error: Annotated[
        int | None,
        typer.Option(min=0, help="Retries of a sample that ends in an error (default: 0; 2 on a cluster)."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Run nothing; estimate episodes, calls, tokens, dollars and minutes.",
        ),
    ] = False,
    price: Annotated[
        list[str] | None,
        typer.Option(help="[MODEL=]IN,OUT[,CACHED]: dollars for a million tokens; repeatable."),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            min=0, help="Stop after this many dollars, as by Ctrl-C; requests in flight are still billed."
        ),
    ] = None,
    token_budget: Annotated[
        str | None, typer.Option(help="Stop after this many tokens, input and output: 500k, 20m.")
    ] = None,
    progress: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Seconds between lines of progress; 0: none (default: 60 without a terminal).",
        ),
    ] = None,
    ray: Ray = None,
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Evaluate models on tasks: every sample acts on a world of its own and is judged by the checker."""
    from mesocosm.evaluation.evaluation import Evaluation, baselines_of, default_log_folder, run_parts
    from mesocosm.evaluation.papers.presets import evaluations
    from mesocosm.families.disturbances import read_disturb
    from mesocosm.families.quantities import parse_size
    from mesocosm.worlds.limits import STRUCTURED, override

    trusted(trust, tasks)
    names = [name.strip() for name in tasks.split(",") if name.strip()]
    if structured and server:
        raise UsageError("--structured is an option of the server: mesocosm serve --structured")
    if structured:
        override(STRUCTURED)
    given = {
        "models": model or [],
        "length": length,
        "n": n,
        "seeds": seeds,
        "strategies": strategy,
        "window": window,
        "max_tokens": max_tokens,
        "max_calls": max_calls,
        "max_turns": max_turns,
        "max_failed_rounds": max_failed_rounds,
        "final_text": final_text or None,
        "confidence": confidence or None,
        "services": with_,
        "tools": tools,
        "disturb": read_disturb(disturb) or None,
        "agent": agent,
        "agent_command": agent_command,
        "parameters": read_parameters(param),
        "epochs": epochs,
        "temperature": temperature,
        "base_url": base_url,
        "server": server,
        "max_connections": max_connections,
        "max_samples": max_samples,
        "prices": price,
        "budget": budget,
        "token_budget": parse_size(token_budget) if token_budget else None,
        "retry_on_error": retry_on_error if retry_on_error is not None else 2 * (ray is not None),
    }
    given = {name: value for name, value in given.items() if value is not None}
    if not paper and not names:
        raise UsageError("name a task, or a paper: mesocosm eval lore_documents, mesocosm eval --paper lore")
    parts = evaluations(paper, names, given) if paper else [Evaluation(tasks=names, **given)]
    if baselines:
        parts = [*parts, *(one for part in parts for one in baselines_of(part))]
    for part in parts:
        for task, text in _warnings(part):
            err.print(f"[yellow]{task}: {text}[/]")
    if dry_run:
        _tell_plan(parts, as_json=as_json)
        return
    folder = log_dir or default_log_folder()
    quiet = as_json or not out.is_terminal
    every = (60.0 if quiet else 0.0) if progress is None else progress
    with episodes_on(ray, server):
        finished = run_parts(parts, folder, quiet=quiet, say=_say if every else None, every=every)
    if as_json:
        print_json([summary.model_dump() for summary in finished])
    else:
        for one in finished:
            errors = f", [red]{one.errored} errored[/]" if one.errored else ""
            errors += f", [yellow]{one.cancelled} cancelled[/]" if one.cancelled else ""
            steps = "" if one.step_accuracy is None else f", step accuracy {one.step_accuracy:.1%}"
            passed = f"{one.passed} of {one.judged} passed{errors}{steps}"
            out.print(f"{one.task}  {one.model}  {one.strategy}: {passed}")
            if one.error:
                out.print(f"  [red]errored:[/] {escape(one.error)}")
        err.print(f"logs and worlds: {folder}")
    if not finished or any(one.cancelled for one in finished):
        cut = [name for one in finished for name in one.cut]
        named = f"; cut off: {', '.join(cut[:_NAMED])}{' ...' if len(cut) > _NAMED else ''}" if cut else ""
        why = next((one.ended_by for one in finished if one.ended_by), "interrupted")
        err.print(
            f"[yellow]{escape(why)}[/]{escape(named)}. What was judged is kept: the same command with "
            f"--log-dir {folder} goes on from there"
        )
        raise typer.Exit(130)
    if any(one.errored for one in finished):
        raise typer.Exit(3)


def _say(line: str) -> None:
    err.print(escape(line))


def _tell_plan(parts: Sequence[Evaluation], *, as_json: bool) -> None:
    """Print what evaluations are going to take."""
    from mesocosm.evaluation.estimate import ASSUMED, AT_A_TIME, HEAD, row, total
    from mesocosm.evaluation.evaluation import plan
    from mesocosm.evaluation.table_files import printed

    found = plan(parts)
    if as_json:
        print_json([one.model_dump() for one in found])
        return
    out.print(printed(HEAD, map(row, found)))
    out.print(total(found))
    at_a_time = next((part.max_samples or part.max_connections for part in parts), None) or AT_A_TIME
    out.print(f"[dim]{ASSUMED.format(at_a_time=at_a_time)}[/]")


def _warnings(settings: Evaluation) -> Iterator[tuple[str, str]]:
    """Tasks that offer more tools than the API of a model takes."""
    from mesocosm.families.family import family_names, load_family
    from mesocosm.families.tool_limits import MOST_TOOLS, count_tools, too_many

    limited = [model for model in settings.models if model.partition("/")[0] in MOST_TOOLS]
    names = family_names() if settings.tasks == ["all"] else settings.tasks
    for task in [name for name in names if name in family_names()] if limited else ():
        offered = load_family(task).task.offered(settings.tools)
        added = dict.fromkeys(read_services(settings.services))
        for text in {too_many(count_tools(offered | added), model) for model in limited} - {None}:
            yield task, str(text)


@contextmanager
def episodes_on(ray: str | None, server: str | None) -> Iterator[None]:
    """Have the episodes of evaluations on the nodes of a cluster, if one is named."""
    if ray is None:
        yield
        return
    if server:
        raise UsageError("--server and --ray both say where episodes are: give one of them")
    from mesocosm.evaluation.cluster_stage import ClusterStage
    from mesocosm.evaluation.stage import acting_on
    from mesocosm.families.workers.cluster import RayCluster

    with RayCluster(ray) as cluster, acting_on(ClusterStage(cluster)):
        yield


@app.command(name="model-server")
def model_server(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port.")] = 8333,
    worlds: Annotated[
        list[Path] | None,
        typer.Option(
            help="Folder with instances, runs or a server's episodes; repeatable. Needed for tasks in "
            "YAML, whose solution has to know the instance.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
) -> None:
    """Serve the scripted models over the APIs of OpenAI (chat completions, responses) and Anthropic
    (messages); no key is needed.
    """
    from mesocosm.agents.scripted.behaviours import BEHAVIOURS
    from mesocosm.agents.scripted.http_server import serve_models
    from mesocosm.agents.scripted.known_truth import known
    from mesocosm.hosting.server import listen

    known.look_into(worlds or [])
    with listen(host, port) as taken:
        address = f"http://{host}:{taken.getsockname()[1]}"
        err.print(f"{address}/v1  models: {', '.join(BEHAVIOURS)}")
        serve_models(taken)
