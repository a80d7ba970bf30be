"""What every family promises, on a fixed sample that fits CI; `mesocosm suite prove` proves all of it."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from samples import sampled
from trials import call, failures

from mesocosm.families import contracts
from mesocosm.families.episode import Episode
from mesocosm.families.family import family_names, load_family
from mesocosm.families.proofs import prove_one

SHORT, LONGER = (8_000, 1), (16_000, 0)
SOLVED = {
    "academic_warning",
    "filter_low_selling_products",
    "payable_invoice_checker",
    "woocommerce_new_welcome",
}
"""Tasks whose proof takes many seconds; their own tests solve them, and spoil what was done."""


def instances() -> list[tuple[str, int, int]]:
    """Every task at a short length, and every third generator in Python at a longer one."""
    tasks = {name: load_family(name).task for name in family_names()}
    own = [name for name, task in tasks.items() if task.family == name and not task.is_written]
    return [*((name, *SHORT) for name in tasks), *((name, *LONGER) for name in own[::3])]


def is_quick(case: tuple[str, int, int]) -> bool:
    """Every generator once, those with a file of Python beside the task's by their own tests but for one."""
    name, family = case[0], load_family(case[0])
    if family.path.with_suffix(".py").exists():
        return name == "course_assistant"
    alone = family.task.family == name or name in ("longproc_files", "longproc_steps", "longproc_tables")
    return case[1:] == SHORT and alone and name not in SOLVED


@pytest.mark.parametrize(("family", "length", "seed"), sampled(instances(), is_quick))
def test_an_instance_is_proven(family: str, length: int, seed: int) -> None:
    proof = prove_one(family, length, seed)
    assert not proof.problems, "\n".join(proof.problems)
    assert proof.mutants >= 5
    assert proof.proven == ("by derivation" if load_family(family).solver == "solution" else "by reading")


@pytest.mark.parametrize("family", family_names())
def test_a_family_has_enough_kinds_of_mutants(family: str) -> None:
    assert not list(contracts.too_few_mutants(load_family(family)))


@pytest.mark.parametrize(("seed", "family"), sampled(product((0, 4), family_names()), {0}))
def test_the_smallest_length_is_there_without_the_answer_and_wiped_mail_is_found(
    family: str, seed: int, tmp_path: Path
) -> None:
    """And below it the minimum is told."""
    assert not list(contracts.wrong_at_the_least(load_family(family), tmp_path, seeds=[seed]))
    if "email" in load_family(family).task.servers:
        assert findings_of_wiped_mail(family, tmp_path / str(seed), tmp_path / "episode")


def findings_of_wiped_mail(family: str, instance: Path, folder: Path) -> set[str]:
    """What the checker says of a needless mail, whatever the agent did with the copies."""
    episode = Episode.create(folder, instance, load_family(family))
    before = failures(episode)
    call(episode, "email", "send_email", to="x@elsewhere.example", subject="wiped", body="b")
    for box in ("Sent", "Trash"):  # to the trash, and then for good
        newest = json.loads(call(episode, "email", "get_emails", folder=box, page_size=1))["emails"][0]
        assert newest["subject"] == "wiped"
        call(episode, "email", "delete_email", email_id=newest["id"])
    after = failures(episode)
    episode.close()
    return (after - before) & {"mailbox", "email_unchanged"}  # a task in YAML names it after the service
