"""Spreadsheets of the workspace.

openpyxl writes different bytes when lxml happens to be installed, so it is told to use the standard library.
"""

import os

os.environ.setdefault("OPENPYXL_LXML", "False")
