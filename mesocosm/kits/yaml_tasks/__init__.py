"""Tasks that are a YAML file and nothing else: entities, evidence, noise, goal and solution."""

from mesocosm.kits.yaml_tasks.written import YamlFamily

__all__ = ["YamlFamily"]
