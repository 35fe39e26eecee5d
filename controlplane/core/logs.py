"""Structured logs: one line of JSON for each event, or readable lines for development.

``controlplane.settings`` calls ``configure`` once in each process. Tracebacks never show the values
of variables, because these may be passwords and tokens.
"""

import structlog


def configure(*, level: str, readable: bool) -> None:
    """Configure structlog for this process. Idempotent.

    Events below ``level``, such as ``INFO``, are dropped. ``readable`` selects lines for people
    instead of JSON. Python's own ``logging`` stays as it is.
    """
    ending: list[structlog.typing.Processor] = [
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(),
    ]
    if readable:
        # structlog's default formatter for development may print local variables.
        plain = structlog.dev.plain_traceback
        ending = [structlog.dev.ConsoleRenderer(exception_formatter=plain)]
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(level),
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *ending,
        ],
    )
