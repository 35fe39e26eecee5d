"""How long a task of Celery may run, and for how long the lease of its work is extended.

A worker may take work over when its lease has expired. So the lease must outlast the task: Celery
interrupts the task after ``TASK_SOFT_SECONDS`` and kills its process after ``TASK_SECONDS``. Until
then the process extends the lease. The lease of a killed process ends by itself, within a minute.
The extension ends after ``LEASE_SECONDS`` nevertheless, because other processes hold leases too and
Celery does not end those.
"""

# An interrupted task has a minute to clean up. The longest one is a run of the Spark job, whose own
# limit is WAYPOST_PIPELINE_TIMEOUT_SECONDS.
TASK_SOFT_SECONDS = 540
TASK_SECONDS = 600
# The difference is for a process that is slow to end.
LEASE_SECONDS = 900


def require_order(task_soft_seconds: float, task_seconds: float) -> None:
    """Check that tasks with these limits end before the extension of their leases does.

    Raises:
        ValueError: they would not. A limit of 0 is none, as Celery understands it.
    """
    if not 0 < task_soft_seconds < task_seconds < LEASE_SECONDS:
        raise ValueError(
            f"A task may run for {task_soft_seconds:g} s and is killed after {task_seconds:g} s, "
            f"but its lease is extended for {LEASE_SECONDS} s. Each of these must be longer than "
            "the one before: start the worker without --soft-time-limit and --time-limit."
        )


require_order(TASK_SOFT_SECONDS, TASK_SECONDS)
