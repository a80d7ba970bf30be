"""Buckets: names, places, labels, versions, lifecycle rules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import func, select

from mesocosm.errors import Conflict, Invalid, NotFound
from mesocosm.servers.google_cloud.models import Bucket, StorageObject
from mesocosm.servers.google_cloud.store.part import (
    PreconditionFailed,
    StorePart,
    moment,
    quoted,
    suggestion,
)
from mesocosm.servers.google_cloud.store.storage.lifecycle import checked_rules

STORAGE_CLASSES = ("STANDARD", "NEARLINE", "COLDLINE", "ARCHIVE")
_OLD_CLASSES = ("REGIONAL", "MULTI_REGIONAL", "DURABLE_REDUCED_AVAILABILITY")
MULTI_REGIONS = ("US", "EU", "ASIA")
DUAL_REGIONS = ("NAM4", "EUR4", "EUR5", "EUR7", "EUR8", "ASIA1")
REGIONS = tuple(
    f"{area}{number}".upper()
    for area, numbers in (
        ("africa-south", "1"),
        ("asia-east", "12"),
        ("asia-northeast", "123"),
        ("asia-south", "12"),
        ("asia-southeast", "12"),
        ("australia-southeast", "12"),
        ("europe-central", "2"),
        ("europe-north", "12"),
        ("europe-southwest", "1"),
        ("europe-west", ("1", "2", "3", "4", "6", "8", "9", "10", "12")),
        ("me-central", "12"),
        ("me-west", "1"),
        ("northamerica-northeast", "12"),
        ("northamerica-south", "1"),
        ("southamerica-east", "1"),
        ("southamerica-west", "1"),
        ("us-central", "1"),
        ("us-east", "145"),
        ("us-south", "1"),
        ("us-west", "1234"),
    )
    for number in numbers
)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]", re.ASCII)
_ADDRESS = re.compile(r"\d{1,3}(\.\d{1,3}){3}", re.ASCII)
_MEMBER = re.compile(r"allUsers|allAuthenticatedUsers|[A-Za-z]+:\S+")
_LABEL = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_LABEL_VALUE = re.compile(r"[a-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Condition:
    """Precondition of a request; generation 0 means that the object must not exist."""

    generation: int | None = None
    not_generation: int | None = None
    metageneration: int | None = None
    not_metageneration: int | None = None

    def check(self, generation: int | None, metageneration: int | None) -> None:
        """Raise ``PreconditionFailed`` unless the present generation (``None``: no object) is as required."""
        wrong = (
            (self.generation is not None and self.generation != (generation or 0))
            or (self.not_generation is not None and self.not_generation == (generation or 0))
            or (self.metageneration is not None and self.metageneration != metageneration)
            or (self.not_metageneration is not None and self.not_metageneration == metageneration)
        )
        if wrong:
            raise PreconditionFailed(
                "At least one of the pre-conditions you specified did not hold.", code="conditionNotMet"
            )


ANY = Condition()


@dataclass(frozen=True)
class Size:
    """Size of a bucket's content."""

    objects: int
    bytes: int
    noncurrent_objects: int
    noncurrent_bytes: int


