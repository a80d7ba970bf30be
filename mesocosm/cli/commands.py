"""The application with all its commands, which the modules beside this one add to it when imported."""

from __future__ import annotations

from mesocosm.cli import (
    building,
    checking,
    code_running,
    collecting,
    contaminating,
    datasets,
    diagnosing,
    draining,
    evaluating,
    exporting,
    exposing,
    proving,
    reports,
    running,
    scenes,
    scoring,
    sealing,
    serving,
    viewing,
    writing,
)
from mesocosm.cli.application import app

__all__ = [
    "app",
    "building",
    "checking",
    "code_running",
    "collecting",
    "contaminating",
    "datasets",
    "diagnosing",
    "draining",
    "evaluating",
    "exporting",
    "exposing",
    "proving",
    "reports",
    "running",
    "scenes",
    "scoring",
    "sealing",
    "serving",
    "viewing",
    "writing",
]
