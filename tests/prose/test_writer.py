"""Messages, threads, names, products and courses."""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import pairwise

import pytest
from lemminflect import getInflection

from mesocosm.kits.prose import CATEGORIES, TOPICS, Prose, RecentRuns, greeting, signature
from mesocosm.kits.prose.courses import catalogue
from mesocosm.kits.prose.grammar import Grammar, check, expand, parse_template, read_rules
from mesocosm.kits.prose.inflect import Form, conjugate, fix_articles, inflect
from mesocosm.kits.prose.topics import data, sections
from mesocosm.worlds.tokens import count


@pytest.fixture
def prose() -> Prose:
    return Prose(random.Random(3))


@pytest.mark.parametrize("topic", TOPICS)
def test_every_slot_of_every_topic_has_a_rule(topic: str) -> None:
    grammar = sections(topic).grammar
    check(grammar)
    assert {"matter", "act", "issue", "role", "subject", "open", "body", "close"} <= grammar.names()


def test_unknown_topic_names_the_known_ones(prose: Prose) -> None:
    with pytest.raises(ValueError, match="newsletter"):
        prose.text("gossip", 100)


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("tokens", [60, 400, 3000])
def test_text_has_the_length_asked_for(prose: Prose, topic: str, tokens: int) -> None:
    assert count(prose.text(topic, tokens)) == pytest.approx(tokens, abs=18 + tokens * 0.005)


@pytest.mark.parametrize("topic", TOPICS)
def test_message_has_about_the_length_asked_for(prose: Prose, topic: str) -> None:
    for _ in range(10):
        message = prose.message(topic, 150, prose.person(), prose.person())
        assert count(message.body) == pytest.approx(150, abs=30)


def test_message_greets_its_recipient_and_is_signed(prose: Prose) -> None:
    sender, recipient = prose.person(), prose.person()
    message = prose.message("project_work", 150, sender, recipient)
    assert recipient.first in message.body.splitlines()[0]
    assert message.body.splitlines()[-1] in (sender.first, sender.name)


def test_body_is_about_the_matter_of_the_subject(prose: Prose) -> None:
    message = prose.message("project_work", 150, matter="quayside ~ turbine")
    assert "quayside turbine" in message.subject.lower()
    assert "turbine" in message.body


def test_thread_answers_on_the_same_matter(prose: Prose) -> None:
    people = [prose.person() for _ in range(3)]
    thread = prose.thread("household", 5, people)
    assert [message.subject for message in thread[1:]] == [f"Re: {thread[0].subject}"] * 4
    for before, after in pairwise(thread):
        assert after.recipient == before.sender
        assert after.sender != before.sender


def test_course_subject_shows_in_coursework(prose: Prose) -> None:
    subject = prose.course_subject()
    message = prose.message("coursework", 200, subject=subject)
    assert any(topic.lower() in message.body.lower() for topic in subject.topics)


def test_sentence_states_the_facts_given(prose: Prose) -> None:
    sentence = prose.sentence("conference", deadline="12 May", company="Halden Press")
    assert "the deadline is 12 May" in sentence
    assert "Halden Press" in sentence


def test_unknown_fact_names_the_known_ones(prose: Prose) -> None:
    with pytest.raises(ValueError, match="deadline"):
        prose.sentence("conference", colour="red")


def test_people_are_unique_for_twenty_thousand_draws(prose: Prose) -> None:
    people = [prose.person() for _ in range(20_000)]
    assert len({person.name for person in people}) == len({person.handle for person in people}) == 20_000
    assert all(person.handle.isascii() and person.handle == person.handle.lower() for person in people)


def test_companies_and_places_do_not_repeat(prose: Prose) -> None:
    assert len({prose.company() for _ in range(3000)}) == 3000
    assert len({prose.place() for _ in range(1500)}) == 1500


def test_course_titles_are_plain_and_distinct_until_exhausted(prose: Prose) -> None:
    plain = len(catalogue())
    subjects = [prose.course_subject() for _ in range(plain * 3)]
    assert plain >= 300
    assert len({entry.department for entry in catalogue()}) >= 25
    assert len({subject.title for subject in subjects}) == len(subjects)
    assert len({subject.code for subject in subjects}) == len(subjects)


def test_products_have_unique_names_and_skus(prose: Prose) -> None:
    products = [prose.product() for _ in range(5000)]
    assert len({product.name for product in products}) == len({product.sku for product in products}) == 5000
    assert {product.category for product in products} == set(CATEGORIES)
    assert all(float(product.price) > 0 for product in products)


