/// Tests.
import DurableJobs
