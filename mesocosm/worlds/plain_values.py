"""Values as bytes, between a server and processes that read what agents made.

They are MessagePack, with the kinds of values that it lacks. Unlike a pickle, nothing comes of such bytes but
values of these kinds, whatever they are. Nothing else of mesocosm is loaded here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgpack

_PARTS = struct.Struct("!qqq")
_DIGITS = 1_000
"""Characters of a decimal: to read one takes more time than in proportion to them."""


class Damaged(Exception):
    """Bytes that are not what they should be."""


def pack(value: Any) -> bytes:
    """Return the bytes of a value.

    It is ``None``, a truth value, a number, a text, bytes, a moment or span of time, a UUID, or lists, tuples
    and dictionaries of these. Raises ``TypeError`` for others, ``ValueError`` where it is nested too deep.
    """
    packed: bytes = msgpack.packb(
        value, default=_extension, strict_types=True, unicode_errors="surrogatepass"
    )
    return packed


def unpack(data: bytes | bytearray) -> Any:
    """Return the value of some bytes. Raises ``Damaged``."""
    try:
        # Room for all items that a list says to have is taken before the first is read: so all that is said
        # to be there is counted first.
        whole = msgpack.Unpacker(max_buffer_size=max(1, len(data)))
        whole.feed(data)
        whole.skip()
        return msgpack.unpackb(
            data,
            ext_hook=_of_extension,
            list_hook=_list_or_tuple,
            strict_map_key=False,
            unicode_errors="surrogatepass",
        )
    except (ValueError, TypeError, LookupError, ArithmeticError, msgpack.UnpackException) as error:
        raise Damaged(f"{type(error).__name__}: {error}"[:200]) from None


def _integer(data: bytes) -> int:
    return int.from_bytes(data, "big", signed=True)


def _decimal(data: bytes) -> Decimal:
    if len(data) > _DIGITS:
        raise ValueError("a decimal is too long")
    return Decimal(data.decode("ascii"))


_IS_TUPLE = object()
"""Stands as the first item of a list that is a tuple."""
_TUPLE = msgpack.ExtType(0, b"")
_WRITTEN: Mapping[type, Callable[[Any], Any]] = {
    tuple: lambda value: [_TUPLE, *value],
    int: lambda value: msgpack.ExtType(1, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)),
    datetime: lambda value: msgpack.ExtType(2, value.isoformat().encode()),
    date: lambda value: msgpack.ExtType(3, value.isoformat().encode()),
    time: lambda value: msgpack.ExtType(4, value.isoformat().encode()),
    timedelta: lambda value: msgpack.ExtType(5, _PARTS.pack(value.days, value.seconds, value.microseconds)),
    Decimal: lambda value: msgpack.ExtType(6, str(value).encode()),
    UUID: lambda value: msgpack.ExtType(7, value.bytes),
}
_NATIVE = frozenset((str, bytes, float, list, dict))
_READ: Sequence[Callable[[bytes], Any]] = (
    lambda _: _IS_TUPLE,
    _integer,
    lambda data: datetime.fromisoformat(data.decode("ascii")),
    lambda data: date.fromisoformat(data.decode("ascii")),
    lambda data: time.fromisoformat(data.decode("ascii")),
    lambda data: timedelta(*_PARTS.unpack(data)),
    _decimal,
    lambda data: UUID(bytes=bytes(data)),
)
"""By their codes."""


def _extension(value: Any) -> Any:
    for kind in type(value).__mro__:
        if written := _WRITTEN.get(kind):
            return written(value)
        if kind in _NATIVE:
            return kind(value)  # of what a library has derived from it
    raise TypeError(f"a {type(value).__name__} is no plain value")


def _of_extension(code: int, data: bytes) -> Any:
    if code < 0:
        raise ValueError(f"no value has the code {code}")
    return _READ[code](data)


def _list_or_tuple(items: list[Any]) -> Any:
    return tuple(items[1:]) if items and items[0] is _IS_TUPLE else items
