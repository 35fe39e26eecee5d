"""Names of instances: one name for each instance, and nothing else is taken for one."""

import pytest

from controlplane.core.instance_names import InstanceId, Kind
from workers.instances import SecretName


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("ordinal", [0, 1, 10])
def test_a_name_is_read_as_the_instance_it_was_made_from(kind: Kind, ordinal: int) -> None:
    one = InstanceId(kind, ordinal)

    assert InstanceId.parse(one.name) == one


def test_names_are_those_that_are_persisted() -> None:
    assert InstanceId(Kind.BROKER, 0).name == "broker-0"
    assert InstanceId(Kind.ROUTER, 12).name == "router-12"
    assert SecretName.server("router-0") == "server/router-0"


@pytest.mark.parametrize(
    "name",
    ["broker", "broker-", "broker-x", "broker-01", "broker-0-0", "gateway-0", "", "broker-0\n"],
)
def test_other_names_are_no_instances(name: str) -> None:
    assert InstanceId.find(name) is None
    with pytest.raises(ValueError, match="not the name of an instance"):
        InstanceId.parse(name)


def test_instances_are_ordered_by_ordinal_and_not_by_text() -> None:
    names = ["router-10", "broker-3", "router-2"]

    assert [one.name for one in sorted(map(InstanceId.parse, names))] == [
        "broker-3",
        "router-2",
        "router-10",
    ]


@pytest.mark.parametrize(
    ("secret", "instance"),
    [
        ("server/broker-1", InstanceId(Kind.BROKER, 1)),
        ("server/other", None),
        ("client/control", None),
        ("broker-1", None),
    ],
)
def test_a_server_certificate_names_its_instance(secret: str, instance: InstanceId | None) -> None:
    assert SecretName.instance_of(secret) == instance
