"""Keeping the answer with which an episode ends."""

from __future__ import annotations

from sqlalchemy import select

from mesocosm.errors import Conflict, Invalid
from mesocosm.servers.submit_answer.models import Answer, Base
from mesocosm.services.service import Store

MAX_CHARACTERS = 1_000_000


class SubmitAnswerStore(Store):
    """The answer, as it was given."""

    metadata = Base.metadata

    def answers(self) -> list[str]:
        """Return the submitted answer, if any, as a list."""
        return list(self.session.scalars(select(Answer.answer).order_by(Answer.id)))

    def submit(self, answer: str) -> None:
        """Keep an answer; refused if it is empty, or if there is one already."""
        if self.answers():
            raise Conflict("An answer has been submitted already.")
        if not answer.strip():
            raise Invalid("answer: it must not be empty.")
        if len(answer) > MAX_CHARACTERS:
            raise Invalid(
                f"answer: it has {len(answer):,} characters; at most {MAX_CHARACTERS:,} are allowed."
            )
        if "\0" in answer:
            raise Invalid("answer: it must not contain NUL characters.")
        moment = self.now.strftime("%Y-%m-%dT%H:%M:%SZ")
        self.session.add(Answer(answer=answer, submitted_at=moment))
