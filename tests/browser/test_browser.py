"""The world browser: over HTTP through the real application, and in a real browser where there is one."""

from __future__ import annotations

import json
import re
import shutil
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import commands
import httpx2
import pytest
import uvicorn
from browsing import asking, links_of, text_of
from patience import PATIENCE

from mesocosm.errors import UsageError
from mesocosm.evaluation.browser.application import Browser, ListedEntry, application, entries_of
from mesocosm.evaluation.browser.export import export, write_files
from mesocosm.evaluation.browser.slips import slip_of, slips_in
from mesocosm.evaluation.browser.why import summary
from mesocosm.evaluation.report.rows import read_samples
from mesocosm.evaluation.runs import Actor, WantedRun, run_task
from mesocosm.families.episode import Episode
from mesocosm.families.family import load_family
from mesocosm.families.instances import build_instance
from mesocosm.families.trust import VARIABLE, trust
from mesocosm.families.verdict import Inapplicable, Misreading, named_values
from mesocosm.families.workers.processes import Processes
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.server import serving
from mesocosm.services.calling import Direct, ToolError

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\"><!--<script>"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An instance that nobody acted on."""
    out = tmp_path_factory.mktemp("browser") / "instance"
    build_instance(load_family("course_assistant"), 0, out, target=16_000)
    return out


@pytest.fixture(scope="module")
def failed(made: Path) -> Path:
    """An episode of an agent that read part of the mail and wrote to somebody who is not concerned."""
    path = made.parent / "failed"
    family = load_family("course_assistant")
    episode = Episode.create(path / "episode", made, family)
    tools = Direct(episode.world)
    expected: Any = episode.expected()
    tools.call("email", "get_emails", folder="INBOX", page_size=40)
    found = tools.call("email", "search_emails", query=expected.derivations[0].says[:40])
    tools.call("email", "read_email", email_id=found["emails"][0]["id"])
    librarian = expected.lists.staff["librarian"]
    tools.call("email", "send_email", to=librarian, subject=HOSTILE, body=HOSTILE)
    tools.call("claim_done", "claim_done")
    episode.close()
    return path


def test_every_link_of_a_failed_run_leads_to_a_page(failed: Path) -> None:
    with asking(failed) as get:
        pages = links_of(get)
        assert len(pages) == 40
        assert "<script>document" not in "".join(pages.values())


def test_the_first_page_says_why_it_failed(made: Path, failed: Path) -> None:
    with asking(failed) as get:
        page = text_of(get("/0/"))
    said = page.partition("Why it failed")[2].partition("Findings")[0]
    assert "First finding: email_mail_missing" in said
    pieces = len(
        load_family("course_assistant")
        .read_expected((failed / "episode/expected.json").read_bytes())
        .evidence
    )
    assert re.search(rf"\d+ of {pieces} pieces of evidence were never delivered: mail “", said)
    assert "The first wrong call is number 4, email.send_email: from it on, email_mail_extra fails" in said
    told = summary(failed)
    assert (told["verdict"], told["first_wrong"], told["calls"]) == ("failed", 4, 5)
    assert told["why"] in page or said.strip().startswith(told["why"][:60])
    assert all(one["stands_in"] for one in told["missed"])


def test_a_run_that_stopped_after_a_refused_call_is_said_to_have(made: Path) -> None:
    """And neither one that went on after it, nor one that declared that it was done."""
    for name, then in {"refused": [], "went-on": ["get_folders"], "declared": ["claim_done"]}.items():
        path = made.parent / name
        episode = Episode.create(path / "episode", made, load_family("course_assistant"))
        tools = Direct(episode.world)
        for subject in range(2):
            tools.call("email", "send_email", to="a@b.example", subject=str(subject), body="Hello")
        tools.call("email", "search_emails", query="presentation")
        with pytest.raises(ToolError):
            tools.call("email", "read_email", email_id="999999")
        for tool in then:
            tools.call("email" if tool == "get_folders" else tool, tool)
        episode.close()
        told = summary(path)
        assert (told["failure"] == "broke_off") == (name == "refused"), told
        assert ("without declaring that it was done" in told["why"]) == (name == "refused")
        if name == "refused":
            assert "Its last call was number 4, email.read_email, refused with “" in told["why"]
            assert "”; claim_done was not called. First finding" in told["why"]
            with asking(path) as get:
                assert '<a href="/0/calls/4">number 4, email.read_email</a>' in get("/0/")


class Diverting(Direct):
    """The tools in the hands of somebody who writes the first mail to another."""

    def call(self, service: str, tool: str, **arguments: Any) -> Any:
        if tool == "send_email" and not self.diverted:
            self.diverted = arguments["to"]
            arguments["to"] = "somebody@else.example"
        return super().call(service, tool, **arguments)

    diverted = ""


def test_a_value_that_was_written_stands_beside_the_right_one(made: Path) -> None:
    """And nothing is told of those between whom it went astray: nothing that was said of them decided it."""
    path, family = made.parent / "diverted", load_family("course_assistant")
    episode = Episode.create(path / "episode", made, family)
    family.solve(tools := Diverting(episode.world), episode.prompt, episode.expected())
    episode.close()
    points = {point["about"]: point["says"] for point in summary(path)["points"]}
    assert not [title for title in points if title.startswith("What is told of")], points
    [line] = [one for one in points["Against what the reference solver does"] if one.startswith("different")]
    values = rf"\(to: “somebody@else\.example”, not “{tools.diverted}” \(.+ .+\)\)"
    assert re.search(rf"{values}, call \d+; all else of it is right: “.+ \(\d+\)", line), line


def test_a_list_that_was_not_read_to_its_end_is_named(made: Path) -> None:
    """If evidence was missed that stands on the rest, and not if the list was read to its end."""
    for pages in (1, 2, 99):
        path = made.parent / f"pages-{pages}"
        episode = Episode.create(path / "episode", made, load_family("course_assistant"))
        tools, number = Direct(episode.world), 1
        while number <= pages:
            listed = tools.call("email", "get_emails", folder="INBOX", page=number, page_size=5)
            if number == listed["total_pages"]:
                break
            number += 1
        tools.call("claim_done", "claim_done")
        episode.close()
        why = summary(path)["why"]
        hint = f"email.get_emails was not asked for the rest of a list after page {pages} of"
        assert (f"{hint} {listed['total_pages']}, call {pages}: what holds" in why) == (pages < 99)


def test_an_excerpt_holds_the_sentence_that_decides(tmp_path: Path) -> None:
    """Wherever it stands in its text."""
    for task in ("refund_list", "oral_exams"):
        build_instance(family := load_family(task), 0, made := tmp_path / task, target=16_000)
        expected: Any = family.read_expected((made / "expected.json").read_bytes())
        says = [one.says for one in getattr(expected, "derivations", ())]
        says += [said for service, said, _ in getattr(expected, "told", ()) if service == "email"]
        deciding = {" ".join(one.split()) for one in says if len(one) >= 12}
        assert len(deciding) > 3
        with asking(made) as get:
            page = text_of(get("/0/evidence"))
        assert not [one for one in deciding if one not in page]


def test_a_page_of_derivations_says_what_must_be_known_or_why_it_does_not(tmp_path: Path) -> None:
    for task, said in {
        "refund_list": r"What must be known, and the words that tell it.+sale \d+ \(asked\): kept.+\(mail\)",
        "recall_campaign": "mesocosm prove recall_campaign .+ the evidence says where each thing stands",
    }.items():
        build_instance(load_family(task), 0, made := tmp_path / task, target=8_000)
        with asking(made) as get:
            page = text_of(get("/0/derivations"))
        assert "How each fact" not in page
        assert re.search(said, page), page[-2_000:]


def test_the_event_that_was_misread_is_named(made: Path) -> None:
    """Of an agent that is right but for one event."""
    family = load_family("course_assistant")
    told = {}
    for kind in (
        "deadline_moved overlooked",
        "submitted overlooked",
        "excused overlooked",
        "draft taken for submitted",
        "other_work taken for submitted",
    ):
        path = made.parent / kind.replace(" ", "-")
        episode = Episode.create(path / "episode", made, family)
        [misreading] = [one for one in family.mutants if one.name == kind]
        assert isinstance(misreading, Misreading)
        try:
            misreading.act(Direct(episode.world), episode.expected())
            told[kind] = ""
        except Inapplicable:
            continue
        finally:
            episode.close()
        told[kind] = summary(path)["why"]
    assert any(kind.endswith("taken for submitted") for kind in told)
    for kind, why in told.items():
        event, _, how = kind.partition(" ")
        assert f"when “{event.replace('_', ' ')}” in “" in why
        assert re.search(rf"”, “[^”]+” \(never delivered\) is {how}", why), why


def test_a_call_shows_what_it_delivered_and_changed(failed: Path) -> None:
    with asking(failed) as get:
        read, sent = text_of(get("/0/calls/3")), text_of(get("/0/calls/4"))
        after, before = get("/0/world/call-4/email/"), get("/0/world/call-3/email/")
    assert re.search("evidence ◆ [1-9][0-9]* new", read)
    assert "evidence ◆" not in sent
    assert "The first wrong call: email_mail_extra holds before it and not after it" in sent
    assert "email.deliveries 1 added" in sent
    counted = re.compile(r'Sent <span class="count">(\d+)')
    assert int(counted.search(after)[1]) == int(counted.search(before)[1]) + 1  # type: ignore[index]


def test_a_message_shows_its_evidence_derivation_and_who_read_it(failed: Path) -> None:
    with asking(failed) as get:
        derivations = get("/0/derivations")
        [place] = re.findall(r'id="d1">.*?Stands in <a href="([^"]+)"', derivations, re.DOTALL)[:1]
        page = get(place)
    assert re.search(r'<mark title="[^"]*derivation 1: tells deadline', page)
    assert 'href="/0/derivations#d1"' in page
    assert "● read" in page
    assert "◆ evidence 1" in page


def test_what_only_a_list_showed_is_listed(failed: Path) -> None:
    """The mail that was opened is read; others are listed, whatever greetings they share with it."""
    with asking(failed) as get:
        inbox = links_of(get, "/0/world/now/email/", most=60)
    told = [text_of(page) for path, page in inbox.items() if "/email/mail/" in path]
    assert len(told) > 10
    assert len(set(re.findall("● read, call 3 .{80}", " ".join(told)))) == 1, "on each page of its thread"
    assert sum("○ listed, never read, call 1" in one for one in told) >= 10
    assert "◐ read in part" not in " ".join(told)


def test_expected_stands_against_got(failed: Path) -> None:
    with asking(failed) as get:
        page = text_of(get("/0/changes?against=solution"))
    assert page.count("✗ missing") >= 5
    assert "✗ not expected" in page


class Spoiling(Direct):
    """Makes the second note at the first one's order, and gives the first issue another label, twice."""

    note: Any = None
    spoilt = False

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> Any:
        if tool == "woo_orders_notes_create":
            spoilt = self.note is not None and not self.spoilt
            self.spoilt, self.note = self.spoilt or spoilt, self.note or arguments["orderId"]
            arguments |= {"orderId": self.note} if spoilt else {}
        if tool == "issue_write" and not self.spoilt:
            self.spoilt, arguments = True, arguments | {"labels": ["spoilt"]}
            super().look(service, tool, arguments)  # whatever follows is later than it is otherwise
        return super().look(service, tool, arguments)


