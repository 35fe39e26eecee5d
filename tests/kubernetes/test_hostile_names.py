"""Hostile words in every field that a tenant writes: nothing but text reaches the cluster."""

import contextlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.db import DatabaseError, transaction
from django.db.models import QuerySet

from tenants.models import Address, AddressSpace, MessagingUser, Tenant
from tests.kubernetes.node import Node
from tests.kubernetes.test_rollouts import Site
from tests.reconcile import rows
from workers.infra import names
from workers.infra.kubernetes import labels, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster, Images
from workers.infra.kubernetes.resources import Manifest, Resource
from workers.reconcile.outcome import Done

pytestmark = pytest.mark.django_db

HOSTILE = [
    "../../../etc/passwd",
    "kube-system",
    "a\nb: c\n---\nkind: Pod",
    "{{ .Values.x }}${x}$(id)`id`",
    "\"'><!--]]>&amp;<script/>",
    "labels=!in(x),y",
    "é😀\u202e\u2028\ufeffx",
    "wp-*?#[]\\|;",
    "x" * 255,
]
IN_SPACE = {
    "RoleBinding", "NetworkPolicy", "ResourceQuota", "LimitRange", "ServiceAccount",
    "PodDisruptionBudget", "Secret", "ConfigMap", "Service", "StatefulSet",
}  # fmt: skip
LABEL = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?")


def everywhere(api: Api) -> set[tuple[str, str, str]]:
    """Return kind, namespace and name of all that the cluster holds of our kinds."""
    return {
        (each.kind, one["metadata"].get("namespace", ""), resources.name_of(one))
        for each in resources.APPLIED
        for one in api.list(each, None, {})
    }


def keep(rows: QuerySet[Any, Any], **fields: Any) -> None:
    """Write past the actions, if the database lets that be."""
    with contextlib.suppress(DatabaseError), transaction.atomic():
        rows.update(**fields)


@pytest.fixture
def site(api: Api, wanted_cluster: Cluster, fake_node: Node, tmp_path: Path) -> Site:
    images = Images(broker="localhost/broker:1")
    return Site(api, replace(wanted_cluster, images=images), tmp_path)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_words_make_one_ordinary_space(site: Site, api: Api, hostile: str) -> None:
    """Past the checks of the actions; what the database still refuses cannot be there."""
    before = everywhere(api)
    space = site.space
    rows.make_user(space, "alice", ("#", "send recv"))
    address = rows.make_address(space, "orders")
    keep(Tenant.objects.filter(pk=space.tenant_id), name=hostile[:200])
    keep(AddressSpace.objects.filter(pk=space.pk), name=hostile[:63])
    keep(Address.objects.filter(pk=address.pk), address=hostile)
    keep(MessagingUser.objects.filter(space=space), name=hostile[:63])
    allowed = [{"addresses": [hostile], "operations": ["send", "recv"]}]
    keep(MessagingUser.objects.filter(space=space), permissions=allowed)

    outcome = site.reconcile()

    assert isinstance(outcome, Done), site.space.conditions
    made = everywhere(api) - before
    (name,) = [each[2] for each in made if each[0] == "Namespace"]
    assert re.fullmatch(r"wp-[a-z0-9-]{1,60}", name)
    ours = {each for each in made if each[0] != "Namespace"}
    assert {each[1] for each in ours} == {name}
    assert {each[0] for each in ours} == IN_SPACE
    for each in (one for kind in resources.APPLIED for one in inside(api, kind, name)):
        assert all(LABEL.fullmatch(value) for value in each["metadata"]["labels"].values())
        each.pop("data", None)
        if names.slug(hostile) != hostile:  # else it may well be in the namespace's name
            assert quoted(hostile) not in json.dumps(each, ensure_ascii=False)
    files = api.find(resources.CONFIG_MAP, name, "broker-0-main") or {}
    assert ElementTree.fromstring(files["data"]["broker.xml"]).tag.endswith("configuration")


def inside(api: Api, resource: Resource, namespace: str) -> Sequence[Manifest]:
    """Return the objects of ours of a kind."""
    return api.list(resource, namespace, labels.OURS) if resource.namespaced else []


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
