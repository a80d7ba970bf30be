"""Tools for the state of the system and its maintenance."""
# ruff: noqa: N803 - the parameters are named as the vendor names them

from __future__ import annotations

from typing import Any, Literal

from mesocosm.servers.woocommerce.models.declarative import SITE
from mesocosm.servers.woocommerce.store import SYSTEM_TOOLS, WooCommerceStore
from mesocosm.servers.woocommerce.tools.service import server
from mesocosm.servers.woocommerce.tools.shapes import VERSION

ToolId = Literal[
    "clear_transients",
    "clear_expired_transients",
    "clear_orphaned_variations",
    "add_order_indexes",
    "recount_terms",
    "reset_roles",
    "clear_sessions",
    "clear_template_cache",
    "clear_system_status_theme_info_cache",
]


@server.reads
def woo_system_status(store: WooCommerceStore) -> dict[str, Any]:
    """Report the state of the system: versions, numbers of objects, main settings."""
    counts = store.system.object_counts()
    return {
        "environment": {"home_url": SITE, "site_url": SITE, "version": VERSION, "wp_version": "6.7.1"},
        "database": {
            "wc_database_version": VERSION,
            "post_type_counts": [{"type": name, "count": count} for name, count in counts.items()],
        },
        "settings": {
            "api_enabled": True,
            "currency": store.setting("woocommerce_currency"),
            "taxes_enabled": store.setting("woocommerce_calc_taxes") == "yes",
            "number_of_decimals": int(store.setting("woocommerce_price_num_decimals")),
            "timezone": "UTC",
        },
        "security": {"secure_connection": True, "hide_errors": True},
    }


@server.reads
def woo_system_tools_list(store: WooCommerceStore) -> list[dict[str, Any]]:
    """List the maintenance tools that woo_system_tools_run can run."""
    store.authorise("view")
    return [_tool(tool) for tool in SYSTEM_TOOLS]


@server.writes(idempotent=True)
def woo_system_tools_run(store: WooCommerceStore, toolId: ToolId) -> dict[str, Any]:
    """Run a maintenance tool and return what it says.

    Args:
        toolId: The tool, as woo_system_tools_list names it.
    """
    message = store.system.run_system_tool(toolId)
    return {**_tool(toolId), "success": True, "message": message}


def _tool(tool: str) -> dict[str, Any]:
    name, description, _ = SYSTEM_TOOLS[tool]
    return {"id": tool, "name": name, "action": name, "description": description}
