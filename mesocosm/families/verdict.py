"""Checks and verdicts: findings about the final state, and their value."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, field_validator

from mesocosm.families.faults import Fault, faults_of

if TYPE_CHECKING:
    from mesocosm.services.calling import Tools
    from mesocosm.services.world import World

_SHOWN = 5
"""Maximum number of differences in a finding."""


class Check(BaseModel):
    """One finding of a checker."""

    model_config = ConfigDict(frozen=True)

    name: str
    passed: bool
    detail: str = ""
    """Actual value, and for a failure the expected one."""

    @field_validator("detail")
    @classmethod
    def _writable(cls, detail: str) -> str:
        """An agent may leave what is no text, which nobody could write down, or looks like what it is not."""
        return visible(detail.encode("utf-8", "backslashreplace").decode())


def finding(name: str, wrong: Iterable[object]) -> Check:
    """The check that nothing is wrong; its detail names the first few things that are."""
    rest = iter(wrong)
    shown = [str(one) for one in islice(rest, _SHOWN)]
    left = sum(1 for _ in rest)
    more = f"; and {left} more" if left else ""
    return Check(name=name, passed=not shown, detail="; ".join(shown) + more)


def told(got: object, expected: object) -> str:
    """Word a difference between actual and expected, the same way in every finding."""
    return f"got {got}, expected {expected}"


def named_values(value: Any, show: Callable[[Any], str] = str, deep: int = 6) -> str:
    """Word a value for people: of one with names in it ``name: value``, one after the other."""
    if not isinstance(value, (Mapping, list, tuple)):
        return show(value)
    if not deep:
        return "..."
    if isinstance(value, Mapping):
        named = {name: named_values(one, show, deep - 1) for name, one in value.items() if one is not None}
        inner = (name for name, one in value.items() if isinstance(one, Mapping) and len(one) > 1)
        named |= {name: f"({named[name]})" for name in inner}
        return ", ".join(f"{name}: {one}" for name, one in named.items())
    return "; ".join(named_values(one, show, deep - 1) for one in value)


class Verdict(BaseModel):
    """The judgement of one episode."""

    verdict: Literal["passed", "failed", "errored"]
    reward: float | None
    """1 when every check passed, 0 when one did not; ``None`` when a fault of ours may be why."""
    score: float | None
    """The share of checks that passed; for reading, not for ranking."""
    findings: list[Check]
    error: str | None = None
    """Why the episode is errored."""
    faults: list[Fault] = []
    """Faults of ours on the way, whatever the verdict."""

    @classmethod
    def of(cls, findings: list[Check], faults: Sequence[Fault] = ()) -> Verdict:
        """The verdict that follows from a checker's findings.

        A state that passes is passed, whatever happened on the way to it. For one that does not, a fault of
        ours may be why: it is errored. No findings at all: it could not be judged.
        """
        passed = bool(findings) and all(check.passed for check in findings)
        errored = not passed and bool(faults)
        return cls(
            verdict="passed" if passed else "errored" if errored else "failed",
            reward=None if errored else float(passed),
            score=sum(check.passed for check in findings) / len(findings) if findings else None,
            findings=findings,
            error=f"{faults[0].first}:\n{faults[0].traceback}" if errored else None,
            faults=list(faults),
        )

    def with_fault(self, where: str, text: str) -> Verdict:
        """The verdict when there was another fault, outside of the world."""
        return Verdict.of(self.findings, [*faults_of([(where, text)]), *self.faults])

    def with_finding(self, check: Check) -> Verdict:
        """The verdict when there is more to find than the state; nothing where the state was not judged."""
        return Verdict.of([*self.findings, check], self.faults) if self.findings else self

    def gained(self, untouched: Sequence[Check]) -> float | None:
        """Return the share of initially failing findings that now pass, minus those that broke; at least 0.
        If errored, the value of ``reward``.
        """
        if self.verdict == "errored":
            return self.reward
        then = dict(_numbered(untouched))
        missing = sum(not passed for passed in then.values())
        if self.verdict == "passed" or not missing:
            return self.reward
        change = sum(passed - then.get(key, False) for key, passed in _numbered(self.findings))
        return max(0.0, min(change / missing, 1.0))

    def strictly(self) -> Verdict:
        """The same with reward 0 where it is errored: for training, where an agent could learn to bring
        faults about."""
        return self.model_copy(update={"reward": self.reward or 0.0})


def _numbered(findings: Iterable[Check]) -> Iterator[tuple[tuple[str, int], bool]]:
    """Yield whether each finding passed, keyed by name and occurrence, because goals of one kind share a
    name.
    """
    seen = Counter[str]()
    for check in findings:
        yield (check.name, seen[check.name]), check.passed
        seen[check.name] += 1


@dataclass(frozen=True)
class Mutant:
    """A near miss: a change to the solved state that the checker must refuse, for a stated reason."""

    name: str
    breaks: str | frozenset[str]
    """Name of the check that must fail, or names of which one must."""
    apply: Callable[[World, Any], None]
    """``apply(world, expected)`` changes the solved world; raises ``Inapplicable`` if it has no place."""


@dataclass(frozen=True)
class Misreading:
    """A near miss made through the tools, by an agent that misread something."""

    name: str
    breaks: frozenset[str]
    """Names of checks of which one at least must fail."""
    start: Callable[[Tools, Any], None]
    """Makes the calls that such agents have in common; called once for all misreadings that share it."""
    act: Callable[[Tools, Any], str | None]
    """``act(tools, expected)`` does the rest, wrongly; raises ``Inapplicable`` if it has no place. Returns
    what the author is told, if anything, where no check notices."""


class Inapplicable(Exception):
    """The instance has nothing that the mutant could change (say, no course without an exam)."""


# -- characters that a reader takes for others, or does not see, shown by their codes: ``Pric\u0435s``

_LETTERS = frozenset(
    # Cyrillic
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0475\u04bb\u0501\u051b\u051d"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0405\u0406\u0408\u04ae\u04c0"
    # Greek
    "\u03b1\u03b9\u03bd\u03bf\u03c1\u03c5\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1"
    "\u03a4\u03a5\u03a7"
    # Latin and IPA letters that look like those of ASCII
    "\u0131\u0251\u0261\u0269"
)
"""Letters that look like one of ASCII."""
_MARKS = frozenset("\u2010\u2011\u2212\u02d7\u2024\u2044\u2215\u02bc\u02b9\u201a\ua789\u2236")
"""Marks that look like one of ASCII."""
_WORD = re.compile(r"\w+")
_ANY = re.compile(r"[^\x09\x0a\x20-\x7e]")
_WIDTHS = ("<wide>", "<font>", "<compat>", "<noBreak>")
"""Ways in which a character is another form of one, which fonts may hide."""


def visible(text: str) -> str:
    """The text with what a reader would not tell from other text by its codes."""
    if not _ANY.search(text):
        return text
    letters = _WORD.sub(lambda found: _word(found[0]), text)
    return "".join(_coded(one) if _is_hidden(one) else one for one in letters)


def _word(word: str) -> str:
    """A word in which letters of ASCII are imitated: beside some of them, or by all of its letters."""
    if any("a" <= one.lower() <= "z" for one in word) or {*filter(str.isalpha, word)} <= _LETTERS:
        return "".join(_coded(one) if one in _LETTERS else one for one in word)
    return word


def _is_hidden(one: str) -> bool:
    if one in _MARKS or "\u0300" <= one <= "\u036f":
        return True
    if unicodedata.category(one) in ("Cf", "Cc", "Zs", "Zl", "Zp", "Co", "Cn"):
        return one not in " \n\t"
    # Marks of other scripts are letters of their words; those for Latin have letters with them besides.
    return "\ufe00" <= one <= "\ufe0f" or (
        unicodedata.decomposition(one).startswith(_WIDTHS)
        and unicodedata.normalize("NFKC", one).isascii()
        and len(unicodedata.normalize("NFKC", one)) == 1
    )


def _coded(one: str) -> str:
    return one.encode("ascii", "backslashreplace").decode()
