"""Google Sheets' error responses for disturbances."""

from __future__ import annotations

import random

from sqlalchemy import select

from mesocosm.servers.google_sheet.models import File, SignIn
from mesocosm.servers.google_sheet.store import SheetStore
from mesocosm.services.troubles import Touched, began, google_troubles

TROUBLES = google_troubles(
    "Google Sheets",
    "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute per user' of "
    "service 'sheets.googleapis.com' for consumer 'project_number:1003'.",
    code="RESOURCE_EXHAUSTED",
)


def touch(store: SheetStore, dice: random.Random) -> Touched | None:
    """The owner's telephone stars a spreadsheet, or takes the star away."""
    mine = select(File.number, File.starred).where(
        File.kind == "spreadsheet",
        File.owner.in_(select(SignIn.email)),
        ~File.trashed,
        File.created <= began(store),
    )
    if not (files := store.session.execute(mine.order_by(File.number)).all()):
        return None
    number, starred = dice.choice(files)
    return Touched("files", {"number": number}, {"starred": int(not starred)})
