"""Accounts and users."""

from __future__ import annotations

from mesocosm.servers.canvas.tools.objects.values import STORAGE_MB, Row, unguessable
from mesocosm.services.schema import Json
from mesocosm.services.shapes import same


def account_json(account: Row, *, manage: bool) -> Json:
    """An account; quotas and SIS data only for those who manage it."""
    shown: Json = {
        "id": account["id"],
        "name": account["name"],
        "uuid": unguessable("account", account["id"]),
        **same(account, "parent_account_id", "root_account_id", "default_time_zone", "workflow_state"),
    }
    if manage:
        shown |= {
            "default_storage_quota_mb": STORAGE_MB,
            "default_user_storage_quota_mb": 50,
            "default_group_storage_quota_mb": 50,
            "sis_account_id": account["sis_account_id"],
            "integration_id": None,
            "sis_import_id": None,
            "lti_guid": unguessable("lti", account["id"]),
        }
    return shown


def user_json(user: Row) -> Json:
    """A user as an administrator sees one."""
    return {
        **same(user, "id", "name", "created_at", "sortable_name", "short_name", "sis_user_id", "login_id"),
        "email": user["primary_email"],
        "last_login": user["last_login"],
        "time_zone": user["time_zone"],
    }


def profile_json(user: Row) -> Json:
    """A user's own profile."""
    return {
        **same(user, "id", "name", "short_name", "sortable_name", "login_id", "primary_email", "title"),
        "bio": user["bio"],
        "time_zone": user["time_zone"],
        "locale": None,
        "created_at": user["created_at"],
        "updated_at": user["updated_at"],
    }