class Buckets(StorePart):
    """The buckets of the project."""

    def bucket(self, name: str) -> Bucket:
        found = self.session.scalars(select(Bucket).where(Bucket.name == name)).first()
        if found is None:
            raise NotFound(
                f"The specified bucket does not exist: {quoted(name)}.{suggestion(name, self.names())}",
                code="notFound",
            )
        return found

    def names(self) -> Sequence[str]:
        return self.session.scalars(select(Bucket.name).order_by(Bucket.name).limit(1000)).all()

    def list_buckets(
        self, limit: int | None = None, token: str | None = None, prefix: str = ""
    ) -> tuple[Sequence[Bucket], str | None]:
        """A page of the buckets by name, and the token of the next page."""
        chosen = select(Bucket).where(Bucket.name.startswith(prefix, autoescape=True))
        return self.page_of(chosen, Bucket.name, asked=limit, token=token)

    def create(
        self,
        name: str,
        location: str | None = None,
        storage_class: str | None = None,
        labels: Mapping[str, Any] | None = None,
        *,
        versioning: bool = False,
        lifecycle: Sequence[Mapping[str, Any]] = (),
        cors: Sequence[Mapping[str, Any]] = (),
        made: datetime | None = None,
    ) -> Bucket:
        """A new, empty bucket, made now or (in a world that is being built) before; ``Conflict`` if the name
        is taken."""
        check_bucket_name(name)
        if self.session.scalars(select(Bucket.number).where(Bucket.name == name)).first():
            raise Conflict(
                "Your previous request to create the named bucket succeeded and you already own it:"
                f" {quoted(name)}.",
                code="conflict",
            )
        created = moment(made or self.now)
        bucket = Bucket(
            name=name,
            location=checked_location(location or "US"),
            storage_class=checked_class(storage_class or "STANDARD"),
            versioning=versioning,
            labels=checked_labels(labels or {}),
            lifecycle=checked_rules(lifecycle),
            cors=checked_cors(cors),
            metageneration=1,
            created=created,
            updated=created,
            swept=moment(self.now)[:10],
        )
        return self.added(bucket)

    def update(
        self,
        name: str,
        *,
        versioning: bool | None = None,
        lifecycle: Sequence[Mapping[str, Any]] | None = None,
        cors: Sequence[Mapping[str, Any]] | None = None,
        labels: Mapping[str, Any] | None = None,
        storage_class: str | None = None,
        condition: Condition = ANY,
    ) -> Bucket:
        """Change what is given (not ``None``)."""
        bucket = self.bucket(name)
        condition.check(None, bucket.metageneration)
        if versioning is not None:
            bucket.versioning = versioning
        if lifecycle is not None:
            bucket.lifecycle = checked_rules(lifecycle)
            bucket.swept = moment(self.now)[:10]
        if cors is not None:
            bucket.cors = checked_cors(cors)
        if labels is not None:
            bucket.labels = checked_labels(labels)
        if storage_class is not None:
            bucket.storage_class = checked_class(storage_class)
        bucket.metageneration += 1
        bucket.updated = moment(self.now)
        self.session.flush()
        return bucket

    def bindings(self, name: str) -> list[Any]:
        """The bindings of a bucket's IAM policy: of a new one, those that the product gives it."""
        bucket = self.bucket(name)
        return _first_bindings(self.project.id) if bucket.bindings is None else bucket.bindings

    def set_bindings(self, name: str, bindings: Sequence[Mapping[str, Any]]) -> None:
        """Set a bucket's access policy, which is stored but not enforced."""
        self.bucket(name).bindings = [_checked_binding(one) for one in bindings]
        self.session.flush()

    def delete(self, name: str, condition: Condition = ANY) -> None:
        """Remove an empty bucket."""
        bucket = self.bucket(name)
        condition.check(None, bucket.metageneration)
        held = select(StorageObject.number).where(StorageObject.bucket == bucket.number).limit(1)
        if self.session.scalars(held).first():
            raise Conflict(f"The bucket you tried to delete is not empty: {quoted(name)}.", code="conflict")
        self.removed(bucket)

    def size(self, name: str) -> Size:
        """Count a bucket's objects and their bytes."""
        number = self.bucket(name).number
        counted = select(StorageObject.live, func.count(), func.sum(StorageObject.size)).where(
            StorageObject.bucket == number
        )
        found = {live: (n, total) for live, n, total in self.session.execute(counted.group_by("live"))}
        return Size(*found.get(True, (0, 0)), *found.get(False, (0, 0)))


