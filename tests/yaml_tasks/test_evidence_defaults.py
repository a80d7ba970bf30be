"""What a task file need not say: who writes and when, an item for each case, shares, calls of a solution."""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from trials import failures, solve

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.kits.yaml_tasks.evidence_defaults import spread
from mesocosm.kits.yaml_tasks.lint import lint

HERE = Path(__file__).parent
DENTIST = HERE / "dentist_moves.yaml"
TEXT = DENTIST.read_text()


def built(path: Path, folder: Path, **parameters: int) -> Episode:
    """An episode in which the reference solver has done the task."""
    family = load_family(str(path))
    instance = build_instance(family, 0, folder / "instance", parameters=parameters)
    episode = Episode.create(folder / "episode", instance.path, family)
    solve(family, episode)
    return episode


def test_a_task_in_few_lines_tells_what_it_should(tmp_path: Path) -> None:
    assert len([line for line in TEXT.splitlines() if line.strip()]) <= 72
    assert [str(one) for one in lint(DENTIST)] == []
    episode = built(DENTIST, tmp_path, size=12, filler_tokens=1500)
    assert failures(episode) == set()
    kept = json.loads((episode.path / "expected.json").read_text())["truth"]
    now = datetime.fromisoformat(kept["now"]["$moment"])
    with sqlite3.connect(episode.path / "world/email.db") as box:
        mails = box.execute("SELECT sender, date FROM emails ORDER BY date").fetchall()
    written: dict[str, list[datetime]] = {}
    for sender, date in mails:
        written.setdefault(sender, []).append(datetime.fromisoformat(date.replace("Z", "+00:00")))
    told = {"quiet": 0, "moved": 1, "again": 2, "kept": 2, "cancelled": 1, "asked_then_cancelled": 2}
    patients = [one for one in kept["entities"] if one["fact"] == "patient" and one["ident"][0] != "b"]
    assert {one["kind"] for one in patients} == set(told)
    for one in patients:
        moments = written.get(f"{one['drawn']['name']} <{address(one)}>", [])
        assert len(moments) == told[one["kind"]]
        assert all(moment < now for moment in moments)
    gaps = [(second - first).total_seconds() / 3600 for first, second in zip_pairs(written.values())]
    assert len(gaps) > 3
    assert all(14 <= gap <= 44 for gap in gaps)


def address(patient: Any) -> str:
    first, *_, last = str(patient["drawn"]["name"]).lower().split()
    return f"{first[0]}.{last}{patient['number'] + 1}@patients.example"


