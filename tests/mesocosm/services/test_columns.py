"""Rows that are kept by columns are rows like any others."""

from __future__ import annotations

import pytest

from mesocosm.services.columns import Columns, Joined, blocks_of

ROWS = [{"id": 1, "city": "Oslo"}, {"id": 2, "city": "Rome"}, {"id": 3, "city": "Bern"}]
COLUMNS = Columns({"id": [1, 2, 3], "city": ["Oslo", "Rome", "Bern"]})


def test_columns_are_read_as_rows() -> None:
    assert list(COLUMNS) == ROWS
    assert len(COLUMNS) == 3
    assert COLUMNS[-1] == ROWS[-1]
    assert list(COLUMNS[1:]) == ROWS[1:]


def test_columns_of_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match=r"one length are expected, not \{'id': 1, 'city': 0\}"):
        Columns({"id": [1], "city": []})


def test_tables_are_joined_without_a_copy() -> None:
    joined = Joined([ROWS, Joined([COLUMNS, []]), ()])
    assert list(joined) == ROWS + ROWS
    assert joined[3] == ROWS[0]
    assert joined[-1] == ROWS[-1]
    assert list(joined[2:4]) == [ROWS[2], ROWS[0]]
    assert list(blocks_of(joined)) == [ROWS, COLUMNS]
    with pytest.raises(IndexError):
        joined[6]
