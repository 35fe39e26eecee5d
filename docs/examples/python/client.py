"""Creates an address in a space, waits until it can be used, and lists the addresses."""

import os
import sys
import time
import uuid

from waypost_client import AuthenticatedClient, Refused, models
from waypost_client.api import address_spaces, operations


def main(space: str, address: str) -> None:
    tenant = os.environ["WAYPOST_TENANT"]
    with AuthenticatedClient(os.environ["WAYPOST_URL"], os.environ["WAYPOST_TOKEN"]) as waypost:
        wanted = models.AddressCreateRequest(
            address=address, type_="queue", plan="brokered-small-queue"
        )
        try:
            operation = address_spaces.create_address.sync(
                tenant, space, client=waypost, body=wanted, idempotency_key=uuid.uuid4().hex
            )
        except Refused as refused:
            if refused.problem.code != "address.exists":
                raise
            print(f"{address} exists already")
        else:
            wait(waypost, tenant, operation)
            print(f"{address} is ready")
        page = address_spaces.list_addresses.sync(tenant, space, client=waypost)
        for found in page.items:
            print(f"{found.address}: {found.type_}, {found.phase}")


def wait(waypost: AuthenticatedClient, tenant: str, operation: models.Operation) -> None:
    while operation.state not in ("Succeeded", "Failed"):
        time.sleep(0.5)
        operation = operations.get_operation.sync(tenant, operation.id, client=waypost)
    if operation.state == "Failed":
        raise SystemExit(f"{operation.error_code}: {operation.error_message}")


if __name__ == "__main__":
    main(*sys.argv[1:])
