"""Scores of students and what follows from them, for ``academic_warning.yaml``; and a solver that reads.

Scores are whole tenths of a point here, so that nothing is rounded before it is compared. A mark in a table
is a score, ``None`` where the table says NULL, or ``NO_ROW``.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

from mesocosm.kits.other_codes import draw_other as draw_other
from mesocosm.kits.other_codes import some_others
from mesocosm.kits.paging import folder_texts, found, query_rows
from mesocosm.services.calling import Tools

NO_ROW = "-"
_SUBJECTS = {
    "ACC": "Accounting", "AGR": "Agriculture", "ANT": "Anthropology", "ARC": "Architecture",
    "AST": "Astronomy", "BUS": "Business", "CHE": "Chemistry", "DES": "Design", "ENG": "English",
    "FIN": "Finance", "GER": "German", "INF": "Informatics", "ITA": "Italian", "LAT": "Latin",
    "LIN": "Linguistics", "MAR": "Marketing", "MAT": "Mathematics", "MED": "Medicine", "PHY": "Physics",
    "POL": "Politics", "REL": "Religion", "SOC": "Social Work", "SPA": "Spanish", "STA": "Statistics",
}  # fmt: skip
"""Codes with as many tokens each, so that the length of a row does not tell a programme."""
_MORE_EXAMS = (30, 48, 75, 100, 120, 180, 300, 450, 800, 1400)
"""From so many students on there is a further exam, or some."""
_EXAMS = (2, 3, 5, 7, 8, 9, 12, 15, 18, 21, 24)
_LEAST, _MOST = 300, 1000
_FAR = (250, 400)
"""By how much a score that does not count differs from the one that does."""
_FILLER = 1.27
"""Students of other programmes for each of one's own."""

Student = Mapping[str, Any]
Plan = dict[str, Any]


# -- how many -----------------------------------------------------------------------------------------------


def exams_for(given: int, students: int) -> int:
    """Past exams that count; 0 stands for as many as so many students have."""
    return given or _EXAMS[bisect(_MORE_EXAMS, students)]


