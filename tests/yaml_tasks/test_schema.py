"""The schema of task files takes the files that ship, and refuses what lint refuses."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from mesocosm.families.family import family_names, task_path
from mesocosm.families.task import Task
from mesocosm.kits.yaml_tasks.schema import schema, starting_file

WHOLE = Path(__file__).with_name("whole.yaml").read_text()


class Editor(yaml.SafeLoader):
    """Reads as editors do, by YAML 1.2: ``off`` is a word, and a date a text."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - as the library has it
        first: [one for one in found if one[0].rpartition(":")[2] not in ("bool", "timestamp")]
        for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


Editor.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))


@functools.cache
def validator() -> Any:
    whole = schema(Task.model_json_schema())
    jsonschema.Draft202012Validator.check_schema(whole)
    return jsonschema.Draft202012Validator(whole)


def complaints(text: str) -> list[str]:
    return [error.message for error in validator().iter_errors(yaml.load(text, Editor))]


@pytest.mark.parametrize("name", family_names())
def test_files_that_ship_are_valid(name: str) -> None:
    assert complaints(task_path(name).read_text()) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("email.mail:\n      from", "email.mail:\n      form"),
        ('to: "{email}"', "two: x"),
        ("share: 4", "shares: 4"),
        ("faker: name}", "fakir: name}"),
        ("email.send_email", "email.send_mail"),
        ("servers: {email", "servers: {emial"),
        ("topics: [supplier", "topics: [suppliers"),
        ("  email.mail: {topics", "  email.email: {topics"),
        ("body: {lines", "body: {line"),
    ],
)
def test_what_is_wrong_is_invalid(old: str, new: str) -> None:
    assert old in WHOLE
    assert complaints(WHOLE) == complaints(starting_file()) == []
    assert complaints(WHOLE.replace(old, new))
