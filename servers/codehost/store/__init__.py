"""The rules of the code host.

One store, put together from one class for each topic, each knowing those before it: accounts,
repositories, history (commits and refs), contents (files), fields (labels too), issues, pulls, reviews,
releases, the searches, and filling.
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
