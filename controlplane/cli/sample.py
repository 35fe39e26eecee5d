"""Take last samples of all metered spaces; exit code 1 if not every counter could be read.

``embedded.stack`` runs it as ``python -m controlplane.cli.sample`` with the installation's
environment, before it or ``embedded.backup`` stops brokers and routers. The samples stay in the
database until they are landed. Idempotent.
"""

import django


def main() -> int:
    """Sample every metered space; return the exit code: 0 if every counter was read."""
    django.setup()
    # Models can be imported only now.
    from workers import wiring
    from workers.metering.last_samples import LastSampler

    return int(not LastSampler(wiring.readers()).before_stop())


if __name__ == "__main__":
    raise SystemExit(main())
