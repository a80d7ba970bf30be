"""Moments and spans: what is written is read back as what was meant."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesocosm.kits.organisations import moments
from mesocosm.kits.organisations.moments import Level

WRITTEN = st.datetimes(dt.datetime(2026, 1, 5), dt.datetime(2026, 11, 30))
LEVELS = st.sampled_from(["explicit", "described", "referring"])
QUARTERS = st.integers(0, 95)


@settings(max_examples=300, deadline=None)
@given(WRITTEN, st.integers(0, 120), QUARTERS, LEVELS)
def test_a_moment_is_read_as_it_was_meant(
    written: dt.datetime, days: int, quarter: int, level: Level
) -> None:
    day = written.date() + dt.timedelta(days=days)
    moment = dt.datetime.combine(day, dt.time(quarter // 4, quarter % 4 * 15))
    said = moments.moment_in_words(moment, written, level)
    assert moments.read_moment(said, written) == moment
    assert moments.read_moment(said[0].upper() + said[1:], written) == moment


@settings(max_examples=100, deadline=None)
@given(st.integers(-60, 60).filter(bool))
def test_days_later_or_earlier_are_read_as_they_were_meant(days: int) -> None:
    span = dt.timedelta(days=days)
    assert moments.can_be_said(span)
    assert moments.read_shift(moments.shift_in_words(span)) == span
    assert moments.read_span(moments.span_in_words(span)) == abs(span)


@pytest.mark.parametrize("halves", range(1, 13))
def test_hours_and_halves_are_read_as_they_were_meant(halves: int) -> None:
    span = dt.timedelta(minutes=30 * halves)
    assert moments.read_shift(moments.shift_in_words(-span)) == -span


@pytest.mark.parametrize("minutes", [15, 20, 30, 40, 60, 90, 120, 150, 180])
def test_lengths_are_read_as_they_were_meant(minutes: int) -> None:
    assert moments.read_length(moments.length_in_words(minutes)) == minutes


@pytest.mark.parametrize(
    "text",
    [
        "on a sunny day",
        "Friday, March 12, at five",  # in 2026 a Thursday
        "Friday at five",
    ],
)
def test_what_names_no_moment_is_refused(text: str) -> None:
    with pytest.raises(moments.UnreadableMoment):
        moments.read_moment(text, dt.datetime(2026, 3, 2, 9))


def test_a_weekday_is_the_next_one_after_the_day_of_writing() -> None:
    monday = dt.datetime(2026, 3, 2, 9)
    assert moments.read_moment("Monday at 5", monday) == dt.datetime(2026, 3, 9, 17)
    assert moments.read_moment("today at noon", monday) == dt.datetime(2026, 3, 2, 12)
    assert moments.read_moment("Thursday, March 12, at 10:30", monday) == dt.datetime(2026, 3, 12, 10, 30)
