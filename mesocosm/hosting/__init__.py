"""Hosting: many episodes in one process, its control plane, and the client of that."""
