"""Read every counter once, now. Ends with 1 where an instance did not answer.

Run by ``embedded.backup`` as ``python -m controlplane.cli.sample`` with the installation's
environment, before it stops what counts. What was read waits in the database for its landing.
Idempotent.
"""

import django

_PATIENCE_SECONDS = 20  # for a round that is under way


def main() -> int:
    """Sample every space; return the exit code."""
    django.setup()
    # Models can be imported only now.
    from workers import wiring
    from workers.metering import sampling

    rounds = sampling.sample(sampling.list_spaces(), wiring.readers(), patience=_PATIENCE_SECONDS)
    return int(any(each.silent or not each.is_applied for each in rounds))


if __name__ == "__main__":
    raise SystemExit(main())
