"""How structured logs look: one line of JSON each, or readable lines while developing.

Called once by ``controlplane.settings``. Tracebacks never show the values of variables, as the
library's own default does: they hold passwords and tokens.
"""

import structlog


def configure(*, level: str, readable: bool) -> None:
    """Set structlog up for this process: events below ``level`` are not written; idempotent."""
    ending: list[structlog.typing.Processor] = [
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(),
    ]
    if readable:
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
