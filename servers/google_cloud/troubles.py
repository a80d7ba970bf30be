"""Google Cloud's error responses for disturbances."""

from __future__ import annotations

from mesocosm.services.troubles import google_troubles

TROUBLES = google_troubles(
    "Google Cloud",
    "Quota exceeded: Your project exceeded quota for concurrent requests. For more information, see "
    "https://cloud.google.com/bigquery/docs/troubleshoot-quotas",
)
