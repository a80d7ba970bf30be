"""Scripted models by name, with parameters such as ``tiring:rate=0.5:window=32k``.

========== ==========================================================================================
solver     works as the reference solver of the task does, one call at a time; questions about a history in
           the prompt, and long procedures, it answers by reading
tiring     the same, but with every turn the likelier to stop early the more it has read (``rate``: the
           expected number of stops in 100,000 tokens)
slipping   the same, but a digit of what it writes is wrong now and then (``rate``: of a hundred calls)
obedient   does what an oracle told it last before its turn (``--strategy oracle:give=SPH``), and nothing else
talking    answers with text and makes no call
empty      answers nothing
stray      calls tools with ids that do not exist, two at a time
garbled    calls tools that do not exist, and with arguments that are no JSON
========== ==========================================================================================

Each of them can have faults of its provider: ``every_429=5`` refuses every fifth request for its rate,
``every_500=7`` breaks down, ``cut=9`` ends every ninth stream in the middle, ``window=32k`` refuses longer
requests as providers do, ``delay=0.2`` answers after so many seconds, ``think=1`` shows reasoning.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from mesocosm.agents.loop import HOW_SURE
from mesocosm.agents.scripted.exchange import Ask, ModelAnswer, ModelCall, ModelMessage, RequestRefused
from mesocosm.agents.scripted.solver_model import (
    SolverStep,
    Work,
    Works,
    call_of,
    is_own_id,
    mark,
    name_among,
)
from mesocosm.kits.rollouts.answers import answer_in_conversation, answer_to
from mesocosm.services.content import find_module

# A model without memory: it follows the oracle's latest advice.
#
# A plan is carried out; where the state alone is told, it is enough to act on in the worlds of LUMINA,
# whose rules are simple. So a conversation passes when what is told is right, in the place, and sufficient.

_PLANS: list[tuple[str, str, str, tuple[tuple[str, type], ...]]] = [
    (r"Remove the element \S+, which is at index (\d+)", "listworld", "pop", (("id", int),)),
    (r"There is nothing more to remove: call done", "listworld", "done", ()),
    (r"Ask for the children of the node (\w+)", "treeworld", "get_children", (("id", str),)),
    (r"Report the node (\w+) as found", "treeworld", "found", (("id", str),)),
    (r"Report that the value is unreachable", "treeworld", "unreachable", ()),
    (r"You are at the goal: call done", "gridworld", "done", ()),
]


def told_step(messages: Sequence[ModelMessage]) -> SolverStep | None:
    """Return the next call of the latest advice; ``None`` without one, or if nothing is left to do."""
    asked = [message.text for message in messages if message.role == "user"]
    told = asked[-1] if len(asked) > 1 else ""
    if plan := re.search(r"^Plan: (.*)", told, re.MULTILINE | re.DOTALL):
        return _planned(plan[1])
    if state := re.search(r"^State: (.*)", told, re.MULTILINE | re.DOTALL):
        return _from_state(state[1], asked[0])
    return None


def _planned(plan: str) -> SolverStep | None:
    if move := re.match(r"Move (\w+), to", plan):
        return SolverStep("gridworld", move[1], {})
    for pattern, service, tool, names in _PLANS:
        if found := re.match(pattern, plan):
            values = zip(names, found.groups(), strict=True)
            return SolverStep(service, tool, {name: kind(value) for (name, kind), value in values})
    # Those of reference solvers: the arguments are JSON, which may hold anything.
    if found := re.search(r"Call (\w+)\.(\w+) with (no arguments|(?=\{))", plan):
        arguments: dict[str, Any] = {}
        if not found[3]:
            arguments, _ = json.JSONDecoder().raw_decode(plan, found.end())
        return SolverStep(found[1], found[2], arguments)
    return None


def _from_state(state: str, prompt: str) -> SolverStep | None:
    if state.endswith("The task has ended."):
        return None
    if current := re.search(r"The list is now (\[.*?\])", state):
        return _pop(json.loads(current[1]), json.loads(re.findall(r"Target list: (\[.*?\])", prompt)[-1]))
    if found := re.match(r"The node (\w+) has the value", state):
        return SolverStep("treeworld", "found", {"id": found[1]})
    if unknown := re.search(r"children are not known yet: (\w+)", state):
        return SolverStep("treeworld", "get_children", {"id": unknown[1]})
    if state.startswith("No known node has the value"):
        return SolverStep("treeworld", "unreachable", {})
    if places := re.findall(r"\((\d+), (\d+)\)", state.partition(". ")[0]):
        (row, column), (to_row, to_column) = ((int(a), int(b)) for a, b in places)
        ways = {
            "up": row > to_row,
            "down": row < to_row,
            "left": column > to_column,
            "right": column < to_column,
        }
        return SolverStep("gridworld", next((way for way, nearer in ways.items() if nearer), "done"), {})
    return None


def _pop(current: Sequence[int], target: Sequence[int]) -> SolverStep:
    """The first element that is not wanted where it stands."""
    for index, value in enumerate(current):
        if index >= len(target) or value != target[index]:
            return SolverStep("listworld", "pop", {"id": index})
    return SolverStep("listworld", "done", {})


_PARAMETERS = {"rate", "every_429", "every_500", "cut", "window", "delay", "think"}


@dataclass(frozen=True)
class Name:
    """A model's name, read."""

    behaviour: str
    parameters: dict[str, float]

    def get(self, name: str, default: float = 0) -> float:
        """A parameter."""
        return self.parameters.get(name, default)


