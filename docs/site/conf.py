"""How Sphinx renders the pages of docs/ as the docs site. `make docs` runs it.

The pages stay plain Markdown below docs/: this folder holds only what the site adds to them.
"""

from pathlib import Path

from sphinx.application import Sphinx

_DOCS = Path(__file__).resolve().parents[1]

project = "Waypost"
author = "Waypost contributors"
html_title = "Waypost"
language = "en"

extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["site", "examples"]
# Anchors of headings as code hosts make them, so that a link works in both readings of a page.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
# A page that another one includes as a whole starts at the level of its own title.
suppress_warnings = ["myst.header"]
# Code blocks without a language are output and configuration, not Python.
highlight_language = "text"

html_theme = "furo"
html_logo = html_favicon = str(_DOCS.parent / "controlplane/console/static/console/waypost.svg")
templates_path = ["templates"]
html_static_path = ["static"]
html_theme_options = {"sidebar_hide_name": False}
html_show_sphinx = False
html_show_copyright = False
# The sources are in the repository; the site shows pages only.
html_copy_source = False
# No index of terms: the site has a search and a glossary.
html_use_index = False
html_css_files = ["waypost.css"]

# What the theme lacks for readers who use a keyboard or a screen reader. Browser tests check it.
_REPAIRS = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Site">',
    '<aside class="toc-drawer': '<aside aria-label="This page" class="toc-drawer',
    # What may scroll sideways can be focused, and so scrolled by the keyboard.
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper ': '<div tabindex="0" class="table-wrapper ',
    '<div id="search-results">': '<h1>Search</h1><div id="search-results">',
}


def _repair(app: Sphinx, error: Exception | None) -> None:
    """Apply the repairs to all pages. A page that has them already has nothing to replace."""
    for page in [] if error else Path(app.outdir).rglob("*.html"):
        text = whole = page.read_text()
        for lacking, repaired in _REPAIRS.items():
            if repaired not in text:
                text = text.replace(lacking, repaired)
        if text != whole:
            page.write_text(text)


def setup(app: Sphinx) -> None:
    app.connect("build-finished", _repair)
