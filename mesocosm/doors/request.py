"""An HTTP request to a vendor's API: its query, form or JSON."""

from __future__ import annotations

import binascii
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from email.message import Message
from email.parser import HeaderParser
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlencode

import orjson

from mesocosm.doors.admission import MAX_FIELDS
from mesocosm.errors import Invalid, NoObject, UnreadableBody
from mesocosm.services.fields import Fields, remembering
from mesocosm.services.schema import MAX_VALUES, has_more_values
from mesocosm.worlds.deadlines import give_way
from mesocosm.worlds.journal import PlainText

# Forms in parts (RFC 7578), taken apart in linear time.
#
# The standard library reads them as mail, line after line, and takes time that grows with the square of the
# length of a part's fields.

_MAX_HEAD = 4096
"""Bytes of the fields of one part; a client sends some hundred."""
_MAX_PARAMETERS = 50


def parts_of(content_type: str, body: bytes) -> Iterator[tuple[Message, bytes]]:
    """The fields and the content of each part.

    Args:
        content_type: The field that names the boundary.
        body: The form.
    """
    boundary = _head(f"Content-Type: {content_type}".encode("latin-1")).get_boundary()
    if not boundary:
        raise UnreadableBody("The body is not a form in parts: its boundary is missing.")
    mark = b"--" + boundary.encode("latin-1", "replace")
    if body.count(mark) > MAX_FIELDS + 1:
        raise Invalid(f"A form may have {MAX_FIELDS:,} parts; this one has more.")
    for part in _divided(body, mark):
        if part.startswith(b"--"):
            return
        part = (
            part.lstrip(b" \t")
            .removeprefix(b"\r")
            .removeprefix(b"\n")
            .removesuffix(b"\n")
            .removesuffix(b"\r")
        )
        fields, blank, content = part.partition(b"\r\n\r\n")
        if not blank:
            fields, _, content = part.partition(b"\n\n")
        yield _head(fields), content


def _divided(body: bytes, mark: bytes) -> list[bytes]:
    """Split a body at marks that stand alone on a line. Other occurrences are content."""
    first, *rest = body.split(mark)
    found = [[first]]
    for piece in rest:
        before = found[-1][-1]
        begins_line = before.endswith(b"\n") or found == [[b""]]
        if begins_line and piece.lstrip(b" \t").startswith((b"\r\n", b"\n", b"--")):
            found.append([piece])
        else:
            found[-1] += [mark, piece]
    return [b"".join(pieces) for pieces in found[1:]]


def _head(fields: bytes) -> Message:
    if len(fields) > _MAX_HEAD or fields.count(b";") > _MAX_PARAMETERS:
        raise Invalid(f"The fields of a part are too long (max {_MAX_HEAD:,} bytes).")
    return HeaderParser().parsestr(fields.decode(errors="replace"))


KEPT_HEADERS = (
    *("accept", "content-type", "if-match", "if-none-match", "git-protocol"),
    *("range", "content-range", "x-upload-content-type"),
)
"""Request headers that reach the API, and the journal; credentials are not among them."""
_MULTIPART = "multipart/form-data"
FORMS = ("application/x-www-form-urlencoded", _MULTIPART)
"""The types of bodies that are forms."""
_JSON = ("application/json", "text/json", "")
_MAX_DEPTH = 32
"""Brackets in the name of a form's field: each is an object or a list inside another."""


@dataclass(frozen=True)
class Upload:
    """A file in a form."""

    filename: str
    media_type: str
    size: int


