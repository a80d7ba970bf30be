"""The tools of the google_sheet service."""

from mesocosm.servers.google_sheet.tools import books, cells
from mesocosm.servers.google_sheet.tools.service import server

__all__ = ["books", "cells", "server"]
