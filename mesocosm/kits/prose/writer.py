"""Writes sentences, messages, threads and texts about a topic."""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass

from mesocosm.kits.prose.courses import Courses, CourseSubject, catalogue
from mesocosm.kits.prose.faked import Address
from mesocosm.kits.prose.grammar import BOUND, BOUND_INDEX, Node, expand
from mesocosm.kits.prose.inflect import conjugate, fix_articles
from mesocosm.kits.prose.names import Names, Person
from mesocosm.kits.prose.products import Product, Products
from mesocosm.kits.prose.said import RecentRuns
from mesocosm.kits.prose.topics import DOCUMENTS, OF_COURSES, Sections, sections, shared_grammar
from mesocosm.kits.prose.words import cost

_LEAD_SHARE = 0.08
_TAIL_SHARE = 0.12
_SAID_AS_IT_IS = (
    "please ",
    "you ",
    "I ",
    "my ",
    "if ",
    "bring ",
    "remember ",
    "use ",
    "why ",
    "would ",
    "could ",
    "sorry ",
    "excuse ",
    "maybe ",
    "perhaps ",
    "for ",
    "with questions",
    "still open",
    "one open question",
    "all that is left",
    "somebody ",
    "one of us ",
    "who ",
    "there is ",
    "found ",
    "lost ",
    '"',
)
"""Beginnings of sentences that take no prefix: "As far as I can tell, please bring a pen"."""
_ASKING = tuple(start for start in _SAID_AS_IT_IS if start not in ("you ", "I ", "my "))
"""Beginnings of sentences that take no suffix: "please bring a pen, as Ann confirmed"."""
_SAYING = (
    " said", " says", " say ", "told", "tells", "mentioned", "pointed out", "reported", "remarked", "noticed",
    "confirm", "explain", "ccording to", " spoke", " tell ", " thinks", " heard", "agreed", " asked",
    "wondered", "offered", "promised", "volunteered",
)  # fmt: skip
_ONCE_A_SENTENCE = ((", which",), ("because", "since "), ("though ",), (";",), (" if ",), (", as ",), _SAYING)
"""Words of one sense, of which a sentence has at most one: it gives one reason, and has one source."""
_APART = 8
"""So many other ways to make a sentence come before one comes again, whatever the sentences are asked for."""
_ONE_MAIL = 500
"""Tokens below which a text is part of a mail, and says nothing in the same way twice."""
_FIT_FROM = 48
"""Tokens left at which a text begins to choose sentences by their length."""

_ATTEMPTS = 6
"""Attempts to find words that were not used before."""

_FACTS = {"matter": "M", "person": "PF", "place": "PLACE", "company": "ORG", "day": "DAY"}
_OF_A_MATTER = ("PLACE", "ORG", "DAY", "P", "PF", "Q", "QF", "R", "RF", "X", "Y", "Z")
_STATED = {
    "deadline": "the deadline is {}",
    "date": "the date is {}",
    "time": "it starts at {}",
    "amount": "the amount is {}",
    "stock": "{} are in stock",
}


@dataclass(frozen=True)
class ProseMessage:
    """A mail or post: what its subject announces, its body is about."""

    subject: str
    body: str
    sender: Person | None = None
    recipient: Person | None = None


