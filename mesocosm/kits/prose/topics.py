"""The topics that can be written about, and their grammars."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from mesocosm.kits.prose import faked
from mesocosm.kits.prose.grammar import Grammar, Node, read_rules

Topic = Literal[
    "admissions",
    "author_notes",
    "bug_reports",
    "campus_life",
    "conference",
    "counting_notes",
    "course_admin",
    "coursework",
    "customer_letters",
    "events",
    "exam_office",
    "finance",
    "group_news",
    "household",
    "hr",
    "it_support",
    "maintenance",
    "market_notes",
    "market_report",
    "meeting_minutes",
    "newsletter",
    "personal",
    "policy_document",
    "product_description",
    "project_work",
    "purchasing",
    "research",
    "shift_notes",
    "shop_marketing",
    "shop_orders",
    "shop_pages",
    "shop_suppliers",
    "shop_visits",
    "site_contacts",
    "student_letters",
    "supplier",
    "teaching",
    "technical_doc",
    "travel",
]
TOPICS: tuple[Topic, ...] = get_args(Topic)
DOCUMENTS = frozenset(
    {
        "market_notes",
        "market_report",
        "meeting_minutes",
        "policy_document",
        "product_description",
        "technical_doc",
    }
)
"""Topics written without "I" and "you", and without greetings."""
OF_COURSES = frozenset({"course_admin", "coursework", "group_news", "student_letters", "teaching"})
"""Topics about a course: its code, its title and what it treats."""
_FACT_RULES = (("X", "fact_x"), ("Y", "fact_y"), ("Z", "fact_z"))


class Sections:
    """The rules of a topic's grammar that a writer deals from."""

    def __init__(self, grammar: Grammar, frames: str) -> None:
        self.grammar = grammar
        self._frames = frames
        known = grammar.names()
        self.facts = [(fact, grammar.rule(rule)) for fact, rule in _FACT_RULES if rule in known]
        """Facts that a message's sentences have in common, and the rules that it comes from."""

    def entries(self, section: str) -> list[Node]:
        """The linked templates of a section; the body includes the frames that topics share."""
        if section == "subject":
            return [(node, "~") for node in self.grammar.rule(section)]
        if section == "body":
            # What is the topic's own comes more often, so that no frame is met in every message.
            return 3 * self.grammar.rule(section) + 2 * self.grammar.rule(self._frames)
        return self.grammar.rule(section)


def data(name: str) -> str:
    """The text of a packaged data file."""
    return files("mesocosm.kits.prose").joinpath("data", name + ".txt").read_text(encoding="utf-8")


@cache
def shared_grammar() -> Grammar:
    """People, places, dates and the sentence frames common to all topics."""
    return Grammar(read_rules(data("common")), Grammar(read_rules(data("names")), pools=faked.pools()))


@cache
def sections(topic: str) -> Sections:
    """The linked grammar of a topic; ValueError when there is no such topic."""
    if topic not in TOPICS:
        raise ValueError(f"unknown topic {topic!r}; known: {', '.join(TOPICS)}")
    grammar = Grammar(read_rules(data(topic)), shared_grammar())
    return Sections(grammar, "docframe" if topic in DOCUMENTS else "frame")
