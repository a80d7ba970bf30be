"""Mesocosm: mock tool servers, worlds of any length, tasks and checkers for tool-using agents."""

__version__ = "0.1.0"
