"""Fixtures that tests of servers share."""

from __future__ import annotations

from pathlib import Path

import pytest

from mesocosm.families.cache import InstanceCache
from mesocosm.families.family import load_family


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``refund_list`` at 8k with seed 1 as a server keeps instances: one that finds it need not build it."""
    folder = tmp_path_factory.mktemp("built")
    InstanceCache(folder).get(load_family("refund_list"), 1, 8000, {})
    return folder
