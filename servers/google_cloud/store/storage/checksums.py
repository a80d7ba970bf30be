"""CRC-32C (Castagnoli, RFC 3720 appendix B.4), which Cloud Storage shows of each object."""

from __future__ import annotations

import base64
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_POLYNOMIAL = 0x82F63B78
_PIECES = ((4096, 262_144), (64, 256))
"""Long texts are cut into pieces, whose sums are computed side by side: bytes of one, by the least of all."""


@cache
def _table() -> np.ndarray:
    import numpy as np

    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(_POLYNOMIAL), table >> 1).astype(np.uint32)
    return table


def _plain(data: bytes, value: int) -> int:
    table: list[int] = _table().tolist()
    for byte in data:
        value = table[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value


def _shifted(value: int, matrix: list[int]) -> int:
    result = bit = 0
    while value:
        if value & 1:
            result ^= matrix[bit]
        value >>= 1
        bit += 1
    return result


@cache
def _zeros(length: int) -> list[int]:
    """What ``length`` zero bytes make of each bit of a sum: the columns of a matrix over GF(2)."""
    one = [_plain(b"\0", 1 << bit) for bit in range(32)]
    result = [1 << bit for bit in range(32)]
    while length:
        if length & 1:
            result = [_shifted(column, one) for column in result]
        one = [_shifted(column, one) for column in one]
        length >>= 1
    return result


def _sum(data: bytes) -> int:
    import numpy as np

    value, at = 0xFFFFFFFF, 0
    for length, least in _PIECES:
        count = (len(data) - at) // length
        if len(data) - at < least:
            continue
        lanes = np.frombuffer(data, np.uint8, length * count, at).reshape(count, length)
        table, values = _table(), np.zeros(count, np.uint32)
        for column in lanes.T.copy():
            values = table[(values ^ column) & np.uint32(0xFF)] ^ (values >> np.uint32(8))
        matrix = _zeros(length)
        for lane in values.tolist():
            value = _shifted(value, matrix) ^ lane
        at += length * count
    return _plain(data[at:], value) ^ 0xFFFFFFFF


def crc32c(data: bytes) -> str:
    """The checksum as the API shows it: four bytes, the highest first, in base64."""
    return base64.b64encode(_sum(data).to_bytes(4, "big")).decode()
