"""``python -m workers.services.devrouter router.json``: run a router until SIGTERM or SIGINT.

For development only.
"""

import argparse
import asyncio
import signal
import sys
from pathlib import Path

import structlog

from workers.services.devrouter import configuration, health
from workers.services.devrouter.configuration import BadConfiguration, Configuration
from workers.services.devrouter.management.agent import Agent
from workers.services.devrouter.management.entities import Entities, Rejected
from workers.services.devrouter.network import Network
from workers.services.devrouter.router import Router

logger = structlog.get_logger(__name__)


def main() -> int:
    """Run the router until a signal stops it; return the exit code: 1 if it cannot start."""
    parser = argparse.ArgumentParser(prog="python -m workers.services.devrouter")
    parser.add_argument("file", type=Path, help="configuration file, in qdrouterd's JSON format")
    options = parser.parse_args()
    try:
        asyncio.run(_run(configuration.load(options.file)))
    except (BadConfiguration, Rejected, OSError) as error:
        logger.error("the router cannot start", reason=str(error))
        return 1
    return 0


async def _run(config: Configuration) -> None:
    logger.warning("this is the development router: do not use it in production")
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    router = Router(config)
    network = Network(router)
    entities = Entities(router, network, config.profiles)
    router.agent = Agent(router, entities)
    # Entities first, so that the first client finds all addresses.
    entities.load(config)
    for spec in config.listeners:
        await network.listen(spec)
    servers = [await health.listen(health_spec) for health_spec in config.health]
    ticking = asyncio.create_task(network.tick())
    logger.info("running", router=router.id, boot=router.boot)
    await stopped.wait()
    ticking.cancel()
    for server in servers:
        server.close()
    await network.close()


if __name__ == "__main__":
    sys.exit(main())
