"""Take the last samples before everything stops. Ends with 1 where an instance did not answer.

Run by ``embedded.stack`` and ``embedded.backup`` as ``python -m controlplane.cli.sample`` with the
installation's environment, before they stop what counts. What was read waits in the database for
its landing. Idempotent.
"""

import django


def main() -> int:
    """Sample every space; return the exit code."""
    django.setup()
    # Models can be imported only now.
    from workers import wiring
    from workers.metering.last_samples import LastSampler

    return int(not LastSampler(wiring.readers()).before_stop())


if __name__ == "__main__":
    raise SystemExit(main())
