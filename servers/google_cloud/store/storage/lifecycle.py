"""Lifecycle rules: which objects a bucket deletes, or moves to another class, by itself.

The product carries them out once a day. Here that happens with the first change to storage after midnight
(UTC) by the world's clock, so a rule that is set takes effect on the next day and never at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from mesocosm.errors import Invalid
from mesocosm.servers.google_cloud.models import StorageObject
from mesocosm.servers.google_cloud.store.part import quoted

_CLASSES = ("STANDARD", "NEARLINE", "COLDLINE", "ARCHIVE")
_NUMBERS = ("age", "numNewerVersions", "daysSinceNoncurrentTime")
_LISTS = ("matchesPrefix", "matchesSuffix", "matchesStorageClass")
_DATES = ("createdBefore", "noncurrentTimeBefore")
MAX_RULES = 100


def checked_rules(rules: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Check lifecycle rules; ``Invalid`` explains an error."""
    if len(rules) > MAX_RULES:
        raise Invalid(f"A lifecycle configuration has at most {MAX_RULES} rules.", code="invalid")
    return [_checked(rule) for rule in rules]


def _checked(rule: Mapping[str, Any]) -> dict[str, Any]:
    action, condition = rule.get("action"), rule.get("condition")
    if not isinstance(action, Mapping) or not isinstance(condition, Mapping):
        raise Invalid("Invalid argument: a lifecycle rule needs an action and a condition.", code="invalid")
    kind = action.get("type")
    made: dict[str, Any] = {"type": kind}
    if kind == "SetStorageClass":
        made["storageClass"] = action.get("storageClass")
        if made["storageClass"] not in _CLASSES:
            raise Invalid("SetStorageClass needs a storageClass: NEARLINE, COLDLINE ...", code="invalid")
    elif kind != "Delete":
        raise Invalid(
            f"Invalid lifecycle action {quoted(str(kind))}: here are Delete and SetStorageClass.",
            code="invalid",
        )
    if further := [name for name in action if name not in made and action[name] is not None]:
        raise Invalid(f"Unknown field {quoted(further[0])} of a lifecycle action {kind}.", code="invalid")
    conditions = {name: _checked_condition(name, condition[name]) for name in condition}
    if not conditions:
        raise Invalid("A lifecycle rule needs a condition, such as age.", code="invalid")
    return {"action": made, "condition": conditions}


def _checked_condition(name: str, value: Any) -> Any:
    if name in _NUMBERS:
        fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    elif name in _LISTS:
        fits = isinstance(value, list) and all(isinstance(one, str) for one in value)
    elif name in _DATES:
        fits = isinstance(value, str) and _is_date(value)
    elif name == "isLive":
        fits = isinstance(value, bool)
    else:
        raise Invalid(f"Unknown lifecycle condition {quoted(name)}.", code="invalid")
    if not fits:
        raise Invalid(
            f"Invalid value for the lifecycle condition {name}: {quoted(str(value))}.", code="invalid"
        )
    return list(value) if isinstance(value, list) else value


def _is_date(text: str) -> bool:
    try:
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII)) and bool(date.fromisoformat(text))
    except ValueError:
        return False


def applies(rule: Mapping[str, Any], stored: StorageObject, newer: int, now: datetime) -> bool:
    """True if all conditions of a rule hold for an object with this many newer versions."""
    condition = rule["condition"]
    held: dict[str, Callable[[Any], bool]] = {
        "age": lambda days: _days(stored.created, now) >= days,
        "createdBefore": lambda day: stored.created[:10] < day,
        "isLive": lambda live: stored.live == live,
        "numNewerVersions": lambda number: newer >= number,
        "daysSinceNoncurrentTime": lambda days: (
            stored.deleted is not None and _days(stored.deleted, now) >= days
        ),
        "noncurrentTimeBefore": lambda day: stored.deleted is not None and stored.deleted[:10] < day,
        "matchesPrefix": lambda starts: stored.name.startswith(tuple(starts)),
        "matchesSuffix": lambda ends: stored.name.endswith(tuple(ends)),
        "matchesStorageClass": lambda classes: stored.storage_class in classes,
    }
    return all(held[name](value) for name, value in condition.items())


def _days(since: str, now: datetime) -> int:
    return (now - datetime.fromisoformat(since)).days
