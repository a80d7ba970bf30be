"""Error messages for people: one line on why something could not be run or judged, and what to do."""

from __future__ import annotations

import ast
import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

from mesocosm.errors import UsageError

_SHOWN = 700
"""Characters of a reason, at most."""
_QUOTED = re.compile(r"^[A-Za-z_.]+\((?P<text>(['\"]).*\2),?\)$", re.DOTALL)
"""An exception as ``repr`` writes it."""
OUTSIDE = "outside of the world:"
"""Prefix of an internal error outside of any world."""
_TRACEBACK = "Traceback (most recent call last):"
_FULL = ("no space left on device", "disk is full", "disk quota exceeded")

_ENDPOINT = "check --base-url (or NAME_BASE_URL), the network, and that the endpoint runs"
_BY_STATUS = {
    401: "the provider refused the key: look at the key in the environment",
    403: "the provider does not allow this key to do that",
    404: "the provider does not know this model or address: look at --model and --base-url",
    429: "the provider refused again and again, for its rate limit or quota: lower --max-connections",
}
_BY_NAME = {
    "APITimeoutError": f"the model's endpoint did not answer in time: {_ENDPOINT}",
    "APIConnectionError": f"the model's endpoint cannot be reached: {_ENDPOINT}",
    "ConnectError": f"the endpoint cannot be reached: {_ENDPOINT}",
}


class EpisodeErrored(RuntimeError):
    """A fault that is not the agent's; the sample is an error and no failure."""


def explain(problem: BaseException) -> str:
    """Explain a problem and its remedy in one line."""
    chain = list(_chain(problem))
    for one in chain:
        if _is_full(one):
            return (
                "the disk is full: make room and run the same command again (`eval`: with the same --log-dir)"
            )
        if isinstance(one, UsageError | EpisodeErrored):
            return _line(str(one))
    for one in chain:
        name, status = type(one).__name__, getattr(one, "status_code", None)
        if "tiktoken" in str(one):
            return _line("a tokenizer's data cannot be downloaded: run once with a network, or do without")
        if name in _BY_NAME:
            return _BY_NAME[name]
        if isinstance(status, int) and status >= 400:
            advice = _BY_STATUS.get(status, f"the provider answered {status}")
            return _line(f"{advice} ({_said(one)})")
    return _line(f"{type(chain[-1]).__name__}: {_said(chain[-1])}")


def reason_of(text: str) -> str:
    """The reason in what was kept of an error, in one line: its first paragraph, the last line of a
    traceback, the text of an exception as ``repr`` writes it."""
    if found := _QUOTED.match(text.strip()):
        try:
            text = str(ast.literal_eval(found["text"]))
        except (SyntaxError, ValueError):
            text = found["text"]
    text = text.strip().removeprefix(OUTSIDE).strip()
    if text.startswith(_TRACEBACK):
        return _line(re.sub(r"^(\w+\.)+(?=\w+(: |$))", "", text.splitlines()[-1].strip()))
    return _line(" | ".join(line.strip() for line in text.partition("\n\n")[0].splitlines()))


@contextmanager
def explained() -> Iterator[None]:
    """Turn exceptions inside into `EpisodeErrored` with reason and remedy."""
    from inspect_ai.util import LimitExceededError

    try:
        yield
    except (LimitExceededError, EpisodeErrored):
        raise
    except Exception as problem:
        raise EpisodeErrored(explain(problem)) from problem


def _chain(problem: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes: parts of groups, and failed retries."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [problem]
    while waiting:
        one = waiting.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        attempt = getattr(one, "last_attempt", None)
        if attempt is not None and attempt.failed:
            waiting.append(attempt.exception())
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions
        waiting.append(one.__cause__)


def _is_full(problem: BaseException) -> bool:
    if isinstance(problem, OSError) and problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    return any(said in str(problem).lower() for said in _FULL)


def _said(problem: BaseException) -> str:
    text = str(problem).strip()
    return text.splitlines()[0] if text else "nothing more is said"


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
