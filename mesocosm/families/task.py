"""Task files: one YAML file per task, validated with key and line in every complaint."""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from mesocosm.errors import UsageError
from mesocosm.families.quantities import parse_length, parse_seeds
from mesocosm.families.written import SIZES


def _tools(value: Any) -> Any:
    return None if value == "all" else value


def _points(value: Any) -> Any:
    return {parse_length(key): size for key, size in value.items()} if isinstance(value, dict) else value


def _lengths(value: Any) -> Any:
    return [parse_length(part) for part in value] if isinstance(value, list) else value


def _seeds(value: Any) -> Any:
    return parse_seeds(value) if isinstance(value, str | int) else value


Offer = str
"""Tools that an episode offers: ``all`` of the task, those ``needed``, or names separated by commas."""

Difficulty = Literal["easy", "medium", "hard"]
"""Complexity of an instance, whatever its length; ``medium`` is the default."""


Share = Annotated[float, Field(gt=0, lt=1)]


class Growth(BaseModel):
    """Growth of a family: the parameter, and its value at some lengths. Values between are interpolated.

    What is missing to the target is filled with distracting content.
    """

    model_config = ConfigDict(extra="forbid")

    parameter: str
    points: Annotated[dict[int, int], BeforeValidator(_points)] = Field(min_length=1)
    filler: Share | Annotated[dict[int, Share], BeforeValidator(_points)] = Field(
        default=0.3,
        description="About what share of a length is filler, where the search begins; one, or one a length.",
    )
    yields: float = Field(
        default=1,
        ge=0.5,
        le=2,
        description="About how many tokens a token of filler becomes when it is read.",
    )

    @field_validator("points")
    @classmethod
    def _monotone(cls, points: dict[int, int]) -> dict[int, int]:
        ordered = sorted(points.items())
        for (short, size), (long, smaller) in pairwise(ordered):
            if size > smaller:
                raise ValueError(
                    f"the sizes must not fall as the length grows: {size} at {short:,}, {smaller} at {long:,}"
                )
        return dict(ordered)

    def size_for(self, length: int) -> int:
        """The size at a length; below the first point its size, beyond the last one in proportion."""
        lengths, sizes = list(self.points), list(self.points.values())
        at = bisect_left(lengths, length)
        if at == 0:
            return sizes[0]
        if at == len(lengths):
            return max(sizes[-1], sizes[-1] * length // lengths[-1])
        low, high = lengths[at - 1], lengths[at]
        return sizes[at - 1] + (sizes[at] - sizes[at - 1]) * (length - low) // (high - low)

    def filler_for(self, length: int) -> int:
        """Tokens of filler to begin with; between two points they grow evenly, as sizes do."""
        shares = self.filler if isinstance(self.filler, dict) else {length: self.filler}
        low = max((one for one in shares if one <= length), default=min(shares))
        high = min((one for one in shares if one >= length), default=max(shares))
        if low == high:
            return round(length * shares[low])
        part = (length - low) / (high - low)
        return round((1 - part) * shares[low] * low + part * shares[high] * high)


class Limits(BaseModel):
    """Limits on an agent."""

    model_config = ConfigDict(extra="forbid")

    seconds: int = Field(
        default=3600, gt=0, description="After which an agent (a command or a model) is stopped."
    )
    failed_rounds: int = Field(
        default=0,
        ge=0,
        description="So many consecutive rounds of a model in which every call failed end the episode as "
        "failed; 0: none do.",
    )
    refusals: int = Field(
        default=0,
        ge=0,
        description="After so many refused calls no change is accepted any more, and so no answer: what has "
        "to be worked out cannot be guessed. The prompt can say it: ${refusals}. 0: no number is too many.",
    )


DEFINING = ("world", "domain", "entities", "evidence", "noise", "survey", "goal", "solution")
"""Keys of a file that is a whole task by itself, without a generator, checker and solver in Python."""


RENAMED = {"facts": "entities", "statements": "evidence", "background": "noise", "walk": "solution"}
"""Keys of such a file, as they were before and as they are."""


class _Loader(yaml.SafeLoader):
    """YAML in which only true and false are truth values: ``off`` and ``no`` are words, as in YAML 1.2."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - as the library has it
        first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:bool"]
        for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile("^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


class _FastLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The same by libyaml, where the library was built with it: a fifth of the time."""

    yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers


class FileProblem(UsageError):
    """Something in a task file is wrong: the message names file, line and key."""

    def __init__(self, path: Path, keys: Sequence[Any], message: str) -> None:
        self.path, self.keys = path, tuple(keys)
        try:
            root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
        except (OSError, ValueError, yaml.YAMLError):
            root = None
        self.line = _line_of(root, [key for key in keys if key is not None])[0]
        self.what = message
        name = ".".join(str(key) for key in keys) or "(top)"
        super().__init__(f"{path}, line {self.line}: {name}: {message}")

    def __reduce__(self) -> tuple[type[FileProblem], tuple[Path, tuple[Any, ...], str]]:
        return type(self), (self.path, self.keys, self.what)


class Task(BaseModel):
    """One task file. Unknown keys are errors."""

    model_config = ConfigDict(extra="forbid")

    version: int = Field(
        ge=1, le=1_000_000, description="Raised with every change that makes results incomparable."
    )
    title: str = Field(description="One line for listings.")
    family: str = Field(
        default="", description="Generator, checker and solver to use; default: the file's name."
    )
    prompt: str = Field(
        description="What the agent is asked; ${name} stands for a public value of the instance."
    )
    servers: dict[str, Annotated[list[str] | None, BeforeValidator(_tools)]] = Field(
        min_length=1, description="The services of the world, each with `all` or a list of tools."
    )
    needed: dict[str, Annotated[list[str] | None, BeforeValidator(_tools)]] = Field(
        default={},
        description="The tools that an agent can do with: what `--tools needed` offers of the servers. They "
        "change nothing in the world. Default: all of them.",
    )
    parameters: dict[str, Any] = Field(default={}, description="Parameters of the generator that differ.")
    about: dict[str, str] = Field(
        default={}, description="Of a task without Python: what its parameters mean, a sentence each."
    )
    presets: dict[Difficulty, dict[str, Any]] = Field(
        default={},
        description="What each value of the parameter `difficulty` sets besides; what is given counts more.",
    )
    growth: Growth
    growths: dict[str, Growth] = Field(
        default={},
        description="Other ways to grow, by name: `--param growth=NAME` takes one of them instead.",
    )
    lengths: Annotated[list[int], BeforeValidator(_lengths)] = Field(
        min_length=1, description="Default lengths."
    )
    seeds: Annotated[list[int], BeforeValidator(_seeds)] = Field(default=[0, 1, 2, 3, 4])
    limits: Limits = Limits()
    checker: dict[str, Any] = Field(default={}, description="Options of the checker.")
    python: list[str] = Field(
        default=[],
        description="Functions that the file takes from the Python file of the same name beside it; `check` "
        "and `solve` are called by these names. Such a file is run with --trust only.",
    )
    domain: Literal["", "campus"] = Field(
        default="", description="The kind of organisation that the task asks a question of."
    )
    world: dict[str, Any] = Field(default={}, description="Of a task without Python: when and where.")
    entities: dict[str, Any] = Field(default={}, description="Of a task without Python: what is true.")
    evidence: list[Any] = Field(default=[], description="Of a task without Python: where that is told.")
    noise: dict[str, Any] = Field(default={}, description="Of a task without Python: everyday texts.")
    survey: dict[str, Any] = Field(default={}, description="Of a task without Python: how services are read.")
    goal: list[Any] = Field(default=[], description="Of a task without Python: what must be so in the end.")
    solution: list[Any] = Field(
        default=[], description="Of a task without Python: the calls that bring it about."
    )

    def growth_by(self, name: object) -> Growth:
        """Return the growth of that name, or the default (``None``)."""
        if name is None or name == self.growth.parameter:
            return self.growth
        if not isinstance(name, str) or name not in self.growths:
            known = ", ".join([self.growth.parameter, *self.growths])
            raise UsageError(f"growth={name}: this task has no such growth; it has: {known}")
        return self.growths[name]

    @property
    def is_written(self) -> bool:
        """True if the file is the whole task, without Python."""
        return bool(self.entities)

    @property
    def definition(self) -> dict[str, Any]:
        """Keys of a whole-task file beyond those of every task file."""
        given = {name: getattr(self, name) for name in DEFINING}
        return {name: value for name, value in given.items() if value or name in ("entities", "goal")}

    @model_validator(mode="before")
    @classmethod
    def _follows_of_itself(cls, data: Any) -> Any:
        """Fill in the keys that a whole-task file may leave out."""
        if not isinstance(data, dict) or not isinstance(data.get("entities"), dict) or data.get("domain"):
            return data
        growth = data.get("growth", {})
        if isinstance(growth, dict):
            unsized = {} if "points" in growth else {"points": dict(_UNSIZED)}
            data = data | {"growth": {"parameter": "size", **unsized} | growth}
        return {"version": 1, "lengths": list(_LENGTHS), "servers": _services_in(data)} | data

    @model_validator(mode="after")
    def _needs_what_there_is(self) -> Self:
        for name, tools in self.needed.items():
            if name not in self.servers:
                raise ValueError(f"needed: {name!r} is none of the servers ({', '.join(self.servers)})")
            known = self.servers[name]
            if missing := set(tools or ()) - set(tools or () if known is None else known):
                raise ValueError(f"needed: {name}: the task does not offer {min(missing)!r}")
        return self

    def offered(self, offer: Offer) -> dict[str, list[str] | None]:
        """The services of which an episode offers tools, each with their names (``None``: all it has)."""
        if offer == "needed":
            return self.needed or self.servers
        return self.servers if offer == "all" else named_tools(offer, self.servers)

    def render_prompt(self, public: dict[str, str]) -> str:
        """The prompt of an instance with these public values."""
        try:
            values = {"refusals": str(self.limits.refusals), **public}
            return string.Template(self.prompt).substitute(values).strip() + "\n"
        except KeyError as error:
            known = ", ".join(public) or "none"
            raise UsageError(f"prompt: unknown value ${{{error.args[0]}}}; there are {known}") from None
        except ValueError as error:
            raise UsageError(f"prompt: {error}; write $$ for a dollar sign") from None


_UNSIZED = {"8k": 10}
_LENGTHS = ("8k", "64k")


def _services_in(data: Mapping[str, Any]) -> dict[str, str]:
    """The services that a file names, in its order, and the one that ends an episode."""
    doings = [one for part in ("evidence", "goal", "solution") for one in data.get(part) or ()]
    keys = [key for one in doings if isinstance(one, dict) for key in one]
    found = dict.fromkeys((str(key).partition(".")[0] for key in keys if "." in str(key)), "all")
    return found if "submit_answer" in found else {**found, "claim_done": "all"}


def named_tools(offer: str, servers: Mapping[str, list[str] | None]) -> dict[str, list[str] | None]:
    """The tools of those names, and those that end the episode, by service; ``UsageError`` for unknown ones.

    A tool that several services have is named as it is where all are together: ``email_list_users``.
    """
    # A task file is read and looked through without the services, which take long to load.
    from mesocosm.services.service import combined_names, ending_tools

    wanted = {name.strip() for name in offer.split(",")} - {""}
    known = combined_names(tuple(servers))
    ending = ending_tools(servers)
    chosen: dict[str, list[str]] = {}
    found: set[str] = set()
    for (service, tool), combined in known.items():
        offered = servers[service]
        if (offered is None or tool in offered) and ({tool, combined} & wanted or combined in ending):
            found |= {tool, combined}
            chosen.setdefault(service, []).append(tool)
    if unknown := wanted - found:
        raise UsageError(
            f"the task offers no tool {min(unknown)!r}; `mesocosm list tools` names those of its services: "
            f"{', '.join(servers)}"
        )
    return dict(chosen)


def read_task(path: Path) -> Task:
    """Read a task file; ``UsageError`` says which key on which line is wrong."""
    if path.is_file() and path.stat().st_size > MAX_BYTES:
        raise UsageError(f"{path}, line 1: a task file of more than {MAX_BYTES:,} bytes")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read the task file {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 text ({error.reason})") from None
    return _task_of(path, text)


@lru_cache(maxsize=256)
def _task_of(path: Path, text: str) -> Task:
    """Parse a task file. Cached, as it is read for every episode and verdict."""
    try:
        root, data, repeated = _parsed(text)
    except _TooMuch as error:
        raise UsageError(f"{path}, line {error.line}: {error}") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        problem = _ANCHOR_TWICE if error.problem == "second occurrence" else error.problem
        problem = f"{problem}{'' if str(problem).startswith('found undefined alias') else _hint(text, line)}"
        raise UsageError(f"{path}, line {line}: not YAML: {problem}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UsageError(f"{path}, line {line}: not YAML: {error.reason}") from None
    except yaml.YAMLError as error:
        raise UsageError(f"{path}: not YAML: {error}") from None
    except RecursionError:
        raise UsageError(f"{path}, line 1: nested too deeply") from None
    except ValueError:  # such as the date 2025-13-45
        raise UsageError(f"{path}, {_unreadable(text)}") from None
    if not isinstance(data, dict):
        raise UsageError(f"{path}, line 1: a task file is a mapping with the keys version, title, prompt ...")
    if old := next((key for key in RENAMED if key in data), None):
        line = _line_of(root, [old])[0]
        message = f"`{old}` is called `{RENAMED[old]}` now: `mesocosm convert {path}` rewrites the file"
        raise UsageError(f"{path}, line {line}: {message}")
    if repeated:
        raise UsageError(
            f"{path}, line {repeated.start_mark.line + 1}: the key {repeated.value!r} stands twice"
        )
    try:
        task = Task.model_validate(data)
    except ValidationError as error:
        raise UsageError("\n".join(_complaint(path, root, item) for item in error.errors())) from None
    task = task if task.family else task.model_copy(update={"family": path.stem})
    if task.is_written and "points" not in (data.get("growth") or {}):
        task = task.model_copy(update={"growth": SIZES["entities"](task, path)})
    return task


def _parsed(text: str) -> tuple[yaml.Node | None, Any, yaml.Node | None]:
    """Parse YAML with the positions of all nodes, and a duplicate key."""
    try:
        _check_depth(text)
        return _read_by(_FastLoader, text)
    except yaml.YAMLError:
        return _read_by(_Loader, text)  # whose complaints are the clearer ones


def _check_depth(text: str) -> None:
    """Refuse what is nested too deeply: libyaml composes it on the C stack."""
    depth = 0
    loader = _FastLoader(text)
    try:
        while loader.check_event():
            event = loader.get_event()
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise RecursionError
    finally:
        loader.dispose()


def _read_by(kind: type[yaml.SafeLoader], text: str) -> tuple[yaml.Node | None, Any, yaml.Node | None]:
    loader = kind(text)
    try:
        root = loader.get_single_node()
        _check_size(root)
        repeated = _repeated_key(root)  # before what is merged (`<<: *name`) stands beside what is there
        return root, None if root is None else loader.construct_document(root), repeated
    finally:
        loader.dispose()


_SHOWN = 60
MAX_BYTES = 300_000
"""Of a task file: one of 300 lines has about a tenth of it."""
MAX_DEPTH = 100
MAX_NODES = 50_000
"""Values that a task file may have, those that aliases repeat counted each time."""


def _hint(text: str, line: int) -> str:
    """Guess the cause of a line that is not YAML."""
    lines = text.splitlines()
    said = lines[line - 1] if line <= len(lines) else ""
    if re.search(r"[:\-]\s+\{\{", said):
        return '; a value that begins with {{ stands in quotes: name: "{{ ... }}"'
    if re.search(r":\s.*:\s", said):
        return '; a text with a colon in it stands in quotes: name: "one: two"'
    return ""


_UNFIT = re.compile("[\0\ud800-\udfff]")
"""No service takes the first, and the others are half a character."""
_ANCHOR_TWICE = "an anchor (&name) of this name stands above already; give it another"


def _unreadable(text: str) -> str:
    """Locate a value that cannot be interpreted, and say why."""
    loader = _Loader(text)
    todo = [loader.get_single_node()]
    for node in todo:
        if not isinstance(node, yaml.ScalarNode):
            parts = node.value if isinstance(node, yaml.CollectionNode) else []
            todo += [part for pair in parts for part in (pair if isinstance(pair, tuple) else (pair,))]
            continue
        try:
            loader.construct_object(node)
        except ValueError as error:
            why = "too many digits" if node.tag.endswith(":int") else str(error)
            shown = node.value if len(node.value) <= _SHOWN else f"{node.value[:_SHOWN]}..."
            return f"line {node.start_mark.line + 1}: {shown!r} cannot be read: {why}"
    return "line 1: a value cannot be read"


class _TooMuch(Exception):
    """A file that would grow beyond all bounds if it were read, or has what it cannot have, and the line
    where that begins."""

    def __init__(self, what: str, node: yaml.Node) -> None:
        super().__init__(what)
        self.line = node.start_mark.line + 1


def _check_size(root: yaml.Node | None) -> None:
    """Refuse aliases of aliases, and what contains itself, before anything is made of them."""
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        if id(node) in sizes:
            if sizes[id(node)] < 0:
                raise _TooMuch("an alias stands inside what it repeats", node)
            return sizes[id(node)]
        sizes[id(node)] = -1
        if (kind := node.tag.rpartition(":")[2]) in ("set", "omap", "pairs", "binary"):
            raise _TooMuch(f"a value of the kind !!{kind} has no place in a task file", node)
        inner: list[yaml.Node] = []
        if isinstance(node, yaml.MappingNode):
            inner = [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            inner = node.value
        elif unfit := _UNFIT.search(node.value):
            raise _TooMuch(f"the character {unfit[0]!a} can stand in no text", node)
        sizes[id(node)] = 1 + sum(map(size, inner))
        if sizes[id(node)] > MAX_NODES:
            raise _TooMuch(f"more than {MAX_NODES:,} values, with those that aliases repeat", node)
        return sizes[id(node)]

    if root is not None:
        size(root)


def _complaint(path: Path, root: yaml.Node | None, item: Any) -> str:
    keys = [key for key in item["loc"] if not (isinstance(key, str) and key.startswith("function-"))]
    line, found = _line_of(root, keys)
    name = ".".join(str(key) for key in keys[: max(found, 1)]) or "(top)"
    message = {"extra_forbidden": "unknown key", "missing": "this key is required"}.get(
        item["type"], item["msg"].removeprefix("Value error, ")
    )
    given = item.get("input")
    if item["type"] == "missing":
        name = ".".join(str(key) for key in keys)
    elif item["type"] not in ("extra_forbidden", "value_error") and isinstance(
        given, str | int | float | None
    ):
        message += f", found {str(given)[:_SHOWN]!r}" if isinstance(given, str) else f", found {given}"
    if item["type"] == "extra_forbidden":
        inner = (
            Task.model_fields[keys[0]].annotation if len(keys) == 2 and keys[0] in Task.model_fields else None
        )
        if len(keys) == 1:
            message += f"; known keys: {', '.join(Task.model_fields)}"
        elif isinstance(inner, type) and issubclass(inner, BaseModel):
            message += f"; known keys: {', '.join(inner.model_fields)}"
    return f"{path}, line {line}: {name}: {message}"


def _line_of(node: yaml.Node | None, keys: list[Any]) -> tuple[int, int]:
    """The line of the deepest of the keys that the file has, and how deep that is."""
    line = node.start_mark.line if node else 0
    for depth, key in enumerate(keys):
        if isinstance(node, yaml.MappingNode):
            match = next((pair for pair in node.value if pair[0].value == str(key)), None)
            if match is None:
                return line + 1, depth
            line, node = match[0].start_mark.line, match[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
            line = node.start_mark.line
        else:
            return line + 1, depth
    return line + 1, len(keys)


def _repeated_key(node: yaml.Node | None) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                repeated: yaml.Node = key
                return repeated
            seen.add(key.value)
            if deeper := _repeated_key(value):
                return deeper
    if isinstance(node, yaml.SequenceNode):
        return next((found for item in node.value if (found := _repeated_key(item))), None)
    return None
