"""CRC-32C (Castagnoli, RFC 3720 appendix B.4), which Cloud Storage shows of each object."""

# Cloud Storage's own library computes this, in place of our tables (decision 094).

from __future__ import annotations

import base64


def crc32c(data: bytes) -> str:
    """The checksum as the API shows it: four bytes, the highest first, in base64."""
    import google_crc32c  # comes with an extra, while all services can be looked at without

    return base64.b64encode(google_crc32c.value(data).to_bytes(4, "big")).decode()
