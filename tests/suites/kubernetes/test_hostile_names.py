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

from controlplane.core.address_types import AddressSettings
from tenants.models import Address, AddressSpace, MessagingUser, Tenant
from tests.suites.kubernetes.test_rollouts import Site, resize
from tests.support.kubernetes import look
from tests.support.kubernetes.look import Document
from tests.support.kubernetes.node import Node
from tests.support.reconcile import rows
from tests.support.waiting import eventually
from workers.infra import names
from workers.infra.kubernetes import labels, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster, Images
from workers.infra.kubernetes.reported import Reported
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
# A path, a document of YAML and markup; the drills make a space of each.
_ALWAYS = (0, 2, 4)
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
        (resource.kind, one["metadata"].get("namespace", ""), look.name_of(one))
        for resource in look.APPLIED
        for one in look.listed(api, resource, None, {})
    }


def is_at_rest(api: Api) -> bool:
    """Return whether the cluster has put into each namespace what it puts into every one."""
    living = {
        look.name_of(namespace)
        for namespace in look.listed(api, resources.NAMESPACE, None, {})
        if "deletionTimestamp" not in namespace["metadata"]
    }
    own = {("ServiceAccount", namespace, "default") for namespace in living}
    own |= {("ConfigMap", namespace, "kube-root-ca.crt") for namespace in living}
    return own <= everywhere(api)


def keep(rows: QuerySet[Any, Any], **fields: Any) -> None:
    """Write past the actions, if the database lets that be."""
    with contextlib.suppress(DatabaseError), transaction.atomic():
        rows.update(**fields)


@pytest.fixture
def site(api: Api, wanted_cluster: Cluster, fake_node: Node, tmp_path: Path) -> Site:
    images = Images(broker="localhost/broker:1")
    return Site(api, replace(wanted_cluster, images=images), tmp_path)


@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param(words, marks=() if number in _ALWAYS else pytest.mark.drill)
        for number, words in enumerate(HOSTILE)
    ],
)
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
    (name,) = [object_[2] for object_ in made if object_[0] == "Namespace"]
    assert re.fullmatch(r"wp-[a-z0-9-]{1,60}", name)
    ours = {object_ for object_ in made if object_[0] != "Namespace"}
    assert {object_[1] for object_ in ours} == {name}
    assert {object_[0] for object_ in ours} == IN_SPACE
    for object_ in (one for kind in look.APPLIED for one in inside(api, kind, name)):
        assert all(LABEL.fullmatch(value) for value in object_["metadata"]["labels"].values())
        object_.pop("data", None)
        if names.slug(hostile) != hostile:  # else it may well be in the namespace's name
            assert quoted(hostile) not in json.dumps(object_, ensure_ascii=False)
    files = look.find(api, resources.CONFIG_MAP, name, "broker-0-main") or {}
    assert ElementTree.fromstring(files["data"]["broker.xml"]).tag.endswith("configuration")


def hostile_rows(space: AddressSpace) -> Mapping[str, list[str]]:
    """Write every hostile word wherever a tenant may; return the addresses' names by type."""
    types = ["queue", "topic", *(["anycast", "multicast"] if space.type == "standard" else [])]
    named: dict[str, list[str]] = {type_: [] for type_ in [*types, "subscription", "dead"]}
    for index, word in enumerate([*ADDRESSES, REFUSED]):
        made = {type_: rows.make_address(space, f"{type_}{index}", type_) for type_ in types}
        made["dead"] = rows.make_address(space, f"dead{index}")
        topic = AddressSettings(topic=f"topic{index}")
        made["subscription"] = rows.make_address(space, f"sub{index}", "subscription", topic)
        for key, row in made.items():
            row.address = f"{word}-{key}"
            row.dead_letter = f"{word}-dead" if key == "queue" else ""
            row.save()
            if word != REFUSED:
                named[key].append(row.address)
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
    assert {name.address.removesuffix(f"-{name.type}") for name in refused} <= {
        REFUSED,
        f"{REFUSED}-dead",
    }
    files: dict[str, str] = {}
    for object_ in (one for of in look.APPLIED for one in inside(api, of, site.namespace)):
        held = object_.pop("data", {})
        assert all(re.fullmatch(r"[a-z0-9.-]+", key) for key in held)
        files |= held if object_["kind"] == "ConfigMap" else {}
        assert not any(quoted(word) in json.dumps(object_, ensure_ascii=False) for word in TELLING)
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
        found = [
            element.attrib[attribute] for element in core.iterfind(path.replace("/", f"/{CORE}"))
        ]
        return sorted(name for name in found if not name.startswith(("$", "activemq.", "#")))

    assert of_tenant("./addresses/address", "name") == addresses
    assert of_tenant("./addresses/address/anycast/queue", "name") == sorted(queues)
    assert of_tenant("./addresses/address/multicast/queue", "name") == sorted(named["subscription"])
    assert of_tenant("./address-settings/address-setting", "match") == addresses
    secured = of_tenant("./security-settings/security-setting", "match")
    # Routers may create queues on topics only.
    assert secured == (addresses if public else sorted(named["topic"]))
    dead = [element.text for element in root.iter(f"{CORE}dead-letter-address")]
    assert sorted(map(str, dead)) == sorted(named["dead"])
    roles = {permission.attrib["roles"] for permission in root.iter(f"{CORE}permission")}
    ours = {"waypost-internal", "waypost-router", "${waypost.replies:waypost-internal}"}
    assert set(",".join(roles).split(",")) <= {*ours, "user-alice"}
    # Only our own properties: the name of the incarnation, and what depends on the plugin.
    of_clients = {"waypost.unguarded-connections", "waypost.replies"} if public else set()
    properties = {"waypost.boot", "waypost.guard", *of_clients}
    assert set(re.findall(r"\$\{([^:]*)", text)) == properties


def check_router(
    entities: list[tuple[str, dict[str, Any]]], named: Mapping[str, list[str]]
) -> None:
    """Assert that the file's entities are ours, for every name those of its type, and no more."""
    read = [f"{t}::{s}" for t, s in zip(named["topic"], named["subscription"], strict=True)]
    queues, direct = named["queue"] + named["dead"], named["anycast"] + named["multicast"]
    expected = [
        *(("address", name) for name in (*queues, *read, *direct)),
        *(("autoLink", name) for name in (*queues, *queues, *read, *direct)),
        *(("linkRoute", topic) for topic in named["topic"] * 2),
    ]
    fields = {"address": ["pattern"], "autoLink": ["address"], "linkRoute": ["prefix", "pattern"]}
    found = [
        (kind, next(says[field] for field in fields[kind] if field in says))
        for kind, says in entities
        if kind in fields
    ]

    tenants = [name for name in found if not name[1].startswith("$waypost.probe.")]
    assert sorted(tenants) == sorted(expected)
    others = json.dumps(
        [entity for entity in entities if entity[0] not in fields], ensure_ascii=False
    )
    assert not any(quoted(word) in others for word in TELLING)
    assert {kind for kind, _ in entities} - fields.keys() == {
        "router", "sslProfile", "authServicePlugin", "listener", "policy", "vhost", "connector",
    }  # fmt: skip


def inside(api: Api, resource: Resource[Reported], namespace: str) -> Sequence[Document]:
    """Return the objects of ours of a kind."""
    return look.listed(api, resource, namespace, labels.OURS) if resource.namespaced else []


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