def test_references_are_compared_by_what_they_lead_to(tmp_path: Path) -> None:
    """A note at another order is not the same; a label of another name is not, whatever its number; nor does
    a commit differ that was made at another time."""
    for task, service in (("recall_campaign", "woocommerce"), ("bug_triage", "codehost")):
        family = load_family(task)
        build_instance(family, 0, made := tmp_path / task, target=family.task.lengths[0])
        episode = Episode.create(tmp_path / f"{task}-run" / "episode", made, family)
        family.solve(Spoiling(episode.world), episode.prompt, episode.expected())
        episode.close()
        with asking(tmp_path / f"{task}-run") as get:
            page = text_of(get("/0/changes?against=solution"))
        expected = page.partition("What differs from the world")[0]
        if service == "woocommerce":
            assert re.search(r"woocommerce.order_notes ?\d+ the same, 1 not", expected)
            [(right, wrong)] = re.findall(r"order_id ?(orders \d+) ?order_id ?(orders \d+)", expected)
            assert right != wrong
        else:
            assert re.search(r"codehost.issue_labels ?\d+ the same, 1 not", expected)
            assert re.search(r"label_id ?\S+ ?label_id ?spoilt", expected)
            assert re.search(r"codehost.commits ?\d+ the same ?codehost", expected)


