"""Mesocosm: mock tool servers, worlds of any length, tasks and checkers for tool-using agents."""

import os

__version__ = "0.1.0"

# openpyxl writes other bytes with lxml than without; whoever imports it first decides, so it is said here.
os.environ["OPENPYXL_LXML"] = "False"
