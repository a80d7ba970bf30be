"""Worlds with known optimal play: the kit of the families listworld, treeworld and gridworld."""