def test_more_episodes_than_a_page_shows_are_on_the_next(made: Path) -> None:
    browser = Browser([ListedEntry(made)] * 205)
    first, rest = browser.runs({}), browser.runs({"from": "200"})
    browser.close()
    assert (
        "201 to 205 of 205" in text_of(rest),
        first.count('<a href="/'),
        rest.count('type="checkbox"'),
    ) == (
        True,
        200 + 1,
        5,
    )
    assert 'href="/?from=200"' in first


def test_without_the_key_nothing_is_shown(failed: Path) -> None:
    with asking(failed) as get:
        for path in ("/", "/0/", "/0/evidence", "/0/calls/1"):
            assert "Mesocosm" not in get(path, 403, cookie="wrong")
        assert get("/?key=key", 303, cookie="") == "/0/"
        get("/0/", 400, host="elsewhere.example")
        get("/0/fork", 403, data={}, cookie="")


def test_answers_are_hidden_on_request(failed: Path) -> None:
    with asking(failed, answers=False) as get:
        pages = links_of(get)
    text = text_of("".join(pages.values()))
    assert "Why it failed" not in text
    assert "◆ evidence" not in text
    assert not [path for path in pages if path.startswith(("/0/derivations", "/0/evidence"))]
    with asking(failed, answers=False) as get:
        assert "never delivered" not in get("/0/derivations")
        assert "◆ 1" not in get("/0/evidence")


