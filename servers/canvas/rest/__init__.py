"""Canvas's REST API over the store that the tools use; importing a topic registers its routes."""

from __future__ import annotations

from mesocosm.servers.canvas.rest import (
    accounts,
    assignments,
    calendar,
    conversations,
    courses,
    discussions,
    enrollments,
    files,
    modules,
    pages,
    planner,
    preferences,
    quizzes,
    submissions,
    surroundings,
    users,
)
from mesocosm.servers.canvas.rest.api import api

operations = api.operations

__all__ = [
    "accounts",
    "api",
    "assignments",
    "calendar",
    "conversations",
    "courses",
    "discussions",
    "enrollments",
    "files",
    "modules",
    "operations",
    "pages",
    "planner",
    "preferences",
    "quizzes",
    "submissions",
    "surroundings",
    "users",
]
