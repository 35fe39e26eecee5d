"""``python -m workers.custom_resources``: reconcile custom resources until SIGTERM or SIGINT."""

import argparse
import logging
from datetime import UTC, datetime

from workers.custom_resources import handlers
from workers.custom_resources.controller import Controller
from workers.infra.kubernetes import connection
from workers.infra.kubernetes.tenant_secrets import TenantSecrets


def main() -> None:
    """Run the controller in the foreground."""
    parser = argparse.ArgumentParser(prog="python -m workers.custom_resources")
    parser.add_argument("--api-url", required=True, help="root of Waypost, http or https")
    parser.add_argument("--namespace", action="append", required=True, help="to watch; repeatable")
    parser.add_argument("--token-secret", default="waypost-token", help="name of the Secret")
    parser.add_argument("--resync-seconds", type=float, default=60, help="compare all so often")
    parser.add_argument("--probe-port", type=int, help="where to answer GET /healthz; default: no")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    # Each line of httpx would be one request, with the names of tenants and spaces.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    controller = Controller(
        options.api_url,
        options.token_secret,
        TenantSecrets(connection.api()),
        lambda: datetime.now(UTC),
    )
    handlers.run(controller, options.namespace, options.resync_seconds, options.probe_port)


if __name__ == "__main__":
    main()
