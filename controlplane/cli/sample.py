"""Takes last samples of all metered spaces; exit code 1 if not every instance answered.

``embedded.stack`` runs this module as ``python -m controlplane.cli.sample`` with the installation's
environment, before that module or ``embedded.backup`` stops brokers and routers. The samples
stay in the database until they are landed. Idempotent.
"""

import django


def main() -> int:
    """Sample every metered space once.

    Returns the exit code: 0 if every instance answered and every sample was stored, else 1.
    """
    django.setup()
    # Models can be imported only now.
    from workers import wiring
    from workers.metering.last_samples import LastSampler

    return int(not LastSampler(wiring.readers()).before_stop())


if __name__ == "__main__":
    raise SystemExit(main())