def test_tools_are_called_by_hand_in_a_copy(failed: Path) -> None:
    with asking(failed) as get:
        assert get("/0/fork", 303, data={}) == "/1/tools"
        assert get("/1/tools/email/search_emails", 303, data={"query": "slides"}) == "/1/calls/6"
        assert "email.search_emails" in get("/1/calls/6")
        refused = get("/1/tools/email/read_email", 303, data={"email_id": "999999"})
        assert "✗ refused" in get(refused)
        get("/1/tools/email/no_such_tool", 404, data={})
        get("/0/tools/email/search_emails", 404, data={"query": "slides"})
        assert len(re.findall("<tr class", get("/0/calls"))) == 5


def test_an_instance_shows_its_world_before_a_run(made: Path) -> None:
    with asking(made) as get:
        pages = links_of(get, most=25)
        assert "Why it failed" not in pages["/0/"]
        assert not [path for path in pages if path.startswith(("/0/calls", "/0/changes"))]
        assert "28" in get("/0/evidence")


def test_an_episode_is_seen_while_it_is_served(made: Path) -> None:
    path = made.parent / "served"
    episode = Episode.create(path / "episode", made, load_family("course_assistant"))
    Direct(episode.world).call("email", "get_emails")
    with asking(path) as get:
        assert "email.get_emails" in get("/0/calls")
    Direct(episode.world).call("email", "get_folders")
    episode.close()
    with asking(path) as get:
        assert "email.get_folders" in get("/0/calls")


def test_what_is_sought_is_found_and_marked(failed: Path) -> None:
    with asking(failed) as get:
        page = get("/0/search?q=Real+Analysis")
        assert "<mark" in page
        [first] = re.findall(r'<a href="(/0/world[^"]+)"', page)[:1]
        assert re.search('<mark[^>]*class="[^"]*found"', get(unescape(first)))
        assert "&lt;script&gt;" in get("/0/search?q=%3Cscript%3E")


