"""What the paper's figures need: its names and rule, other prompts, inputs as long as its own."""

from __future__ import annotations

from statistics import fmean

import pytest

from mesocosm.errors import UsageError
from mesocosm.evaluation.procedures import tabulate
from mesocosm.kits.procedures import make_instance, read_procedures
from mesocosm.kits.procedures.answers import clean_lines, last_block
from mesocosm.kits.procedures.rows import ProcedureAnswer, make_row, make_rows, score_answers
from mesocosm.kits.procedures.upstream import write_folder
from mesocosm.solvers.longproc import answer_from


def test_procedures_have_the_papers_names_too() -> None:
    names = "html_to_tsv,pseudo_to_code,path_traversal,tom_tracking,countdown,travel_planning,routes"
    assert read_procedures(names.split(",")) == [
        "tables", "programs_cpp", "routes", "beliefs", "countdown", "travel",
    ]  # fmt: skip
    with pytest.raises(UsageError, match="there is no procedure 'html_to_csv'; there are tables"):
        read_procedures(["html_to_csv"])


@pytest.mark.parametrize(("name", "paper"), [("countdown", 5_600), ("travel", 6_000), ("tables", 38_000)])
def test_prompts_are_about_as_long_as_the_papers(name: str, paper: int) -> None:
    lengths = [make_row(name, 8_000, seed).input_tokens for seed in range(4)]
    assert 0.7 < fmean(lengths) / paper < 1.4


@pytest.mark.parametrize(
    ("name", "change", "strict", "paper"),
    [
        ("tables", lambda gold: gold.replace("\n", " \n").upper().replace("```TSV", "```tsv"), 0, 1),
        ("routes", lambda gold: gold.replace("take a", "Take  a").replace(".\n", "\n"), 0, 1),
        ("routes", lambda gold: gold.replace(" a bus ", " a train "), 0, 0),
        ("beliefs", lambda gold: gold.replace("; ", ", ").replace("True", "true"), 0, 1),
        ("countdown", lambda gold: gold.replace("Numbers", "numbers"), 1, 1),
    ],
)
def test_the_papers_rule_forgives_case_punctuation_and_blanks(
    name: str, change: object, strict: float, paper: float
) -> None:
    row = make_row(name, 300, 0)
    answer = change(row.gold)  # type: ignore[operator]
    assert (row.score(answer).value, row.score(answer, "paper").value) == (strict, paper)


def test_a_part_of_the_answer_is_asked_for_with_all_before_it_given() -> None:
    parts = make_rows("routes", 300, 0, "segments")
    whole = clean_lines(last_block(make_row("routes", 300, 0).gold, "Route") or "")
    assert [line for part in parts for line in clean_lines(last_block(part.gold, "Route") or "")] == whole
    third = parts[2]
    assert third.prompt.endswith("\n".join(clean_lines(last_block(parts[1].gold, "Route") or "")) + "\n")
    assert answer_from(third.prompt) == third.gold, "the scripted solver writes that part"
    assert third.score(third.gold).value == 1
    assert third.score("<Route>\n" + "\n".join(whole) + "\n</Route>").value == 1, "written from the beginning"
    wrong = third.score(third.gold.replace("From", "from", 1))
    assert (wrong.value, wrong.line) == (0, 1)


def test_without_the_procedure_only_the_result_counts() -> None:
    for name, word in (("countdown", "Solution"), ("travel", "Plan")):
        [row] = make_rows(name, 300, 1, "pairs")
        assert "search" not in row.prompt.lower()
        assert "<Search>" not in row.prompt
        assert row.score(make_instance(name, 300, 1).gold).exact, "a search does no harm"
        assert row.score(f"I think.\n{row.gold}").value == 1
        assert row.score(row.gold.replace(f"</{word}>", "")).value == 0
    with pytest.raises(UsageError, match="tables has no prompts of the kind 'pairs'"):
        make_rows("tables", 300, 0, "pairs")


def test_all_is_the_mean_of_tasks_whatever_language_they_are_in() -> None:
    rows = {
        row.id: row for name in ("programs", "programs_cpp", "routes") for row in [make_row(name, 300, 0)]
    }
    answers = [ProcedureAnswer(id="routes-300-s0", answer=rows["routes-300-s0"].gold)]
    cells = {cell.procedure: cell for cell in tabulate(list(score_answers(rows, answers)))}
    assert cells["all"].value == 0.5, "two tasks: one right, one without answers in both languages"


def test_trips_that_upstreams_loader_cannot_tell_apart_are_refused(tmp_path: object) -> None:
    made = [make_instance("travel", level, 0) for level in (300, 600)]
    with pytest.raises(UsageError, match="it would read 600 with 300 as one level"):
        write_folder("travel", made, tmp_path)  # type: ignore[arg-type]
