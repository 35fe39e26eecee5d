"""Take last samples before everything stops; exit code 1 if an instance did not answer.

``embedded.stack`` runs it as ``python -m controlplane.cli.sample`` with the installation's
environment, before it or ``embedded.backup`` stops brokers and routers. The samples stay in the
database until they are landed. Idempotent.
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
