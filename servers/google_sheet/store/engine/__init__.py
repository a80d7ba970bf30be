"""Formulas: how references in them move, and a process of their own in which a library computes them."""
