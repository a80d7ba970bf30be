"""The pages of the browser: what each shows, written by templates that escape all text."""

# Pages are plain HTML, so that they also work in one file without a server (decision 088).

from __future__ import annotations

import base64
import datetime as dt
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any
from urllib.parse import quote, urlencode

import orjson
from jinja2 import Environment, PackageLoader, StrictUndefined

from mesocosm.errors import NotFound
from mesocosm.evaluation.browser.against_solution import how_differs
from mesocosm.evaluation.browser.calls import FILES, ShownCall
from mesocosm.evaluation.browser.comparison import compared
from mesocosm.evaluation.browser.content import file_path
from mesocosm.evaluation.browser.marks import MarkedPiece, Marks, plain
from mesocosm.evaluation.browser.subject import BUILT, NOW, Subject
from mesocosm.evaluation.browser.why import explain, said_at
from mesocosm.evaluation.browser.why_parts import WhyPart, WhyPoint
from mesocosm.evaluation.browser.why_points import points, unlike
from mesocosm.evaluation.browser.working_out import WorkedOut
from mesocosm.services.previews import LINES
from mesocosm.services.schema import description_of
from mesocosm.services.service import load_service
from mesocosm.services.views import PAGE, Asked, Item, Month, Picture, Row

CALLS = 100
"""Calls of a page."""
_RESULT = 20_000
"""Characters of a result that a page shows; the following pages have the rest."""
_FOUND = 100
_TOLD = 500
"""Facts that a page says where they are told."""
_TABS = (
    ("Overview", ""),
    ("World", "world"),
    ("Calls", "calls"),
    ("Changes", "changes"),
    ("Evidence", "evidence"),
    ("Derivations", "derivations"),
    ("People", "people"),
    ("Events", "events"),
    ("Tools", "tools"),
)


def _letters(number: int) -> str:
    """The name of a column of a spreadsheet."""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name


def _value(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    text = f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)
    return text if len(text) <= 3_000 else f"{text[:3_000]}… [{len(text) - 3_000:,} more characters]"


def _weeks(month: Month) -> list[list[tuple[dt.date, list[Any]]]]:
    by_day = defaultdict(list)
    for one in sorted(month.happenings, key=lambda one: (not one.all_day, one.start, one.title)):
        by_day[one.start.date()].append(one)
    monday = month.first - dt.timedelta(days=month.first.weekday())
    count = 1 if month.week else math.ceil(((_next_month(month.first) - monday).days) / 7)
    days = [monday + dt.timedelta(days=n) for n in range(7 * count)]
    return [[(day, by_day[day]) for day in days[n : n + 7]] for n in range(0, len(days), 7)]


def _next_month(day: dt.date) -> dt.date:
    return (day.replace(day=1) + dt.timedelta(days=32)).replace(day=1)


def _step(month: Month, by: int) -> dt.date:
    if month.week:
        return month.first + dt.timedelta(days=7 * by)
    first = month.first.replace(day=1)
    return _next_month(first) if by > 0 else (first - dt.timedelta(days=1)).replace(day=1)


def _data_uri(picture: Picture) -> str:
    return f"data:{picture.media_type};base64,{base64.b64encode(picture.data).decode()}"


_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d.{0,10})?")


