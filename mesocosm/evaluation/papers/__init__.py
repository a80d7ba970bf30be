"""The published experiments of five papers as they were published: what was run, and the figures of it."""
