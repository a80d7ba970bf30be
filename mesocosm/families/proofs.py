"""Proving a family: for each length and seed, that what is promised of its instances holds.

- the length is within 1 % of its target;
- the same seed gives the same bytes, in another process with another hash seed;
- every piece of evidence is in the survey;
- the reference solver passes, through MCP;
- doing nothing fails;
- every mutant of the solved state fails, by the check that it breaks;
- what is asked follows from what is delivered: a solver that reads finds it, or each value that the
  goal needs is followed back to its text (``mesocosm.kits.yaml_tasks.derivation``).
"""

from __future__ import annotations

import shutil
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from pydantic import BaseModel

from mesocosm.errors import UsageError
from mesocosm.families.configurations import PRESET
from mesocosm.families.disturbances import Patient
from mesocosm.families.episode import Episode
from mesocosm.families.family import Expected, Family, known_as, load_family
from mesocosm.families.instances import Instance, build_instance, fingerprint, memory_for
from mesocosm.families.length import TOLERANCE, Survey
from mesocosm.families.rebuilds import RebuildFailed, rebuilt_fingerprint
from mesocosm.families.verdict import Inapplicable, Misreading, Mutant, Verdict
from mesocosm.families.workers.workers import Workers
from mesocosm.services.calling import Direct, Tools
from mesocosm.services.service import Image
from mesocosm.services.world import World

UNPROVEN = "unproven: "


class Proof(BaseModel):
    """Result of proving one instance."""

    task: str
    length: int
    seed: int
    parameters: dict[str, Any] = {}
    """Parameters that were given beside the length."""
    disturb: str = ""
    """Disturbances of the solver; then only that it passes is proven."""
    disturbed: int = 0
    """Calls of the solver that were not made, on purpose."""
    edl: int = 0
    adequate: int = 0
    solver_calls: int = 0
    mutants: int = 0
    """Number of kinds of mutants applied; the others do not apply to this instance."""
    build_seconds: float = 0
    prove_seconds: float = 0
    solver: str = "independent"
    """``independent``: instances are solved by a second reading of the rules; ``solution``: by one that
    knows the truth, so that something else must show that the question can be answered."""
    proven: Literal["", "by derivation", "by reading"] = ""
    """Kind of proof: a solver that reads, or a derivation of every needed value from delivered texts and
    prompt. Empty if something is amiss."""
    derivations: list[str] = []
    """Facts that an agent must know and where they stand, if requested and known."""
    near_misses: list[str] = []
    """Near misses and what tells them apart, if requested and known."""
    lacking: list[str] = []
    """Cases of the task that this instance lacks, so it proves nothing about them."""
    applied: list[str] = []
    """Names of the mutants."""
    problems: list[str] = []
    """Problems; those that begin with ``unproven:`` say that an answer does not follow."""

    @property
    def verdict(self) -> str:
        """In a word or three: proven by derivation, proven by reading, unproven, failed."""
        if not self.problems:
            return f"proven {self.proven}" if self.proven else "passed"
        return "unproven" if all(one.startswith(UNPROVEN) for one in self.problems) else "failed"

    @property
    def error(self) -> float:
        """Distance of the measured length from the target, as a share of it."""
        return self.edl / self.length - 1


def prove_jobs(
    jobs: Sequence[tuple[str, int, int]],
    workers: Workers,
    parameters: Mapping[str, Any] | None = None,
    disturb: str = "",
    *,
    report: bool = False,
) -> Iterator[Proof]:
    """Proofs of (task, length, seed) triples, as they are done."""
    # Long ones first: the last core should not be left alone with the largest world.
    ordered = sorted(jobs, key=lambda job: -job[1])
    prove = partial(_prove_job, parameters=parameters, disturb=disturb, report=report)
    for _, proof in workers.done(prove, ordered, lambda job: memory_for(job[1])):
        yield proof


def _prove_job(
    job: tuple[str, int, int], parameters: Mapping[str, Any] | None, disturb: str, *, report: bool
) -> Proof:
    return prove_one(*job, parameters=parameters, disturb=disturb, report=report)


