"""A small interpreter of the Python that the programs are written in; only sleeping moves its clock."""

from __future__ import annotations

import ast
import heapq
import operator
from collections.abc import Callable, Generator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Running = Generator["int | list[Running]", Any, Any]
"""A function at work: yields how long it sleeps, or the coroutines whose end it waits for."""
Function = ast.FunctionDef | ast.AsyncFunctionDef

_OPERATIONS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


Place = tuple[str, str]
"""A number that modules share: a module, and the name in it."""


class NotYetKnown(Exception):
    """A module's ``main`` is called whose value is not known, or a number of it is asked for."""

    def __init__(self, module: str, number: str = "") -> None:
        super().__init__(module, number)
        self.module, self.number = module, number


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self.value = value


@dataclass
class _Frame:
    """The variables of one call."""

    local: dict[str, Any]
    shared: dict[str, Any]
    declared: set[str] = field(default_factory=set)
    """Names that are global here."""

    def get(self, name: str) -> Any:
        return self.local[name] if name in self.local else self.shared[name]

    def set(self, name: str, value: Any) -> None:
        (self.shared if name in self.declared else self.local)[name] = value


class Module:
    """The text of a module, ready to be computed."""

    def __init__(self, text: str) -> None:
        body = ast.parse(text).body
        self._functions = {node.name: node for node in body if isinstance(node, Function)}
        self._constants = [node for node in body if isinstance(node, ast.Assign)]
        self._seen: list[int] = []
        """Results of looking at other modules; a restarted computation reuses them."""

    def main(self, values: Mapping[str, int], numbers: MutableMapping[Place, int]) -> int:
        """Compute ``main()`` from the results of other modules and the numbers that modules share.

        Raises ``NotYetKnown``; called again, it goes on from there.
        """
        return _Computation(self._functions, self._constants, values, numbers, self._seen).result

    def constant(self, name: str) -> int:
        """Return the initial value of a name."""
        (value,) = (one.value for one in self._constants if ast.unparse(one.targets[0]) == name)
        return int(ast.literal_eval(value))


class _Computation:
    def __init__(
        self,
        functions: Mapping[str, Function],
        constants: Sequence[ast.Assign],
        values: Mapping[str, int],
        numbers: MutableMapping[Place, int],
        seen: list[int],
    ) -> None:
        self._functions = functions
        self._values, self._numbers, self._seen = values, numbers, seen
        self._looks = 0
        self._shared: dict[str, Any] = {}
        module = _Frame(self._shared, self._shared)
        for constant in constants:
            _finish(self._statement(constant, module))
        self.result: int = _finish(self._call(functions["main"], []))

    def _look(self, find: Callable[[], int]) -> int:
        """Look up a value in another module, cached from an earlier computation."""
        if self._looks == len(self._seen):
            self._seen.append(find())
        self._looks += 1
        return self._seen[self._looks - 1]

    def _assign(self, place: Place, value: int) -> int:
        self._numbers[place] = value
        return value

    def _call(self, function: Function, arguments: Sequence[Any]) -> Running:
        names = [parameter.arg for parameter in function.args.args]
        frame = _Frame(dict(zip(names, arguments, strict=True)), self._shared)
        try:
            yield from self._block(function.body, frame)
        except _Return as returned:
            return returned.value

    def _block(self, statements: Sequence[ast.stmt], frame: _Frame) -> Running:
        for statement in statements:
            yield from self._statement(statement, frame)

    def _statement(self, statement: ast.stmt, frame: _Frame) -> Running:
        match statement:
            case ast.Global(names=names):
                frame.declared |= set(names)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                frame.set(name, self._value(value, frame))
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=module), attr=name)], value=value):
                number = self._value(value, frame)
                self._look(lambda: self._assign((module, name), number))
            case ast.AugAssign(target=ast.Name(id=name), op=operation, value=value):
                operand = self._value(value, frame)
                frame.set(name, _OPERATIONS[type(operation)](frame.get(name), operand))
            case ast.If(test=test, body=body, orelse=orelse):
                yield from self._block(body if self._value(test, frame) else orelse, frame)
            case ast.Return(value=ast.expr() as value):
                raise _Return(self._value(value, frame))
            case ast.Expr(value=ast.Await(value=awaited)):
                yield self._value(awaited, frame)
            case ast.Expr(value=value):
                self._value(value, frame)
            case _:
                raise ValueError(f"cannot follow {ast.unparse(statement)!r}")

    def _value(self, node: ast.expr, frame: _Frame) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return frame.get(name)
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                return self._look(lambda: self._number((module, name)))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._value(operand, frame)
            case ast.BinOp(left=left, op=operation, right=right):
                return _OPERATIONS[type(operation)](self._value(left, frame), self._value(right, frame))
            case ast.Compare(left=left, ops=[comparison], comparators=[right]):
                return _COMPARISONS[type(comparison)](self._value(left, frame), self._value(right, frame))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._value(body if self._value(test, frame) else orelse, frame)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name), args=arguments):
                return self._foreign(module, name, [self._value(one, frame) for one in arguments])
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._own(name, [self._value(one, frame) for one in arguments])
        raise ValueError(f"cannot compute {ast.unparse(node)!r}")

    def _result(self, module: str) -> int:
        if module not in self._values:
            raise NotYetKnown(module)
        return self._values[module]

    def _number(self, place: Place) -> int:
        if place not in self._numbers:
            raise NotYetKnown(place[0], place[1])
        return self._numbers[place]

    def _own(self, name: str, arguments: list[Any]) -> Any:
        """A call of a function of this module; a coroutine is not begun."""
        function = self._functions[name]
        running = self._call(function, arguments)
        return running if isinstance(function, ast.AsyncFunctionDef) else _finish(running)

    def _foreign(self, module: str, name: str, arguments: list[Any]) -> Any:
        match module, name, arguments:
            case "asyncio", "run", [coroutine]:
                return _run(coroutine)
            case "asyncio", "sleep", [seconds]:
                return seconds
            case "asyncio", "gather", coroutines:
                return coroutines
            case _, "main", []:
                return self._look(lambda: self._result(module))
        raise ValueError(f"cannot call {module}.{name}")


def _finish(running: Running) -> Any:
    """Return the result of a function that never sleeps."""
    try:
        next(running)
    except StopIteration as end:
        return end.value
    raise ValueError("only a coroutine can wait")


@dataclass
class _Task:
    running: Running
    parent: _Task | None = None
    missing: int = 0
    """Number of coroutines it waits for."""


def _run(coroutine: Running) -> Any:
    """Run a coroutine; gathered ones are interleaved in the order in which they wake."""
    queue: list[tuple[int, int, _Task]] = []
    started = 0

    def schedule(moment: int, task: _Task) -> None:
        nonlocal started
        started += 1
        heapq.heappush(queue, (moment, started, task))

    first = _Task(coroutine)
    schedule(0, first)
    result = None
    while queue:
        now, _, task = heapq.heappop(queue)
        try:
            wanted = next(task.running)
        except StopIteration as end:
            if task.parent is None:
                result = end.value
            else:
                task.parent.missing -= 1
                if not task.parent.missing:
                    schedule(now, task.parent)
            continue
        if isinstance(wanted, int):
            schedule(now + wanted, task)
        else:
            task.missing = len(wanted)
            for one in wanted:
                schedule(now, _Task(one, task))
    return result
