"""Objects: written whole, kept in generations, copied, deleted."""

from __future__ import annotations

import base64
import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import delete, func, insert, select

from mesocosm.errors import Invalid, NotFound
from mesocosm.servers.google_cloud.models import Bucket, Content, StorageObject
from mesocosm.servers.google_cloud.store.part import StorePart, moment, quoted, suggestion
from mesocosm.servers.google_cloud.store.storage.buckets import ANY, Condition, checked_class
from mesocosm.servers.google_cloud.store.storage.lifecycle import applies
from mesocosm.servers.google_cloud.store.storage.uploads import MOST

# CRC-32C (Castagnoli, RFC 3720 appendix B.4), which Cloud Storage shows of each object.

# Cloud Storage's own library computes this, in place of our tables (decision 094).


def crc32c(data: bytes) -> str:
    """The checksum as the API shows it: four bytes, the highest first, in base64."""
    import google_crc32c  # comes with an extra, while all services can be looked at without

    return base64.b64encode(google_crc32c.value(data).to_bytes(4, "big")).decode()


_TYPES = mimetypes.MimeTypes(filenames=())
"""Without what the machine's own files say."""
_FIELDS = ("content_type", "content_encoding", "content_disposition", "content_language", "cache_control")
MAX_METADATA = 8 * 1024


@dataclass(frozen=True)
class NewObject:
    """An object that is to be written."""

    name: str
    data: bytes
    content_type: str | None = None
    """By default what the name's ending says."""
    custom: Mapping[str, Any] = field(default_factory=dict)
    content_encoding: str | None = None
    content_disposition: str | None = None
    content_language: str | None = None
    cache_control: str | None = None
    storage_class: str | None = None
    """By default the bucket's."""


