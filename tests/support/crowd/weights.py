"""How heavy the main pages are, and when Chromium paints them, with an empty cache."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from controlplane.demo.bench_results import Result
from tests.support import web_server
from tests.support.access.furnished import Furnished
from tests.support.browser import chromium
from tests.support.browser.chromium import Visitor
from tests.support.crowd.figures import figure
from tests.support.portal.rows import PASSWORD

_ADMIN, _STAFF = "admin@acme.example", "staff@operator.example"
_TENANT = "/t/acme-shipping"
# What people open most, and the pages with most buttons, each with who does.
_MAIN: tuple[tuple[str, str | None], ...] = (
    ("/", None),
    ("/login", None),
    (f"{_TENANT}/", _ADMIN),
    (f"{_TENANT}/spaces/", _ADMIN),
    (f"{_TENANT}/spaces/orders/", _ADMIN),
    (f"{_TENANT}/usage/", _ADMIN),
    (f"{_TENANT}/invoices/", _ADMIN),
    (f"{_TENANT}/audit/", _ADMIN),
    (f"{_TENANT}/team/", _ADMIN),
    (f"{_TENANT}/tokens/", _ADMIN),
    (f"{_TENANT}/maintenance/", _ADMIN),
    ("/staff/tenants/", _STAFF),
    ("/staff/fleet/", _STAFF),
)
_RUNS = 3
_LIMIT_KB, _LIMIT_SECONDS = 300, 1
_IS_PAINTED = "performance.getEntriesByName('first-contentful-paint').length > 0"
# Bytes on the wire with headers, and seconds since the navigation began.
_MEASURE = """() => {
  const parts = [...performance.getEntriesByType("navigation"),
    ...performance.getEntriesByType("resource")];
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return {
    bytes: parts.reduce((sum, part) => sum + part.transferSize, 0),
    parts: parts.length,
    paint: paint.startTime / 1000,
  };
}"""


def measure(furnished: Furnished, folder: Path) -> Iterator[Result]:
    """Visit each main page three times with an empty cache; yield its weight and its first paint.

    The first paint is the earliest one, because the machine may be busy.
    """
    address = f"{_TENANT}/spaces/orders/addresses/{furnished.values['address']}"
    with (
        web_server.queue(folder) as port,
        web_server.running(folder, threads=4, queue_port=port) as server,
        chromium.started(server.url, PASSWORD) as browser,
    ):
        for path, email in (*_MAIN, (address, _ADMIN)):

            def visit(visitor: Visitor) -> list[dict[str, Any]]:
                return [_visit(visitor, path, email) for _ in range(_RUNS)]  # noqa: B023

            seen = browser.run(visit)
            shown = path.replace(furnished.values["address"], "…")
            paint = min(one["paint"] for one in seen)
            weight = max(one["bytes"] for one in seen) / 1000
            more = f"{seen[0]['parts']} requests"
            yield figure(f"weight of `{shown}`", weight, "kB", more=more, limit=_LIMIT_KB)
            more = f"earliest of {_RUNS}, latest {max(one['paint'] for one in seen):.2f} s"
            what = f"first contentful paint of `{shown}`"
            yield figure(what, paint, "s", more=more, limit=_LIMIT_SECONDS)


def _visit(visitor: Visitor, path: str, email: str | None) -> dict[str, Any]:
    with visitor.open(path, email, 200) as watched:
        page = watched.page
        # Chromium keeps files of an earlier page in memory, also for a new profile.
        tools = page.context.new_cdp_session(page)
        tools.send("Network.enable")
        tools.send("Network.setCacheDisabled", {"cacheDisabled": True})
        page.reload()
        page.wait_for_load_state("networkidle")
        page.wait_for_function(_IS_PAINTED)
        seen: dict[str, Any] = page.evaluate(_MEASURE)
        assert watched.problems == [], watched.problems
        return seen