class _Deck:
    """Deals the entries of a list in random order, all of them before any comes again.

    What comes several times in a list does not come again soon.
    """

    __slots__ = ("_entries", "_last", "_left", "_rng")

    def __init__(self, entries: list[Node], rng: random.Random) -> None:
        # What comes several times in a list is one entry of greater weight: it has one number.
        numbers = {id(entry): number for number, entry in reversed(list(enumerate(entries)))}
        self._entries = [(numbers[id(entry)], entry) for entry in entries]
        self._rng = rng
        self._left: list[tuple[int, Node]] = []
        self._last: deque[int] = deque(maxlen=min(_APART, len(set(numbers.values())) // 2))

    def deal(self, *, but: Container[int] = ()) -> tuple[int, Node]:
        """The next entry with its number, if possible none of ``but``."""
        dealt = self._next()
        for _ in range(_ATTEMPTS):
            if dealt[0] not in but and dealt[0] not in self._last:
                break
            self._left.insert(0, dealt)
            dealt = self._next()
        self._last.append(dealt[0])
        return dealt

    def _next(self) -> tuple[int, Node]:
        if not self._left:
            self._left = self._entries.copy()
            self._rng.shuffle(self._left)
        return self._left.pop()


class _Scene:
    """One matter with its people and places: the facts that the sentences of a message share."""

    __slots__ = ("apart", "bound", "dealt", "sections", "told", "topic")

    def __init__(self, topic: str, topic_sections: Sections, apart: Collection[str]) -> None:
        self.topic = topic
        self.sections = topic_sections
        self.apart = apart
        """First names of who writes and who reads, whom no sentence speaks of by them."""
        self.bound = [""] * len(BOUND)
        self.dealt = 0
        """The number of the template that the last sentence was made from."""
        self.told: dict[str, set[int]] = {}
        """Numbers of the templates, by their section, that sentences of the message were made from: nobody
        says things in the same way twice in one mail."""

    def __getitem__(self, name: str) -> str:
        return self.bound[BOUND_INDEX[name]]

    def __setitem__(self, name: str, value: str) -> None:
        self.bound[BOUND_INDEX[name]] = value

    def names_its_people(self, line: str) -> bool:
        """True if a line mentions its writer or reader in the third person."""
        return any(re.search(rf"\b{re.escape(name)}\b", line) for name in self.apart)


class Prose:
    """All the words of one world. ``rng`` is the only source of randomness.

    With ``said``, sentences differ from what was said before in any eight words in a row, if a few attempts
    find such. ``currency``: the sign before all sums. ``apart``: first names that sentences do without.
    """

    def __init__(
        self,
        rng: random.Random,
        said: RecentRuns | None = None,
        currency: str = "$",
        apart: Collection[str] = (),
    ) -> None:
        self._rng = rng
        self._said = said
        self._currency = currency
        self._apart = apart
        self._names = Names(rng)
        self._courses = Courses(rng)
        self._products = Products(rng, self._names)
        self._decks: dict[tuple[str, str], _Deck] = {}
        self._facts: dict[tuple[str, str], dict[str, str]] = {}

    # Names and things ---------------------------------------------------------------------------------

    def person(self) -> Person:
        """Somebody not met before; name and handle are unique in this world."""
        return self._names.person()

    def company(self) -> str:
        """A company not met before."""
        return self._names.company()

    def place(self) -> str:
        """A town not met before."""
        return self._names.place()

    def town(self) -> str:
        """A town where English is spoken, in no gazetteer; other places are of all the world."""
        return self.address().city

    def address(self, locale: str = "en_US", state: str = "") -> Address:
        """Draw a postal address in the country's own form."""
        return self._names.address(locale, state)

    def product(self, category: str | None = None) -> Product:
        """A product with a name and a SKU of its own, of a category of `CATEGORIES`."""
        return self._products.draw(category)

    def course_subject(self) -> CourseSubject:
        """A subject not taught before."""
        return self._courses.draw()

    # Text ---------------------------------------------------------------------------------------------

    def sentence(self, topic: str, *, subject: CourseSubject | None = None, **facts: str) -> str:
        """One sentence, which mentions every fact given.

        Facts: matter, person, place, company, day, and deadline, date, time, amount, stock, which are
        stated only when given.
        """
        scene = self._scene(topic, subject)
        for name, value in facts.items():
            if name not in _FACTS and name not in _STATED:
                raise ValueError(f"unknown fact {name!r}; known: {', '.join([*_FACTS, *_STATED])}")
            if name in _FACTS:
                self._set_fact(scene, name, value)
        sentence = self._body_sentence(scene)
        for _ in range(8):
            if all(value in sentence for name, value in facts.items() if name in _FACTS):
                break
            sentence = self._body_sentence(scene)
        missing = [
            _STATED.get(name, "this concerns {}").format(value)
            for name, value in facts.items()
            if value not in sentence
        ]
        if missing:
            sentence = f"{sentence[:-1]}; {' and '.join(missing)}."
        return sentence

    def paragraph(self, topic: str, sentences: int = 4, *, subject: CourseSubject | None = None) -> str:
        """One paragraph about one matter."""
        return " ".join(self.sentences(topic, sentences, subject=subject))

    def sentences(
        self, topic: str, count: int, *, subject: CourseSubject | None = None, matter: str | None = None
    ) -> list[str]:
        """The sentences of one paragraph about one matter."""
        return list(self.each_sentence(topic, count, subject=subject, matter=matter))

    def each_sentence(
        self, topic: str, count: int, *, subject: CourseSubject | None = None, matter: str | None = None,
        opening: bool = True,
    ) -> Iterator[str]:  # fmt: skip
        """The sentences of one paragraph about one matter, each made when it is asked for; ``opening``: the
        first of them introduces it."""
        scene = self._scene(topic, subject)
        if matter is not None:
            self._set_fact(scene, "matter", matter)
        for number in range(count):
            if opening and not number:
                yield self._opening(scene)
            else:
                yield self._body_sentence(scene)
                scene.told.setdefault("body", set()).add(scene.dealt)

    def matter(self, topic: str, *, subject: CourseSubject | None = None) -> str:
        """Something to write about, as the arguments ``matter`` take it."""
        scene = self._scene(topic, subject)
        whole, short = scene["Mb"], scene["mb"]
        return f"{whole.removesuffix(short)}~{short}"

    def title(self, topic: str, *, subject: CourseSubject | None = None, matter: str | None = None) -> str:
        """Draw a short title for a message."""
        scene = self._scene(topic, subject)
        if matter is not None:
            self._set_fact(scene, "matter", matter)
        return self._line(scene, self._deal(scene, "subject"))

    def text(
        self, topic: str, tokens: int, *, subject: CourseSubject | None = None, matter: str | None = None,
        opening: bool = True,
    ) -> str:  # fmt: skip
        """Paragraphs of ``tokens`` tokens, give or take one short sentence: about one matter after another,
        or about one alone. ``opening``: the first sentence about each introduces it."""
        paragraphs: list[str] = []
        left = tokens
        told: dict[str, set[int]] = {}
        while left > 8 or not paragraphs:
            scene = self._scene(topic, subject)
            if tokens < _ONE_MAIL:
                scene.told = told
            if matter is not None:
                self._set_fact(scene, "matter", matter)
            first: str | None = None
            if opening:
                first = self._opening(scene)
                opening = matter is None
            for _ in range(1 + int(self._rng.random() * 3)):
                paragraph, left = self._fill(scene, left, first, 3 + int(self._rng.random() * 4))
                first = None
                if not paragraph:
                    return "\n\n".join(paragraphs)
                paragraphs.append(paragraph)
        return "\n\n".join(paragraphs)

    def message(
        self,
        topic: str,
        tokens: int = 120,
        sender: Person | None = None,
        recipient: Person | None = None,
        *,
        subject: CourseSubject | None = None,
        matter: str | None = None,
    ) -> ProseMessage:
        """A mail about one matter; its body has about ``tokens`` tokens, greeting and name included."""
        people = [one.first for one in (sender, recipient) if one]
        scene = self._scene(topic, subject, people)
        if matter is not None:
            self._set_fact(scene, "matter", matter)
        title = self._line(scene, self._deal(scene, "subject"))
        body = self._body(scene, tokens, self._opening(scene), sender, recipient)
        return ProseMessage(title, body, sender, recipient)

    def thread(
        self,
        topic: str,
        length: int,
        people: Sequence[Person],
        *,
        tokens: int = 90,
        subject: CourseSubject | None = None,
    ) -> list[ProseMessage]:
        """``length`` messages among ``people`` on one matter, each answering the one before it."""
        if not people:
            raise ValueError("a thread needs at least one person")
        scene = self._scene(topic, subject)
        title = self._line(scene, self._deal(scene, "subject"))
        messages: list[ProseMessage] = []
        at = int(self._rng.random() * len(people))
        opening = self._opening(scene)
        for turn in range(length):
            sender = people[at]
            step = 1 + int(self._rng.random() * max(1, len(people) - 1))
            following = people[(at + step) % len(people)]
            recipient = messages[-1].sender if messages else following
            if messages:
                opening = self._answer(scene, messages[-1].sender)
            body = self._body(scene, tokens, opening, sender, recipient, last=turn == length - 1)
            messages.append(ProseMessage(title if not messages else f"Re: {title}", body, sender, recipient))
            at = (at + step) % len(people)
        return messages

    # Parts of a message -------------------------------------------------------------------------------

    def _body(
        self,
        scene: _Scene,
        tokens: int,
        opening: str,
        sender: Person | None,
        recipient: Person | None,
        last: bool = True,
    ) -> str:
        blocks: list[str] = []
        ending: list[str] = []
        left = tokens
        if scene.topic not in DOCUMENTS:
            hello, goodbye = self._courtesies(scene, sender, recipient)
            if hello:
                blocks.append(hello)
            if goodbye and tokens >= 40:
                ending.append(goodbye)
            left -= sum(cost(block) + 1 for block in blocks + ending)
        # A message that will be answered asks for something; the last one may just end.
        closing = ""
        if not last or self._rng.random() < 0.5:
            closing = self._ask(scene) if scene.topic not in DOCUMENTS else ""
        elif self._rng.random() < 0.6:
            closing = self._line(scene, self._deal(scene, "close"))
        if closing and left - cost(closing) < 30 and last:
            closing = ""
        left -= cost(closing)
        first: str | None = opening
        while left > 8 or first is not None:
            paragraph, left = self._fill(scene, left, first, 2 + int(self._rng.random() * 4))
            if not paragraph:
                break
            blocks.append(paragraph)
            first = None
        if closing:
            if len(blocks) > 2 and self._rng.random() < 0.6:
                blocks.append(closing)
            else:
                blocks[-1] += " " + closing
        return "\n\n".join(blocks + ending)

    def _courtesies(self, scene: _Scene, sender: Person | None, recipient: Person | None) -> tuple[str, str]:
        scene["TO"] = recipient.first if recipient else ""
        hello = self._expand(scene, scene.sections.grammar.rule("greeting" if recipient else "greeting_all"))
        goodbye = ""
        if sender:
            goodbye = (
                self._expand(scene, scene.sections.grammar.rule("signoff"))
                + "\n"
                + (sender.first if self._rng.random() < 0.6 else sender.name)
            )
        return hello, goodbye

    def _ask(self, scene: _Scene) -> str:
        # What a writer does, and what one asks of others, need not be the same.
        name = "request.mark" if "request" in scene.sections.grammar else "act.mark"
        marked = self._expand(scene, scene.sections.grammar.rule(name))
        scene["ASK"] = conjugate(marked, "")
        sentence = self._line(scene, self._deal(scene, "ask_line"))
        scene["PREVASK"] = scene["ASK"]
        scene["PREVASKED"] = conjugate(marked, "en")
        scene["PREVASKDID"] = conjugate(marked, "ed")
        return sentence

    def _answer(self, scene: _Scene, previous: Person | None) -> str:
        scene["PREV"] = previous.first if previous else ""
        if not scene["PREVASK"]:
            return self._opening(scene)
        return self._line(scene, self._deal(scene, "reply_open"))

    def _fill(self, scene: _Scene, left: int, first: str | None, sentences: int) -> tuple[str, int]:
        """A paragraph of ``sentences`` sentences or ``left`` tokens, if those are fewer; and what is left."""
        lines = [first] if first else []
        left -= cost(first) if first else 0
        while len(lines) < sentences:
            if left < _FIT_FROM:
                sentence = self._fitting(scene, left)
                if not sentence:
                    return " ".join(lines), min(left, 8)
            else:
                sentence = self._body_sentence(scene)
            scene.told.setdefault("body", set()).add(scene.dealt)
            lines.append(sentence)
            left -= cost(sentence)
        return " ".join(lines), left

    def _fitting(self, scene: _Scene, left: int) -> str:
        """The sentence, of a few, nearest to ``left`` tokens; "" when none is nearer than stopping."""
        best, distance, dealt = "", abs(left) if left > 0 else 0, scene.dealt
        for _ in range(7):
            if distance < 4:
                break
            sentence = self._body_sentence(scene)
            off = abs(left - cost(sentence))
            if off < distance:
                best, distance, dealt = sentence, off, scene.dealt
        scene.dealt = dealt
        return best

    # Sentences ----------------------------------------------------------------------------------------

    def _opening(self, scene: _Scene) -> str:
        return self._new_line(scene, "open")

    def _body_sentence(self, scene: _Scene) -> str:
        return self._new_line(scene, "body")

    def _new_line(self, scene: _Scene, section: str) -> str:
        """Draw a sentence that was not used before, if repetition is tracked."""
        line = self._line(scene, self._deal(scene, section))
        for _ in range(_ATTEMPTS):
            if not (scene.names_its_people(line) or (self._said is not None and self._said.again(line))):
                break
            line = self._line(scene, self._deal(scene, section))
        return line

    def _line(self, scene: _Scene, node: Node) -> str:
        """A template as a sentence (or a subject line, when it belongs to one)."""
        out: list[str] = []
        uniform = self._rng.random
        expand(node, scene.bound, uniform, out.append)
        text = "".join(out)
        if text[-1] == "~":  # a subject line: never dressed up, never ended with a full stop
            return self._in_currency(_polish(text[:-1].strip()))
        if text[-1] not in ".?!":
            out.clear()
            # Nobody says of what one does oneself that others report it: "Ann and I met, according to Bob".
            of_others = " I " not in text and "? " not in text and not text.startswith(("I ", "my "))
            if uniform() < _LEAD_SHARE and of_others and not text.startswith(_SAID_AS_IT_IS):
                rule = "doclead" if scene.topic in DOCUMENTS else "lead"
                lead = self._dressing(scene, rule, text)
                out.append(f"{lead} " if lead else "")
            out.append(text)
            if uniform() < _TAIL_SHARE and of_others and not text.startswith(_ASKING):
                out.append(self._dressing(scene, "tail", text))
            out.append(".")
            text = "".join(out)
        return self._in_currency(_polish(text))

    def _dressing(self, scene: _Scene, rule: str, text: str) -> str:
        """Draw an opening or closing of a sentence, unused in the message."""
        ways = scene.sections.grammar.rule(rule)
        told = scene.told.setdefault(rule, set())
        for _ in range(_ATTEMPTS):
            place = int(self._rng.random() * len(ways))
            if place in told:
                continue
            said = self._expand(scene, ways[place])
            if not any(_has(text, words) and _has(said, words) for words in _ONCE_A_SENTENCE):
                told.add(place)
                return said
        return ""

    def _in_currency(self, text: str) -> str:
        return text if self._currency == "$" else text.replace("$", self._currency)

    def _deal(self, scene: _Scene, section: str) -> Node:
        deck = self._decks.get((scene.topic, section))
        if deck is None:
            entries = scene.sections.entries(section)
            deck = self._decks[scene.topic, section] = _Deck(entries, self._rng)
        scene.dealt, node = deck.deal(but=scene.told.get(section, ()))
        return node

    def _expand(self, scene: _Scene, node: Node) -> str:
        out: list[str] = []
        expand(node, scene.bound, self._rng.random, out.append)
        return "".join(out)

    def _scene(self, topic: str, subject: CourseSubject | None, apart: Collection[str] = ()) -> _Scene:
        topic_sections = sections(topic)
        grammar = topic_sections.grammar
        scene = _Scene(topic, topic_sections, apart or self._apart)
        for short, full in (("P", "PF"), ("Q", "QF"), ("R", "RF")):
            name = self._expand(scene, grammar.rule("fullname"))
            while scene.names_its_people(name):
                name = self._expand(scene, grammar.rule("fullname"))
            scene[full] = name
            scene[short] = name.split(" ", 1)[0]
        scene["PLACE"] = self._expand(scene, grammar.rule("place"))
        scene["ORG"] = self._expand(scene, grammar.rule("firm"))
        scene["DAY"] = self._expand(scene, grammar.rule("weekday"))
        if topic in OF_COURSES:
            self._bind_course(scene, subject)
        for fact, rule in topic_sections.facts:
            scene[fact] = self._expand(scene, rule)
        self._bind_matter(scene, self._expand(scene, self._deal(scene, "matter")))
        return scene

    def _bind_course(self, scene: _Scene, subject: CourseSubject | None) -> None:
        if subject is None:
            entries = catalogue()
            entry = entries[int(self._rng.random() * len(entries))]
            scene["COURSE"] = f"{entry.prefix} {100 + int(self._rng.random() * 500)}"
            scene["TITLE"] = entry.title
            topics: Sequence[str] = entry.topics
        else:
            scene["COURSE"], scene["TITLE"], topics = subject.code, subject.title, subject.topics
        for name, value in zip("TUV", self._rng.sample(topics, min(3, len(topics))), strict=False):
            scene[name] = value

    def _set_fact(self, scene: _Scene, name: str, value: str) -> None:
        if name == "matter":
            self._bind_matter(scene, value)
            self._share_facts(scene, value)
        else:
            scene[_FACTS[name]] = value
            if name == "person":
                scene["P"] = value.split(" ", 1)[0]

    @staticmethod
    def _bind_matter(scene: _Scene, value: str) -> None:
        long, _, short = value.rpartition("~")
        scene["MOD"] = long.strip()
        scene["mb"] = short.strip()
        scene["Mb"] = " ".join((long + " " + short).split())
        scene["m"], scene["M"] = "the " + scene["mb"], "the " + scene["Mb"]

    def _share_facts(self, scene: _Scene, matter: str) -> None:
        """All that is written about a matter that was named has its firm, its day, its people and its things
        in common: a title with the text below it."""
        facts = self._facts.setdefault((scene.topic, matter), {name: scene[name] for name in _OF_A_MATTER})
        for name, value in facts.items():
            scene[name] = value


_PLURAL = re.compile(r"(ch|sh|x|ss)s\b|(?<=[^aeiou\W])(ys)\b|(el)fs\b|(ni)fes\b|(?<=post|ferr)(y?mans)\b")
_PLURAL_HINTS = ("chs", "shs", "xs", "sss", "ys", "lfs", "ifes", "mans")
"""Cheap to look for; few sentences need the pattern."""


_DOUBLED = re.compile(r"(?<![-\w])(\w\w++) \1(?![-\w'])")
"""A modifier met again as the first word of what it modifies: "lost lost languages"."""
_ASKED = re.compile(r"\? [a-z]")
"""A small letter behind a question, where a sentence begins."""
_STRAY_SPACES = (" ,", " .", " ;", " :", " ?", " !")


def _plural(match: re.Match[str]) -> str:
    hiss, y, el, ni, man = match.groups()
    if hiss:
        return str(hiss) + "es"
    if y:
        return "ies"
    return f"{el or ni}ves" if el or ni else str(man).replace("mans", "men")


def _polish(text: str) -> str:
    """Mend what slots leave behind: double spaces, "a" before a vowel, "coachs", the first letter."""
    if "  " in text:
        text = " ".join(text.split())
    for stray in _STRAY_SPACES:
        if stray in text:
            text = text.replace(stray, stray[1])
    for hint in _PLURAL_HINTS:
        if hint in text:
            text = _PLURAL.sub(_plural, text)
            break
    if _DOUBLED.search(text):
        text = _DOUBLED.sub(r"\1", text)
    text = fix_articles(text)
    if "? " in text:
        text = _ASKED.sub(lambda match: match[0].upper(), text)
    return text[0].upper() + text[1:]


def greeting(rng: random.Random, to: Person | None = None) -> str:
    """The first line of a letter, to one person or to all."""
    out: list[str] = []
    bound = [""] * len(BOUND)
    bound[BOUND_INDEX["TO"]] = to.first if to else ""
    expand(shared_grammar().rule("greeting" if to else "greeting_all"), bound, rng.random, out.append)
    return "".join(out)


def signature(person: Person, role: str, company: str | None = None) -> str:
    """The last lines of a letter: name, role and perhaps company."""
    return "\n".join([person.name, role, *([company] if company else [])])


def _has(text: str, words: Sequence[str]) -> bool:
    return any(word in text for word in words)
