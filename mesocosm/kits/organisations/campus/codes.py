"""Codes: how blind readers of scenes of the campus write down what they make out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mesocosm.kits.organisations.domains import Stage
from mesocosm.kits.organisations.events import Event
from mesocosm.kits.organisations.letters import Letter
from mesocosm.kits.organisations.people import Person

CODES: Mapping[str, str] = {
    "deadline": "deadline MOMENT",
    "deadline_moved": "deadline MOMENT",
    "submitted": "in WHO",
    "draft": "draft WHO",
    "wrong_file": "wrong WHO",
    "no_file": "lacking WHO",
    "retracted": "back WHO",
    "extended": "until MOMENT WHO",
    "refused": "refused WHO",
    "excused": "excused WHO",
    "excuse_withdrawn": "unexcused WHO",
    "dropped": "left WHO",
    "reinstated": "again WHO",
    "claimed": "claim",
    "other_work": "other",
    "nothing": "",
    "exam_set": "exam MOMENT",
    "exam_moved": "exam MOMENT",
    "room_changed": "room PLACE",
    "length_changed": "length MINUTES",
    "books_set": "books YES",
    "examiner_set": "examiner NAME",
    "exempted": "exempt",
    "exemption_withdrawn": "unexempt",
    "cancelled": "off",
    "swapped": "exam MOMENT",
    "swap_refused": "refused",
    "optional": "optional YES",
    "hearsay": "claim",
    "other_exam": "nothing",
}
"""Codes by which readers note each kind of event; capitals are placeholders."""
EXPLAINED = """\
You see threads of mails, as somebody reads them who has the lists beside them. Write down for each thread
what each message that settles something says in the end: a short code each, in order, parted by "; ".
Write nothing for what is only asked, wished, joked or small talk, nor for what held before and is only
repeated. MOMENT is YYYY-MM-DD HH:MM, WHO a first name (two: "Ann+Bob").

Handing in (slides of a presentation, to the assistant)
  in WHO         the finished slides are handed in with this message (or a colleague says that they have them)
  draft WHO      a file for advice that is not to be counted
  wrong WHO      a file that is not the slides
  lacking WHO    a mail as if handing in, and nothing is attached
  back WHO       what was handed in is taken back
  other WHO      other coursework is handed in
  claim          a student says that somebody need not hand in, has left or has more time, and nobody with
  authority
                 (professor, secretary) says so
Decisions
  deadline MOMENT       for the whole class
  until MOMENT WHO      more time for one
  refused WHO           no more time
  excused WHO           need not present;  unexcused WHO  that is taken back
  left WHO              has left the course;  again WHO  is in it again
Exams (mine, of the kind that the thread is about: finals or orals; a midterm or a quiz is `nothing`)
  exam MOMENT    when it is, as set, moved or swapped (exam open: the time is still open)
  room PLACE;  length MINUTES;  books yes;  books no
  examiner NAME  somebody else gives or takes it (full name)
  exempt;  unexempt
  off            it is cancelled;  on  it takes place after all, as before (on MOMENT: at a new time)
  optional yes   I may stay away;  optional no  it does not apply to me
  refused        a swap that is not allowed
  claim          hearsay of a fellow student
  nothing        it is about another exam or section
"""


def beside(letters: Sequence[Letter], stage: Stage) -> Iterator[str]:
    """Yield the context for a reader of a thread: earlier facts, topics, instructors."""
    if held := _held(letters):
        yield f"before: {held}"
    if any(one.by == ("topic",) for letter in letters for one in letter.references):
        topics = letters[0].about.topic.items()
        yield f"talks: {'; '.join(f'{who.first} {who.last}: {topic}' for who, topic in topics if topic)}"
    if any(telling.event.kind == "examiner_set" for letter in letters for telling in letter.tellings):
        yield f"teachers: {', '.join(who.full for who in stage.listed)}"


def _held(letters: Sequence[Letter]) -> str:
    """Return the earlier fact that a relative statement refers to."""
    known: list[str] = []
    for letter in letters:
        for telling in letter.tellings:
            event = telling.event
            first = event.follows if event.follows is not None and event.follows.kind == event.kind else event
            if event.kind in ("exam_moved", "swapped", "swap_refused") and first.old_start:
                known.append(f"exam {first.old_start:%Y-%m-%d %H:%M}")
            if event.kind in ("room_changed", "length_changed"):
                known.append(f"room {event.old_room}" if event.old_room else f"length {event.old_length}")
            if event.kind == "reinstated" and "start" in event.values and event.start is None:
                known.append("exam as set before")
            if event.kind == "extended" and event.due and event.span:
                known.append(f"deadline {event.due - event.span:%Y-%m-%d %H:%M}")
    return "; ".join(dict.fromkeys(known[:2]))


def code(event: Event) -> str:
    """Return a reader's code for an event; empty for kinds that are not noted."""
    who = "+".join(sorted(one.first for one in event.people))
    match event.kind:
        case "asked" | "nothing":
            return ""
        case "deadline" | "deadline_moved":
            return f"deadline {event.due:%Y-%m-%d %H:%M}"
        case "extended":
            return f"until {event.due:%Y-%m-%d %H:%M} {who}"
        case "exam_set":
            start = "open" if event.open == "time" else f"{event.start:%Y-%m-%d %H:%M}"
            room = "" if event.open == "room" else f"; room {event.room}"
            return f"exam {start}{room}; length {event.length}"
        case "exam_moved" | "swapped":
            return f"exam {event.start:%Y-%m-%d %H:%M}"
        case "reinstated" if event.people and event.people[0].role == "student" and "start" in event.values:
            return f"on {event.start:%Y-%m-%d %H:%M}" if event.start else "on"
        case "room_changed":
            return f"room {event.room}"
        case "length_changed":
            return f"length {event.length}"
        case "books_set":
            return f"books {'yes' if event.allowed else 'no'}"
        case "examiner_set":
            assert isinstance(event.who, Person)
            return f"examiner {event.who.full}"
        case "optional":
            return f"optional {'yes' if event.applies else 'no'}"
    written = CODES[event.kind].split(" ")[0]
    return f"{written} {who}" if CODES[event.kind].endswith("WHO") else written
