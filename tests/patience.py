"""How long tests wait for what is to come in any case: long, for machines that are busy.

Only what never comes takes so long. A test that is about time says its own.
"""

from __future__ import annotations

PATIENCE = 300
"""Seconds for a process, a thread, a server or an answer."""
