"""Stories of works: dates, submissions, exemptions, and statements that later ones replace."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Iterator, Sequence

from mesocosm.generators.canvas_list_test.campus import (
    Campus,
    Course,
    Notice,
    Plan,
    Rule,
    Work,
)
from mesocosm.generators.canvas_list_test.params import Params
from mesocosm.kits.apportionment import share_of
from mesocosm.kits.prose import Prose

_CLOCKS = (
    dt.time(9), dt.time(12), dt.time(17), dt.time(18, 30), dt.time(20), dt.time(23, 59), dt.time(23, 59),
    dt.time(23, 59),
)  # fmt: skip
_DAYS_AHEAD = 30


class Stories:
    """Gives works their dates and everything else that decides about them."""

    def __init__(
        self, params: Params, plan: Plan, prose: Prose, rng: random.Random, days: int = _DAYS_AHEAD
    ) -> None:
        """Deadlines lie within so many days from now, by the clock of the campus."""
        self._params = params
        self._plan = plan
        self._campus: Campus = plan.campus
        self._now = plan.campus.now.replace(tzinfo=None)
        self._prose = prose
        self._rng = rng
        self._days = days
        self._slots = self._all_slots()
        self._ending_now: set[str] = set()
        """Kinds of which one work is due at this very moment."""

    def tell(self, works: Sequence[Work]) -> None:
        """Decide about all works that the student may have to do."""
        for work in works:
            work.due = work.deadline = next(self._slots)
        self._listed([work for work in works if work.fate == "listed"])
        for fate, story in (
            ("submitted", self._submitted),
            ("over", self._over),
            ("exempt", self._exempt),
            ("ungraded", self._ungraded),
            ("dropped", self._dropped),
        ):
            for index, work in enumerate(work for work in works if work.fate == fate):
                story(work, index)
        for course in self._plan.taken:
            self._settle_results(course)
        _number(works)

    def _all_slots(self) -> Iterator[dt.datetime]:
        """Deadlines to come: the first one later today, then none twice while there are any left."""
        yield dt.datetime.combine(
            self._now.date(), self._rng.choice((dt.time(18), dt.time(20), dt.time(23, 59)))
        )
        dates = [self._now.date() + dt.timedelta(days=ahead) for ahead in range(1, self._days)]
        pool = [dt.datetime.combine(date, clock) for date in dates for clock in sorted(set(_CLOCKS))]
        while True:
            self._rng.shuffle(pool)
            yield from pool

    def _count(self, feature: str) -> None:
        self._plan.features[feature] = self._plan.features.get(feature, 0) + 1

    def _pick(self, works: Sequence[Work], rate: float, apt: Callable[[Work], bool]) -> list[Work]:
        """A share of some works (of all of them, taken from the apt ones)."""
        fit = [work for work in works if apt(work)]
        return self._rng.sample(fit, min(len(fit), share_of(rate, len(works))))

    # -- moments ----------------------------------------------------------------------------------------

    def _ago(self, first: float, last: float) -> dt.datetime:
        return self._campus.waking_moment(self._rng, first, last)

    def _before_and_after(self) -> tuple[dt.datetime, dt.datetime]:
        return self._ago(30, 14), self._ago(12, 1)

    # -- the lists --------------------------------------------------------------------------------------

    def _listed(self, works: Sequence[Work]) -> None:
        """Spread the complications over the works of the lists, in whatever combinations come up."""
        params = self._params
        self._tie(works)
        tied = {id(work) for work in works if work.variant == "tied"}
        for work in self._pick(works, params.undated_rate, lambda work: id(work) not in tied):
            work.due = work.deadline = None
            work.variant = "undated"
            self._count("undated")
        dated = [work for work in works if work.deadline]
        for index, work in enumerate(
            self._pick(works, params.new_deadline_rate, lambda work: bool(work.deadline))
        ):
            self._new_deadline(work, index)
        # Not all listed works of a small world: some should be plain.
        for index, work in enumerate(work for work in works if work.nearly_exempt):
            self._rule(work, index, met=False)
        others = self._rng.sample(list(works), len(works))
        others = [work for work in others if not work.nearly_exempt]
        for index, work in enumerate(others[: share_of(params.reinstated_rate, len(works))]):
            self._reinstated(work, index)
        for work in self._pick(works, params.unopened_rate, lambda work: work.due == work.deadline):
            self._open_later(work)
        quizzes = [work for work in works if work.kind == "quiz"]
        for work in self._pick(quizzes, params.empty_quiz_rate, lambda _: True):
            work.question_points, work.points = [], 0
            self._count("empty_quiz")
        for work in dated:
            if not work.notices and self._rng.random() < 0.25:
                work.lock = work.due and work.due + dt.timedelta(days=self._rng.choice((0, 0, 7, 14)))

    def _tie(self, works: Sequence[Work]) -> None:
        """Let pairs of the same list have the same deadline; every second pair in one course, if any is."""
        pairs = max(int(self._params.tie_rate > 0), round(self._params.tie_rate / 2 * len(works)))
        free = self._rng.sample(list(works), len(works))
        for turn in range(pairs):
            near = turn % 2 == 1
            pair = self._pair(free, same_course=near) or self._pair(free, same_course=not near)
            if not pair:
                return
            one, other = pair
            free = [work for work in free if work is not one and work is not other]
            other.due = other.deadline = one.deadline
            one.variant = other.variant = "tied"
            self._count("tie")

    @staticmethod
    def _pair(works: Sequence[Work], *, same_course: bool) -> tuple[Work, Work] | None:
        # The first few will do: looking at all pairs would take long in a large world.
        for index, one in enumerate(works[:200]):
            for other in works[index + 1 : index + 200]:
                if one.kind == other.kind and (one.course is other.course) == same_course:
                    return one, other
        return None

    def _new_deadline(self, work: Work, index: int) -> None:
        assert work.deadline
        kinds = ("overdue", "later", "earlier", "twice", "withdrawn", "set")
        kind = (
            kinds[index % len(kinds)] if index else self._rng.choice(("overdue", "later", "earlier", "twice"))
        )
        first, second = self._before_and_after()
        match kind:
            case "overdue":  # by the date on Canvas it would be over
                work.due = self._past(3)
            case "later":
                work.due = self._other(work.deadline, -6, -1)
            case "earlier":
                work.due = self._other(work.deadline, 1, 9)
            case "set":
                work.due = None
            case "twice":
                work.due = self._other(work.deadline, -6, -1)
                work.stale = self._other(work.deadline, 1, 5)
                work.notices.append(Notice("deadline", first, deadline=work.stale))
            case "withdrawn":
                work.stale = self._other(work.deadline, 1, 8)
                work.notices.append(Notice("deadline", first, deadline=work.stale))
        if kind == "withdrawn":
            work.notices.append(Notice("withdrawn", second))
        else:
            work.stale = work.stale or work.due
            work.notices.append(Notice("deadline", second, deadline=work.deadline))
        self._count(f"deadline_{kind}")

    def _other(self, moment: dt.datetime, first: int, last: int) -> dt.datetime:
        """Another moment, so many days away."""
        day = moment.date() + dt.timedelta(days=self._rng.randint(first, last))
        return dt.datetime.combine(day, self._rng.choice(_CLOCKS))

    def _past(self, days: int) -> dt.datetime:
        day = self._now.date() - dt.timedelta(days=self._rng.randint(1, days))
        return dt.datetime.combine(day, self._rng.choice(_CLOCKS))

    def _reinstated(self, work: Work, index: int) -> None:
        kind = ("voluntary", "called_off", "others")[(index + self._first) % 3]
        first, second = self._before_and_after()
        if kind == "others":
            work.notices.append(Notice("excused", second, names=self._names(with_student=False)))
        elif kind == "voluntary":
            work.notices += [Notice("optional", first), Notice("compulsory", second)]
        else:
            work.notices += [Notice("cancelled", first), Notice("revived", second)]
        self._count(f"reinstated_{kind}")

    def _open_later(self, work: Work) -> None:
        last = (work.deadline or self._now + dt.timedelta(days=20)) - dt.timedelta(hours=3)
        opening = self._now + (last - self._now) * self._rng.uniform(0.2, 0.9)
        work.unlock = max(opening, self._now + dt.timedelta(minutes=60)).replace(
            minute=0, second=0, microsecond=0
        )
        if work.unlock <= self._now:
            work.unlock += dt.timedelta(hours=1)
        self._count("unopened")

    # -- works in no list -------------------------------------------------------------------------------

    @property
    def _first(self) -> int:
        """Index of a series' first variant: differs between worlds, not between sizes of one."""
        return self._now.day

    def _submitted(self, work: Work, index: int) -> None:
        if work.kind == "quiz":
            work.variant = ("used_up", "attempts_left")[(index + self._first) % 2]
            if work.variant == "attempts_left" and work.attempts == 1:
                work.attempts = self._rng.choice((2, 3, -1))
        else:
            kinds = ("handed_in", "graded", "again", "late", "on_paper")
            work.variant = kinds[(index + self._first) % len(kinds)]
            if work.variant == "on_paper":
                work.submission_types = ["on_paper"]
            elif work.submission_types == ["on_paper"]:
                work.submission_types = ["online_upload"]
            if work.variant == "again":
                work.attempts = -1
            if work.variant == "late":
                # Handed in after the date on Canvas, which was put off later: it is done all the same.
                work.due = work.stale = self._past(4)
                work.notices.append(Notice("deadline", self._ago(1.5, 1), deadline=work.deadline))

    def _over(self, work: Work, index: int) -> None:
        kinds = ("past", "past", "brought_forward")
        work.variant = kinds[(index + self._first) % 3] if work.kind in self._ending_now else "now"
        if work.variant == "now":
            self._ending_now.add(work.kind)
            work.due = work.deadline = self._now
        elif work.variant == "past":
            work.due = work.deadline = self._past(6)
        else:
            work.stale, work.deadline = work.due, self._past(3)
            work.notices.append(Notice("deadline", self._ago(16, 8), deadline=work.deadline))

    def _exempt(self, work: Work, index: int) -> None:
        self._rule(work, index, met=True)

    def _rule(self, work: Work, index: int, *, met: bool) -> None:
        """A rule of exemption that the student satisfies, or narrowly does not."""
        course, rng = work.course, self._rng
        side = "met" if met else "near"
        moment = self._ago(28, 1)
        if (index + self._first + met) % 3 == 0 and course.repeats in (None, met):
            course.repeats = met
            work.notices.append(Notice("rule", moment, rule=Rule()))
            work.variant = work.variant or f"{side}_repeat"
            self._count(f"rule_{side}_repeat")
            return
        remarked = False
        if course.result is None:
            course.result = rng.randint(70, 94)
            if index == 0 or rng.random() < 0.3:
                step = rng.randint(2, 6)
                course.first_result = course.result - step if met else course.result + step
        first, result = course.first_result, course.result
        inclusive = rng.random() < 0.5
        if first is not None and (first < result) == met and rng.random() < 0.8:
            low, high = sorted((first, result))
            # Only the later result decides: the earlier one is on the other side.
            threshold = rng.randint(low + 1, high) if inclusive else rng.randint(low, high - 1)
            remarked = True
        elif met:
            threshold = result - rng.choice((0, 0, 1, 3)) - (not inclusive)
        else:
            threshold = result + rng.choice((0, 0, 1)) + inclusive
        work.notices.append(Notice("rule", moment, rule=Rule(threshold, inclusive)))
        work.variant = work.variant or f"{side}_{'remarked' if remarked else 'result'}"
        self._count(f"rule_{side}_{'remarked' if remarked else 'result'}")

    def _ungraded(self, work: Work, index: int) -> None:
        if work.kind == "quiz":
            work.variant = work.quiz_type = ("practice_quiz", "survey")[(index + self._first) % 2]
        else:
            work.variant = work.grading_type = "not_graded"
            work.points = 0

    def _dropped(self, work: Work, index: int) -> None:
        work.variant = ("cancelled", "optional", "excused")[(index + self._first) % 3]
        first, second = self._before_and_after()
        if work.variant == "excused":
            work.notices.append(Notice("excused", second, names=self._names(with_student=True)))
        else:
            if index % 4 == 3:  # called off, revived, and called off again in the end
                work.notices += [Notice("cancelled", self._ago(40, 31)), Notice("revived", first)]
            work.notices.append(Notice("cancelled" if work.variant == "cancelled" else "optional", second))

    def _names(self, *, with_student: bool) -> tuple[str, ...]:
        """Students who are excused; if not the student, then somebody who shares a name with the student."""
        student = self._campus.student.person
        names = [self._prose.person().name for _ in range(self._rng.randint(1, 3))]
        if with_student:
            names.append(student.name)
        else:
            other = self._prose.person()
            while other.first == student.first or other.last == student.last:
                other = self._prose.person()
            names.append(self._rng.choice((f"{student.first} {other.last}", f"{other.first} {student.last}")))
        self._rng.shuffle(names)
        return tuple(names)

    def _settle_results(self, course: Course) -> None:
        if course.result is None:
            course.result = self._rng.randint(61, 97)
        if course.repeats is None:
            course.repeats = self._rng.random() < 0.08


def _number(works: Sequence[Work]) -> None:
    """Let the numbers in the titles of a course follow its deadlines: quiz 5 comes before quiz 6."""
    series: dict[tuple[str, str], list[Work]] = {}
    for work in works:
        form, _, number = work.title.rpartition(" ")
        if work.deadline and number.isdigit():
            series.setdefault((work.course.code, form), []).append(work)
    for (_, form), some in series.items():
        numbers = sorted(int(work.title.rpartition(" ")[2]) for work in some)
        for work, place in zip(sorted(some, key=lambda work: work.key[:2]), numbers, strict=True):
            work.title = f"{form} {place}"