@dataclass(frozen=True)
class Request:
    """One HTTP request to a service's API, as it is journalled."""

    method: str
    path: str
    """Below the service's URL, percent-encoded as it came."""
    query: str
    headers: Mapping[str, str]
    """Those of ``KEPT_HEADERS`` that were sent, in lower case."""
    body: bytes
    base: str
    """URL of the service in this episode, without a slash at the end."""
    params: Mapping[str, str] = field(default_factory=dict)
    """Values of the placeholders of the path, decoded."""

    @property
    def url(self) -> str:
        """The URL that was asked for."""
        return self.base + self.path + ("?" + self.query if self.query else "")

    def without(self, prefixes: tuple[str, ...]) -> Request:
        """The same request without the parameters of the query whose names begin so."""
        if not any(prefix in self.query for prefix in prefixes):
            return self
        kept = [(name, value) for name, value in self.pairs if not name.startswith(prefixes)]
        return replace(self, query=urlencode(kept))

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Names and values of the query, in order."""
        return parse_qsl(self.query, keep_blank_values=True)

    @property
    def media_type(self) -> str:
        """The body's media type without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @cached_property
    def asked(self) -> Fields:
        """The query's fields by name."""
        return Fields(nested(self.pairs))

    @cached_property
    def json(self) -> Any:
        """The body read as JSON, ``None`` if there is none."""
        if not self.body:
            return None
        try:
            read = orjson.loads(self.body)
        except orjson.JSONDecodeError as error:
            raise UnreadableBody(f"The body is not JSON: {error}") from None
        if has_more_values(read):
            raise Invalid(f"A body may have {MAX_VALUES:,} values; this one has more.")
        return remembering(read)

    @cached_property
    def data(self) -> Fields:
        """The body's fields by name, from a JSON object or a form. Files are ``Upload``s."""
        if not self.body:
            return Fields({})
        if self.media_type in FORMS:
            return Fields(nested(self._parts() if self.media_type == _MULTIPART else self._pairs_of_body()))
        if self.media_type not in _JSON:
            known = ", ".join(filter(None, (*_JSON[:1], *FORMS)))
            raise UnreadableBody(f"The body is of the type {self.media_type}; it may be {known}.")
        if not isinstance(self.json, Fields):
            raise NoObject("The body must be a JSON object.")
        return self.json

    def _pairs_of_body(self) -> list[tuple[str, str]]:
        try:
            return parse_qsl(self.body.decode(), keep_blank_values=True)
        except UnicodeDecodeError:
            raise UnreadableBody("The body is not a form in UTF-8.") from None

    def _parts(self) -> Iterator[tuple[str, Any]]:
        """Names and values of a form in parts (RFC 7578)."""
        for head, content in parts_of(self.headers["content-type"], self.body):
            encoding = head.get("content-transfer-encoding", "").strip().lower()
            data = _plain(content, encoding)
            name = head.get_param("name", header="content-disposition")
            if isinstance(name, str):
                file = head.get_filename()
                upload = Upload(file or "", head.get_content_type(), len(data))
                yield name, data.decode(errors="replace") if file is None else upload

    @cached_property
    def values(self) -> Fields:
        """Fields of query and body by name; the body wins."""
        return Fields.together(self.asked, self.data)

    def left_over(
        self, answer: Any, asked_over: Collection[str], body_over: Collection[str]
    ) -> Iterator[str]:
        """Yield the fields that the request had and the answer ignored.

        Args:
            answer: What it is answered with, as data.
            asked_over: Names in the query that are passed over.
            body_over: Names in the body that are passed over.
        """
        body: Any = self.json if "json" in self.__dict__ else Fields({})
        if "json" not in self.__dict__ and self.media_type in (*_JSON, *FORMS):
            body = self.data
        for part, passed_over in ((self.asked, asked_over), (body, body_over)):
            if isinstance(part, Fields):
                if "values" in self.__dict__:
                    part.take(self.values)
                # Clients repeat what the path says; an object there is another thing of the same name.
                said_again = {
                    name for name in self.params if not isinstance(dict.get(part, name), dict | list)
                }
                yield from part.left_over(answer, {*passed_over, *said_again})

    def arguments(self) -> dict[str, Any]:
        """The request as the journal keeps it."""
        try:
            # Zeros are no text either; they would be written down as six characters each.
            body: Any = None if b"\0" in self.body else self.body.decode()
        except UnicodeDecodeError:
            body = None
        if body is None:
            body = _Written(self.body)
        return {
            "path": self.path,
            "query": self.query,
            "headers": dict(self.headers),
            "body": body,
            "base": self.base,
        }

    @classmethod
    def of(cls, method: str, arguments: Mapping[str, Any], params: Mapping[str, str]) -> Request:
        """The request of which ``arguments`` were kept."""
        body = arguments["body"]
        return cls(
            method,
            arguments["path"],
            arguments["query"],
            arguments["headers"],
            body.encode() if isinstance(body, str) else _read(body),
            arguments["base"],
            params,
        )


