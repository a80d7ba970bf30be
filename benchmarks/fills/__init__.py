"""Worlds for ``benchmarks/services.py``: one module for each service.

Each has ``fill(world, texts, size)``, which puts about ``size`` tokens into the service and returns the calls
that are to be timed: pairs of a tool and its arguments.
"""
