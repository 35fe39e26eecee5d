"""Debian's Chromium, driven by Playwright: what is wrong with a page, and a picture of it."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Page,
    Response,
    ViewportSize,
    sync_playwright,
)

from tests.support.source_tree import ROOT

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
    # Pages of one person share a process, and nothing is drawn by a process of its own.
    "--process-per-site",
    "--in-process-gpu",
]
_FIRST_SIZE: ViewportSize = {"width": 1280, "height": 720}
_TIMEOUT_MS = 120_000  # ends a test that failed
T = TypeVar("T")
# Boxes that hide what does not fit into them, other than texts for screen readers only and names
# that end in an ellipsis.
_CUT_OFF = """() => [...document.querySelectorAll("main *")].filter((box) => {
  const style = getComputedStyle(box);
  return style.overflowX === "hidden" && style.textOverflow !== "ellipsis"
    && !box.closest(".visually-hidden, thead")
    && box.clientWidth > 1 && box.scrollWidth > box.clientWidth;
}).map((box) => `${box.tagName} ${box.className}`)"""
View = tuple[int, Literal["light", "dark"]]  # a width in pixels, and a color scheme
VIEWS: tuple[View, ...] = ((1280, "light"), (1280, "dark"), (390, "light"), (390, "dark"))
# Both widths and both schemes, in half the views.
OPPOSITE: tuple[View, ...] = ((1280, "light"), (390, "dark"))


def installed() -> str | None:
    """Return the path of Chromium; None where the system has no package of it (Ubuntu)."""
    return shutil.which("chromium")


def picture_folder() -> Path:
    """Return the folder for pictures of pages; people look at them, and git ignores it."""
    folder = ROOT / "build" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@dataclass
class Watched:
    """A page of the browser, and what went wrong on it since it was opened."""

    page: Page
    problems: list[str] = field(default_factory=list)
    expected_status: int = 200

    def __post_init__(self) -> None:
        self.page.set_default_timeout(_TIMEOUT_MS)
        self.page.on("console", self._said)
        self.page.on("pageerror", self._failed)
        self.page.on("response", self._answered)

    def leave(self) -> None:
        """Hear no more of the page, which somebody else is going to use."""
        self.page.remove_listener("console", self._said)
        self.page.remove_listener("pageerror", self._failed)
        self.page.remove_listener("response", self._answered)

    def _failed(self, error: Error) -> None:
        self.problems.append(f"script: {error}")

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
    """Opens pages of the portal at ``url`` as people who log in with ``password``.

    Each person keeps one page, which goes from path to path: a new one takes new processes.
    """

    def __init__(self, browser: Browser, url: str, password: str) -> None:
        self._browser, self._url, self._password = browser, url, password
        self._pages: dict[str, Page] = {}

    @contextmanager
    def open(self, path: str, email: str | None, status: int) -> Iterator[Watched]:
        """Yield the page at ``path`` for a person, None for nobody.

        It, or the page that follows it, is expected to have ``status``.
        """
        if email is None:
            with self._browser.new_context(base_url=self._url) as context:
                watched = Watched(context.new_page(), expected_status=status)
                watched.page.goto(path)
                yield watched
            return
        if email not in self._pages:
            self._pages[email] = self._log_in(email)
        watched = Watched(self._pages[email], expected_status=status)
        try:
            watched.page.set_viewport_size(_FIRST_SIZE)
            watched.page.emulate_media(color_scheme="light", reduced_motion="no-preference")
            watched.page.goto(path)
            yield watched
        finally:
            watched.leave()
            watched.page.goto("about:blank")  # what it still asks for is nobody's

    @contextmanager
    def open_with_passkeys(self, path: str) -> Iterator[Watched]:
        """Yield the page at ``path`` on localhost, with a device that stores passkeys.

        Browsers allow passkeys on host names, not on 127.0.0.1.
        """
        url = self._url.replace("127.0.0.1", "localhost")
        with self._browser.new_context(base_url=url) as context:
            page = context.new_page()
            device = context.new_cdp_session(page)
            device.send("WebAuthn.enable")
            device.send(
                "WebAuthn.addVirtualAuthenticator",
                {
                    "options": {
                        "protocol": "ctap2",
                        "transport": "internal",
                        "hasResidentKey": True,
                        "hasUserVerification": True,
                        "isUserVerified": True,
                        "automaticPresenceSimulation": True,
                    }
                },
            )
            watched = Watched(page)
            page.goto(path)
            yield watched

    def _log_in(self, email: str) -> Page:
        page = self._browser.new_context(base_url=self._url).new_page()
        page.set_default_timeout(_TIMEOUT_MS)
        page.goto("/login")
        page.get_by_label("Email").fill(email)
        page.get_by_label("Password").fill(self._password)
        page.get_by_role("button", name="Log in", exact=True).click()
        # Tenants begin at a page below /t/, and staff at one below /staff/.
        page.wait_for_url(lambda url: not url.endswith("/login"))
        return page


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


def look(
    watched: Watched, name: str, pictures: Path | None, views: Sequence[View] = VIEWS
) -> list[str]:
    """Return what is wrong with the present page in each of the views.

    That is what axe finds, a page that scrolls sideways, what a box cuts off, and what the console
    said. With a folder ``pictures``, a picture of each view is ``<name>-<width>-<scheme>.png``.
    """
    page, found = watched.page, []
    for width, scheme in views:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        if pictures is not None:
            page.screenshot(path=pictures / f"{name}-{width}-{scheme}.png", full_page=True)
        view = f"{width} {scheme}"
        found += [f"{view}: {problem}" for problem in _axe(page)]
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > width:
            found.append(f"{view}: the page is {wide} pixels wide")
        found += [f"{view}: cut off: {what}" for what in page.evaluate(_CUT_OFF)]
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
