"""Inputs of ``benchmarks/fuzz.py``: arguments, and lines of the mail protocols."""
