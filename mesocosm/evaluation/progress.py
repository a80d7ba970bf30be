"""Watching an evaluation while it runs: a line now and then, and a budget that ends it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from time import perf_counter

from mesocosm.errors import UsageError

Say = Callable[[str], object]


@dataclass(frozen=True)
class Price:
    """Prices of a model in dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None
    """Input that the provider has in its cache; default: as other input."""

    def of(self, input_tokens: float, output_tokens: float) -> float:
        """Dollars for so many tokens, none of them cached."""
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000

    def announce(self, model: str) -> None:
        """Tell inspect_ai, which then writes costs into its logs."""
        from inspect_ai.model import ModelCost, ModelInfo, get_model_info, set_model_info

        cached = self.input if self.cached is None else self.cached
        cost = ModelCost(
            input=self.input, output=self.output, input_cache_write=self.input, input_cache_read=cached
        )
        known = get_model_info(model) or ModelInfo()
        set_model_info(model, known.model_copy(update={"cost": cost}))


def read_prices(texts: list[str], models: list[str]) -> dict[str, Price]:
    """Prices by model from ``IN,OUT`` (all models) or ``MODEL=IN,OUT``, with ``,CACHED`` behind if wanted."""
    found: dict[str, Price] = {}
    for text in texts:
        name, _, numbers = text.rpartition("=")
        try:
            values = [float(number) for number in numbers.split(",")]
        except ValueError:
            values = []
        if len(values) not in (2, 3) or min(values) < 0:
            raise UsageError(
                f"--price {text!r}: write [MODEL=]IN,OUT[,CACHED] in dollars for a million tokens: 1.25,10"
            )
        if name and name not in models:
            raise UsageError(f"--price {text!r}: no --model is called {name!r}")
        found |= {model: Price(*values) for model in ([name] if name else models)}
    return found


@dataclass
class Watch:
    total: int
    """Episodes that there are to be."""
    budget: float | None = None
    """Dollars."""
    token_budget: int | None = None
    done: int = 0
    passed: int = 0
    errored: int = 0
    cost: float = 0
    tokens: int = 0
    priced: bool = False
    """True if costs are known."""
    spent: str = ""
    """The budget that was used up, and so ended it."""
    _seen: set[str] = field(default_factory=set)
    _started: float = field(default_factory=perf_counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ended(self, sample: str, verdict: float | None) -> None:
        """Note the end of a sample; ``None``: it has no verdict."""
        with self._lock:
            if sample in self._seen:
                return
            self._seen.add(sample)
            self.done += 1
            self.passed += verdict == 1.0
            self.errored += verdict is None

    def used(self, tokens: int, cost: float | None) -> None:
        """Note what a request used; the one that uses up a budget ends the evaluation."""
        with self._lock:
            self.tokens += tokens
            self.cost += cost or 0.0
            self.priced |= cost is not None
            over = ""
            if self.budget is not None and self.cost >= self.budget:
                over = f"the budget of ${self.budget:,.2f} is used up (${self.cost:,.2f})"
            elif self.token_budget is not None and self.tokens >= self.token_budget:
                over = f"the budget of {self.token_budget:,} tokens is used up ({self.tokens:,})"
            if not over or self.spent:
                return
            self.spent = over
        # As Ctrl-C: what is judged stays, and the same command goes on from there.
        os.kill(os.getpid(), signal.SIGINT)

    @property
    def line(self) -> str:
        seconds = perf_counter() - self._started
        left = seconds / self.done * (self.total - self.done) if self.done else None
        parts = [
            f"{self.done} of {self.total} episodes done",
            f"{self.passed} passed",
            f"{self.errored} errored",
            f"{self.tokens:,} tokens",
            f"${self.cost:,.2f}" if self.priced else "cost not known",
            f"{_time(seconds)} gone",
        ]
        if self.done < self.total:
            parts.append(f"about {_time(left)} left" if left is not None else "time left not known yet")
        return ", ".join(parts)


def _time(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s"


_watched: list[Watch] = []


@cache
def _look() -> None:
    """Have inspect_ai tell of samples and requests, for as long as this process lives."""
    from inspect_ai.hooks import Hooks, ModelUsageData, SampleEnd, hooks

    @hooks(name="mesocosm_watch", description="Progress and budget of `mesocosm eval`.")
    class Watching(Hooks):
        def enabled(self) -> bool:
            return bool(_watched)

        async def on_sample_end(self, data: SampleEnd) -> None:
            scores = list((data.sample.scores or {}).values())
            if scores or not str(data.sample.error and data.sample.error.message).startswith(
                "CancelledError"
            ):
                _watched[-1].ended(data.sample_id, scores[0].as_float() if scores else None)

        async def on_model_usage(self, data: ModelUsageData) -> None:
            _watched[-1].used(data.usage.total_tokens, data.usage.total_cost)


@contextmanager
def watching(watch: Watch, say: Say | None, seconds: float) -> Iterator[None]:
    """Track progress of the code inside; with ``say``, report it periodically and at the end."""
    _look()
    _watched.append(watch)
    over = threading.Event()

    def tell() -> None:
        while say and not over.wait(seconds):
            say(watch.line)

    teller = threading.Thread(target=tell, name="progress", daemon=True)
    if say:
        teller.start()
    try:
        yield
    finally:
        over.set()
        _watched.remove(watch)
        if say:
            teller.join()
            say(watch.line)
