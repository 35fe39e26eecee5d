"""What the engines of this installation are made from now: images, and a digest of all the rest.

Called by ``workers.tasks`` for the rollout over the fleet, and by ``rolling`` before a restart. All
the rest is how the place makes instances, and the files that engines read only at their start, as
they are rendered for nobody in particular: so another template of ours is another release.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from django.conf import settings

from workers.infra.base import EngineImages
from workers.messaging.brokers import desired as brokers
from workers.messaging.brokers import render
from workers.messaging.certificates import KeyPair
from workers.messaging.routers import config
from workers.messaging.routers import desired as routers
from workers.reconcile.doors import Doors, Routing

_NOBODY = KeyPair("", "")
# Any limit will do, but one: without it parts of the templates would not be written.
_CONNECTIONS = 1


def release(doors: Doors) -> EngineImages:
    """Return the release that the installation is configured with; empty where none are.

    Its shape differs when a version of Waypost, or a setting, makes instances in another way. It
    depends on no tenant, and is the same for every process of one version with the same settings.
    """
    images = doors.infra.engine_images()
    if not images.broker:
        return images
    cold = [dict(each) for each in _cold_files(doors.routing)]
    text = json.dumps([images.shape, cold], sort_keys=True)
    shape = hashlib.sha256(text.encode()).hexdigest()[:16]
    return replace(images, shape=shape, revision=settings.REVISION)


def _cold_files(routing: Routing) -> Iterator[Mapping[str, str]]:
    """Yield what a plain broker of each type of space, and a plain router, read at their start.

    With and without a certificate that clients are shown.
    """
    place = brokers.Place("/etc", "/data", "0.0.0.0", 1, 2)
    for public, presented in ((True, None), (True, _NOBODY), (False, None)):
        broker = brokers.DesiredBroker(
            public=public,
            presented=presented,
            addresses=(),
            users=(),
            send_withdrawn=False,
            server=_NOBODY,
            authority_pem="",
            max_connections=_CONNECTIONS,
        )
        yield _without(render.files(broker, place), render.LIVE_FILES)
    at = routers.Place("/etc", "0.0.0.0", 1, 2, 3 if routing.has_mesh else None)
    for presented in (None, _NOBODY):
        yield _without(config.files(_router(routing, presented), at), config.LIVE_FILES)


def _router(routing: Routing, presented: KeyPair | None) -> routers.DesiredRouter:
    return routers.DesiredRouter(
        name="router-0",
        space_id="",
        leads=True,
        brokers=(),
        addresses=(),
        server=_NOBODY,
        presented=presented,
        client=_NOBODY,
        authority_pem="",
        auth=routers.AuthServiceAt(routing.auth_host, routing.auth_port, "", _NOBODY),
        max_connections=_CONNECTIONS,
    )


def _without(files: Mapping[str, str], live: frozenset[str]) -> Mapping[str, str]:
    return {name: text for name, text in files.items() if name not in live}
