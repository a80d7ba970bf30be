"""Vocabulary of campus scenes: the stories, their roles, and their named parts."""

from __future__ import annotations

from mesocosm.kits.organisations.scenes import Vocabulary

_PERSON = frozenset({"first", "last", "full", "he", "him", "his", "himself", "id", "topic", "topic_person"})
_MOMENTS = frozenset(
    f"{name}{part}" for name in ("due", "start", "old_start") for part in ("", ".day", ".time")
)
_EVENT = _MOMENTS | {
    "shift",
    "span",
    "length",
    "old_length",
    "room",
    "old_room",
    "who",
    "who.full",
    "who.first",
    "who.last",
    "who.he",
    "who.him",
    "who.his",
}

_EXAM = {"f": "person", "g": "person", "off": "person", "x": "event", "q": "event", "n": "event"}


def _events(*names: str, **others: str) -> dict[str, str]:
    return dict.fromkeys(names, "event") | others


VOCABULARY = Vocabulary(
    stories={
        "deadline": _events("d1", "d2", "d3"),
        "handed_in": _events("e", s="person"),
        "joint": _events("e", s="person", t="person"),
        "draft": _events("d", "f", s="person"),
        "wrong_file": _events("w", "f", s="person"),
        "no_file": _events("n", "f", s="person"),
        "retracted": _events("e", "x", "f", s="person"),
        "desk": _events("e", "n", s="person", t="person"),
        "extension": _events("a", "d", "f", s="person"),
        "excused": _events("e", "x", s="person"),
        "dropped": _events("e", "x", s="person"),
        "claimed": _events("k", s="person", t="person"),
        "other_work": _events("o", s="person", t="person"),
        "exam_set": _EXAM | _events("e"),
        "exam_moved": _EXAM | _events("m", "m2"),
        "room_changed": _EXAM | _events("r"),
        "length_changed": _EXAM | _events("l"),
        "books": _EXAM | _events("b", "b2"),
        "examiner": _EXAM | _events("p", "p2"),
        "exempt": _EXAM | _events("e", "x"),
        "cancelled": _EXAM | _events("k", "b"),
        "swap": _EXAM | _events("w", p="person"),
        "optional": _EXAM | _events("o"),
        "hearsay": _EXAM | _events("h"),
        "other_exam": _EXAM | _events("o"),
        "everyday_staff": _events("e", s="person", t="person"),
        "everyday_bulletin": _events("e", off="person"),
        "everyday_student": _EXAM | _events("e", ta="person"),
    },
    common={
        "me": "owner",
        "c": "course",
        "prof": "person",
        "sec": "person",
        "ta2": "person",
        "tech": "person",
        "lib": "person",
    },
    attributes={
        "person": _PERSON,
        "owner": _PERSON,
        "course": frozenset({"title", "short", "code"}),
        "event": _EVENT,
    },
)
