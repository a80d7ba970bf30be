"""Running an agent on an instance: build, serve, act, grade, and keep everything in a run directory.

::

    run/
      run.json          the result, as `mesocosm run --json` prints it
      verdict.json      the judgement with its findings
      prompt.md         what the agent was asked
      mcp.json          the MCP configuration that it was given
      trajectory.jsonl  one line per tool call: arguments, status, result, tokens, duration
      conversation.jsonl  with a model: one line per turn: its text, its calls, their results, tokens
      agent.log         what an agent started as a command wrote
      fault.txt         a fault of ours outside the world: counts again when the run is judged again
      episode/          final and first state; `mesocosm grade RUN` judges it again
"""

from __future__ import annotations

import json
import secrets
import shutil
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import orjson
from pydantic import BaseModel

from mesocosm.agents import program
from mesocosm.agents.loop import Conversation
from mesocosm.agents.players import Player
from mesocosm.agents.react import React, Talk, check_endpoint
from mesocosm.agents.scripted.ability import check_can_play, needs_truth
from mesocosm.agents.scripted.known_truth import known
from mesocosm.agents.strategies import Strategy
from mesocosm.agents.strategies.registry import parse_strategies
from mesocosm.doors.client_configurations import client_config
from mesocosm.errors import UsageError
from mesocosm.evaluation.reasons import OUTSIDE, explain
from mesocosm.families import grading
from mesocosm.families.disturbances import Patient
from mesocosm.families.episode import Episode
from mesocosm.families.family import Expected, Family, known_as
from mesocosm.families.faults import Fault
from mesocosm.families.instances import EXPECTED, build_instance
from mesocosm.families.oracle import StepAccuracy
from mesocosm.families.program import parts
from mesocosm.families.quantities import show_length
from mesocosm.families.task import Offer
from mesocosm.families.verdict import Check, Verdict
from mesocosm.hosting.access import Access
from mesocosm.hosting.client import BlockingServer
from mesocosm.services.service import ending_tools
from mesocosm.worlds.database import MADE_WITH
from mesocosm.worlds.workspace import replace_file

FAULT_FILE = "fault.txt"
CUT_OFF = "it was cut off before it was judged"
"""The fault of an episode whose evaluation was interrupted."""
AgentKind = Literal["reference", "none", "command", "react", "optimal", "random", "noisy"]
PLAYERS = ("optimal", "random", "noisy")
Report = Callable[[str], None]


class RunResult(BaseModel):
    """The outcome of one run: the contract of ``mesocosm run --json`` and ``mesocosm grade --json``."""

    verdict: Literal["passed", "failed", "errored"]
    reward: float | None
    score: float | None
    findings: list[Check]
    error: str | None
    faults: list[Fault] = []
    """Faults of ours on the way, by kind."""
    task: str
    length: int | None
    """The target length in tokens, if one was asked for."""
    seed: int
    agent: str
    edl: int
    tool_calls: int
    delivered_tokens: int
    episode: str
    """Directory of the episode."""
    tools: Offer = "all"
    """Which tools of the task's services were offered."""
    disturb: str = ""
    """How the episode was disturbed on purpose."""
    services: str = ""
    """Services added at run time, separated by blanks."""
    parameters: dict[str, Any] = {}
    """The generator's, as far as they were given."""
    seconds: float | None
    """Seconds the agent took."""
    measures: dict[str, int] = {}
    """Measures of difficulty, such as operations and height."""
    steps: StepAccuracy | None = None
    """Number of optimal calls, in families that know them."""
    conversation: Conversation | None = None
    """With a model: how it went and how it ended."""
    agent_confined: bool | None = None
    """For a program as agent: true if it was isolated from the answer, the databases and the source."""

    @property
    def step_accuracy(self) -> float | None:
        """The share of calls that were among the best."""
        return self.steps.share if self.steps else None


@dataclass(frozen=True)
class WantedRun:
    target: int | None = None
    """Length in tokens; the numbers of the parameters decide it where there is none."""
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tools: Offer = "all"
    services: Sequence[str] = ()
    """Those that are added to the task's."""
    disturb: str = ""


