"""For tests that run code of an agent: skipped only where the machine has no kernel sandbox."""

from __future__ import annotations

import pytest

from mesocosm.sandbox import bubblewrap

_problem = bubblewrap.trial()
needs_sandbox = pytest.mark.skipif(_problem is not None, reason=f"no sandbox: {_problem}")
