"""Knowledge of the family's checker."""

from __future__ import annotations

from mesocosm.families import family

DATA = "Market_Data.xlsx"
FORMAT = "Market_Data_Format.xlsx"
FORMAT_SHEET = "Format"
RESULT = "growth_rate.xlsx"
MEMOS = "memos"
METHODOLOGY_SHEET = "Methodology"
DRAFT_SHEET = "Methodology (draft)"
RAW_SHEET = "RawData"


class Expected(family.Expected):
    """The table that has to be in the result."""

    header: list[str]
    years: list[int]
    rows: list[list[float]]
    """Growth in percent, unrounded: a row per year, a column per heading after the first."""
