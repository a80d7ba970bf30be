"""Validation of quiz questions."""

from __future__ import annotations

from typing import Any

from mesocosm.errors import Invalid
from mesocosm.servers.canvas.store import values
from mesocosm.services.service import Row
from mesocosm.services.values import Checks

QUESTION_TYPES = (
    "calculated_question",
    "essay_question",
    "file_upload_question",
    "fill_in_multiple_blanks_question",
    "matching_question",
    "multiple_answers_question",
    "multiple_choice_question",
    "multiple_dropdowns_question",
    "numerical_question",
    "short_answer_question",
    "text_only_question",
    "true_false_question",
)
MAX_ANSWERS = 100


NEW_QUESTION: dict[str, Any] = {
    "question_name": "Question",
    "points_possible": 1.0,
    "answers": [],
}


def _checked_answer(number: int, answer: Row) -> dict[str, Any]:
    """An answer in Canvas's form; it is given as ``answer_text`` and so on, or as ``text`` and so on."""
    known: dict[str, Any] = {"id": number, "answer_text": "", "answer_weight": 0}
    for name, value in answer.items():
        field = name if name.startswith("answer_") else f"answer_{name}"
        if field == "answer_text":
            known[field] = _text_of(field, value)
        elif field == "answer_weight":
            known[field] = _weight_of(value)
        elif field == "answer_comments":
            known[field] = _text_of(field, value)
        elif name != "id":
            raise Invalid(
                f"Unknown field {name[:40]!r} of an answer: use answer_text, answer_weight, answer_comments."
            )
    if not known["answer_text"].strip():
        raise Invalid("answer_text can't be blank")
    return known


def _text_of(field: str, value: Any) -> str:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return values.text(str(value), field, limit=16_384)
    raise Invalid(f"{field} must be text")


def _weight_of(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100:
        return value
    raise Invalid("answer_weight must be a number from 0 (wrong) to 100 (right)")


def _answers(answers: list[Row], name: str) -> list[Row]:
    if len(answers) > MAX_ANSWERS:
        raise Invalid(f"{name} must be at most {MAX_ANSWERS}")
    return [_checked_answer(number, answer) for number, answer in enumerate(answers, 1)]


QUESTION: Checks = {
    "question_text": values.filled,
    "question_name": values.title,
    "question_type": values.one_of(QUESTION_TYPES),
    "points_possible": values.number,
    "answers": _answers,
}
"""Checks of a question's fields."""


def filled_question(question: Row) -> dict[str, Any]:
    """A generator's question as the tables keep it."""
    row: dict[str, Any] = {**NEW_QUESTION, "question_type": "multiple_choice_question", **question}
    values.choice(row["question_type"], "question_type", QUESTION_TYPES)
    row["answers"] = [_checked_answer(n, answer) for n, answer in enumerate(row["answers"], 1)]
    return row