@cache
def environment() -> Environment:
    """The templates. Everything is escaped; a name that is missing is an error."""
    made = Environment(
        loader=PackageLoader("mesocosm.evaluation.browser"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    made.filters |= {
        "data_uri": _data_uri,
        "json": lambda value: orjson.dumps(value).decode(),
        "kind": lambda block: type(block).__name__,
        "letters": _letters,
        "plain": plain,
        "step": _step,
        "value": _value,
        "weeks": _weeks,
    }
    made.tests["moment"] = lambda value: isinstance(value, str) and bool(_MOMENT.fullmatch(value))
    return made


_KEPT: Mapping[str, Callable[[ShownCall], bool]] = {
    "all": lambda call: True,
    "evidence": lambda call: bool(call.evidence),
    "writes": lambda call: call.writes,
    "errors": lambda call: call.status != "ok",
}


@dataclass(frozen=True)
class ShownPage:
    """One subject's place in the browser."""

    subject: Subject
    base: str
    """Where its pages are: ``/0``."""
    several: bool = False
    """True if there are others beside it."""
    frozen: bool = False
    """True if the pages go into a file, where no tool can be called."""


class Pages:
    def __init__(self, shown: ShownPage) -> None:
        self._shown = shown
        self._subject = shown.subject
        self._marks = Marks(shown.subject)

    # -- pages ------------------------------------------------------------------------------------------

    def overview(self, options: Mapping[str, str]) -> str:
        """Page with the summary, the reason of a failure, and the findings."""
        subject, info = self._subject, self._subject.episode.info
        is_known = self.knows_why or "why" in options
        _ = self._why if is_known else None
        facts: dict[str, Any] = {
            "Task": f"{subject.name}: {subject.episode.family.task.title}",
            "Length": f"{info.edl:,} tokens measured"
            + (f", {info.target:,} asked for" if info.target else ""),
            "Seed": info.seed,
            "Disturbed": info.disturb,
        }
        result = subject.result
        if subject.acted and subject.counts_quickly:
            facts |= {
                "Agent": self._agent(),
                "Calls": f"{len(subject.calls):,}",
                "Delivered": f"{sum(one.tokens for one in subject.calls):,} tokens",
            }
            if subject.evidence:
                facts["Evidence delivered"] = f"{len(subject.delivered)} of {len(subject.evidence)} pieces"
        elif result:
            facts |= {
                "Agent": self._agent(),
                "Calls": f"{result.tool_calls:,}",
                "Delivered": f"{result.delivered_tokens:,} tokens",
            }
        if talk := subject.conversation:
            facts |= {
                "Strategy": talk.strategy,
                "Ended": talk.ended or "cut off",
                "Turns": f"{talk.turns:,}, largest context {talk.largest_context:,} tokens",
            }
        content = subject.content(NOW)
        return self._page(
            "overview.html",
            subject.name,
            "",
            why=self._why if is_known else [],
            points=self._points if is_known else [],
            asks=not is_known and subject.verdict is not None and subject.verdict.verdict == "failed",
            facts=facts,
            services=[
                (name, content.counted(name, quickly=not subject.is_small)) for name in content.services
            ],
            findings=sorted(
                subject.verdict.findings if subject.verdict else [],
                key=lambda one: (one.passed, one.name in subject.idle),
            ),
            idle=subject.idle,
            first_wrong=subject.known_first_wrong,
            prompt=subject.episode.prompt,
        )

    @property
    def knows_why(self) -> bool:
        """True if it is known why it failed, or soon worked out."""
        return self._subject.is_small or self._shown.frozen or "_why" in self.__dict__

    def take(self, found: WorkedOut) -> None:
        """Keep what another process has worked out."""
        self._why, self._points = found.why, found.points
        self._subject.first_wrong = found.first_wrong

    @cached_property
    def _why(self) -> Sequence[WhyPart]:
        return explain(self._subject, self._marks)

    @cached_property
    def _points(self) -> Sequence[WhyPoint]:
        return points(self._subject, self._marks)

    def _agent(self) -> str:
        result = self._subject.result
        return "" if result is None else result.conversation.model if result.conversation else result.agent

    def world(self, options: Mapping[str, str]) -> str:
        content = self._subject.content(NOW)
        return self._page("services.html", "World", "world", services=content.services, state=NOW)

    def place(self, state: str, service: str, path: str, options: Mapping[str, str]) -> str:
        """A page of a service in a state of the world."""
        subject = self._subject
        content = subject.content(state)
        page = content.page(service, path, asked := Asked(options))
        here = f"{self._shown.base}/world/{state}/{service}"
        marks = subject.marks if state == NOW else {}
        sought = options.get("q", "")

        def changed(ref: str) -> str:
            row = marks.get((service, ref))
            return row.how if row else ""

        def inside(path: str) -> str:
            return f"{here}/{path}" if path else f"{here}/"

        def held(row: Row) -> str:
            item = content.item_of(service, row.ref) if subject.evidence and row.ref else None
            return (
                "◆" if item and self._marks.evidence_in(service, f"{item.title}\n{plain(item.text)}") else ""
            )

        return self._page(
            "world.html",
            page.title,
            "world",
            page=page,
            services=content.services,
            service=service,
            state=state,
            states=self._states(),
            where_now=f"{service}/{path}",
            inside=inside,
            changed=changed,
            held=held,
            evidence=lambda text: self._marks.evidence_in(service, text),
            delivered=partial(self._marks.reached, service=service)
            if subject.called
            else lambda text, **of: None,
            pieces=lambda text, derived=True: self._marks.pieces(service, text, sought, derived=derived),
            start=asked.start,
            size=asked.size,
            lines=LINES,
            here=partial(starting_at, f"{here}/{path}", options),
        )

    def _states(self) -> list[tuple[str, str]]:
        found = [("now", "in the end"), ("built", "as it was built")]
        return found if self._subject.called else found[:1]

    def search(self, options: Mapping[str, str]) -> str:
        """All things whose text has some words."""
        sought = options.get("q", "").strip()
        found: list[tuple[str, Item, list[MarkedPiece]]] = []
        total = 0
        words = sought.lower()
        for service, item in self._subject.content(NOW).all_items() if words else ():
            text = (
                f"{item.title}\n{plain(item.text)}" if words in f"{item.title}\n{item.text}".lower() else ""
            )
            at = text.lower().find(words)
            if at >= 0:
                total += 1
                if len(found) < _FOUND:
                    around = text[max(0, at - 80) : at + len(words) + 160]
                    found.append((service, item, self._marks.pieces("", around, sought)))
        query = urlencode({"q": sought})
        return self._page(
            "search.html", f"Search: {sought}", "search", sought=sought, found=found, total=total, query=query
        )

    # -- the run ----------------------------------------------------------------------------------------

    def calls(self, options: Mapping[str, str]) -> str:
        """The calls on a time line, and a list of them."""
        subject, only = self._subject, options.get("only", "all")
        chosen = [call for call in subject.calls if _KEPT.get(only, _KEPT["all"])(call)]
        asked = Asked(options)
        return self._page(
            "calls.html",
            "Calls",
            "calls",
            calls=chosen[asked.start : asked.start + CALLS],
            all_calls=subject.calls,
            drawn=_drawn(subject.calls),
            total=len(chosen),
            only=only,
            most=max((call.tokens for call in subject.calls), default=0),
            first_wrong=subject.known_first_wrong,
            turns=subject.turns,
            start=asked.start,
            size=CALLS,
            here=partial(starting_at, f"{self._shown.base}/calls", options),
        )

    def call(self, seq: int, options: Mapping[str, str]) -> str:
        """One call: what it was given, delivered and changed."""
        subject = self._subject
        numbers = {call.seq: at for at, call in enumerate(subject.calls)}
        if seq not in numbers:
            raise NotFound(f"there is no call {seq}")
        at = numbers[seq]
        call = subject.calls[at]
        start = Asked(options).start
        result = _laid_out(call.result)
        shown = result[start : start + _RESULT]
        return self._page(
            "call.html",
            f"Call {seq}: {call.name}",
            "calls",
            call=call,
            arguments=orjson.dumps(call.arguments, option=orjson.OPT_INDENT_2).decode(),
            result=self._marks.result_pieces(shown, call.evidence),
            length=len(result),
            said=said_at(subject, seq),
            unlike=unlike(subject, call) if call.status not in ("ok", "disturbed") else [],
            changes=subject.changes_of(seq) if call.writes else [],
            replayable=subject.replayable,
            after=self._place_of(call.service),
            earlier=subject.calls[at - 1].seq if at else None,
            later=subject.calls[at + 1].seq if at + 1 < len(subject.calls) else None,
            first_wrong=subject.known_first_wrong,
            start=start,
            size=_RESULT,
            here=partial(starting_at, f"{self._shown.base}/calls/{seq}", options),
        )

    def _place_of(self, service: str) -> str:
        """Return the place of the content that a call was about, or any other content of the world."""
        content = self._subject.content(NOW)
        place = content.place_of(service)
        return place if place in content.services else next(iter(content.services), "")

    def turn(self, number: int, options: Mapping[str, str]) -> str:
        """Page with the model's input and output at a turn."""
        turns = {turn.number: at for at, turn in enumerate(self._subject.turns)}
        if number not in turns:
            raise NotFound(f"there is no turn {number}")
        at = turns[number]
        turn = self._subject.turns[at]
        numbers = [n for first, last in turn.shown for n in range(first, last + 1)]
        start = Asked(options).start
        return self._page(
            "turn.html",
            f"Turn {number}",
            "calls",
            turn=turn,
            messages=[(n, self._subject.messages.get(n)) for n in numbers[start : start + PAGE]],
            total=len(numbers),
            calls=[call for call in self._subject.calls if call.turn == number],
            earlier=self._subject.turns[at - 1].number if at else None,
            later=self._subject.turns[at + 1].number if at + 1 < len(turns) else None,
            start=start,
            size=PAGE,
            here=partial(starting_at, f"{self._shown.base}/turns/{number}", options),
        )

    def changes(self, options: Mapping[str, str]) -> str:
        """Page with the final changes, next to those of the reference solver."""
        subject = self._subject
        solution = subject.solution if options.get("against") or self._shown.frozen else None
        return self._page(
            "changes.html",
            "Changes",
            "changes",
            changes=subject.changes,
            solution=solution,
            how=how_differs,
            pairs=[]
            if solution is None or isinstance(solution, str)
            else compared(solution, subject.changes, subject.content(BUILT).row),
        )

    # -- the answer -------------------------------------------------------------------------------------

    def evidence(self, options: Mapping[str, str]) -> str:
        """The pieces of evidence: where each is and when it was delivered."""
        subject, asked, only = self._subject, Asked(options), options.get("only", "all")
        numbers = subject.missed if only == "missed" else range(len(subject.evidence))
        shown = numbers[asked.start : asked.start + PAGE]
        holders = self._marks.holders(shown)
        rows = [
            (
                n,
                subject.evidence[n].service,
                holders.get(n, []),
                subject.delivered.get(n),
                self._marks.excerpt(n, holders.get(n, ())),
            )
            for n in shown
        ]
        return self._page(
            "evidence.html",
            "Evidence",
            "evidence",
            rows=rows,
            total=len(numbers),
            only=only,
            start=asked.start,
            size=PAGE,
            here=partial(starting_at, f"{self._shown.base}/evidence", options),
        )

    def derivations(self, options: Mapping[str, str]) -> str:
        """Page with the derivation of each fact from delivered texts, step by step."""
        marks = self._marks
        rows = [(one, marks.places.get(one.text), marks.told_by(one)) for one in marks.derivations]
        told = [] if rows or not self._subject.expected else self._subject.expected.derived()
        known = [] if rows or told else [one for one in self._marks.told if one[1]]
        return self._page(
            "derivations.html",
            "Derivations",
            "derivations",
            rows=rows,
            places=marks.places,
            told=told,
            known=[(*one, marks.place_of(one[0], one[1])) for one in known[:_TOLD]],
            more=max(0, len(known) - _TOLD),
        )

    # -- the organisation -------------------------------------------------------------------------------

    @cached_property
    def _by_person(self) -> dict[str, list[tuple[str, Any]]]:
        found: dict[str, list[tuple[str, Any]]] = defaultdict(list)
        for service, item in self._subject.content(NOW).all_items():
            for address in dict.fromkeys(one.lower() for one in item.who if one):
                found[address].append((service, item))
        return found

    def people(self, options: Mapping[str, str]) -> str:
        """Page of all senders and recipients."""
        lists = getattr(self._subject.expected, "lists", None) if self._subject.expected else None
        roles = {one.email.lower(): one.role for one in lists.people} if lists else {}
        names = {address.lower(): name for address, name in self._marks.cast.items()}
        everybody = sorted(
            dict.fromkeys([*self._by_person, *names]),
            key=lambda one: (-len(self._by_person.get(one, ())), one),
        )
        asked = Asked(options)
        rows = [
            (one, names.get(one, ""), roles.get(one, ""), len(self._by_person.get(one, ())))
            for one in everybody[asked.start : asked.start + PAGE]
        ]
        return self._page(
            "people.html",
            "People",
            "people",
            rows=rows,
            total=len(everybody),
            start=asked.start,
            size=PAGE,
            here=partial(starting_at, f"{self._shown.base}/people", options),
        )

    def person(self, address: str, options: Mapping[str, str]) -> str:
        """Somebody with all that the person wrote and was written."""
        found = self._by_person.get(address)
        if found is None:
            raise NotFound(f"nobody has the address {address}")
        asked = Asked(options)
        ordered = sorted(found, key=lambda one: one[1].when)
        names = {one.lower(): name for one, name in self._marks.cast.items()}
        return self._page(
            "person.html",
            names.get(address, address),
            "people",
            address=address,
            found=ordered[asked.start : asked.start + PAGE],
            total=len(ordered),
            start=asked.start,
            size=PAGE,
            here=partial(starting_at, f"{self._shown.base}/people/{quote(address)}", options),
        )

    def events(self, options: Mapping[str, str]) -> str:
        """Page with a time line of events, and the messages of a day."""
        asked = Asked(options)
        dated = [
            (service, item) for service, item in self._subject.content(NOW).all_items() if item.when[:10]
        ]
        counts = Counter(item.when[:10] for _, item in dated)
        told = [(number, one) for number, one in enumerate(self._marks.derivations, 1)]
        days = _days(counts, Counter(f"{one.written:%Y-%m-%d}" for _, one in told))
        # Unless one is chosen, the last on which something happened.
        day = options.get("on") or next((one["day"] for one in reversed(days) if one["count"]), "")
        chosen = sorted((one for one in dated if one[1].when[:10] == day), key=lambda one: one[1].when)
        return self._page(
            "events.html",
            "Events",
            "events",
            days=days,
            day=day,
            told=told,
            places=self._marks.places,
            found=chosen[asked.start : asked.start + PAGE],
            total=len(chosen),
            start=asked.start,
            size=PAGE,
            here=partial(starting_at, f"{self._shown.base}/events", options),
        )

    # -- tools by hand ----------------------------------------------------------------------------------

    def tools(self, options: Mapping[str, str], *, hand: bool) -> str:
        """The tools of the episode; called in a fork."""
        services = self._subject.episode.world.services
        tools = [
            (
                name,
                tool,
                list(tool.signature.schema.get("properties", {}).items()),
                description_of(tool.function),
            )
            for name, service in services.items()
            for tool in service.tools.values()
        ]
        return self._page("tools.html", "Tools", "tools", tools=tools, hand=hand)

    def answer(self, options: Mapping[str, str]) -> str:
        """Page with the result of a tool called by hand, on a copy that is discarded."""
        service, tool = options.get("service", ""), options.get("tool", "")
        content = self._subject.content(options.get("state", NOW))
        if service not in content.services or tool not in load_service(service).tools:
            raise NotFound(f"there is no tool {service}.{tool}")
        fixed = orjson.loads(options.get("fixed") or "{}")
        arguments = {**fixed, options.get("argument", ""): options.get("value", "")}
        outcome = self._subject.ask(options.get("state", NOW), service, tool, arguments)
        rows = _rows_of(outcome.text)
        return self._page(
            "answer.html",
            "Answer",
            "world",
            service=service,
            asked=options.get("value", ""),
            text=_laid_out(outcome.text)[:_RESULT],
            rows=rows[:500],
            columns=list(dict.fromkeys(name for row in rows[:500] for name in row)),
        )

    # -- writing ----------------------------------------------------------------------------------------

    def _page(self, template: str, title: str, tab: str, **values: Any) -> str:
        shown, subject = self._shown, self._subject
        length = subject.episode.info.target or subject.episode.info.edl
        own = {"calls": subject.acted, "changes": subject.acted, "evidence": bool(subject.evidence)}
        own |= {"derivations": bool(self._marks.derivations or self._marks.told), "tools": not shown.frozen}
        own |= {"people": True, "events": True}
        return (
            environment()
            .get_template(template)
            .render(
                {
                    "subject": subject,
                    "base": shown.base,
                    "several": shown.several,
                    "frozen": shown.frozen,
                    "title": title,
                    "instance": f"{length:,} tokens, seed {subject.episode.info.seed}",
                    "tabs": [(text, path) for text, path in _TABS if own.get(path, True)],
                    "tab": tab,
                    "sought": "",
                    "where": self._where,
                    "quote": quote,
                }
                | values
            )
        )

    def _where(self, service: str, ref: str) -> str:
        """Return the place of a database row or file; "" if it is shown nowhere."""
        if service == FILES:
            return f"world/now/{FILES}/{file_path(ref.partition(':')[2])}"
        item = self._subject.content(NOW).item_of(service, ref)
        return f"world/now/{service}/{item.path}" if item else ""


def starting_at(path: str, options: Mapping[str, str], start: int) -> str:
    """The same page from another row on."""
    told = {name: value for name, value in options.items() if name != "from"} | (
        {"from": str(start)} if start else {}
    )
    return f"{path}?{urlencode(told)}" if told else path


def _laid_out(text: str) -> str:
    """A result as people read it: JSON indented."""
    try:
        return (
            orjson.dumps(orjson.loads(text), option=orjson.OPT_INDENT_2).decode()
            if text[:1] in "[{"
            else text
        )
    except orjson.JSONDecodeError:
        return text


def _rows_of(text: str) -> list[dict[str, Any]]:
    """The rows of a result that holds some, in a list or under a name."""
    starts = [at for at in (text.find("\n["), text.find("\n{")) if at >= 0]
    try:
        value = orjson.loads(text if text[:1] in "[{" else text[min(starts, default=0) :])
    except orjson.JSONDecodeError:
        return []
    lists = [value] if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
    for one in lists:
        if isinstance(one, list) and one and all(isinstance(row, dict) for row in one):
            return one
    return []


@dataclass(frozen=True)
class ShareBar:
    """A call on the time line."""

    call: ShownCall
    x: float
    width: float
    height: float


_WIDTH, _HEIGHT = 1_000, 60


def _drawn(calls: Sequence[ShownCall]) -> list[ShareBar]:
    """The calls side by side, as high as what they delivered is long (by its logarithm)."""
    shown = calls[:: max(1, len(calls) // 500)]
    most = math.log1p(max((call.tokens for call in shown), default=1))
    width = _WIDTH / max(len(shown), 1)
    return [
        ShareBar(call, n * width, max(width - 1, 0.8), 4 + (_HEIGHT - 4) * math.log1p(call.tokens) / most)
        for n, call in enumerate(shown)
    ]


def _days(counts: Mapping[str, int], told: Mapping[str, int]) -> list[dict[str, Any]]:
    """The days between the first and the last thing that happened, most of them: those that are far off,
    such as the birthdays of people, are left out."""
    days = sorted(set(counts) | set(told))
    if not days:
        return []
    known = sorted(day for day, count in counts.items() for _ in range(count)) or days
    cut = len(known) // 20
    first, last = min([known[cut], *told]), max([known[-1 - cut], *told])
    shown = [day for day in days if first <= day <= last]
    most = max(counts.get(day, 0) for day in shown) or 1
    begin = dt.date.fromisoformat(shown[0])
    span = (dt.date.fromisoformat(shown[-1]) - begin).days + 1
    return [
        {
            "day": day,
            "count": counts.get(day, 0),
            "told": told.get(day, 0),
            "x": _WIDTH * (dt.date.fromisoformat(day) - begin).days / span,
            "width": max(_WIDTH / span - 1, 1),
            # By the root, so that a day with little is seen beside one with much.
            "height": _HEIGHT * math.sqrt(counts.get(day, 0) / most),
        }
        for day in shown
    ]
