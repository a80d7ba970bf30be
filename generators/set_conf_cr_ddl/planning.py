"""Decides what is true of every submission, before a word is written."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from mesocosm.generators.set_conf_cr_ddl.conferences import (
    END_OF_DAY,
    Change,
    ChangeKind,
    Conference,
    Contact,
    Deadline,
    Edition,
    Office,
    Plan,
    Submission,
    waking,
)
from mesocosm.generators.set_conf_cr_ddl.expected import LEAD
from mesocosm.generators.set_conf_cr_ddl.names import TRACKS, Names
from mesocosm.generators.set_conf_cr_ddl.params import Params
from mesocosm.kits.apportionment import share_of
from mesocosm.kits.moments import is_holiday
from mesocosm.kits.prose import Prose
from mesocosm.servers.calendar.store.times import zone

_HOME_ZONES = (
    "Europe/London", "Europe/Berlin", "Europe/Zurich", "Europe/Lisbon", "Europe/Athens", "Africa/Nairobi",
    "Africa/Johannesburg", "Asia/Dubai", "Asia/Kolkata", "Asia/Singapore", "Asia/Tokyo", "Asia/Seoul",
)  # fmt: skip
_PLACES = (
    ("Berlin", "Europe/Berlin"), ("London", "Europe/London"), ("New York", "America/New_York"),
    ("Los Angeles", "America/Los_Angeles"), ("Tokyo", "Asia/Tokyo"), ("Sydney", "Australia/Sydney"),
    ("Singapore", "Asia/Singapore"), ("Delhi", "Asia/Kolkata"), ("Toronto", "America/Toronto"),
)  # fmt: skip
_FIELDS = (
    "Machine Learning",
    "Data Science",
    "Statistics",
    "Computing",
    "Pattern Recognition",
    "Data Systems",
)
"""Research fields of groups with papers about generic labels, kernels and parsers."""
_UNITS = ("Laboratory", "Institute", "Research Group", "Centre")
_TIMES = (*[END_OF_DAY] * 6, None, None, dt.time(17), dt.time(12), dt.time(18), dt.time(20))
_EVEN_TIMES = (dt.time(10), dt.time(12), dt.time(14), dt.time(17), dt.time(18), dt.time(20), END_OF_DAY)
_CHANGES: tuple[ChangeKind, ...] = ("extended", "by_days", "corrected", "zone", "forward", "extended")
_COLLEAGUES = 5
_BEFORE = 25
"""Days from the last deadline to a conference, at least."""
_CALLED = 180
"""Within so many days the conferences outside the file collect papers, registrations and all else."""
_SMALL = 16
"""Submissions up to which decision and deadline always share a mail."""
_APART_SHARE = 0.25
_POOL = 4
"""Conferences that there are for each one in the file or outside it: other papers are at the rest of them."""
_SHARED, _MISTAKABLE = 0.2, 0.1
"""Share of the other papers at a conference of the file, and at one with a similar name."""
_ZoneKind = Literal["aoe", "none", "utc", "other"]
_DECK: tuple[_ZoneKind, ...] = ("none", "other", "aoe", "utc", "other", "none", "aoe")

_MINUTE = dt.timedelta(minutes=1)


def plan_world(params: Params, rng: random.Random, prose: Prose) -> Plan:
    """Draw everything that is true."""
    needed = params.num_target + params.noise
    names = Names(rng, max(params.max_conferences, _POOL * needed))
    office = _office(params, names, rng, prose)
    submissions = _submissions(params, office, names, rng, prose)
    listed = list({submission.edition.label: submission.edition for submission in submissions}.values())
    return Plan(office, submissions, _noise(params.noise, listed, office, names, rng, prose), names)


def other_papers(
    params: Params, plan: Plan, generous: Collection[str], rng: random.Random, prose: Prose
) -> Iterator[Submission]:
    """Papers that are not in the file, without end: fates and deadlines are drawn as those of the file are.

    They are at other conferences, some of which are easily mistaken for one of the file, and in other tracks
    of its conferences, unless these are ``generous``: then a mail might speak of these tracks, too.
    """
    names = plan.names.continued(rng)
    taken: dict[str, list[str]] = {}
    for one in plan.submissions:
        taken.setdefault(one.edition.label, []).append(one.track)
    known = [one.edition for one in plan.submissions if one.edition.label not in generous]
    numbers = {one.number for one in plan.submissions}
    while True:
        yield from _submissions(params, plan.office, names, rng, prose, _Known(known, taken, numbers))


def _office(params: Params, names: Names, rng: random.Random, prose: Prose) -> Office:
    day = params.base_date
    if day is None:
        day = dt.date(rng.randint(2024, 2027), 2, 10) + dt.timedelta(days=rng.randrange(260))
        while day.weekday() > 4 or is_holiday(day):
            day += dt.timedelta(days=1)
    # So that what ends yesterday Anywhere on Earth ends in little more than three hours.
    moment = dt.datetime.combine(day, dt.time(8, rng.randint(10, 50)), dt.UTC)
    home = zone(rng.choice(_HOME_ZONES))
    place = prose.place()
    domain = names.university(place)
    people = [prose.person() for _ in range(1 + _COLLEAGUES)]
    user, *colleagues = (Contact(one.name, f"{one.handle}@{domain}", one) for one in people)
    return Office(
        group=f"{place} {rng.choice(_FIELDS)} {rng.choice(_UNITS)}",
        domain=domain,
        zone=home,
        now=moment.astimezone(home),
        user=user,
        colleagues=tuple(colleagues),
    )


def edition_of(conference: Conference, year: int, rng: random.Random, prose: Prose) -> Edition:
    """The conference of a year, with those who write for it."""
    person = prose.person()
    desk, name = rng.choice(
        (
            ("publication", "Publication Chairs"),
            ("chairs", "Programme Chairs"),
            ("proceedings", "Proceedings"),
            ("authors", "Author Support"),
        )
    )
    office = Contact(f"{conference.acronym} {year} {name}", f"{desk}@{conference.domain}")
    return Edition(
        conference, year, (office, Contact(person.name, f"{person.handle}@{conference.domain}", person))
    )


def _year(office: Office, days: int, rng: random.Random) -> int:
    """Conferences that collect something within so many days take place this year or, late in it, the next;
    if these days end too late in the year for a conference after them, they are all of the next."""
    soon = office.now.year + int(office.now.month > 7 and rng.random() < 0.6)
    return max(soon, (office.now.date() + dt.timedelta(days=days + _BEFORE)).year)


def _span(submissions: int) -> int:
    """Over how many days the deadlines of so many submissions are spread."""
    return min(150, max(20, 2 * submissions))


def _noise(
    number: int, listed: Sequence[Edition], office: Office, names: Names, rng: random.Random, prose: Prose
) -> list[Edition]:
    editions = []
    for index in range(number):
        # Some are on the topic of one in the file and have an acronym much like it.
        like = listed[index % len(listed)].conference if index % 6 == 0 else None
        conference = names.twin(like) if like else names.conference()
        editions.append(edition_of(conference, _year(office, _CALLED, rng), rng, prose))
    return editions


# -- submissions -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Known:
    """The file, while papers that are not in it are drawn."""

    editions: Sequence[Edition] = ()
    """Conferences in whose other tracks there may be further papers."""
    tracks: dict[str, list[str]] = field(default_factory=dict)
    """Tracks that have a paper, by conference; what is drawn is added."""
    numbers: Collection[int] = ()


def _submissions(
    params: Params,
    office: Office,
    names: Names,
    rng: random.Random,
    prose: Prose,
    known: _Known | None = None,
) -> list[Submission]:
    known = known or _Known()
    fates = params.fates()
    # A conference has no more submissions than tracks.
    number = max(len(fates) - share_of(params.sibling_rate, len(fates)), -(-len(fates) // len(TRACKS)))
    days = params.deadline_offset + _span(len(fates))
    editions = [_some_edition(office, days, names, known, rng, prose) for _ in range(number)]
    while len(editions) < len(fates):
        editions += rng.sample(editions[:number], min(number, len(fates) - len(editions)))
    rng.shuffle(editions)
    numbers = rng.sample(sorted(set(range(101, 9_900)) - set(known.numbers)), len(fates))
    taken = known.tracks
    submissions = []
    for fate, edition, number in zip(fates, editions, numbers, strict=True):
        tracks = taken.setdefault(edition.label, [])
        # The main track is what most papers are in.
        free = [track for track in (*TRACKS[:1] * 6, *TRACKS) if track not in tracks]
        if not free:
            edition = edition_of(names.conference(), _year(office, days, rng), rng, prose)
            free, tracks = list(TRACKS), taken.setdefault(edition.label, [])
        track = rng.choice(free)
        tracks.append(track)
        submissions.append(Submission(edition, track, number, names.title(), fate))
    for submission in submissions:
        submission.alone = len(taken[submission.edition.label]) == 1
    _set_deadlines(params, office, submissions, rng)
    due = [submission for submission in submissions if submission.due]
    _change(params, due, rng)
    _remind(params, due, rng)
    _put_in_calendar(params, office, submissions, due, rng)
    rng.shuffle(submissions)
    for submission in submissions:
        told = submission.fate != "rejected" and submission.variant != "never"
        submission.apart = told and len(submissions) > _SMALL and rng.random() < _APART_SHARE
        submission.moments = _moments(submission, office, rng)
    return submissions


def _some_edition(
    office: Office, days: int, names: Names, known: _Known, rng: random.Random, prose: Prose
) -> Edition:
    """A new conference; if some are known, at times one of these, or one that has much the same name."""
    chance = rng.random() if known.editions else 1.0
    if chance < _SHARED:
        return rng.choice(known.editions)
    conference = names.conference()
    if chance < _SHARED + _MISTAKABLE:
        conference = names.twin(rng.choice(known.editions).conference)
    return edition_of(conference, _year(office, days, rng), rng, prose)


def _set_deadlines(
    params: Params, office: Office, submissions: Sequence[Submission], rng: random.Random
) -> None:
    span = _span(len(submissions))
    deck: list[_ZoneKind] = []
    for submission in submissions:
        if not deck:
            deck = list(_DECK)
        day = office.now.date() + dt.timedelta(days=params.deadline_offset + rng.randint(0, span))
        submission.deadline = _deadline(day, rng.choice(_TIMES), deck.pop(0), rng)
    due = [submission for submission in submissions if submission.due]
    near = share_of(params.boundary_rate, len(due)) if len(due) > 1 else 0
    for index, submission in enumerate(due[:near]):
        window = (office.now + LEAD + 4 * _MINUTE, office.now + LEAD + 60 * _MINUTE)
        submission.deadline = _within(*window, rng, anywhere_on_earth=index == 0)
        submission.variant = "near"
    _tie(params.tie_rate, due[near:], rng)
    _vary(submissions, "rejected", ("bulk", "plain"), rng)
    _vary(submissions, "open", ("suspended", "never"), rng)
    past = [submission for submission in submissions if submission.fate == "past"]
    for index, submission in enumerate(past):
        submission.variant = "late" if index % 2 == 0 else "over"
        if submission.variant == "late":
            submission.deadline = _within(office.now + 10 * _MINUTE, office.now + LEAD - 10 * _MINUTE, rng)
        else:
            day = office.now.date() - dt.timedelta(days=rng.randint(2, 20))
            submission.deadline = _deadline(day, rng.choice(_TIMES), rng.choice(_DECK), rng)


def _vary(submissions: Sequence[Submission], fate: str, variants: Sequence[str], rng: random.Random) -> None:
    first = rng.randrange(len(variants))
    for index, submission in enumerate(one for one in submissions if one.fate == fate):
        submission.variant = variants[(first + index) % len(variants)]


def _deadline(day: dt.date, time: dt.time | None, kind: _ZoneKind, rng: random.Random) -> Deadline:
    if kind in ("aoe", "none"):
        return Deadline(day, time, kind)
    if kind == "utc":
        return Deadline(day, time, "utc", offset=0.0)
    place, name = rng.choice(_PLACES)
    return Deadline(day, time, "other", place, _offset(name, day))


def _offset(name: str, day: dt.date) -> float:
    offset = dt.datetime.combine(day, dt.time(12), zone(name)).utcoffset()
    assert offset is not None
    return offset.total_seconds() / 3600


def _within(
    first: dt.datetime, last: dt.datetime, rng: random.Random, *, anywhere_on_earth: bool = False
) -> Deadline:
    """A deadline between two moments at an even time of the day."""
    days = [first.date() + dt.timedelta(days=ahead) for ahead in (-1, 0, 1)]
    found = []
    for day in days:
        zones: list[Deadline] = [Deadline(day, None, "aoe"), Deadline(day, None, "none")]
        if not anywhere_on_earth:
            zones += [Deadline(day, None, "utc", offset=0.0)]
            zones += [Deadline(day, None, "other", place, _offset(name, day)) for place, name in _PLACES]
        found += [replace(one, time=time) for one in zones for time in _EVEN_TIMES]
    return rng.choice([deadline for deadline in found if first <= deadline.instant <= last])


def _tie(rate: float, due: Sequence[Submission], rng: random.Random) -> None:
    pairs = min(len(due) // 2, share_of(rate / 2, len(due)))
    tied = rng.sample(list(due), 2 * pairs)
    for pair in zip(tied[::2], tied[1::2], strict=True):
        # The one by a foreign clock stays: so there is one in every world, however small.
        one, other = sorted(pair, key=_is_at_home)
        other.deadline = one.deadline


def _is_at_home(submission: Submission) -> bool:
    return submission.deadline is None or submission.deadline.zone != "other"


# -- changes -----------------------------------------------------------------------------------------------


def _sample(
    due: Sequence[Submission], rate: float, rng: random.Random, apt: Callable[[Submission], bool]
) -> list[Submission]:
    fit = [submission for submission in due if apt(submission)]
    return rng.sample(fit, min(len(fit), share_of(rate, len(due))))


def _change(params: Params, due: Sequence[Submission], rng: random.Random) -> None:
    if not params.enable_extensions:
        return
    changed = _sample(due, params.superseded_rate, rng, lambda one: one.variant != "near")
    kinds: list[ChangeKind] = []
    for index, submission in enumerate(changed):
        for _ in range(1 + int(index < share_of(params.twice_rate, len(due)))):
            if not kinds:
                kinds = rng.sample(_CHANGES, len(_CHANGES))
            _precede(submission, kinds.pop(), rng)


def _precede(submission: Submission, kind: ChangeKind, rng: random.Random) -> None:
    """Give the first of the deadlines one that was valid before it."""
    after = submission.first
    assert after is not None
    if kind == "zone" and submission.changes:
        # The one after is stated already, perhaps without a zone; a date is what can still differ.
        kind = "corrected"
    days = 0
    match kind:
        case "extended":
            before = replace(after, date=after.date - dt.timedelta(days=rng.randint(2, 10)))
        case "by_days":
            days = rng.randint(2, 10)
            before = replace(after, date=after.date - dt.timedelta(days=days))
        case "corrected":
            before = replace(after, date=after.date + dt.timedelta(days=rng.choice((-2, -1, 1, 2, 7))))
        case "forward":
            before = replace(after, date=after.date + dt.timedelta(days=rng.randint(2, 7)))
        case "zone":
            # Only what is stated can be corrected.
            after = replace(
                after, time=after.time or END_OF_DAY, zone="aoe" if after.zone == "none" else after.zone
            )
            submission.deadline = after
            kinds: list[_ZoneKind] = ["aoe"] if after.zone != "aoe" else ["utc", "other"]
            before = _deadline(after.date, after.time, rng.choice(kinds), rng)
    before = _in_its_zone(before)
    if kind == "by_days" and before.offset != after.offset:
        # The clocks change in between: a number of days would leave open which offset is meant.
        kind = "extended"
    submission.changes.insert(0, Change(kind, before, after, days))


def _in_its_zone(deadline: Deadline) -> Deadline:
    """The offset as it is on another date."""
    if deadline.zone != "other":
        return deadline
    return replace(deadline, offset=_offset(dict(_PLACES)[deadline.place], deadline.date))


def _remind(params: Params, due: Sequence[Submission], rng: random.Random) -> None:
    if not params.enable_reminders:
        return
    for submission in _sample(due, params.stale_reminder_rate, rng, lambda one: bool(one.changes)):
        submission.stale = submission.changes[-1].before
    if len(due) > 4:  # in a small world another mail would take the place of something more instructive
        for submission in _sample(due, params.reminder_rate, rng, lambda one: one.stale is None):
            submission.reminded = True


def _put_in_calendar(
    params: Params,
    office: Office,
    submissions: Sequence[Submission],
    due: Sequence[Submission],
    rng: random.Random,
) -> None:
    for submission in _sample(
        due, params.existing_rate, rng, lambda one: not one.changes and one.variant != "near"
    ):
        submission.event = "existing"
    for submission in _sample(due, params.outdated_rate, rng, lambda one: _was_ahead(one, office.now)):
        submission.event = "outdated"
    if all(submission.event == "existing" for submission in due):
        due[-1].event = ""  # else there might be nothing to do
    settled = [one for one in submissions if one.fate in ("withdrawn", "submitted")]
    for submission in rng.sample(settled, share_of(params.needless_rate, len(settled))):
        submission.event = "needless"


def _was_ahead(submission: Submission, now: dt.datetime) -> bool:
    """True if an event for the previous deadline lies in the future."""
    return bool(submission.changes) and submission.changes[-1].before.instant - LEAD > now


# -- mails -------------------------------------------------------------------------------------------------


def _moments(submission: Submission, office: Office, rng: random.Random) -> list[dt.datetime]:
    """Draw the moments of a submission's mails, in order and before now."""
    number = 3 + len(submission.changes) + (submission.stale is not None) + submission.reminded
    days_ago = rng.uniform(34, 60) if submission.variant == "over" else rng.uniform(14, 45)
    moment = office.now - dt.timedelta(days=days_ago)
    moments = [moment]
    for left in range(number - 1, 0, -1):
        gap = (office.now - moment) / (left + 1)
        # Some on the very same day: then the time of the day says which one is later.
        step = gap * rng.uniform(0.5, 1.2)
        if left < number - 1 and rng.random() < 0.4:
            step = min(step, dt.timedelta(hours=rng.uniform(1, 5)))
        moment += step
        moments.append(moment.replace(microsecond=0))
    return [waking(one, office) for one in moments]
