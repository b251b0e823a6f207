from .jobs import STATES as STATES
from .jobs import Job as Job
from .queue import JobQueue as JobQueue
from .queue_file import count_jobs as count_jobs
from .queue_file import read_jobs as read_jobs
from .remote import RemoteBackground as RemoteBackground
from .workers import Pace as Pace

__all__ = ["STATES", "Job", "JobQueue", "Pace", "RemoteBackground", "count_jobs", "read_jobs"]
