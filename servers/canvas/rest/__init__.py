"""Canvas's REST API over the store that the tools use; importing a topic registers its routes."""

from __future__ import annotations

import importlib
import pkgutil

from mesocosm.servers.canvas.rest.api import api

for _topic in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_topic.name}")

operations = api.operations

__all__ = ["api", "operations"]
