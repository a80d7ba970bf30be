"""What an agent sees of the canvas service; importing a topic registers its tools."""

from __future__ import annotations

from mesocosm.servers.canvas.tools import (
    accounts,
    assignments,
    communication,
    courses,
    dashboard,
    modules,
    quizzes,
    users,
)
from mesocosm.servers.canvas.tools.service import server

__all__ = [
    "accounts",
    "assignments",
    "communication",
    "courses",
    "dashboard",
    "modules",
    "quizzes",
    "server",
    "users",
]
