"""Servers of an evaluation's episodes: in this process, or an existing one."""

from __future__ import annotations

import atexit
import json
import os
import secrets
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from mesocosm.errors import UsageError
from mesocosm.families import grading
from mesocosm.families.cache import InstanceCache
from mesocosm.families.episode import Episode
from mesocosm.families.evidence_coverage import EvidenceCoverage, read_journal
from mesocosm.families.family import Expected, Family, load_family
from mesocosm.families.oracle import StepAccuracy
from mesocosm.families.task import Offer
from mesocosm.families.verdict import Verdict
from mesocosm.hosting.access import Access
from mesocosm.hosting.client import connect_sync
from mesocosm.worlds.archives import unpack

R = TypeVar("R")

INSTANCES_VARIABLE = "MESOCOSM_STATE"
"""Names the folder in whose ``instances`` built worlds are kept from one evaluation to the next."""
_ACTING = ".acting-"


@dataclass(frozen=True)
class StageOrder:
    task: str
    length: int | None
    seed: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    services: tuple[str, ...] = ()
    """Besides the task's own."""
    tools: Offer = "all"
    """Which of the task's own tools are offered."""
    disturb: str = ""
    """How it is disturbed on purpose."""


@dataclass(frozen=True)
class Opened:
    """An episode that an agent can act on."""

    id: str
    prompt: str
    edl: int
    mcp: str
    """URL of the endpoint with the tools of all services."""
    services: Mapping[str, str]
    """URL of each service's own endpoint."""
    call_limit: int
    """Calls after which it is ended, unless told otherwise."""
    least_calls: int | None = None
    """Calls without which the task cannot be done, in families that know."""

    def calls_of(self, wanted: int | None) -> int:
        """The limit of calls, given what is wanted; ``UsageError`` where that is too low for the task."""
        if wanted is None:
            return self.call_limit
        check_calls(wanted, self.least_calls)
        return wanted


def check_calls(wanted: int, least: int | None) -> None:
    """``UsageError`` for a limit below the calls that an instance takes."""
    if least is not None and wanted < least:
        raise UsageError(
            f"--max-calls {wanted}: an instance takes {least:,} calls; give more, or leave the "
            "option out: then the limit follows from the task"
        )


@dataclass(frozen=True)
class Settled:
    """An episode that has been judged."""

    verdict: Verdict
    tool_calls: int
    delivered_tokens: int
    measures: Mapping[str, int]
    steps: StepAccuracy | None = None
    """Number of optimal calls, in families that know them."""
    reading: EvidenceCoverage = field(default_factory=EvidenceCoverage)


class EvaluationStage(ABC):
    """Opens, judges and puts away episodes; every method may take long and is called in a thread."""

    @abstractmethod
    def open(self, order: StageOrder) -> Opened:
        """An episode of its own, as ordered."""

    @abstractmethod
    def settle(self, id_: str) -> Settled:
        """Judge an episode."""

    @abstractmethod
    def keep(self, id_: str, folder: Path) -> None:
        """Move an episode to a folder that is not there yet."""

    @abstractmethod
    def truth(self, id_: str, family: Family) -> Expected:
        """Return the checker's knowledge of an episode."""

    def access(self, id_: str) -> Access | None:
        """For strategies that know more than the model; ``None`` where the episode is elsewhere."""
        return None


class LocalStage(EvaluationStage):
    """A server in a thread of this process, which ends with the process.

    Args:
        folder: Where the episodes are while they are acted; a folder of their own in it is made and removed.
    """

    def __init__(self, folder: Path) -> None:
        # The SDK takes a second to import; commands that need no server should not wait for it.
        from sse_starlette.sse import AppStatus

        from mesocosm.doors.connections import raise_file_limit
        from mesocosm.hosting.application import Hosting
        from mesocosm.hosting.server import serving

        # inspect has a server of its own in this process. The one that is interrupted first would end the
        # answers of both, and the model would go on with what is left of them until it is cancelled itself.
        AppStatus.enable_automatic_graceful_drain = False
        raise_file_limit()
        _remove_dead(folder)
        root = folder / f"{_ACTING}{os.getpid()}"
        app = Hosting(root, admin_token=secrets.token_urlsafe(32))
        self._pool = app.pool
        self._pool.instances = kept_instances()
        self._stack = ExitStack()
        self._stack.callback(shutil.rmtree, root, ignore_errors=True)
        self._base = self._stack.enter_context(serving(app))
        atexit.register(self._stack.close)

    def open(self, order: StageOrder) -> Opened:
        family = load_family(order.task)
        wanted = (family, order.seed, order.length, order.parameters)
        self._pool.call(self._pool.instances.prepare, *wanted)
        instance = self._pool.instances.get(*wanted)
        id_ = self._pool.adopt(instance, family, order.tools, order.services, order.disturb)
        episode = Episode(self._pool.path(id_), family)
        url = f"{self._base}/e/{id_}"
        services = dict.fromkeys([*family.task.offered(order.tools), *order.services])
        return Opened(
            id=id_,
            prompt=episode.prompt,
            edl=episode.info.edl,
            mcp=f"{url}/mcp",
            services={name: f"{url}/{name}/mcp" for name in services},
            call_limit=episode.call_limit,
            least_calls=episode.least_calls,
        )

    def settle(self, id_: str) -> Settled:
        async def act() -> Settled:
            settled: Settled = await self._pool.get(id_).do(settle)
            return settled

        return self._pool.call(act)

    def keep(self, id_: str, folder: Path) -> None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        self._pool.call(self._pool.take_out, id_, folder)

    def truth(self, id_: str, family: Family) -> Expected:
        return self.access(id_).now(Episode.expected)

    def access(self, id_: str) -> Access:
        return Access(self._pool, id_)


