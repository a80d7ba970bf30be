"""What a survey reads of a warehouse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mesocosm.families.length import Survey
from mesocosm.services.service import Image
from mesocosm.services.words import load_words
from mesocosm.services.world import World
from mesocosm.worlds.manifest import Manifest


def test_a_survey_reads_a_table_to_its_last_row(tmp_path: Path) -> None:
    words = load_words("snowflake")
    assert words is not None
    with World.create(tmp_path / "world", Manifest(services={"snowflake": None})) as world:
        rows = [{"ID": number, "SAID": f"This is row {number}."} for number in range(1001)]
        words.things["table"].add(world, [{"table": "SALES.PUBLIC.NOTES", "rows": rows}])
        world.finish_building()
        read: list[str] = []

        class Reading(Survey):
            def look(self, service: str, tool: str, arguments: dict[str, Any]) -> list[str | Image]:
                blocks = super().look(service, tool, arguments)
                read.extend(block for block in blocks if isinstance(block, str))
                return blocks

        words.survey(Reading(world), {})
    whole = "\n".join(read)
    assert [number for number in range(1001) if f"This is row {number}." not in whole] == []
