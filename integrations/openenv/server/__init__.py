"""What OpenEnv serves."""
