"""The rules of the code host.

One store, put together from one class for each topic, each knowing those before it: accounts,
repositories, history (commits and refs), contents (files), fields (labels too), issues, pulls, reviews,
pushes, releases, the searches, listing (what only the REST API lists), taking back, and filling.
"""

from mesocosm.servers.codehost.store.filling import (
    CodehostStore,
    NewComment,
    NewCommit,
    NewIssue,
    NewPull,
    NewReview,
)

__all__ = ["CodehostStore", "NewComment", "NewCommit", "NewIssue", "NewPull", "NewReview"]
