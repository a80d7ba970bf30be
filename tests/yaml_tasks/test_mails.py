"""Mails of task files that have more than their text."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from trials import call, failures, solve

from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.kits.yaml_tasks.letters import asked
from mesocosm.kits.yaml_tasks.lint import lint

WHOLE = Path(__file__).with_name("whole.yaml").read_text()


VISITS = Path(__file__).with_name("visits.yaml")


def _dressed(tmp_path: Path, shares: str) -> Path:
    path = tmp_path / "dressed.yaml"
    path.write_text(VISITS.read_text().replace("around: [0, 150]}", f"around: [0, 150], {shares}}}"))
    return path


def test_a_share_of_mails_has_html_and_copies(tmp_path: Path) -> None:
    family = load_family(str(_dressed(tmp_path, "html: 0.5, copies: 0.5")))
    instance = build_instance(family, 0, tmp_path / "instance", target=12_000)
    episode = Episode.create(tmp_path / "episode", instance.path, family)
    listed = json.loads(call(episode, "email", "get_emails", page_size=100))["emails"]
    mails = [json.loads(call(episode, "email", "read_email", email_id=one["id"])) for one in listed]
    with_html = [mail for mail in mails if mail["html_body"]]
    copied = [mail for mail in mails if mail["cc"]]
    assert 0 < len(with_html) < len(mails)
    assert 0 < len(copied) < len(mails)
    for mail in with_html:
        assert mail["html_body"].count("<p>") == len(mail["body"].split("\n\n"))
    for mail in copied:
        home = mail["from"].rpartition("@")[2]
        assert mail["cc"].endswith(home)
        assert mail["cc"] != mail["from"]


def test_a_share_of_statements_is_a_paragraph_of_its_own(tmp_path: Path) -> None:
    def paragraphs(share: str, part: str) -> list[str]:
        family = load_family(str(_dressed(tmp_path, share)))
        instance = build_instance(family, 0, tmp_path / f"{part}.instance", target=12_000)
        episode = Episode.create(tmp_path / part, instance.path, family)
        listed = json.loads(call(episode, "email", "get_emails", page_size=100))["emails"]
        mails = [json.loads(call(episode, "email", "read_email", email_id=one["id"])) for one in listed]
        return [part for mail in mails for part in mail["body"].split("\n\n")]

    said = re.compile(r"We would like to come and see the \w+ wing on .*\. I write for [^.]*\.")
    for share, part in (("apart: 0", "within"), ("apart: 1", "apart")):
        with_it = [text for text in paragraphs(share, part) if said.search(text)]
        alone = [text for text in with_it if said.fullmatch(text)]
        assert with_it
        assert (len(alone) == len(with_it)) == (share == "apart: 1")


def test_a_share_of_mails_answers_one_in_sent_and_has_files(tmp_path: Path) -> None:
    family = load_family(str(_dressed(tmp_path, "answers: 0.5, attached: 0.5")))
    instance = build_instance(family, 0, tmp_path / "instance", target=12_000)
    episode = Episode.create(tmp_path / "episode", instance.path, family)

    def mails(folder: str) -> list[dict[str, Any]]:
        listed = json.loads(call(episode, "email", "get_emails", folder=folder, page_size=100))["emails"]
        return [json.loads(call(episode, "email", "read_email", email_id=one["id"])) for one in listed]

    received, sent = mails("INBOX"), {mail["message_id"]: mail for mail in mails("Sent")}
    answers = [mail for mail in received if mail["in_reply_to"] in sent]
    assert 0 < len(answers) < len(received)
    for mail in answers:
        earlier = sent[mail["in_reply_to"]]
        assert mail["subject"] == f"Re: {earlier['subject']}"
        assert earlier["to"] == mail["from"]
        assert earlier["date"] < mail["date"]
        below = [line[2:] for line in mail["body"].split("\n") if line.startswith("> ")]
        assert " ".join(below) == " ".join(earlier["body"].split())
    with_files = [mail for mail in received if mail["attachments"]]
    assert 0 < len(with_files) < len(received)


def test_what_stands_around_statements_is_hardly_said_again(tmp_path: Path) -> None:
    family = load_family("price_notices")
    instance = build_instance(family, 0, tmp_path / "instance", target=32_000)
    episode = Episode.create(tmp_path / "episode", instance.path, family)
    listed = json.loads(call(episode, "email", "get_emails", page_size=100))["emails"]
    bodies = [json.loads(call(episode, "email", "read_email", email_id=one["id"]))["body"] for one in listed]
    words = " ".join(bodies).lower().split()
    runs = Counter(zip(*(words[at:] for at in range(8)), strict=False))
    assert sum(number for number in runs.values() if number > 1) < 0.01 * runs.total()


def test_a_share_above_one_is_refused(tmp_path: Path) -> None:
    [complaint] = lint(_dressed(tmp_path, "html: 2"))
    assert "html" in str(complaint)


def test_everyday_text_of_a_course_is_about_that_course(tmp_path: Path) -> None:
    family = load_family("oral_exams")
    instance = build_instance(family, 0, tmp_path / "instance", target=8_000)
    episode = Episode.create(tmp_path / "episode", instance.path, family)
    courses = {one["id"]: one for one in json.loads(call(episode, "canvas", "canvas_list_courses"))}
    named = 0
    for id_, course in courses.items():
        posts = json.loads(call(episode, "canvas", "canvas_list_announcements", course_id=id_, per_page=100))
        others = {one["name"] for one in courses.values()} - {course["name"]}
        for post in posts:
            text = f"{post['title']} {post['message']}"
            named += course["name"] in text
            assert not any(other in text for other in others)
            codes = set(re.findall(r"\b[A-Z]{2,5} \d{3}\b", text))
            assert codes <= {course["course_code"]}, "the code of a course of nowhere"
    assert named


@pytest.mark.parametrize(
    ("html", "right"),
    [
        ("<p>Hello,</p><p>See you on {agreed}</p>", True),
        ("Hello,<br>\\nSee you\\non {agreed}<br>", True),
        ("<pre>Hello,\\nSee you on {agreed}</pre>", True),
        ("<table><tr><td>See you on</td> <td>{agreed}</td></tr></table>", True),
        ("<p>Hello, see you some day</p>", False),
        ("<p hidden>See you on {agreed}</p>", False),
        ("<blockquote>See you on {agreed}</blockquote>", False),
    ],
)
def test_what_a_mail_says_in_html_is_judged_like_its_text(tmp_path: Path, html: str, right: bool) -> None:
    path = tmp_path / "mine.yaml"
    body = 'body: "Hello,\\nSee you on {agreed}\\n"'
    path.write_text(WHOLE.replace(body, f'{body}, html_body: "{html}"'))
    family = load_family(str(path))
    instance = build_instance(family, 0, tmp_path / "instance", parameters={"size": 6})
    episode = Episode.create(tmp_path / "episode", instance.path, family)
    solve(family, episode)
    assert failures(episode) == (set() if right else {"email_mail_body"})


@pytest.mark.parametrize(
    ("mail", "right"),
    [
        ({"body": "Hello,\n\n  See you  on {agreed}\n"}, True),
        ({"body": "", "html_body": "<p>Hello,</p><p>See you on {agreed}</p>"}, True),
        ({"subject": "Re: Delivery", "body": "Hello,\nSee you on {agreed}\n> When do you come?"}, True),
        ({"body": "See you on {agreed}\nHello,"}, False),
        ({"body": "Hello,\nSee you on {agreed}\nAnn"}, False),
        ({"body": "Hello,\nSee you on {agreed}\n> We sell bags, too."}, False),
        ({"body": "Hello,\n> See you on {agreed}"}, False),
        (
            {
                "body": "Hello,\nSee you on {agreed}",
                "html_body": "Hello,<br>See you on {agreed}<blockquote>We sell bags.</blockquote>",
            },
            False,
        ),
        ({"body": "", "html_body": "<p hidden>Hello,</p>"}, False),
    ],
)
def test_all_lines_are_judged_in_their_order_and_with_what_a_mail_quotes(
    tmp_path: Path, mail: dict[str, str], right: bool
) -> None:
    path = tmp_path / "mine.yaml"
    text = WHOLE.replace('{lines: "See you on {agreed}"}', '{all_lines: ["Hello,", "See you on {agreed}"]}')
    if "subject" in mail:
        text = text.replace("subject: Delivery", f'subject: "{mail["subject"]}"')
    sent = "".join(f", {name}: {json.dumps(mail[name])}" for name in ("body", "html_body") if name in mail)
    path.write_text(text.replace(', body: "Hello,\\nSee you on {agreed}\\n"', sent))
    family = load_family(str(path))
    instance = build_instance(family, 0, tmp_path / "instance", parameters={"size": 6})
    episode = Episode.create(tmp_path / "episode", instance.path, family)
    solve(family, episode)
    assert failures(episode) == (set() if right else {"email_mail_body"})


@pytest.mark.parametrize("day", [10, 11, 16])
def test_what_is_answered_on_a_weekday_was_written_on_one(day: int) -> None:
    moment = dt.datetime(2025, 11, day, 9, tzinfo=dt.UTC)
    answer = {"date": moment, "subject": "Re: Plans"}
    before = [asked(answer, "Ann Lee", "Hello,", "Best", Random(seed))["date"] for seed in range(40)]
    assert max(before) < moment
    assert (max(one.weekday() for one in before) > 4) == (moment.weekday() > 4)
