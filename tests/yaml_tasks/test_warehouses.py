"""Tasks over warehouses that are one YAML file: what may be done in other ways, and what is damage."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mesocosm.families.proving import prove_one
from mesocosm.families.trusting import trust

HERE = Path(__file__).parent
VALUE, LIMITS = (str(HERE / name) for name in ("stock_value.yaml", "supplier_limits.yaml"))
SHORT = 4_000


@pytest.fixture(scope="module", autouse=True)
def _trusted() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MESOCOSM_TRUST", "")
        trust(VALUE)
        yield


@pytest.mark.parametrize("task", [VALUE, LIMITS])
def test_they_are_proven(task: str) -> None:
    proof = prove_one(task, SHORT, 1)
    assert not proof.problems, "\n".join(proof.problems)
    assert len(set(proof.applied)) >= 12
