"""Titles and descriptions of works."""

from __future__ import annotations

import random

from mesocosm.generators.canvas_list_test.campus import Course, Kind

_FORMS: dict[Kind, tuple[str, ...]] = {
    "quiz": ("Quiz", "Reading Quiz", "Checkpoint", "Concept Check", "Unit Test", "Short Test", "Review Quiz"),
    "assignment": (
        "Problem Set", "Essay", "Lab Report", "Case Study", "Reading Response", "Worksheet", "Project Memo",
        "Field Notes", "Source Review", "Presentation Draft", "Q&A Sheet", "Data Exercise",
    ),
}  # fmt: skip
_SCIENCES = frozenset(
    ("PHYS", "ASTR", "CHEM", "BIO", "NEUR", "PSY", "GEOL", "ENVS", "EE", "ME", "CIVE", "MATS", "AGRI", "AERO")
)
_OF_SOME = {
    "Lab Report": _SCIENCES,
    "Field Notes": frozenset(
        ("BIO", "SOC", "ANTH", "GEOG", "GEOL", "ENVS", "ARCH", "EDUC", "PUBH", "JOUR", "AGRI", "LING")
    ),
    "Problem Set": _SCIENCES | {"CS", "MATH", "STAT", "ECON", "ACCT", "LING", "PHIL", "INFO", "SEC", "LAW"},
    "Data Exercise": _SCIENCES - {"ASTR"}
    | {"CS", "STAT", "ECON", "BUS", "ACCT", "SOC", "GEOG", "PUBH", "NURS", "INFO", "LING"},
}
"""Departments whose students write such things; others are written everywhere."""
_ASSIGNMENT_ACTS = (
    "Compare {a} with {b}", "Explain how {a} and {b} depend on each other", "Give an account of {a}",
    "Take a position on {a} and defend it against one objection drawn from {b}", "Work out an example of {a}",
    "Describe two open questions about {a}", "Summarise what the set texts say on {a} and on {b}",
    "Plan a small study of {a}", "Find a mistake in a published treatment of {a}", "Draw a diagram of {a}",
    "Write a guide to {a} for somebody who knows only {b}", "Collect five sources on {a} and rank them",
    "Apply the method from the seminar to {a}", "Discuss whether {a} could do without {b}",
    "Answer the numbered questions on {a}", "Record your observations on {a}",
    "Reconstruct the argument on {a}",
)  # fmt: skip
_PARTS = ("practical part", "bonus part", "written part")
"""Parts that may be due before or after the rest."""
_LIMITS = (
    "in {n} pages", "in at most {n}00 words", "on {n} slides", "in {n} paragraphs",
    "using no more than {n} figures", "with at least {n} references", "with notes on {n} of the readings",
)  # fmt: skip
_FURTHER = (
    "say where your examples of {b} come from.", "quote at least {n} sources on {b}, one of them printed.",
    "some points are for the part on {b}.", "work alone or with one partner, and name the partner.",
    "a sketch of {b} may be drawn by hand.", "explain every term of {b} that the lectures have not used.",
    "put the figures on {b} at the end.", "those who did {b} last week may build on it.",
    "leave a margin for remarks.", "{b} may be left out if space runs short.",
    "an outline of {n} lines comes first.", "compare your result with what the handout says on {b}.",
    "mark what is taken from others, tables on {b} too.", "write for somebody who has never heard of {b}.",
)  # fmt: skip
_QUIZ_SCOPES = (
    "Covers {a} and {b}", "On {a}, with one look back at {b}", "Tests what the lectures said about {a}",
    "Short questions on {a}, longer ones on {b}", "About the reading on {a}", "Everything on {a} up to {b}",
    "Definitions from {a}; one longer question on {b}", "Questions on {a} in the style of the exercises",
)  # fmt: skip
_QUIZ_RULES = (
    "notes are allowed", "no notes, please", "a pencil is enough", "one sheet of notes is allowed",
    "to be taken alone", "answers are shown afterwards", "read each question twice",
    "chapter {n} in the book",
    "weeks {m} to {n} of the lecture", "bring the handout from week {n}",
)  # fmt: skip


class Titles:
    """Names works and writes what they ask for."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def title(self, course: Course, kind: Kind, numbers: range) -> str:
        """A title that no other work of the course has; some contain another title of the same course."""
        rng, department = self._rng, course.subject.code_prefix
        forms = [form for form in _FORMS[kind] if department in _OF_SOME.get(form, {department})]
        while True:
            form = rng.choice(forms)
            draw = rng.random()
            # Sorted: the order of a set is not the same everywhere.
            others = [title for title in sorted(course.titles) if title.startswith(_FORMS[kind])]
            if draw < 0.15 and others:
                base = rng.choice(others)
                title = f"{base}, {rng.choice(_PARTS)}"
            elif draw < 0.6:
                title = f"{form} {rng.choice(numbers)}"
            elif draw < 0.7:
                title = f'{form} on "{self._topic(course)}"'
            else:
                title = f"{form}: {self._topic(course)}"
            if title not in course.titles and title.count(", ") < 2:
                course.titles.add(title)
                return title

    def _topic(self, course: Course) -> str:
        topic = self._rng.choice(course.subject.topics)
        return topic[0].upper() + topic[1:]

    def description(self, course: Course, kind: Kind, title: str, *, longer: bool = False) -> str:
        """Write a work's description as one or two HTML paragraphs that fit the title."""
        rng = self._rng
        a, b = rng.sample(course.subject.topics, 2)
        named = [topic for topic in course.subject.topics if topic.lower() in title.lower()]
        if named and a != named[0]:
            a, b = named[0], a
        # A mark-up in the middle, and an "&" as an entity: the plain text is not just the text without tags.
        first, second = self._mark(a), self._mark(b)
        if kind == "quiz":
            m = rng.randint(2, 6)
            text = f"{rng.choice(_QUIZ_SCOPES)}; {rng.choice(_QUIZ_RULES)}.".format(
                a=first, b=second, m=m, n=rng.randint(m + 1, 9)
            )
        else:
            text = f"{rng.choice(_ASSIGNMENT_ACTS)} {rng.choice(_LIMITS)}.".format(
                a=first, b=second, n=rng.randint(2, 7)
            )
        paragraphs = [text]
        if longer:
            extra = rng.choice(_FURTHER).format(a=a, b=b, n=rng.randint(2, 9))
            paragraphs.append(extra[0].upper() + extra[1:])
        if len(paragraphs) > 1 and rng.random() < 0.3:
            return f"<p>{paragraphs[0]}<br>{paragraphs[1]}</p>"
        return "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)

    def _mark(self, topic: str) -> str:
        draw = self._rng.random()
        if draw < 0.12:
            return f"<em>{topic}</em>"
        return f"{topic} &amp; related matters" if draw < 0.2 else topic
