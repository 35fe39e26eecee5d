"""Builds the docs site, and reads the links of its pages. Called by the tests of the repository."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.support.source_tree import ROOT

# Attributes whose value a browser loads or opens.
_LINKS = ("href", "src", "action")


@dataclass
class Page:
    """What a page links to, the anchors that it has, and what it brings inline.

    ``loaded`` are the links that a browser loads by itself; ``n_inline`` counts inline scripts.
    """

    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    n_inline: int = 0


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.page.anchors |= {values[name] for name in ("id", "name") if name in values}
        found = [values[name] for name in _LINKS if name in values]
        self.page.links += found
        if tag != "a":
            self.page.loaded += found
        if tag == "script" and "src" not in values:
            self.page.n_inline += 1
        self.page.n_inline += len([name for name in values if name.startswith("on")])


def build(target: Path) -> str:
    """Build the site into ``target`` as `make docs` does; return what Sphinx complained about."""
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs/site"),
            *("-d", f"{target}-doctrees", "docs", str(target)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stderr if ran.returncode else ""


def read(site: Path) -> dict[str, Page]:
    """Return all pages of a built site, by their path in it."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        reader = _Reader()
        reader.feed(path.read_text())
        pages[str(path.relative_to(site))] = reader.page
    return pages


def list_broken(site: Path, pages: dict[str, Page]) -> Iterator[str]:
    """Yield each link inside the site that leads to no file, or to no anchor of its page."""
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (site / name).parent / unquote(parts.path) if parts.path else site / name
            known = str(target.resolve().relative_to(site.resolve()))
            if not target.is_file():
                yield f"{name}: {link} does not exist"
            elif known in pages and unquote(parts.fragment) not in {*pages[known].anchors, ""}:
                yield f"{name}: {link} names no anchor of {known}"
