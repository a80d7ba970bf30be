"""Scoring answers that were made elsewhere: score longproc, score agentlongbench."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import orjson
import typer

from mesocosm.cli.application import app
from mesocosm.cli.options import AsJson
from mesocosm.cli.output import err, out, print_json, progress

score_app = typer.Typer(no_args_is_help=True, help="Score answers to the rows of a dataset.")
app.add_typer(score_app, name="score")


@score_app.command("longproc")
def longproc(
    data: Annotated[Path, typer.Argument(help="The dataset that `dataset longproc` wrote.")],
    answers: Annotated[
        Path,
        typer.Argument(
            help='JSON lines {"id": ..., "answer": ..., "model": ...}; the model may be left out.'
        ),
    ],
    rule: Annotated[
        Literal["strict", "paper"],
        typer.Option(
            help="Comparison: exact text, or as in the paper (ignoring case, punctuation, blanks and "
            "the names of a table's header)."
        ),
    ] = "strict",
    to: Annotated[Path | None, typer.Option("--out", help="File for one score per line (.jsonl).")] = None,
    as_json: AsJson = False,
) -> None:
    """Judge answers: whether the result and the text are right, and where the text first deviates.

    Programs are run in the sandbox. `report longproc` makes tables and curves of the scores.
    """
    from mesocosm.evaluation.procedures import HEAD, rows_of, tabulate
    from mesocosm.evaluation.table_files import printed
    from mesocosm.kits.procedures.rows import (
        ProcedureAnswer,
        read_lines,
        read_rows,
        score_answers,
        write_rows,
    )

    rows = read_rows(data)
    given = list(read_lines(answers, ProcedureAnswer))
    scores = []
    with progress(len(given), "scoring") as advance:
        for score in score_answers(rows, given, rule):
            scores.append(score)
            advance("")
    if to:
        lines = (orjson.dumps(one.model_dump(), option=orjson.OPT_APPEND_NEWLINE) for one in scores)
        for _ in write_rows(lines, to):
            pass
    unjudged = [one for one in scores if one.unjudged]
    if unjudged:
        err.print(f"not judged: {len(unjudged)} of {len(scores)} answers ({unjudged[0].why})")
    if missing := len(rows.keys() - {one.id for one in given}):
        err.print(f"without an answer: {missing} of {len(rows)} rows")
    cells = tabulate(scores)
    if as_json:
        print_json(
            {"scores": [one.model_dump() for one in scores], "cells": [one.model_dump() for one in cells]}
        )
        return
    out.print(printed(HEAD, rows_of(cells)))


@score_app.command("agentlongbench")
def agentlongbench(
    dataset: Annotated[Path, typer.Argument(help="The folder that `dataset agentlongbench` wrote.")],
    predictions: Annotated[
        Path,
        typer.Argument(help='JSON lines {"id": ..., "reply": ...}, or "pred_answer" for the answer alone.'),
    ],
    model: Annotated[str, typer.Option(help="Name of the model in the report.")] = "model",
    to: Annotated[Path | None, typer.Option("--out", help="File for one score per line (.jsonl).")] = None,
    as_json: AsJson = False,
) -> None:
    """Judge answers about rollouts; every question of the dataset counts, answered or not."""
    from mesocosm.evaluation.rollouts import HEAD, rows_of, tabulate
    from mesocosm.evaluation.table_files import printed
    from mesocosm.kits.rollouts.dataset_files import read_questions
    from mesocosm.kits.rollouts.predictions import judge, read_predictions
    from mesocosm.worlds.workspace import replace_file

    rows = read_questions(dataset)
    scores = judge(rows, read_predictions(predictions, rows), model)
    if to:
        replace_file(to, b"".join(one.model_dump_json().encode() + b"\n" for one in scores))
    if missing := sum(one.missing for one in scores):
        err.print(f"without an answer: {missing} of {len(scores)} questions")
    cells = tabulate(scores)
    if as_json:
        print_json({"cells": [one.model_dump() for one in cells]})
    else:
        out.print(printed(HEAD, rows_of(cells)))
