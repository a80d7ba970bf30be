"""What the words of a task file come to: lists of expressions, weights, loops, paths, headers of mails."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from trials import call, failures, solve

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.kits.yaml_tasks.lint import lint
from mesocosm.kits.yaml_tasks.mailboxes import in_quotes

SHOPS = Path(__file__).with_name("shops.yaml")
TEXT = SHOPS.read_text()


@pytest.fixture(scope="module")
def episode(tmp_path_factory: pytest.TempPathFactory) -> Episode:
    """The shops of an instance with some distractors, and the solution made."""
    folder = tmp_path_factory.mktemp("shops")
    family = load_family(str(SHOPS))
    instance = build_instance(family, 0, folder / "instance", parameters={"size": 6, "filler_tokens": 3000})
    episode = Episode.create(folder / "episode", instance.path, family)
    solve(family, episode)
    return episode


def shops(episode: Episode) -> list[dict[str, Any]]:
    """What was drawn of those that count."""
    kept = json.loads((episode.path / "expected.json").read_text())["truth"]["entities"]
    return [one["drawn"] for one in kept if one["fact"] == "shop" and not one["ident"].startswith("b")]


def number_of(sender: str) -> int:
    """The number of the shop that an address names."""
    return int(sender.rpartition("<s")[2].partition("@")[0])


def mails(episode: Episode) -> list[dict[str, Any]]:
    with sqlite3.connect(episode.path / "world/email.db") as box:
        box.row_factory = sqlite3.Row
        found = box.execute("SELECT * FROM emails ORDER BY date, id")
        return [dict(row) for row in found if row["subject"].removeprefix("Re: ").startswith("Shop ")]


def test_the_file_has_no_complaints() -> None:
    assert [str(one) for one in lint(SHOPS)] == []


def test_a_list_of_expressions_is_worked_out(episode: Episode) -> None:
    prompt = episode.prompt
    store = next(one for one in ("Aa", "Bb", "Cc") if f"of {one}." in prompt)
    assert {one["first"] for one in shops(episode)} == {store}
    assert all(one["other"] != store for one in shops(episode))


def test_values_with_weights_may_be_numbers_and_weights_expressions(episode: Episode) -> None:
    assert {one["limit"] for one in shops(episode)} <= {100, 250.5, 300}


def test_what_is_told_of_all_has_the_distractors_among_those_that_count(episode: Episode) -> None:
    [document] = json.loads(call(episode, "documents", "list_recent_documents"))["documents"]
    text = call(episode, "documents", "read_document", file_id=document["id"])
    told = [int(line.split()[0]) for line in text.strip().split("; ")]
    count = {one["number"] for one in shops(episode)}
    assert count < set(told)
    assert set(told[: len(count)]) != count
    store = next(one for one in ("Aa", "Bb", "Cc") if f"of {one}." in episode.prompt)
    sheet = {"filepath": f"{store.lower()}.xlsx", "sheet_name": "Limits"}
    cells = json.loads(call(episode, "excel", "read_data_from_excel", **sheet))["cells"]
    column = [cell["value"] for cell in cells if cell["address"].startswith("A")][1:]
    assert column == told


def test_rows_of_groups_are_of_all_that_is_told(tmp_path: Path) -> None:
    path = tmp_path / "shops.yaml"
    rows = "rows: {for: shop, columns: {Number: "
    assert rows in TEXT
    groups = (
        "rows: {each: \"shop.group('store')\", columns: {Store: '{row.key}', Shops: '{row.items.length()}', "
    )
    text = TEXT.replace(rows, f"{groups}Number: ")
    path.write_text(text.replace('{number}", Limit: "{limit}"}}', '{shop.length()}"}}', 1))
    family = load_family(str(path))
    instance = build_instance(family, 0, tmp_path / "instance", parameters={"size": 4, "filler_tokens": 2000})
    [book] = (instance.path / "world/workspace").glob("*.xlsx")
    _, *lines = openpyxl.load_workbook(book)["Limits"].iter_rows(values_only=True)
    assert len(lines) > 1
    assert {int(str(line[2])) for line in lines} == {sum(int(str(line[1])) for line in lines)}


def test_what_belongs_to_a_distractor_knows_it(episode: Episode) -> None:
    with sqlite3.connect(episode.path / "world/email.db") as box:
        found = box.execute("SELECT body, sender FROM emails WHERE body LIKE '%2 visits (%'").fetchall()
    count = {one["number"] for one in shops(episode)}
    own = {number_of(sender) for body, sender in found if "visits (own)" in body}
    other = {number_of(sender) for body, sender in found if "visits (far)" in body}
    assert own == count
    assert len(other) == len(found) - len(own) > 0


def test_a_conversation_is_answered_as_mail_programs_do(episode: Episode) -> None:
    by_thread: dict[str, list[dict[str, Any]]] = {}
    for mail in mails(episode):
        by_thread.setdefault(mail["subject"].removeprefix("Re: "), []).append(mail)
    assert len(by_thread) > 6
    for subject, (first, second, third) in by_thread.items():
        assert [one["subject"] for one in (first, second, third)] == [subject, *[f"Re: {subject}"] * 2]
        assert (first["in_reply_to"], first["references"]) == (None, None)
        assert second["in_reply_to"] == second["references"] == first["message_id"]
        assert third["in_reply_to"] == second["message_id"]
        assert third["references"] == f"{first['message_id']} {second['message_id']}"


def test_a_name_with_a_comma_is_a_sender_and_a_recipient(episode: Episode) -> None:
    names = {one["name"] for one in shops(episode)}
    assert "Kim, Lee and Sons" in names
    senders = {mail["sender"].partition(" <s")[0] for mail in mails(episode) if mail["to"].count("@") == 1}
    assert '"Kim, Lee and Sons"' in senders
    assert '"A (B), \\"C\\" Ltd"' in senders
    assert failures(episode) == set()
    [body] = {one["body"].split("\n")[-1] for one in mails(episode) if one["sender"].startswith('"Kim')}
    assert body == "Kim, Lee and Sons"


@pytest.mark.parametrize(
    ("header", "written"),
    [
        ("Ann Lee <a@b.example>, b@b.example", "Ann Lee <a@b.example>, b@b.example"),
        ("Dr. Lee <a@b.example>", "Dr. Lee <a@b.example>"),
        ("a@b.example, Kim, Lee <k@b.example>", 'a@b.example, "Kim, Lee" <k@b.example>'),
        ('"Kim, Lee" <k@b.example>,A (B) <a@b.example>', '"Kim, Lee" <k@b.example>, "A (B)" <a@b.example>'),
        ('5" Pipes <p@b.example>', '"5\\" Pipes" <p@b.example>'),
        ("Kim, Lee", "Kim, Lee"),
    ],
)
def test_names_are_quoted_where_they_must_be(header: str, written: str) -> None:
    assert in_quotes(header) == written


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("unlike: [me.store, first]", "unlike: [Aa, first]", "unknown name 'Aa'; a text here has quotes"),
        ("unlike: [me.store, first]", "unlike: {me.store: 1}", "an expression without braces is needed"),
        ("cases: [plain], sort: [number]", "where: [number > 3, limit], sort: [number]", "found a list"),
        ("rows: {for: shop, columns: {N", "rows: {each: [shop], columns: {N", "found a list"),
        ("{100: 2, 250.5: open_rate, 300: 1}", "[{100: 2}, {300: 1}]", "one mapping: {100: 2, 300: 1}"),
        ("{100: 2, 250.5: open_rate, 300: 1}", "{100, 300}", "100: found None as a weight; values are"),
        ("{100: 2, 250.5: open_rate, 300: 1}", "{100: -2}", "100: found -2 as a weight"),
        ("{100: 2, 250.5: open_rate, 300: 1}", "{100: rat}", "unknown name 'rat'"),
        ("columns: {Number: ", 'columns: {"{me.store}": ', "would not be filled in"),
        ("title: Write", 'title: "{me.store}" # Write', "stands as it is"),
        ('"{distractor or', "\"{shop.visit[7].what or", "there are 2, counted from 0: [0] to [1]"),
        ('"{distractor or', "\"{shop.visit.select('index', 7).first() or", "it is empty"),
        ('"{distractor or', "\"{case or", "no `cases`: `shop.case` is which one its shop is"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert TEXT.count(old) >= 1
    path = tmp_path / "shops.yaml"
    path.write_text(TEXT.replace(old, new, 1))
    assert words in "\n".join(map(str, lint(path)))
