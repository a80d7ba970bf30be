"""Running code of the agent where it sees its workspace and nothing else."""
