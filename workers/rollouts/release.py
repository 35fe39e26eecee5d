"""Compute the configured engine release: the images, and a hash of all else that needs a restart.

Called by ``workers.tasks`` for a rollout, and by ``reconcile.loop`` at the start of a pass over a
space that has a release. The template hash covers how the platform creates instances, and the files
that engines read only at their start. For the hash, these files are rendered without any tenant's
data. So the hash changes only with a version of Waypost or a setting (docs/adr/0008).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from django.conf import settings

from controlplane.core.instance_names import InstanceId, Kind
from workers.infra.base import EngineImages, Infra
from workers.messaging.brokers import desired as brokers
from workers.messaging.brokers import render
from workers.messaging.certificates import KeyPair
from workers.messaging.routers import config
from workers.messaging.routers import desired as routers
from workers.messaging.routers.routing import Routing

_NOBODY = KeyPair("", "")
# Any number will do, here and for ``ClientLimits``. Without limits, parts of the files would not be
# rendered.
_CONNECTIONS = 1


def configured(infra: Infra, routing: Routing) -> EngineImages:
    """Return the configured release; all fields are empty if engines run as local programs.

    The template hash changes when another version of Waypost, or another setting, changes how
    instances are created. The hash depends on no tenant, and is the same in every process that has
    the same version and settings.
    """
    images = infra.engine_images()
    if not images.broker:
        return images
    # Engines reload the live files, so a change of these needs no restart.
    cold = [
        {name: text for name, text in files.items() if name not in live}
        for files, live in _render_files(routing)
    ]
    # Sorted, so that every process computes the same hash.
    text = json.dumps([images.template_hash, cold], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]  # max_length of the column
    return replace(images, template_hash=digest, revision=settings.REVISION)


def _render_files(routing: Routing) -> Iterator[tuple[Mapping[str, str], frozenset[str]]]:
    """Yield the files of an instance without any tenant's data, and the names of the live ones.

    Five instances: a public broker and a router, each with and without a separate certificate for
    public listeners, and a broker behind routers.
    """
    engine_layout = brokers.EngineLayout("/etc", "/data", "0.0.0.0", 1, 2)
    for public, public_certificate in ((True, None), (True, _NOBODY), (False, None)):
        broker = brokers.DesiredBroker(
            public=public,
            public_certificate=public_certificate,
            addresses=(),
            users=(),
            send_withdrawn=False,
            server=_NOBODY,
            authority_pem="",
            max_connections=_CONNECTIONS,
            client_limits=brokers.ClientLimits(1, 1, 1, 1, 1, 1, 1),
        )
        yield render.files(broker, engine_layout), render.LIVE_FILES
    at = routers.EngineLayout("/etc", "0.0.0.0", 1, 2, 3 if routing.has_mesh else None, 4)
    for public_certificate in (None, _NOBODY):
        yield config.files(_router(routing, public_certificate), at), config.LIVE_FILES


def _router(routing: Routing, public_certificate: KeyPair | None) -> routers.DesiredRouter:
    return routers.DesiredRouter(
        name=InstanceId(Kind.ROUTER, 0).name,
        space_id="",
        leads=True,
        brokers=(),
        addresses=(),
        server=_NOBODY,
        public_certificate=public_certificate,
        client=_NOBODY,
        authority_pem="",
        auth=routers.AuthServiceAt(routing.auth_host, routing.auth_port, "", _NOBODY),
        max_connections=_CONNECTIONS,
    )
