"""Faults that a run has found, each once."""

from __future__ import annotations

from pydantic import BaseModel

from mesocosm.families.faults import Fault, faults_of


class Faults(BaseModel):
    """Faults found in a run, by fingerprint."""

    faults: list[Fault] = []
    examples: dict[str, str] = {}
    """By fingerprint: what met the fault first."""

    def note_fault(self, where: str, text: str, example: str) -> None:
        """Count a fault, given its traceback."""
        met = faults_of([(where, text)])[0]
        for known in self.faults:
            if known.fingerprint == met.fingerprint:
                known.count += 1
                return
        self.faults.append(met)
        self.examples[met.fingerprint] = example

    def show(self) -> None:
        """Print them."""
        for fault in self.faults:
            print(f"\nFAULT {fault.fingerprint}  {fault.exception} in {fault.place}, {fault.count:,} times")
            print(f"  {self.examples.get(fault.fingerprint, '')[:1200]}")
            print("  " + "\n  ".join(fault.traceback.strip().splitlines()[-8:]))
        print(f"\n{len(self.faults)} kinds of faults")
