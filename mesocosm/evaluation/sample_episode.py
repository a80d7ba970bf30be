"""The episode of a sample: variables of the run, services added, requests of custom agents, and time limits
that leave out waiting for the provider.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import orjson
from inspect_ai.agent import Agent, AgentState
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.solver import TaskState
from inspect_ai.tool import mcp_connection, mcp_server_http
from inspect_ai.util import store, working_limit

from mesocosm.agents.loop import Conversation, Loop, LoopRules
from mesocosm.agents.program import check_command
from mesocosm.agents.strategies.registry import label, parse_strategies
from mesocosm.errors import UsageError
from mesocosm.evaluation.stage import EvaluationStage, Opened, Settled, StageOrder
from mesocosm.families.disturbances import read_disturb
from mesocosm.families.family import load_family
from mesocosm.families.task import Offer
from mesocosm.services.service import ending_tools, load_service

if TYPE_CHECKING:
    from inspect_ai.tool import MCPServer

STORED = "mesocosm"
"""Key of the sample's store (and so of its log) under which the episode is described."""
MAX_TOKENS = 32_768
WINDOW = 128_000


@dataclass(frozen=True)
class Axes:
    """Variables of a run besides the instance and the model. Defaults are the reference scaffold's."""

    agent: str = "react"
    strategy: str = "none"
    window: int | None = WINDOW
    """Tokens; ``None``: nothing is trimmed."""
    max_tokens: int | None = None
    """Of an answer; default: 32,768, or a quarter of a window in which that leaves little room; 0: what the
    provider allows, where no window says how much room there is."""
    max_calls: int | None = None
    """Default: what follows from the instance."""
    max_turns: int | None = None
    max_failed_rounds: int | None = None
    """Default: what the task says."""
    final_text: bool = False
    """True if the last message is the answer, instead of a call of ``submit_answer``."""
    confidence: bool = False
    """True if the model is asked after the end how sure it is."""
    services: tuple[str, ...] = ()
    """Services added to the task's own."""
    parallel: bool = True
    """True if the model may make several calls in one turn."""
    tools: Offer = "all"
    """Which of the task's own tools are offered."""
    disturb: str = ""
    """How the episodes are disturbed on purpose."""
    command: str | None = None
    """With the agent ``command``."""
    server: str | None = None
    """URL of a server that runs already."""

    @property
    def answer(self) -> int:
        """Tokens of an answer at most."""
        if self.max_tokens:
            return self.max_tokens
        return MAX_TOKENS if self.window is None else min(MAX_TOKENS, max(1, self.window // 4))

    def check(self) -> None:
        """``UsageError`` for what cannot be run."""
        LoopRules(window=self.window, answer=self.answer)
        parse_strategies(self.strategy)
        read_disturb(self.disturb)
        for name in self.services:
            load_service(name)
        if (self.agent == "command") != bool(self.command):
            raise UsageError("--agent command goes with --agent-command '...', and only with it")
        if self.command:
            check_command(self.command)
        if self.final_text and self.agent != "react":
            raise UsageError("--final-text goes with --agent react")
        if self.confidence and self.agent != "react":
            raise UsageError("--confidence goes with --agent react")


@dataclass
class Acting:
    """The episode of the sample that is being run."""

    order: StageOrder
    opened: Opened
    stage: EvaluationStage
    axes: Axes
    folder: Path
    """Where it will be kept: a run directory."""
    kept_as: str
    """The same, relative to the log's folder."""
    max_calls: int
    """After which it is ended."""
    conversation: Conversation | None = None
    fault: str | None = None
    settled: Settled | None = None


ACTING: dict[str, Acting] = {}
"""By episode id: what belongs to this process and not into a log."""


def acting() -> Acting:
    """The episode of the present sample; for solvers, scorers and agents of one's own."""
    told = store().get(STORED, None)
    if not told or told["id"] not in ACTING:
        raise UsageError("no episode is open: this works inside a sample of a Mesocosm task only")
    return ACTING[told["id"]]


def episode_tools() -> MCPServer:
    """The tools of the present sample's episode, for agents of one's own."""
    return mcp_server_http(name="mesocosm", url=acting().opened.mcp, timeout=300)


async def talk(state: TaskState, now: Acting, seconds: float, max_failed_rounds: int) -> None:
    """The plain loop with its strategies, on the model that is being evaluated."""
    axes = now.axes
    strategies = parse_strategies(axes.strategy)
    model = get_model()
    kept = now.conversation = Conversation(
        model=str(model),
        max_failed_rounds=max_failed_rounds,
        temperature=model.config.temperature,
        strategy=label(strategies),
        window=axes.window,
    )
    rules = LoopRules(
        strategies=strategies,
        window=axes.window,
        answer=axes.answer,
        max_failed_rounds=max_failed_rounds,
        max_turns=axes.max_turns,
        max_calls=now.max_calls,
        final_text=axes.final_text,
        confidence=axes.confidence,
        ending=ending_tools(dict.fromkeys([*load_family(now.order.task).task.servers, *now.order.services])),
    )
    server = episode_tools()
    with (now.folder / "conversation.jsonl").open("ab", buffering=0) as file:

        def write(turn: dict[str, Any]) -> None:
            file.write(orjson.dumps(turn, option=orjson.OPT_APPEND_NEWLINE))

        async with mcp_connection([server]):
            tools = await server.tools()
            loop = Loop(rules, model, GenerateConfig(), kept, write, now.stage.access(now.opened.id))
            if not await in_time(seconds, lambda: loop.hold(now.opened.prompt, tools)):
                kept.ended = "seconds"
            state.messages = loop.messages
            if loop.output:
                state.output = loop.output


async def run_agent(agent: Agent, state: TaskState) -> None:
    """An agent of inspect_ai's kind on the sample's conversation."""
    done = await agent(AgentState(messages=state.messages))
    state.messages, state.output = done.messages, done.output


async def in_time(seconds: float, do: Callable[[], Awaitable[object]]) -> bool:
    """Run a function with a time limit; true if it finished, false if it was stopped.

    The clock stands still while a free connection is waited for, or the next try of a request that the
    provider refused, cut off or broke down over.
    """
    broken: list[Exception] = []
    ended = False
    with working_limit(None) as clock:
        async with anyio.create_task_group() as group:

            async def watch() -> None:
                while (left := seconds - clock.usage) > 0:
                    await anyio.sleep(left)
                group.cancel_scope.cancel()

            group.start_soon(watch)
            try:
                await do()
                ended = True
            except Exception as error:  # noqa: BLE001 - raised again, out of the group, which would wrap it
                broken.append(error)
            group.cancel_scope.cancel()
    if broken:
        raise broken[0]
    return ended
