"""Hostile words in every field that a tenant writes: nothing but text reaches the cluster."""

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.db import DatabaseError, transaction
from django.db.models import QuerySet

from tenants.actions.addresses import AddressSettings
from tenants.models import Address, AddressSpace, MessagingUser, Tenant
from tests.kubernetes import look
from tests.kubernetes.look import Document
from tests.kubernetes.node import Node
from tests.kubernetes.test_rollouts import Site, resize
from tests.reconcile import rows
from tests.waiting import eventually
from workers.infra import names
from workers.infra.kubernetes import labels, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster, Images
from workers.infra.kubernetes.resources import Resource
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
# Those that the database lets an address have, and what else a template might take for its own.
ADDRESSES = [
    "../../../etc/passwd",
    "kube-system",
    "{{.Values.x}}$(id)`id`",
    "\"'><!--]]>&amp;<script/>",
    "</address></addresses></core>",
    '"}],["listener",{"port":"1","host":"0"',
    "labels=!in(x),y",
    "é😀\u202e\ufeffx",
    "wp-?[]\\|;",
    "BOOT-PLACE",
    "x" * 240,
]
# A broker would replace this by a property of its process.
REFUSED = "{{.Values.x}}${user.home}"
CORE = "{urn:activemq:core}"
IN_SPACE = {
    "RoleBinding", "NetworkPolicy", "ResourceQuota", "LimitRange", "ServiceAccount",
    "PodDisruptionBudget", "Secret", "ConfigMap", "Service", "StatefulSet",
}  # fmt: skip
LABEL = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?")


def everywhere(api: Api) -> set[tuple[str, str, str]]:
    """Return kind, namespace and name of all that the cluster holds of our kinds."""
    return {
        (each.kind, one["metadata"].get("namespace", ""), look.name_of(one))
        for each in look.APPLIED
        for one in look.listed(api, each, None, {})
    }


def is_at_rest(api: Api) -> bool:
    """Return whether the cluster has put into each namespace what it puts into every one."""
    living = {
        look.name_of(each)
        for each in look.listed(api, resources.NAMESPACE, None, {})
        if "deletionTimestamp" not in each["metadata"]
    }
    own = {("ServiceAccount", each, "default") for each in living}
    own |= {("ConfigMap", each, "kube-root-ca.crt") for each in living}
    return own <= everywhere(api)


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
    eventually(lambda: is_at_rest(api))
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

    outcome = site.settle()

    assert isinstance(outcome, Done), site.space.conditions
    made = everywhere(api) - before
    (name,) = [each[2] for each in made if each[0] == "Namespace"]
    assert re.fullmatch(r"wp-[a-z0-9-]{1,60}", name)
    ours = {each for each in made if each[0] != "Namespace"}
    assert {each[1] for each in ours} == {name}
    assert {each[0] for each in ours} == IN_SPACE
    for each in (one for kind in look.APPLIED for one in inside(api, kind, name)):
        assert all(LABEL.fullmatch(value) for value in each["metadata"]["labels"].values())
        each.pop("data", None)
        if names.slug(hostile) != hostile:  # else it may well be in the namespace's name
            assert quoted(hostile) not in json.dumps(each, ensure_ascii=False)
    files = look.find(api, resources.CONFIG_MAP, name, "broker-0-main") or {}
    assert ElementTree.fromstring(files["data"]["broker.xml"]).tag.endswith("configuration")


def hostile_rows(space: AddressSpace) -> Mapping[str, list[str]]:
    """Write every hostile word wherever a tenant may; return the addresses' names by type."""
    types = ["queue", "topic", *(["anycast", "multicast"] if space.type == "standard" else [])]
    named: dict[str, list[str]] = {each: [] for each in [*types, "subscription", "dead"]}
    for index, word in enumerate([*ADDRESSES, REFUSED]):
        made = {each: rows.make_address(space, f"{each}{index}", each) for each in types}
        made["dead"] = rows.make_address(space, f"dead{index}")
        topic = AddressSettings(topic=f"topic{index}")
        made["subscription"] = rows.make_address(space, f"sub{index}", "subscription", topic)
        for each, row in made.items():
            row.address = f"{word}-{each}"
            row.dead_letter = f"{word}-dead" if each == "queue" else ""
            row.save()
            if word != REFUSED:
                named[each].append(row.address)
    pattern = {"addresses": ADDRESSES, "operations": ["send", "recv", *ADDRESSES]}
    MessagingUser.objects.filter(pk=rows.make_user(space, "alice").pk).update(permissions=[pattern])
    AddressSpace.objects.filter(pk=space.pk).update(name=ADDRESSES[3])
    text = " ".join(HOSTILE)[:200]
    Tenant.objects.filter(pk=space.tenant_id).update(
        name=text, billing_name=text, billing_address=text, tax_id=text[:60]
    )
    return named


