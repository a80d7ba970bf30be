"""Long procedures (LongProc): cases, the one right text, and scoring.

>>> made = make_instance("routes", level=500, seed=0)
>>> made.score(made.gold).value
1.0
"""

from mesocosm.kits.procedures.instance import (
    ProcedureInstance,
    make_instance,
    procedure,
    procedure_names,
    read_procedures,
)
from mesocosm.kits.procedures.protocol import TOLERANCE, Procedure, ProcedureCase, Score

__all__ = [
    "TOLERANCE",
    "Procedure",
    "ProcedureCase",
    "ProcedureInstance",
    "Score",
    "make_instance",
    "procedure",
    "procedure_names",
    "read_procedures",
]