@dataclass(frozen=True)
class Actor:
    kind: AgentKind
    command: str | None = None
    walls: bool = True
    """True if a command is kept from the files of the run."""
    react: React | None = None
    player: Player | None = None
    era: Literal["auto", "legacy"] = "auto"
    """The MCP revision that the reference solver speaks."""

    @property
    def label(self) -> str:
        """Name of the actor in results."""
        return self.player.label if self.player else self.kind

    @property
    def strategies(self) -> list[Strategy]:
        """Strategies on the conversation with a model."""
        return parse_strategies(self.react.strategy) if self.react else []

    def services(self, wanted: WantedRun) -> tuple[str, ...]:
        """Return the services that are added to the task's."""
        needed = (name for one in self.strategies for name in one.services)
        return tuple(dict.fromkeys([*wanted.services, *needed]))

    def needs_truth(self, family: Family) -> bool:
        """True if the actor is given the truth, as are solutions in task files and scripted models."""
        if self.react:
            return needs_truth(self.react.model, family)
        return self.kind == "reference" and family.solver == "solution"

    def check(self, family: Family, out: Path) -> None:
        """Refuse what cannot be run before anything is built."""
        if (self.kind == "command") != bool(self.command):
            raise UsageError("--agent command goes with --agent-command '...', and only with it")
        if self.command:
            program.check_command(self.command)
        if (self.kind == "react") != bool(self.react):
            raise UsageError("--agent react goes with --model NAME and its options, and only with them")
        if (self.kind in PLAYERS) != bool(self.player):
            raise UsageError(f"a player goes with --agent {', '.join(PLAYERS)}, and only with these")
        if out.exists():
            raise UsageError(f"{out} exists already")
        if self.react:
            check_can_play(self.react.model, family, self.strategies)
            check_endpoint(self.react.open())


def run_task(
    family: Family,
    wanted: WantedRun,
    actor: Actor,
    out: Path,
    *,
    strict: bool = False,
    report: Report = lambda _: None,
) -> RunResult:
    """One run from nothing to a verdict; ``out`` must not exist yet."""
    actor.check(family, out)
    report("building the world")
    out.mkdir(parents=True)
    try:
        instance = build_instance(
            family,
            wanted.seed,
            out / "instance",
            target=wanted.target,
            parameters=wanted.parameters,
            progress=report,
        )
    except BaseException:
        shutil.rmtree(out)
        raise
    replace_file(out / MADE_WITH, _pretty(parts()))
    grading.prepare()
    try:
        acted, seconds = _serve_and_act(family, instance.path, wanted, out, actor, report)
    finally:
        shutil.rmtree(instance.path, ignore_errors=True)
    report("grading")
    episode = Episode(out / "episode")
    if acted.fault:
        (out / FAULT_FILE).write_text(acted.fault, encoding="utf-8")
    result = grade_run(
        episode,
        fault=acted.fault,
        agent=actor.label,
        seconds=seconds,
        conversation=acted.conversation,
        strict=strict,
        confined=acted.confined,
    ).model_copy(update=_ordered(wanted, actor))
    write_trajectory((entry.shown() for entry in episode.world.journal.entries()), out)
    _write_result(result, episode.prompt, out)
    episode.close()
    return result


def run_remote(
    family: Family,
    server: BlockingServer,
    wanted: WantedRun,
    actor: Actor,
    out: Path,
    *,
    strict: bool = False,
    report: Report = lambda _: None,
) -> RunResult:
    """The same run against a server that is already running; its episode stays there."""
    actor.check(family, out)
    if known_as(family) != family.name:
        raise UsageError(f"{family.path}: a server knows only its own tasks; run this one without --server")
    report("asking the server for an episode")
    episode = server.create(
        family.name,
        length=wanted.target,
        seed=wanted.seed,
        parameters=dict(wanted.parameters),
        tools=wanted.tools,
        services=list(actor.services(wanted)),
        disturb=wanted.disturb,
    )
    out.mkdir(parents=True)
    urls = {name: server.base + path for name, path in episode.view.data["services"].items()}
    started = perf_counter()
    truth = json.dumps(episode.truth()).encode() if actor.needs_truth(family) else None
    expected = family.read_expected(truth) if truth else None
    acted = _act(family, episode.url, urls, episode.prompt, out, actor, wanted, report, expected=expected)
    seconds = round(perf_counter() - started, 3)
    report("grading")
    graded = episode.grade().data
    verdict = judge(Verdict.model_validate(graded["verdict"]), acted.fault, acted.conversation)
    verdict = verdict.strictly() if strict else verdict
    result = RunResult(
        **verdict.model_dump(),
        task=family.name,
        length=wanted.target,
        seed=wanted.seed,
        agent=actor.label,
        edl=episode.view.edl,
        tool_calls=graded["tool_calls"],
        delivered_tokens=graded["delivered_tokens"],
        episode=episode.id,
        tools=wanted.tools,
        disturb=wanted.disturb,
        **_ordered(wanted, actor),
        seconds=seconds,
        measures=graded["measures"],
        steps=graded["steps"],
        conversation=acted.conversation,
        agent_confined=acted.confined,
    )
    write_trajectory(episode.journal(), out)
    _write_result(result, episode.prompt, out)
    return result


