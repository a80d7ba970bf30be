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
QUICK = {
    "canvas_list_test",
    "gridworld",
    "lore_code",
    "longproc_files",
    "longproc_steps",
    "puzzle",
    "puzzle_history",
}


def instances() -> list[tuple[str, int, int]]:
    """Every task at a short length, and every third generator in Python at a longer one."""
    tasks = {name: load_family(name).task for name in family_names()}
    own = [name for name, task in tasks.items() if task.family == name and not task.is_written]
    return [*((name, *SHORT) for name in tasks), *((name, *LONGER) for name in own[::3])]


def is_quick(case: tuple[str, int, int]) -> bool:
    """Tasks that are written, and of the other kinds those whose proof is quick: all others are solved, and
    their mutants are made, by tests of their own."""
    name, family = case[0], load_family(case[0])
    if family.path.with_suffix(".py").exists():
        return name == "course_assistant"
    return case[1:] == SHORT and (family.task.is_written or name in QUICK)


@pytest.mark.parametrize(("family", "length", "seed"), sampled(instances(), is_quick))
def test_an_instance_is_proven(family: str, length: int, seed: int) -> None:
    proof = prove_one(family, length, seed)
    assert not proof.problems, "\n".join(proof.problems)
    assert proof.mutants >= 5
    assert proof.proven == ("by derivation" if load_family(family).solver == "solution" else "by reading")


@pytest.mark.parametrize("family", family_names())
def test_a_family_has_enough_kinds_of_mutants(family: str) -> None:
    assert not list(contracts.too_few_mutants(load_family(family)))


def is_first(case: tuple[int, str]) -> bool:
    """The first seed of a task, of those that share a generator of one."""
    seed, name = case
    return seed == 0 and (load_family(name).task.family == name or name in QUICK)


@pytest.mark.parametrize(("seed", "family"), sampled(product((0, 4), family_names()), is_first))
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
