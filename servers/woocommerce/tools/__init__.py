"""Tools of the shop; importing a topic registers its tools."""

from __future__ import annotations

import importlib
import pkgutil

from mesocosm.servers.woocommerce.tools.service import server

for _topic in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_topic.name}")

__all__ = ["server"]
