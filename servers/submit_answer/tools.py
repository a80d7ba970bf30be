"""The one tool with which an agent hands in its answer and ends its episode."""

from __future__ import annotations

from mesocosm.servers.submit_answer.store import SubmitAnswerStore
from mesocosm.services.service import Service

server = Service(
    "submit_answer",
    SubmitAnswerStore,
    instructions="Call submit_answer once, with the final answer of the task; this ends the episode.",
)


@server.writes(ends_episode=True)
def submit_answer(store: SubmitAnswerStore, answer: str) -> str:
    """Submit the final answer of the task and end the episode.

    Call this once, when you are sure: the answer cannot be changed afterwards.

    Args:
        answer: The answer itself, exactly as the task asks for it, without quotes or any other text.
    """
    store.submit(answer)
    return "The answer has been submitted."
