"""Worlds whose optimal play is known: what the families listworld, treeworld and gridworld are made with."""