def test_several_runs_are_filtered(failed: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    for name in ("reference", "none"):
        run_task(load_family("listworld"), WantedRun(8_000), Actor(name), out / name)  # type: ignore[arg-type]
    entries = entries_of(out)
    assert [one.row["verdict"] for one in entries] == ["failed", "passed"]
    browser = Browser(entries)
    assert browser.runs({}).count("<td>listworld") + browser.runs({}).count(">listworld</a>") == 2
    assert "passed</span>" not in browser.runs({"verdict": "failed"})
    browser.close()
    with pytest.raises(UsageError, match="holds no instance"):
        entries_of(failed / "episode" / "world" / "workspace")
    [sample] = [one for one in read_samples([out]) if one.verdict == "failed"]
    written = write_files([sample], tmp_path / "report", 10, Processes(1), lambda _: None)
    assert written == {str(out / "none"): "episodes/1.html"}
    assert b"Why it failed" in (tmp_path / "report" / "episodes" / "1.html").read_bytes()


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser takes each world for one in which it takes long to work out why it failed."""
    monkeypatch.setattr("mesocosm.evaluation.browser.subject.SMALL", 0)


@pytest.mark.usefixtures("long")
def test_pages_of_a_long_world_are_shown_while_it_is_worked_out_why_it_failed(failed: Path) -> None:
    browser = Browser([ListedEntry(failed)])
    try:
        browser.work_out(0)
        [working] = browser._working.values()
        working.process.send_signal(signal.SIGSTOP)
        pages = browser.pages(0)[1]
        assert "Work out why it failed" in pages.overview({})
        assert "Calls" in pages.calls({})
        working.process.send_signal(signal.SIGCONT)
        browser.await_why(0)
        _, pages = browser.pages(0)
        page = text_of(pages.overview({}))
        assert summary(failed)["why"] in page
        assert "The first wrong call:" in text_of(pages.call(4, {}))
    finally:
        browser.close()
    assert working.process.returncode == 0


@pytest.mark.usefixtures("long")
def test_what_breaks_while_it_is_worked_out_why_it_failed_is_said_on_the_page(
    failed: Path, tmp_path: Path
) -> None:
    gone = shutil.copytree(failed, tmp_path / "gone")
    browser = Browser([ListedEntry(failed), ListedEntry(gone)])
    said = []
    try:
        for number in range(2):
            browser.pages(number)
        shutil.rmtree(gone)
        browser.work_out(0)
        browser._working[0].process.kill()
        for number in range(2):
            browser.await_why(number)
            said.append(text_of(browser.pages(number)[1].overview({})))
    finally:
        browser.close()
    words = "Why it failed It could not be worked out: "
    assert f"{words}the process for it ended by SIGKILL" in said[0]
    assert f"{words}{gone} holds no instance, episode or run" in said[1]


@pytest.mark.usefixtures("long")
def test_python_beside_a_task_is_trusted_where_it_is_worked_out_why_it_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "")
    task = Path(__file__).parents[1] / "yaml_tasks" / "stock_value.yaml"
    trust(str(task))
    family = load_family(str(task))
    build_instance(family, 0, tmp_path / "instance", target=4_000)
    Episode.create(tmp_path / "episode", tmp_path / "instance", family).close()
    browser = Browser([ListedEntry(tmp_path)])
    try:
        browser.await_why(0)
        page = text_of(browser.pages(0)[1].overview({}))
    finally:
        browser.close()
    assert re.search(r"Why it failed .*First finding: totals_missing \(report\.totals\)", page)


@pytest.mark.usefixtures("long")
def test_a_browser_that_is_closed_ends_what_works_out_why_it_failed(failed: Path) -> None:
    browser = Browser([ListedEntry(failed)])
    folder = Path(browser._folder.name)
    browser.work_out(0)
    [working] = browser._working.values()
    working.process.send_signal(signal.SIGSTOP)
    browser.close()
    assert working.process.returncode == -signal.SIGKILL
    assert not folder.exists()


def test_an_exported_file_holds_its_pages_as_data(failed: Path) -> None:
    html = export(failed).decode()
    data = html.split('id="pages">')[1].split("</script>")[0]
    assert "<" not in data
    pages = json.loads(data)
    assert {"/0/", "/0/calls", "/0/calls/4", "/0/evidence", "/0/world/now/email/"} <= pages.keys()
    assert "sha256-" in html
    assert "unsafe-inline" not in html


def test_a_run_of_other_code_is_refused_and_says_what_made_it(tmp_path: Path) -> None:
    words = ("--length", "8k", "--agent", "none", "--out", "run", "--json")
    assert commands.mesocosm("run", "visit_calendar", *words, cwd=tmp_path).returncode == 1
    with closing(sqlite3.connect(tmp_path / "run/episode/world/calendar.db")) as db:
        db.execute("ALTER TABLE events RENAME COLUMN conference TO added_later")
    made = json.loads((tmp_path / "run/made-with.json").read_text())["the code of mesocosm"][:12]
    for command in ("look", "grade"):
        done = commands.mesocosm(command, "run", cwd=tmp_path)
        said = " ".join(done.stderr.split())
        assert done.returncode == 2, (command, said)
        assert "another version of Mesocosm (no such column: events.conference)" in said
        assert made in said
    assert not (tmp_path / "run/look.html").exists()


def test_the_commands_serve_pages_and_write_a_file(made: Path, tmp_path: Path) -> None:
    """Of an instance on disk, and of an episode of a server while it is served."""
    with commands.Started("view", made, "--no-open") as process:
        address = process.stdout.readline().strip()
        assert "What the agent is asked" in httpx2.get(address, follow_redirects=True, timeout=PATIENCE).text
        assert httpx2.get(address.partition("?")[0], timeout=PATIENCE).status_code == 403
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) in (0, 130)
    app = Hosting(tmp_path / "state", admin_token="t" * 32)
    with serving(app) as base:
        id_ = app.pool.adopt(made, load_family("course_assistant"))
        out = tmp_path / "look.html"
        asked = ("look", id_, "--server", base, "-o", out, "--pages", 5)
        refused = commands.mesocosm(*asked, MESOCOSM_ADMIN_TOKEN="wrong")
        assert refused.returncode != 0
        assert not out.exists()
        done = commands.mesocosm(*asked, MESOCOSM_ADMIN_TOKEN="t" * 32)
        assert done.returncode == 0, done.stderr
    assert len(json.loads(out.read_text().split('id="pages">')[1].split("</script>")[0])) == 5


# -- what misled people -----------------------------------------------------------------------------------


class Otherwise(Direct):
    """The tools in the hands of somebody who does one thing otherwise: ``otherwise`` changes the arguments of
    a call, or returns None for one that is not made."""

    def __init__(self, world: Any, otherwise: Callable[[str, dict[str, Any]], dict[str, Any] | None]) -> None:
        super().__init__(world)
        self._otherwise = otherwise

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> Any:
        changed = self._otherwise(tool, arguments)
        return ["{}"] if changed is None else super().look(service, tool, changed)


def failed_in(
    folder: Path,
    task: str,
    otherwise: Callable[[str, dict[str, Any]], dict[str, Any] | None],
    *,
    seed: int = 1,
    length: int = 8_000,
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Points, by title, of a run in which all is read, and all done but for one thing."""
    family = load_family(task)
    build_instance(family, seed, folder / "instance", target=length)
    episode = Episode.create(folder / "run" / "episode", folder / "instance", family)
    expected = episode.expected()
    family.survey(Otherwise(episode.world, otherwise), expected)
    family.solve(Otherwise(episode.world, otherwise), episode.prompt, expected)
    episode.close()
    told = summary(folder / "run")
    assert told["verdict"] == "failed"
    return told, {point["about"]: point["says"] for point in told["points"]}


def test_what_was_left_out_is_named_with_the_texts_that_ask_for_it(tmp_path: Path) -> None:
    """A deletion that is missing is called one; a text is quoted to its end."""
    left: list[str] = []

    def otherwise(tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        if tool == "create_event" and not left:
            left.append(arguments["summary"])
            return None
        return None if tool == "delete_event" else arguments

    _, points = failed_in(tmp_path, "set_conf_cr_ddl", otherwise, seed=21, length=16_000)
    against = points["Against what the reference solver does"]
    assert f"missing: {left[0]}" in against
    assert [one for one in against if re.match(r"not deleted: .+ \(status: “confirmed” should have", one)]
    conference = re.search(r"[A-Z]+ \d{4}", left[0])
    assert conference
    texts = points[f"What is told of {conference[0]}"]
    assert [
        one for one in texts if re.search(r"mail “.+” by .+@.+ of \d{4}-.+” \(delivered by call \d+\)", one)
    ]
    with asking(tmp_path / "run") as get:
        page = text_of(get("/0/evidence"))
        pieces = load_family("set_conf_cr_ddl").read_expected(
            (tmp_path / "run/episode/expected.json").read_bytes()
        )
        short = [
            one.contains for one in pieces.evidence if one.service == "email" and len(one.contains) < 1_000
        ]
        assert len(short) > 5
        assert not [one for one in short if " ".join(one.split()) not in page]


def test_values_that_stand_in_several_places_are_brought_together(tmp_path: Path) -> None:
    wrong: list[str] = []

    def otherwise(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if tool == "write_file" and not wrong:
            head, first, *rest = arguments["content"].split("\n")
            wrong.append(first.partition(",")[0])
            arguments = arguments | {"content": "\n".join([head, f"{first.rpartition(',')[0]},1.00", *rest])}
        return arguments

    _, points = failed_in(tmp_path, "refund_list", otherwise)
    told = points[f"What is told of {wrong[0]}"]
    assert {one.partition(" “")[0] for one in told} >= {"mail", "order"}
    [line] = points["Against what the reference solver does"]
    assert re.search(rf"refunds.csv \(content: “{wrong[0]},.+,1\.00”, not “{wrong[0]},.+”\), call \d+$", line)


def test_where_something_is_missing_the_last_right_call_is_told_and_none_is_wrong(tmp_path: Path) -> None:
    made: list[str] = []

    def otherwise(tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        if tool == "create_event":
            made.append(arguments["summary"])
        return None if tool == "create_event" and len(made) == 2 else arguments

    told, _ = failed_in(tmp_path, "visit_calendar", otherwise)
    assert f"Nothing wrong was done; {made[1]} is missing. The last right call is number" in told["why"]
    assert "first wrong call" not in told["why"]
    assert told["first_wrong"] is None
    with asking(tmp_path / "run") as get:
        assert "first wrong call" not in text_of(get("/0/calls"))


def test_a_value_that_is_right_for_the_neighbour_is_said_to_be(tmp_path: Path) -> None:
    made: list[dict[str, Any]] = []

    def otherwise(tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        if tool == "create_event":
            made.append(arguments)
            if len(made) == 2:
                return arguments | {name: made[0][name] for name in ("start", "end")}
        return arguments

    _, points = failed_in(tmp_path, "visit_calendar", otherwise)
    told = "\n".join(points["Against what the reference solver does"])
    assert f": which is right for {made[0]['summary']})" in told, told


@pytest.mark.parametrize(
    ("got", "expected", "how"),
    [
        ("1243", "1234", "two digits stand in each other's place"),
        ("12", "13", "one too few"),
        ("1250", "12.5", "a hundred times it"),
        ("-4.5", "4.5", "the negative of it"),
        ("2025-03-04", "2025-03-05", "one day early"),
        ("2025-05-03", "2025-03-05", "day and month are exchanged"),
        ("2025-04-05", "2025-03-05", "one month late"),
        ("2025-03-05T11:00:00Z", "2025-03-05T10:00:00Z", "one hour late"),
        ("Meier", "meier", "in other capitals"),
        ("Mieer", "Meier", "two characters stand in each other's place"),
        ("AB-1723", "AB-1728", "“3” for “8”"),
        ("Meer", "Meier", "one character is missing"),
        ("B-17,Ann Lee,21.50", "B-17,Ann Lee,12.50", "two digits stand in each other's place"),
        ("blue", "a heron", ""),
        ("7", "12", ""),
    ],
)
def test_how_a_wrong_value_came_from_the_right_one(got: str, expected: str, how: str) -> None:
    assert slip_of(got, expected) == how
    [found, *_] = [*slips_in([f"Ann: total: got {got}, expected {expected}; Bo: got a, expected zz"]), ""]
    assert found == (f"Ann: total: “{got}” for “{expected}”: {how}" if how else "")


def test_values_with_names_in_them_are_told_by_their_names() -> None:
    value = {"to": "ann@example.com", "at": {"day": 3, "month": 4}, "cc": None, "parts": [{"a": 1}, {"a": 2}]}
    assert named_values(value) == "to: ann@example.com, at: (day: 3, month: 4), parts: a: 1; a: 2"
    deep: Any = 1
    for _ in range(10_000):
        deep = {"x": deep}
    assert named_values(deep).endswith("x: ...")


def test_a_name_that_was_misspelt_in_a_refused_call_is_told(tmp_path: Path) -> None:
    family = load_family("bug_triage")
    build_instance(family, 1, tmp_path / "instance", target=family.task.lengths[0])
    episode = Episode.create(tmp_path / "run" / "episode", tmp_path / "instance", family)
    tools = Direct(episode.world)
    repository = re.search(r'repository "([\w-]+)"', episode.prompt)
    assert repository
    found = tools.call("codehost", "search_repositories", query=repository[1])
    owner = found["items"][0]["full_name"].partition("/")[0]
    of = {"repo": repository[1], "issue_number": 1}
    tools.call("codehost", "list_issues", owner=owner, repo=repository[1])
    for _ in range(2):
        with pytest.raises(ToolError):
            tools.call("codehost", "issue_write", method="update", owner=f"{owner}s", labels=["a"], **of)
    episode.close()
    said = f"owner “{owner}s” stands in nothing that was delivered before; with “{owner}”, 1 call worked."
    points = {point["about"]: point["says"] for point in summary(tmp_path / "run")["points"]}
    assert points["Call 4 was refused"] == [said]
    with asking(tmp_path / "run") as get:
        assert said in text_of(get("/0/calls/3"))
        assert "= codehost_unchanged" in text_of(get("/0/")), "which held before anything was done"


def test_the_writer_of_an_unread_mail_is_told_and_that_it_was_listed(tmp_path: Path) -> None:
    unread: list[str] = []
    wrote: list[str] = []

    def otherwise(tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        if tool == "read_email" and not unread:
            unread.append(arguments["email_id"])
            return None
        if tool == "create_event" and not wrote:
            wrote.append(arguments["summary"])
            arguments = arguments | {"summary": "Visit: Nobody (Nowhere)"}
        return arguments

    # Of this seed, the first mail that is read is evidence.
    told, points = failed_in(tmp_path, "visit_calendar", otherwise, seed=1)
    named = r"mail “.+” by .+@.+ of \d{4}-\d\d-\d\d, listed by call \d+ and never opened, “"
    assert re.search(named, told["why"]), told["why"]
    assert points


# -- in a browser ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(failed: Path, made: Path) -> Iterator[str]:
    """The address of the application, served for real."""
    browser = Browser([ListedEntry(failed), ListedEntry(made)])
    config = uvicorn.Config(application(browser, "key"), port=0, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    listener = config.bind_socket()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    listener.close()
    browser.close()


@contextmanager
def page_of(chromium: Any, **options: Any) -> Iterator[Any]:
    """A page of which every complaint of the browser is an error."""
    with ExitStack() as stack:
        context = chromium.new_context(**options)
        stack.callback(context.close)
        page = context.new_page()
        said: list[str] = []
        page.on("console", lambda one: said.append(one.text) if one.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        yield page
        assert not said


PLACES = (
    "",
    "world/now/email/",
    "world/now/files/",
    "calls",
    "calls/4",
    "changes?against=1",
    "evidence",
    "derivations",
    "people",
    "events",
    "tools",
)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 420)])
def test_pages_fit_a_browser_in_light_and_dark(chromium: Any, address: str, scheme: str, width: int) -> None:
    with page_of(chromium, viewport={"width": width, "height": 900}, color_scheme=scheme) as page:
        page.goto(f"{address}/?key=key")
        assert "key=" not in page.url
        grounds = set()
        for place in PLACES:
            page.goto(f"{address}/0/{place}")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
                f"{place} scrolls sideways"
            )
            assert page.title() != "taken"
            grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert grounds == ({"rgb(255, 255, 255)"} if scheme == "light" else {"rgb(20, 23, 26)"})


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_everybody_can_use_the_pages(chromium: Any, address: str, scheme: str) -> None:
    """As far as axe-core can tell: names, roles, contrasts, headings."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    with page_of(chromium, viewport={"width": 1280, "height": 900}, color_scheme=scheme) as page:
        page.goto(f"{address}/?key=key")
        for place in ("/", *(f"/0/{place}" for place in PLACES), "/0/search?q=presentation"):
            page.goto(f"{address}{place}")
            found = axe.run(page).response["violations"]
            assert not found, [
                (place, one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found
            ]


def test_a_run_is_gone_through_by_keyboard(chromium: Any, address: str) -> None:
    with page_of(chromium) as page:
        page.goto(f"{address}/?key=key")
        page.goto(f"{address}/0/")
        page.get_by_role("link", name="Go to the first wrong call").press("Enter")
        page.wait_for_url("**/calls/4")
        page.keyboard.press("p")
        page.wait_for_url("**/calls/3")
        page.keyboard.press("n")
        page.wait_for_url("**/calls/4")
        page.keyboard.press("/")
        page.keyboard.type("slides")
        page.keyboard.press("Enter")
        page.wait_for_url("**/search?q=slides")
        page.locator(".results a").first.press("Enter")
        page.wait_for_url("**/world/now/**")
        assert page.locator("mark.found").count()


def test_what_an_agent_wrote_is_text_in_a_browser(chromium: Any, address: str) -> None:
    with page_of(chromium) as page:
        page.goto(f"{address}/?key=key")
        page.goto(f"{address}/0/calls/4")
        assert "<script>" in page.locator("pre").first.inner_text()
        page.goto(f"{address}/0/world/now/email/")
        page.get_by_role("link", name=re.compile("^Sent")).first.click()
        page.get_by_role("link", name=re.compile("<script>")).click()
        assert "<script>" in page.locator("article").first.inner_text()
        assert page.title().startswith("<script>")
        assert not page.locator("main img").count()


def test_the_exported_file_is_browsed_without_a_network(chromium: Any, failed: Path, tmp_path: Path) -> None:
    path = tmp_path / "look.html"
    with ThreadPoolExecutor() as pool:  # Playwright has a loop of its own in this thread
        path.write_bytes(pool.submit(export, failed).result())
    with page_of(chromium, offline=True) as page:
        page.goto(path.as_uri())
        assert "Why it failed" in page.inner_text("main")
        page.get_by_role("link", name="Go to the first wrong call").click()
        page.locator("h1", has_text="Call 4").wait_for()
        page.keyboard.press("p")
        page.locator("h1", has_text="Call 3").wait_for()
        page.fill("input[type=search]", "Real Analysis")
        page.press("input[type=search]", "Enter")
        assert page.locator(".results a").count() > 3
        page.locator(".results a").first.click()
        page.locator("mark, h1").first.wait_for()
        # Links of pages to what is found look the same up in the file.
        page.evaluate("location.hash = encodeURIComponent('/0/search?q=Real%20Analysis')")
        page.locator("h1", has_text="pages have “Real Analysis”").wait_for()
        assert page.locator(".results a").count() > 3
