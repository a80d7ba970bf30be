"""The parameters of the family, and how shares become numbers of submissions."""

from __future__ import annotations

import datetime as dt
from typing import Self

from pydantic import Field, model_validator

from mesocosm.families import family
from mesocosm.kits.apportionment import apportion, require_whole

Share = float

FATES = ("due", "rejected", "withdrawn", "submitted", "open", "past")
"""Fates of a submission: reminder due, not accepted, withdrawn, final version received, no deadline
published, or too late for a reminder."""
_RATES = {fate: f"{fate}_rate" for fate in FATES}


class Params(family.Params):
    """Number of submissions, their fates, and the noise around them.

    The first six rates share out all submissions and sum to 1; every rate above 0 gets at least one. The
    others are shares of the submissions whose reminder is due, unless they say otherwise; each above 0 is met
    by at least one submission that it can apply to.
    """

    num_target: int = Field(default=10, ge=1, le=2000)
    """Submissions (a conference and a track each) to handle: the lines of conference_info.txt."""
    num_noise: int | None = Field(default=None, ge=0, le=20_000)
    """Conferences that write to the mailbox without being in the file; ``None``: more and more of them as
    ``num_target`` grows."""
    noise_emails: int = Field(default=2, ge=1, le=20)
    """Most mails of one conference outside the file; each sends at least one."""
    max_conferences: int = Field(default=200, ge=1, le=40_000)
    """Conferences in the pool that all are drawn from; there are more where that is not enough."""
    enable_reminders: bool = True
    """True to have automatic reminders, some with outdated deadlines."""
    enable_extensions: bool = True
    """True to have deadlines extended, corrected or brought forward."""
    base_date: dt.date | None = None
    """The day on which it happens; ``None``: drawn from the seed."""
    deadline_offset: int = Field(default=15, ge=2, le=60)
    """Days from that day to the first of the ordinary deadlines."""
    due_rate: Share = Field(default=0.5, ge=0, le=1)
    """Share of the submissions that are accepted and whose deadline is more than three hours away."""
    rejected_rate: Share = Field(default=0.1, ge=0, le=1)
    """Share of the submissions that are not accepted."""
    withdrawn_rate: Share = Field(default=0.1, ge=0, le=1)
    """Share of the submissions that are accepted, then withdrawn by the authors."""
    submitted_rate: Share = Field(default=0.1, ge=0, le=1)
    """Share of the submissions of which the final version has been received."""
    open_rate: Share = Field(default=0.1, ge=0, le=1)
    """Share of the submissions that are accepted, but without a deadline, or with one that was suspended."""
    past_rate: Share = Field(default=0.1, ge=0, le=1)
    """Share of the submissions whose deadline is over, or less than three hours away."""
    superseded_rate: Share = Field(default=0.45, ge=0, le=1)
    """Share of the due ones whose deadline a later mail changes."""
    twice_rate: Share = Field(default=0.12, ge=0, le=1)
    """Share of the due ones whose deadline is changed twice."""
    stale_reminder_rate: Share = Field(default=0.25, ge=0, le=1)
    """Share of the due ones of which an automatic reminder quotes the deadline from before the change."""
    reminder_rate: Share = Field(default=0.2, ge=0, le=1)
    """Share of the due ones of which an automatic reminder quotes the valid deadline; beyond the smallest
    worlds."""
    boundary_rate: Share = Field(default=0.08, ge=0, le=1)
    """Share of the due ones for which three hours before the deadline is within the next hour."""
    tie_rate: Share = Field(default=0.25, ge=0, le=1)
    """Share of the due ones whose deadline is that of another submission too."""
    existing_rate: Share = Field(default=0.12, ge=0, le=1)
    """Share of the due ones for which the calendar holds the right event already."""
    outdated_rate: Share = Field(default=0.12, ge=0, le=1)
    """Share of the due ones for which the calendar holds the event of the deadline from before a change."""
    needless_rate: Share = Field(default=0.3, ge=0, le=1)
    """Share of the withdrawn and submitted ones for which the calendar holds an event."""
    sibling_rate: Share = Field(default=0.15, ge=0, le=1)
    """Share of all submissions that are to another track of a conference that is in the file already."""
    lookalike_share: Share = Field(default=0.85, ge=0, le=1)
    """Share of the filler that is mails and reminders about papers that are not in the file."""
    decoy_rate: Share = Field(default=0.4, ge=0, le=1)
    """Share of all submissions about which there is a mail with a deadline or a claim that does not count."""

    @model_validator(mode="after")
    def _shares_are_shares(self) -> Self:
        rates = {_RATES[fate]: rate for fate, rate in self.fate_rates().items()}
        require_whole(rates, "num_target", self.num_target)
        if not any(fate == "due" for fate in self.fates()):
            raise ValueError("num_target and due_rate leave no deadline to set a reminder for")
        return self

    @property
    def noise(self) -> int:
        """The number of conferences outside the file."""
        if self.num_noise is not None:
            return self.num_noise
        return max(1, self.num_target // 8)

    def fate_rates(self) -> dict[str, float]:
        """The share of each fate."""
        return {fate: getattr(self, name) for fate, name in _RATES.items()}

    def fates(self) -> list[str]:
        """The fate of every submission, in the order of ``FATES``."""
        numbers = apportion(self.fate_rates(), self.num_target)
        return [fate for fate in FATES for _ in range(numbers[fate])]
