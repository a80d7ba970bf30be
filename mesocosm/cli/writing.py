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
    """Read task files that are YAML alone, and say what is wrong with them: file, line, key.

    Facts that no statement tells, rules that the prompt does not tell, cases that cannot be told apart,
    evidence that sticks out. Exit code 1 if there are errors; warnings are to be thought about.
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
    """Rewrite task files from before in the words that are used now.

    Only these words change; comments, order and layout stay. What has to be changed by hand first is said
    with its line.
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
    """Write a small task file that works, with comments, to start from, and the schema for editors."""
    from mesocosm.families.task import Task
    from mesocosm.kits.yaml_tasks.schema import schema as written
    from mesocosm.kits.yaml_tasks.template import SCHEMA, starting_file

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
