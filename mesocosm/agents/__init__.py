"""Agents that bring a model of their own choice; others are started as commands."""