def _ordered(wanted: WantedRun, actor: Actor) -> dict[str, Any]:
    """Return the part of a result that describes the order."""
    return {"services": " ".join(actor.services(wanted)), "parameters": dict(wanted.parameters)}


@dataclass(frozen=True)
class _Acted:
    """Outcome of acting besides the final state."""

    fault: str | None = None
    """A fault that is not the agent's."""
    conversation: Conversation | None = None
    confined: bool | None = None
    """True if a program was kept from the files of the run."""


def judge(verdict: Verdict, fault: str | None, conversation: Conversation | None) -> Verdict:
    """Combine the verdict on a run: the final state, the way it ended, and errors that are not its fault."""
    if conversation is not None and conversation.ended == "failed_rounds":
        detail = f"every call failed in {conversation.max_failed_rounds} consecutive rounds"
        verdict = verdict.with_finding(Check(name="failed_rounds", passed=False, detail=detail))
    return verdict.with_fault(OUTSIDE.removesuffix(":"), fault) if fault else verdict


def _write_result(result: RunResult, prompt: str, out: Path) -> None:
    (out / "prompt.md").write_text(prompt, encoding="utf-8")
    replace_file(out / "run.json", _pretty(result.model_dump()))
    replace_file(out / "verdict.json", _pretty(result.model_dump(include=set(Verdict.model_fields))))


def grade_run(
    episode: Episode,
    *,
    fault: str | None = None,
    agent: str = "",
    seconds: float | None = None,
    conversation: Conversation | None = None,
    strict: bool = False,
    confined: bool | None = None,
) -> RunResult:
    """Judge an episode; a ``fault`` of ours outside of it makes it errored, unless it passes all the same.

    ``strict``: an errored episode has reward 0.
    """
    verdict = judge(grading.grade(episode), fault, conversation)
    verdict = verdict.strictly() if strict else verdict
    calls, delivered = episode.usage()
    return RunResult(
        **verdict.model_dump(),
        task=episode.info.task,
        length=episode.info.target,
        seed=episode.info.seed,
        agent=agent,
        edl=episode.info.edl,
        tool_calls=calls,
        delivered_tokens=delivered,
        episode=str(episode.path),
        tools=episode.info.tools,
        disturb=episode.info.disturb,
        seconds=seconds,
        measures=episode.measures,
        steps=episode.step_accuracy(),
        conversation=conversation,
        agent_confined=confined,
    )


def write_trajectory(lines: Iterable[Mapping[str, Any]], out: Path) -> None:
    """Write the calls of a run as JSON lines."""
    with (out / "trajectory.jsonl").open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def default_run_directory(family: Family, target: int | None, seed: int, agent: str) -> Path:
    """The next free directory below ``runs/``."""
    length = show_length(target) if target else "custom"
    stem = f"{family.name}-{length}-s{seed}-{agent}"
    number = 1
    while (path := Path("runs") / f"{stem}-{number}").exists():
        number += 1
    return path


def _serve_and_act(
    family: Family,
    instance: Path,
    wanted: WantedRun,
    out: Path,
    actor: Actor,
    report: Report,
) -> tuple[_Acted, float]:
    """Serve an episode and let the agent act; returns the outcome, and the seconds."""
    # The SDK takes a second to import; commands that need no server should not wait for it.
    from mesocosm.hosting.application import Hosting
    from mesocosm.hosting.server import serving

    app = Hosting(out / "state", admin_token=secrets.token_urlsafe(32))
    added = actor.services(wanted)
    id_ = app.pool.adopt(instance, family, wanted.tools, added, wanted.disturb)
    # A second copy of the answer.
    shutil.rmtree(instance)
    started = perf_counter()
    try:
        with serving(app) as base, ExitStack() as stack:
            if "oracle" in added:
                _ = app.pool.get(id_).episode.oracle  # it has to know what is then put away
            if actor.command:
                stack.enter_context(program.withheld(app.pool.path(id_) / EXPECTED))
            url = f"{base}/e/{id_}"
            offered = dict.fromkeys([*family.task.offered(wanted.tools), *added])
            urls = {name: f"{url}/{name}/mcp" for name in offered}
            access = Access(app.pool, id_)
            prompt = app.pool.get(id_).episode.prompt
            expected = access.now(Episode.expected) if actor.needs_truth(family) else None
            acted = _act(family, f"{url}/mcp", urls, prompt, out, actor, wanted, report, access, expected)
    finally:
        seconds = perf_counter() - started
        app.pool.close()
        app.pool.path(id_).rename(out / "episode")
        shutil.rmtree(out / "state")
    return acted, round(seconds, 3)


