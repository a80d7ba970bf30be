"""Episodes of a Mesocosm server as an environment of verifiers; options are those of ``--env.taskset.*``."""

from mesocosm.training.verifiers import EpisodeEnv, Episodes

__all__ = ["EpisodeEnv", "Episodes"]
