"""Metrics for Prometheus (extra ``metrics``), a log line per request, and draining with what still runs.

Neither says an episode's id, which opens it: logs have its public number, by which its folder is found.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import orjson
from pydantic import BaseModel, Field

try:
    import prometheus_client as _prometheus
    from prometheus_client.core import Metric
    from prometheus_client.parser import text_string_to_metric_families

    prometheus: ModuleType | None = _prometheus
except ModuleNotFoundError:
    prometheus = None

MISSING = "metrics need the extra `metrics`: pip install 'mesocosm[metrics]'"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LINES_LOST = "Lines of the log of requests that could not be written"
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class _Uncounted:
    """A metric without the extra."""

    def labels(self, *_: object) -> _Uncounted:
        return self

    def observe(self, _: float) -> None:
        pass

    inc = observe


class Metrics:
    """The counters of one process. Without the extra nothing is counted.

    Args:
        at: Begins the names of what is counted of requests: ``mesocosm``, or ``mesocosm_door``.
    """

    def __init__(self, at: str = "mesocosm") -> None:
        self.requests: Any = _Uncounted()
        """Seconds of requests, by the ``kind_of`` their path and their status."""
        self.sent: Any = _Uncounted()
        """Bytes of answers, by that kind."""
        self.calls: Any = _Uncounted()
        """Seconds of calls on worlds, by service and status: ``ok``, ``refused``, or a ``fault`` of ours."""
        if prometheus is None:
            return
        self.registry = prometheus.CollectorRegistry()
        found: dict[str, Any] = {"registry": self.registry}
        self.requests = prometheus.Histogram(
            f"{at}_request_seconds", "Requests", ["kind", "status"], buckets=_SECONDS, **found
        )
        prometheus.ProcessCollector(namespace=at, registry=self.registry)
        self.sent = prometheus.Counter(f"{at}_sent_bytes", "Bytes of answers", ["kind"], **found)
        if at == "mesocosm":
            self.calls = prometheus.Histogram(
                "mesocosm_call_seconds", "Calls on worlds", ["service", "status"], buckets=_SECONDS, **found
            )

    def gauge(self, name: str, text: str, now: Callable[[], float]) -> None:
        """Something that is looked at when somebody asks."""
        if prometheus is not None:
            prometheus.Gauge(name, text, registry=self.registry).set_function(now)

    def counter(self, name: str, text: str) -> Callable[[], None]:
        """Make a counter; the returned function increments it."""
        if prometheus is None:
            return lambda: None
        counted = prometheus.Counter(name, text, registry=self.registry)
        return lambda: counted.inc()

    def counter_of(self, name: str, text: str, labels: Sequence[str]) -> Callable[..., None]:
        """Make a labelled counter; the returned function takes the labels and ``number``."""
        if prometheus is None:
            return lambda *_, **__: None
        counted = prometheus.Counter(name, text, labels, registry=self.registry)

        def count(*values: str, number: int = 1) -> None:
            counted.labels(*values).inc(number)

        return count

    def gauge_of(self, name: str, text: str, label: str, now: Callable[[], Mapping[str, float]]) -> None:
        """Something of several that is looked at when somebody asks."""
        if prometheus is not None:
            self.registry.register(_Gauges(name, text, label, now))

    def page(self) -> bytes | None:
        """All of it; ``None`` without the extra."""
        return None if prometheus is None else bytes(prometheus.generate_latest(self.registry))


def together(door: bytes, hosts: Mapping[int, bytes]) -> bytes:
    """Merge the metrics of a door and its hosts into one page, with the host as a label."""
    assert prometheus is not None, "there are no pages without it"
    registry = prometheus.CollectorRegistry()
    registry.register(_Pages(hosts))
    return door + bytes(prometheus.generate_latest(registry))


class _Gauges:
    """Gauges whose values come from one function, as a ``prometheus_client`` collector."""

    def __init__(self, name: str, text: str, label: str, now: Callable[[], Mapping[str, float]]) -> None:
        self._name, self._text, self._label, self._now = name, text, label, now

    def collect(self) -> Iterator[Any]:
        """One sample of each."""
        family = Metric(self._name, self._text, "gauge")
        for value, number in self._now().items():
            family.add_sample(self._name, {self._label: value}, number)
        yield family


class _Pages:
    """Several pages, as ``prometheus_client`` collects."""

    def __init__(self, pages: Mapping[int, bytes]) -> None:
        self._pages = pages

    def collect(self) -> Iterator[Any]:
        """Each name once, with the samples of all hosts."""
        found: dict[str, Any] = {}
        for host, page in self._pages.items():
            for family in text_string_to_metric_families(page.decode()):
                one = found.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                for sample in family.samples:
                    one.samples.append(sample._replace(labels={**sample.labels, "host": str(host)}))
        yield from found.values()


class RequestLog:
    """One line of JSON for each request.

    Args:
        path: The file that lines are added to, or ``-`` for the standard error.
    """

    def __init__(self, path: str) -> None:
        self.lost = 0
        """Lines that could not be written, as on a full disk: requests are answered all the same."""
        self._file: IO[bytes] = sys.stderr.buffer
        if path != "-":
            self._file = Path(path).open("ab", buffering=0)  # noqa: SIM115 - as long as the process

    def write(self, **about: str | float | None) -> None:
        """Log a request that was answered."""
        line = {
            "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),  # noqa: TID251
            **about,
        }
        told = orjson.dumps({name: value for name, value in line.items() if value is not None})
        try:
            self._file.write(told + b"\n")
            self._file.flush()
        except (OSError, ValueError):  # the latter of a stream that was closed
            self.lost += 1


# Draining of a server: no new episodes, existing ones continue, and the server reports what still runs.

QUIET = 600.0
"""Seconds without a call after which nobody is taken to be acting on an episode."""
REFUSED = "the server is being drained: it makes no further episodes"
RETRY_AFTER = 5


class Drain(BaseModel):
    """State of draining, and what still runs."""

    draining: bool
    requests: int = Field(description="Requests that are being answered, besides this one")
    active: int = Field(description="Episodes of which something was asked within the seconds in question")


class Draining:
    """Switch that stops a process from making further episodes. A restart turns it off."""

    def __init__(self) -> None:
        self.on = False

    def refuses(self, method: str, path: str) -> bool:
        """True if a request would make an episode while draining."""
        return self.on and method == "POST" and _makes_episodes(path)


def _makes_episodes(path: str) -> bool:
    fork = path.startswith("/episodes/") and path.endswith("/fork")
    return fork or path in ("/episodes", "/episodes/batch")


def gauge_draining(metrics: Metrics, draining: Draining) -> None:
    """Let metrics show it."""
    metrics.gauge("mesocosm_draining", "Whether no further episodes are made", lambda: draining.on)
