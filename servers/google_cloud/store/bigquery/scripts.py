"""Scripts in GoogleSQL that are run: each statement as any other is, with the values of variables put in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson
from sqlglot import exp

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.google_cloud.store.bigquery.parameters import value_of
from mesocosm.servers.google_cloud.store.bigquery.schema import Field
from mesocosm.servers.google_cloud.store.bigquery.script_reading import StatementStep, steps_of
from mesocosm.services.queries.catalogue import Catalogue, Listed, StoredTable
from mesocosm.worlds import deadlines

if TYPE_CHECKING:
    from mesocosm.servers.google_cloud.store.bigquery.answers import Answer

MOST_STEPS = 1_000
"""Statements, conditions and assignments that a script may come to."""
_MOST_VALUES, _MOST_CHARACTERS = 2_000, 200_000
"""Of a variable."""
_WIDER = {
    "INT64": {"NUMERIC", "BIGNUMERIC", "FLOAT64"},
    "NUMERIC": {"BIGNUMERIC", "FLOAT64"},
    "BIGNUMERIC": {"FLOAT64"},
    "STRING": {"DATE", "TIME", "DATETIME", "TIMESTAMP"},
    "DATE": {"DATETIME", "TIMESTAMP"},
    "DATETIME": {"TIMESTAMP"},
}
"""Types to which a value of a type can be assigned; texts only as literals."""

Parameters = Mapping[str, Any] | Sequence[Any]
Run = Callable[[str, "Variables", Parameters | None], "Answer"]
"""Runs a statement with the values of variables and, if it does not have those of the script, parameters."""


class _Leave(Exception):
    """BREAK."""


class _Again(Exception):
    """CONTINUE."""


class _Return(Exception):
    """RETURN."""


@dataclass
class Variable:
    """A value that a script keeps under a name."""

    kind: Field
    value: Any

    def expression(self) -> exp.Expr:
        """The value as SQL."""
        return value_of(_type(self.kind), _value(self.kind, self.value))


@dataclass
class Variables:
    """Those that there are at a point of a script, by their names in small letters."""

    known: dict[str, Variable] = field(default_factory=dict)

    def put_in(self, tree: exp.Expr, names: Catalogue) -> exp.Expr:
        """The statement with their values; a column of the same name comes first."""
        if not self.known:
            return tree
        taken = _columns(tree, names)
        for column in list(tree.find_all(exp.Column)):
            first = (column.table or column.name).lower()
            if first not in self.known or first in taken or column.args.get("db"):
                continue
            made = self.known[first].expression()
            if column.table:
                made = exp.Dot(this=exp.Paren(this=made), expression=exp.to_identifier(column.name))
            if isinstance(column.parent, exp.Select) and column.arg_key == "expressions":
                made = exp.alias_(made, column.name)
            if column is tree:
                return made
            column.replace(made)
        return tree


def _columns(tree: exp.Expr, names: Catalogue) -> set[str]:
    """Names that mean columns or tables somewhere in a statement."""
    found: set[str] = set()
    target = tree.this if isinstance(tree, exp.Insert) else None
    for table in tree.find_all(exp.Table):
        path = tuple(part.name for part in table.parts if isinstance(part, exp.Identifier))
        found |= {table.alias.lower(), table.name.lower()}
        if target is not None and table in (target, target.this):
            continue
        try:
            relation = names.relation(path)
        except (Invalid, NotFound):
            continue  # a name of the statement's own, or one that is refused when it is run
        if isinstance(relation, StoredTable | Listed):
            found |= {column.name.lower() for column in relation.columns}
    for alias in tree.find_all(exp.Alias):
        if alias.parent is not tree:
            found.add(alias.alias.lower())
    for named in tree.find_all(exp.TableAlias):
        found |= {named.name.lower(), *(column.name.lower() for column in named.columns)}
    return found - {""}


def _written(kind: Field) -> str:
    return f"ARRAY<{kind['type']}>" if kind["mode"] == "REPEATED" else kind["type"]


def _type(kind: Field) -> dict[str, Any]:
    if kind["mode"] == "REPEATED":
        return {"type": "ARRAY", "arrayType": _type({**kind, "mode": "NULLABLE"})}
    if kind["type"] == "STRUCT":
        inside = [{"name": one["name"], "type": _type(one)} for one in kind["fields"]]
        return {"type": "STRUCT", "structTypes": inside}
    return {"type": kind["type"]}


def _value(kind: Field, value: Any) -> dict[str, Any]:
    if kind["mode"] == "REPEATED":
        one = {**kind, "mode": "NULLABLE"}
        return {"arrayValues": [_value(one, part) for part in value or ()]}
    if kind["type"] == "STRUCT":
        return {
            "structValues": {
                one["name"]: _value(one, (value or {}).get(one["name"])) for one in kind["fields"]
            }
        }
    if value is not None and kind["type"] == "JSON":
        return {"value": orjson.dumps(value).decode()}
    return {"value": str(value).lower() if isinstance(value, bool) else value}


class Script:
    """A script that is run: its variables, and what its last statement gave."""

    def __init__(self, run: Run, evaluate: Run) -> None:
        self._run, self._evaluate = run, evaluate
        self._variables = Variables()
        self._left = MOST_STEPS
        self._depth = 0
        self.answers: list[Answer] = []

    def run(self, steps: Sequence[StatementStep]) -> None:
        """Run it to its end."""
        try:
            self._block(steps)
        except _Return:
            return
        except (_Leave, _Again):
            raise Invalid(
                "BREAK and CONTINUE are only allowed inside of a loop", code="invalidQuery"
            ) from None

    def _block(self, steps: Sequence[StatementStep]) -> None:
        for step in steps:
            deadlines.check()
            self._count()
            if step.kind == "RUN":
                self.answers.append(self._run(step.parts[0], self._variables, None))
            else:
                getattr(self, f"_{step.kind.lower()}")(step)

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Invalid(f"A script may come to {MOST_STEPS:,} steps here.", code="resourcesExceeded")

    def _ask(self, text: str, kind: str = "") -> Variable:
        """The value of an expression."""
        self._count()
        asked = f"SELECT CAST(({text}) AS {kind})" if kind else f"SELECT ({text})"
        answer = self._evaluate(asked, self._variables, None)
        if len(answer.fields) != 1:
            raise Invalid("Scalar subquery cannot have more than one column", code="invalidQuery")
        return _kept(Variable(answer.fields[0], answer.rows[0][0]))

    def _holds(self, condition: str) -> bool:
        if condition.upper() == "TRUE":  # of LOOP and ELSE
            self._count()
            return True
        found = self._ask(condition)
        if found.kind["type"] != "BOOL":
            raise Invalid(
                f"Expected BOOL, but got {found.kind['type']}: {condition[:100]}", code="invalidQuery"
            )
        return bool(found.value)

    def _declare(self, step: StatementStep) -> None:
        kind, value = step.parts
        for name in step.names:
            if name in self._variables.known:
                raise Invalid(f"Variable '{name}' redeclaration is not allowed.", code="invalidQuery")
            made = self._ask(value or "NULL", "" if not kind else kind if not value else "")
            if kind and value:
                made = self._fitting(name, self._ask("NULL", kind).kind, made, value, kind)
            self._variables.known[name] = made

    def _fitting(self, name: str, kind: Field, given: Variable, text: str, spelled: str = "") -> Variable:
        """A value as one of the variable's type, if it may become that."""
        same = (kind["type"], kind["mode"]) == (given.kind["type"], given.kind["mode"])
        if given.value is None:
            return Variable(kind, None)
        if same and kind["type"] != "STRUCT" and not spelled:
            return Variable(kind, given.value)
        may = kind["type"] in _WIDER.get(given.kind["type"], ())
        if given.kind["type"] == "STRING" and not re.match(r"\s*[rR]?['\"]", text):
            may = False
        if not same and not (may and kind["mode"] == given.kind["mode"] == "NULLABLE"):
            wanted = f"type {_written(kind)} of variable '{name}'"
            said = f"Cannot coerce expression {text[:100]} of type {_written(given.kind)} to {wanted}"
            raise Invalid(said, code="invalidQuery")
        if kind["type"] == "STRUCT" or kind["mode"] == "REPEATED":
            return Variable(kind, given.value)
        return Variable(kind, self._ask(text, spelled or kind["type"]).value)

    def _assign(self, names: Sequence[str], values: Sequence[Variable], text: str) -> None:
        if len(names) != len(values):
            raise Invalid(f"{len(names)} variables are assigned {len(values)} values", code="invalidQuery")
        for name, value in zip(names, values, strict=True):
            if name not in self._variables.known:
                raise Invalid(f"Undeclared variable: {name}", code="invalidQuery")
            known = self._variables.known[name].kind
            known_now = self._fitting(name, known, value, text)
            self._variables.known[name] = known_now

    def _set(self, step: StatementStep) -> None:
        given = self._ask(step.parts[0])
        if len(step.names) == 1:
            self._assign(step.names, [given], step.parts[0])
            return
        if given.kind["type"] != "STRUCT":
            raise Invalid("SET with several variables needs a struct of as many values", code="invalidQuery")
        parts = [Variable(one, (given.value or {}).get(one["name"])) for one in given.kind["fields"]]
        self._assign(step.names, parts, step.parts[0])

    def _if(self, step: StatementStep) -> None:
        for condition, block in zip(step.parts, step.blocks, strict=True):
            if self._holds(condition):
                self._scoped(block)
                return

    def _scoped(self, block: Sequence[StatementStep]) -> None:
        before = set(self._variables.known)
        try:
            self._block(block)
        finally:
            for name in self._variables.known.keys() - before:
                del self._variables.known[name]

    def _begin(self, step: StatementStep) -> None:
        self._scoped(step.blocks[0])

    def _while(self, step: StatementStep) -> None:
        while self._holds(step.parts[0]):
            if self._left_by(step.blocks[0]):
                return

    def _repeat(self, step: StatementStep) -> None:
        while not self._left_by(step.blocks[0]):
            if self._holds(step.parts[0]):
                return

    def _left_by(self, block: Sequence[StatementStep]) -> bool:
        """Run the block of a loop once; whether it leaves the loop."""
        try:
            self._scoped(block)
        except _Again:
            return False
        except _Leave:
            return True
        return False

    def _for(self, step: StatementStep) -> None:
        (name,) = step.names
        if name in self._variables.known:
            raise Invalid(f"Variable '{name}' redeclaration is not allowed.", code="invalidQuery")
        answer = self._evaluate(step.parts[0], self._variables, None)
        kind: Field = {"name": name, "type": "STRUCT", "mode": "NULLABLE", "fields": answer.fields}
        try:
            for row in answer.rows:
                value = {one["name"]: part for one, part in zip(answer.fields, row, strict=True)}
                self._variables.known[name] = _kept(Variable(kind, value))
                if self._left_by(step.blocks[0]):
                    return
        finally:
            self._variables.known.pop(name, None)

    def _execute(self, step: StatementStep) -> None:
        text = self._ask(step.parts[0])
        if text.kind["type"] != "STRING" or text.value is None:
            raise Invalid("EXECUTE IMMEDIATE needs a text that is not NULL", code="invalidQuery")
        if steps_of(text.value) is not None:
            raise Invalid("EXECUTE IMMEDIATE cannot run scripts", code="invalidQuery")
        given = [self._ask(one).expression() for one in step.parts[1:]]
        parameters = dict(zip(step.called, given, strict=True)) if step.called else given
        answer = self._run(text.value, Variables(), parameters)
        if not step.names:
            self.answers.append(answer)
            return
        if answer.total > 1:
            raise Invalid("EXECUTE IMMEDIATE with INTO gave more than one row", code="invalidQuery")
        row = answer.rows[0] if answer.rows else [None] * len(answer.fields)
        values = [Variable(one, part) for one, part in zip(answer.fields, row, strict=True)]
        self._assign(step.names, values, "of EXECUTE IMMEDIATE")

    def _assert(self, step: StatementStep) -> None:
        condition, said = step.parts
        if not self._holds(condition):
            why = self._ask(said).value if said else f"Assertion failed: {condition[:200]}"
            raise Invalid(str(why), code="invalidQuery")

    def _raise(self, step: StatementStep) -> None:
        why = self._ask(step.parts[0]).value if step.parts[0] else "RAISE"
        raise Invalid(f"Query error: {why}", code="invalidQuery")

    def _break(self, step: StatementStep) -> None:
        raise _Leave

    def _continue(self, step: StatementStep) -> None:
        raise _Again

    def _return(self, step: StatementStep) -> None:
        raise _Return


def _kept(variable: Variable) -> Variable:
    """Check that statements can use the variable: sqlglot blocks other threads while parsing."""
    waiting, values, characters = [variable.value], 0, 0
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
        values += 1
        characters += len(value) if isinstance(value, str) else 0
        if values > _MOST_VALUES or characters > _MOST_CHARACTERS:
            said = f"A variable has at most {_MOST_VALUES:,} values and {_MOST_CHARACTERS:,} characters here."
            raise Invalid(said, code="resourcesExceeded")
    return variable


def used(parameters: Mapping[str, Any] | Sequence[Any]) -> Mapping[str, Any]:
    """The parameters of a script, which have names."""
    if isinstance(parameters, Mapping):
        return parameters
    if parameters:
        raise Invalid("Scripts take parameters by their names here, as in @name.", code="invalidQuery")
    return {}