def test_unknown_category_names_the_known_ones(prose: Prose) -> None:
    with pytest.raises(ValueError, match="Kitchen"):
        prose.product("Spaceships")


def test_greeting_and_signature(prose: Prose) -> None:
    person = prose.person()
    assert person.first in greeting(random.Random(1), person)
    assert signature(person, "Dean", "Northwick College") == f"{person.name}\nDean\nNorthwick College"


@pytest.mark.parametrize(
    ("base", "form", "expected"),
    [
        ("plan", "ing", "planning"),
        ("write off", "en", "written off"),
        ("carry", "s", "carries"),
        ("rebuild", "ed", "rebuilt"),
        ("submit", "ed", "submitted"),
        ("put", "ing", "putting"),
        ("read", "ing", "reading"),
        ("order", "ed", "ordered"),
    ],
)
def test_verbs_take_their_forms(base: str, form: Form, expected: str) -> None:
    assert inflect(base, form) == expected


@pytest.mark.parametrize(("form", "tag"), [("s", "VBZ"), ("ed", "VBD"), ("en", "VBN"), ("ing", "VBG")])
def test_verbs_have_the_forms_that_a_lexicon_gives_them(form: Form, tag: str) -> None:
    rules = [read_rules(data(name)) for name in (*TOPICS, "common")]
    texts = [text for known in rules for ways in known.values() for text in ways]
    verbs = {verb for text in texts for found in re.findall("<(.+?)>", text) for verb in found.split("|")}
    bases = {verb.partition(" ")[0].rpartition("-")[2] for verb in verbs}
    assert len(bases) > 250
    for base in sorted(bases):
        known = [found for found in getInflection(base, tag) if found.isalpha()]
        british = [found for found in known if "ll" in found and "ll" not in base]
        assert inflect(base, form) == (british or known)[0]


def test_articles_follow_the_sound() -> None:
    text = fix_articles("a apple, a hour, a unit, a one-off, A idea, a MSc and a useful US office")
    assert text == "an apple, an hour, a unit, a one-off, An idea, an MSc and a useful US office"


def test_marked_verbs_are_conjugated_together() -> None:
    out: list[str] = []
    grammar = Grammar(read_rules("act:\n    <check> it and <write> back"))
    expand(grammar.rule("act.mark"), (), random.Random(0).random, out.append)
    assert conjugate("".join(out), "en") == "checked it and written back"


@pytest.mark.parametrize("template", ["[open", "shut]", "{no slot}", "<>"])
def test_malformed_templates_are_refused(template: str) -> None:
    with pytest.raises(ValueError, match=r"malformed|unbalanced|never closed"):
        parse_template(template, "")


def test_who_remembers_what_was_said_hardly_says_it_again() -> None:
    said = RecentRuns()
    shares = []
    for memory in (said, None):
        writers = [Prose(random.Random(seed), memory) for seed in (1, 2)]
        subject = writers[0].course_subject()
        sentences = [
            one
            for _ in range(700)
            for writer in writers
            for one in [writer.sentence("coursework", subject=subject)]
        ]
        runs = Counter(
            run
            for words in map(str.split, map(str.lower, sentences))
            for run in zip(*(words[at:] for at in range(8)), strict=False)
        )
        shares.append(sum(number for number in runs.values() if number > 1) / runs.total())
    with_memory, without = shares
    assert with_memory < without / 4


def test_what_was_said_is_known_by_eight_words_in_a_row() -> None:
    said = RecentRuns()
    assert not said.again("We will meet at the mill on Monday morning.")
    assert said.again("Perhaps we will meet at the mill on monday morning.")
    assert not said.again("We will meet at the mill on Tuesday, which is late.")
    assert not said.again("We will meet at the mill.")


def test_a_run_may_begin_in_what_stands_before_a_text() -> None:
    said = RecentRuns()
    assert not said.again("on Monday morning.", before="We will meet at the mill")
    assert said.again("We will meet at the mill on Monday morning.")
    assert not said.again("on Monday morning.")


def test_what_was_not_said_is_drawn_as_long_as_there_is_something() -> None:
    said = RecentRuns()
    sentences = [f"We will meet at the mill on {day} at noon." for day in ("Monday", "Tuesday")]
    drawn = [said.draw(iter([sentences[0], sentences[1]]).__next__) for _ in range(2)]
    assert drawn == sentences
    assert said.draw(lambda: sentences[0]) == sentences[0]
