"""Log configuration of serving processes: one line with time, level and logger."""

from __future__ import annotations

import logging
import time


def report_with_time() -> None:
    """Write warnings and errors to the standard error, each with the time (UTC) and how grave it is."""
    formatter = logging.Formatter(
        "%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S"
    )
    formatter.converter = time.gmtime
    handler = logging.StreamHandler()
    handler.setFormatter(formatter)
    logging.getLogger().addHandler(handler)
