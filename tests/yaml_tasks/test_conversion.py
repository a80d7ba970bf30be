"""Files in the words of before: refused with the words of now, and rewritten by one command."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from mesocosm.cli.commands import app
from mesocosm.kits.yaml_tasks.conversion import Unconvertible, converted

HERE = Path(__file__).parent
WHOLE = (HERE / "whole.yaml").read_text()
OLD = """\
title: What was       # a comment
prompt: |
  You are {{ me.name }}. It is {{ now | long }}; {% if me.late %}late{% endif %}.
facts:
  me: {fields: {name: {faker: name}, late: "{{ nth > 1 and (me.name | lower) == 'x' }}", n: "{{ 3 }}"}}
  box:
    count: size
    fields: {of: 1, "by": "{{ sale | where('kind', 'a') | by('nth') | pick('of') }}"}
    kinds: {a: {share: 1, told: "of {{ kind }}"}, b: {background: 2, fields: &m {x: {one: box, kinds: [a]}}}}
    lookalikes: {c: {fields: *m}}
statements:
  - for: box
    kinds: [a]
    counts: nth > 1
    where: lookalike is none
    email.mail: {from: "{{ of }}", body: ["{One|Two} of {{ one_of('a', 'b') }}", 'as | is {"a": 1}']}
background: {email.mail: {topics: [travel], share: 2}}
goal:
  - filesystem.csv: {rows: {for: box, kinds: [a], by: [of], last: {of: 1}, columns: {of: "{{ of }}"}}}
walk:
  - {by: [of], email.send_email: {to: "{{ (of ~ 'x') | lower }}", by: of}}
"""
NEW = """\
title: What was       # a comment
prompt: |
  You are {me.name}. It is {now.long()}; {if me.late}late{endif}.
entities:
  me: {fields: {name: {faker: name}, late: "{index > 1 and (me.name.lower()) == 'x'}", n: 3}}
  box:
    count: size
    fields: {of: 1, "by": "{sale.select('case', 'a').sort('index').pick('of')}"}
    cases: {a: {share: 1, quote: "of {case}"}, b: {weight: 2, fields: &m {x: {ref: box, cases: [a]}}}}
    distractors: {c: {fields: *m}}
evidence:
  - for: box
    cases: [a]
    matters: index > 1
    where: distractor is none
    email.mail: {from: "{of}", body: ["{One|Two} of {choice('a', 'b')}", 'as | is {"a": 1}']}
noise: {email.mail: {topics: [travel], weight: 2}}
goal:
  - filesystem.csv: {rows: {for: box, cases: [a], sort: [of], footer: {of: 1}, columns: {of: "{of}"}}}
solution:
  - {sort: [of], email.send_email: {to: "{(of ~ 'x').lower()}", by: of}}
"""


def test_only_words_that_have_others_are_changed_and_only_where_they_mean_these() -> None:
    assert converted(OLD) == NEW
    assert converted(NEW) == NEW
    assert converted(WHOLE) == WHOLE


def test_a_name_that_means_something_now_is_to_be_changed_by_hand() -> None:
    with pytest.raises(Unconvertible, match="line 8: the field 'index' needs another name"):
        converted(OLD.replace("fields: {of: 1", "fields: {index: 1"))


def test_an_old_file_is_refused_with_the_command_that_rewrites_it(tmp_path: Path) -> None:
    path = tmp_path / "old.yaml"
    path.write_text(OLD)
    run = CliRunner().invoke(app, ["lint", str(path)])
    said = " ".join(run.stdout.split())
    assert "line 4: error: `facts` is called `entities` now: `mesocosm convert" in said.replace(str(path), "")
    assert CliRunner().invoke(app, ["convert", str(path)]).exit_code == 0
    assert path.read_text() == NEW


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("    cases: [moved]\n", "    kinds: [moved]\n", "kinds: unknown key: it is called cases now"),
        ("    cases:\n", "    kinds:\n", "kinds: unknown key: it is called cases now"),
        ("quote: with", "told: with", "told: unknown key: it is called quote now"),
        ("{index}", "{nth}", "unknown name 'nth': it is called index now"),
        ("{index}", "{{ index }}", "{{ index }} is how it was written before"),
        ("now.long()", "now | long", "long of a value is {value.long()}"),
        ("{me.name} (", "{me.name (", "nothing closes '{me.name ("),
    ],
)
def test_old_words_inside_a_file_are_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in WHOLE
    path = tmp_path / "task.yaml"
    path.write_text(WHOLE.replace(old, new, 1))
    assert words in " ".join(CliRunner().invoke(app, ["lint", str(path)]).stdout.split())


def test_what_follows_of_itself_need_not_be_said(tmp_path: Path) -> None:
    from mesocosm.families.task import read_task
    from mesocosm.kits.yaml_tasks.definition import Definition
    from mesocosm.kits.yaml_tasks.schema import starting_file

    path = tmp_path / "task.yaml"
    path.write_text(starting_file())
    task, whole = read_task(path), read_task(HERE / "whole.yaml")
    assert (task.version, task.servers) == (whole.version, whole.servers)
    assert list(task.growth.points) == [8_000, 64_000, 256_000, 1_000_000]
    sizes = [task.growth.size_for(length) for length in (8_000, 64_000, 1_000_000)]
    # Between half as many and twice as many as somebody chose who tried.
    wanted = [whole.growth.size_for(length) for length in (8_000, 64_000, 1_000_000)]
    assert all(one / 2 < size < one * 2 for size, one in zip(sizes, wanted, strict=True)), sizes
    steps = Definition.model_validate(task.definition).solution
    assert [step.what for step in steps] == ["email.send_email", "claim_done.claim_done"]
    assert steps[0].fields == {"to": "{email}", "subject": "Delivery", "body": "See you on {agreed}"}
