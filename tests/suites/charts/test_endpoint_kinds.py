"""The chart and the documents offer the kinds of endpoints that the worker knows, no others."""

import json
import re

import pytest

from tests.support import source_tree
from tests.support.charts import rendered
from workers.infra.kubernetes.endpoints import registry

# Values with which every kind can be chosen.
GIVEN = {"domain": "s.example", "gateway": "a/b"}


def rows(document: str) -> list[str]:
    """Return the first column of the table of kinds."""
    text = (source_tree.ROOT / document).read_text()
    table = re.search(r"^\| Kind \|[^\n]*\n\|[^\n]*\n((?:\|[^\n]*\n)+)", text, re.M)
    assert table is not None
    return re.findall(r"^\| `(\w+)` \|", table[1], re.M)


def test_the_schema_lists_the_kinds() -> None:
    schema = json.loads((rendered.CHART / "values.schema.json").read_text())
    spaces = schema["properties"]["spaces"]["properties"]

    assert spaces["endpoint"]["properties"]["kind"]["enum"] == list(registry.REGISTRY)


@pytest.mark.parametrize("document", ["docs/operate/install.md", "docs/kubernetes.md"])
def test_the_documents_describe_the_kinds(document: str) -> None:
    assert rows(document) == list(registry.REGISTRY)


@pytest.mark.parametrize(
    ("kind", "missing"),
    [(name, value) for name, kind in registry.REGISTRY.items() for value in kind.needs],
)
def test_the_chart_refuses_a_kind_without_what_it_needs(kind: str, missing: str) -> None:
    given = {name: value for name, value in GIVEN.items() if name != missing}
    options = [f"spaces.endpoint.{name}={value}" for name, value in given.items()]
    chosen = ",".join([f"spaces.endpoint.kind={kind}", *options])

    ran = rendered.run(
        "template", "wp", str(rendered.CHART), "-f", str(rendered.TRIAL), "--set", chosen
    )

    assert ran.returncode != 0
    assert f"needs spaces.endpoint.{missing}" in ran.stderr
