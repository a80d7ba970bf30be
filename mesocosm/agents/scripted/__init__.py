"""Models that need no key and no network: scripts behind the protocols of the real ones, over HTTP.

They are for a first look, for tests and for measuring what is not the model. See ``behaviours`` for who there
is.
"""
