"""Paths and bodies of requests."""

import pytest

from controlplane.core.errors import Invalid
from tests.support.custom_resources.fakes import resource
from workers.custom_resources import requests
from workers.custom_resources.kinds import ADDRESS, ADDRESS_SPACE, MESSAGING_USER
from workers.custom_resources.resource import Resource


def test_a_space_has_the_name_of_its_resource_or_its_own() -> None:
    assert requests.object_path(resource(ADDRESS_SPACE)) == "/address-spaces/orders"
    assert requests.creation(resource(ADDRESS_SPACE, name="x", deadLetters=False, adopt=True)) == {
        "name": "x",
        "dead_letters": False,
    }


def test_the_keys_of_labels_are_those_of_the_resource() -> None:
    labels = {"cost-center": "7", "team.name": "shop"}
    spec = {"type": "brokered", "plan": "small", "deletionPolicy": "Delete", "labels": labels}
    metadata = {"namespace": "shop", "name": "orders", "uid": "u"}

    found = Resource.of(ADDRESS_SPACE, {"metadata": metadata, "spec": spec})

    assert requests.state(found)["labels"] == labels
    assert found.spec["deletion_policy"] == "Delete"


def test_an_address_is_named_by_its_address() -> None:
    jobs = resource(ADDRESS, space="orders", address="a/b", maxBytes=5, deletionPolicy="Delete")

    assert requests.object_path(jobs) == "/address-spaces/orders/addresses/a%2Fb"
    assert requests.state(jobs) == {"max_bytes": 5}
    assert requests.creation(jobs) == {"address": "a/b", "max_bytes": 5}


def test_a_user_has_a_password_that_no_resource_says() -> None:
    app = resource(MESSAGING_USER, space="orders", secretName="s", permissions=[])

    assert requests.creation(app, password="p") == {
        "name": "orders",
        "permissions": [],
        "password": "p",
    }


@pytest.mark.parametrize("space", ["../tokens", "a/b", ".."])
def test_a_name_leads_nowhere_else(space: str) -> None:
    with pytest.raises(Invalid):
        requests.object_path(resource(ADDRESS, space=space, address="a"))


def test_a_key_is_of_the_resource_and_of_the_object_before() -> None:
    keys = {
        requests.creation_key(resource(ADDRESS_SPACE)),
        requests.creation_key(resource(ADDRESS_SPACE, {"id": "spc_1"})),
    }

    assert keys == {"uid-1.first", "uid-1.spc_1"}
