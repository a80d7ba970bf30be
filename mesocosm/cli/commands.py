"""The application with all its commands, which the modules beside this one add to it when imported."""

from __future__ import annotations

from mesocosm.cli import (
    build,
    check,
    code_runner,
    contamination,
    datasets,
    doctor,
    drain,
    evaluate,
    export,
    exposure,
    gc,
    prove,
    reports,
    run,
    scenes,
    score,
    sealed_suites,
    serve,
    task_files,
    view,
)
from mesocosm.cli.application import app

__all__ = [
    "app",
    "build",
    "check",
    "code_runner",
    "contamination",
    "datasets",
    "doctor",
    "drain",
    "evaluate",
    "export",
    "exposure",
    "gc",
    "prove",
    "reports",
    "run",
    "scenes",
    "score",
    "sealed_suites",
    "serve",
    "task_files",
    "view",
]