def _act(
    family: Family,
    url: str,
    services: Mapping[str, str],
    prompt: str,
    out: Path,
    actor: Actor,
    wanted: WantedRun,
    report: Report,
    access: Access | None = None,
    expected: Expected | None = None,
) -> _Acted:
    """Let the agent act on the episode at ``url``; ``access`` if this process serves it."""
    (out / "mcp.json").write_bytes(_pretty(mcp_servers(services)))
    report(f"agent {actor.kind!r} is acting")
    if actor.kind == "reference":
        return _Acted(act_reference(family, url, prompt, actor.era, expected, bool(wanted.disturb)))
    if actor.react:
        if expected is not None:
            known.tell(family, prompt, expected)
        return _act_react(family, url, prompt, actor.react, out, access)
    if actor.player:
        if access is None:
            raise UsageError(f"--agent {actor.kind} needs an episode of this process: leave --server out")
        return _Acted(act_player(actor.player, url, access, actor.era))
    if actor.command:
        limit = family.task.limits.seconds
        ended = act_command(actor.command, url, services, prompt, limit, out, walls=actor.walls)
        return _Acted(ended.failure or None, confined=ended.confined)
    return _Acted()


def act_command(
    command: str,
    url: str,
    services: Mapping[str, str],
    prompt: str,
    seconds: int,
    out: Path,
    *,
    hidden: Sequence[Path] = (),
    walls: bool = True,
) -> program.ProgramEnded:
    """Run a shell command as the agent, kept from ``out`` and from what is ``hidden``."""
    given = {
        "MESOCOSM_PROMPT": prompt,
        "MESOCOSM_PROMPT_FILE": "{folder}/prompt.md",
        "MESOCOSM_MCP_CONFIG": "{folder}/mcp.json",
        "MESOCOSM_CODEX_CONFIG": "{folder}/codex.toml",
        "MESOCOSM_MCP_URL": url,
    }
    files = {
        "prompt.md": prompt.encode(),
        "mcp.json": _pretty(mcp_servers(services)),
        "codex.toml": client_config("codex", services).encode(),
    }
    return program.act(command, given, files, seconds, out, hidden=hidden, walls=walls)


def _act_react(
    family: Family, url: str, prompt: str, react: React, out: Path, access: Access | None
) -> _Acted:
    with (out / "conversation.jsonl").open("ab", buffering=0) as file:
        talk = Talk(
            react,
            react.open(),
            ending_tools(family.task.servers),
            lambda turn: file.write(orjson.dumps(turn, option=orjson.OPT_APPEND_NEWLINE)),
            access,
        )
        try:
            talk.hold(url, prompt, family.task.limits.seconds)
        except Exception as problem:  # noqa: BLE001 - the episode boundary: a provider that fails is no failure of the agent
            return _Acted(f"{explain(problem)}\n\n{traceback.format_exc()}", talk.conversation)
    return _Acted(None, talk.conversation)


def act_reference(
    family: Family,
    url: str,
    prompt: str,
    era: Any,
    expected: Expected | None = None,
    patient: bool = False,
) -> str | None:
    """Solve the episode with the reference solver; returns the fault if it fails, which is ours.

    ``patient``: a call that is not answered is made again.
    """
    from mesocosm.doors.mcp import McpTools

    try:
        with McpTools(url, era=era) as tools:
            family.solve(Patient(tools) if patient else tools, prompt, expected)
    except UsageError:
        raise
    except Exception:  # noqa: BLE001 - the episode boundary: the reference solver is ours, so its failure is too
        return traceback.format_exc()
    return None


def act_player(player: Player, url: str, access: Access, era: Any) -> str | None:
    """Let a scripted player act; returns the fault if it fails, which is ours."""
    from mesocosm.doors.mcp import McpTools

    try:
        with McpTools(url, era=era) as tools:
            player.play(tools, access.now)
    except UsageError:
        raise
    except Exception:  # noqa: BLE001 - the episode boundary: the player is ours, so its failure is too
        return traceback.format_exc()
    return None


def mcp_servers(services: Mapping[str, str]) -> dict[str, Any]:
    """The MCP configuration that most clients read: service to URL."""
    return {"mcpServers": {name: {"type": "http", "url": url} for name, url in services.items()}}


def _pretty(data: Any) -> bytes:
    return orjson.dumps(data, option=orjson.OPT_INDENT_2) + b"\n"
