"""Jobs in the processes of a Ray cluster."""

# Workers are replaceable: results are the same bytes wherever a job ran (decision 080).

from __future__ import annotations

import io
import logging
import os
import re
import socket
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mesocosm.errors import MissingExtra, UsageError
from mesocosm.families import program, trust
from mesocosm.families.workers import probe
from mesocosm.families.workers.workers import J, R, Workers
from mesocosm.worlds.archives import pack, unpack

# Folders as bytes, to be carried from one machine to another.


def packed(folder: Path) -> bytes:
    file = io.BytesIO()
    pack(folder, file)
    return file.getvalue()


def unpacked(carried: bytes, folder: Path) -> None:
    """Make a folder that was carried lie at a path that is not there yet."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    file = folder.with_name(f".{folder.name}.carried")
    try:
        file.write_bytes(carried)
        unpack(file, folder)
    finally:
        file.unlink(missing_ok=True)


AUTO = "auto"
"""The cluster that this machine is a node of, or that RAY_ADDRESS names."""
_SECONDS = 60
"""In which each node has to say what it has, and the cluster that it is there at all."""
_KNOCKING_SECONDS = 5
_MANY = 10


class RayCluster(Workers):
    """A Ray cluster that runs already, of nodes with the same Mesocosm as here.

    Args:
        address: ``HOST:PORT`` of a cluster that this machine is a node of, ``ray://HOST:PORT`` of its client
            server from elsewhere, or ``auto``.

    Raises:
        UsageError: It cannot be reached, or one of its nodes has other versions; said within a minute or so.
    """

    def __init__(self, address: str = AUTO) -> None:
        self._ray = _ray()
        self._address = address
        self._running: dict[Future[Any], Any] = {}
        self.lost = _lost(self._ray)  # type: ignore[misc]

    def __enter__(self) -> Self:
        _connect(self._ray, self._address)
        try:
            _check_nodes(self._ray)
        except BaseException:
            self._ray.shutdown()
            raise
        self._perform = self._ray.remote(perform)
        self._parts, self._trusted = self._ray.put(program.parts()), os.environ.get(trust.VARIABLE, "")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for begun in list(self._running.values()):
            self._ray.cancel(begun, force=True)
        self._ray.shutdown()

    @property
    def ahead(self) -> int:
        # Nodes come and go meanwhile.
        return max(2, 2 * int(self._ray.cluster_resources().get("CPU", 0)))

    def room(self, memory: int) -> bool:
        return True

    def begin(self, function: Callable[[J], R], job: J, memory: int) -> Future[R]:
        largest = max((node["Resources"].get("memory", 0) for node in _nodes(self._ray)), default=0)
        # Lost workers are seen to by who began the job, for clusters as for processes. A node takes as many
        # jobs as it has processors and memory for; what no node has room for is not waited for.
        options = {"num_cpus": 1, "max_retries": 0, "memory": min(memory, int(largest))}
        begun = self._perform.options(**options).remote(function, job, self._parts, self._trusted)
        future: Future[R] = Future()
        self._running[future] = begun
        begun.future().add_done_callback(partial(self._tell, future))
        return future

    def _tell(self, future: Future[Any], came: Future[Any]) -> None:
        self._running.pop(future, None)
        error = came.exception()
        if isinstance(error, self._ray.exceptions.RayTaskError) and isinstance(error.cause, Exception):
            error = error.cause  # as the function raised it
        if error:
            future.set_exception(error)
        else:
            future.set_result(came.result())

    def folders(
        self,
        function: Callable[[J, Path], R],
        jobs: Iterable[tuple[J, Path]],
        memory: Callable[[tuple[J, Path]], int] = lambda _: 0,
    ) -> Iterator[tuple[J, R]]:
        # What is made elsewhere is carried here; nothing is expected of a file system.
        for (job, path), (result, carried) in self.done(partial(_carried, function), jobs, memory):
            if carried is not None:
                unpacked(carried, path)
            yield job, result

    def reading(self, function: Callable[[Path], R], folders: Iterable[Path]) -> Iterator[R]:
        return self.ordered(
            partial(_reading, function), ((packed(folder), folder.name) for folder in folders)
        )

    def on_each_node(self, kind: type, *arguments: Any) -> list[Any]:
        """An object of a kind on every node, made from the node's address and the arguments; it lives until
        the cluster is left or its node is gone."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        made = []
        for node in _nodes(self._ray):
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            of = self._ray.remote(kind).options(num_cpus=1, scheduling_strategy=there)
            made.append(of.remote(node["NodeManagerAddress"], *arguments))
        return made

    @property
    def nodes(self) -> int:
        """Number of nodes that can take jobs."""
        return len(_nodes(self._ray))

    def actor(self, kind: type, *arguments: Any) -> Any:
        """An object of a kind on a node, away from others if possible; it does several things at a time."""
        of = self._ray.remote(kind).options(num_cpus=1, scheduling_strategy="SPREAD", max_concurrency=4)
        return of.remote(*arguments)

    def kill(self, actor: Any) -> None:
        """End such an object."""
        self._ray.kill(actor)

    def ask(self, method: Any, seconds: float) -> Any:
        """Call a method of a remote object; ``None`` if it is gone or does not answer in time."""
        try:
            return self._ray.get(method.remote(), timeout=seconds)
        except (*self.lost, self._ray.exceptions.RayActorError, self._ray.exceptions.GetTimeoutError):
            return None


def perform(function: Callable[[J], R], job: J, parts: dict[str, str], trusted: str) -> R:
    """Run a job on a node, which may have joined after the cluster was probed."""
    if difference := _difference(parts, program.parts()):
        raise UsageError(f"node {socket.gethostname()} cannot take part: {difference}")
    os.environ[trust.VARIABLE] = trusted
    return function(job)


