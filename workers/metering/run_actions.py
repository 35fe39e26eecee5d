"""Approve or issue the invoices of a close run, in slices of a minute.

A slice holds the lease of its action, so that two workers do not try the same invoices.
"""

import time
import uuid

from controlplane.core import leases
from plans.invoicing import close_runs

_SLICE_SECONDS = 60
_LEASE_SECONDS = 60


def carry_out(action_id: str) -> bool:
    """Carry the action out for a minute at most; return whether invoices are left for this worker.

    Nothing happens while another worker carries it out.
    """
    with leases.kept(f"close-run-action:{action_id}", uuid.uuid4().hex, _LEASE_SECONDS) as won:
        ends_at = time.monotonic() + _SLICE_SECONDS
        if not won:
            return False
        return not close_runs.carry_out(action_id, until=lambda: time.monotonic() > ends_at)
