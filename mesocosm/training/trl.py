"""TRL: a class of environments for ``GRPOTrainer(environment_factory=...)``.

::

    from mesocosm.training.trl import environment
    refunds = environment("refund_list", length="8k", url=..., token=...)
    trainer = GRPOTrainer(..., environment_factory=refunds)

The tools of the task become methods with types and docstrings, from which TRL makes the schemas that a model
sees.
A row of the data set may have ``seed`` and ``length``; the prompt follows on its last user message.
"""

from __future__ import annotations

import inspect
import re
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import reduce
from keyword import iskeyword
from operator import or_
from typing import Any, ClassVar, Literal

from mesocosm.errors import UsageError
from mesocosm.hosting.client import BlockingServer, ServerError, ToolInfo, connect_sync
from mesocosm.training.play import Instances, Play

_TYPES: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "object": dict,
    "array": list,
    "null": type(None),
}


class _Environment:
    """One rollout at a time; TRL resets it for the next. Its public methods are tools."""

    _server: BlockingServer
    _instances: Instances
    _open: ClassVar[dict[str, Play]]
    """The episodes of the class that are open."""
    _play: Play | None = None
    _over = False

    def reset(self, **row: Any) -> str | None:
        """Begin an episode. Returns the prompt to append to the row's last message; ``None`` if it is there
        already.
        """
        if self._play is not None:
            self._open.pop(self._play.episode.id, None)
            self._play.close()
        order = self._instances.order(row.get("seed", self._instances.seeds[0]))
        if row.get("length") is not None:
            order["length"] = row["length"]
        episode = self._server.create_batch([order])[0]
        self._play, self._over = Play(self._server, episode, self._instances), False
        self._open[episode.id] = self._play
        messages = row.get("prompt") or [{}]
        return None if episode.prompt.strip() in str(messages[-1].get("content")) else episode.prompt

    def get_reward(self) -> float | None:
        """The reward of the episode; ``None``, which TRL leaves out, where it is errored."""
        if self._play is None:
            return None
        reward = self._play.grade().reward
        return None if reward is None else reward + self._play.shaped

    @classmethod
    def close(cls) -> None:
        """Remove the episodes that are open, of all environments of the class, and close the connections.

        A method of the class, for TRL takes those of its objects for tools.
        """
        _close(cls._server, cls._open)

    def _call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        if self._play is None:
            raise UsageError("there is no episode: call reset first")
        if self._over:
            return "The episode is over; no further calls are accepted."
        turn = self._play.call(tool, {name: one for name, one in arguments.items() if one is not None})
        self._over = turn.over
        return turn.text


def environment(
    task: str, *, url: str | None = None, token: str | None = None, **options: Any
) -> type[_Environment]:
    """The class of environments of a task.

    Args:
        task: Its name.
        url: The server; else that in ``MESOCOSM_URL``.
        token: Its admin token; else that in ``MESOCOSM_ADMIN_TOKEN``.
        options: Those of ``Instances``: ``length``, ``seeds`` (the first is that of rows without a ``seed``),
            ``parameters``, ``tools``, ``services``, ``reward``, ``shaping`` and ``max_calls``.

    When training is over, ``close()`` of the class removes what is open; the end of the program does, too.
    """
    instances = Instances(task, **options)
    with connect_sync(url, token=token) as first:
        episode = first.create_batch([instances.order(instances.seeds[0])])[0]
        tools = episode.tools()
        episode.delete()
    server = connect_sync(url, token=token)
    playing: dict[str, Play] = {}
    members: dict[str, Any] = {"_server": server, "_instances": instances, "_open": playing}
    for tool in tools:
        if (
            tool.name in ("reset", "get_reward", "close")
            or tool.name.startswith("_")
            or not tool.name.isidentifier()
        ):
            raise UsageError(f"a method of TRL's environments cannot be called {tool.name!r}")
        members[tool.name] = _method(tool)
    kind = type("".join(part.capitalize() for part in task.split("_")), (_Environment,), members)
    weakref.finalize(kind, _close, server, playing)  # at the end of the program, if not before
    return kind


def _close(server: BlockingServer, playing: dict[str, Play]) -> None:
    while playing:
        _, play = playing.popitem()
        with suppress(ServerError, RuntimeError):  # the server is gone, or the connections are closed already
            play.close()
    server.close()


def _method(tool: ToolInfo) -> Callable[..., str]:
    """A method that calls a tool, with the tool's own parameters."""

    properties = {_spelt(name): schema for name, schema in tool.input_schema.get("properties", {}).items()}
    required = {_spelt(name) for name in tool.input_schema.get("required", ())}
    names = {_spelt(name): name for name in tool.input_schema.get("properties", {})}

    def method(self: _Environment, **arguments: Any) -> str:
        return self._call(tool.name, {names.get(name, name): one for name, one in arguments.items()})

    method.__name__ = method.__qualname__ = tool.name
    method.__doc__ = _docstring(tool, properties)
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for name, schema in sorted(properties.items(), key=lambda one: one[0] not in required):
        if not name.isidentifier():
            raise UsageError(f"{tool.name}: a parameter of Python cannot be called {name!r}")
        kind: Any = _type_of(schema)
        default: Any = inspect.Parameter.empty
        if name not in required:
            kind, default = kind | None, None
        method.__annotations__[name] = kind
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        )
    del method.__annotations__["arguments"], method.__annotations__["self"]
    method.__annotations__["return"] = str
    method.__signature__ = inspect.Signature(parameters, return_annotation=str)  # type: ignore[attr-defined]
    return method


def _spelt(name: str) -> str:
    """A parameter's name as Python takes it: ``class`` is ``class_``."""
    return f"{name}_" if iskeyword(name) else name


def _docstring(tool: ToolInfo, properties: Mapping[str, Any]) -> str:
    """Write a tool's docstring in the form that TRL parses."""
    what = re.split(r"\n\s*(?:Args|Returns):", tool.description)[0].strip()
    lines = [f"    {name}: {_line(schema.get('description')) or name}" for name, schema in properties.items()]
    arguments = "\n\nArgs:\n" + "\n".join(lines) if lines else ""
    return f"{what or tool.name}{arguments}\n\nReturns:\n    The text that the tool answers."


def _line(text: str | None) -> str:
    return " ".join((text or "").split())


def _type_of(schema: Mapping[str, Any]) -> Any:
    """Return the Python type of a schema; ``Any`` if it is unspecific."""
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return reduce(or_, (_type_of(one) for one in choices))
    kind = schema.get("type")
    if isinstance(kind, list):
        return reduce(or_, (_TYPES[one] for one in kind))
    if kind == "array" and schema.get("items"):
        return list[_type_of(schema["items"])]  # type: ignore[misc]
    return _TYPES.get(str(kind), dict)
