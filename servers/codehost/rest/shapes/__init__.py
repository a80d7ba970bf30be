"""GitHub's REST objects in full, with the addresses that clients follow."""
