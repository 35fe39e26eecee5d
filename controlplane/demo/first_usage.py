"""Wait until the usage of the demonstration's first tenant is complete."""

import time
from datetime import UTC, datetime

from controlplane.core.errors import Unavailable
from controlplane.demo import bills
from controlplane.demo.customers import Customer, Operator
from controlplane.demo.narrator import Narrator
from controlplane.rest_client import Json

# The first run after the wait began may read before the last samples land. A later one has them.
_RUNS = 3
_SILENCE_SECONDS = 900  # without a single run that ends


def wait(
    customer: Customer, operator: Operator, received: int, narrator: Narrator
) -> bills.Metered:
    """Return the tenant's usage of the month once it has ``received`` messages out.

    Raises:
        Unavailable: ``demo.no_usage``: messages are still missing after three runs of the pipeline
            that began meanwhile, or no such run ended in 15 minutes.
    """
    began, silent_until = datetime.now(UTC), time.monotonic() + _SILENCE_SECONDS
    while True:
        # Read before the usage, so that the usage has what these runs found.
        page = operator.api.get("/staff/pipeline/runs", job="pipeline", since=began.isoformat())
        runs = list(page["items"])
        found = bills.metered(customer)
        seen = sum(found[key] for key in found if key[2] == "messages_out")
        if seen >= received:
            return found
        if len(runs) >= _RUNS or (not runs and time.monotonic() > silent_until):
            raise _missing(seen, received, runs)
        narrator.still(f"{seen} of {received} received messages are in the usage so far …")
        time.sleep(1)


def _missing(seen: int, received: int, runs: list[Json]) -> Unavailable:
    failed = [run["error_code"] for run in runs if run["error_code"]]
    why = f" ({', '.join(failed)})" if failed else ""
    return Unavailable(
        f"after {len(runs)} runs of the pipeline{why} the usage shows {seen} of {received} "
        "messages received: see metering.log",
        code="demo.no_usage",
    )
