"""The world browser: a world, and what an agent did in it, as pages on this machine or in one file."""