@pytest.mark.parametrize("kind", ["brokered", "standard"])
def test_hostile_words_are_plain_data_in_what_engines_read(
    api: Api, wanted_cluster: Cluster, fake_node: Node, tmp_path: Path, kind: str
) -> None:
    space = rows.make_space(rows.make_tenant(), kind=kind)
    resize(space, f"{kind}-medium")  # room for so many addresses
    space.refresh_from_db()
    named = hostile_rows(space)
    site = Site(api, wanted_cluster, tmp_path, space)

    outcome = site.reconcile(60)

    assert isinstance(outcome, Done), space.conditions
    refused = space.addresses.exclude(phase="Active")
    assert {each.address.removesuffix(f"-{each.type}") for each in refused} <= {
        REFUSED,
        f"{REFUSED}-dead",
    }
    files: dict[str, str] = {}
    for each in (one for of in look.APPLIED for one in inside(api, of, site.namespace)):
        held = each.pop("data", {})
        assert all(re.fullmatch(r"[a-z0-9.-]+", key) for key in held)
        files |= held if each["kind"] == "ConfigMap" else {}
        assert not any(quoted(word) in json.dumps(each, ensure_ascii=False) for word in TELLING)
    check_broker(files["broker.xml"], named, public=kind == "brokered")
    if kind == "standard":
        check_router(json.loads(files["router.json"]), named)


# Those that no name of ours can be made of.
TELLING = [word for word in ADDRESSES if names.slug(word) != word]


def check_broker(text: str, named: Mapping[str, list[str]], *, public: bool) -> None:
    """Assert that the file says every name where it belongs, once, and nothing that they say."""
    root = ElementTree.fromstring(text)
    (core,) = root
    queues = named["queue"] + named["dead"]
    addresses = sorted(queues + named["topic"])

    def of_tenant(path: str, attribute: str) -> list[str]:
        found = [each.attrib[attribute] for each in core.iterfind(path.replace("/", f"/{CORE}"))]
        return sorted(each for each in found if not each.startswith(("$", "activemq.", "#")))

    assert of_tenant("./addresses/address", "name") == addresses
    assert of_tenant("./addresses/address/anycast/queue", "name") == sorted(queues)
    assert of_tenant("./addresses/address/multicast/queue", "name") == sorted(named["subscription"])
    assert of_tenant("./address-settings/address-setting", "match") == addresses
    secured = of_tenant("./security-settings/security-setting", "match")
    # Routers may create queues on topics only.
    assert secured == (addresses if public else sorted(named["topic"]))
    dead = [each.text for each in root.iter(f"{CORE}dead-letter-address")]
    assert sorted(map(str, dead)) == sorted(named["dead"])
    roles = {each.attrib["roles"] for each in root.iter(f"{CORE}permission")}
    assert set(",".join(roles).split(",")) <= {"waypost-internal", "waypost-router", "user-alice"}
    assert text.count("${") == 1  # the name of its life, which is ours


def check_router(
    entities: list[tuple[str, dict[str, Any]]], named: Mapping[str, list[str]]
) -> None:
    """Assert that the file's entities are ours, for every name those of its type, and no more."""
    read = [f"{t}::{s}" for t, s in zip(named["topic"], named["subscription"], strict=True)]
    queues, direct = named["queue"] + named["dead"], named["anycast"] + named["multicast"]
    expected = [
        *(("address", each) for each in (*queues, *read, *direct)),
        *(("autoLink", each) for each in (*queues, *queues, *read, *direct)),
        *(("linkRoute", each) for each in named["topic"] * 2),
    ]
    fields = {"address": ["pattern"], "autoLink": ["address"], "linkRoute": ["prefix", "pattern"]}
    found = [
        (kind, next(says[each] for each in fields[kind] if each in says))
        for kind, says in entities
        if kind in fields
    ]

    tenants = [each for each in found if not each[1].startswith("$waypost.probe.")]
    assert sorted(tenants) == sorted(expected)
    others = json.dumps([each for each in entities if each[0] not in fields], ensure_ascii=False)
    assert not any(quoted(word) in others for word in TELLING)
    assert {kind for kind, _ in entities} - fields.keys() == {
        "router", "sslProfile", "authServicePlugin", "listener", "policy", "vhost", "connector",
    }  # fmt: skip


def inside(api: Api, resource: Resource, namespace: str) -> Sequence[Document]:
    """Return the objects of ours of a kind."""
    return look.listed(api, resource, namespace, labels.OURS) if resource.namespaced else []


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
