"""Run by ``contracts/test_resources.py`` in a process of its own, where a copy of the shop has one line more.

Arguments: a folder to work in, and the name of the new field of coupons.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from patience import PATIENCE
from rest.hosted import HostedWorld, host_world
from shop import fill_shop
from woocommerce import API

from mesocosm.families.proofs import prove_one
from mesocosm.hosting.application import Hosting
from mesocosm.hosting.server import serving

PLACE, FIELD = Path(sys.argv[1]), sys.argv[2]


def through_tools(world: HostedWorld) -> list[Any]:
    """What tools make of the field."""
    with world.tools() as tools:
        listed = {tool.name: tool.input_schema for tool in tools.list_tools()}
        data = {"code": "spring", "discount_type": "percent", "amount": "5", FIELD: "Ann's"}
        made = tools.call("woocommerce", "woo_coupons_create", couponData=data)
        new = {"couponId": made["id"], "couponData": {FIELD: "Bob's"}}
        changed = tools.call("woocommerce", "woo_coupons_update", **new)
    schema = listed["woo_coupons_create"]["properties"]["couponData"]["properties"][FIELD]
    return [schema, made[FIELD], changed[FIELD]]


def through_rest(world: HostedWorld) -> list[Any]:
    """What the vendor's API makes of it, once the tools have left a coupon."""
    api = API(world.api("woocommerce"), world.id, world.id, version="wc/v3", timeout=PATIENCE)
    before = api.get("coupons", params={"code": "spring"}).json()[0]
    after = api.put(f"coupons/{before['id']}", {FIELD: "Cy's"}).json()
    refused = api.put(f"coupons/{before['id']}", {FIELD: 7})
    return [before[FIELD], after[FIELD], refused.status_code]


def through_a_task() -> list[str]:
    """What is wrong with a task that states and judges the field."""
    text = Path(__file__).with_name("yaml_tasks").joinpath("coupons.yaml").read_text()
    task = PLACE / "coupons.yaml"
    task.write_text(
        text.replace("description: ", f"{FIELD}: ").replace("whose description is", f"whose {FIELD} is")
    )
    return prove_one(str(task), 32_000, 3).problems


app = Hosting(PLACE / "state", admin_token="a-token-of-the-tests")
with serving(app) as base:
    (PLACE / "instance").mkdir()
    hosted = host_world(app, base, PLACE / "instance", ["woocommerce"], fill_shop)
    found = {"tools": through_tools(hosted), "rest": through_rest(hosted)}
print(json.dumps(found | {"task": through_a_task()}))