def prove_one(
    task: str,
    length: int,
    seed: int,
    parameters: Mapping[str, Any] | None = None,
    disturb: str = "",
    *,
    report: bool = False,
) -> Proof:
    """The proof of one instance; whatever goes wrong is in ``problems``.

    ``disturb``: instead, that a solver that tries again passes while it is disturbed so. ``report``: also
    what an agent must know and where it stands.
    """
    proof = Proof(task=task, length=length, seed=seed, parameters=dict(parameters or {}), disturb=disturb)
    started = perf_counter()
    try:
        with tempfile.TemporaryDirectory(prefix="mesocosm-prove-") as folder:
            if disturb:
                _prove_disturbed(load_family(task), proof, Path(folder))
            else:
                _prove(load_family(task), proof, Path(folder), report=report)
    except UsageError as error:
        proof.problems.append(str(error))
    except Exception:  # noqa: BLE001 - the episode boundary: one broken instance must not hide the others
        proof.problems.append(traceback.format_exc())
    if not proof.problems and not disturb:
        proof.proven = "by reading" if proof.solver == "independent" else "by derivation"
    proof.prove_seconds = round(perf_counter() - started - proof.build_seconds, 2)
    return proof


def _prove(family: Family, proof: Proof, folder: Path, *, report: bool) -> None:
    started = perf_counter()
    instance = build_instance(
        family, proof.seed, folder / "instance", target=proof.length, parameters=proof.parameters
    )
    proof.build_seconds = round(perf_counter() - started, 2)
    _prove_length(instance, proof)
    _prove_stated(family, instance, proof)
    if report:
        proof.derivations = instance.expected.derived()
        proof.near_misses = instance.expected.near_misses()
    proof.lacking = instance.expected.lacking()
    idle = Episode.create(folder / "idle", instance.path, family, steps=False)
    if (verdict := idle.grade()).verdict != "failed":
        proof.problems.append(f"doing nothing: {_show(verdict)}")
    idle.close()
    solved = Episode.create(folder / "solved", instance.path, family, "needed", steps=False)
    _solve(family, solved, instance.expected)
    proof.solver_calls = solved.world.journal.last
    if (verdict := solved.grade()).verdict != "passed":
        proof.problems.append(f"reference solver: {_show(verdict)}")
    if proof.problems:
        return  # the rest takes longer, and says nothing of a task that is to be mended first
    _prove_rebuild(family, instance, proof)
    _prove_mutants(family, instance, solved, folder, proof)


def _prove_disturbed(family: Family, proof: Proof, folder: Path) -> None:
    """Prove that a persistent agent passes under disturbances, and that doing nothing still fails."""
    instance = build_instance(
        family, proof.seed, folder / "instance", target=proof.length, parameters=proof.parameters
    )
    proof.edl = instance.survey.tokens
    solved = Episode.create(folder / "solved", instance.path, family, disturb=proof.disturb)
    _solve(family, solved, instance.expected, patient=True)
    proof.solver_calls, proof.disturbed = solved.world.journal.last, solved.world.journal.disturbed
    if (verdict := solved.grade()).verdict != "passed":
        proof.problems.append(f"reference solver, disturbed: {_show(verdict)}")
    idle = Episode.create(folder / "idle", instance.path, family, disturb=proof.disturb)
    if (verdict := idle.grade()).verdict != "failed":
        proof.problems.append(f"doing nothing, disturbed: {_show(verdict)}")
    for episode in (solved, idle):
        episode.close()


def _prove_mutants(family: Family, instance: Instance, solved: Episode, folder: Path, proof: Proof) -> None:
    misreaders = _Misreaders(family, instance, folder)
    for number, mutant in enumerate(family.mutants):
        hint: str | None = None
        if isinstance(mutant, Misreading):
            episode, hint = misreaders.episode(mutant, number)
        else:
            episode = _edited(mutant, instance, solved, folder / f"mutant-{number}")
        if episode is None:
            continue
        proof.mutants += 1
        proof.applied.append(mutant.name)
        breaks = frozenset({mutant.breaks}) if isinstance(mutant.breaks, str) else mutant.breaks
        verdict = episode.grade()
        failed = {check.name for check in verdict.findings if not check.passed}
        if verdict.verdict != "failed" or not breaks & failed:
            should = " or ".join(sorted(breaks)[:4])
            found = f"{_show(verdict)}; {hint}" if hint else _show(verdict)
            proof.problems.append(f"mutant {mutant.name!r} should break {should!r}: {found}")
        episode.close()
        shutil.rmtree(episode.path)


