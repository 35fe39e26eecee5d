"""The definitions are current, and have what the API has."""

import json
from typing import Any

import pytest
import yaml
from pydantic.alias_generators import to_camel

from controlplane.core.address_types import SETTINGS
from tests.support.source_tree import ROOT
from workers.custom_resources import definitions
from workers.custom_resources.kinds import ADDRESS, ADDRESS_SPACE, KINDS, ResourceKind

OPENAPI = json.loads((ROOT / "docs" / "openapi.json").read_text())
FOLDER = ROOT / "charts" / "waypost" / "files" / "resources"
EACH = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)


def schema_of(kind: ResourceKind) -> Any:
    found = definitions.build(kind, OPENAPI)
    return found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


@EACH
def test_the_chart_has_what_the_command_writes(kind: ResourceKind) -> None:
    written = (FOLDER / f"{kind.plural}.yaml").read_text()

    assert written == definitions.text(kind, OPENAPI), "run `make openapi`"
    assert yaml.safe_load(written) == definitions.build(kind, OPENAPI)


def test_the_chart_has_no_others() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {kind.plural for kind in KINDS}


@EACH
def test_every_field_of_the_api_is_a_field_of_the_resource(kind: ResourceKind) -> None:
    fields = OPENAPI["components"]["schemas"][kind.schema]["properties"].keys()

    spec = schema_of(kind)["properties"]["spec"]

    assert {to_camel(name) for name in fields - kind.without} <= spec["properties"].keys()
    assert "password" not in spec["properties"]


def test_an_address_has_every_setting_with_its_range() -> None:
    fields = schema_of(ADDRESS)["properties"]["spec"]["properties"]

    assert {to_camel(setting.name) for setting in SETTINGS} <= fields.keys()
    assert fields["maxDeliveryAttempts"]["type"] == "integer"
    assert fields["maxDeliveryAttempts"]["maximum"] == 2**31 - 1


def test_what_can_never_change_is_refused_by_the_cluster() -> None:
    rules = schema_of(ADDRESS)["properties"]["spec"]["x-kubernetes-validations"]

    named = {rule["message"].split()[0] for rule in rules}
    assert named == {"space", "address", "type", "plan", "topic", "lastValueKey"}


def test_deletion_keeps_messages_unless_asked() -> None:
    for kind in (ADDRESS_SPACE, ADDRESS):
        assert kind.deletions[0] == "Retain"