def _plain(content: bytes, encoding: str) -> bytes:
    """A part as it was before it was encoded for the way."""
    if encoding == "quoted-printable":
        return binascii.a2b_qp(content)
    if encoding != "base64":
        return content
    try:
        return binascii.a2b_base64(content)
    except binascii.Error:
        raise Invalid("A part of the form is not base64.") from None


_PIECE = 3 * 2**14
"""Bytes that are written or read at once: it holds up every other thread, the more if it takes new memory."""


class _Written(dict[str, str]):
    """A body that is no text, as the journal keeps it; whoever answers needs not read it again."""

    def __init__(self, data: bytes) -> None:
        super().__init__(base64=PlainText(_base64(data)))
        self.data = data


def _read(written: Mapping[str, str]) -> bytes:
    return written.data if isinstance(written, _Written) else _bytes(written["base64"])


def _base64(data: bytes) -> str:
    pieces, whole = [], memoryview(data)
    for at in range(0, len(data), _PIECE):
        give_way()
        pieces.append(binascii.b2a_base64(whole[at : at + _PIECE], newline=False).decode())
    return "".join(pieces)


def _bytes(text: str) -> bytes:
    length = 4 * _PIECE // 3
    return b"".join(binascii.a2b_base64(text[at : at + length]) for at in range(0, len(text), length))


def nested(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Forms with brackets as data: ``a[b]=1``, ``c[]=2`` and ``d[0][e]=3``; of a plain name, the last."""
    result: dict[str, Any] = {}
    for name, value in pairs:
        if name.count("[") > _MAX_DEPTH:
            raise Invalid(f"The parameter {name[:40]!r} is nested too deep (max {_MAX_DEPTH}).")
        keys = [name.partition("[")[0], *re.findall(r"\[([^\[\]]*)\]", name)] if "[" in name else [name]
        _put(result, keys, value, name)
    return result


def _put(target: dict[str, Any], keys: list[str], value: Any, name: str) -> None:
    key, *rest = keys
    if not rest:
        target[key] = value
    elif rest[0] == "" or rest[0].isdecimal():
        items = target.setdefault(key, [])
        if not isinstance(items, list):
            raise Invalid(f"The parameter {name!r} is given both as a list and as something else.")
        _put_item(items, rest, value, name)
    else:
        inner = target.setdefault(key, {})
        if not isinstance(inner, dict):
            raise Invalid(f"The parameter {name!r} is given both as an object and as something else.")
        _put(inner, rest, value, name)


def _put_item(items: list[Any], keys: list[str], value: Any, name: str) -> None:
    """``keys[0]`` is empty, for a new item, or the number of an item."""
    at, *rest = keys
    if not rest:
        items.append(value)
        return
    begins = not items or not isinstance(items[-1], dict) or (at == "" and rest[0] in items[-1])
    if begins or (at != "" and int(at) >= len(items)):
        items.append({})
    target = items[int(at)] if at != "" and int(at) < len(items) else items[-1]
    if not isinstance(target, dict):
        raise Invalid(f"The parameter {name!r} is given both as an object and as something else.")
    _put(target, rest, value, name)
