"""Google Cloud: BigQuery, Cloud Storage, Cloud Logging and Compute Engine of one project."""
