"""Tables of the google_cloud service.

Times are UTC text. Of storage, compute and BigQuery whole seconds (``2025-01-15T09:00:00Z``); of log entries
nanoseconds (``2025-01-15T09:00:00.000000000Z``): fixed width, so text order is time order. Ids are counters.
"""

from mesocosm.servers.google_cloud.models.bigquery import Dataset, Job, JobRows, WarehouseTable
from mesocosm.servers.google_cloud.models.compute import ComputeOperation, Instance
from mesocosm.servers.google_cloud.models.declarative import Base
from mesocosm.servers.google_cloud.models.logs import BucketEntry, LogBucket, LogEntry, LogSink
from mesocosm.servers.google_cloud.models.projects import Project
from mesocosm.servers.google_cloud.models.storage import Bucket, Content, StorageObject, Upload
from mesocosm.services.queries.tables import attach_contents

attach_contents(Base.metadata)

__all__ = [
    "Base",
    "Bucket",
    "BucketEntry",
    "ComputeOperation",
    "Content",
    "Dataset",
    "Instance",
    "Job",
    "JobRows",
    "LogBucket",
    "LogEntry",
    "LogSink",
    "Project",
    "StorageObject",
    "Upload",
    "WarehouseTable",
]
