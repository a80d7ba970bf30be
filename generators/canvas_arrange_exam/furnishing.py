"""What courses have besides announcements: assignments, modules, pages and files, none about finals."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping

from mesocosm.generators.canvas_arrange_exam.courses import Course, Plan
from mesocosm.kits.moments import utc_stamp
from mesocosm.kits.prose import Prose
from mesocosm.servers.canvas.store import CanvasStore
from mesocosm.servers.canvas.store.modules import NewItem

_WORKS = ("Problem set", "Essay", "Report", "Worksheet", "Reading response", "Presentation", "Case study")
_PAGES = ("Reading list", "How we work", "Glossary", "Links", "Office hours", "Style guide")
_FILES = (("slides.pdf", "application/pdf"), ("handout.pdf", "application/pdf"), ("data.csv", "text/csv"))


def furnish(store: CanvasStore, plan: Plan, courses: Mapping[str, int], rng: random.Random) -> None:
    """Put into every course what students work with."""
    prose = Prose(rng)
    for course in plan.courses:
        _furnish(store, course, courses[course.code], plan.campus.term_start, prose, rng)


def _furnish(
    store: CanvasStore, course: Course, key: int, began: dt.datetime, prose: Prose, rng: random.Random
) -> None:
    topics = rng.sample(course.subject.topics, 3)
    weeks = sorted(rng.sample(range(2, 14), 3))
    works = store.add_assignments(
        [
            {
                "course_id": key,
                "name": f"{rng.choice(_WORKS)} on {topic}",
                "description": f"<p>{prose.sentence('coursework', subject=course.subject)}</p>",
                "due_at": utc_stamp((began + dt.timedelta(weeks=week)).replace(hour=22, minute=0)),
                "points_possible": rng.choice((10, 20, 25, 50, 100)),
            }
            for topic, week in zip(topics, weeks, strict=True)
        ]
    )
    pages = store.add_pages(
        [
            {
                "course_id": key,
                "title": title,
                "body": f"<p>{' '.join(prose.sentences('coursework', 3, subject=course.subject))}</p>",
                "created_at": utc_stamp(began),
            }
            for title in rng.sample(_PAGES, 2)
        ]
    )
    files = store.add_files(
        [
            {
                "course_id": key,
                "display_name": f"{topic.replace(' ', '-')}-{name}",
                "content_type": kind,
                "size": rng.randint(20_000, 900_000),
                "created_at": utc_stamp(began + dt.timedelta(weeks=week)),
            }
            for topic, week, (name, kind) in zip(topics, weeks, rng.sample(_FILES, 3), strict=True)
        ]
    )
    modules = store.add_modules(
        [{"course_id": key, "name": f"Unit {n}: {t}"} for n, t in enumerate(topics, 1)]
    )
    items: list[NewItem] = [
        {"module_id": module, "title": topic, "type": kind, "content_id": content}
        for module, topic, parts in zip(modules, topics, zip(works, files, strict=True), strict=True)
        for kind, content in zip(("Assignment", "File"), parts, strict=True)
    ]
    items.append({"module_id": modules[0], "title": "To begin with", "type": "Page", "content_id": pages[0]})
    store.add_module_items(items)
