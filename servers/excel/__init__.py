"""Spreadsheets of the workspace."""
