"""Writing tasks: lint, new."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.markup import escape

from mesocosm.cli.application import app
from mesocosm.cli.options import AsJson, Trust, trusted
from mesocosm.cli.output import out, print_json
from mesocosm.errors import UsageError


@app.command()
def lint(
    files: Annotated[list[str], typer.Argument(help="Names of tasks, or paths of their YAML files.")],
    trust: Trust = False,
    as_json: AsJson = False,
) -> None:
    """Check task files in YAML, and report errors with file, line and key.

    Finds facts that no text states, rules missing from the prompt, cases that cannot be distinguished,
    and evidence that stands out. Exit code 1 if there are errors; consider the warnings.
    """
    from mesocosm.families.family import task_path
    from mesocosm.kits.yaml_tasks.lint import lint as read

    trusted(trust, *files)
    found = [complaint for name in files for complaint in read(task_path(name))]
    errors = sum(complaint.level == "error" for complaint in found)
    if as_json:
        print_json([complaint.model_dump() for complaint in found])
    else:
        for complaint in found:
            out.print(escape(str(complaint)))
        out.print(f"{errors} errors, {len(found) - errors} warnings in {len(files)} files")
    raise typer.Exit(1 if errors else 0)


@app.command()
def convert(
    files: Annotated[list[str], typer.Argument(help="Names of tasks, or paths of their YAML files.")],
) -> None:
    """Rewrite task files of an earlier version in the current vocabulary.

    Only the vocabulary changes; comments, order and layout stay. Lines that need a change by hand are
    reported.
    """
    from mesocosm.families.family import task_path
    from mesocosm.kits.yaml_tasks.conversion import Unconvertible, converted

    for name in files:
        path = task_path(name)
        before = path.read_text(encoding="utf-8")
        try:
            after = converted(before)
        except Unconvertible as error:
            raise UsageError(f"{path}, {error}") from None
        if after != before:
            path.write_text(after, encoding="utf-8")
        out.print(f"{path}: {'rewritten' if after != before else 'nothing to change'}")


@app.command()
def new(
    task: Annotated[str, typer.Argument(help="Path of the file to write, such as my_task.yaml.")],
) -> None:
    """Write a small working task file with comments, and the schema for editors."""
    from mesocosm.families.task import Task
    from mesocosm.kits.yaml_tasks.schema import SCHEMA, starting_file
    from mesocosm.kits.yaml_tasks.schema import schema as written

    path = Path(task if task.endswith((".yaml", ".yml")) else f"{task}.yaml")
    if path.exists():
        raise UsageError(f"{path} exists already")
    if not path.parent.is_dir():
        raise UsageError(f"there is no directory {path.parent}")
    path.write_text(starting_file(), encoding="utf-8")
    schema = path.with_name(SCHEMA)
    schema.write_bytes(orjson.dumps(written(Task.model_json_schema())))
    out.print(f"{path}: a task to start from")
    out.print(f"{schema}: the schema by which an editor completes it")
    out.print("then, one after the other:")
    for command in ("lint {}", "run {} --length 8k --agent reference", "prove {} --lengths 8k"):
        out.print(f"  mesocosm {command.format(path)}", soft_wrap=True)
