"""Entry point of inspect_ai: every family as a task, and all families as one.

::

    inspect eval mesocosm/canvas_arrange_exam -T length=64k -T seeds=0-4 --model openai/...
    inspect eval mesocosm/suite -T tasks=canvas_arrange_exam,recall_campaign -T length=8k --model ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
from inspect_ai import Task, task

from mesocosm.agents.local import local
from mesocosm.agents.scripted import provider
from mesocosm.agents.strategies.registry import label, parse_strategies
from mesocosm.evaluation.episodes import episode_task
from mesocosm.evaluation.question_tasks import question_task
from mesocosm.evaluation.questions import question_sets
from mesocosm.evaluation.sample_episode import WINDOW, Axes
from mesocosm.families.disturbances import read_disturb
from mesocosm.families.family import Family, family_names, load_family
from mesocosm.families.quantities import parse_counts, parse_length, parse_seeds, parse_size
from mesocosm.families.task import Offer

Value = str | int | None
MODELS = (provider.scripted, provider.scripted_responses, provider.scripted_anthropic, local)
"""Registered with inspect_ai by being imported here."""


def build_task(
    families: Sequence[Family],
    name: str,
    *,
    length: Value | list[Value] = None,
    n: Value | list[Value] = None,
    seeds: Value | list[int] = None,
    params: dict[str, Any] | str | None = None,
    agent: str = "react",
    agent_command: str | None = None,
    strategy: str = "none",
    window: Value = WINDOW,
    max_tokens: int | None = None,
    max_calls: int | None = None,
    max_turns: int | None = None,
    parallel: bool = True,
    max_failed_rounds: int | None = None,
    final_text: bool = False,
    confidence: bool = False,
    services: str | list[str] | None = None,
    tools: Offer = "all",
    disturb: str | list[str] = "",
    server: str | None = None,
    epochs: int | None = None,
) -> Task:
    """A task of inspect_ai from values as a command line gives them."""
    axes = Axes(
        agent=agent,
        strategy=label(parse_strategies(strategy)),
        window=None if window in (None, "none", 0) else parse_size(window),
        max_tokens=max_tokens,
        max_calls=max_calls,
        max_turns=max_turns,
        parallel=parallel,
        max_failed_rounds=max_failed_rounds,
        final_text=final_text,
        confidence=confidence,
        services=tuple(_words(services)),
        tools=tools,
        # inspect_ai's command line makes a list of what has commas.
        disturb=read_disturb(",".join(_words(disturb))),
        command=agent_command,
        server=server,
    )
    return episode_task(
        families,
        lengths=[parse_length(one) for one in _words(length)] or None,
        sizes=parse_counts(",".join(_words(n))) if n is not None else None,
        seeds=parse_seeds(",".join(_words(seeds))) if seeds is not None else None,
        parameters=orjson.loads(params) if isinstance(params, str) else params or {},
        axes=axes,
        name=name,
        epochs=epochs,
    )


def _words(value: Any) -> list[str]:
    """The parts of ``a,b``; inspect_ai's command line makes a list of it, or a number of ``0``."""
    if value is None:
        return []
    values = value if isinstance(value, list | tuple) else str(value).split(",")
    return [str(one).strip() for one in values if str(one).strip()]


def task_of(name: str) -> Callable[..., Task]:
    """The task of a family or data set of that name, or of a file."""
    return TASKS.get(name) or _register(name)


def _register(name: str) -> Callable[..., Task]:
    shown = Path(name).stem

    @task(name=shown)
    def family_task(
        length: Value | list[Value] = None,
        n: Value | list[Value] = None,
        seeds: Value | list[int] = None,
        params: dict[str, Any] | str | None = None,
        agent: str = "react",
        agent_command: str | None = None,
        strategy: str = "none",
        window: Value = WINDOW,
        max_tokens: int | None = None,
        max_calls: int | None = None,
        max_turns: int | None = None,
        parallel: bool = True,
        max_failed_rounds: int | None = None,
        final_text: bool = False,
        confidence: bool = False,
        services: str | list[str] | None = None,
        tools: Offer = "all",
        disturb: str | list[str] = "",
        server: str | None = None,
        epochs: int | None = None,
    ) -> Task:
        return build_task(
            [load_family(name)],
            shown,
            length=length,
            n=n,
            seeds=seeds,
            params=params,
            agent=agent,
            agent_command=agent_command,
            strategy=strategy,
            window=window,
            max_tokens=max_tokens,
            max_calls=max_calls,
            max_turns=max_turns,
            parallel=parallel,
            max_failed_rounds=max_failed_rounds,
            final_text=final_text,
            confidence=confidence,
            services=services,
            tools=tools,
            disturb=disturb,
            server=server,
            epochs=epochs,
        )

    return family_task


def _register_questions(name: str) -> Callable[..., Task]:
    @task(name=name)
    def questions_task(
        options: dict[str, Any] | str | None = None, max_tokens: int | None = None, epochs: int | None = None
    ) -> Task:
        values = orjson.loads(options) if isinstance(options, str) else options or {}
        return question_task(question_sets()[name], values, max_tokens=max_tokens, epochs=epochs)

    return questions_task


@task
def suite(tasks: str | list[str] = "all", **options: Any) -> Task:
    """Several families, or all of them, as one task."""
    names = _words(tasks)
    families = [load_family(name) for name in (family_names() if names == ["all"] else names)]
    return build_task(families, "suite", **options)


TASKS = {name: _register(name) for name in family_names()}
TASKS |= {name: _register_questions(name) for name in question_sets()}
