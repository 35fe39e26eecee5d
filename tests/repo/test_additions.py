"""CONTRIBUTING's lists "To add a ..." name files that exist, and every kind of thing has a list."""

import re

import pytest

from controlplane.core import address_types
from plans import invoice_formats
from plans.quotas import resources
from plans.usage import meters
from tests.repo import source_tree
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
    "Meter": 5,
    "Address type": 5,
    "Address setting": 7,
    "Condition reason": 4,
    "Instance kind": 7,
    "Endpoint kind": 3,
    "Invoice format": 2,
    "Quota": 3,
}


def files(kind: str) -> list[str]:
    return re.findall(r"`([\w/.-]+/[\w.-]+)`", LISTS[kind])


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
        ("Invoice format", list(invoice_formats.InvoiceFormat)),
        ("Quota", list(resources.Resource)),
        ("Endpoint kind", list(registry.REGISTRY)),
    ],
)
def test_what_is_there_already_stands_in_the_first_file_of_its_list(
    kind: str, slugs: list[str]
) -> None:
    text = (source_tree.ROOT / files(kind)[0]).read_text()

    assert [slug for slug in slugs if f'"{slug}"' not in text] == []
