"""Vocabulary of task files for the submitted answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from mesocosm.services.calling import Tools
from mesocosm.services.words import Found, Thing, Word, Words

if TYPE_CHECKING:
    from mesocosm.services.world import World
    from mesocosm.worlds.changes import Changes


class AnswerThing(Thing):
    name = "answer"
    about = "The answer that the agent hands in; it ends the episode."
    judges: ClassVar[Mapping[str, Word]] = {"answer": Word("What it says, without blanks around it.")}

    def made(self, world: World, changes: Changes) -> Iterator[Found]:
        for row in changes.table("submit_answer", "answers").added:
            yield Found({"answer": row["answer"].strip()}, frozenset({("answers", row["id"])}))


def _survey(tools: Tools, options: Mapping[str, Any]) -> None:
    """There is nothing to read."""


words = Words(service="submit_answer", things={"answer": AnswerThing()}, survey=_survey)