class Objects(StorePart):
    """Objects in buckets."""

    def object(
        self, bucket: str, name: str, generation: int | None = None, condition: Condition = ANY
    ) -> StorageObject:
        """The live object of that name, or that generation of it."""
        number = self.store.storage.bucket(bucket).number
        found = self._find(number, name, generation)
        if found is None:
            near = select(StorageObject.name).where(StorageObject.bucket == number, StorageObject.live)
            known = self.session.scalars(near.order_by(StorageObject.name).limit(1000)).all()
            which = f"{bucket}/{name}" + (f"#{generation}" if generation is not None else "")
            raise NotFound(f"No such object: {which[:1200]}.{suggestion(name, known)}", code="notFound")
        condition.check(found.generation, found.metageneration)
        return found

    def data(self, found: StorageObject) -> bytes:
        return self.session.scalars(select(Content.data).where(Content.number == found.content)).one()

    def write(self, bucket: str, new: NewObject, condition: Condition = ANY) -> StorageObject:
        """A new generation of an object; what was live before stays only where the bucket keeps versions."""
        place = self.store.storage.bucket(bucket)
        check_object_name(new.name)
        self.sweep(place)
        before = self._find(place.number, new.name, None)
        condition.check(*(before.generation, before.metageneration) if before else (None, None))
        if before is not None:
            # First of all: what holds the same bytes may go, and its bytes with it.
            self._retire(place, before)
        made = StorageObject(**self._row(place, new, self._next_generation()))
        return self.added(made)

    def fill(self, bucket: str, objects: list[NewObject]) -> None:
        """Many new objects at once, for worlds that are being built; none of them is there yet."""
        place = self.store.storage.bucket(bucket)
        rows = []
        for new in objects:
            check_object_name(new.name)
            rows.append(self._row(place, new, self._next_generation()))
        if rows:
            self.session.execute(insert(StorageObject), rows)

    def update(
        self,
        bucket: str,
        name: str,
        changes: Mapping[str, Any],
        generation: int | None = None,
        condition: Condition = ANY,
    ) -> StorageObject:
        """Change what is known of an object: ``custom`` metadata, ``content_type`` ..."""
        found = self.object(bucket, name, generation, condition)
        for key, value in changes.items():
            setattr(found, key, checked_custom(value) if key == "custom" else value)
        found.metageneration += 1
        found.updated = moment(self.now)
        self.session.flush()
        return found

    def delete(
        self, bucket: str, name: str, generation: int | None = None, condition: Condition = ANY
    ) -> None:
        """Delete the live object, which stays as a version where the bucket keeps versions; or, for good,
        one generation."""
        place = self.store.storage.bucket(bucket)
        self.sweep(place)
        found = self.object(bucket, name, generation, condition)
        if generation is None:
            self._retire(place, found)
        else:
            self._remove(found)
        self.session.flush()

    def copy(
        self,
        source: tuple[str, str],
        target: tuple[str, str],
        *,
        generation: int | None = None,
        condition: Condition = ANY,
        source_condition: Condition = ANY,
        changes: Mapping[str, Any] | None = None,
    ) -> StorageObject:
        """Copy an object with its metadata, or with others; replaces what is there."""
        found = self.object(*source, generation, source_condition)
        values: dict[str, Any] = {name: getattr(found, name) for name in _FIELDS} | {"custom": found.custom}
        values |= dict(changes or {})
        return self.write(target[0], NewObject(target[1], self.data(found), **values), condition)

    def move(self, source: tuple[str, str], target: tuple[str, str]) -> StorageObject:
        """Copy an object and delete the original."""
        if source == target:
            self.object(*source)
            raise Invalid("The source and the destination of a move must not be the same.", code="invalid")
        made = self.copy(source, target)
        self.delete(*source)
        return made

    def compose(
        self, bucket: str, sources: list[tuple[str, int | None]], new: NewObject, condition: Condition = ANY
    ) -> StorageObject:
        """An object of the bytes of others of the bucket, one after the other."""
        if not 1 <= len(sources) <= 32:
            raise Invalid("The number of source components must be between 1 and 32.", code="invalid")
        found = [self.object(bucket, name, number) for name, number in sources]
        if sum(one.size for one in found) > MOST:
            raise Invalid(f"An object may have {MOST:,} bytes here.", code="uploadTooLarge")
        whole = NewObject(new.name, b"".join(map(self.data, found)), new.content_type, new.custom)
        return self.write(bucket, whole, condition)

    # -- how --------------------------------------------------------------------------------------------

    def _find(self, bucket: int, name: str, generation: int | None) -> StorageObject | None:
        which = StorageObject.live if generation is None else StorageObject.generation == generation
        chosen = select(StorageObject).where(
            StorageObject.bucket == bucket, StorageObject.name == name, which
        )
        return self.session.scalars(chosen).first()

    def _row(self, bucket: Bucket, new: NewObject, generation: int) -> dict[str, Any]:
        now = moment(self.now)
        return {
            "bucket": bucket.number,
            "name": new.name,
            "generation": generation,
            "metageneration": 1,
            "live": True,
            "content": self._content(new.data),
            "size": len(new.data),
            "md5": base64.b64encode(hashlib.md5(new.data, usedforsecurity=False).digest()).decode(),
            "crc32c": crc32c(new.data),
            "content_type": new.content_type or guessed_type(new.name),
            "content_encoding": new.content_encoding,
            "content_disposition": new.content_disposition,
            "content_language": new.content_language,
            "cache_control": new.cache_control,
            "storage_class": checked_class(new.storage_class) if new.storage_class else bucket.storage_class,
            "custom": checked_custom(new.custom),
            "created": now,
            "updated": now,
            "deleted": None,
        }

    def _content(self, data: bytes) -> int:
        digest = hashlib.sha256(data).hexdigest()
        known = self.session.scalars(select(Content.number).where(Content.sha256 == digest)).first()
        if known is not None:
            return known
        content = Content(sha256=digest, data=data)
        self.added(content)
        return content.number

    def _next_generation(self) -> int:
        project = self.project
        project.last_generation = max(project.last_generation + 1, int(self.now.timestamp()) * 1_000_000)
        return project.last_generation

    def _retire(self, bucket: Bucket, found: StorageObject) -> None:
        if bucket.versioning:
            found.live = False
            found.deleted = moment(self.now)
        else:
            self._remove(found)
        # Before the next generation is put in: there may be one live object of a name.
        self.session.flush()

    def _remove(self, found: StorageObject) -> None:
        content = found.content
        self.removed(found)
        used = select(func.count()).select_from(StorageObject).where(StorageObject.content == content)
        if not self.session.scalars(used).one():
            self.session.execute(delete(Content).where(Content.number == content))

    def sweep(self, bucket: Bucket) -> None:
        """Carry out the lifecycle rules of a bucket, once a day."""
        day = moment(self.now)[:10]
        if not bucket.lifecycle or bucket.swept == day:
            return
        bucket.swept = day
        chosen = select(StorageObject).where(StorageObject.bucket == bucket.number)
        newest_first = chosen.order_by(StorageObject.name, StorageObject.generation.desc())
        name, newer = "", 0
        for stored in self.session.scalars(newest_first).all():
            newer = newer + 1 if stored.name == name else 0
            name = stored.name
            rules = [rule for rule in bucket.lifecycle if applies(rule, stored, newer, self.now)]
            if any(rule["action"]["type"] == "Delete" for rule in rules):
                if stored.live:
                    self._retire(bucket, stored)
                else:
                    self._remove(stored)
            elif rules:
                stored.storage_class = rules[0]["action"]["storageClass"]
        self.session.flush()


def check_object_name(name: str) -> None:
    """``Invalid`` for what cannot be the name of an object."""
    if not 1 <= len(name.encode()) <= 1024 or name in (".", "..") or set(name) & set("\r\n\0"):
        raise Invalid(
            f"Invalid object name: {quoted(name)}. A name has 1 to 1024 bytes and no line breaks.",
            code="invalid",
        )


def checked_custom(custom: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata of clients: texts by name, of bounded size."""
    values = {name: value for name, value in custom.items() if value is not None}
    if not all(isinstance(value, str) for value in values.values()):
        raise Invalid("Metadata values must be texts.", code="invalid")
    if sum(len(name) + len(value) for name, value in values.items()) > MAX_METADATA:
        raise Invalid(f"The metadata of an object may have {MAX_METADATA} bytes.", code="invalid")
    return dict(sorted(values.items()))


def guessed_type(name: str) -> str:
    """The type of an object by the ending of its name."""
    return _TYPES.guess_type(name.rpartition("/")[2])[0] or "application/octet-stream"