def annulled_for(given: int, students: int) -> int:
    """Annulled exams besides; -1 stands for a sixth of those that count."""
    return given if given >= 0 else max(1, exams_for(0, students) // 6)


def reinstated_for(given: int, students: int) -> int:
    """Exams that count although they were once annulled; -1 stands for an eighth of them."""
    return given if given >= 0 else 1 + exams_for(0, students) // 8


def subject_of(programme: str) -> str:
    return _SUBJECTS[programme]


def draw_others(me: Student, rng: random.Random) -> list[str]:
    """One or two other programmes; one that stands twice is larger."""
    return some_others(me["programme"], list(_SUBJECTS), rng)


def draw_elsewhere(ruling: Any, rng: random.Random) -> list[str]:
    """An exam's month and another programme: mostly one of those whose students are here."""
    own = ruling.lookup("me")["programme"]
    others = ruling["others"] if rng.random() < 0.9 else [code for code in _SUBJECTS if code != own]
    return [ruling["exam"]["month"], rng.choice(others)]


def draw_sizes(me: Any, rng: random.Random) -> dict[str, list[float]]:
    """Draw the relative class sizes of programmes: small and large, and so many that neither size nor
    frequency reveals a programme.
    """
    own = max(2, me.truth.parameters["num_students"] // 14)
    others = me["others"]
    counts = {code: round(_FILLER * own * others.count(code) / len(others)) for code in others}
    counts[me["programme"]] = own
    return {code: [rng.uniform(1, 5) for _ in range(max(1, count))] for code, count in counts.items()}


def draw_section(student: Student, rng: random.Random) -> int:
    """The number of a class of the student's programme."""
    return _section_of(student["programme"], student, rng)


def draw_old_section(student: Student, rng: random.Random) -> int:
    """The number of a class of the programme that the student was in before."""
    return _section_of(student["old_programme"], student, rng)


def _section_of(programme: str, student: Student, rng: random.Random) -> int:
    sizes = student["sizes"][programme]
    return rng.choices(range(101, 101 + len(sizes)), sizes)[0]


def draw_ago(exam: Student, rng: random.Random) -> int:
    """Draw how many months before the latest exam another was held."""
    return len(exam["exams"]) - int(exam["index"]) + 1


# -- drawing scores -----------------------------------------------------------------------------------------


_EXACT = {"at_25": 4, "beyond_25": 4, "at_45": 20, "beyond_45": 20}
"""Kinds whose mean is exact, a multiple of so many tenths: only of these are 25 or 45 % a score. The means of
the others are as they fall, or else a mean would tell which notices count."""


def draw_plan(student: Student, rng: random.Random) -> Plan:
    """All of a student's scores, as the student's kind has them."""
    counts = [bool(exam["counts"]) for exam in student["exams"]]
    step = _EXACT.get(student["case"], 1)
    level = step * rng.randint(580 // step, 860 // step)
    scores = _around(rng, level, counts.count(True)) if step > 1 else [_noisy(rng, level) for _ in counts]
    marks = [scores.pop() if counted else _noisy(rng, level) for counted in counts]
    plan: Plan = {"marks": marks, "latest": level, "months": [exam["month"] for exam in student["exams"]]}
    _PLANS[student["case"]](plan, rng, [place for place, counted in enumerate(counts) if counted])
    plan["latest"] = None if plan["latest"] is None else max(0, min(_MOST, plan["latest"]))
    return plan


def _noisy(rng: random.Random, level: int) -> int:
    return max(_LEAST, min(_MOST, level + round(rng.gauss(0, 60))))


def _around(rng: random.Random, level: int, count: int) -> list[int]:
    """Scores of which the mean is exactly the level."""
    scores = [_noisy(rng, level) for _ in range(count)]
    while missing := level * count - sum(scores):
        place = rng.randrange(count)
        scores[place] = max(_LEAST, min(_MOST, scores[place] + missing))
    return scores


def _between(rng: random.Random, right: Sequence[int], wrong: Sequence[int]) -> int:
    """A latest score for which it matters whether the right past scores are taken or the wrong ones."""
    share = Fraction(rng.choice((75, 75, 55)), 100)
    ends = sorted(share * sum(scores) / max(len(scores), 1) for scores in (right, wrong))
    first, beyond = (-(-end.numerator // end.denominator) for end in ends)
    return rng.randrange(first, beyond) if first < beyond else first


def _elsewhere(rng: random.Random, score: int) -> int:
    """A score far from another."""
    by = rng.randint(*_FAR)
    return score + by if score + by <= _MOST and (rng.random() < 0.5 or score < by) else score - by


def _by_share(least: float, most: float) -> Callable[[Plan, random.Random, list[int]], None]:
    def draw(plan: Plan, rng: random.Random, counting: list[int]) -> None:
        plan["latest"] = round(plan["latest"] * (1 - rng.uniform(least, most)))

    return draw


def _at(parts: int, beyond: int) -> Callable[[Plan, random.Random, list[int]], None]:
    """So many twentieths of the level, which is a whole number of tenths, or a little less."""

    def draw(plan: Plan, rng: random.Random, counting: list[int]) -> None:
        plan["latest"] = plan["latest"] * parts // 20 - beyond

    return draw


_steady, _fallen, _sunk = _by_share(-0.14, 0.18), _by_share(0.27, 0.43), _by_share(0.47, 0.62)


def _absent(plan: Plan, rng: random.Random, counting: list[int]) -> None:
    marks = plan["marks"]
    missed = rng.sample(counting, max(1, len(counting) // 3))
    for place in missed:
        marks[place] = rng.choice((None, None, NO_ROW))
    marks[missed[0]] = None
    left = [marks[place] for place in counting if place not in missed]
    plan["latest"] = _between(rng, left, [*left, *[0] * len(missed)]) if left else 300


def _newcomer(plan: Plan, rng: random.Random, counting: list[int]) -> None:
    for place in counting:
        plan["marks"][place] = rng.choice((None, NO_ROW))
    plan["latest"] = rng.randint(150, 420)


def _unscored(plan: Plan, rng: random.Random, counting: list[int]) -> None:
    plan["latest"] = None


def _misled(plan: Plan, rng: random.Random, counting: list[int]) -> None:
    marks, right = plan["marks"], [plan["marks"][place] for place in counting]
    others = [place for place in range(len(marks)) if place not in counting]
    low = rng.random() < 0.5
    for place in others:
        marks[place] = rng.randint(150, 280) if low else rng.randint(950, 1000)
    plan["latest"] = _between(rng, right, marks) if others else plan["latest"]


def _about(plan: Plan, place: int) -> dict[str, Any]:
    """The exam that a notice is about, and how many months before the latest it was held."""
    return {"month": plan["months"][place], "ago": len(plan["months"]) - place}


def _replaced(*notices: str) -> Callable[[Plan, random.Random, list[int]], None]:
    """The table has the first score; the last notice tells what counts, each other one something else."""

    def draw(plan: Plan, rng: random.Random, counting: list[int]) -> None:
        place = rng.choice(counting)
        right = [plan["marks"][other] for other in counting]
        scores = [plan["marks"][place]]
        for name in reversed(notices):
            plan[name] = {**_about(plan, place), "score": scores[-1] / 10}
            while (score := _elsewhere(rng, scores[-1])) in scores:
                pass
            scores.append(score)
        plan["marks"][place] = scores[1]
        plan["latest"] = _between(rng, right, [plan["marks"][other] for other in counting])
        plan["marks"][place] = scores[-1]

    return draw


def _struck(plan: Plan, rng: random.Random, counting: list[int]) -> None:
    place = rng.choice(counting)
    right = [plan["marks"][other] for other in counting if other != place]
    plan["strike"] = _about(plan, place)
    plan["marks"][place] = _elsewhere(rng, plan["marks"][place])
    plan["latest"] = _between(rng, right, [*right, plan["marks"][place]]) if right else 300


def _refused(plan: Plan, rng: random.Random, counting: list[int]) -> None:
    place = rng.choice(counting)
    right = [plan["marks"][other] for other in counting]
    asked = min(_MOST, plan["marks"][place] + rng.randint(*_FAR))
    plan["asked"] = {**_about(plan, place), "score": asked / 10}
    wrong = [asked if other == place else plan["marks"][other] for other in counting]
    plan["latest"] = _between(rng, right, wrong)


def _one_of(*draws: Callable[[Plan, random.Random, list[int]], None], switched: bool = False) -> Any:
    def draw(plan: Plan, rng: random.Random, counting: list[int]) -> None:
        rng.choice(draws)(plan, rng, counting)
        if switched:
            plan["switched"] = rng.randint(1, len(plan["marks"]))

    return draw


_moved, _namesake = _one_of(_fallen, _sunk, switched=True), _one_of(_fallen, _sunk, _steady)
_PLANS: dict[str, Callable[[Plan, random.Random, list[int]], None]] = {
    "steady": _steady, "fallen": _fallen, "sunk": _sunk, "at_25": _at(15, 0), "beyond_25": _at(15, 1),
    "at_45": _at(11, 0), "beyond_45": _at(11, 1), "absent": _absent, "newcomer": _newcomer,
    "unscored": _unscored, "gone": _unscored, "misled": _misled, "resat": _replaced("resit"),
    "twice": _replaced("resit", "second"), "thrice": _replaced("resit", "second", "third"),
    "struck": _struck, "refused": _refused, "moved": _moved, "left": _moved, "namesake": _namesake,
}  # fmt: skip


def _part(name: str) -> Callable[[Student, random.Random], Any]:
    """One part of the plan, as a fact of its own: each may be misread by itself."""

    def draw(student: Student, rng: random.Random) -> Any:
        return student["plan"].get(name)

    return draw


draw_marks, draw_latest, draw_switched = _part("marks"), _part("latest"), _part("switched")
draw_resit, draw_second, draw_third = _part("resit"), _part("second"), _part("third")
draw_strike, draw_asked = _part("strike"), _part("asked")


# -- what follows -------------------------------------------------------------------------------------------


def past_of(student: Student, exams: Sequence[Student]) -> list[int]:
    """The scores that count, of the exams that do."""
    changed = {}
    for name in ("resit", "second", "third"):
        if change := student[name]:
            changed[change["month"]] = round(change["score"] * 10)
    struck = student["strike"]["month"] if student["strike"] else None
    past = []
    for exam in exams:
        mark = changed.get(exam["month"], student["marks"][exam["index"] - 1])
        if exam["counts"] and exam["month"] != struck and mark not in (None, NO_ROW):
            past.append(mark)
    return past


def is_below(latest: int | None, past: Sequence[int], percent: int) -> bool:
    """True if a score is more than ``percent`` below the mean of others; false without others."""
    return latest is not None and bool(past) and 100 * latest * len(past) < (100 - percent) * sum(past)


def severity_of(marks: Sequence[Any]) -> str:
    """Return the log's entry on a student after the last past exam, by the tables of that time."""
    *before, last = marks
    past = [mark for mark in before if mark not in (None, NO_ROW)]
    if last in (None, NO_ROW):
        return "NOTICE"
    if not is_below(last, past, 25):
        return "INFO"
    return "CRITICAL" if is_below(last, past, 45) else "WARNING"


def average_of(past: Sequence[int]) -> float | None:
    """The mean in points, to two decimals."""
    return _rounded(Fraction(sum(past), 10 * len(past))) if past else None


def drop_of(latest: int | None, past: Sequence[int]) -> float | None:
    """By how many percent a score is below the mean of others, to two decimals."""
    if latest is None or not sum(past):
        return None
    return _rounded(100 * (1 - Fraction(latest * len(past), sum(past))))


def _rounded(value: Fraction) -> float:
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return float(exact.quantize(Decimal("0.01"), ROUND_HALF_UP))


def tenths(mark: int | None) -> float | None:
    """A mark in points."""
    return None if mark is None else mark / 10


def as_json(student_id: str, name: str, exam: str) -> str:
    """The payload of an entry."""
    return json.dumps({"student_id": student_id, "name": name, "exam": exam}, ensure_ascii=False)


# -- a solver that reads ------------------------------------------------------------------------------------

_STUDENT, _CASE = re.compile(r"\bS\d{6}\b"), re.compile(r"\bC-\d{5}\b")
_SCORE = re.compile(r"\b\d{1,3}\.\d\b")
_EXAM = re.compile(r"\bexam (\d{4})\b", re.IGNORECASE)
_AGAIN = re.compile(
    r"no longer (\S+\d)|not (\d\S*\d)|place of (\d\S*\d)|had put (\d\S*\d)|^(?:Instead|In place) of (\S+)"
)
_REFUSED = re.compile(r"refused|turned down|dismissed|not granted|in vain|came too late|is rejected")
_STRUCK = re.compile(
    r"struck|strike|does not count|is not to be counted|is not counted|left out", re.IGNORECASE
)
_LIFTED = re.compile(r"taken back|withdraw|does count|forget|disregard", re.IGNORECASE)
_ANNULLED = re.compile(r"annul|is void", re.IGNORECASE)


def _decides(text: str) -> bool:
    """True if a text about a student gives a score, or says what becomes of one."""
    return bool(_SCORE.search(text) or _STRUCK.search(text) or _REFUSED.search(text))


def solve(tools: Tools, prompt: str) -> None:
    """Read the notices and all tables, reckon, write the list and the log, and declare the task done."""
    text = " ".join(prompt.split())
    subject, month = found(r"students of (.+?): those", text), found(r"latest exam, (\d+)", text)
    programme = found(r"begins with (\w+)-\.", text)
    notices = _Notices(programme, subject)
    for content in folder_texts(tools, "notices"):
        notices.read(" ".join(content.split()))
    notices.decide_cases()
    past = _past(tools, notices)
    listed = tools.call("filesystem", "read_text_file", path="latest_quiz_scores.csv")
    lines = ["student_id,name,class_id,score,past_average,drop"]
    for row in sorted(csv.DictReader(io.StringIO(listed)), key=lambda row: row["student_id"]):
        scores = past.get(row["student_id"])
        if not row["class_id"].startswith(f"{programme}-") or not row["score"] or not scores:
            continue
        average = sum(scores) / len(scores)
        share = Decimal(row["score"]) * len(scores) / sum(scores)
        if share < Decimal("0.75"):
            lines.append(",".join([*row.values(), f"{average:.2f}", f"{100 - 100 * share:.2f}"]))
        if share < Decimal("0.55"):
            entry = {"log_name": "exam_log", "severity": "CRITICAL"}
            message = as_json(row["student_id"], row["name"], month)
            tools.call("google_cloud", "logging_write_log", message=message, **entry)
    tools.call("filesystem", "write_file", path="bad_student.csv", content="\n".join(lines) + "\n")
    tools.call("claim_done", "claim_done")


def _past(tools: Tools, notices: _Notices) -> dict[str, list[Decimal]]:
    """The scores that count of each student."""
    past: dict[str, list[Decimal]] = {}
    asked = "SELECT table_name FROM academic_warning.INFORMATION_SCHEMA.TABLES ORDER BY table_name"
    for table in [row["table_name"] for row in query_rows(tools, asked)]:
        exam, query = table.removeprefix("scores_"), f"SELECT student_id, score FROM academic_warning.{table}"
        if exam in notices.annulled - notices.lifted:
            continue
        for row in query_rows(tools, f"{query} ORDER BY student_id"):
            score = notices.score(row["student_id"], exam, row["score"])
            if score is not None:
                past.setdefault(row["student_id"], []).append(score)
    return past


class _Notices:
    """Changes by the notices for one programme."""

    def __init__(self, programme: str, subject: str) -> None:
        self._ours = re.compile(rf"\b(?:{programme}|{subject})\b")
        self.annulled: set[str] = set()
        self.lifted: set[str] = set()
        self._struck: set[tuple[str, str]] = set()
        self._cases: dict[str, tuple[str, str]] = {}
        self._by_case: list[tuple[str, str]] = []
        self._new: dict[tuple[str, str], dict[Decimal, Decimal | None]] = {}
        """By student and exam: the new scores, each with the one that it takes the place of."""

    def read(self, text: str) -> None:
        sentences = re.split(r"(?<=[.?!]) (?=[A-Z0-9])", text)
        for place, sentence in enumerate(sentences):
            if _STUDENT.search(sentence) or _CASE.search(sentence) or _EXAM.search(sentence):
                # What one sentence begins, the next one may say.
                _ = self._take(sentence) or self._take(" ".join(sentences[place : place + 2]))
                return

    def _take(self, text: str) -> bool:
        """Apply a text; true if it is a complete statement."""
        who, case, exam = (pattern.search(text) for pattern in (_STUDENT, _CASE, _EXAM))
        if who and exam and case:
            self._cases[case[0]] = who[0], exam[1]
        elif who and exam and _decides(text):
            self._about_student(text, who[0], exam[1])
        elif case and not who and _decides(text):
            self._by_case.append((case[0], text))
        elif exam and not who and not case:
            self._about_all(text, exam[1])
        else:
            return False
        return True

    def _about_all(self, text: str, exam: str) -> None:
        if self._ours.search(text):
            if _LIFTED.search(text):
                self.lifted.add(exam)
            elif _ANNULLED.search(text):
                self.annulled.add(exam)

    def decide_cases(self) -> None:
        """Take in what is said of cases, now that it is known whose these are."""
        for case, text in self._by_case:
            self._about_student(text, *self._cases[case])

    def _about_student(self, sentence: str, who: str, exam: str) -> None:
        scores = [Decimal(score) for score in _SCORE.findall(sentence)]
        if _REFUSED.search(sentence):
            return
        if not scores:
            if _STRUCK.search(sentence):
                self._struck.add((who, exam))
            return
        again = _AGAIN.search(sentence)
        old = Decimal(next(filter(None, again.groups())).strip(".,;")) if again and len(scores) > 1 else None
        new = next(score for score in scores if score != old)
        self._new.setdefault((who, exam), {})[new] = old

    def score(self, who: str, exam: str, shown: Any) -> Decimal | None:
        """Return the valid score of an exam."""
        if (who, exam) in self._struck:
            return None
        new = self._new.get((who, exam))
        if new:
            return next(score for score in new if score not in new.values())
        return None if shown is None else Decimal(str(shown))