def _first_bindings(project: str) -> list[Any]:
    roles = (
        ("legacyBucketOwner", "projectEditor", "projectOwner"),
        ("legacyBucketReader", "projectViewer"),
        ("legacyObjectOwner", "projectEditor", "projectOwner"),
        ("legacyObjectReader", "projectViewer"),
    )
    return [
        {"role": f"roles/storage.{role}", "members": [f"{member}:{project}" for member in members]}
        for role, *members in roles
    ]


def _checked_binding(said: Mapping[str, Any]) -> dict[str, Any]:
    role, members = said.get("role"), said.get("members") or []
    if not isinstance(role, str) or "/" not in role:
        raise Invalid(f"Invalid role {quoted(str(role))}: write roles/storage.objectViewer.", code="invalid")
    for member in members:
        if not isinstance(member, str) or not _MEMBER.fullmatch(member):
            raise Invalid(f"Invalid member {quoted(str(member))} of {role}.", code="invalid")
    if said.get("condition"):
        raise Invalid("Conditions of IAM policies are not offered here.", code="invalid")
    return {"role": role, "members": list(members)}


def checked_cors(rules: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Rules of CORS as the API has them."""
    made = []
    for rule in rules:
        for name, value in rule.items():
            if name in ("origin", "method", "responseHeader"):
                fits = isinstance(value, list) and all(isinstance(one, str) for one in value)
            else:
                fits = name == "maxAgeSeconds" and isinstance(value, int) and not isinstance(value, bool)
            if not fits:
                raise Invalid(f"Invalid value for cors: {quoted(name)}.", code="invalid")
        made.append(dict(rule))
    return made


def location_type(location: str) -> Literal["multi-region", "dual-region", "region"]:
    if location in MULTI_REGIONS:
        return "multi-region"
    return "dual-region" if location in DUAL_REGIONS else "region"


def check_bucket_name(name: str) -> None:
    """``Invalid`` for what cannot be the name of a bucket."""
    parts = name.split(".")
    fits = (
        _NAME.fullmatch(name)
        and all(0 < len(part) <= 63 for part in parts)
        and (len(name) <= 63 or len(parts) > 1)
        and not _ADDRESS.fullmatch(name)
        and not name.startswith("goog")
        and "google" not in name
    )
    if not fits:
        raise Invalid(
            f"Invalid bucket name: {quoted(name)}. A name has 3 to 63 lower-case letters, digits, hyphens,"
            " underscores and dots, begins and ends with a letter or digit, is no IP address, and does not"
            " begin with 'goog' or contain 'google'.",
            code="invalid",
        )


def checked_location(name: str) -> str:
    """A location in capitals."""
    place = name.upper()
    if place not in (*MULTI_REGIONS, *DUAL_REGIONS, *REGIONS):
        raise Invalid(
            f"The specified location constraint is not valid: {quoted(name)}."
            + (suggestion(place, (*MULTI_REGIONS, *REGIONS)) or " Use US, EU, ASIA or a region."),
            code="invalid",
        )
    return place


def checked_class(name: str) -> str:
    """A storage class in capitals."""
    if name.upper() not in (*STORAGE_CLASSES, *_OLD_CLASSES):
        raise Invalid(
            f"Invalid storage class: {quoted(name)}; there are {', '.join(STORAGE_CLASSES)}.", code="invalid"
        )
    return name.upper()


def checked_labels(labels: Mapping[str, Any]) -> dict[str, Any]:
    """Labels as Google takes them: at most 64, in lower case."""
    for name, value in labels.items():
        is_text = isinstance(value, str)
        if not is_text or not _LABEL.fullmatch(name) or not _LABEL_VALUE.fullmatch(value):
            raise Invalid(
                f"Invalid label {quoted(name)}: keys and values have at most 63 lower-case letters, digits,"
                " underscores and hyphens, and a key begins with a letter.",
                code="invalid",
            )
    if len(labels) > 64:
        raise Invalid("Too many labels: at most 64.", code="invalid")
    return dict(sorted(labels.items()))
