"""Hugging Face: a data set of instances, with what is asked and with which tools; no answers, no worlds.

A row names an instance: whoever has this version of Mesocosm builds the same world from it, byte for byte.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import jinja2
import orjson

import mesocosm
from mesocosm.errors import MissingExtra, UsageError
from mesocosm.families.canaries import canary
from mesocosm.families.episode import Episode
from mesocosm.families.family import Family
from mesocosm.families.instances import build_instance
from mesocosm.families.quantities import show_length
from mesocosm.families.task import Offer
from mesocosm.services.service import combined_names

Format = Literal["jsonl", "parquet"]

_CARD = jinja2.Environment(
    loader=jinja2.PackageLoader("mesocosm.training", "cards"), keep_trailing_newline=True, autoescape=False
)


def write_dataset(
    families: Sequence[Family],
    lengths: Sequence[int] | None,
    seeds: Sequence[int],
    to: Path,
    *,
    parameters: Mapping[str, Any],
    tools: Offer = "needed",
    split: str = "train",
    kind: Format = "jsonl",
) -> Iterator[str]:
    """Write a folder with a card and the rows, completely or not at all; yields the id of each row.

    ``lengths``: for each family its own where ``None``. Raises ``UsageError`` for a folder that is there.
    """
    if to.exists():
        raise UsageError(f"{to} exists already")
    draft = to.with_name(f".{to.name}.writing")
    rows = []
    for family in families:
        for length in lengths or family.task.lengths:
            for seed in seeds:
                rows.append(_row(family, length, seed, parameters, tools))
                yield rows[-1]["id"]
    (draft / "data").mkdir(parents=True, exist_ok=True)
    _write(rows, draft / "data" / f"{split}.{kind}", kind)
    card = _CARD.get_template("huggingface.md.j2")
    values = {
        "tasks": families,
        "rows": rows,
        "split": split,
        "kind": kind,
        "canary": canary(row["id"] for row in rows),
    }
    (draft / "README.md").write_text(card.render(values, version=mesocosm.__version__), encoding="utf-8")
    draft.rename(to)


def _row(
    family: Family, length: int, seed: int, parameters: Mapping[str, Any], tools: Offer
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="mesocosm-export-") as folder:
        path = Path(folder)
        instance = build_instance(family, seed, path / "instance", target=length, parameters=parameters)
        episode = Episode.create(path / "episode", instance.path, family, tools)
        row = {
            "id": f"{family.name}-{show_length(length).lower()}-s{seed}",
            "task": family.name,
            "version": family.task.version,
            "title": family.task.title,
            "length": length,
            "seed": seed,
            "edl": episode.info.edl,
            "parameters": json.dumps(dict(parameters), sort_keys=True),
            "prompt": [{"role": "user", "content": episode.prompt}],
            "tools": json.dumps(_tools(episode)),
        }
        episode.close()
    return row


def _tools(episode: Episode) -> list[dict[str, Any]]:
    """The tools as chat templates take them, by their names in the endpoint of all services."""
    names = combined_names(episode.world.all_services)
    return [
        {
            "type": "function",
            "function": {
                "name": names[service.name, tool.name],
                "description": tool.description,
                "parameters": tool.signature.schema,
            },
        }
        for service in episode.world.services.values()
        for tool in service.tools.values()
    ]


def _write(rows: Sequence[Mapping[str, Any]], path: Path, kind: Format) -> None:
    mark = canary(row["id"] for row in rows)
    marked = [{**row, "canary": mark} for row in rows]
    if kind == "jsonl":
        path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in marked))
        return
    try:
        from pyarrow import Table, parquet
    except ModuleNotFoundError:
        raise MissingExtra("to write Parquet", "datasets") from None
    parquet.write_table(Table.from_pylist(marked), path)