def _carried(function: Callable[[J, Path], R], job: tuple[J, Path]) -> tuple[R, bytes | None]:
    with tempfile.TemporaryDirectory(prefix="mesocosm-job-") as name:
        folder = Path(name, "made")
        result = function(job[0], folder)
        return result, packed(folder) if folder.is_dir() else None


def _reading(function: Callable[[Path], R], job: tuple[bytes, str]) -> R:
    with tempfile.TemporaryDirectory(prefix="mesocosm-job-") as name:
        folder = Path(name, job[1])
        unpacked(job[0], folder)
        return function(folder)


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise MissingExtra("--ray", "ray") from None
    return ray


def _lost(ray: Any) -> tuple[type[BaseException], ...]:
    names = (
        "WorkerCrashedError",
        "NodeDiedError",
        "OutOfMemoryError",
        "ObjectLostError",
        "LocalRayletDiedError",
    )
    return tuple(getattr(ray.exceptions, name) for name in names)


_TOKEN = (
    ". Where the cluster wants a token (RAY_AUTH_MODE=token, as newer versions of Ray have it), it is the "
    "same here and on all nodes: RAY_AUTH_TOKEN, or ~/.ray/auth_token, which `ray get-auth-token --generate` "
    "writes"
)


def _connect(ray: Any, address: str) -> None:
    """Be a driver of the cluster; ``UsageError`` says why that cannot be."""
    _knock(address)
    try:
        ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        told = " ".join(str(error).split())
        raise UsageError(f"--ray {address}: no cluster can be used there: {told}{_TOKEN}") from None
    # There is no public way to have its remarks on nodes elsewhere than among what a command prints.
    ray._private.worker._worker_logs_enabled = False


def _knock(address: str) -> None:
    """Ray waits long for a server that is not there; whether one listens is known at once."""
    if address == AUTO:
        address = os.environ.get("RAY_ADDRESS", AUTO)
    if address == AUTO:
        return
    found = re.fullmatch(r"(?:ray://)?(?P<host>\[[^\]]+\]|[^:/]+):(?P<port>\d{1,5})", address)
    if not found:
        raise UsageError(f"--ray {address!r}: write HOST:PORT, ray://HOST:PORT or {AUTO}")
    host, port = found["host"].strip("[]"), int(found["port"])
    try:
        socket.create_connection((host, port), _KNOCKING_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UsageError(f"--ray {address}: nobody answers there: {error}") from None
    if not _speaks_grpc(address.removeprefix("ray://")):
        raise UsageError(f"--ray {address}: what listens there is no Ray cluster")


def _speaks_grpc(address: str) -> bool:
    """True if the address speaks gRPC, as Ray's servers do."""
    import grpc

    with grpc.insecure_channel(address) as channel:
        try:
            grpc.channel_ready_future(channel).result(_KNOCKING_SECONDS)
        except grpc.FutureTimeoutError:
            return False
    return True


def _nodes(ray: Any) -> list[dict[str, Any]]:
    """The nodes that can be given jobs."""
    return [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]


def _check_nodes(ray: Any) -> None:
    """``UsageError`` names the nodes that would make other bytes, with what is different there."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = _nodes(ray)
    if not nodes:
        raise UsageError("the Ray cluster has no node with a processor to give")
    ray.cloudpickle.register_pickle_by_value(probe)
    asked = {}
    try:
        for node in nodes:
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            options = {"num_cpus": 0, "max_retries": 0, "scheduling_strategy": there}
            asked[ray.remote(probe.probe).options(**options).remote()] = node
    finally:
        ray.cloudpickle.unregister_pickle_by_value(probe)
    answered, _ = ray.wait(list(asked), num_returns=len(asked), timeout=_SECONDS)
    told = {node["NodeID"]: _told(ray, question) for question, node in asked.items() if question in answered}
    # A node that is gone meanwhile is none that is wrong.
    still = {node["NodeID"] for node in _nodes(ray)}
    wrong = []
    for node in nodes:
        difference = told.get(node["NodeID"], f"no answer in {_SECONDS} seconds")
        if difference and node["NodeID"] in still:
            wrong.append(f"{node['NodeManagerAddress']} ({node['NodeName']}): {difference}")
    if wrong:
        more = f"\n  and {len(wrong) - _MANY} more" if len(wrong) > _MANY else ""
        raise UsageError(
            "all nodes must have what is installed here, so that results are the same:\n  "
            + "\n  ".join(wrong[:_MANY])
            + more
        )


def _told(ray: Any, question: Any) -> str:
    of = ray.exceptions
    try:
        return _difference(program.parts(), ray.get(question))
    except (*_lost(ray), of.TaskUnschedulableError):
        return ""
    except of.RayError as error:
        return str(error).strip().splitlines()[-1]


def _difference(here: dict[str, str], there: dict[str, str]) -> str:
    """Describe what a node lacks or has in another version; "" if nothing."""
    if "mesocosm" not in there:
        return there["error"]
    if there["mesocosm"] != here["mesocosm"]:
        return f"mesocosm is {there['mesocosm']} there, {here['mesocosm']} here"
    if "error" in there:
        return there["error"]
    different = [
        f"{name} is {there.get(name, 'missing')} there, {here.get(name, 'missing')} here"
        for name in sorted(here.keys() | there.keys())
        if here.get(name) != there.get(name) and name != "the code of mesocosm"
    ]
    if not different and here["the code of mesocosm"] != there["the code of mesocosm"]:
        return f"mesocosm is {here['mesocosm']} there too, but of other code, or with other content folders"
    return "; ".join(different[:_MANY])
