"""Linting: errors in a task file, and what makes its instances unfair or easy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from mesocosm.errors import UsageError
from mesocosm.families.task import FileProblem, Task, read_task
from mesocosm.families.trust import code_of, functions, is_trusted
from mesocosm.families.written import written
from mesocosm.kits.yaml_tasks import complaints, evidence_defaults, validation
from mesocosm.kits.yaml_tasks.definition import MAX_COUNT, Definition
from mesocosm.kits.yaml_tasks.draws import Draw
from mesocosm.kits.yaml_tasks.entities import Wrong
from mesocosm.kits.yaml_tasks.fairness import SmallInstance
from mesocosm.kits.yaml_tasks.names import unknown_names
from mesocosm.kits.yaml_tasks.written import YamlFamily
from mesocosm.services.content import service_names
from mesocosm.services.words import load_words


class Complaint(BaseModel):
    """Something to mend, or to think about."""

    file: str
    line: int
    key: str
    level: Literal["error", "warning"]
    message: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.level}: {self.key or '(top)'}: {self.message}"


def lint(path: Path) -> list[Complaint]:
    """All complaints about a file: errors, for which it cannot be built, first."""
    try:
        task = read_task(path)
    except UsageError as error:
        return [_from_text(path, line) for line in str(error).splitlines()]
    if not task.is_written:
        return [
            _complaint(
                path, ("entities",), "error", "a file without entities has its task in Python: use prove"
            )
        ]
    stands = partial(evidence_defaults.in_file, task.definition)
    found = [_complaint(path, stands(keys), "error", message) for keys, message in _errors(task, path.stem)]
    if found:
        return found
    if task.python and not is_trusted(path):
        message = f"{code_of(path)} is not run without --trust, so that what follows from it is not looked at"
        return [_complaint(path, ("python",), "warning", message)]
    try:
        if task.domain:
            # What is told follows from scenes, which have a command of their own: `mesocosm scenes check`.
            written(task, path, functions(path, task.python))
            return []
        sample = SmallInstance(YamlFamily(task, path, functions(path, task.python)))
        return [_complaint(path, stands(keys), level, message) for keys, level, message in sample.read()]
    except FileProblem as problem:
        return [_complaint(path, problem.keys, "error", problem.what)]
    except UsageError as error:
        return [_complaint(path, ("python",), "error", str(error))]
    except Wrong as wrong:
        return [_complaint(path, stands(wrong.keys), "error", wrong.message)]


def _complaint(
    path: Path, keys: Sequence[Any], level: Literal["error", "warning"], message: str
) -> Complaint:
    problem = FileProblem(path, keys, message)
    key = ".".join(str(one) for one in keys)
    return Complaint(file=str(path), line=problem.line, key=key, level=level, message=message)


def _from_text(path: Path, text: str) -> Complaint:
    """Make a complaint from a reader's message: ``FILE, line N: KEY: MESSAGE``."""
    rest = text.removeprefix(f"{path}, line ")
    text = text.removeprefix(f"{path}: ")
    line, _, what = rest.partition(": ")
    key, colon, message = what.partition(": ")
    if not line.isdigit():
        return Complaint(file=str(path), line=1, key="", level="error", message=text)
    return Complaint(
        file=str(path), line=int(line), key=key if colon else "", level="error", message=message or what
    )


def _survey_options(definition: Definition) -> Iterator[complaints.Complaint]:
    for service, options in definition.survey.items():
        words = load_words(service)
        known = words.survey_options if words else {}
        for name in options:
            if name not in known:
                possible = ", ".join(known) or "none for this service"
                yield ("survey", service, name), f"no such option; possible: {possible}"


def _sizes(definition: Definition, task: Task) -> Iterator[complaints.Complaint]:
    """Facts of which a length has fewer than kinds, or more than there are different values."""
    points, longest = task.growth.points, max(task.lengths)
    for name, fact in definition.entities.items():
        if fact.count != task.growth.parameter or fact.parent is not None:
            continue
        least, most = min(points.values()), task.growth.size_for(longest)
        if most > MAX_COUNT:
            message = f"at a length of {longest:,} there are {most:,} of {name}; at most {MAX_COUNT:,} can be"
            yield ("growth", "points"), message
        shares = [kind for kind, it in fact.cases.items() if isinstance(it.share, float)]
        if least < len(shares):
            message = f"{least} of {name} are too few for its cases with a share: {', '.join(shares)}"
            yield ("growth", "points"), message
        for field, source in fact.fields.items():
            values = source.values if isinstance(source, Draw) and source.unique is True else None
            if values is not None and values < most:
                message = (
                    f"at a length of {longest:,} there are {most:,} of {name}, and only {values:,} values"
                )
                yield ("entities", name, "fields", field), f"{message} that are unique"


def _errors(task: Task, stem: str) -> Iterator[complaints.Complaint]:
    """Yield the errors that are found without drawing anything."""
    try:
        definition = evidence_defaults.read(task.definition)
    except evidence_defaults.Misspread as wrong:
        yield wrong.keys, str(wrong)
        return
    except ValidationError as error:
        spread, _ = evidence_defaults.spread(task.definition)
        yield from complaints.complaints_of(error, Definition, spread)
        return
    if task.family != stem:
        yield (
            ("family",),
            f"found {task.family!r}; a file with entities is its own family: leave this out",
        )
    if validation.holds_values(task.title):
        yield ("title",), "it stands as it is in lists of tasks: what is in its braces would not be filled in"
    for service in task.servers:
        if service not in service_names():
            yield ("servers", service), f"no such service; there are {', '.join(service_names())}"
    yield from validation.check_offer("needed", task.needed)
    yield from _survey_options(definition)
    yield from _sizes(definition, task)
    counts = [name for name, value in task.parameters.items() if isinstance(value, (int, float))]
    yield from validation.check_parameters(definition, task.parameters)
    yield from validation.check(definition, task.servers, [*counts, task.growth.parameter])
    yield from unknown_names(definition, task)
