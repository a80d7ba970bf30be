"""The campus as a domain: a university department during some weeks of a term."""

from __future__ import annotations

from pathlib import Path

from mesocosm.kits.organisations.campus import coursework, exams
from mesocosm.kits.organisations.campus.codes import EXPLAINED, beside, code
from mesocosm.kits.organisations.campus.directory import Directory, Lists
from mesocosm.kits.organisations.campus.stages import stages
from mesocosm.kits.organisations.campus.vocabulary import VOCABULARY
from mesocosm.kits.organisations.domains import Domain

DOMAIN = Domain(
    name="campus",
    scenes=Path(__file__).parent / "scenes",
    vocabulary=VOCABULARY,
    lists=Lists,
    directory=Directory,
    neutral=coursework.NEUTRAL | exams.NEUTRAL,
    misread=(
        "deadline",
        "deadline_moved",
        "submitted",
        "retracted",
        "extended",
        "excused",
        "excuse_withdrawn",
        "dropped",
        "reinstated",
        "exam_set",
        "exam_moved",
        "room_changed",
        "length_changed",
        "books_set",
        "examiner_set",
        "exempted",
        "exemption_withdrawn",
        "cancelled",
        "swapped",
        "optional",
    ),
    mistaken=dict.fromkeys(("wrong_file", "no_file", "draft", "other_work", "claimed"), "submitted")
    | {"other_exam": "exam_moved"},
    moments=("due", "start"),
    stages=stages,
    explained=EXPLAINED,
    code=code,
    beside=lambda letters, stage: list(beside(letters, stage)),
)
