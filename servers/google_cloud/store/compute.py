"""The rules of Compute Engine: machines in zones, changed by operations that take a while.

What is under way is told by the world's clock: an instance shows the state of its transition until it is
settled, and nothing has to be written for that. Waiting for an operation lets it end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, func, select

from mesocosm.errors import Conflict, Invalid, NotFound
from mesocosm.servers.google_cloud.models import ComputeOperation, Instance
from mesocosm.servers.google_cloud.store.part import (
    StorePart,
    moment,
    quoted,
    suggestion,
)
from mesocosm.servers.google_cloud.store.storage.buckets import checked_labels

_LETTERS = {
    "us-central1": "abcf",
    "us-east1": "bcd",
    "us-east4": "abc",
    "us-west1": "abc",
    "us-west2": "abc",
    "northamerica-northeast1": "abc",
    "southamerica-east1": "abc",
    "europe-north1": "abc",
    "europe-west1": "bcd",
    "europe-west2": "abc",
    "europe-west3": "abc",
    "europe-west4": "abc",
    "europe-west6": "abc",
    "asia-east1": "abc",
    "asia-northeast1": "abc",
    "asia-south1": "abc",
    "asia-southeast1": "abc",
    "australia-southeast1": "abc",
}
ZONES = tuple(f"{region}-{letter}" for region, letters in _LETTERS.items() for letter in letters)


def _types() -> dict[str, tuple[float, float]]:
    """Virtual processors and GiB of memory, by name."""
    types: dict[str, tuple[float, float]] = {
        "f1-micro": (0.2, 0.6),
        "g1-small": (0.5, 1.7),
        "e2-micro": (0.25, 1),
        "e2-small": (0.5, 2),
        "e2-medium": (1, 4),
    }
    sizes = {
        "e2": (2, 4, 8, 16, 32),
        "n1": (1, 2, 4, 8, 16, 32, 64, 96),
        "n2": (2, 4, 8, 16, 32, 48, 64, 80, 96, 128),
        "n2d": (2, 4, 8, 16, 32, 48, 64, 80, 96, 128, 224),
        "c3": (4, 8, 22, 44, 88, 176),
    }
    for family, numbers in sizes.items():
        for number in numbers:
            types[f"{family}-standard-{number}"] = (number, number * (3.75 if family == "n1" else 4))
            types[f"{family}-highmem-{number}"] = (number, number * (6.5 if family == "n1" else 8))
            types[f"{family}-highcpu-{number}"] = (number, number * (0.9 if family == "n1" else 1))
    for number in (4, 8, 16, 30, 60):
        types[f"c2-standard-{number}"] = (number, number * 4)
    return types


MACHINE_TYPES = _types()
_NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
_SECONDS = {"insert": 12, "start": 8, "stop": 15, "delete": 20, "reset": 4}
"""How long operations take."""
_STAGING = 4
"""Seconds before an instance runs in which its parts are there."""


@dataclass(frozen=True)
class Operation:
    """An operation as it is now."""

    name: str
    zone: str
    kind: str
    target: str
    done: bool
    progress: int
    started: str
    ended: str | None


class Compute(StorePart):
    """The instances of the project."""

    def zones(self) -> Sequence[str]:
        """The zones that there are."""
        return ZONES

    def instance(self, name: str, zone: str) -> Instance:
        self._check_zone(zone)
        found = self._find(name, zone)
        if found is None:
            here = select(Instance.name).where(Instance.zone == zone).order_by(Instance.name)
            elsewhere = select(Instance).where(Instance.name == name).order_by(Instance.zone)
            hint = suggestion(name, self.session.scalars(here.limit(1000)).all())
            if other := next(
                (one for one in self.session.scalars(elsewhere) if not self._is_gone(one)), None
            ):
                hint = f" There is one of that name in zone {other.zone!r}."
            path = f"projects/{self.project.id}/zones/{zone}/instances/{name[:100]}"
            raise NotFound(f"The resource '{path}' was not found.{hint}", code="notFound")
        return found

    def status(self, instance: Instance) -> str:
        """Return an instance's current state."""
        now = moment(self.now)
        if instance.transition is None or now >= instance.settled:
            return instance.status
        if instance.transition == "PROVISIONING":
            nearly = moment(self.now + timedelta(seconds=_STAGING)) >= instance.settled
            return "STAGING" if nearly else "PROVISIONING"
        return instance.transition

    def list_instances(
        self, zone: str = "", limit: int | None = None, token: str | None = None
    ) -> tuple[Sequence[Instance], str | None]:
        """A page of the instances of a zone (or of all), and the token of the next."""
        gone = (Instance.status == "DELETED") & (Instance.settled <= moment(self.now))
        chosen = select(Instance).where(~gone)
        if zone:
            self._check_zone(zone)
            chosen = chosen.where(Instance.zone == zone)
        return self.page_of(chosen, Instance.zone, Instance.name, asked=limit, token=token, most=500)

    def create(
        self,
        name: str,
        zone: str,
        machine_type: str = "e2-micro",
        *,
        image: str = "debian-12",
        disk_gb: int = 10,
        labels: Mapping[str, Any] | None = None,
    ) -> Operation:
        """Begin to create an instance; ``Conflict`` if there is one of that name in the zone."""
        self._check_zone(zone)
        if not _NAME.fullmatch(name):
            raise Invalid(
                f"Invalid value for field 'resource.name': {quoted(name)}. Must be a match of regex"
                " '[a-z]([-a-z0-9]{0,61}[a-z0-9])?'.",
                code="invalid",
            )
        if machine_type not in MACHINE_TYPES:
            path = f"zones/{zone}/machineTypes/{machine_type[:100]}"
            raise Invalid(
                f"Invalid value for field 'resource.machineType': '{path}'. The referenced resource does not"
                f" exist.{suggestion(machine_type, MACHINE_TYPES)}",
                code="invalid",
            )
        if self._find(name, zone) is not None:
            path = f"projects/{self.project.id}/zones/{zone}/instances/{name}"
            raise Conflict(f"The resource '{path}' already exists.", code="alreadyExists")
        # One that was deleted stays in the table until its name is wanted again.
        self.session.execute(delete(Instance).where(Instance.zone == zone, Instance.name == name))
        count = (self.session.scalars(select(func.max(Instance.number))).one() or 0) + 1
        now = moment(self.now)
        instance = Instance(
            name=name,
            zone=zone,
            machine_type=machine_type,
            status="RUNNING",
            transition="PROVISIONING",
            settled=self._after("insert"),
            image=image,
            disk_gb=disk_gb,
            internal_ip=f"10.128.{count // 250}.{count % 250 + 2}",
            external_ip=f"34.{count * 37 % 200 + 10}.{count * 91 % 250}.{count * 53 % 250 + 2}",
            labels=checked_labels(labels or {}),
            created=now,
            last_start=now,
            last_stop=None,
        )
        self.added(instance)
        return self._begin("insert", instance)

    def start(self, name: str, zone: str) -> Operation:
        """Begin to start a stopped instance; of a running one nothing changes."""
        instance = self._ready(name, zone)
        if self.status(instance) != "RUNNING":
            instance.status, instance.transition = "RUNNING", "PROVISIONING"
            instance.settled, instance.last_start = self._after("start"), moment(self.now)
        return self._begin("start", instance)

    def stop(self, name: str, zone: str) -> Operation:
        """Begin to stop a running instance; of a stopped one nothing changes."""
        instance = self._ready(name, zone)
        if self.status(instance) != "TERMINATED":
            instance.status, instance.transition = "TERMINATED", "STOPPING"
            instance.settled = instance.last_stop = self._after("stop")
        return self._begin("stop", instance)

    def reset(self, name: str, zone: str) -> Operation:
        """Restart a running instance, which is running all the while."""
        instance = self._ready(name, zone)
        if self.status(instance) != "RUNNING":
            raise Conflict(
                f"The resource 'projects/{self.project.id}/zones/{zone}/instances/{name}' is not ready:"
                f" Instance must be running for reset operation.",
                code="resourceNotReady",
            )
        instance.last_start = moment(self.now)
        return self._begin("reset", instance)

    def delete(self, name: str, zone: str) -> Operation:
        """Begin to delete an instance, which is stopped first."""
        instance = self._ready(name, zone)
        instance.status, instance.transition = "DELETED", "STOPPING"
        instance.settled = self._after("delete")
        return self._begin("delete", instance)

    def operation(self, name: str, zone: str) -> Operation:
        self._check_zone(zone)
        return self._seen(self._operation(name, zone))

    def wait(self, name: str, zone: str, minutes: int) -> Operation:
        """Wait until an operation is done: it has ended when this returns, if so many minutes suffice.

        The world's clock stands still meanwhile, so what is waited for comes about at once.
        """
        if not 1 <= minutes <= 24 * 60:
            raise Invalid(f"Invalid timeout of {minutes} minutes: it must be 1 to 1440.", code="invalid")
        self._check_zone(zone)
        operation = self._operation(name, zone)
        now = moment(self.now)
        if operation.ends > now:
            operation.ends = now
            instance = self._find(operation.target, zone)
            if instance is not None and operation.kind != "reset":
                instance.settled = min(instance.settled, now)
            self.session.flush()
        return self._seen(operation)

    # -- how --------------------------------------------------------------------------------------------

    def _check_zone(self, zone: str) -> None:
        if zone not in ZONES:
            raise Invalid(
                f"Invalid value for field 'zone': {quoted(zone)}. Unknown zone.{suggestion(zone, ZONES)}",
                code="invalid",
            )

    def _find(self, name: str, zone: str) -> Instance | None:
        chosen = select(Instance).where(Instance.zone == zone, Instance.name == name)
        found = self.session.scalars(chosen).first()
        return None if found is None or self._is_gone(found) else found

    def _is_gone(self, instance: Instance) -> bool:
        return self.status(instance) == "DELETED"

    def _ready(self, name: str, zone: str) -> Instance:
        """Return an instance without a pending operation."""
        instance = self.instance(name, zone)
        if self.status(instance) not in ("RUNNING", "TERMINATED"):
            raise Conflict(
                f"The resource 'projects/{self.project.id}/zones/{zone}/instances/{name}' is not ready: it is"
                f" {self.status(instance)}. Wait for its operation first.",
                code="resourceNotReady",
            )
        return instance

    def _after(self, kind: str) -> str:
        return moment(self.now + timedelta(seconds=_SECONDS[kind]))

    def _begin(self, kind: str, instance: Instance) -> Operation:
        count = (self.session.scalars(select(func.max(ComputeOperation.number))).one() or 0) + 1
        operation = ComputeOperation(
            name=f"operation-{int(self.now.timestamp())}{count:06d}-{kind}",
            zone=instance.zone,
            kind=kind,
            target=instance.name,
            started=moment(self.now),
            ends=self._after(kind),
        )
        self.added(operation)
        return self._seen(operation)

    def _operation(self, name: str, zone: str) -> ComputeOperation:
        chosen = select(ComputeOperation).where(ComputeOperation.name == name, ComputeOperation.zone == zone)
        found = self.session.scalars(chosen).first()
        if found is None:
            path = f"projects/{self.project.id}/zones/{zone}/operations/{name[:100]}"
            raise NotFound(f"The resource '{path}' was not found.", code="notFound")
        return found

    def _seen(self, operation: ComputeOperation) -> Operation:
        now = moment(self.now)
        done = now >= operation.ends
        return Operation(
            name=operation.name,
            zone=operation.zone,
            kind=operation.kind,
            target=operation.target,
            done=done,
            progress=100 if done else 0,
            started=operation.started,
            ended=operation.ends if done else None,
        )
