"""Many jobs, done by processes of this machine or of a cluster."""
