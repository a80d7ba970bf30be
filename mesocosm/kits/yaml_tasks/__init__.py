"""Tasks that are a YAML file and nothing else: facts, statements, background, goal and walk."""

from mesocosm.kits.yaml_tasks.written import Written

__all__ = ["Written"]
