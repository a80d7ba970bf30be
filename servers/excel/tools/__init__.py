"""What an agent sees of the excel service."""

from mesocosm.servers.excel.tools import analysis, books, cells, formats, lines
from mesocosm.servers.excel.tools.service import server

__all__ = ["analysis", "books", "cells", "formats", "lines", "server"]