def read_name(text: str) -> Name:
    """Parse ``behaviour:key=value:key=value``; raises ``RequestRefused`` for an unknown model."""
    behaviour, *pairs = text.split("/")[-1].split(":")
    parameters = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([km]?)", value)
        if key not in _PARAMETERS or not found:
            raise RequestRefused(404, "model_not_found", f"the model {text!r} has no parameter {pair!r}")
        parameters[key] = float(found[1]) * {"": 1, "k": 1_000, "m": 1_000_000}[found[2]]
    if behaviour not in BEHAVIOURS:
        known = ", ".join(BEHAVIOURS)
        raise RequestRefused(404, "model_not_found", f"there is no model {behaviour!r}; there are: {known}")
    return Name(behaviour, parameters)


class Models:
    """All scripted models of a server."""

    def __init__(self) -> None:
        self.works = Works()
        self._requests: dict[str, int] = {}
        self._lock = threading.Lock()

    def answer(self, ask: Ask) -> ModelAnswer:
        """The answer to a request; ``RequestRefused`` where the provider gives none."""
        name = read_name(ask.model)
        with self._lock:
            number = self._requests[ask.model] = self._requests.get(ask.model, 0) + 1
        if delay := name.get("delay"):
            time.sleep(delay)
        if _due(number, name.get("every_429")):
            raise RequestRefused(429, "rate_limit_exceeded", "too many requests: wait a little")
        if _due(number, name.get("every_500")):
            raise RequestRefused(500, "server_error", "the model broke down")
        if (window := name.get("window")) and ask.size > window:
            raise RequestRefused(
                400, "context_length_exceeded", f"{ask.size} tokens are more than the window of {window:.0f}"
            )
        answer = BEHAVIOURS[name.behaviour](self.works, ask, name)
        reasoning = f"What is next after {len(ask.messages)} messages?" if name.get("think") else ""
        return ModelAnswer(answer.text, reasoning, answer.calls, answer.stop, _due(number, name.get("cut")))


def _due(number: int, every: float) -> bool:
    return bool(every) and number % int(every) == 0


def _solver(works: Works, ask: Ask, name: Name) -> ModelAnswer:
    """One step of the reference solver."""
    messages = list(ask.messages)
    if messages and messages[-1].text == HOW_SURE:
        return ModelAnswer(str(_SURE[name.behaviour]))
    work = works.find(messages)
    if work is None:
        asked = [message.text for message in messages if message.role == "user"]
        work = works.begin(asked)
        if work is None:
            answer = answer_in_conversation([(message.role, message.text) for message in messages])
            if answer is not None:
                return _answered("<answer>{}</answer>", answer, asked[-1], ask, name)
            return _from_the_prompt(asked[0] if asked else "", ask, name)
    with work.lock:
        result = next((one for one in reversed(messages) if one.call_id == work.call_id), None)
        if result is None and messages[-1].role == "tool" and not is_own_id(messages[-1].call_id):
            result = messages[-1]  # of a client that gives calls ids of its own
        if result and work.call_id:
            work.call_id = ""
            work.take(result)
        return _next(work, ask, name)


_SURE = {"solver": 99, "tiring": 60, "slipping": 80}
"""Confidence that they report, in percent."""


def _from_the_prompt(prompt: str, ask: Ask, name: Name) -> ModelAnswer:
    """Answer a question from its own prompt: about the history before it (``agentlongbench``), or a complete
    case (``longproc``).
    """
    answer = answer_to(prompt)
    wrapped = "<answer>{}</answer>" if answer is not None else "{}"
    if answer is None:
        answer = _procedures().answer_from(prompt)
    if answer is None and ask.tools:
        raise RequestRefused(
            400,
            "invalid_request_error",
            "no scripted model knows this task; one in YAML is known where its instance is: mesocosm "
            "model-server --worlds FOLDER, in which the instance, the run or the server's episodes lie",
        )
    if answer is None:
        return ModelAnswer("I do not know this task.")
    return _answered(wrapped, answer, prompt, ask, name)


