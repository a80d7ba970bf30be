"""PUT: where a connector is to send the files that it puts into a stage, and what it sends.

To connectors a stage is a bucket of Google's: they send a file to an address that is theirs for a while, or,
if they name files themselves, to the bucket's host.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mesocosm.doors.request import Request
from mesocosm.errors import Invalid
from mesocosm.services.service import Reply

if TYPE_CHECKING:
    from sqlglot import exp

    from mesocosm.servers.snowflake.models import SqlSession
    from mesocosm.servers.snowflake.store import SnowflakeStore

_MOST_AT_ONCE = 99


def told(
    store: SnowflakeStore, own: SqlSession, tree: exp.Expr, bindings: dict[str, Any], base: str, id_: str
) -> dict[str, Any]:
    """Answer a connector's PUT statement with the upload instructions."""
    from mesocosm.servers.snowflake.store.copy_into import options_in

    properties = tree.args.get("properties")
    said = options_in(properties.expressions if properties else ())
    source = tree.this.name.removeprefix("file://")
    target = tree.args["target"].name
    if target == "?":
        given = bindings.get("1")
        target = str(given.get("value") if isinstance(given, dict) else given)
    stage, prefix = store.stages.location(target.strip("'"))
    place = f"s{stage.id}/files/{prefix}/" if prefix else f"s{stage.id}/files/"
    token = base.rpartition("/e/")[2].partition("/")[0]
    parallel = said.get("PARALLEL", 4)
    if not isinstance(parallel, int) or not 1 <= parallel <= _MOST_AT_ONCE:
        raise Invalid(f"PARALLEL is a number from 1 to {_MOST_AT_ONCE}.")
    info: dict[str, Any] = {
        "locationType": "GCS",
        "location": place,
        "path": prefix,
        "region": "US",
        "storageAccount": None,
        "isClientSideEncrypted": False,
        "creds": {},
        "presignedUrl": None,
        "endPoint": None,
    }
    if own.names_files:
        info |= {"creds": {"GCS_ACCESS_TOKEN": token}, "endPoint": f"{base}/stage"}
    else:
        name = source.replace("\\", "/").rpartition("/")[2]
        info["presignedUrl"] = f"{base}/stage/{quote(place + name)}?access_token={token}"
    return {
        "command": "UPLOAD",
        "operation": "Node",
        "src_locations": [source],
        "parallel": parallel,
        "threshold": 209_715_200,
        "autoCompress": bool(said.get("AUTO_COMPRESS", True)),
        "overwrite": bool(said.get("OVERWRITE", False)),
        "sourceCompression": str(said.get("SOURCE_COMPRESSION", "auto_detect")).lower(),
        "clientShowEncryptionParameter": False,
        "encryptionMaterial": None,
        "stageInfo": info,
        "uploadInfo": info,
        "queryId": id_,
        "kind": None,
    }


def known(store: SnowflakeStore, stage: int, path: str) -> Reply:
    """Return the metadata of a file that a connector may be about to upload."""
    from mesocosm.servers.snowflake.store.stages import digest_of

    data = store.stages.stage_file(stage, path)
    headers = {"x-goog-meta-sfc-digest": digest_of(data), "x-goog-meta-encryptiondata": ""}
    return Reply(data, 200, headers, "application/octet-stream")


def taken(store: SnowflakeStore, request: Request, stage: int, path: str) -> Reply:
    """A file that a connector has sent."""
    # Where several files are put at once, some connectors send all to one address.
    store.stages.put_file(
        stage, path.replace("*", hashlib.sha256(request.body).hexdigest()[:16]), request.body
    )
    return Reply(b"", 200)
