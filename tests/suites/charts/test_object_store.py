"""The lakehouse in an object store: who gets the keys, where they are not, and no shared volume."""

import base64
import json

import pytest
import yaml

from controlplane.core.environment import lakehouse
from tests.support.charts import rendered
from tests.support.charts.rendered import CHART, RELEASE, Object

VALUES = CHART / "ci" / "objectstore-values.yaml"
# Those that write samples, compute usage or prove invoices; the portal reads PostgreSQL only.
USERS = {"worker", "metering", "pipeline"}
OWN_KEYS = "lakehouse.objectStore.existingSecret=,lakehouse.objectStore.accessKey=AKIDEXAMPLE"
SECRET = "s3cr3t-of-the-store"
WITH_OWN_KEYS = ("--set", f"{OWN_KEYS},lakehouse.objectStore.secretKey={SECRET}")


def executor(objects: list[Object]) -> Object:
    held = rendered.find(objects, "ConfigMap", f"{RELEASE}-spark")["data"]["executor.yaml"]
    pod: Object = yaml.safe_load(held)["spec"]
    return pod


def keys_of(container: Object) -> dict[str, tuple[str, str]]:
    """Return the variables that are keys of the store, with secret and key."""
    references = {
        variable["name"]: variable["valueFrom"]["secretKeyRef"]
        for variable in container.get("env", [])
        if "secretKeyRef" in variable.get("valueFrom", {})
    }
    return {
        name: (reference["name"], reference["key"])
        for name, reference in references.items()
        if name.startswith(("WAYPOST_LAKEHOUSE", "AWS_"))
    }


def test_no_volume_is_made_or_mounted() -> None:
    objects = rendered.objects(VALUES)
    specs = [*rendered.pod_specs(objects).values(), executor(objects)]

    kinds = [f"{object_['kind']}/{object_['metadata']['name']}" for object_ in objects]
    volumes = [volume["name"] for spec in specs for volume in spec.get("volumes", [])]
    mounts = [
        m["name"] for s in specs for c in rendered.containers(s) for m in c.get("volumeMounts", [])
    ]
    assert f"PersistentVolumeClaim/{RELEASE}-lakehouse" not in kinds
    assert "scratch" in volumes
    assert "lakehouse" not in volumes + mounts


def test_only_those_who_need_the_keys_get_them() -> None:
    objects = rendered.objects(VALUES)

    found = {
        container["name"]: keys_of(container)
        for spec in [*rendered.pod_specs(objects).values(), executor(objects)]
        for container in rendered.containers(spec)
        if keys_of(container)
    }

    pair = ("waypost-objects", "access-key"), ("waypost-objects", "secret-key")
    ours = ("WAYPOST_LAKEHOUSE_ACCESS_KEY", "WAYPOST_LAKEHOUSE_SECRET_KEY")
    amazons = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    assert found == {
        **{name: dict(zip(ours, pair, strict=True)) for name in USERS},
        "executor": dict(zip(amazons, pair, strict=True)),
    }


def test_the_root_is_one_that_the_settings_take() -> None:
    specs = rendered.pod_specs(rendered.objects(VALUES))

    (container,) = specs[f"Deployment/{RELEASE}-metering"]["containers"]
    named = {variable["name"]: variable.get("value") for variable in container["env"]}
    assert named["WAYPOST_LAKEHOUSE_ROOT"] == "s3://waypost-usage/production/lakehouse"
    assert lakehouse(named["WAYPOST_LAKEHOUSE_ROOT"])
    assert named["WAYPOST_LAKEHOUSE_ENDPOINT"] == "https://objects.example.com:9000"
    assert named["WAYPOST_LAKEHOUSE_REGION"] == "eu-west-1"


def test_keys_given_as_values_are_in_our_secret_and_nowhere_else() -> None:
    objects = rendered.objects(VALUES, *WITH_OWN_KEYS)

    ours = rendered.find(objects, "Secret", f"{RELEASE}-connections")
    others = json.dumps([object_ for object_ in objects if object_ is not ours])
    held = {name: base64.b64decode(value).decode() for name, value in ours["data"].items()}
    assert held == {"access-key": "AKIDEXAMPLE", "secret-key": SECRET}
    for secret in ("AKIDEXAMPLE", SECRET):
        assert secret not in others
        assert base64.b64encode(secret.encode()).decode() not in others
    (container,) = rendered.pod_specs(objects)[f"Deployment/{RELEASE}-worker"]["containers"]
    assert {secret for secret, _ in keys_of(container).values()} == {f"{RELEASE}-connections"}


@pytest.mark.parametrize(
    ("endpoint", "port"),
    [
        ("", 443),
        ("https://objects.example.com", 443),
        ("http://objects.example.com", 80),
        ("http://objects.example.com:9000", 9000),
    ],
)
def test_policies_open_the_port_of_the_store(endpoint: str, port: int) -> None:
    objects = rendered.objects(VALUES, "--set", f"lakehouse.objectStore.endpoint={endpoint}")

    way = {"ports": [{"protocol": "TCP", "port": port}]}
    for name in ("workers", "pipeline", "executors"):
        policy = rendered.find(objects, "NetworkPolicy", f"{RELEASE}-{name}")
        assert way in policy["spec"]["egress"], name
    for name in ("web", "beat", "auth"):
        policy = rendered.find(objects, "NetworkPolicy", f"{RELEASE}-{name}")
        assert way not in policy["spec"]["egress"], name


def test_without_a_store_nothing_of_it_is_there() -> None:
    text = rendered.template()

    assert "WAYPOST_LAKEHOUSE" not in text
    assert "access-key" not in text
    assert f"claimName: {RELEASE}-lakehouse" in text
