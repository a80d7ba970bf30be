"""Errors that are met in a process that builds are told where the building was asked for."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from mesocosm.errors import Invalid, MissingExtra, NotFound, OtherVersion, Temporary, WrongArgument
from mesocosm.families.task import FileProblem


@pytest.mark.parametrize(
    "error",
    [
        MissingExtra("to keep episodes elsewhere", "store"),
        WrongArgument("page", "is no number"),
        Temporary("later", 503, code="busy", headers={"Retry-After": "1"}),
        Invalid("no", code="wrong", parameter="page", detail="is no number"),
        NotFound("none", code="gone"),
        OtherVersion("it was built by version 1"),
        FileProblem(Path("task.yaml"), ("goal", 1), "is none"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_is_the_same_in_another_process(error: Exception) -> None:
    there = pickle.loads(pickle.dumps(error))
    assert (type(there), str(there), there.__dict__) == (type(error), str(error), error.__dict__)