class RemoteStage(EvaluationStage):
    """A server that runs already; an episode is fetched from it at the end, and removed there."""

    def __init__(self, url: str, token: str) -> None:
        self._server = connect_sync(url, token=token)

    def open(self, order: StageOrder) -> Opened:
        created = self._server.create(
            order.task,
            length=order.length,
            seed=order.seed,
            parameters=dict(order.parameters),
            tools=order.tools,
            services=list(order.services),
            disturb=order.disturb,
        )
        view, base = created.view.data, self._server.base
        return Opened(
            id=view["id"],
            prompt=view["prompt"],
            edl=view["edl"],
            mcp=base + view["mcp"],
            services={name: base + path for name, path in view["services"].items()},
            call_limit=view["call_limit"],
            least_calls=view["least_calls"],
        )

    def settle(self, id_: str) -> Settled:
        graded = self._server.known(id_).grade().data
        return Settled(
            verdict=Verdict.model_validate(graded["verdict"]),
            tool_calls=graded["tool_calls"],
            delivered_tokens=graded["delivered_tokens"],
            measures=graded["measures"],
            steps=graded["steps"] and StepAccuracy.model_validate(graded["steps"]),
            reading=EvidenceCoverage.model_validate(graded["reading"]),
        )

    def truth(self, id_: str, family: Family) -> Expected:
        return family.read_expected(json.dumps(self._server.known(id_).truth()).encode())

    def keep(self, id_: str, folder: Path) -> None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".fetching-") as draft:
            archive = Path(draft) / "episode.tar.gz"
            self._server.known(id_).archive(archive)
            unpack(archive, folder)
        self._server.known(id_).delete()


def settle(episode: Episode) -> Settled:
    """Judge an episode that this process has open, and count what was used."""
    verdict, (calls, delivered) = grading.grade(episode), episode.usage()
    reading = EvidenceCoverage() if verdict.verdict == "errored" else read_journal(episode)
    return Settled(verdict, calls, delivered, episode.measures, episode.step_accuracy(), reading)


_given: list[EvaluationStage] = []


@contextmanager
def acting_on(stage: EvaluationStage) -> Iterator[None]:
    """Make evaluations of this process open their episodes at ``stage``. The stage is not part of an
    evaluation, so another one may finish it.
    """
    _given.append(stage)
    try:
        yield
    finally:
        _given.remove(stage)


def given_stage() -> EvaluationStage | None:
    """Return the stage that was configured, if any."""
    return _given[-1] if _given else None


_starting = Lock()
_stages: dict[Path, LocalStage] = {}


def local_stage(folder: Path) -> LocalStage:
    """The one server of this process whose episodes end up below a folder."""
    with _starting:
        if folder not in _stages:
            _stages[folder] = LocalStage(folder)
        return _stages[folder]


@cache
def remote_stage(url: str) -> RemoteStage:
    """A server by its address; its token comes from the environment."""
    token = os.environ.get("MESOCOSM_ADMIN_TOKEN", "")
    if not token:
        raise UsageError(f"the server {url} needs its admin token in MESOCOSM_ADMIN_TOKEN")
    return RemoteStage(url, token)


def kept_instances() -> InstanceCache:
    """The worlds that are kept from one evaluation to the next."""
    return InstanceCache(Path(os.environ.get(INSTANCES_VARIABLE, ".mesocosm")).resolve() / "instances")


def _remove_dead(folder: Path) -> None:
    """Remove what processes left behind that were killed."""
    for left in folder.glob(f"{_ACTING}*"):
        number = left.name.removeprefix(_ACTING)
        if number.isdecimal() and not _runs(int(number)):
            shutil.rmtree(left, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def services_for(with_: Sequence[str], needed: Sequence[str]) -> tuple[str, ...]:
    """The services that are added at run time: those asked for, then those that strategies need."""
    return tuple(dict.fromkeys([*with_, *needed]))