def _edited(mutant: Mutant, instance: Instance, solved: Episode, path: Path) -> Episode | None:
    """The solved state with a change; ``None`` where the change has no place."""
    episode = solved.fork(path, sharing=True)
    try:
        with episode.world.editing() as world:
            mutant.apply(world, instance.expected)
    except Inapplicable:
        return None
    finally:
        episode.close()
    return episode


class _Misreaders:
    """Agents that misread something; what they all do alike is done once."""

    def __init__(self, family: Family, instance: Instance, folder: Path) -> None:
        self._family, self._instance, self._folder = family, instance, folder
        self._started: dict[int, Episode] = {}

    def episode(self, mutant: Misreading, number: int) -> tuple[Episode | None, str | None]:
        """Return the final episode of such an agent (``None`` if nothing can be misread), and the complaint
        if no check notices.
        """
        start = id(mutant.start)
        if start not in self._started:
            path = self._folder / f"begun-{number}"
            begun = Episode.create(path, self._instance.path, self._family, steps=False)
            mutant.start(Direct(begun.world), self._instance.expected)
            begun.close()
            self._started[start] = begun
        tools = _Fork(self._started[start], self._folder / f"misread-{number}")
        try:
            hint = mutant.act(tools, self._instance.expected)
        except Inapplicable:
            tools.drop()
            return None, None
        return tools.episode, hint


class _Fork(Tools):
    """The tools of a fork that is made with the first call: most misreadings make no difference and none."""

    def __init__(self, origin: Episode, path: Path) -> None:
        self._origin, self._path = origin, path
        self._made: Episode | None = None

    @property
    def episode(self) -> Episode:
        if self._made is None:
            self._made = self._origin.fork(self._path, sharing=True)
        return self._made

    def drop(self) -> None:
        """Remove the fork, if there is one."""
        if self._made is not None:
            self._made.close()
            shutil.rmtree(self._path)

    def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
        return Direct(self.episode.world).look(service, tool, arguments)


def _prove_length(instance: Instance, proof: Proof) -> None:
    survey = instance.survey
    proof.edl = survey.tokens
    proof.adequate = sum(result.tokens for result in survey.results if result.evidence)
    # A configuration's numbers may be too many for its label.
    if proof.error < -TOLERANCE or (proof.error > TOLERANCE and PRESET not in proof.parameters):
        proof.problems.append(f"length {proof.edl} is {proof.error:+.2%} off its target {proof.length}")
    seen = {index for result in survey.results for index in result.evidence}
    if not instance.expected.evidence:
        proof.problems.append("the generator names no evidence")
    for index, piece in enumerate(instance.expected.evidence):
        if index not in seen:
            proof.problems.append(
                f"the survey does not meet the evidence {piece.contains!r} of {piece.service}"
            )


def _prove_stated(family: Family, instance: Instance, proof: Proof) -> None:
    proof.solver = family.solver
    with World(instance.path / "world", read_only=True) as world:
        unstated = family.unstated(Survey(world), instance.expected)
        proof.problems += [f"{UNPROVEN}{reason}" for reason in unstated]


def _prove_rebuild(family: Family, instance: Instance, proof: Proof) -> None:
    try:
        again = rebuilt_fingerprint(known_as(family), proof.length, proof.seed, proof.parameters)
    except RebuildFailed as error:
        proof.problems.append(f"building it again failed: {str(error).strip()[-500:]}")
        return
    if again != fingerprint(instance.path):
        proof.problems.append("building it again gave other bytes")


def _solve(family: Family, episode: Episode, expected: Expected, *, patient: bool = False) -> None:
    from mesocosm.doors.mcp import McpTools, world_server

    with McpTools(world_server(episode.world)) as tools:
        family.solve(Patient(tools) if patient else tools, episode.prompt, expected)


def _show(verdict: Verdict) -> str:
    failed = [f"{check.name}: {check.detail}" for check in verdict.findings if not check.passed]
    return f"{verdict.verdict} {verdict.error or ''} {'; '.join(failed)}".strip()[:2000]
