"""Evaluation: an agent's runs, their replay, and reports over many."""
