"""Reads everything that may hold a fact: courses, syllabi, announcements, conversations and mails."""

from __future__ import annotations

import datetime as dt
import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mesocosm.kits.paging import mails
from mesocosm.services.calling import Tools
from mesocosm.solvers.canvas_arrange_exam.facts import STATES, sentences

_PER_PAGE = 50


@dataclass(frozen=True)
class Course:
    """A course as Canvas lists it, with the section taken off."""

    id: int
    code: str
    title: str
    section: int
    teachers: dict[str, str]
    """Name by address."""
    teacher_ids: frozenset[int]


@dataclass(frozen=True)
class Document:
    """A text by somebody who speaks for the course; the syllabus is older than everything else."""

    course: Course
    moment: str
    """ISO 8601 in UTC."""
    channel: str
    text: str


def courses(tools: Tools) -> list[Course]:
    """The courses of the signed-in student."""
    found = []
    for record in tools.pages("canvas", "canvas_list_courses", per_page=_PER_PAGE):
        code, _, section = record["course_code"].rpartition("-")
        title, _, _ = record["name"].rpartition("-")
        teachers = {teacher["email"]: teacher["display_name"] for teacher in record["teachers"]}
        ids = frozenset(teacher["id"] for teacher in record["teachers"])
        found.append(Course(record["id"], code, title, int(section), teachers, ids))
    return found


def documents(tools: Tools, known: Sequence[Course], office: str) -> list[Document]:
    """What teachers, and the examinations office at its address, have written, oldest first."""
    found = [
        *_course_pages(tools, known),
        *_conversations(tools, known),
        *_mails(tools, known, office),
    ]
    return sorted(found, key=lambda document: document.moment)


def _course_pages(tools: Tools, known: Sequence[Course]) -> Iterator[Document]:
    for course in known:
        body = tools.call("canvas", "canvas_get_syllabus", course_id=course.id)["syllabus_body"]
        # Each paragraph is about sections of its own.
        for paragraph in plain(body or "").splitlines():
            yield Document(course, "", "Syllabus", paragraph)
        posts = tools.pages("canvas", "canvas_list_announcements", course_id=course.id, per_page=_PER_PAGE)
        for post in posts:
            if post["author"]["id"] in course.teacher_ids:
                text = f"{post['title']}\n{plain(post['message'])}"
                yield Document(course, post["posted_at"], "Announcement", text)


def _conversations(tools: Tools, known: Sequence[Course]) -> Iterator[Document]:
    for talk in list(tools.pages("canvas", "canvas_list_conversations", per_page=_PER_PAGE)):
        page: int | None = 1
        while page:
            whole = tools.call("canvas", "canvas_get_conversation", conversation_id=talk["id"], page=page)
            for message in whole["messages"]:
                taught = [course for course in known if message["author_id"] in course.teacher_ids]
                text = f"{whole['subject']}\n{message['body']}"
                if course := _subject_of(text, taught):
                    yield Document(course, message["created_at"], "Message", text)
            page = whole["messages_paging"]["next_page"]


def _mails(tools: Tools, known: Sequence[Course], office: str) -> Iterator[Document]:
    for mail in mails(tools):
        sender = _address(mail["from"])
        spoken_for = [course for course in known if sender == office or sender in course.teachers]
        text = f"{mail['subject']}\n{mail['body']}"
        if course := _subject_of(text, spoken_for):
            yield Document(course, mail["date"], "Email", text)


def _address(header: str) -> str:
    found = re.search(r"[^\s<>]+@[^\s<>]+", header)
    return found[0].lower() if found else ""


def _subject_of(text: str, candidates: Sequence[Course]) -> Course | None:
    """The course that a text states something about: the longest title, since one may contain another."""
    stating = "\n".join(sentence for sentence in sentences(text) if STATES.search(sentence))
    named = [
        course for course in candidates if re.search(rf"(?<!\w){re.escape(course.title)}(?!\w)", stating)
    ]
    return max(named, key=lambda course: len(course.title), default=None)


def plain(body: str) -> str:
    """HTML as lines of text."""
    text = re.sub(r"</(?:p|li|h\d)>|<br ?/?>", "\n", body)
    return html.unescape(re.sub(r"<[^>]+>", "", text)).strip()


def local(prompt: str) -> tuple[dt.datetime, dt.timedelta]:
    """The moment that the prompt calls now, by the campus clock, and how far that is from UTC."""
    now = re.search(r"It is now \w+, (\w+ \d+, \d{4}), (\d\d:\d\d)", prompt)
    offset = re.search(r"UTC([+-])(\d\d):(\d\d)", prompt)
    assert now
    assert offset
    sign = -1 if offset[1] == "-" else 1
    ahead = sign * dt.timedelta(hours=int(offset[2]), minutes=int(offset[3]))
    moment: Any = dt.datetime.strptime(f"{now[1]} {now[2]}", "%B %d, %Y %H:%M")  # noqa: DTZ007 - local
    return moment, ahead
