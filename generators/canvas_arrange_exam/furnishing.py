"""What courses have besides announcements: assignments, modules, pages and files, none about finals."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping
from decimal import Decimal

from mesocosm.generators.canvas_arrange_exam.courses import Course, Plan
from mesocosm.kits.moments import utc_stamp
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.modules import NewItem
from mesocosm.servers.canvas.store.submissions import NewSubmission

_WORKS = ("Problem set", "Essay", "Report", "Worksheet", "Reading response", "Presentation", "Case study")
_PAGES = {
    "Reading list": ("Week {n}: chapter {m} of the textbook ({topic}).", "On {topic}: see the library."),
    "How we work": ("We begin with {topic}.", "Questions on {topic}: in the tutorial.", "You work in pairs."),
    "Glossary": ("{topic}: see week {n}.", "{topic}: see chapter {m} of the textbook."),
    "Links": ("{topic}: slides of week {n}.", "{topic}: the library's guide.", "{topic}: recordings."),
    "Office hours": ("{teacher} is in on {day}s from {n} to {m}.", "{assistant} answers mail on {day}s."),
    "Style guide": ("Reports have at most {m} pages.", "Number the figures.", "Name your sources."),
}  # fmt: skip
"""Lines of pages."""
_TASKS = (
    "At most {n} pages on {topic}, with your sources.",
    "Compare {topic} with {other}.",
    "Find {n} examples of {topic} and say what they have in common.",
    "How would you explain {topic} to somebody who knows {other}? Hand in your answer as text.",
    "Summarise what you read on {topic}, and add {n} questions of your own.",
    "Work in pairs: one writes about {topic}, the other about {other}.",
)
_HANDED_IN = (
    "My answer on {topic} is in the shared folder, with {n} sources.",
    "I have written {n} pages on {topic}; the last of them is a table.",
    "Here is what I found on {topic}. The lecture of week {n} helped most.",
    "On {topic} I followed chapter {n}, and my own examples come after it.",
    "My partner has read this. We do not agree on {topic} in {n} places, which are marked.",
    "{n} paragraphs on {topic}, and a sketch.",
    "I took {topic} from the exercises of week {n} and worked it out again.",
    "This is the second version; the part on {topic} is {n} lines longer now.",
    "As agreed in the tutorial: {topic}, in {n} steps.",
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday")
_FILES = (("slides.pdf", "application/pdf"), ("handout.pdf", "application/pdf"), ("data.csv", "text/csv"))
_WEEK = dt.timedelta(weeks=1)


def furnish(
    store: CanvasStore, plan: Plan, courses: Mapping[str, int], users: Mapping[str, int], rng: random.Random
) -> None:
    """Put into every course what students work with, and what the student got for it."""
    for course in plan.courses:
        key = courses[course.code]
        works = _furnish(store, course, key, plan.campus.term_start, rng)
        _grade(store, course, works, users[plan.campus.student.email], users[course.instructor.email], rng)


def _furnish(
    store: CanvasStore, course: Course, key: int, began: dt.datetime, rng: random.Random
) -> dict[int, tuple[int, dt.datetime, str]]:
    """Returns points, last day and topic of the assignments."""
    topics = rng.sample(course.subject.topics, 3)
    weeks = sorted(rng.sample(range(2, 14), 3))
    points = rng.choices((10, 20, 25, 50, 100), k=3)
    due = [(began + week * _WEEK).replace(hour=22, minute=0, second=0) for week in weeks]
    works = store.assignments.add_assignments(
        [
            {
                "course_id": key,
                "name": f"{rng.choice(_WORKS)} on {topic}",
                "description": f"<p>{_task(topic, course, rng)}</p>",
                "due_at": utc_stamp(last),
                "points_possible": most,
                "created_at": utc_stamp(last - rng.randint(8, 13) * dt.timedelta(days=1, minutes=19)),
            }
            for topic, last, most in zip(topics, due, points, strict=True)
        ]
    )
    pages = store.pages.add_pages(
        [
            {
                "course_id": key,
                "title": title,
                "body": _page(title, course, rng),
                "created_at": utc_stamp(began),
            }
            for title in rng.sample(sorted(_PAGES), 2)
        ]
    )
    files = store.pages.add_files(
        [
            {
                "course_id": key,
                "display_name": f"{topic.replace(' ', '-')}-{name}",
                "content_type": kind,
                "size": rng.randint(20_000, 900_000),
                "created_at": utc_stamp(_awake(began + (week - 1) * _WEEK, rng, rng.randint(-2, 2))),
            }
            for topic, week, (name, kind) in zip(topics, weeks, rng.sample(_FILES, 3), strict=True)
        ]
    )
    modules = store.modules.add_modules(
        [{"course_id": key, "name": f"Unit {n}: {t}"} for n, t in enumerate(topics, 1)]
    )
    items: list[NewItem] = [
        {"module_id": module, "title": f"{topic[0].upper()}{topic[1:]}", "type": kind, "content_id": content}
        for module, topic, parts in zip(modules, topics, zip(works, files, strict=True), strict=True)
        for kind, content in zip(("Assignment", "File"), parts, strict=True)
    ]
    items.append({"module_id": modules[0], "title": "To begin with", "type": "Page", "content_id": pages[0]})
    store.modules.add_module_items(items)
    return dict(zip(works, zip(points, due, topics, strict=True), strict=True))


def _awake(day: dt.datetime, rng: random.Random, days: int) -> dt.datetime:
    """A moment so many days later, by day."""
    return (day + dt.timedelta(days=days)).replace(hour=rng.randint(8, 21), minute=rng.randint(0, 59))


def _task(topic: str, course: Course, rng: random.Random) -> str:
    other = rng.choice([known for known in course.subject.topics if known != topic])
    return rng.choice(_TASKS).format(topic=topic, other=other, n=rng.randint(2, 5))


def _page(title: str, course: Course, rng: random.Random) -> str:
    """Lines that are about what the title says."""
    lines = []
    for way in rng.sample(_PAGES[title], 2):
        first = rng.randint(1, 3)
        line = way.format(
            topic=rng.choice(course.subject.topics), teacher=course.instructor.name,
            assistant=course.assistant.name, day=rng.choice(_DAYS), n=first, m=first + rng.randint(1, 3),
        )  # fmt: skip
        lines.append(f"<li>{line[0].upper()}{line[1:]}</li>")
    return f"<ul>{''.join(lines)}</ul>"


def _grade(
    store: CanvasStore, course: Course, works: Mapping[int, tuple[int, dt.datetime, str]], student: int,
    teacher: int, rng: random.Random,
) -> None:  # fmt: skip
    """What the student handed in, with points that come to exactly the average that is told."""
    average = Decimal(str(course.coursework)) / 100
    owed = Decimal(0)
    submissions: list[NewSubmission] = []
    for place, (key, (points, due, topic)) in enumerate(works.items()):
        exact = points * average + owed
        # A little more or less than the average, which the next one makes up for.
        got = exact if place == len(works) - 1 else min(Decimal(points), round(exact, 1))
        owed = exact - got
        handed_in = min(due - dt.timedelta(minutes=5), _awake(due, rng, -rng.randint(0, 2)))
        submissions.append(
            {
                "assignment_id": key,
                "user_id": student,
                "body": f"<p>{rng.choice(_HANDED_IN).format(topic=topic, n=rng.randint(2, 9))}</p>",
                "submitted_at": utc_stamp(handed_in),
                "grade": float(got),
                "graded_at": utc_stamp(_awake(due, rng, rng.randint(1, 6))),
                "grader_id": teacher,
            }
        )
    store.submissions.add_submissions(submissions)
