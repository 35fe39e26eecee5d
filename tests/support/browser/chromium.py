"""Debian's Chromium, driven by Playwright: what is wrong with a page, and a picture of it."""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Page,
    Response,
    StorageState,
    sync_playwright,
)

# The browser has no work of its own to do on the network, nor a sandbox where root runs the tests.
_FLAGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-extensions",
    "--no-first-run",
    "--no-pings",
    "--force-color-profile=srgb",
]
_TIMEOUT_MS = 20_000  # ends a test that failed
T = TypeVar("T")
# Boxes that hide what does not fit into them, other than texts for screen readers only and names
# that end in an ellipsis.
_CUT_OFF = """() => [...document.querySelectorAll("main *")].filter((box) => {
  const style = getComputedStyle(box);
  return style.overflowX === "hidden" && style.textOverflow !== "ellipsis"
    && !box.closest(".visually-hidden, thead")
    && box.clientWidth > 1 && box.scrollWidth > box.clientWidth;
}).map((box) => `${box.tagName} ${box.className}`)"""
WIDTHS = (1280, 390)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def installed() -> str | None:
    """Return the path of Chromium; None where the system has no package of it (Ubuntu)."""
    return shutil.which("chromium")


@dataclass
class Watched:
    """A page of the browser, and what went wrong on it since it was opened."""

    page: Page
    problems: list[str] = field(default_factory=list)
    expected_status: int = 200

    def __post_init__(self) -> None:
        self.page.set_default_timeout(_TIMEOUT_MS)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.problems.append(f"script: {error}"))
        self.page.on("response", self._answered)

    def _said(self, message: ConsoleMessage) -> None:
        # ``_answered`` names the address of a resource that failed; the console only repeats it.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.problems.append(f"console: {message.text}")

    def _answered(self, response: Response) -> None:
        is_page = response.url == self.page.url or response.request.is_navigation_request()
        expected = self.expected_status if is_page else 200
        if response.status >= 400 and response.status != expected:
            self.problems.append(f"{response.status} of {response.url}")


class Visitor:
    """Opens pages of the portal at ``url`` as people who log in with ``password``."""

    def __init__(self, browser: Browser, url: str, password: str) -> None:
        self._browser, self._url, self._password = browser, url, password
        self._sessions: dict[str, StorageState] = {}

    @contextmanager
    def open(self, path: str, email: str | None, status: int) -> Iterator[Watched]:
        """Yield the page at ``path`` for a person, None for nobody.

        It, or the page that follows it, is expected to have ``status``.
        """
        if email is not None and email not in self._sessions:
            self._sessions[email] = self._log_in(email)
        state = self._sessions[email] if email else None
        with self._browser.new_context(base_url=self._url, storage_state=state) as context:
            watched = Watched(context.new_page(), expected_status=status)
            watched.page.goto(path)
            yield watched

    def _log_in(self, email: str) -> StorageState:
        with self._browser.new_context(base_url=self._url) as context:
            page = context.new_page()
            page.set_default_timeout(_TIMEOUT_MS)
            page.goto("/login")
            page.get_by_label("Email").fill(email)
            page.get_by_label("Password").fill(self._password)
            page.get_by_role("button", name="Log in").click()
            # To a tenant's pages, or to those of the operator.
            page.wait_for_url(lambda url: "/login" not in url)
            return context.storage_state()


class Chromium:
    """A browser without a window, in a thread of its own.

    Playwright leaves an event loop in its thread, and Django refuses queries in such a thread.
    """

    def __init__(self, thread: ThreadPoolExecutor, visitor: Visitor) -> None:
        self._thread, self._visitor = thread, visitor

    def run(self, visit: Callable[[Visitor], T]) -> T:
        """Return what ``visit`` returns in the browser's thread."""
        return self._thread.submit(visit, self._visitor).result()


@contextmanager
def started(url: str, password: str) -> Iterator[Chromium]:
    """Yield a browser for the portal at ``url``."""
    with ThreadPoolExecutor(1) as thread:
        playwright = thread.submit(sync_playwright().start).result()
        try:
            browser = thread.submit(
                playwright.chromium.launch, executable_path=installed(), args=_FLAGS
            ).result()
            yield Chromium(thread, Visitor(browser, url, password))
            thread.submit(browser.close).result()
        finally:
            thread.submit(playwright.stop).result()


def look(watched: Watched, name: str, pictures: Path) -> list[str]:
    """Return what is wrong with the present page in each width and color scheme.

    That is what axe finds, a page that scrolls sideways, what a box cuts off, and what the console
    said. A picture of each view is written to ``<pictures>/<name>-<width>-<scheme>.png``.
    """
    page, found = watched.page, []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            view = f"{width} {scheme}"
            page.screenshot(path=pictures / f"{name}-{width}-{scheme}.png", full_page=True)
            found += [f"{view}: {problem}" for problem in _axe(page)]
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > width:
            found.append(f"{width}: the page is {wide} pixels wide")
        found += [f"{width}: cut off: {what}" for what in page.evaluate(_CUT_OFF)]
    return [*found, *watched.problems]


def _axe(page: Page) -> list[str]:
    # Every rule that axe applies by default, best practices too.
    results = Axe().run(page, options={"resultTypes": ["violations"]})
    violations: list[dict[str, Any]] = results.response["violations"]
    return [
        f"axe {violation['id']}: {node['target']}"
        for violation in violations
        for node in violation["nodes"]
    ]
