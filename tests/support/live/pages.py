"""How long the live pages take, in a portal with 1,000 spaces, over HTTP."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from controlplane.core.audit import SYSTEM
from controlplane.demo.bench_results import Result
from controlplane.embedded import ports
from tenants.actions import api_tokens
from tenants.models import Address
from tests.support import domain
from tests.support.live import stored
from tests.support.live.figures import best, figure, milliseconds
from tests.support.waiting import eventually

_SPACES, _ADDRESSES, _REQUESTS = 1_000, 20, 200
_LIMIT_MS = 100


def measure(folder: Path) -> Iterator[Result]:
    """Read pages of random addresses and spaces, one request after the other."""
    cast = domain.cast("business")
    made = stored.spaces(cast.tenant, _SPACES, _ADDRESSES, timezone.now())
    client = Client()
    client.force_login(cast.owner)
    _, token = api_tokens.issue(
        tenant=cast.tenant, name="bench", role="viewer", expires_at=None, by=SYSTEM
    )
    queues = dict(Address.objects.filter(address="queue-0007").values_list("space__name", "id"))
    slug, names = cast.tenant.slug, [space.name for space in made]
    api = f"/api/v1/tenants/{slug}/address-spaces/{{}}/addresses"

    def page(name: str, *more: str) -> str:
        return reverse(f"console:{name}", args=[slug, *more])

    asked: Mapping[str, Callable[[str], str]] = {
        "API, one address with `live`": lambda space: f"{api.format(space)}/queue-0007",
        "API, the addresses of a space with `live`": lambda space: api.format(space),
        "page of an address, with its chart of an hour": lambda space: page(
            "address", space, queues[space]
        ),
        "what that page asks for again": lambda space: page("address_live", space, queues[space]),
        "page of a space with its addresses": lambda space: page("space", space),
    }
    with _portal(folder) as url, httpx.Client(base_url=url, timeout=30) as web:
        web.headers["Authorization"] = f"Bearer {token}"
        for what, path in asked.items():
            if what.startswith(("page", "what")):
                web.headers.pop("Authorization", None)
                web.cookies.set("sessionid", client.cookies["sessionid"].value)

            def run() -> list[float]:
                return [_seconds(web, path(random.choice(names))) for _ in range(_REQUESTS)]  # noqa: B023

            run()  # both processes have loaded everything then
            load = os.getloadavg()[0]
            seconds = best(run, lambda one: milliseconds(one, 0.95))
            more = f"p95 of {_REQUESTS}; median {milliseconds(seconds, 0.5):.0f} ms"
            p95 = milliseconds(seconds, 0.95)
            yield figure(what, p95, "ms", load=load, more=more, limit=_LIMIT_MS)


def _seconds(web: httpx.Client, path: str) -> float:
    began = time.monotonic()
    answer = web.get(path)
    took = time.monotonic() - began
    assert answer.status_code == 200, (path, answer.status_code, answer.text[:500])
    return took


@contextmanager
def _portal(folder: Path) -> Iterator[str]:
    """Yield the URL of a web server on this database: two processes with four threads each."""
    port = ports.reserve_port()
    environment = {
        **os.environ,
        "WAYPOST_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "WAYPOST_REDIS_URL": f"redis://127.0.0.1:{ports.reserve_port()}/0",
    }
    with (folder / "web.log").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "controlplane.web", "--port", str(port)],
            env=environment,
            stdout=output,
            stderr=output,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        eventually(lambda: _answers(url), f"the portal answers ({folder / 'web.log'})")
        yield url
    finally:
        process.terminate()
        process.wait(timeout=120)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False
