"""What an agent sees of the code host: the tools by topic, and the shapes of what they return."""

from __future__ import annotations

import importlib
import pkgutil

from mesocosm.servers.codehost.tools.server import server

for _topic in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_topic.name}")

__all__ = ["server"]
