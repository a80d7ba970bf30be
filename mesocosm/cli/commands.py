"""The application with all its commands; modules beside this one register them on import."""

from __future__ import annotations

from mesocosm.cli import (  # noqa: F401 - each adds its commands when it is loaded
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
    serve,
    task_files,
    view,
)
from mesocosm.cli.application import app

__all__ = ["app"]
