"""GitHub's REST API (below ``/api/v3``, as a GitHub of one's own has it) and git over HTTP."""

from __future__ import annotations

import importlib
import pkgutil

from mesocosm.servers.codehost.rest.api import api

for _topic in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_topic.name}")

operations = api.operations

__all__ = ["api", "operations"]
