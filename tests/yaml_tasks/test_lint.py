"""What `mesocosm lint` finds in a task file, and that it finds nothing in those that ship."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from commands import mesocosm
from typer.testing import CliRunner

from mesocosm.cli.commands import app
from mesocosm.families.family import family_names, load_family, task_path
from mesocosm.kits.yaml_tasks.lint import lint
from mesocosm.kits.yaml_tasks.schema import starting_file

WRITTEN = [name for name in family_names() if load_family(name).task.is_written]
START = Path(__file__).with_name("whole.yaml").read_text()
"""The file to start from, with all that follows of itself."""


def complaints(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "task.yaml"
    path.write_text(text)
    return [str(complaint).removeprefix(f"{path}, ") for complaint in lint(path)]


@pytest.mark.parametrize("name", WRITTEN)
def test_tasks_that_ship_have_no_complaints_and_are_short(name: str) -> None:
    assert lint(task_path(name)) == []
    assert len(task_path(name).read_text().splitlines()) < 400


def test_the_file_to_start_from_has_no_complaints(tmp_path: Path) -> None:
    assert complaints(tmp_path, START) == []
    assert complaints(tmp_path, starting_file()) == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("spoken(arrives)", "spoken(arives)", ["line 53", "unknown name 'arives'", "arrives"]),
        ("subject: Delivery, body: {lines", "subject: Arrival, body: {lines", ["warning", "'Arrival'"]),
        ("See you on {agreed}\"}}", "See you on {agreed} {nonce}\"}}", ["unknown name 'nonce'"]),
        ("    cases: [lost]\n", "    cases: [moved]\n", ["no evidence tells", "plain", "lost"]),
        ("spoken(new_time)} is what", "wrote} is what", []),
        ("  email.mail: {topics", "  email.male: {topics", ["email.male", "possible: ", "email.mail"]),
        ("share: 4", "share: -4", ["line 38", "entities.delivery.cases.plain.share", "greater than 0"]),
        ("{faker: name, unique: true}", "{faker: names}", ["no provider 'names'", "street_address"]),
        ("now - 9d", "now - 9x", ["entities.delivery.fields.wrote", "9x"]),
        ("claim_done.claim_done: {}", "claim_done.claim: {}", ["no tool 'claim'", "claim_done"]),
        ("to: \"{email}\", subject: Delivery, body: \"Hello", "two: \"{email}\", body: \"Hello",
         ["unknown argument", "'subject' is required"]),
        ("count: size", "number: size", ["unknown key; possible: count, parent, fields"]),
        ("hours: [7", "hours: [25, 7", ["arrives: moment.hours.0", "less than or equal to 23, found 25"]),
        ("share: 4", "share: .inf", ["plain.share", "finite number, found inf"]),
        ("{lines: \"See you on {agreed}\"}", "{matches: \"(a+\"}", ["body.matches: '(a+' is no pattern"]),
        (
            "{lines: \"See you on {agreed}\"}",
            "{matches: \"(\\\\pL{100}){9}\"}",
            ["is no pattern: pattern too large"],
        ),
        ("servers: {email: all", "servers: {emial: all", ["line 14: error: servers.emial", "email, excel"]),
        ("evidence:\n", "  box: {parent: delivery, count: 900, fields: {n: 1}}\n"
         "  part: {parent: box, count: {from: 1, to: 900}, fields: {n: 1}}\nevidence:\n",
         ["entities.part.count: up to 810,000 of part belong to one"]),
        ("evidence:\n", "  a: {parent: b, count: 1, fields: {n: 1}}\n"
         "  b: {parent: a, count: 1, fields: {n: 1}}\nevidence:\n",
         ["entities.a.parent: a circle: a -> b -> a"]),
        ("{lines: \"See", "{line: \"See", ["body.line: no way to judge", "contains, without, lines"]),
        ("servers: {email: all", "needed: {email: [send]}\nservers: {email: all",
         ["needed.email: email has no tool 'send'"]),
        ("servers: {email: all", "servers: {email: [send]", ["servers.email: email has no tool 'send'"]),
        ("lengths: [", "survey: {email: {folder: [Sent]}}\nlengths: [",
         ["survey.email.folder: no such", "folders"]),
        ("8k: 6", "8k: 2", ["line 17", "2 of delivery are too few", "plain, moved, lost"]),
        ("8k: 6", "8k: six", ["growth.points", "found 'six'"]),
        ("around: [0, 120]", "around: [0, 120], course: lecture",
         ["email.mail.course: unknown name 'lecture'"]),
        ("around: [0, 120]", "around: [120, 0]", ["around: found [120, 0]", "such as [0, 120]"]),
        ("wrote: {moment", "dock: {choice: [1, 2, 3], unique: true}\n      wrote: {moment",
         ["entities.delivery.fields.dock", "800 of delivery, and only 3 values"]),
        ("name: {faker: name}\n", "name: &stores {faker: name}\n", ["stands above already"]),
        ("now + 1d", "now + 1days",
         ["'days' cannot follow what", "spans are written 2w, 2d, 2h", "not 1days"]),
        ("choice: &stores [Ash", "choice: Ash, unlike: &stores [Ash",
         ["me.fields.store: choice: found Ash; values are a list, [bachelor, master], or have weights"]),
        ("8k: 6", "8k: 60", ["must not fall", "60 at 8,000, 50 at 64,000"]),
        ("growth: {parameter", "growth: {param",
         ["growth.param: unknown key; known keys: parameter, points"]),
        ("date: \"{wrote}\"", "date: {wrote}", ["begins with a brace stands in quotes: \"{wrote}\""]),
        ("title: Confirm", "title: Mails: confirm", ["line 2", "a text with a colon in it stands in quotes"]),
        ("now - 9d, before: now - 5d", "now + 3d, before: now + 4d", ["email.mail.date", "is still to come"]),
        ("from: \"{name} <{email}>\"", "from: \"{name}\"",
         ["email.mail: ", "no address; write Ann Lee"]),
        ("See you on {agreed}\\n", "See you on {agreed + 2h.clock()}\\n",
         ["clock of a span of time", "what is in brackets comes first: (start + 2h).clock()"]),
        ("  - for: delivery\n    cases: [lost]", "  - for: me", ["of me there is only one: leave `for` out"]),
        ("evidence:\n", "  truck: {count: 3, fields: {plate: {faker: license_plate}}}\nevidence:\n"
         "  - for: truck\n    email.mail: {from: a@b.example, date: \"{now}\", body: \"{plate}\"}\n",
         ["evidence.0: the goal needs no truck: say `matters: false`"]),
        ("wrote: {moment", "n: {number: {from: 1, to: 1e400}}\n      wrote: {moment",
         ["line 34: error: entities.delivery.fields.n: number.to: a number beyond 1e+15"]),
        ("share: 4", "share: 0", ["plain.share: Input should be greater than 0, found 0\n1 in all"]),
        ("lengths: [", "world: {zone: []}\nlengths: [", ["world.zone: List should have at least 1 item"]),
        ("lengths: [", "parameters: {me: 5}\nlengths: [", ["parameters.me: 'me' is an entity already"]),
        ("lengths: [", "family: other\nlengths: [", ["family: found 'other'", "leave this out"]),
        ("1m: 800}", "1m: 80000}", ["growth.points: at a length of 1,000,000 there are 80,000 of delivery"]),
        ("name: {faker: name, unique: true}\n      email: \"{name.handle()}{index}@",
         "name: {choice: [Ann Lee, Bob Ray]}\n      email: \"{name.handle()}@",
         ["evidence.1: nothing says whether it is about delivery ",
          ": what else is told of both has the same email, name; add a field"]),
        ("count: size", "count: 12", ["warning: growth.parameter: no count, share or weight names 'size'"]),
        ("You are {me.name}", "You are ${me.name}", ["warning: prompt: '$", "write {me.name} without one"]),
        ("evidence:\n  - for: delivery\n", "evidence:\n  - for: delivery\n    as: name\n",
         ["evidence.0.as: 'name' is a field of delivery"]),
        ("subject: Delivery, body: {lines", "subject: {one_of: []}, body: {lines",
         ["subject.one_of: found []"]),
        ("evidence:\n", "  a: {count: 50000, fields: {n: 1}}\n"
         "  b: {parent: a, count: 1000, fields: {n: 1}}\nevidence:\n",
         ["entities.b.count: there are more than 200,000 of b"]),
        ("store: {choice: &stores", "store: \"{(delivery.first()).store}\"\n      town: {choice: &stores",
         ["a circle: me.store -> delivery.store -> me.store"]),
        ("  delivery:\n    count", "  box: &box {count: 2, fields: {n: 1}}\n  crate: {<<: *box, count: 3}\n"
         "  delivery:\n    count", ["0 in all"]),
        ("*stores", "*shops", ["found undefined alias 'shops'\n1 in all"]),
        ("version: 1", "version: 2025-13-45", ["line 1", "'2025-13-45' cannot be read: month must be in"]),
        ("title: Confirm the", "title: !!set {a, b} #", ["line 2", "kind !!set has no place"]),
        ("title: Confirm the", "title: \"\\0\" #", ["line 2", "'\\x00' can stand in no text"]),
        ("title: Confirm the", "title: \"\\ud800\" #", ["line 2", "'\\ud800' can stand in no text"]),
    ],
)  # fmt: skip
def test_complaints_name_line_and_key_and_what_is_possible(
    old: str, new: str, words: list[str], tmp_path: Path
) -> None:
    assert old in START
    complained = complaints(tmp_path, START.replace(old, new))
    found = "\n".join([*complained, f"{len(complained)} in all"])
    for word in words:
        assert word in found


def test_a_field_that_no_evidence_tells_is_found(tmp_path: Path) -> None:
    text = START.replace("      wrote:", "      bay: {number: {from: 1, to: 9}}\n      wrote:", 1)
    text = text.replace('{lines: "See you on {agreed}"}', '{lines: "See you on {agreed} at {bay}"}')
    found = "\n".join(complaints(tmp_path, text))
    assert "entities.delivery.fields.bay" in found
    assert "no evidence tells it" in found


def test_what_a_field_can_never_be_is_an_error(tmp_path: Path) -> None:
    goal = "  - calendar.event: {summary: Delivery, start: soon, transparency: {one_of: [opaque, busy]}}\n"
    text = START.replace("goal:\n", f"goal:\n{goal}").replace("{email: all", "{email: all, calendar: all")
    found = "\n".join(complaints(tmp_path, text))
    assert "error: goal.0.calendar.event.start: 'soon' is no date" in found
    assert "transparency: 'busy' is not possible; possible: opaque, transparent" in found


def test_names_of_an_unknown_entity_are_one_complaint(tmp_path: Path) -> None:
    text = START.replace("  - for: delivery\n    cases: [lost]", "  - for: deliveries\n    cases: [lost]")
    assert len(complaints(tmp_path, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1 or ''}, *a{n - 1 or ''}]\n" for n in range(1, 40)),
        "entities: &f\n  me: *f\n",
        "[" * 5000,
        "a: " + "9" * 10_000,
        "a: !!python/object/apply:os.system [ls]",
        "\x00",
        "- 1",
        "a: [" + "1, " * 200_000 + "]",
        "",
        "entities: {me: 3}\n",
    ],
)
def test_a_file_that_is_no_task_is_refused_at_once(text: str, tmp_path: Path) -> None:
    assert complaints(tmp_path, text)


def test_new_writes_a_file_and_lint_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["new", "mine"]).exit_code == 0
    assert CliRunner().invoke(app, ["lint", "mine.yaml"]).exit_code == 0
    Path("mine.yaml").write_text(START.replace("spoken(arrives)", "spoken(x)"))
    found = CliRunner().invoke(app, ["lint", "mine.yaml", "--json"])
    assert found.exit_code == 1
    assert '"line":53' in found.stdout


@pytest.mark.parametrize(
    "pattern",
    ["(" * 20_000 + "a" + ")" * 20_000, "(a+" * 5_000, "[" * 50_000, "((a{9}){9}){9}" * 500, "(?:" * 20_000],
    ids=["groups", "open groups", "sets", "counts", "marks"],
)
def test_a_deep_pattern_is_a_complaint_and_no_traceback(tmp_path: Path, pattern: str) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(START.replace('{lines: "See you on {agreed}"}', f"{{matches: '{pattern}'}}"))
    ran = mesocosm("lint", path)
    assert ran.returncode == 1
    assert "is no pattern" in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stdout + ran.stderr
    assert len(ran.stdout + ran.stderr) < 5_000


def test_a_lint_loads_neither_databases_nor_what_makes_files() -> None:
    code = (
        "import sys; from pathlib import Path; from mesocosm.kits.yaml_tasks.lint import lint\n"
        f"assert not lint(Path({str(task_path('visit_calendar'))!r}))\n"
        "print(sorted({'sqlalchemy', 'pypdf', 'openpyxl', 'mcp'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_whatever_is_changed_or_removed_is_known_by_its_id_alone(tmp_path: Path) -> None:
    text = (Path(__file__).with_name("proofs") / "appointments.yaml").read_text()
    stated = """
  - for: appointment
    as: entry
    calendar.event: {summary: "{name}", start: "{begins}"}
noise:
"""
    goal = """
  - for: appointment
    cases: [off]
    how: %s
    calendar.event: {id: "{entry.id}"%s}
solution:
"""
    for how, fields, right in (
        ("remove", "", True), ("change", ', end: "{begins + 1h}"', True), ("change", "", False),
    ):  # fmt: skip
        changed = text.replace("\nnoise:\n", stated).replace("\nsolution:\n", goal % (how, fields))
        found = [one for one in complaints(tmp_path, changed) if ": error: " in one]
        assert [one.partition("nothing beside 'id': ")[2] for one in found] == (
            [] if right else ["say what it is to be changed to"]
        )
