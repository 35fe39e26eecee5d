"""The docs site: it builds without a warning, and every link and anchor in it exists."""

from pathlib import Path

import pytest

from controlplane.console import help_pages
from tests.support import docs_site, source_tree
from tests.support.docs_site import Page

DOCS = source_tree.ROOT / "docs"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built from the pages as they are."""
    built = tmp_path_factory.mktemp("docs") / "site"
    assert docs_site.build(built) == ""
    return built


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    return docs_site.read(site)


def test_every_page_of_docs_is_in_the_site(pages: dict[str, Page]) -> None:
    sources = [
        path.relative_to(DOCS).with_suffix(".html").as_posix()
        for path in source_tree.list_files(".md")
        if path.is_relative_to(DOCS)
    ]

    assert len(sources) > 60
    assert [name for name in sources if name not in pages] == []


def test_every_page_can_be_reached_from_the_first_one(pages: dict[str, Page]) -> None:
    linked = set(pages["index.html"].links)

    unlinked = [
        name
        for name in pages
        if name not in linked and not name.startswith("adr/0") and name != "index.html"
    ]

    assert unlinked == []


def test_every_link_and_anchor_inside_the_site_exists(site: Path, pages: dict[str, Page]) -> None:
    assert sum(len(page.links) for page in pages.values()) > 1000
    assert list(docs_site.list_broken(site, pages)) == []


def test_the_site_loads_nothing_from_elsewhere_and_runs_nothing_inline(
    pages: dict[str, Page],
) -> None:
    foreign = [
        f"{name}: {link}"
        for name, page in pages.items()
        for link in page.loaded
        if "//" in link.removeprefix("data:")
    ]

    assert foreign == []
    assert {name: page.n_inline for name, page in pages.items() if page.n_inline} == {}


def test_what_the_portal_links_to_exists(pages: dict[str, Page]) -> None:
    linked = {page.url.removeprefix("/docs/") for page in help_pages.BY_ROUTE.values()}

    missing = [
        url
        for url in sorted({*linked, help_pages.START.url.removeprefix("/docs/")})
        for name, _, anchor in [url.partition("#")]
        if name not in pages or anchor not in {*pages[name].anchors, ""}
    ]

    assert missing == []


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("two.html", "one.html: two.html does not exist"),
        ("one.html#there", "one.html: one.html#there names no anchor of one.html"),
        ("#there", "one.html: #there names no anchor of one.html"),
        ("one.html#here", ""),
        ("#here", ""),
    ],
)
def test_a_broken_link_is_found(tmp_path: Path, link: str, problem: str) -> None:
    (tmp_path / "one.html").write_text(f'<h1 id="here">One</h1><a href="{link}">two</a>')

    found = list(docs_site.list_broken(tmp_path, docs_site.read(tmp_path)))

    assert found == ([problem] if problem else [])
