"""CONTRIBUTING's lists "To add a ..." name files that exist, and every kind of thing has a list."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from controlplane.core import address_types
from controlplane.core.instance_names import Kind
from controlplane.core.reasons import Reason
from plans import export_kinds, invoice_formats
from plans.quotas import resources
from plans.usage import meters
from tenants.notifications import chat_services, event_kinds
from tests.support import source_tree
from workers.infra.kubernetes.endpoints import registry

TEXT = (source_tree.ROOT / "CONTRIBUTING.md").read_text()
LISTS = dict(
    re.findall(
        r"^### ([^\n]+)\n(.*?)(?=^#)",
        TEXT[TEXT.index("## To add a") : TEXT.index("## House rules") + 1],
        re.M | re.S,
    )
)
# Kind of thing -> the most files that one more of it may touch.
MOST = {
    "Meter": 23,  # ten of a plain counter; the rest of a topic's, a computed or a second maximum
    "Address type": 29,  # nine of one like a queue; the rest of a topic or a new form
    "Address setting": 3,
    "Condition reason": 2,
    "Event kind": 4,
    "Chat service": 2,
    "Instance kind": 95,  # in four lists; also drives a new engine, and opens it to clients
    "Listener": 15,
    "Endpoint kind": 16,  # seven of them are pages and files of the chart
    "Invoice format": 10,  # four of them are pages
    "Export": 4,
    "Payment provider": 10,  # four of them are files of the chart
    "Quota": 8,
    "Action at a quota": 9,
    "Value in broker.xml": 12,
    "REST field": 21,  # three also for the organization as a file, one for custom resources
    "Kind of custom resource": 5,
    "Error code": 2,
    "Dependency": 3,
    "Extra": 1,
}


# Kind of thing -> the names that API, command and portal must take from its registry.
REGISTRIES: dict[str, set[str]] = {
    "address type": set(address_types.BY_SLUG),
    "address setting": set(address_types.SETTING),
    "space type": set(address_types.SPACE_TYPES),
    "meter": set(meters.BY_SLUG),
    "invoice format": set(invoice_formats.InvoiceFormat),
    "quota": set(resources.Resource),
    "export": set(export_kinds.ExportKind),
    "event kind": set(event_kinds.BY_KEY),
    "chat service": set(chat_services.BY_SCHEMA),
}
SURFACES = ("controlplane/api/", "controlplane/console/", "controlplane/cli/")


def lists_by_hand(items: list[str]) -> list[str]:
    """Return the kinds of which ``items`` has at least two names, in the plural or not."""
    words = {*items, *(item.removesuffix("s") for item in items)}
    return [kind for kind, names in REGISTRIES.items() if len(names & words) > 1]


def items_of(text: str) -> list[str]:
    """Return what a text lists: ``queue, topic or anycast.`` -> queue, topic, anycast."""
    return [item.strip() for item in re.split(r"[,.:;<>]|\bor\b|\band\b", text)]


def literals(path: Path) -> Iterator[list[str]]:
    """Yield the items of each string and of each display of strings; no docstrings."""
    tree = ast.parse(path.read_text())
    documentation = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in documentation:
                yield items_of(node.value)
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            # A table in place of a dictionary has the names first in its rows.
            rows = [row.elts[0] if isinstance(row, ast.Tuple) else row for row in node.elts]
            yield [str(row.value) for row in rows if isinstance(row, ast.Constant)]
        elif isinstance(node, ast.Dict):
            yield [str(key.value) for key in node.keys if isinstance(key, ast.Constant)]


def test_no_surface_lists_the_names_of_a_registry_by_hand() -> None:
    paths = [*source_tree.list_modules(), *source_tree.list_files(".html")]
    found = [
        (path.name, kind, items)
        for path in paths
        if str(path.relative_to(source_tree.ROOT)).startswith(SURFACES)
        for items in (
            literals(path) if path.suffix == ".py" else map(items_of, path.read_text().splitlines())
        )
        for kind in lists_by_hand(items)
    ]

    assert found == []


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ('HELP = "queue, topic or anycast."', ["address type"]),
        ('NAMES = ("pdf", "csv")', ["invoice format"]),
        ('NAMES = {"messages_in": 1, "messages_out": 2}', ["meter"]),
        ('NAMES = (("standard", 1), ("brokered", 2))', ["space type"]),
        ('NAMES = ("pdf", "queue")', []),
    ],
)
def test_a_list_by_hand_is_found(tmp_path: Path, source: str, kinds: list[str]) -> None:
    module = tmp_path / "module.py"
    module.write_text(source)

    assert [kind for items in literals(module) for kind in lists_by_hand(items)] == kinds


def files(kind: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"`([\w/.-]+/[\w.-]*)`", LISTS[kind])))


def test_every_kind_of_thing_has_a_list() -> None:
    assert LISTS.keys() == MOST.keys()


@pytest.mark.parametrize("kind", MOST)
def test_a_list_names_few_files_and_they_exist(kind: str) -> None:
    assert files(kind)
    assert len(files(kind)) <= MOST[kind]
    assert [name for name in files(kind) if not (source_tree.ROOT / name).exists()] == []


@pytest.mark.parametrize(
    ("kind", "slugs"),
    [
        ("Meter", [meter.slug for meter in meters.REGISTRY]),
        ("Address type", list(address_types.BY_SLUG)),
        ("Address setting", [setting.name for setting in address_types.SETTINGS]),
        ("Instance kind", list(Kind)),
        ("Invoice format", list(invoice_formats.InvoiceFormat)),
        ("Export", list(export_kinds.ExportKind)),
        ("Quota", list(resources.Resource)),
        ("Condition reason", list(Reason)),
        ("Event kind", list(event_kinds.BY_KEY)),
        ("Chat service", list(chat_services.BY_SCHEMA)),
        ("Endpoint kind", list(registry.REGISTRY)),
    ],
)
def test_what_is_there_already_stands_in_the_first_file_of_its_list(
    kind: str, slugs: list[str]
) -> None:
    # The registry of events takes those of billing from a module of its own.
    homes = files(kind)[: 2 if kind == "Event kind" else 1]
    text = "".join((source_tree.ROOT / home).read_text() for home in homes)

    # A setting is a field of a dataclass, everything else a quoted value.
    assert [slug for slug in slugs if not re.search(rf'"{slug}"|^    {slug}: ', text, re.M)] == []