def _procedures() -> Any:
    """Load the solvers of procedures. They are content, which is found by name."""
    name = find_module("solvers", "longproc")
    assert name is not None
    return import_module(name)


def _answered(wrapped: str, answer: str, prompt: str, ask: Ask, name: Name) -> ModelAnswer:
    """The answer, or what one that tires or slips makes of it."""
    chance = _chance(ask, 0)
    if name.behaviour == "tiring" and chance < name.get("rate", 1.0) * len(prompt) / 400_000:
        return ModelAnswer("I think this is done.")
    if name.behaviour == "slipping" and chance < name.get("rate", 5) / 100:
        answer = _with_slip(answer)
    return ModelAnswer(wrapped.format(answer))


def _next(work: Work, ask: Ask, name: Name) -> ModelAnswer:
    if not ask.tools:
        return ModelAnswer(f"{mark(work)} {work.made} calls are made; the work goes on where it stands.")
    if _is_tired(work, ask, name):
        return ModelAnswer(f"{mark(work)} I think this is done.")
    call = call_of(work, ask.tools)
    if call is None:
        return ModelAnswer(f"{mark(work)} The task is done after {work.made} calls.")
    return ModelAnswer(f"{mark(work)} Step {work.made}.", calls=(_slipped(call, name),), stop="calls")


def _is_tired(work: Work, ask: Ask, name: Name) -> bool:
    if name.behaviour != "tiring":
        return False
    read = sum(len(message.text) for message in ask.messages[-2:]) / 4
    return _chance(ask, work.made) < name.get("rate", 1.0) * read / 100_000


def _chance(ask: Ask, number: int) -> float:
    """A number between 0 and 1 that follows from the prompt and the step alone."""
    prompt = next((message.text for message in ask.messages if message.role == "user"), "")
    return int.from_bytes(hashlib.sha256(f"{prompt}\0{number}".encode()).digest()[:6]) / 2**48


def _slipped(call: ModelCall, name: Name) -> ModelCall:
    if name.behaviour != "slipping" or not isinstance(call.arguments, dict):
        return call
    number = int(call.id.rpartition("-")[2])
    if number % max(1, round(100 / name.get("rate", 5))):
        return call
    return ModelCall(call.id, call.name, {key: _with_slip(value) for key, value in call.arguments.items()})


def _with_slip(value: Any) -> Any:
    """Change the last digit of a value; structures and values without digits stay."""
    if isinstance(value, str) and (found := list(re.finditer(r"\d", value))):
        at = found[-1].start()
        return f"{value[:at]}{(int(value[at]) + 1) % 10}{value[at + 1 :]}"
    if isinstance(value, list):
        return [*value[:-1], _with_slip(value[-1])] if value else value
    return value


def _obedient(_: Works, ask: Ask, __: Name) -> ModelAnswer:
    step = told_step(ask.messages) if ask.tools else None
    if step is None:
        return ModelAnswer("There is nothing that I am told to do.")
    turn = len(ask.messages)
    call = ModelCall(f"told-{turn}", name_among(step, ask.tools), step.arguments)
    return ModelAnswer("As I am told.", calls=(call,), stop="calls")


def _stray(_: Works, ask: Ask, __: Name) -> ModelAnswer:
    tool = next(
        (name for name in sorted(ask.tools) if name.endswith("read_document")), min(ask.tools, default="")
    )
    if not tool:
        return ModelAnswer("There are no tools.")
    turn = sum(message.role == "assistant" for message in ask.messages)
    calls = tuple(ModelCall(f"stray-{turn}-{n}", tool, {"file_id": f"v{n}%nowhere"}) for n in (9, 8))
    return ModelAnswer("", calls=calls, stop="calls")


def _garbled(_: Works, ask: Ask, __: Name) -> ModelAnswer:
    turn = sum(message.role == "assistant" for message in ask.messages)
    tool = min(ask.tools, default="no_tool")
    calls = (
        ModelCall(f"garbled-{turn}-0", tool, '{"unfinished": '),
        ModelCall(f"garbled-{turn}-1", "no_such_tool", {"id": 1}),
    )
    return ModelAnswer("", calls=calls, stop="calls")


Behaviour = Callable[[Works, Ask, Name], ModelAnswer]
SOLVING = ("solver", "tiring", "slipping")
"""Those that do as a reference solver does."""
BEHAVIOURS: dict[str, Behaviour] = {
    "solver": _solver,
    "tiring": _solver,
    "slipping": _solver,
    "obedient": _obedient,
    "talking": lambda _, __, ___: ModelAnswer("I would look into it."),
    "empty": lambda _, __, ___: ModelAnswer(),
    "stray": _stray,
    "garbled": _garbled,
}