def zip_pairs(dates: Any) -> list[tuple[datetime, datetime]]:
    return [(one[0], one[1]) for one in dates if len(one) == 2]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("My plans have changed again}, and {spoken(newer_time)}", "My plans}, and {spoken(newest)}",
         "evidence.2.email.mail.body.again.1: unknown name 'newest'"),
        ("        kept:\n", "        keptt:\n",
         "evidence.2.email.mail.body.keptt: no case 'keptt'; there are quiet"),
        ("        kept:\n", "        kept, again:\n", "'again' stands in it twice"),
        ("        cancelled:\n", "        cancelled, quiet:\n",
         "cases.cancelled: no evidence tells a patient that is quiet from one that is cancelled"),
        ('name: {faker: name, unique: true}\n', 'called: {faker: name, unique: true}\n',
         "'from' is required: Who wrote it: `Ann Lee <ann@example.com>`; default: whom it is about. "
         "(left out, it is {name} <{email}>, and patient has not all of these)"),
        ("{quote: cancels the appointment altogether}\n      asked", "{share: 1, weight: 1}\n      asked",
         "either a share"),
    ],
)  # fmt: skip
def test_complaints_stand_where_the_file_has_it(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert TEXT.count(old) == 1
    path = tmp_path / "dentist_moves.yaml"
    path.write_text(TEXT.replace(old, new))
    found = "\n".join(map(str, lint(path)))
    assert words in found


def test_the_line_of_a_complaint_is_that_of_the_case(tmp_path: Path) -> None:
    path = tmp_path / "dentist_moves.yaml"
    path.write_text(TEXT.replace("{spoken(newer_time)} is {better", "{spoken(newest)} is {better"))
    [line] = [n for n, text in enumerate(path.read_text().splitlines(), 1) if "spoken(newest)" in text]
    [complaint] = lint(path)
    assert complaint.line == line


def test_one_sort_of_cases_alone_is_written_beside_for(tmp_path: Path) -> None:
    path = tmp_path / "dentist_moves.yaml"
    start = TEXT.index("        cancelled:\n")
    end = TEXT.index("  - for: patient", start)
    path.write_text(TEXT[:start] + TEXT[end:])
    found = "\n".join(map(str, lint(path)))
    assert "write `cases: [moved, again, kept, asked_then_cancelled]` beside `for`" in found


def test_rows_of_a_warehouse_need_no_solution(tmp_path: Path) -> None:
    whole = (HERE / "supplier_limits.yaml").read_text()
    text, _, rest = whole.partition("solution:\n")
    start = text.index("  - how: change\n    snowflake.comment")
    path = tmp_path / "limits.yaml"
    path.write_text(text[:start] + rest.partition("claim_done.claim_done: {}\n")[2])
    assert failures(built(path, tmp_path, size=3)) == set()


def test_what_has_no_moment_comes_after_what_has_one() -> None:
    entities = {"me": {"fields": {}}, "order": {"count": "size", "fields": {"asked": 0}}}
    mail = {"from": "a@b.example", "body": "x"}
    evidence = [
        {"for": "order", "email.mail": {**mail, "date": "{asked + 1d}"}},
        {"for": "order", "calendar.event": {"summary": "x", "start": "{now + 9d}"}},
        {"for": "order", "cases": ["late"], "email.mail": {**mail, "date": "{other}"}},
        {"for": "order", "email.mail": mail},
        {"for": "order", "email.mail": mail},
        {"email.mail": mail},
    ]
    spread_out, _ = spread({"entities": entities, "evidence": evidence})
    told = {name: one["fields"] for name, one in spread_out["entities"].items()}
    assert told["order"]["told_1"]["moment"] == {
        "after": "(asked + 1d) + 14h",
        "before": "(asked + 1d) + 44h",
    }
    assert told["order"]["told_2"]["moment"]["after"] == "told_1 + 14h"
    dates = [one["email.mail"]["date"] for one in spread_out["evidence"] if "email.mail" in one]
    assert dates == ["{asked + 1d}", "{other}", "{told_1}", "{told_2}", "{me.told_1}"]


COMMENTS = """
title: Say which bugs are known
prompt: |
  You are {me.name} ({me.email}). It is {now.long()} (UTC). Write one comment "Known: NUMBER" on each issue
  of {me.repo} that is a duplicate, with the number that it names. In the end, call claim_done.
entities:
  me: {fields: {name: {faker: name}, email: "{name.handle()}@a.example", repo: shop}}
  bug:
    count: size
    fields: {writer: {faker: name}, number: {sequence: 50, gap: 9}}
    cases:
      new:
      known: {quote: a duplicate}
evidence:
  - for: bug
    as: issue
    codehost.issue:
      repo: "{me.repo}"
      author: "{writer}"
      body:
        new: ["It {breaks|stops} at page {number}.", "Page {number} is {empty|blank}."]
        known: ["It {breaks|stops}. It is a duplicate of {number}.", "A duplicate of {number}{, I fear|}."]
noise: {codehost.issue: {topics: [bug_reports]}}
goal:
  - for: bug
    cases: [known]
    codehost.comment: {repo: "{me.repo}", number: "{issue.number}", body: {lines: "Known: {number}"}}
"""


def test_comments_on_issues_need_no_solution(tmp_path: Path) -> None:
    path = tmp_path / "known.yaml"
    path.write_text(COMMENTS)
    assert [str(one) for one in lint(path) if one.level == "error"] == []
    assert failures(built(path, tmp_path, size=6)) == set()
