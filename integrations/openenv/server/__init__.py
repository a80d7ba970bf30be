"""Server of OpenEnv."""
