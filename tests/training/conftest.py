"""What tests of environments share: a server with a token."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mesocosm.hosting.application import Hosting
from mesocosm.hosting.server import serving

TOKEN = "token-of-the-test"


@pytest.fixture(scope="session")
def hosting(tmp_path_factory: pytest.TempPathFactory) -> Hosting:
    return Hosting(tmp_path_factory.mktemp("training"), admin_token=TOKEN)


@pytest.fixture(scope="session")
def base(hosting: Hosting) -> Iterator[str]:
    """The address of a server of this process."""
    with serving(hosting) as url:
        yield url
