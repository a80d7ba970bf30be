"""Google's Sheets API, version 4, and Drive API, version 3, over the spreadsheets that the tools use."""

from mesocosm.servers.google_sheet.rest import files, remarks, sharing, spreadsheets, values
from mesocosm.servers.google_sheet.rest.service import api

__all__ = ["api", "files", "operations", "remarks", "sharing", "spreadsheets", "values"]

operations = api.operations
